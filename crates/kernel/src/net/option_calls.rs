//! `getsockopt(2)` and `setsockopt(2)`.

use super::options::{
    BUFFER_MAX, Key, RECEIVE_BUFFER_MIN, SEND_BUFFER_MIN, SO_RCVLOWAT, SOL_IP, SOL_IPV6, SOL_SOCKET, SOL_TCP, SOL_UDP,
    Shape, UDP_CORK, find,
};
use super::socket::{Family, Kind, Socket, Stage};
use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::errno::{EDOM, EINVAL, ENODATA, ENODEV, ENOPROTOOPT, EOPNOTSUPP, EPERM, Errno};
use crate::id::Id;

/// Numbers from here on name no option of any level.
const NUMBERS_END: i32 = 200;

/// The kind of service, and the priority that follows from it.
const IP_TOS: i32 = 1;
const SO_PRIORITY: i32 = 12;
/// Best effort, bulk, interactive, and both (Linux's `ip_tos2prio`).
const PRIORITIES: [i32; 4] = [0, 2, 6, 4];

/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;

/// `setsockopt(2)`.
pub fn setsockopt(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [_, _, _, value, length, _] = call.args;
    let (_, id) = call.socket_of(call.int(0))?;
    let key = (call.int(1), call.int(2));
    let length = length as u32 as i32;
    if length < 0 {
        return Err(EINVAL.into());
    }
    check_level(call.socket(id), key, ENOPROTOOPT)?;
    match key {
        (SOL_SOCKET, 13) => set_linger(call, id, value, length)?,
        (SOL_SOCKET, 20 | 21) => set_timeout(call, id, key, value, length)?,
        (SOL_SOCKET, 25) => bind_to_device(call, value, length)?,
        (SOL_SOCKET, 3 | 4 | 17 | 19 | 30 | 38 | 39) => return Err(ENOPROTOOPT.into()),
        (SOL_TCP, 13) => set_congestion(call, value, length)?,
        _ if length < 4 && !is_byte(key, length) => return Err(EINVAL.into()),
        _ => {
            let number = if length < 4 { i32::from(call.load::<1>(value)?[0]) } else { call.load_u32(value)? as i32 };
            set_number(call, id, key, number)?;
        }
    }
    Ok(0)
}

/// Options of IP may be given as a single byte.
fn is_byte(key: Key, length: i32) -> bool {
    key.0 == SOL_IP && length >= 1
}

/// Whether the socket has options of this level; the errno if it has none is another one for each call.
fn check_level(socket: &Socket, (level, number): Key, wrong_level: Errno) -> Result<(), Stop> {
    let known = match level {
        SOL_SOCKET => true,
        _ if socket.family == Family::Unix => return Err(EOPNOTSUPP.into()),
        SOL_IP => socket.is_inet(),
        SOL_IPV6 => socket.family == Family::Inet6,
        SOL_TCP => socket.is_tcp(),
        SOL_UDP => socket.is_inet() && socket.kind == Kind::Datagram,
        _ => false,
    };
    match known {
        true if (0..NUMBERS_END).contains(&number) => Ok(()),
        true => Err(ENOPROTOOPT.into()),
        false => Err(wrong_level.into()),
    }
}

