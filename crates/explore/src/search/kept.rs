//! What searches of either order hand to a journal, and begin with when they go on.

use super::frontier::Counts;
use super::shared::Shared;
use crate::journal::{Broken, Journal, Reader, Writer};
use crate::store::{LeftOut, Visited};
use crate::system::{Key, TransitionSystem};
use std::io;
use std::sync::atomic::Ordering::Relaxed;

impl<'a, S: TransitionSystem, V: Visited> Shared<'a, S, V> {
    /// Where the search is kept. Only systems whose states are vectors can be: a fingerprint does not give its state back.
    pub fn journal(&self) -> Option<&'a dyn Journal> {
        let initial = self.system.initial(&mut self.system.scratch());
        let has_vectors = matches!(self.system.key(&initial), Key::Vector(_));
        self.watch.control().journal.filter(|_| has_vectors)
    }

    /// Writes what searches of either order have. No worker may hold the store.
    pub fn write(&self, to: &mut Writer<'_>, counts: Counts, left_out: &LeftOut) -> io::Result<()> {
        to.u32(V::FORMAT)?;
        self.slot.read().write(to, left_out)?;
        let Counts { states, steps, matched, reduced } = counts;
        [states, steps, matched, reduced].into_iter().try_for_each(|count| to.u64(count))?;
        to.u64(self.watch.seconds().to_bits())?;
        to.list(&self.system.marks())
    }

    /// Reads all of it but the store, which has been read already.
    pub fn read(&self, from: &mut Reader) -> Result<Counts, Broken> {
        let mut counts = [0; 4];
        for count in &mut counts {
            *count = from.small()?;
        }
        let [states, steps, matched, reduced] = counts;
        self.watch.states.store(states, Relaxed);
        self.watch.steps.store(steps, Relaxed);
        self.watch.begin_after(f64::from_bits(from.u64()?));
        if !self.system.set_marks(&from.list()?) {
            return Err(Broken::Contradictory("marks of another system"));
        }
        Ok(Counts { states, steps, matched, reduced })
    }

    /// Writes a state that the store does not give back.
    pub fn write_state(&self, to: &mut Writer<'_>, state: &S::State) -> io::Result<()> {
        match self.system.key(state) {
            Key::Vector(vector) => to.list(vector),
            Key::Fingerprint(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Reads a state that the store does not give back. `spare` is any state.
    pub fn read_state(&self, from: &mut Reader, spare: &S::State) -> Result<S::State, Broken> {
        let (vector, mut state) = (from.list()?, spare.clone());
        match self.system.is_state(&vector) && self.system.restore(&vector, &mut state) {
            true => Ok(state),
            false => Err(NO_STATE),
        }
    }
}

/// What was to be expanded is none of the system's states. Found before a step is taken: what steps from there do nobody knows.
pub const NO_STATE: Broken = Broken::Contradictory("its frontier has what is no state");
