//! SPIN's trail files of a model.

use crate::model::Model;
use promela::trail;
use std::path::Path;
use trace::{Counterexample, FailureKind, Schedule};

impl Model {
    /// Reads SPIN's trail of this model.
    ///
    /// # Errors
    /// If the file is no trail or does not fit the model.
    pub fn read_trail(&self, path: &Path) -> Result<Schedule, String> {
        let shown = path.display();
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
        trail::read(&self.system, &text).map_err(|error| format!("cannot follow {shown}: {error}"))
    }

    /// A counterexample as SPIN's trail.
    ///
    /// # Errors
    /// If it cannot be told in SPIN's words.
    pub fn trail(&self, counterexample: &Counterexample) -> Result<String, String> {
        if self.system.faults.is_some() {
            return Err("SPIN's trails know no faults".to_owned());
        }
        trail::write(&self.system, &counterexample.schedule)
            .ok_or_else(|| "no trail fits this counterexample".to_owned())
    }

    /// How SPIN's trail of a counterexample would end.
    pub fn trail_end(&self, counterexample: &Counterexample) -> Option<report::Trail> {
        let depth = trail::depth(&self.trail(counterexample).ok()?) as u64;
        // Where SPIN has a claim, the claim takes every second step; `np_` is one.
        let claim =
            matches!(counterexample.property.kind, FailureKind::Ltl | FailureKind::Never | FailureKind::Progress);
        let cycle = counterexample.schedule.cycle_start.is_some();
        Some(report::Trail { depth: if claim { 2 * depth } else { depth }, cycle })
    }
}
