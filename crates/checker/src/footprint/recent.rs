//! Accesses that were recorded a moment ago, so that loops do not record the same ones again.
//!
//! A step of an interpreter accesses a few thousand words, each of them many times. To record an access takes several
//! lookups (mapping, refinement, places), so a direct-mapped cache is asked first.

use memory::Logged;

/// Entries; a power of two.
const SIZE: usize = 4096;

/// Recorded accesses of one batch.
pub(crate) struct Recent {
    batch: u64,
    /// Accesses with their batches: entries of earlier batches count as empty.
    entries: Box<[(u64, Logged)]>,
}

impl Default for Recent {
    fn default() -> Self {
        let empty = Logged { addr: 0, size: 0, write: false };
        Self { batch: 1, entries: vec![(0, empty); SIZE].into() }
    }
}

impl Recent {
    /// Begins a batch: what is visible may have changed.
    pub fn begin(&mut self) {
        self.batch += 1;
    }

    /// Adds an access; whether it is new.
    pub fn insert(&mut self, logged: Logged) -> bool {
        let index = (logged.addr / 4 * 2 + u64::from(logged.write)) as usize % SIZE;
        std::mem::replace(&mut self.entries[index], (self.batch, logged)) != (self.batch, logged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_is_new_once_in_a_batch_unless_another_one_takes_its_entry() {
        let mut recent = Recent::default();
        let read = |addr| Logged { addr, size: 4, write: false };
        assert!(recent.insert(read(0)) && !recent.insert(read(0)));
        assert!(recent.insert(Logged { size: 8, ..read(0) }) && recent.insert(read(0)));
        assert!(recent.insert(Logged { write: true, ..read(0) }) && !recent.insert(read(0)));
        assert!(recent.insert(read(2 * SIZE as u64)) && recent.insert(read(0)));
        recent.begin();
        assert!(recent.insert(read(0)));
    }
}
