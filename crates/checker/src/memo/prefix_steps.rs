//! Steps of the prefix ([`Prefix`](crate::system::prefix::Prefix)), looked up before they are executed.

use crate::system::prefix::{Manner, PrefixStep};
use crate::system::programs::Programs;
use crate::system::state::Snapshot;
use explore::graph::{Reached, Step, StepContext};
use kernel::Tid;
use trace::Choice;

impl Programs {
    fn manner(&self) -> Manner {
        Manner { is_stdio_split: self.executor.refinement.is_stdio_split, awaits: self.workload.options.awaits }
    }

    /// Whether the only thread takes its only step, there was no other one before, and nobody listens to what it does.
    fn is_in_prefix(&self, state: &Snapshot, choice: Choice) -> bool {
        state.kernel.threads.len() == 1
            && choice.index == 0
            && !state.is_timed
            && self.workload.peers.is_empty()
            && !self.workload.faults.have_actors()
            && self.workload.forbidden.is_empty()
            && self.listener.info.is_none()
            && (state.fingerprint == self.initial.fingerprint || self.executor.prefix().leads_to(state))
    }

    /// A step of the prefix that another round has executed.
    pub(crate) fn prefix_step(
        &mut self,
        state: &Snapshot,
        choice: Choice,
        around: &mut dyn StepContext,
    ) -> Option<Step<Snapshot>> {
        if !self.is_in_prefix(state, choice) || self.is_due() {
            return None;
        }
        let known = self.executor.prefix();
        let PrefixStep { mut taken, printed, instructions } = known.find(self.manner(), state)?.clone();
        drop(known);
        taken.reached.state.iter().for_each(|after| self.become_state(after));
        self.printed = printed;
        self.executor.instructions += instructions;
        if around.is_known(taken.reached.fingerprint, false) {
            taken.reached = Reached::known(taken.reached.fingerprint);
        }
        Some(taken)
    }

    /// Keeps a step of so many instructions if it belongs to the prefix, and compares it with the one that is kept already.
    pub(crate) fn keep_prefix_step(
        &mut self,
        (state, choice): (&Snapshot, Choice),
        taken: &Step<Snapshot>,
        instructions: u64,
    ) {
        if !self.is_in_prefix(state, choice) || self.refusal.is_some() || !goes_on_alone(taken) {
            return;
        }
        let manner = self.manner();
        let known = self.executor.prefix().find(manner, state).map(|known| known.taken.reached.fingerprint);
        if known.is_some_and(|known| known != taken.reached.fingerprint) {
            self.note_difference(Tid(choice.actor), "a step of the prefix leads elsewhere");
        }
        let step = PrefixStep { taken: taken.clone(), printed: self.printed.clone(), instructions };
        self.executor.prefix().add(manner, state, step);
    }
}

/// Whether a step has not failed, and behind it there is one thread that can go on.
fn goes_on_alone(taken: &Step<Snapshot>) -> bool {
    let is_single = |state: &Snapshot| state.kernel.threads.len() == 1 && !state.is_timed;
    taken.failure.is_none()
        && taken.reached.state.as_ref().is_some_and(is_single)
        && matches!(&taken.reached.actors[..], [actor] if actor.choices == 1)
}
