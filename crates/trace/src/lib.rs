//! Schedules, traces, events and counterexamples: plain, versioned, serialisable data.
//!
//! **Invariant:** nothing here refers to a transition system; a trace can be read, shown and compared by a program that
//! has none.

mod call;
mod counterexample;
mod event_kind;
mod fault_event;
mod fingerprint;
mod inventory;
mod mistaken;
mod operation;
mod peers;
mod programs;
mod read;
pub mod similar;
mod told;
mod waiting;

pub use call::{Argument, Bytes, Call, FileKind, LockMode, Passage, Progress, Purpose, Returned, Stream, ThreadRef};
pub use counterexample::{Counterexample, PropertyRef, SystemRef, VERSION, Variable};
pub use event_kind::{ConnectionEnd, Ending, EventKind};
pub use fault_event::{DiskChange, DiskEvent, DiskWhat, FaultEvent};
pub use fingerprint::Fingerprint;
pub use inventory::{
    ChannelState, FileContent, FileState, Inventory, LockState, OpenDescriptor, OpenFile, SocketState, ThreadState,
};
pub use mistaken::{FileDeed, FileVerb, MistakenFile};
pub use operation::{Operation, Verb};
pub use peers::{CountRef, DatagramsRef, HeardRef, HostRef, PeerRef, PlaceRef, StreamRef};
pub use programs::{FileRef, KnowledgeRef, ProgramsRef, RaceRef, ServiceRef, UserRef};
pub use read::{ReadError, SIZE_MAX};
pub use told::{ActorName, Trace, TraceStep};
pub use waiting::{AwaitedPeer, WaitReason, Waiting};

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Who moves and which of its choices, counted in the order in which the system offers them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Choice {
    /// The actor: a process number in a model.
    pub actor: u32,
    /// The number of the choice among that actor's choices in that state.
    pub index: u32,
}

/// A list of choices: the whole of what makes a run repeatable.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Schedule {
    /// The choices, first to last.
    pub choices: Vec<Choice>,
    /// For a lasso: how many choices form the stem; the rest is the cycle. All of them, if the run ends there and only
    /// time goes on.
    pub cycle_start: Option<usize>,
}

/// A place in a source file, for people.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Location {
    /// The file as the user named it.
    pub file: String,
    /// First line, counted from 1.
    pub line: u32,
    /// First column, counted from 1.
    pub column: u32,
    /// Number of columns that the text takes on that line, at least 1.
    pub width: u32,
}

/// Something visible in a step.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// Who did it.
    pub actor: u32,
    /// What it is.
    #[serde(default, deserialize_with = "event_kind::known_kind", skip_serializing_if = "EventKind::is_statement")]
    pub kind: EventKind,
    /// Of a statement: what the source says, `x = x + 1`, `ch!msg(3)`, `(end)`. Of other events it is empty until words are
    /// asked for: files carry it for people who read them, and for versions that know other kinds.
    pub text: String,
    /// Where.
    pub location: Option<Location>,
    /// Variables and channels that changed.
    pub changes: Vec<Change>,
    /// The message sent or received, if any.
    pub message: Option<Message>,
    /// What it printed, if anything.
    pub output: Option<String>,
    /// What went wrong in it, if the run could go on all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Whether nobody else could move between this event and the next (atomic, d_step).
    pub uninterrupted: bool,
    /// The actor that this event created, if any.
    pub created: Option<u32>,
    /// Whether nobody else can tell that it happened; left out unless everything is shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_local: bool,
}

/// A variable that changed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Change {
    /// Its name as the user knows it: `x`, `client[2]:count`, `queue.len`.
    pub name: String,
    /// Its value before.
    pub before: String,
    /// Its value after.
    pub after: String,
}

/// A message that travelled.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Message {
    /// The channel's name.
    pub channel: String,
    /// Which way.
    pub direction: Direction,
    /// The fields, as the user reads them.
    pub fields: Vec<String>,
    /// The other side of a rendezvous.
    pub partner: Option<u32>,
}

/// Which way a message went.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Into the channel.
    Send,
    /// Out of the channel.
    Receive,
}

/// What kind of thing went wrong; the names that `--check` takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// Nobody can go on and somebody is not where it may end.
    Deadlock,
    /// An assertion is false.
    Assert,
    /// An array index, a division, a channel or a process is used as the language forbids.
    Runtime,
    /// An acceptance cycle, by `accept` labels of the system itself.
    Accept,
    /// A cycle without progress.
    Progress,
    /// An LTL formula is false.
    Ltl,
    /// A never claim is matched.
    Never,
    /// A `trace` or `notrace` automaton is violated.
    Trace,
    /// An `xr` or `xs` promise is broken.
    Exclusive,
    /// A program is ended by a signal that it did not expect.
    Crash,
    /// A program ends with an exit code that says that it failed.
    Exit,
    /// Two accesses to the same memory that nothing keeps apart, one of them a write.
    Race,
    /// A lock is used as it may not be: unlocked by another thread, destroyed while it is held.
    Misuse,
    /// A cycle in which somebody moves for ever and nobody gets on.
    Livelock,
}

impl FailureKind {
    /// Every kind, in the order in which reports list them.
    pub const ALL: [Self; 14] = [
        Self::Deadlock,
        Self::Assert,
        Self::Runtime,
        Self::Accept,
        Self::Progress,
        Self::Ltl,
        Self::Never,
        Self::Trace,
        Self::Exclusive,
        Self::Crash,
        Self::Exit,
        Self::Race,
        Self::Misuse,
        Self::Livelock,
    ];

    /// The name that `--check` takes and reports print.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Deadlock => "deadlock",
            Self::Assert => "assert",
            Self::Runtime => "runtime",
            Self::Accept => "accept",
            Self::Progress => "progress",
            Self::Ltl => "ltl",
            Self::Never => "never",
            Self::Trace => "trace",
            Self::Exclusive => "exclusive",
            Self::Crash => "crash",
            Self::Exit => "exit",
            Self::Race => "race",
            Self::Misuse => "misuse",
            Self::Livelock => "livelock",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for FailureKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| format!("`{text}` is not a kind of failure"))
    }
}

impl Schedule {
    /// How often another actor takes over.
    #[must_use]
    pub fn context_switches(&self) -> usize {
        self.choices.windows(2).filter(|pair| pair[0].actor != pair[1].actor).count()
    }
}
