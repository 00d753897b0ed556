//! Which kernel objects a call reads and writes, as data: the reduction makes accesses of it.
//!
//! A rule speaks of arguments and of the kinds of objects behind them. Which objects those are is looked up when the call is
//! about to be made. Too large a footprint costs states; too small a one would be unsound.

/// The footprint of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FootprintRule {
    /// Any object: no more is known.
    Everything,
    /// Nothing that another thread could notice or change.
    Local,
    /// The signals that the caller blocks: local, unless somebody sends signals.
    BlocksSignals,
    /// The clock: local, unless time may pass early.
    ReadsClock,
    /// What all threads of a process share: nothing for a single thread, everything for several.
    SharedByThreads,
    /// Attributes of a process, read only.
    Asks(Changers, Subject),
    /// Signal handlers, timers and credentials of the caller's process.
    ChangesProcess,
    /// Nothing but time, and signals to the caller's process.
    Sleeps,
    /// The mappings of the caller's address space.
    ChangesMappings,
    /// Those, and the file that is mapped (`mmap(2)`).
    MapsFile,
    /// The open file that argument 0 refers to: an inode or a socket, each used in its own way; any other kind as a whole.
    Through(FileUse, SocketUse),
    /// The entries on the way of the path arguments, and what they lead to.
    Names(NameUse),
    /// New descriptors, of something that nobody else has.
    MakesDescriptors,
    /// Another descriptor for an open file, with the lowest number that is free.
    Duplicates,
    /// The same, with the number in argument 1, which is closed first.
    Replaces,
    /// The descriptor in argument 0, and the open file if that was the last one.
    Closes,
    /// The state of all files that the process has open.
    Polls,
    /// A connection of the listening socket in argument 0.
    Accepts,
    /// Both directions of the socket in argument 0, and its port.
    ShutsDown,
    /// The name of the socket in argument 0; a path makes an entry.
    NamesSocket,
    /// The same, and the listener that the address leads to.
    Connects,
    /// Threads that wait at the word in argument 0, or in argument 4 (`futex(2)`).
    Futex,
    /// Everything that a new process or thread inherits.
    Forks(CloneFlags),
    /// Descriptors, memory and signal handlers that another program does not keep.
    Executes,
    /// What the kernel does for a thread that ends.
    EndsThread,
    /// Everything that a process gives back when it ends, and its parent.
    EndsProcess,
    /// Children of the caller's process.
    Reaps,
    /// The set of System V semaphores, or the queue, in argument 0.
    SystemV,
}

/// Who can change what a call tells of the caller's process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Changers {
    /// Other threads of it.
    Threads,
    /// Those, and its parent: by its end, or by `setpgid(2)`.
    Relatives,
    /// Any process.
    Anybody,
}

/// Whose attributes a call asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// The caller's.
    Caller,
    /// Those of the process in argument 0; 0 is the caller's.
    GivenProcess,
    /// Those of the thread in argument 0; 0 is the caller.
    GivenThread,
    /// Limits of the process in argument 0, which are set if argument 2 is not null (`prlimit(2)`).
    Limits,
}

/// What a call does to an inode that a descriptor refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileUse {
    /// Reads content or attributes.
    Read,
    /// The same; of a directory it sees all names, or when one was changed.
    List,
    /// Reads it, and makes it durable (`fsync(2)`).
    Sync,
    /// Changes the content, and so what `stat(2)` tells.
    Write,
    /// Changes attributes; those of a directory decide about all that is in it.
    Attributes,
    /// By the request in argument 1 (`fcntl(2)`): of the descriptor, of the open file, or a lock on the inode.
    Fcntl,
    /// By the request in argument 1 (`ioctl(2)`): of the descriptor, or reads.
    Ioctl,
    /// Anything, such as its locks.
    Any,
}

/// What a call does to a socket that a descriptor refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SocketUse {
    /// Takes bytes from what was received.
    Receive(Amount),
    /// Takes a message, and with it perhaps descriptors (`recvmsg(2)`).
    ReceiveMessage,
    /// Adds bytes to what the peer has received.
    Send(Amount),
    /// The same, or sends them to the address in argument 4, of the length in argument 5 (`sendto(2)`).
    SendTo(Amount),
    /// Sends a message to anywhere, perhaps with descriptors (`sendmsg(2)`).
    SendMessage,
    /// Asks for what does not change.
    Ask,
    /// Anything, such as its options.
    Any,
}

/// How many bytes a call transfers at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Amount {
    /// As many as argument 2 says.
    Given,
    /// Any number.
    Any,
}

/// What a call does with the names that its path arguments are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameUse {
    /// Looks at what is there.
    Look,
    /// The same, and tells when a directory was changed.
    Stat,
    /// Opens what is there.
    Open(OpenFlags),
    /// Changes content or attributes of what is there.
    Change(Follow),
    /// Makes the name that the last path argument is.
    Make,
    /// Removes a name; this argument may hold `AT_REMOVEDIR`.
    Remove(Option<u8>),
    /// Removes the name of a directory.
    RemoveDirectory,
    /// Makes another name for what is there.
    Link(Follow),
    /// Replaces one name by another.
    Rename,
    /// Changes the working directory.
    Enter,
    /// Tells the working directory.
    Tell,
}

/// Flags of `open(2)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenFlags {
    /// Given by this argument.
    Argument(u8),
    /// Those of `creat(2)`: made or emptied, for writing.
    Creat,
}

/// Whether a symbolic link at the end of a path is followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Follow {
    /// It is.
    Always,
    /// It is not.
    Never,
    /// It is if this argument has `AT_SYMLINK_FOLLOW`.
    If(u8),
    /// It is unless this argument has `AT_SYMLINK_NOFOLLOW`.
    Unless(u8),
}

/// Where flags of `clone(2)` are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CloneFlags {
    /// There are none: nothing is shared.
    None,
    /// In argument 0.
    Argument,
    /// In the structure that argument 0 points to (`clone3(2)`).
    Structure,
}

impl FootprintRule {
    /// Whether a call concerns nobody but the calling thread.
    #[must_use]
    pub const fn is_local(self) -> bool {
        matches!(self, Self::Local | Self::BlocksSignals | Self::ReadsClock)
    }

    /// Whether a call on a descriptor changes nothing of the file.
    #[must_use]
    pub const fn only_reads(self) -> bool {
        matches!(self, Self::Through(FileUse::Read | FileUse::List | FileUse::Sync, _) | Self::Closes)
    }
}
