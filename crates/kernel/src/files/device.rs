//! Character devices without state: `null(4)`, `full(4)`, `random(4)`.

use crate::call::{Call, Stop};
use crate::descriptor::{At, File, Operations, refuse};
use crate::errno::ENOSPC;
use crate::id::Id;

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

/// What an open device can do.
pub static OPERATIONS: Operations =
    Operations { read, write, poll: refuse::poll, ioctl: refuse::ioctl, close: refuse::close, seek };

/// Whether a device number is one of these.
#[must_use]
pub fn is_known(number: u32) -> bool {
    matches!(number, NULL | ZERO | FULL | RANDOM | URANDOM)
}

fn number(call: &Call<'_>, description: Id) -> u32 {
    match call.description(description).file {
        File::Device(number) => number,
        other => panic!("{other:?} is no device"),
    }
}

fn read(call: &mut Call<'_>, description: Id, len: usize, _: At) -> Result<Vec<u8>, Stop> {
    Ok(match number(call, description) {
        NULL => Vec::new(),
        ZERO | FULL => vec![0; len],
        _ => crate::system::random(call.kernel, call.tid, len),
    })
}

/// Whether whatever is written is taken without being looked at.
pub fn swallows(call: &Call<'_>, description: Id) -> bool {
    matches!(number(call, description), NULL | ZERO)
}

fn write(call: &mut Call<'_>, description: Id, bytes: &[u8], _: At) -> Result<usize, Stop> {
    match number(call, description) {
        FULL if !bytes.is_empty() => Err(ENOSPC.into()),
        _ => Ok(bytes.len()),
    }
}

// null_lseek: the position is always 0.
fn seek(_: &mut Call<'_>, _: Id, _: i64, _: u32) -> Result<u64, Stop> {
    Ok(0)
}
