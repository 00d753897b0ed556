//! Loops that wait for a word to change, taken as one operation that waits.
//!
//! A thread that comes back to where it was, having only read, will do so until somebody writes what it read. For counting
//! schedules such a loop is an operation that happens when it can end: a schedule in which it looked too early is left out,
//! unless it had to look so that time could pass.

use super::advance::Step;
use super::programs::Programs;
use super::touch;
use kernel::Tid;
use kernel::map::Wide;

impl Programs {
    /// Notes whether a step only read, and whether its thread is back where it was.
    pub(super) fn follow_spin(&mut self, step: &Step) {
        self.disturb(step);
        let Some(cpu) = self.world.cpus.get(&step.tid) else { return };
        let is_idle = step.lowest == u64::MAX && !step.touches.iter().any(touch::changes);
        let place = Wide::hash_of(cpu);
        let member = self.library.member_mut(step.tid);
        if !is_idle {
            member.begin_anew();
            return;
        }
        member.reads.extend(step.touches.iter().map(|touch| touch.object));
        member.spins = member.trail.contains(&place);
        member.trail.push(place);
    }

    /// Whoever has read what a step writes begins anew.
    fn disturb(&mut self, step: &Step) {
        let written = |object: &u64| step.touches.iter().any(|touch| touch.write && touch.object == *object);
        let members =
            self.library.members().filter(|(tid, member)| *tid != step.tid && member.reads.iter().any(written));
        for tid in members.map(|(tid, _)| tid).collect::<Vec<_>>() {
            self.library.member_mut(tid).begin_anew();
        }
    }

    /// Time passes only when nobody else can move: whoever waits in a loop had to look before.
    pub(super) fn excuse(&mut self) {
        let spinning = self.library.members().filter(|(_, member)| member.spins).map(|(tid, _)| tid);
        for tid in spinning.collect::<Vec<_>>() {
            self.library.member_mut(tid).excused = true;
        }
    }

    /// Whether a step writes what somebody waits for in a loop, who need not have looked yet.
    pub(super) fn ends_spin(&self, step: &Step) -> bool {
        let written = |object: &u64| step.touches.iter().any(|touch| touch.write && touch.object == *object);
        let others = self.library.members().filter(|(tid, _)| *tid != step.tid);
        others.filter(|(_, member)| member.spins && !member.excused).any(|(_, member)| member.reads.iter().any(written))
    }

    /// What a thread waits for in a loop.
    pub(super) fn spun(&self, tid: Tid) -> Option<Vec<u64>> {
        self.library.member(tid).filter(|member| member.spins).map(|member| member.reads.clone())
    }
}
