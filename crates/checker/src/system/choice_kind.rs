//! Choices beside who moves, by what they are about.

use crate::system::state::State;
use kernel::descriptor::File;
use kernel::table::{self, FootprintRule};
use kernel::{Id, Tid};

/// What a choice is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChoiceKind {
    /// Whom a signal or a post wakes.
    Wakes = 1,
    /// How much a read returns.
    Reads,
    /// Which of several that wait takes a connection.
    Accepts,
    /// Whether a timed wait ends while others can move.
    Timeouts,
}

impl ChoiceKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Wakes, Self::Reads, Self::Accepts, Self::Timeouts];

    /// As reports say it.
    #[must_use]
    pub fn told(self) -> &'static str {
        match self {
            Self::Wakes => "whom a signal wakes",
            Self::Reads => "how much a read returns",
            Self::Accepts => "who accepts a connection",
            Self::Timeouts => "whether a timed wait ends early",
        }
    }
}

impl State {
    /// Whether several threads that wait could take the same connection.
    pub(crate) fn competes(&self, tid: Tid) -> bool {
        let Some(listener) = self.accepts(tid) else { return false };
        let mut others = self.world.kernel.threads.keys().filter(|other| **other != tid);
        others.any(|other| self.accepts(*other) == Some(listener) && self.world.can_move(*other))
    }

    /// The listening socket at which a thread waits for a connection.
    fn accepts(&self, tid: Tid) -> Option<Id> {
        let kernel = &self.world.kernel;
        let thread = kernel.threads.get(&tid).filter(|thread| thread.wait.is_some())?;
        let (number, args) = thread.call?;
        if table::footprint(number) != FootprintRule::Accepts {
            return None;
        }
        let descriptor = kernel.processes.get(&thread.pid)?.descriptors.get(args[0] as i32).ok()?;
        match kernel.descriptions.get(&descriptor.description)?.file {
            File::Socket(id) => Some(id),
            _ => None,
        }
    }
}
