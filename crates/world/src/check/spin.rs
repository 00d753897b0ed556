//! Loops that wait for a word to change, taken as one operation that waits.
//!
//! A thread that comes back to where it was, having only read, will do so until somebody writes what it read. For counting
//! schedules such a loop is an operation that happens when it can end: a schedule in which it looked too early is left out,
//! unless it had to look so that time could pass, or looks several times in a round: then what it has seen first may be of
//! use later, and every round counts.

use super::advance::Step;
use super::programs::Programs;
use super::touch;
use kernel::Tid;
use kernel::map::Wide;

/// How many steps a loop may take that is looked through before it is done.
const ROUND_MAX: usize = 16;

/// Where a thread is: its next instruction, and all that decides how it goes on beside memory.
pub type Spot = (u64, u128);

fn is_idle(step: &Step) -> bool {
    step.lowest == u64::MAX && !step.touches.iter().any(touch::changes)
}

impl Programs {
    /// Notes whether a step only read, and whether its thread is back where it was, or would be.
    pub(super) fn follow_spin(&mut self, step: &Step) {
        self.disturb(step);
        let Some(spot) = self.spot(step.tid) else { return };
        let member = self.library.member_mut(step.tid);
        if !is_idle(step) {
            member.begin_anew();
            member.trail = vec![spot];
            return;
        }
        member.reads.extend(step.touches.iter().map(|touch| touch.object));
        let back = member.trail.iter().position(|earlier| *earlier == spot);
        (member.spins, member.excused) = (back.is_some(), back.is_some_and(|back| back + 1 < member.trail.len()));
        let is_round = member.trail.iter().any(|(rip, _)| *rip == spot.0);
        member.trail.push(spot);
        if is_round && !member.spins {
            self.look_further(step.tid, spot);
        }
    }

    fn spot(&self, tid: Tid) -> Option<Spot> {
        let (cpu, member) = (self.world.cpus.get(&tid)?, self.library.member(tid)?);
        // The first half of an instruction changes no register.
        Some((cpu.rip, Wide::hash_of((cpu, member.loaded, member.within, member.phase))))
    }

    /// Before its first round a loop finds other registers than it leaves behind: goes round once more, to see whether it
    /// would do so for ever. Then the round that it has gone was in vain, too.
    fn look_further(&mut self, tid: Tid, from: Spot) {
        let (before, heard) = (self.save(), self.listener.heard.len());
        let mut reads = Vec::new();
        let (mut spins, mut is_long) = (false, false);
        for round in 0..ROUND_MAX {
            let step = if self.world.can_move(tid) { self.advance(tid, 0).ok() } else { None };
            let Some(step) = step.filter(is_idle) else { break };
            reads.extend(step.touches.iter().map(|touch| touch.object));
            spins = self.spot(tid) == Some(from);
            if spins {
                is_long = round > 0;
                break;
            }
        }
        self.listener.heard.truncate(heard);
        self.loaded = None;
        self.load(&before);
        let member = self.library.member_mut(tid);
        if spins {
            member.reads.extend(reads);
            (member.spins, member.excused) = (true, is_long);
        }
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
