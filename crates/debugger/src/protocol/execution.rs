//! Packets that move us through time, and those that say where to stop.

use super::session::{EMPTY, Reply, Session};
use super::text::{named_thread, number, parts, thread_id};
use crate::travel::{Direction, Why};
use checker::system::probe::{Watch, WatchKind};
use kernel::Tid;

type Asked<'a> = &'a mut dyn FnMut() -> bool;

/// Bytes that one watchpoint covers at most.
const WATCH_MAX: u64 = 1 << 16;

/// `?`: why time stands still.
pub fn why(session: &mut Session<'_, '_>, _: &[u8]) -> Reply {
    let signal = session.target.signal();
    Reply::text(&stop_reply(session, signal))
}

/// The answer to whatever lets time pass.
fn stop_reply(session: &Session<'_, '_>, signal: u8) -> String {
    let stopped = &session.target.stopped;
    let thread = stopped.tid.map(|tid| format!("thread:{};", thread_id(session.target.pid(), tid))).unwrap_or_default();
    let cause = match &stopped.why {
        Why::Beginning => "replaylog:begin;".to_owned(),
        Why::End => "replaylog:end;".to_owned(),
        Why::Watch(Watch { kind, start, .. }) => format!("{}:{start:x};", watch_word(*kind)),
        Why::Breakpoint if session.tells_breaks => "swbreak:;".to_owned(),
        Why::Breakpoint | Why::Stepped | Why::Interrupted => String::new(),
    };
    format!("T{signal:02x}{thread}{cause}")
}

fn watch_word(kind: WatchKind) -> &'static str {
    match kind {
        WatchKind::Write => "watch",
        WatchKind::Read => "rwatch",
        WatchKind::Access => "awatch",
    }
}

fn travel(session: &mut Session<'_, '_>, direction: Direction, single: Option<Tid>, asked: Asked<'_>) -> Reply {
    session.target.travel(direction, single, asked);
    let is_interrupted = session.target.stopped.why == Why::Interrupted;
    /// `SIGINT`.
    const INTERRUPT: u8 = 2;
    let signal = if is_interrupted { INTERRUPT } else { crate::target::TRAP };
    Reply::text(&stop_reply(session, signal))
}

/// The thread that a packet without a name moves.
fn moved(session: &Session<'_, '_>) -> Option<Tid> {
    session.moved.or(session.target.selected)
}

/// `bc`.
pub fn reverse_continue(session: &mut Session<'_, '_>, _: &[u8], asked: Asked<'_>) -> Reply {
    travel(session, Direction::Backwards, None, asked)
}

/// `bs`.
pub fn reverse_step(session: &mut Session<'_, '_>, _: &[u8], asked: Asked<'_>) -> Reply {
    let single = moved(session);
    travel(session, Direction::Backwards, single, asked)
}

/// `c`.
pub fn forward_continue(session: &mut Session<'_, '_>, _: &[u8], asked: Asked<'_>) -> Reply {
    travel(session, Direction::Forwards, None, asked)
}

/// `s`.
pub fn forward_step(session: &mut Session<'_, '_>, _: &[u8], asked: Asked<'_>) -> Reply {
    let single = moved(session);
    travel(session, Direction::Forwards, single, asked)
}

/// `vCont?`.
pub fn kinds(_: &mut Session<'_, '_>, _: &[u8]) -> Reply {
    Reply::text("vCont;c;C;s;S")
}

/// `vCont;action[:thread]...`: a thread that is to step decides when to stop; all others move as they did.
///
/// Signals that come with it cannot be delivered to the past.
pub fn vcont(session: &mut Session<'_, '_>, rest: &[u8], asked: Asked<'_>) -> Reply {
    let mut single = None;
    for action in parts(rest, b';') {
        let (kind, thread) = match parts(action, b':')[..] {
            [kind] => (kind, None),
            [kind, thread] => (kind, named_thread(thread)),
            _ => return Reply::error(),
        };
        match kind.first() {
            Some(b's' | b'S') => single = thread.or_else(|| moved(session)),
            Some(b'c' | b'C') => {}
            _ => return Reply::error(),
        }
    }
    travel(session, Direction::Forwards, single, asked)
}

/// `Z kind,address,length`.
pub fn set_break(session: &mut Session<'_, '_>, rest: &[u8]) -> Reply {
    let Some(key) = break_key(rest) else { return Reply::error() };
    if key.0 > b'4' {
        return Reply::Data(EMPTY.to_vec());
    }
    session.breaks.insert(key);
    place_breaks(session);
    Reply::ok()
}

/// `z kind,address,length`.
pub fn remove_break(session: &mut Session<'_, '_>, rest: &[u8]) -> Reply {
    let Some(key) = break_key(rest) else { return Reply::error() };
    session.breaks.remove(&key);
    place_breaks(session);
    Reply::ok()
}

/// What a breakpoint is; conditions and commands behind it are gdb's own business.
fn break_key(rest: &[u8]) -> Option<(u8, u64, u64)> {
    let [kind, address, length] = parts(parts(rest, b';').first()?, b',')[..] else { return None };
    let [kind @ b'0'..=b'9'] = kind else { return None };
    let (address, length) = (number(address)?, number(length)?);
    let is_range = length <= WATCH_MAX && address.checked_add(length).is_some();
    is_range.then_some((*kind, address, length))
}

/// Software and hardware breakpoints are the same here.
fn place_breaks(session: &mut Session<'_, '_>) {
    let points = &mut session.target.points;
    let keys = session.breaks.iter();
    points.breakpoints = keys.clone().filter(|key| key.0 <= b'1').map(|(_, address, _)| *address).collect();
    let watch = |(kind, start, length): &(u8, u64, u64)| {
        let kinds = [WatchKind::Write, WatchKind::Read, WatchKind::Access];
        let kind = *kinds.get(usize::from(kind.checked_sub(b'2')?))?;
        Some(Watch { kind, start: *start, end: start + length })
    };
    points.watches = keys.filter_map(watch).collect();
}
