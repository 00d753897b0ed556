//! Detection of spin loops in steps, and its effect on which threads are enabled.

use crate::footprint::access;
use crate::system::overlay::ThreadOverlay;
use crate::system::register_liveness;
use crate::system::spin;
use crate::system::state::{Snapshot, State};
use crate::system::step::Step;
use crate::system::stepper::Stepper;
use crate::system::view::View;
use kernel::map::Wide;
use kernel::{Tid, signal};

impl Stepper<'_> {
    /// Records whether a step only read, and whether it completed an iteration of a loop.
    ///
    /// A step that changes the kernel is no iteration, even if its accesses are reads: it would not
    /// leave the thread as it was.
    pub(crate) fn follow_spin(&mut self, step: &Step, before: &Snapshot) {
        self.state.disturb(step);
        let Some(place) = self.view().continuation(step.tid) else { return };
        let is_idle = !step.accesses.iter().any(access::changes) && self.state.world.kernel == before.kernel;
        let drift = self.state.world.memory.fingerprint().wrapping_sub(before.memory.fingerprint());
        let spin = &mut self.state.overlay.thread_mut(step.tid).spin;
        match is_idle {
            true => spin.read(place, drift, step.accesses.iter().map(|access| access.object).collect()),
            false => spin.restart(place),
        }
    }
}

impl View<'_> {
    /// The next instruction of a thread, and the fingerprint of all else that decides its next step, without memory.
    fn continuation(&self, tid: Tid) -> Option<spin::Place> {
        let (cpu, overlay) = (self.state.world.cpus.get(&tid)?, self.state.overlay.thread(tid)?);
        // A summarised function reads registers that its instructions may not: liveness does not apply.
        let cpu = match self.hook(tid) {
            Some(_) => cpu.clone(),
            None => register_liveness::without_dead(&self.state.world.memory, self.state.world.space(tid), cpu),
        };
        let inside = (&overlay.partial, overlay.within, overlay.phase, &overlay.asleep, &overlay.onces);
        let ends = (&overlay.real, &overlay.cleans_up, overlay.is_shielded, overlay.ends);
        Some((cpu.rip, Wide::hash_of((cpu, inside, ends, (&overlay.holds, &overlay.shares)))))
    }
}

impl State {
    /// Records the writes of a step in the threads that have read the objects.
    pub(crate) fn disturb(&mut self, step: &Step) {
        for tid in self.overlay.disturbed(step.tid, &step.accesses) {
            self.overlay.thread_mut(tid).spin.disturb(&step.accesses);
        }
    }

    /// Time passes: iterations that were completed before are not redundant.
    pub(crate) fn note_time_passed(&mut self) {
        let reading = self.overlay.threads().filter(|(_, overlay)| overlay.spin.has_read()).map(|(tid, _)| tid);
        for tid in reading.collect::<Vec<_>>() {
            let ThreadOverlay { spin, reads_clock, .. } = self.overlay.thread_mut(tid);
            match *reads_clock {
                // It reads another time in the next iteration.
                true => spin.restart_here(),
                false => spin.note_time_passed(),
            }
        }
    }

    /// The objects that a spinning thread awaits.
    pub(crate) fn spin_awaits(&self, tid: Tid) -> Option<Vec<u64>> {
        let spin = &self.overlay.thread(tid)?.spin;
        let waits = spin.waits() && !signal::is_deliverable(&self.world.kernel, tid);
        waits.then(|| spin.awaits().to_vec())
    }

    /// Whether the next step of a thread is redundant: it re-reads what was written since its last iteration.
    pub(crate) fn is_redundant(&self, tid: Tid) -> bool {
        self.overlay.thread(tid).is_some_and(|overlay| overlay.spin.is_redundant())
    }
}
