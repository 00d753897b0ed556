//! Calls that ask for attributes of processes.

use super::{Footprint, PendingCall, everything, objects};
use kernel::table::footprint::{Changers, Subject};

impl PendingCall<'_> {
    /// What a call touches that only looks at the caller's own process, if it does not ask about others or change something.
    pub(super) fn asks(&self, changers: Changers, subject: Subject) -> Footprint {
        match self.only_looks(subject) {
            true if self.is_constant(changers) => Footprint::Nothing,
            true => objects([self.process(false)]),
            false => everything(),
        }
    }

    fn only_looks(&self, subject: Subject) -> bool {
        let is_own = |id: u32| [0, u64::from(id)].contains(&self.args[0]);
        match subject {
            Subject::Caller => true,
            Subject::GivenProcess => is_own(self.pid().0),
            Subject::GivenThread => is_own(self.tid.0),
            Subject::Limits => is_own(self.pid().0) && self.args[2] == 0,
        }
    }

    /// Whether nobody can change what a call tells of the caller's process: whoever does writes the process, or everything.
    ///
    /// Decision 14, "looking": `getppid(2)` is invisible only while there is no parent whose end
    /// could change it.
    fn is_constant(&self, changers: Changers) -> bool {
        let parent = self.kernel.processes.get(&self.pid()).map(|process| process.parent);
        let has_parent = || parent.is_some_and(|parent| self.kernel.processes.contains_key(&parent));
        self.is_alone()
            && match changers {
                Changers::Threads => true,
                Changers::Relatives => !has_parent(),
                Changers::Anybody => self.kernel.processes.len() == 1,
            }
    }
}
