//! Character devices without state: `null(4)`, `full(4)`, `random(4)`.

/// Device number of `/dev/null`.
pub const NULL: u32 = 0x103;
/// Of `/dev/zero`.
pub const ZERO: u32 = 0x105;
/// Of `/dev/full`.
pub const FULL: u32 = 0x107;
/// Of `/dev/random`.
pub const RANDOM: u32 = 0x108;
/// Of `/dev/urandom`.
pub const URANDOM: u32 = 0x109;
/// Of `/dev/tty`.
pub const TTY: u32 = 0x500;
/// Of `/dev/ptmx`.
pub const PTMX: u32 = 0x502;

/// Whether a device number is one of these.
#[must_use]
pub fn is_known(number: u32) -> bool {
    matches!(number, NULL | ZERO | FULL | RANDOM | URANDOM)
}
