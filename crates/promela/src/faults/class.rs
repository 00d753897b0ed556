//! The kinds of fault, with the words that people use for them: netem's for messages.

use std::fmt;
use trace::similar::closest;

/// A kind of fault.
///
/// Messages: the classes of netem. Processes: crash-stop, pause, crash-restart. Data: value faults.
/// Time: an early timeout. Omission faults are losses seen from the other side, Byzantine ones are
/// `Wrong` and `Irregular` together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Class {
    /// A message is lost.
    Loss,
    /// A message arrives twice.
    Duplicate,
    /// A message is overtaken by the one behind it.
    Reorder,
    /// A field of a message has another value.
    Corrupt,
    /// Another message, that somebody could send there, in place of the right one.
    Wrong,
    /// A message arrives later, also after a `timeout`.
    Delay,
    /// A process stops for good.
    Stop,
    /// A process stops for a while.
    Pause,
    /// A process starts again from its beginning, with its own variables reset.
    Restart,
    /// A state variable takes another of its values, or a process jumps to another of its labels.
    Irregular,
    /// One bit of a variable is flipped.
    Flip,
    /// A variable keeps its value whatever is stored.
    Stuck,
    /// A `timeout` comes although somebody could move.
    Early,
}

impl Class {
    /// Every kind, in the order in which reports list them.
    pub const ALL: [Self; 13] = [
        Self::Loss,
        Self::Duplicate,
        Self::Reorder,
        Self::Corrupt,
        Self::Wrong,
        Self::Delay,
        Self::Stop,
        Self::Pause,
        Self::Restart,
        Self::Irregular,
        Self::Flip,
        Self::Stuck,
        Self::Early,
    ];

    /// The name that flags take and reports print.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Duplicate => "duplicate",
            Self::Reorder => "reorder",
            Self::Corrupt => "corrupt",
            Self::Wrong => "wrong",
            Self::Delay => "delay",
            Self::Stop => "stop",
            Self::Pause => "pause",
            Self::Restart => "restart",
            Self::Irregular => "irregular",
            Self::Flip => "flip",
            Self::Stuck => "stuck",
            Self::Early => "early",
        }
    }

    /// What a model must have for it to apply.
    #[must_use]
    pub fn needs(self) -> &'static str {
        match self {
            Self::Loss => "a channel",
            Self::Delay => "a channel that holds messages",
            Self::Duplicate | Self::Reorder => "a channel that holds two messages or more",
            Self::Corrupt => "a channel with a field that is no channel",
            Self::Wrong => "a channel on which two different messages are sent, one of them with a constant",
            Self::Stop | Self::Pause => "a process",
            Self::Restart => "a process whose parameters are not assigned to",
            Self::Irregular => "a variable that only takes constants, or a process with a label",
            Self::Flip => "a `bit` or `bool` variable (others by name: flip:x)",
            Self::Stuck => "a variable that is assigned to",
            Self::Early => "a `timeout`",
        }
    }

    /// The name of a kind that somebody may have meant.
    #[must_use]
    pub fn near(name: &str) -> Option<&'static str> {
        closest(name, Self::ALL.map(Self::name))
    }

    /// The kind with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
