//! Kinds of choices beside the choice of the actor.

use crate::system::state::State;
use kernel::descriptor::File;
use kernel::table::{self, FootprintRule};
use kernel::{Id, Tid};

/// The kind of a choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChoiceKind {
    /// Which sleeper a signal or a post wakes.
    Wakes = 1,
    /// How much a read returns.
    Reads,
    /// Which of several waiting threads accepts a connection.
    Accepts,
    /// Whether a timed wait ends while other actors are enabled.
    Timeouts,
    /// Which of the answers under way comes first.
    Answers,
    /// Whether a fault happens.
    Faults,
}

impl ChoiceKind {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Wakes, Self::Reads, Self::Accepts, Self::Timeouts, Self::Answers, Self::Faults];

    /// Its text in reports.
    #[must_use]
    pub fn told(self) -> &'static str {
        match self {
            Self::Wakes => "whom a signal wakes",
            Self::Reads => "how much a read returns",
            Self::Accepts => "who accepts a connection",
            Self::Timeouts => "whether a timed wait ends early",
            Self::Answers => "which answer of a peer comes first",
            Self::Faults => "whether a fault happens",
        }
    }
}

impl State {
    /// Whether another waiting thread could accept the same connection.
    pub(crate) fn competes(&self, tid: Tid) -> bool {
        let Some(listener) = self.accepts(tid) else { return false };
        let mut others = self.world.kernel.threads.keys().filter(|other| **other != tid);
        others.any(|other| self.accepts(*other) == Some(listener) && self.world.can_move(*other))
    }

    /// The listening socket on which a thread is blocked in `accept(2)`.
    fn accepts(&self, tid: Tid) -> Option<Id> {
        let kernel = &self.world.kernel;
        let thread = kernel.threads.get(&tid).filter(|thread| thread.wait.is_some())?;
        let (number, args) = thread.call?;
        if table::footprint(number) != FootprintRule::Accepts {
            return None;
        }
        match kernel.descriptions.get(&kernel.description_for(tid, args[0] as i32)?)?.file {
            File::Socket(id) => Some(id),
            _ => None,
        }
    }
}
