//! How a call is narrated, as data: the words are made where traces are told.

use super::footprint::{FootprintRule, NameUse, OpenFlags};

/// How a call is narrated: `read fd 4 (socket) -> 2 bytes`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Narration {
    /// The name that people know it by, if that is not its own.
    pub called: Called,
    /// When it is part of the narration.
    pub shown: Shown,
    /// What of its arguments is told, beside descriptors, paths and signals.
    pub words: Words,
    /// What of its result is told, beside errors.
    pub result: ResultWords,
    /// What it came to for a name that stands for the same before and after it.
    pub verb: Verb,
}

/// The name that people know a call by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Called {
    /// Its own.
    ByName,
    /// Another one.
    As(&'static str),
    /// `lstat` if this argument has `AT_SYMLINK_NOFOLLOW`, `stat` otherwise.
    Stat(u8),
}

/// When a call is part of the narration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    /// Always.
    Always,
    /// Never: it says nothing about what a program is for.
    Never,
    /// If it names a file: what `fstat(3)` asks has no name.
    IfNamed,
    /// If it succeeds, and others may know of what its descriptor refers to.
    IfShared,
    /// Unless it reads what the kernel tells of itself.
    UnlessText,
    /// Unless there is no such service, which nobody can know of.
    UnlessNoService,
    /// If there was a child to tell of.
    IfChild,
    /// If it is about a lock.
    IfLock,
}

/// What of a call's arguments is told, beside descriptors, paths and signals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Words {
    /// No more.
    Plain,
    /// How long it sleeps: the time in this argument.
    Sleep(u8),
    /// The same, unless it sleeps until a time (`TIMER_ABSTIME` in argument 1).
    SleepUnlessUntil(u8),
    /// Bytes that it writes, or that it writes to a standard stream.
    Output,
    /// Bytes that it sends.
    Bytes,
    /// Numbers.
    Numbers,
    /// The second of two names is what the first gets.
    NewName,
    /// The address of the socket at the other end.
    PeerAddress,
    /// The address that a socket gets.
    OwnAddress,
    /// A lock of `fcntl(2)`.
    RecordLock,
    /// A lock of `flock(2)`.
    FileLock,
    /// Operations on System V semaphores.
    Semaphores,
}

/// What of a call's result is told, beside errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultWords {
    /// Nothing.
    Nothing,
    /// Bytes that are now where argument 1 points to, or that there are no more.
    Bytes,
    /// Whether there are no more bytes.
    EndOfInput,
    /// How old a file is.
    Age,
    /// A descriptor.
    Descriptor,
    /// A number.
    Number,
    /// The process that was waited for.
    Child,
    /// How many files are ready.
    Ready,
}

/// What a call came to for a name that stands for the same before and after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verb {
    /// It was looked at.
    Looked,
    /// It was opened.
    Opened,
    /// It was to be made, and was there already.
    Found,
    /// It was changed, if there was something.
    Changed,
}

impl Narration {
    /// Of a call about which no more is said than its footprint.
    pub(super) const fn of(rule: FootprintRule) -> Self {
        Self {
            called: Called::ByName,
            shown: Shown::Always,
            words: Words::Plain,
            result: ResultWords::Nothing,
            verb: Verb::of(rule),
        }
    }
}

impl Verb {
    const fn of(rule: FootprintRule) -> Self {
        match rule {
            FootprintRule::Names(NameUse::Look | NameUse::Stat | NameUse::Enter) | FootprintRule::Executes => {
                Self::Looked
            }
            FootprintRule::Names(NameUse::Open(OpenFlags::Argument(_))) => Self::Opened,
            FootprintRule::Names(NameUse::Make | NameUse::Link(_)) => Self::Found,
            _ => Self::Changed,
        }
    }
}