/// Options without a row are unsupported rather than accepted: a program that sets one expects an
/// effect.
fn set_number(call: &mut Call<'_>, id: Id, key: Key, number: i32) -> Result<(), Stop> {
    match key {
        (SOL_SOCKET, 7 | 8) => {
            set_buffer(call, id, key, number.clamp(0, BUFFER_MAX));
            return Ok(());
        }
        (SOL_SOCKET, 32 | 33) if !call.can(Capability::NetAdmin) => return Err(EPERM.into()),
        (SOL_SOCKET, 32 | 33) => {
            set_buffer(call, id, (SOL_SOCKET, key.1 - 25), number.clamp(0, i32::MAX / 2));
            return Ok(());
        }
        _ => {}
    }
    let Some(plain) = find(key) else {
        return call.unsupported(format!("option {}/{}", key.0, key.1));
    };
    let value = match plain.shape {
        Shape::Switch => i32::from(number != 0),
        Shape::Number(low, high) if (low..=high).contains(&number) => number,
        Shape::Number(..) => return Err(EINVAL.into()),
        Shape::Fixed if number == plain.default => number,
        Shape::Fixed => return call.unsupported(plain.name),
    };
    if key == super::options::IPV6_V6ONLY && call.socket(id).local.is_some() {
        return Err(EINVAL.into());
    }
    let value = if key == SO_RCVLOWAT { low_water(value) } else { value };
    let options = &mut call.socket_mut(id).options;
    options.set(key, value);
    if key == UDP_CORK && value == 0 {
        super::udp::uncork(call, id);
        return Ok(());
    }
    if key == (SOL_IP, IP_TOS) {
        options.set((SOL_SOCKET, SO_PRIORITY), PRIORITIES[(value as usize & 0x1e) >> 3]);
    }
    Ok(())
}

/// `SO_RCVLOWAT`: nothing means one, less than nothing means as much as possible.
fn low_water(value: i32) -> i32 {
    match value {
        0 => 1,
        value if value < 0 => i32::MAX,
        value => value,
    }
}

/// Linux doubles what is asked for, to have room for its own books (`socket(7)`).
fn set_buffer(call: &mut Call<'_>, id: Id, key: Key, number: i32) {
    let doubled = number as usize * 2;
    let options = &mut call.socket_mut(id).options;
    if key.1 == 7 {
        options.send_buffer = doubled.max(SEND_BUFFER_MIN);
        return;
    }
    options.receive_buffer = doubled.max(RECEIVE_BUFFER_MIN);
    let limit = options.receive_buffer;
    if let Some(queue) = call.kernel.net.queues.get_mut(&id) {
        queue.limit = limit;
    }
}

fn set_linger(call: &mut Call<'_>, id: Id, value: u64, length: i32) -> Result<(), Stop> {
    if length < 8 {
        return Err(EINVAL.into());
    }
    let on = call.load_u32(value)? != 0;
    let seconds = call.load_u32(value.wrapping_add(4))?;
    call.socket_mut(id).options.linger = on.then_some(seconds);
    Ok(())
}

fn set_timeout(call: &mut Call<'_>, id: Id, key: Key, value: u64, length: i32) -> Result<(), Stop> {
    if length < 16 {
        return Err(EINVAL.into());
    }
    let seconds = call.load_u64(value)? as i64;
    let microseconds = call.load_u64(value.wrapping_add(8))? as i64;
    if !(0..1_000_000).contains(&microseconds) {
        return Err(EDOM.into());
    }
    let nanoseconds = (seconds.max(0) as u64).saturating_mul(SECOND) + microseconds as u64 * 1000;
    let timeout = (nanoseconds > 0).then_some(nanoseconds);
    let options = &mut call.socket_mut(id).options;
    if key.1 == 20 {
        options.receive_timeout = timeout;
    } else {
        options.send_timeout = timeout;
    }
    Ok(())
}

/// The loopback interface is the only one there is.
fn bind_to_device(call: &mut Call<'_>, value: u64, length: i32) -> Result<(), Stop> {
    let bytes = call.load_bytes(value, length.min(16) as usize)?;
    let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    if name.is_empty() || name == b"lo" { Ok(()) } else { Err(ENODEV.into()) }
}

fn set_congestion(call: &mut Call<'_>, value: u64, length: i32) -> Result<(), Stop> {
    let bytes = call.load_bytes(value, length.min(16) as usize)?;
    match bytes.split(|byte| *byte == 0).next().unwrap_or_default() {
        b"cubic" | b"reno" => Ok(()),
        _ => Err(crate::errno::ENOENT.into()),
    }
}

