//! Several workers for one search: each has a state of its own, and what one learns all know in the next round.

use crate::system::programs::Programs;

impl Programs {
    /// Merges what other workers have learnt.
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

    /// Gives other workers what is known.
    pub(crate) fn teach(&self, workers: &mut [Self]) {
        workers.iter_mut().for_each(|other| {
            other.executor.set_refinement(self.executor.refinement.clone());
            other.executor.words.clone_from(&self.executor.words);
            other.loaded = None;
        });
    }
}
