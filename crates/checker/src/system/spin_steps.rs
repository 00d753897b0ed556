//! How threads come to spin, and what that means for their next steps.

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
    /// Notes whether a step only read, and whether its thread is back where it was.
    pub(crate) fn follow_spin(&mut self, step: &Step, before: &Snapshot) {
        self.state.disturb(step);
        let Some(place) = self.view().way_on(step.tid) else { return };
        let is_idle = !step.accesses.iter().any(access::changes) && self.state.world.kernel == before.kernel;
        let drift = self.state.world.memory.fingerprint().wrapping_sub(before.memory.fingerprint());
        let spin = &mut self.state.overlay.thread_mut(step.tid).spin;
        match is_idle {
            true => spin.look(place, drift, step.accesses.iter().map(|access| access.object).collect()),
            false => spin.begin(place),
        }
    }
}

impl View<'_> {
    /// The next instruction of a thread, and all that decides how it goes on beside memory.
    fn way_on(&self, tid: Tid) -> Option<spin::Place> {
        let (cpu, overlay) = (self.state.world.cpus.get(&tid)?, self.state.overlay.thread(tid)?);
        // What a function of the library does is known by its name, not by its instructions.
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
    /// Whoever has read what a step writes hears of it.
    fn disturb(&mut self, step: &Step) {
        for tid in self.overlay.disturbed(step.tid, &step.accesses) {
            self.overlay.thread_mut(tid).spin.disturb(&step.accesses);
        }
    }

    /// Time passes: whoever waits in a loop had to look before.
    pub(crate) fn excuse(&mut self) {
        let looking = self.overlay.threads().filter(|(_, overlay)| overlay.spin.has_looked()).map(|(tid, _)| tid);
        for tid in looking.collect::<Vec<_>>() {
            let ThreadOverlay { spin, reads_clock, .. } = self.overlay.thread_mut(tid);
            match *reads_clock {
                // It reads another time in the next round.
                true => spin.begin_here(),
                false => spin.excuse(),
            }
        }
    }

    /// What a thread waits for in a loop.
    pub(crate) fn spun(&self, tid: Tid) -> Option<Vec<u64>> {
        let spin = &self.overlay.thread(tid)?.spin;
        let waits = spin.waits() && !signal::is_deliverable(&self.world.kernel, tid);
        waits.then(|| spin.awaits().to_vec())
    }

    /// Whether a thread could look again at what has changed since it went round.
    pub(crate) fn looked_early(&self, tid: Tid) -> bool {
        self.overlay.thread(tid).is_some_and(|overlay| overlay.spin.is_redundant())
    }
}
