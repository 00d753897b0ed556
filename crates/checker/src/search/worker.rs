//! Several workers for one search: each has a state of its own, and refinements are merged after each round.

use crate::system::programs::Programs;

impl Programs {
    /// Merges the refinements and counts of other workers.
    pub(crate) fn learn_from(&mut self, workers: &mut [Self]) {
        for other in workers.iter_mut() {
            self.executor.refinement.merge(&other.executor.refinement);
            for (object, places) in &other.executor.words {
                places.iter().for_each(|place| self.stepper().place_word(*object, *place));
            }
            self.refusal = self.refusal.take().or(other.refusal.take());
            self.audited.add(std::mem::take(&mut other.audited));
        }
    }

    /// Sets the refinement of other workers to the merged one.
    pub(crate) fn teach(&self, workers: &mut [Self]) {
        workers.iter_mut().for_each(|other| {
            let is_larger = self.executor.refinement.is_as_large_as(&other.executor.refinement);
            assert!(is_larger, "a worker's refinement was not merged");
            other.executor.set_refinement(self.executor.refinement.clone());
            other.executor.words.clone_from(&self.executor.words);
            other.loaded = None;
        });
    }
}
