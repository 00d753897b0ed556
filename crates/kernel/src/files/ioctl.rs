//! `ioctl(2)`: what all files share, then what a kind can do.
//!
//! Requests that every descriptor has come first, as in Linux's `do_vfs_ioctl`; a kind never sees
//! them.

use super::content;
use crate::call::{Call, Stop};
use crate::descriptor::{File, O_ASYNC, O_NONBLOCK};
use crate::errno::{ENOTTY, EOPNOTSUPP};
use crate::id::Id;

const FIONREAD: u64 = 0x541b;
const FIONBIO: u64 = 0x5421;
const FIONCLEX: u64 = 0x5450;
const FIOCLEX: u64 = 0x5451;
const FIOASYNC: u64 = 0x5452;
const FIOQSIZE: u64 = 0x5460;
const FIGETBSZ: u64 = 2;
const FICLONE: u64 = 0x4004_9409;
const FICLONERANGE: u64 = 0x4020_940d;
const FIDEDUPERANGE: u64 = 0xc018_9436;
const FIEMAP: u64 = 0xc020_660b;

/// `ioctl(2)`.
pub fn ioctl(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (fd, request, argument) = (call.int(0), call.args[1] as u32 as u64, call.args[2]);
    let description = call.description_of(fd)?;
    match request {
        FIOCLEX | FIONCLEX => {
            call.process_mut().descriptors.get_mut(fd)?.close_on_exec = request == FIOCLEX;
            Ok(0)
        }
        FIONBIO => {
            let is_on = call.load_u32(argument)? != 0;
            let flags = &mut call.description_mut(description).flags;
            *flags = if is_on { *flags | O_NONBLOCK } else { *flags & !O_NONBLOCK };
            Ok(0)
        }
        FIOASYNC => set_async(call, description, argument),
        _ => {
            let file = call.description(description).file;
            (file.operations().ioctl)(call, description, request, argument)
        }
    }
}

fn set_async(call: &mut Call<'_>, description: Id, argument: u64) -> Result<u64, Stop> {
    let is_on = call.load_u32(argument)? != 0;
    let was_on = call.description(description).flags & O_ASYNC != 0;
    if is_on == was_on { Ok(0) } else { call.unsupported("FIOASYNC") }
}

/// `ioctl(2)` on a regular file or directory.
pub fn on_file(call: &mut Call<'_>, description: Id, request: u64, argument: u64) -> Result<u64, Stop> {
    let open = call.description(description);
    let File::Inode(id) = open.file else { return Err(ENOTTY.into()) };
    let offset = open.offset;
    let is_regular = call.kernel.inode(id).is_some_and(|inode| !inode.is_directory());
    let length = if is_regular { content::length(call.kernel, call.memory, id) } else { 0 };
    match request {
        FIONREAD if is_regular => call.store_u32(argument, length.wrapping_sub(offset) as u32)?,
        FIGETBSZ => call.store_u32(argument, 4096)?,
        FIOQSIZE => call.store_u64(argument, length)?,
        FICLONE | FICLONERANGE | FIDEDUPERANGE | FIEMAP => return Err(EOPNOTSUPP.into()),
        // Terminals only (`TCGETS`), other file systems only (`FS_IOC_GETFLAGS`).
        _ => return Err(ENOTTY.into()),
    }
    Ok(0)
}
