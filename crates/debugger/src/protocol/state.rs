//! Packets about the state: threads, registers, memory.

use super::packet::PACKET_MAX;
use super::registers;
use super::session::{EMPTY, Reply, Session};
use super::text::{hex, named_thread, number, pair};

/// Why nothing can be written.
const PAST: &str = "E.the past cannot be changed";

/// `H op thread`: the thread that later packets are about.
pub fn select(session: &mut Session<'_, '_>, rest: &[u8]) -> Reply {
    let Some((operation, name)) = rest.split_first() else { return Reply::error() };
    let named = named_thread(name);
    if named.is_some_and(|tid| !session.target.threads().contains(&tid)) {
        return Reply::error();
    }
    match operation {
        b'g' => session.target.selected = named.or(session.target.stopped.tid),
        b'c' => session.moved = named,
        _ => return Reply::Data(EMPTY.to_vec()),
    }
    Reply::ok()
}

/// `T thread`.
pub fn is_alive(session: &mut Session<'_, '_>, rest: &[u8]) -> Reply {
    let is_there = named_thread(rest).is_some_and(|tid| session.target.threads().contains(&tid));
    if is_there { Reply::ok() } else { Reply::error() }
}

/// `g`.
pub fn registers(session: &mut Session<'_, '_>, _: &[u8]) -> Reply {
    let cpu = session.target.selected.and_then(|tid| session.target.registers(tid));
    Reply::of(cpu.map(|cpu| hex(&registers::values(cpu))))
}

/// `p number`.
pub fn register(session: &mut Session<'_, '_>, rest: &[u8]) -> Reply {
    let cpu = session.target.selected.and_then(|tid| session.target.registers(tid));
    let found = cpu.zip(number(rest)).and_then(|(cpu, number)| registers::numbered(cpu, usize::try_from(number).ok()?));
    Reply::of(found.map(|bytes| hex(&bytes)))
}

/// `m address,length`.
pub fn memory(session: &mut Session<'_, '_>, rest: &[u8]) -> Reply {
    let Some((address, len)) = pair(rest) else { return Reply::error() };
    let len = usize::try_from(len).unwrap_or(usize::MAX).min(PACKET_MAX / 2 - 1);
    let bytes = session.target.memory(address, len);
    if bytes.is_empty() && len > 0 { Reply::error() } else { Reply::Data(hex(&bytes)) }
}

/// `G`, `P`, `M`, `X`.
pub fn refused(_: &mut Session<'_, '_>, _: &[u8]) -> Reply {
    Reply::text(PAST)
}
