//! A depth-first search on its way to a journal and back: between two visits.

use super::depth::{Before, Descent, Entry};
use super::kept::NO_STATE;
use super::outcome::Incomplete;
use super::values_kept;
use crate::journal::{Broken, Reader, Writer};
use crate::store::{LeftOut, Visited};
use crate::system::TransitionSystem;
use std::io;
use trace::Choice;

impl<S: TransitionSystem, V: Visited> Descent<'_, '_, S, V> {
    /// Writes the search, with the counts and states that there were then: one worker numbers states in the order in which it
    /// finds them.
    pub fn write(&self, to: &mut Writer<'_>, before: Before) -> io::Result<()> {
        let left_out = if V::NUMBERS { LeftOut::After(before.last) } else { LeftOut::Nothing };
        self.shared.write(to, before.counts, &left_out)?;
        to.u32(before.last)?;
        to.u32(self.depth_max)?;
        to.u64(self.frontier_max as u64)?;
        to.u64(before.states_end.0)?;
        to.bool(before.states_end.1 == Incomplete::StoppedAtViolation)?;
        to.bool(self.worker.cut)?;
        values_kept::write_schedule(to, &self.path)?;
        to.u64(before.violations as u64)?;
        self.violations[..before.violations]
            .iter()
            .try_for_each(|violation| values_kept::write_violation(to, violation))?;
        to.u64(self.stack.len() as u64)?;
        self.stack.iter().try_for_each(|entry| self.write_entry(to, entry))
    }

    /// Writes a state of the stack; with its vector, if only the stack has that.
    fn write_entry(&self, to: &mut Writer<'_>, entry: &Entry<S::State>) -> io::Result<()> {
        let Choice { actor, index } = entry.choice;
        [entry.id, entry.depth, actor, index].into_iter().try_for_each(|number| to.u32(number))?;
        entry.state.iter().try_for_each(|state| self.shared.write_state(to, state))
    }

    /// Reads the search.
    pub fn read(&mut self, from: &mut Reader) -> Result<(), Broken> {
        let counts = self.shared.read(from)?;
        self.worker.successors.go_on_from(counts);
        (self.last, self.depth_max, self.frontier_max) = (from.u32()?, from.u32()?, from.small()? as usize);
        let end = from.u64()?;
        self.states_end = (end, if from.bool()? { Incomplete::StoppedAtViolation } else { Incomplete::StateBound });
        self.worker.cut = from.bool()?;
        self.path = values_kept::schedule(from)?;
        let violations = from.count(32)?;
        self.violations = (0..violations).map(|_| values_kept::violation(from)).collect::<Result<_, _>>()?;
        for violation in &self.violations {
            self.worker.successors.know(&violation.failure, violation.part);
        }
        self.read_stack(from)
    }

    /// A path is as long as the last state was deep, and nobody waits deeper than its successors.
    fn read_stack(&mut self, from: &mut Reader) -> Result<(), Broken> {
        let spare = self.shared.system.initial(&mut self.shared.system.scratch());
        let (store, mut cursor) = (self.shared.slot.read(), V::Cursor::default());
        for _ in 0..from.count(16)? {
            let (id, depth) = (from.u32()?, from.u32()?);
            let choice = Choice { actor: from.u32()?, index: from.u32()? };
            let state = if V::RESTORES { None } else { Some(self.shared.read_state(from, &spare)?) };
            let above = self.stack.last().is_none_or(|below| below.depth <= depth);
            if !store.has(id) || depth as usize > self.path.len() + 1 || !above {
                return Err(Broken::Contradictory("its stack is none"));
            }
            if V::RESTORES && !self.shared.system.is_state(store.load(&mut cursor, id)) {
                return Err(NO_STATE);
            }
            self.stack.push(Entry { id, depth, choice, state });
        }
        Ok(())
    }
}
