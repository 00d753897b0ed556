//! Names that guests give and are told: `getsockname(2)`, `getpeername(2)`, and what other calls need of them.

use super::address::{self, Given, NAME_MAX, decode};
use super::family::Family;
use super::socket::{Socket, Stage};
use crate::call::{Call, Stop};
use crate::errno::{EFAULT, EINVAL, ENOTCONN};

/// `getsockname(2)`.
pub fn getsockname(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (_, id) = call.socket_of(call.int(0))?;
    let socket = call.socket(id);
    let bytes = address::encode(socket.local.as_ref(), socket.family);
    tell(call, &bytes)
}

/// `getpeername(2)`.
pub fn getpeername(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (_, id) = call.socket_of(call.int(0))?;
    let socket = call.socket(id);
    if !has_peer(socket) {
        return Err(ENOTCONN.into());
    }
    let bytes = address::encode(socket.remote.as_ref(), socket.family);
    tell(call, &bytes)
}

fn has_peer(socket: &Socket) -> bool {
    socket.stage == Stage::Connected
}

fn tell(call: &mut Call<'_>, bytes: &[u8]) -> Result<u64, Stop> {
    let [_, name, length, ..] = call.args;
    if name == 0 {
        return Err(EFAULT.into());
    }
    store(call, bytes, name, length)?;
    Ok(0)
}

/// Reads a name: `EINVAL` if it is too short or too long.
pub fn load(call: &mut Call<'_>, address: u64, length: u64, family: Family) -> Result<Given, Stop> {
    let length = length as u32 as usize;
    if length > NAME_MAX {
        return Err(EINVAL.into());
    }
    let bytes = call.load_bytes(address, length)?;
    Ok(decode(&bytes, family)?)
}

/// Writes a name where the guest wants it, cut to the room it gave, and its true length (`accept(2)`).
pub fn store(call: &mut Call<'_>, bytes: &[u8], address: u64, length: u64) -> Result<(), Stop> {
    if address == 0 {
        return Ok(());
    }
    let room = call.load_u32(length)? as i32;
    let room = usize::try_from(room).map_err(|_| EINVAL)?;
    call.store(address, &bytes[..bytes.len().min(room)])?;
    call.store_u32(length, bytes.len() as u32)
}
