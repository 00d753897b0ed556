//! Syscalls as events: what of their arguments and results is told, read from the guest.

use super::files::Use;
use super::guest::{file_of, text_at};
use super::heard::HeardEvent;
use kernel::descriptor::{Console, File};
use kernel::errno::{ECHILD, ENOENT, Errno};
use kernel::files::walk::AT_SYMLINK_NOFOLLOW;
use kernel::net::socket::Stage;
use kernel::table::FootprintRule;
use kernel::table::narration::{Called, ResultWords, Shown, Words};
use kernel::table::{self, Row};
use kernel::{Tid, files};
use memory::SpaceId;
use trace::{Argument, Bytes, Call, FileKind, LockMode, Progress, Purpose, Returned, Stream};
use world::World;

/// Operations on System V semaphores that are told.
const SEMAPHORES_MAX: u64 = 8;

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

/// A call that begins. Looks at memory without leaving a trace in the log of accesses.
pub fn begun(world: &World, tid: Tid, number: u64, args: &[u64; 6]) -> Call {
    match table::row(number) {
        Some(row) => BegunCall { world, tid, row, args }.event(),
        None => Call::named(world::refusal::call_name(number)),
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
    fn event(&self) -> Call {
        let purpose = self.purpose();
        let arguments = match purpose {
            Purpose::Prints(_) | Purpose::Sleeps(Some(_)) => Vec::new(),
            Purpose::Locks(_) => vec![descriptor(self.world, self.tid, self.args[0] as i32)],
            Purpose::Plain | Purpose::Sleeps(None) | Purpose::Forks => self.arguments(),
        };
        Call { name: self.name().to_owned(), purpose, arguments, progress: Progress::Begun, fault: None, passage: None }
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

    /// What it is for, if that says more than its name.
    fn purpose(&self) -> Purpose {
        const TIMER_ABSTIME: u64 = 1;
        let Self { world, tid, args, .. } = *self;
        let span = |time: u8| timespec(world, self.space(), args[usize::from(time)]);
        let special = match self.row.narration.words {
            Words::Sleep(time) => Some(Purpose::Sleeps(span(time))),
            Words::SleepUnlessUntil(time) if args[1] & TIMER_ABSTIME == 0 => {
                span(time).map(|span| Purpose::Sleeps(Some(span)))
            }
            Words::Output => match file_of(world, tid, args[0] as i32) {
                Some(File::Console(console)) => Some(Purpose::Prints(stream(console))),
                _ => None,
            },
            Words::RecordLock => record_lock(world, tid, args).map(Purpose::Locks),
            Words::FileLock => Some(Purpose::Locks(file_lock(args))),
            _ => None,
        };
        let forks = matches!(self.row.footprint, FootprintRule::Forks(_));
        special.unwrap_or(if forks { Purpose::Forks } else { Purpose::Plain })
    }

    /// What is told of its arguments.
    fn arguments(&self) -> Vec<Argument> {
        let mut told = Vec::new();
        for (argument, value) in self.row.arguments.iter().zip(self.args) {
            let is_first = told.is_empty();
            told.extend(self.argument(*argument, *value, is_first));
        }
        told.extend(self.last());
        told
    }

    /// One argument; the first to be told, or not.
    fn argument(&self, argument: table::Argument, value: u64, is_first: bool) -> Option<Argument> {
        use table::Argument as A;
        let path = || text_at(self.world, self.space(), value);
        match (self.row.narration.words, argument) {
            (_, A::Fd) => Some(descriptor(self.world, self.tid, value as i32)),
            (_, A::Signal) => Some(Argument::Signal(world::strace::signal_name(value))),
            (Words::NewName, A::Path) if is_first => path().map(Argument::OldName),
            (Words::NewName, A::Path) => path().map(Argument::NewName),
            (_, A::Path) => path().map(Argument::Path),
            (Words::Output | Words::Bytes, A::In(length)) => {
                let length = self.args[usize::from(length)];
                Some(Argument::Bytes(bytes(self.world, self.space(), value, length)))
            }
            (Words::Numbers, A::Int) => Some(Argument::Number(value)),
            _ => None,
        }
    }

    /// What is told behind all arguments.
    fn last(&self) -> Option<Argument> {
        let (space, args) = (self.space(), self.args);
        let address = || address(self.world, space, args[1], args[2]);
        match self.row.narration.words {
            Words::PeerAddress => address().map(Argument::PeerAddress),
            Words::OwnAddress => address().map(Argument::OwnAddress),
            Words::Semaphores => semaphores(self.world, space, args),
            _ => None,
        }
    }
}

/// `flock(2)`.
fn file_lock(args: &[u64; 6]) -> LockMode {
    match args[1] & 0xb {
        1 => LockMode::Shared,
        2 => LockMode::Exclusive,
        _ => LockMode::Unlock,
    }
}

/// `fcntl(2)` with a `struct flock`.
fn record_lock(world: &World, tid: Tid, args: &[u64; 6]) -> Option<LockMode> {
    const LOCKING: [u64; 4] = [6, 7, 37, 38];
    if !LOCKING.contains(&args[1]) {
        return None;
    }
    let mut kind = [0; 2];
    world.memory.peek(world.space(tid), args[2], &mut kind).ok()?;
    Some(match u16::from_le_bytes(kind) {
        0 => LockMode::Shared,
        1 => LockMode::Exclusive,
        _ => LockMode::Unlock,
    })
}

/// A `struct timespec`, in nanoseconds.
fn timespec(world: &World, space: SpaceId, address: u64) -> Option<u64> {
    let mut bytes = [0; 16];
    world.memory.peek(space, address, &mut bytes).ok()?;
    let part = |from: usize| u64::from_le_bytes(bytes[from..from + 8].try_into().expect("eight bytes"));
    Some(part(0).saturating_mul(1_000_000_000).saturating_add(part(8)))
}

/// What a call came to.
pub fn returned(world: &World, tid: Tid, (row, args): (&Row, &[u64; 6]), result: u64, uses: &[Use]) -> Returned {
    let signed = result as i64;
    if (-4095..0).contains(&signed) {
        return Returned::Error(Errno((-signed) as u16).name().to_string());
    }
    match row.narration.result {
        ResultWords::Nothing => Returned::Nothing,
        ResultWords::Bytes | ResultWords::EndOfInput if result == 0 => Returned::EndOfInput,
        ResultWords::Bytes if world.kernel.threads.contains_key(&tid) => {
            Returned::Bytes(bytes(world, world.space(tid), args[1], result))
        }
        ResultWords::Bytes | ResultWords::EndOfInput => Returned::Nothing,
        ResultWords::Age => age(world, uses).map_or(Returned::Nothing, Returned::Age),
        ResultWords::Descriptor => Returned::Descriptor(signed),
        ResultWords::Number | ResultWords::Child => Returned::Number(signed),
        ResultWords::Ready => Returned::Ready(signed),
    }
}

/// How long ago a file was changed that was looked at, in nanoseconds.
fn age(world: &World, uses: &[Use]) -> Option<u64> {
    let Some(Use::Name(named)) = uses.first() else { return None };
    let inode = world.kernel.inode(named.after?)?;
    Some(world.kernel.clock.real().saturating_sub(inode.modified))
}

fn descriptor(world: &World, tid: Tid, fd: i32) -> Argument {
    Argument::Descriptor { fd, file: file_kind(world, tid, fd) }
}

fn stream(console: Console) -> Stream {
    match console {
        Console::Input => Stream::Input,
        Console::Output => Stream::Output,
        Console::Error => Stream::Error,
    }
}

fn file_kind(world: &World, tid: Tid, fd: i32) -> FileKind {
    match file_of(world, tid, fd) {
        Some(File::Inode(id)) => match world.kernel.inode(id).map(|inode| inode.kind) {
            Some(files::Kind::Directory) => FileKind::Directory,
            _ => FileKind::File(None),
        },
        Some(File::PipeReader(_) | File::PipeWriter(_) | File::PipeBoth(_)) => FileKind::Pipe,
        Some(File::Socket(_)) => FileKind::Socket,
        Some(File::Event(_)) => FileKind::Eventfd,
        Some(File::Timer(_)) => FileKind::Timerfd,
        Some(File::Epoll(_)) => FileKind::Epoll,
        Some(File::Terminal(_) | File::PtyMaster(_)) => FileKind::Terminal,
        Some(File::Console(console)) => FileKind::Stream(stream(console)),
        _ => FileKind::Other,
    }
}

fn bytes(world: &World, space: SpaceId, address: u64, length: u64) -> Bytes {
    let mut start = vec![0; length.min(Bytes::KEPT as u64) as usize];
    match world.memory.peek(space, address, &mut start) {
        Ok(()) => Bytes::beginning_with(&start, length),
        Err(_) => Bytes::unreadable(length),
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

/// What operations on System V semaphores do.
fn semaphores(world: &World, space: SpaceId, args: &[u64; 6]) -> Option<Argument> {
    let mut operations = Vec::new();
    for index in 0..args[2].min(SEMAPHORES_MAX) {
        let mut bytes = [0; 6];
        world.memory.peek(space, args[1].checked_add(index * 6)?, &mut bytes).ok()?;
        operations.push((u16::from_le_bytes([bytes[0], bytes[1]]), i16::from_le_bytes([bytes[2], bytes[3]])));
    }
    Some(Argument::Semaphores { set: args[0] as i32, operations })
}
