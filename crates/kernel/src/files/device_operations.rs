//! What open devices can do.

use super::device::{FULL, NULL, ZERO};
use crate::call::{Call, Stop};
use crate::descriptor::{At, File, Operations, refuse};
use crate::errno::ENOSPC;
use crate::id::Id;

/// What an open device can do.
pub static OPERATIONS: Operations =
    Operations { read, write, poll: refuse::poll, ioctl: refuse::ioctl, close: refuse::close, seek };

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
