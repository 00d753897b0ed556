//! Modes and control characters (`termios(3)`).

/// Bytes of `struct termios` as the kernel knows it.
pub const SIZE: usize = 36;
/// Bytes of `struct termios2`, which has speeds.
pub const SIZE2: usize = 44;

/// Input modes.
pub const ISTRIP: u32 = 0o40;
/// Newline to carriage return.
pub const INLCR: u32 = 0o100;
/// Ignore carriage return.
pub const IGNCR: u32 = 0o200;
/// Carriage return to newline.
pub const ICRNL: u32 = 0o400;
/// Stop and start keys.
pub const IXON: u32 = 0o2000;
/// Any key starts output again.
pub const IXANY: u32 = 0o4000;

/// Process output.
pub const OPOST: u32 = 0o1;
/// Newline to carriage return and newline.
pub const ONLCR: u32 = 0o4;
/// Carriage return to newline.
pub const OCRNL: u32 = 0o10;
/// No carriage return at column 0.
pub const ONOCR: u32 = 0o20;
/// Newline does the carriage return.
pub const ONLRET: u32 = 0o40;
/// Tabs to spaces.
pub const XTABS: u32 = 0o14_000;

/// Keys send signals.
pub const ISIG: u32 = 0o1;
/// Lines are edited.
pub const ICANON: u32 = 0o2;
/// Input is shown.
pub const ECHO: u32 = 0o10;
/// The erase key wipes the character.
pub const ECHOE: u32 = 0o20;
/// The kill key shows a newline.
pub const ECHOK: u32 = 0o40;
/// Newlines are shown even if nothing else is.
pub const ECHONL: u32 = 0o100;
/// Signals do not flush.
pub const NOFLSH: u32 = 0o200;
/// Background output stops the writer.
pub const TOSTOP: u32 = 0o400;
/// Control characters are shown as `^X`.
pub const ECHOCTL: u32 = 0o1000;
/// The kill key wipes the line.
pub const ECHOKE: u32 = 0o4000;
/// More keys: word erase, literal next, reprint.
pub const IEXTEN: u32 = 0o100_000;

/// Control characters, by index.
pub const VINTR: usize = 0;
/// Quit.
pub const VQUIT: usize = 1;
/// Erase a character.
pub const VERASE: usize = 2;
/// Erase the line.
pub const VKILL: usize = 3;
/// End of file.
pub const VEOF: usize = 4;
/// Tenths of a second.
pub const VTIME: usize = 5;
/// Bytes that make a read return.
pub const VMIN: usize = 6;
/// Start output.
pub const VSTART: usize = 8;
/// Stop output.
pub const VSTOP: usize = 9;
/// Suspend.
pub const VSUSP: usize = 10;
/// Another end of line.
pub const VEOL: usize = 11;
/// Show the line again.
pub const VREPRINT: usize = 12;
/// Erase a word.
pub const VWERASE: usize = 14;
/// Take the next character literally.
pub const VLNEXT: usize = 15;
/// Yet another end of line.
pub const VEOL2: usize = 16;

/// Modes and control characters.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Settings {
    /// `c_iflag`.
    pub input: u32,
    /// `c_oflag`.
    pub output: u32,
    /// `c_cflag`.
    pub control: u32,
    /// `c_lflag`.
    pub local: u32,
    /// `c_line`.
    discipline: u8,
    /// `c_cc`.
    pub characters: [u8; 19],
    /// `c_ispeed` and `c_ospeed`.
    speeds: [u32; 2],
}

impl Default for Settings {
    /// As Linux makes a new pseudo-terminal.
    fn default() -> Self {
        let characters = [3, 0x1c, 0x7f, 0x15, 4, 0, 1, 0, 0x11, 0x13, 0x1a, 0, 0x12, 0x0f, 0x17, 0x16, 0, 0, 0];
        Self {
            input: ICRNL | IXON,
            output: OPOST | ONLCR,
            control: 0xbf,
            local: ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN,
            discipline: 0,
            characters,
            speeds: [38_400; 2],
        }
    }
}

impl Settings {
    /// Whether lines are edited.
    #[must_use]
    pub fn is_canonical(&self) -> bool {
        self.local & ICANON != 0
    }

    /// Whether a local mode is on.
    #[must_use]
    pub fn has(&self, mode: u32) -> bool {
        self.local & mode != 0
    }

    /// Whether a byte is this control character; a disabled one is none.
    #[must_use]
    pub fn is(&self, byte: u8, index: usize) -> bool {
        byte != 0 && self.characters[index] == byte
    }

    /// `struct termios2`; its beginning is `struct termios`.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let modes = [self.input, self.output, self.control, self.local].map(u32::to_le_bytes).concat();
        [modes, vec![self.discipline], self.characters.to_vec(), self.speeds.map(u32::to_le_bytes).concat()].concat()
    }

    /// Takes over a `struct termios` or `struct termios2`.
    pub fn decode(&mut self, bytes: &[u8]) {
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        (self.input, self.output, self.control, self.local) = (number(0), number(4), number(8), number(12));
        self.discipline = bytes[16];
        self.characters.copy_from_slice(&bytes[17..SIZE]);
        if bytes.len() >= SIZE2 {
            self.speeds = [number(36), number(40)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_the_way_through_memory() {
        let settings = Settings { local: ECHO, ..Settings::default() };
        let mut other = Settings::default();
        other.decode(&settings.encode());
        assert_eq!(other, settings);
        assert_eq!(settings.encode().len(), SIZE2);
    }
}
