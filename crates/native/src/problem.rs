//! Why an instance cannot be driven.

use crate::address::Address;
use crate::last_words;
use std::fmt;
use std::io;

/// Why an instance cannot be driven. The texts go on where the name of the peer stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Problem {
    /// Whoever asks wants to stop.
    Stopped,
    /// It cannot be started: why.
    NotStarted(String),
    /// It never listened: where, how long it had or how it ended, and its last words.
    NotListening {
        /// Where.
        address: Address,
        /// `in 10 s`, `and ended with status 1`.
        how: String,
        /// The end of what it printed.
        last_words: String,
    },
    /// It never connected: where to, how long it had or how it ended, and its last words.
    NotConnected {
        /// Where to.
        address: Address,
        /// `in 10 s`, `and ended with status 1`.
        how: String,
        /// The end of what it printed.
        last_words: String,
    },
    /// It never came to rest: how long it had, and what still moves.
    Restless {
        /// `10 s`.
        patience: String,
        /// `thread 3 runs`.
        why: String,
    },
    /// A command of the user has failed: which, and why.
    Command(String, String),
    /// It does what is not modelled: in words.
    Unmodelled(String),
    /// What a peer that was not started here does, or does not: in words.
    Remote(String),
    /// The system refuses something that is needed while it runs.
    System(String),
}

impl Problem {
    /// A failed call of ours.
    pub(crate) fn system(doing: &str, error: &io::Error) -> Self {
        Self::System(format!("{doing}: {error}"))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped => f.write_str("was stopped"),
            Self::NotStarted(why) => write!(f, "cannot be started: {why}"),
            Self::NotListening { address, how, last_words } => {
                write!(f, "did not listen on {address} {how}; {}", last_words::told(last_words))
            }
            Self::NotConnected { address, how, last_words } => {
                write!(f, "did not connect to {address} {how}; {}", last_words::told(last_words))
            }
            Self::Restless { patience, why } => write!(f, "neither answered nor came to rest in {patience}: {why}"),
            Self::Command(command, why) => write!(f, "cannot be kept: `{command}`: {why}"),
            Self::Unmodelled(what) | Self::Remote(what) => f.write_str(what),
            Self::System(why) => write!(f, "cannot be driven: {why}"),
        }
    }
}

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// By itself, with this status.
    Exit(i32),
    /// By this signal.
    Signal(i32),
}

impl Status {
    /// As `waitpid(2)` says it.
    #[must_use]
    pub fn wait_status(self) -> i32 {
        match self {
            Self::Exit(status) => (status & 0xff) << 8,
            Self::Signal(number) => number,
        }
    }

    /// From what `waitpid(2)` says.
    #[must_use]
    pub fn of(wait_status: i32) -> Self {
        if libc::WIFSIGNALED(wait_status) {
            Self::Signal(libc::WTERMSIG(wait_status))
        } else {
            Self::Exit(libc::WEXITSTATUS(wait_status))
        }
    }
}

/// Signals that end programs, by name.
const SIGNALS: [(i32, &str); 14] = [
    (libc::SIGHUP, "SIGHUP"),
    (libc::SIGINT, "SIGINT"),
    (libc::SIGQUIT, "SIGQUIT"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGTRAP, "SIGTRAP"),
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGKILL, "SIGKILL"),
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGPIPE, "SIGPIPE"),
    (libc::SIGALRM, "SIGALRM"),
    (libc::SIGTERM, "SIGTERM"),
    (libc::SIGSYS, "SIGSYS"),
];

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(status) => write!(f, "ended with status {status}"),
            Self::Signal(number) => match SIGNALS.iter().find(|(known, _)| known == number) {
                Some((_, name)) => write!(f, "ended by {name}"),
                None => write!(f, "ended by signal {number}"),
            },
        }
    }
}