/// `getsockopt(2)`.
pub fn getsockopt(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [_, _, _, value, length, _] = call.args;
    let (_, id) = call.socket_of(call.int(0))?;
    let key = (call.int(1), call.int(2));
    let room = call.load_u32(length)? as i32;
    let room = usize::try_from(room).map_err(|_| EINVAL)?;
    let is_v4 = call.socket(id).family == Family::Inet;
    check_level(call.socket(id), key, if is_v4 { EOPNOTSUPP } else { ENOPROTOOPT })?;
    let bytes = get(call, id, key)?;
    let count = room.min(bytes.len());
    call.store(value, &bytes[..count])?;
    call.store_u32(length, count as u32)?;
    Ok(0)
}

/// `SO_ERROR` is taken by reading it (`socket(7)`), so this changes the socket.
fn get(call: &mut Call<'_>, id: Id, key: Key) -> Result<Vec<u8>, Stop> {
    let socket = call.socket_mut(id);
    if key == (SOL_SOCKET, 4) {
        let error = socket.error.take().map_or(0, |error| u32::from(error.0));
        return Ok(error.to_le_bytes().to_vec());
    }
    let socket = call.socket(id);
    match key {
        (SOL_SOCKET, 13) => {
            let (on, seconds) = socket.options.linger.map_or((0, 0), |seconds| (1u32, seconds));
            Ok([on.to_le_bytes(), seconds.to_le_bytes()].concat())
        }
        (SOL_SOCKET, 20) => Ok(timeval(socket.options.receive_timeout)),
        (SOL_SOCKET, 21) => Ok(timeval(socket.options.send_timeout)),
        (SOL_SOCKET, 17) => Ok(peer_identity(socket)),
        (SOL_SOCKET, 59) => Err(ENODATA.into()),
        (SOL_TCP, 11) => Ok(information(socket)),
        (SOL_TCP, 13) => Ok(b"cubic\0\0\0\0\0\0\0\0\0\0\0".to_vec()),
        _ => match number(socket, key) {
            Some(number) => Ok(number.to_le_bytes().to_vec()),
            None => call.unsupported(format!("option {}/{}", key.0, key.1)),
        },
    }
}

fn number(socket: &Socket, key: Key) -> Option<i32> {
    Some(match key {
        (SOL_SOCKET, 3) => match socket.kind {
            Kind::Stream => 1,
            Kind::Datagram => 2,
            Kind::Packets => 5,
        },
        (SOL_SOCKET, 7) => socket.options.send_buffer as i32,
        (SOL_SOCKET, 8) => socket.options.receive_buffer as i32,
        (SOL_SOCKET, 19) => 1,
        (SOL_SOCKET, 30) => i32::from(socket.stage == Stage::Listening),
        (SOL_SOCKET, 38) => match (socket.is_inet(), socket.kind) {
            (true, Kind::Stream) => 6,
            (true, _) => 17,
            _ => 0,
        },
        (SOL_SOCKET, 39) => match socket.family {
            Family::Unix => 1,
            Family::Inet => 2,
            Family::Inet6 => 10,
        },
        _ => {
            find(key)?;
            socket.options.get(key)
        }
    })
}

fn timeval(nanoseconds: Option<u64>) -> Vec<u8> {
    let nanoseconds = nanoseconds.unwrap_or(0);
    [(nanoseconds / SECOND).to_le_bytes(), (nanoseconds % SECOND / 1000).to_le_bytes()].concat()
}

fn peer_identity(socket: &Socket) -> Vec<u8> {
    let numbers = socket.peer_identity.map_or([0, u32::MAX, u32::MAX], |who| [who.pid.0, who.uid, who.gid]);
    numbers.map(u32::to_le_bytes).concat()
}

/// The part of `struct tcp_info` that programs look at: the state of the connection.
fn information(socket: &Socket) -> Vec<u8> {
    let mut bytes = vec![0; 232];
    bytes[0] = match socket.stage {
        Stage::Connected => 1,
        Stage::Connecting => 2,
        Stage::Idle => 7,
        Stage::Listening => 10,
    };
    bytes
}
