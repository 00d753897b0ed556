//! Syscalls in words: `read fd 4 (socket) -> 2 bytes`, `connect fd 3 (socket) to 127.0.0.1:7000`.

use super::files::Use;
use super::guest::{file_of, text_at};
use super::heard::HeardEvent;
use kernel::descriptor::{Console, File};
use kernel::errno::{ECHILD, ENOENT, Errno};
use kernel::files::walk::AT_SYMLINK_NOFOLLOW;
use kernel::net::socket::Stage;
use kernel::table::FootprintRule;
use kernel::table::narration::{Called, ResultWords, Shown, Words};
use kernel::table::{self, Argument, Row};
use kernel::{Tid, files};
use memory::SpaceId;
use trace::{Call, EventKind};
use world::World;

/// How much of a text is shown.
const TEXT_MAX: usize = 24;
/// How much of a path is shown.
const PATH_MAX: usize = 28;
/// How much of the first of two.
const FIRST_PATH_MAX: usize = 15;

/// Whether a call that has returned is part of the narration.
pub fn is_told(world: &World, tid: Tid, (row, args): (&Row, &[u64; 6]), heard: &HeardEvent, result: u64) -> bool {
    let is_error = |errno: Errno| result as i64 == -i64::from(errno.0);
    let fd = args[0] as i32;
    match row.narration.shown {
        Shown::Always => true,
        Shown::Never => false,
        Shown::IfNamed => heard.uses.iter().any(|used| !matches!(used, Use::Content { .. })),
        Shown::IfShared => !heard.is_private && result == 0,
        Shown::UnlessText => !matches!(file_of(world, tid, fd), Some(File::Text(_))),
        Shown::UnlessNoService => !(is_error(ENOENT) && is_alone(world, tid, fd)),
        Shown::IfChild => result != 0 && !is_error(ECHILD),
        Shown::IfLock => record_lock(world, tid, args).is_some(),
    }
}

/// Whether nobody else can know of what a descriptor refers to: a standard stream, or a socket without peer.
pub fn is_alone(world: &World, tid: Tid, fd: i32) -> bool {
    match file_of(world, tid, fd) {
        Some(File::Console(_) | File::Text(_)) => true,
        Some(File::Socket(id)) => world.kernel.net.sockets.get(&id).is_some_and(|socket| socket.stage == Stage::Idle),
        _ => false,
    }
}

/// What a call that begins is as an event.
pub fn kind(world: &World, tid: Tid, number: u64, args: &[u64; 6]) -> EventKind {
    let Some(row) = table::row(number) else { return EventKind::Call(Call::default()) };
    let begun = BegunCall { world, tid, row, args };
    match row.narration.words {
        Words::Sleep(_) => EventKind::Sleep,
        Words::SleepUnlessUntil(_) if begun.whole().is_some() => EventKind::Sleep,
        Words::Output if begun.whole().is_some() => EventKind::Print,
        _ if matches!(row.footprint, FootprintRule::Forks(_)) => EventKind::Fork,
        _ => EventKind::Call(Call { name: row.name.to_owned(), path: begun.first_path(), ..Call::default() }),
    }
}

/// Notes what a call has come to.
pub fn note_result(world: &World, tid: Tid, (row, args): (&Row, &[u64; 6]), result: u64, call: &mut Call) {
    let signed = result as i64;
    call.error = (-4095..0).contains(&signed).then(|| Errno((-signed) as u16).name().to_string());
    let reads = matches!(row.narration.result, ResultWords::Bytes | ResultWords::EndOfInput);
    let is_input = || matches!(file_of(world, tid, args[0] as i32), Some(File::Console(Console::Input)));
    call.is_end_of_input = reads && result == 0 && is_input();
}

/// A call that begins. Looks at memory without leaving a trace in the log of accesses.
pub fn begun(world: &World, tid: Tid, number: u64, args: &[u64; 6]) -> String {
    match table::row(number) {
        Some(row) => BegunCall { world, tid, row, args }.text(),
        None => world::refusal::call_name(number),
    }
}

/// A call that begins.
struct BegunCall<'a> {
    world: &'a World,
    tid: Tid,
    row: &'a Row,
    args: &'a [u64; 6],
}

