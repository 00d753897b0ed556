//! Queries: what we can do, and what the process is.

use super::packet::PACKET_MAX;
use super::registers;
use super::session::{EMPTY, Reply, Session};
use super::text::{hex, named_thread, number, parts, slice, thread_id};

/// `qSupported`.
pub fn supported(session: &mut Session<'_, '_>, rest: &[u8]) -> Reply {
    let theirs = parts(rest.strip_prefix(b":").unwrap_or(rest), b';');
    session.tells_breaks = theirs.contains(&&b"swbreak+"[..]);
    Reply::text(&format!(
        "PacketSize={PACKET_MAX:x};QStartNoAckMode+;multiprocess+;vContSupported+;swbreak+;hwbreak+;\
         ReverseContinue+;ReverseStep+;qXfer:features:read+;qXfer:threads:read+;qXfer:auxv:read+;qXfer:exec-file:read+"
    ))
}

/// Something that gdb reads in parts: its name, and all of it.
type Object = (&'static [u8], fn(&Session<'_, '_>) -> Vec<u8>);

const OBJECTS: &[Object] = &[
    (b"features:read:target.xml:", |_| registers::description().into_bytes()),
    (b"threads:read::", |session| threads(session).into_bytes()),
    (b"auxv:read::", |session| session.target.auxiliary()),
    (b"exec-file:read:", |session| session.target.executable()),
];

/// `qXfer:object:read:annex:offset,length`.
pub fn transfer(session: &mut Session<'_, '_>, rest: &[u8]) -> Reply {
    let Some((name, content)) = OBJECTS.iter().find(|(name, _)| rest.starts_with(name)) else {
        return Reply::Data(EMPTY.to_vec());
    };
    // Of several annexes the last part is the range: the executable is asked for by process.
    let range = parts(&rest[name.len()..], b':').last().copied().unwrap_or_default();
    Reply::of(slice(&content(session), range))
}

fn threads(session: &Session<'_, '_>) -> String {
    let mut text = String::from("<?xml version=\"1.0\"?><threads>");
    for tid in session.target.threads() {
        let id = thread_id(session.target.pid(), tid);
        text += &format!("<thread id=\"{id}\" name=\"{}\"/>", quoted(&session.target.script.thread(tid.0)));
    }
    text + "</threads>"
}

/// A text within an attribute. Control characters are not allowed there at all.
fn quoted(text: &str) -> String {
    let quote = |letter: char| match letter {
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '&' => "&amp;".to_owned(),
        '"' => "&quot;".to_owned(),
        letter if letter.is_control() => "?".to_owned(),
        letter => letter.to_string(),
    };
    text.chars().map(quote).collect()
}

/// `qfThreadInfo`.
pub fn first_threads(session: &mut Session<'_, '_>, _: &[u8]) -> Reply {
    let ids = session.target.threads().into_iter().map(|tid| thread_id(session.target.pid(), tid));
    Reply::text(&format!("m{}", ids.collect::<Vec<_>>().join(",")))
}

/// `qsThreadInfo`.
pub fn more_threads(_: &mut Session<'_, '_>, _: &[u8]) -> Reply {
    Reply::text("l")
}

/// `qThreadExtraInfo,thread`.
pub fn thread_name(session: &mut Session<'_, '_>, rest: &[u8]) -> Reply {
    let name = named_thread(rest).map(|tid| session.target.script.thread(tid.0));
    Reply::of(name.map(|name| hex(name.as_bytes())))
}

/// `qAttached`: the process was there before gdb came; gdb detaches when it leaves.
pub fn attached(_: &mut Session<'_, '_>, _: &[u8]) -> Reply {
    Reply::text("1")
}

/// `qC`.
pub fn current(session: &mut Session<'_, '_>, _: &[u8]) -> Reply {
    let current = session.target.stopped.tid.map(|tid| format!("QC{}", thread_id(session.target.pid(), tid)));
    Reply::of(current.map(String::into_bytes))
}

/// `qGetTLSAddr:thread,offset,link_map`: where a thread-local variable of the executable lies.
///
/// The thread pointer is followed by the address of the thread's table of modules; the executable is the first
/// ("ELF Handling For Thread-Local Storage"). Which module a link map is, only the C library knows.
pub fn local_storage(session: &mut Session<'_, '_>, rest: &[u8]) -> Reply {
    let [thread, offset, map] = parts(rest, b',')[..] else { return Reply::error() };
    let word = |address: u64| {
        let bytes = session.target.memory(address, 8);
        bytes.try_into().ok().map(u64::from_le_bytes)
    };
    let address = || {
        let cpu = session.target.registers(named_thread(thread)?)?;
        // `l_name` of the executable is empty.
        let name = word(number(map)?.checked_add(8)?)?;
        let is_executable = session.target.memory(name, 1) == [0];
        let first = word(word(cpu.fs_base.checked_add(8)?)?.checked_add(16)?)?;
        is_executable.then_some(first.wrapping_add(number(offset)?))
    };
    match address() {
        Some(address) => Reply::text(&format!("{address:x}")),
        None => Reply::error(),
    }
}
