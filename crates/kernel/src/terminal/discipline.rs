//! The line discipline: what is typed, on its way to programs.
//!
//! POSIX canonical mode (XBD 11.1.6) as Linux's `n_tty` does it. Bytes pass in this order: strip,
//! literal-next, flow control, signals, carriage return mapping, editing; the order is visible,
//! since `^V^C` is a byte and `^C` a signal.
//!
//! **Invariant:** `edited` is the line that is not finished, which no program can read; `lines` are
//! finished lines, or in noncanonical mode one unfinished run of bytes. Programs never read across
//! the end of a line in canonical mode.

use super::settings::{
    ECHO, ECHOCTL, ECHOE, ECHOK, ECHOKE, ECHONL, ICRNL, IEXTEN, IGNCR, INLCR, ISIG, ISTRIP, IXANY, IXON, NOFLSH, VEOF,
    VEOL, VEOL2, VERASE, VINTR, VKILL, VLNEXT, VQUIT, VREPRINT, VSTART, VSTOP, VSUSP, VWERASE,
};
use super::state::{Line, Terminal};
use crate::net::bytes::Bytes;

/// The longest line that can be edited, with its end (`N_TTY_BUF_SIZE`).
const LINE_MAX: usize = 4095;

/// `SIGINT`, `SIGQUIT`, `SIGTSTP`.
const SIGNALS: [(usize, u8); 3] = [(VINTR, 2), (VQUIT, 3), (VSUSP, 20)];

impl Terminal {
    /// One byte that was typed; a signal for the foreground group, if it is a key for one.
    pub(super) fn typed(&mut self, byte: u8) -> Option<u8> {
        let input = self.settings.input;
        let byte = if input & ISTRIP != 0 { byte & 0x7f } else { byte };
        if std::mem::take(&mut self.literal) {
            self.take(byte);
            return None;
        }
        if input & IXON != 0 && self.flow(byte) {
            return None;
        }
        if self.settings.has(ISIG)
            && let Some((_, signal)) = SIGNALS.into_iter().find(|(index, _)| self.settings.is(byte, *index))
        {
            self.interrupt(byte);
            return Some(signal);
        }
        let byte = match byte {
            b'\r' if input & IGNCR != 0 => return None,
            b'\r' if input & ICRNL != 0 => b'\n',
            b'\n' if input & INLCR != 0 => b'\r',
            byte => byte,
        };
        if self.settings.is_canonical() {
            self.edit(byte);
        } else {
            self.take(byte);
        }
        None
    }

    /// Stop and start keys.
    fn flow(&mut self, byte: u8) -> bool {
        if self.settings.is(byte, VSTART) {
            self.stopped = false;
            return true;
        }
        if self.settings.is(byte, VSTOP) {
            self.stopped = true;
            return true;
        }
        if self.stopped && self.settings.input & IXANY != 0 {
            self.stopped = false;
        }
        false
    }

    /// A key for a signal throws away what was typed and not read, and what was not shown.
    fn interrupt(&mut self, byte: u8) {
        if !self.settings.has(NOFLSH) {
            self.flush_input();
            self.output = Bytes::default();
        }
        self.stopped = false;
        if self.settings.has(ECHO) {
            self.echo(byte);
        }
    }

    /// Throws input away.
    pub(super) fn flush_input(&mut self) {
        self.lines.clear();
        self.edited.clear();
    }

    /// An ordinary byte.
    fn take(&mut self, byte: u8) {
        if self.settings.has(ECHO) {
            self.echo(byte);
        }
        if self.settings.is_canonical() {
            if self.edited.len() < LINE_MAX {
                self.edited.push(byte);
            }
        } else {
            self.give(&[byte], false);
        }
    }

    /// Puts bytes where programs read.
    fn give(&mut self, bytes: &[u8], complete: bool) {
        match self.lines.back_mut() {
            Some(last) if !last.complete => {
                last.bytes.append(bytes);
                last.complete = complete;
            }
            _ => self.lines.push_back(Line { bytes: bytes.into(), complete }),
        }
    }

    fn edit(&mut self, byte: u8) {
        let settings = &self.settings;
        let extended = settings.has(IEXTEN);
        match byte {
            _ if settings.is(byte, VERASE) => self.erase_character(),
            _ if settings.is(byte, VKILL) => self.erase_line(byte),
            _ if extended && settings.is(byte, VWERASE) => self.erase_word(),
            _ if extended && settings.is(byte, VLNEXT) => {
                self.literal = true;
                if self.settings.has(ECHO) && self.settings.has(ECHOCTL) {
                    self.show_all(b"^\x08");
                }
            }
            _ if extended && settings.is(byte, VREPRINT) => self.reprint(byte),
            _ if settings.is(byte, VEOF) => self.finish(),
            b'\n' => {
                if self.settings.has(ECHO | ECHONL) {
                    self.show(b'\n');
                }
                self.edited.push(b'\n');
                self.finish();
            }
            _ if settings.is(byte, VEOL) || extended && settings.is(byte, VEOL2) => {
                self.take(byte);
                self.finish();
            }
            byte => self.take(byte),
        }
    }

    /// The line is done: programs may read it. The end-of-file key on an empty line makes an empty read.
    fn finish(&mut self) {
        let line = std::mem::take(&mut self.edited);
        self.give(&line, true);
    }

    /// Shows a byte that was typed; control characters as `^X`.
    fn echo(&mut self, byte: u8) {
        if self.settings.has(ECHOCTL) && is_control(byte) {
            self.show_all(&[b'^', byte ^ 0x40]);
        } else {
            self.show(byte);
        }
    }

