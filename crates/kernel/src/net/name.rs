//! `getsockname(2)` and `getpeername(2)`.

use super::address;
use super::socket::{Socket, Stage};
use crate::call::{Call, Stop};
use crate::errno::{EFAULT, ENOTCONN};

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
    address::store(call, bytes, name, length)?;
    Ok(0)
}
