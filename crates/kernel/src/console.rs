//! The standard streams of programs that Allways started: to them, pipes whose other end the user holds.

use crate::Kernel;
use crate::call::{Call, Stop};
use crate::descriptor::{At, Console, File, Operations, POLLHUP, POLLIN, POLLOUT, POLLRDNORM, POLLWRNORM, refuse};
use crate::errno::{EBADF, ENOTTY};
use crate::id::Id;
use crate::kernel::Output;
use memory::Memory;

/// What a standard stream can do.
pub static OPERATIONS: Operations = Operations { read, write, poll, ioctl, close: refuse::close, seek: refuse::seek };

fn stream(kernel: &Kernel, description: Id) -> Console {
    match kernel.descriptions.get(&description).map(|open| open.file) {
        Some(File::Console(stream)) => stream,
        other => panic!("{other:?} is no standard stream"),
    }
}

fn read(call: &mut Call<'_>, description: Id, len: usize, _: At) -> Result<Vec<u8>, Stop> {
    if stream(call.kernel, description) != Console::Input {
        return Err(EBADF.into());
    }
    let input = &mut call.kernel.input;
    let end = input.bytes.len().min(input.position.saturating_add(len));
    let bytes = input.bytes[input.position..end].to_vec();
    input.position = end;
    Ok(bytes)
}

fn write(call: &mut Call<'_>, description: Id, bytes: &[u8], _: At) -> Result<usize, Stop> {
    let (pid, stream) = (call.pid, stream(call.kernel, description));
    if stream == Console::Input {
        return Err(EBADF.into());
    }
    if !bytes.is_empty() {
        call.kernel.output.push(Output { pid, stream, bytes: bytes.to_vec() });
    }
    Ok(bytes.len())
}

fn poll(kernel: &Kernel, _: &Memory, description: Id) -> u16 {
    let is_empty = kernel.input.position == kernel.input.bytes.len();
    match stream(kernel, description) {
        Console::Input if is_empty => POLLHUP,
        Console::Input => POLLIN | POLLRDNORM,
        Console::Output | Console::Error => POLLOUT | POLLWRNORM,
    }
}

/// `FIONREAD`.
const FIONREAD: u64 = 0x541b;

fn ioctl(call: &mut Call<'_>, description: Id, request: u64, address: u64) -> Result<u64, Stop> {
    if request != FIONREAD {
        return Err(ENOTTY.into());
    }
    let input = &call.kernel.input;
    let is_input = stream(call.kernel, description) == Console::Input;
    let left = if is_input { input.bytes.len() - input.position } else { 0 };
    call.store_u32(address, left as u32)?;
    Ok(0)
}
