//! Accesses to words that threads stop at, because they race there.

use super::advance::Step;
use super::library::Loaded;
use super::programs::Programs;
use crate::refusal::Refusal;
use kernel::Tid;
use x86::Machine;

impl Programs {
    /// Before an access to a page with promoted words; whether the step goes on.
    pub(super) fn at_armed(&mut self, step: &mut Step, touch: memory::Touch) -> Result<bool, Refusal> {
        let space = self.world.space(step.tid);
        let words = touch.addr >> 2..=(touch.addr + u64::from(touch.size.max(1)) - 1) >> 2;
        let is_visible = words.into_iter().any(|word| self.knowledge.promoted.contains(&(space, word << 2)));
        if is_visible && !self.may_operate(step) {
            return Ok(false);
        }
        let first = step.touches.len();
        if is_visible {
            self.hear_access(step.tid, space, touch);
        }
        let is_half_done = self.half_done(step.tid).is_some();
        if is_visible && (is_half_done || !self.is_alone()) && self.splits(step, touch)? {
            return Ok(false);
        }
        self.pass(step, None)?;
        step.is_fresh = false;
        // A promoted word is a place to stop at, not one that synchronises: the last search tells its race, too.
        let is_plain = self.is_plain(step.tid);
        step.touches[first..].iter_mut().for_each(|touch| touch.plain = is_plain);
        Ok(!is_visible || self.operated(step))
    }

    /// What the instruction that a thread is at has read, if its first half is done. A handler may run in between.
    pub(super) fn half_done(&self, tid: Tid) -> Option<u64> {
        let loaded = self.library.member(tid)?.loaded?;
        (loaded.rip == self.world.cpus[&tid].rip).then_some(loaded.value)
    }

    /// An instruction that reads and writes a promoted word without `lock` is two steps: the first only reads.
    ///
    /// The second puts back what was read, executes, and so writes what follows from it.
    pub(super) fn splits(&mut self, step: &mut Step, touch: memory::Touch) -> Result<bool, Refusal> {
        let (tid, space) = (step.tid, self.world.space(step.tid));
        let size = (touch.size as usize).min(8);
        let mut bytes = [0; 8];
        if let Some(loaded) = self.half_done(tid) {
            self.library.member_mut(tid).loaded = None;
            let _ = self.world.memory.write(space, touch.addr, &loaded.to_le_bytes()[..size]);
            return Ok(false);
        }
        if touch.access != memory::Access::Read
            || self.world.memory.peek(space, touch.addr, &mut bytes[..size]).is_err()
        {
            return Ok(false);
        }
        let (mark, cpu, before) = (self.world.memory.mark(), self.world.cpus[&tid].clone(), step.touches.len());
        let machine = Machine {
            cpu: self.world.cpus.get_mut(&tid).expect("it runs"),
            memory: &mut self.world.memory,
            clock: self.world.kernel.clock.now(),
        };
        machine.memory.pass_armed(true);
        let stop = x86::run_past(machine, &mut self.quiet);
        self.world.memory.pass_armed(false);
        let log = self.world.memory.take_log();
        let writes = stop.trap.is_none() && log.iter().any(|logged| logged.write && logged.addr == touch.addr);
        self.world.memory.undo_to(mark);
        self.world.cpus.insert(tid, cpu);
        step.touches.truncate(before);
        if writes {
            let rip = self.world.cpus[&tid].rip;
            self.library.member_mut(tid).loaded = Some(Loaded { rip, value: u64::from_le_bytes(bytes) });
            let read = memory::Logged { addr: touch.addr, size: touch.size, write: false };
            self.note(step, space, read, self.is_plain(tid));
            step.is_fresh = false;
        }
        Ok(writes)
    }
}
