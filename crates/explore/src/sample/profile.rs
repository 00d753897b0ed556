//! Footprints of earlier runs: steps by actor and object.

use crate::footprint::Access;
use std::collections::BTreeMap;

/// Steps of earlier runs; actors by their dense numbers.
#[derive(Default)]
pub struct Profile {
    runs: u64,
    /// Steps of each actor.
    steps: BTreeMap<u32, u64>,
    /// Steps of each actor that access an object.
    objects: BTreeMap<u64, BTreeMap<u32, u64>>,
    /// The length of the longest run.
    pub length_max: usize,
}

impl Profile {
    /// Begins a run.
    pub fn begin(&mut self) {
        self.runs += 1;
    }

    /// Adds a step.
    pub fn note(&mut self, actor: u32, accesses: &[Access], length: usize) {
        *self.steps.entry(actor).or_default() += 1;
        for access in accesses {
            *self.objects.entry(access.object).or_default().entry(actor).or_default() += 1;
        }
        self.length_max = self.length_max.max(length);
    }

    /// Mean number of steps of an actor in a run.
    pub fn mean_steps(&self, actor: u32) -> f64 {
        self.mean(self.steps.get(&actor))
    }

    /// Mean number of steps of an actor in a run that access an object.
    pub fn mean_on(&self, actor: u32, object: u64) -> f64 {
        self.mean(self.objects.get(&object).and_then(|actors| actors.get(&actor)))
    }

    fn mean(&self, total: Option<&u64>) -> f64 {
        total.map_or(0.0, |total| *total as f64 / self.runs.max(1) as f64)
    }

    /// Objects that several actors access.
    pub fn shared(&self) -> Vec<u64> {
        self.objects.iter().filter(|(_, actors)| actors.len() > 1).map(|(object, _)| *object).collect()
    }
}