impl BegunCall<'_> {
    fn text(&self) -> String {
        if let Some(whole) = self.whole() {
            return whole;
        }
        let mut words = vec![self.name().to_owned()];
        for (argument, value) in self.row.arguments.iter().zip(self.args) {
            let is_first = words.len() == 1;
            words.extend(self.argument(*argument, *value, is_first));
        }
        words.extend(self.last());
        words.join(" ")
    }

    fn space(&self) -> SpaceId {
        self.world.space(self.tid)
    }

    /// The name that people know the call by.
    fn name(&self) -> &'static str {
        match self.row.narration.called {
            Called::ByName => self.row.name,
            Called::As(name) => name,
            Called::Stat(flags) if self.args[usize::from(flags)] & u64::from(AT_SYMLINK_NOFOLLOW) != 0 => "lstat",
            Called::Stat(_) => "stat",
        }
    }

    /// A call that is told in words of its own.
    fn whole(&self) -> Option<String> {
        const TIMER_ABSTIME: u64 = 1;
        let Self { world, tid, args, .. } = *self;
        let sleep = |time: u8| Some(format!("sleep {}", timespec(world, self.space(), args[usize::from(time)])?));
        match self.row.narration.words {
            Words::Sleep(time) => sleep(time),
            Words::SleepUnlessUntil(time) if args[1] & TIMER_ABSTIME == 0 => sleep(time),
            Words::Output => match file_of(world, tid, args[0] as i32)? {
                File::Console(stream) => Some(format!("write to {}", console(stream))),
                _ => None,
            },
            Words::RecordLock => record_lock(world, tid, args),
            Words::FileLock => Some(file_lock(world, tid, args)),
            _ => None,
        }
    }

    /// One argument; the first to be told, or not.
    fn argument(&self, argument: Argument, value: u64, is_first: bool) -> Option<String> {
        match (self.row.narration.words, argument) {
            (_, Argument::Fd) => Some(descriptor(self.world, self.tid, value as i32)),
            (_, Argument::Signal) => Some(world::strace::signal_name(value)),
            (Words::NewName, Argument::Path) if is_first => self.path("", value, FIRST_PATH_MAX),
            // The second of two names is what the first gets.
            (Words::NewName, Argument::Path) => self.path("as ", value, PATH_MAX),
            (_, Argument::Path) => self.path("", value, PATH_MAX),
            (Words::Output | Words::Bytes, Argument::In(length)) => {
                Some(quoted(self.world, self.space(), value, self.args[usize::from(length)]))
            }
            (Words::Numbers, Argument::Int) => Some(value.to_string()),
            _ => None,
        }
    }

    /// The first path among its arguments.
    fn first_path(&self) -> Option<String> {
        let mut arguments = self.row.arguments.iter().zip(self.args);
        let (_, address) = arguments.find(|(argument, _)| **argument == Argument::Path)?;
        text_at(self.world, self.space(), *address)
    }

    fn path(&self, before: &str, address: u64, room: usize) -> Option<String> {
        let path = text_at(self.world, self.space(), address)?;
        Some(format!("{before}\"{}\"", short(&path, room)))
    }

    /// What is told behind all arguments.
    fn last(&self) -> Option<String> {
        let (space, args) = (self.space(), self.args);
        match self.row.narration.words {
            Words::Address(to) => address(self.world, space, args[1], args[2]).map(|name| format!("{to} {name}")),
            Words::Semaphores => semaphores(self.world, space, args),
            _ => None,
        }
    }
}

/// `flock(2)`.
fn file_lock(world: &World, tid: Tid, args: &[u64; 6]) -> String {
    let how = match args[1] & 0xb {
        1 => "lock for reading",
        2 => "lock",
        _ => "unlock",
    };
    format!("{how} {} (flock)", descriptor(world, tid, args[0] as i32))
}

/// `fcntl(2)` with a `struct flock`.
fn record_lock(world: &World, tid: Tid, args: &[u64; 6]) -> Option<String> {
    const LOCKING: [u64; 4] = [6, 7, 37, 38];
    if !LOCKING.contains(&args[1]) {
        return None;
    }
    let mut kind = [0; 2];
    world.memory.peek(world.space(tid), args[2], &mut kind).ok()?;
    let how = match u16::from_le_bytes(kind) {
        0 => "lock for reading",
        1 => "lock",
        _ => "unlock",
    };
    Some(format!("{how} {} (fcntl)", descriptor(world, tid, args[0] as i32)))
}

fn timespec(world: &World, space: SpaceId, address: u64) -> Option<String> {
    let mut bytes = [0; 16];
    world.memory.peek(space, address, &mut bytes).ok()?;
    let part = |from: usize| u64::from_le_bytes(bytes[from..from + 8].try_into().expect("eight bytes"));
    Some(span(part(0).saturating_mul(1_000_000_000).saturating_add(part(8))))
}

/// Nanoseconds, for people.
pub fn span(nanoseconds: u64) -> String {
    const DAY: u64 = 86_400;
    let seconds = nanoseconds / 1_000_000_000;
    match nanoseconds {
        0..1_000_000 => format!("{nanoseconds} ns"),
        1_000_000..1_000_000_000 => format!("{} ms", nanoseconds / 1_000_000),
        _ if seconds >= 2 * DAY => format!("{} days", seconds / DAY),
        _ if nanoseconds.is_multiple_of(1_000_000_000) || seconds > 60 => format!("{seconds} s"),
        _ => format!("{:.3} s", nanoseconds as f64 / 1e9),
    }
}

/// A path that fits; of a long one the middle is left out.
fn short(path: &str, room: usize) -> String {
    let letters: Vec<char> = path.chars().collect();
    if letters.len() <= room {
        return path.to_owned();
    }
    let part = |letters: &[char]| letters.iter().collect::<String>();
    format!("{}...{}", part(&letters[..8]), part(&letters[letters.len() - (room - 11)..]))
}

