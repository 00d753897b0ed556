//! `ioctl(2)` on sockets.

use super::open::of_description;
use super::socket::{Socket, Stage};
use crate::call::{Call, Stop};
use crate::errno::{EINVAL, ENODEV, ENOTTY};
use crate::id::Id;

/// Bytes that can be read now: of the next message, if messages have borders.
const FIONREAD: u64 = 0x541b;
/// Bytes that the other side has not read.
const SIOCOUTQ: u64 = 0x5411;
/// At the urgent mark.
const SIOCATMARK: u64 = 0x8905;
/// All interfaces with an address.
const SIOCGIFCONF: u64 = 0x8912;
/// Flags of an interface.
const SIOCGIFFLAGS: u64 = 0x8913;
/// Address of an interface.
const SIOCGIFADDR: u64 = 0x8915;
/// Mask of an interface.
const SIOCGIFNETMASK: u64 = 0x891b;
/// Largest packet of an interface.
const SIOCGIFMTU: u64 = 0x8921;
/// Number of an interface.
const SIOCGIFINDEX: u64 = 0x8933;
/// Hardware address of an interface.
const SIOCGIFHWADDR: u64 = 0x8927;

/// Bytes of `struct ifreq`.
const REQUEST: usize = 40;
/// The loopback interface.
const NAME: &[u8; 16] = b"lo\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
/// `IFF_UP | IFF_LOOPBACK | IFF_RUNNING`.
const FLAGS: u16 = 0x49;
/// `ARPHRD_LOOPBACK`.
const HARDWARE: u16 = 772;

/// `ioctl(2)` on a socket.
pub fn ioctl(call: &mut Call<'_>, description: Id, request: u64, argument: u64) -> Result<u64, Stop> {
    let id = of_description(call.kernel, description).ok_or(ENOTTY)?;
    match request {
        FIONREAD => {
            let count = readable(call, id)?;
            call.store_u32(argument, count as u32)?;
        }
        SIOCOUTQ => {
            let count = unread(call, id);
            call.store_u32(argument, count as u32)?;
        }
        SIOCATMARK => call.store_u32(argument, 0)?,
        SIOCGIFCONF => list_interfaces(call, argument)?,
        SIOCGIFFLAGS | SIOCGIFADDR | SIOCGIFNETMASK | SIOCGIFMTU | SIOCGIFINDEX | SIOCGIFHWADDR => {
            describe_interface(call, request, argument)?;
        }
        // Questions about terminals, as isatty(3) asks them.
        _ if request >> 8 == 0x54 => return Err(ENOTTY.into()),
        _ => return call.unsupported(format!("request {request:#x} on a socket")),
    }
    Ok(0)
}

fn readable(call: &Call<'_>, id: Id) -> Result<usize, Stop> {
    let socket = call.socket(id);
    if socket.stage == Stage::Listening {
        return Err(EINVAL.into());
    }
    let Some(queue) = call.kernel.net.queues.get(&id) else { return Ok(0) };
    let next = queue.packets.front().map_or(0, |packet| packet.bytes.len());
    Ok(if socket.has_messages() { next } else { queue.bytes() })
}

fn unread(call: &Call<'_>, id: Id) -> usize {
    let peer = |socket: &Socket| socket.peer.and_then(|peer| call.kernel.net.queues.get(&peer));
    let socket = call.socket(id);
    let Some(queue) = peer(socket) else { return 0 };
    if socket.is_tcp() { socket.peer.map_or(0, |peer| call.kernel.net.sent(peer)) } else { queue.cost() }
}

fn address(ip: [u8; 4]) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[0] = 2;
    bytes[4..8].copy_from_slice(&ip);
    bytes
}

/// `SIOCGIFCONF` (`netdevice(7)`).
fn list_interfaces(call: &mut Call<'_>, argument: u64) -> Result<(), Stop> {
    let room = call.load_u32(argument)? as usize;
    let buffer = call.load_u64(argument.wrapping_add(8))?;
    let mut entry = [0; REQUEST];
    entry[..16].copy_from_slice(NAME);
    entry[16..32].copy_from_slice(&address([127, 0, 0, 1]));
    if buffer == 0 {
        return call.store_u32(argument, REQUEST as u32);
    }
    let length = if room < REQUEST { 0 } else { REQUEST };
    call.store(buffer, &entry[..length])?;
    call.store_u32(argument, length as u32)
}

fn describe_interface(call: &mut Call<'_>, request: u64, argument: u64) -> Result<(), Stop> {
    let name: [u8; 16] = call.load(argument)?;
    if name.split(|byte| *byte == 0).next() != Some(b"lo") {
        return Err(ENODEV.into());
    }
    let answer: Vec<u8> = match request {
        SIOCGIFFLAGS => FLAGS.to_le_bytes().to_vec(),
        SIOCGIFADDR => address([127, 0, 0, 1]).to_vec(),
        SIOCGIFNETMASK => address([255, 0, 0, 0]).to_vec(),
        SIOCGIFMTU => 65_536u32.to_le_bytes().to_vec(),
        SIOCGIFINDEX => 1u32.to_le_bytes().to_vec(),
        _ => [&HARDWARE.to_le_bytes()[..], &[0; 14]].concat(),
    };
    call.store(argument.wrapping_add(16), &answer)
}