    fn erase_character(&mut self) {
        let Some(byte) = self.edited.pop() else { return };
        // A character of several bytes goes as a whole.
        let mut first = byte;
        while first & 0xc0 == 0x80 {
            let Some(before) = self.edited.pop() else { break };
            first = before;
        }
        if !self.settings.has(ECHO) {
            return;
        }
        if self.settings.has(ECHOE) {
            self.wipe(first);
        } else {
            self.echo(self.settings.characters[VERASE]);
        }
    }

    /// Wipes one character from the screen.
    fn wipe(&mut self, byte: u8) {
        let width = if is_control(byte) && self.settings.has(ECHOCTL) { 2 } else { 1 };
        for _ in 0..width {
            self.show_all(b"\x08 \x08");
        }
    }

    fn erase_word(&mut self) {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
        while self.edited.last().is_some_and(|byte| !is_word(byte)) {
            self.erase_character();
        }
        while self.edited.last().is_some_and(is_word) {
            self.erase_character();
        }
    }

    fn erase_line(&mut self, key: u8) {
        if self.settings.has(ECHO) && self.settings.has(ECHOKE) && self.settings.has(ECHOE) {
            while !self.edited.is_empty() {
                self.erase_character();
            }
            return;
        }
        self.edited.clear();
        if self.settings.has(ECHO) {
            self.echo(key);
            if self.settings.has(ECHOK) {
                self.show(b'\n');
            }
        }
    }

    fn reprint(&mut self, key: u8) {
        if !self.settings.has(ECHO) {
            return;
        }
        self.echo(key);
        self.show(b'\n');
        for byte in self.edited.clone() {
            self.echo(byte);
        }
    }

    /// Takes up to `len` bytes of input: from one line at most, if lines are edited.
    pub(super) fn read_input(&mut self, len: usize) -> Vec<u8> {
        if self.settings.is_canonical() {
            return self.read_line(len);
        }
        let mut bytes = Vec::new();
        while bytes.len() < len {
            let Some(line) = self.lines.front_mut() else { break };
            let count = line.bytes.len().min(len - bytes.len());
            bytes.extend_from_slice(&line.bytes.as_slice()[..count]);
            line.bytes.consume(count);
            if line.bytes.is_empty() {
                self.lines.pop_front();
            }
        }
        bytes
    }

    fn read_line(&mut self, len: usize) -> Vec<u8> {
        let Some(line) = self.lines.front_mut() else { return Vec::new() };
        let count = line.bytes.len().min(len);
        let bytes = line.bytes.as_slice()[..count].to_vec();
        line.bytes.consume(count);
        if line.bytes.is_empty() {
            self.lines.pop_front();
        }
        bytes
    }

    /// Line editing was switched on or off: what is there stays readable.
    ///
    /// termios(3) leaves open what becomes of input when the mode changes; Linux keeps it readable.
    pub(super) fn change_mode(&mut self, was_canonical: bool) {
        if was_canonical && !self.settings.is_canonical() {
            let rest = std::mem::take(&mut self.edited);
            if !rest.is_empty() {
                self.give(&rest, false);
            }
        }
        if !was_canonical && self.settings.is_canonical() && self.input_bytes() > 0 {
            self.give(&[], true);
        }
        self.literal = false;
    }
}

/// Control characters that are shown as `^X`: not newline and tab.
fn is_control(byte: u8) -> bool {
    (byte < b' ' && byte != b'\n' && byte != b'\t') || byte == 0x7f
}

#[cfg(test)]
mod tests {
    use super::*;

    fn type_all(text: &[u8]) -> (Terminal, Vec<u8>) {
        let mut terminal = Terminal::new(0);
        let signals = text.iter().filter_map(|byte| terminal.typed(*byte)).collect();
        (terminal, signals)
    }

    #[test]
    fn a_line_can_be_edited_before_it_is_read() {
        let (mut terminal, _) = type_all(b"hex\x7fllo wrong\x17there\r");
        assert_eq!(terminal.read_input(100), b"hello there\n");
        let shown = String::from_utf8(terminal.output.as_slice().to_vec()).unwrap();
        assert_eq!(shown, "hex\u{8} \u{8}llo wrong".to_string() + &"\u{8} \u{8}".repeat(5) + "there\r\n");
    }

    #[test]
    fn the_kill_key_starts_the_line_again() {
        let (mut terminal, _) = type_all(b"nothing\x15yes\n");
        assert_eq!(terminal.read_input(100), b"yes\n");
    }

    #[test]
    fn the_end_of_file_key_ends_a_line_without_a_byte() {
        let (mut terminal, _) = type_all(b"half\x04\x04");
        assert!(terminal.has_input(1));
        assert_eq!(terminal.read_input(100), b"half");
        assert!(terminal.has_input(1));
        assert_eq!(terminal.read_input(100), b"");
        assert!(!terminal.has_input(1));
    }

    #[test]
    fn keys_send_signals_and_throw_away_what_was_typed() {
        let (mut terminal, signals) = type_all(b"typed\x03");
        assert_eq!(signals, [2]);
        assert_eq!(terminal.output.as_slice(), b"^C");
        assert_eq!(terminal.read_input(100), b"");
    }

    #[test]
    fn the_literal_key_takes_any_character() {
        let (mut terminal, signals) = type_all(b"a\x16\x03b\n");
        assert!(signals.is_empty());
        assert_eq!(terminal.read_input(100), b"a\x03b\n");
    }
}