/// What a call came to.
pub fn returned(world: &World, tid: Tid, (row, args): (&Row, &[u64; 6]), result: u64, uses: &[Use]) -> String {
    let signed = result as i64;
    if (-4095..0).contains(&signed) {
        return format!(" -> {}", Errno((-signed) as u16).name());
    }
    match row.narration.result {
        ResultWords::Nothing => String::new(),
        ResultWords::Bytes | ResultWords::EndOfInput if result == 0 => " -> end of input".to_owned(),
        ResultWords::Bytes if world.kernel.threads.contains_key(&tid) => {
            format!(" -> {}", quoted(world, world.space(tid), args[1], result))
        }
        ResultWords::Bytes | ResultWords::EndOfInput => String::new(),
        ResultWords::Age => age(world, uses).unwrap_or_default(),
        ResultWords::Descriptor => format!(" -> fd {signed}"),
        ResultWords::Number | ResultWords::Child => format!(" -> {signed}"),
        ResultWords::Ready => format!(" -> {signed} ready"),
    }
}

/// How old a file is that was looked at.
fn age(world: &World, uses: &[Use]) -> Option<String> {
    let Some(Use::Name(named)) = uses.first() else { return None };
    let inode = world.kernel.inode(named.after?)?;
    let age = world.kernel.clock.real().saturating_sub(inode.modified);
    Some(if age < 1_000_000_000 { " -> just changed".to_owned() } else { format!(" -> {} old", span(age)) })
}

fn descriptor(world: &World, tid: Tid, fd: i32) -> String {
    let kind = described(world, tid, fd);
    if kind.is_empty() { format!("fd {fd}") } else { format!("fd {fd} ({kind})") }
}

fn console(stream: Console) -> &'static str {
    match stream {
        Console::Input => "standard input",
        Console::Output => "standard output",
        Console::Error => "standard error",
    }
}

fn described(world: &World, tid: Tid, fd: i32) -> &'static str {
    match file_of(world, tid, fd) {
        Some(File::Inode(id)) => match world.kernel.inode(id).map(|inode| inode.kind) {
            Some(files::Kind::Directory) => "directory",
            _ => "file",
        },
        Some(File::PipeReader(_) | File::PipeWriter(_) | File::PipeBoth(_)) => "pipe",
        Some(File::Socket(_)) => "socket",
        Some(File::Event(_)) => "eventfd",
        Some(File::Timer(_)) => "timerfd",
        Some(File::Epoll(_)) => "epoll",
        Some(File::Terminal(_) | File::PtyMaster(_)) => "terminal",
        Some(File::Console(stream)) => console(stream),
        _ => "",
    }
}

fn quoted(world: &World, space: SpaceId, address: u64, length: u64) -> String {
    let mut bytes = vec![0; length.min(TEXT_MAX as u64) as usize];
    match world.memory.peek(space, address, &mut bytes) {
        Ok(()) => abridged(&bytes, length),
        Err(_) => format!("{length} bytes"),
    }
}

/// Bytes for people.
pub fn shown(bytes: &[u8]) -> String {
    abridged(&bytes[..bytes.len().min(TEXT_MAX)], bytes.len() as u64)
}

/// The first of so many bytes: as a text if they are one.
fn abridged(bytes: &[u8], length: u64) -> String {
    let is_text = bytes.iter().all(|byte| (0x20..0x7f).contains(byte) || b"\n\r\t".contains(byte));
    let dots = if length > TEXT_MAX as u64 { "..." } else { "" };
    match is_text {
        true => format!("{:?}{dots}", String::from_utf8_lossy(bytes)),
        false if length == 1 => "1 byte".to_owned(),
        false => format!("{length} bytes"),
    }
}

/// The address in a `struct sockaddr`.
fn address(world: &World, space: SpaceId, at: u64, length: u64) -> Option<String> {
    const AF_UNIX: u16 = 1;
    const AF_INET: u16 = 2;
    let mut bytes = vec![0; length.clamp(2, 128) as usize];
    world.memory.peek(space, at, &mut bytes).ok()?;
    match u16::from_le_bytes([bytes[0], bytes[1]]) {
        AF_INET if bytes.len() >= 8 => {
            let port = u16::from_be_bytes([bytes[2], bytes[3]]);
            Some(format!("{}.{}.{}.{}:{port}", bytes[4], bytes[5], bytes[6], bytes[7]))
        }
        AF_UNIX => {
            let end = bytes[2..].iter().position(|byte| *byte == 0).unwrap_or(bytes.len() - 2);
            Some(String::from_utf8_lossy(&bytes[2..2 + end]).into_owned())
        }
        _ => None,
    }
}

/// What operations on System V semaphores do: `#1 -1`.
fn semaphores(world: &World, space: SpaceId, args: &[u64; 6]) -> Option<String> {
    let mut told = Vec::new();
    for index in 0..args[2].min(8) {
        let mut bytes = [0; 6];
        world.memory.peek(space, args[1].checked_add(index * 6)?, &mut bytes).ok()?;
        let number = u16::from_le_bytes([bytes[0], bytes[1]]);
        told.push(format!("#{number} {:+}", i16::from_le_bytes([bytes[2], bytes[3]])));
    }
    Some(format!("{} of set {}", told.join(", "), args[0] as i32))
}
