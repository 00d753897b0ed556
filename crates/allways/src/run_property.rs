//! The properties of whole runs that a model has: `ltl` blocks and formulas, never claims, acceptance and non-progress cycles.

use crate::request::Request;
use promela::property::{self, RunProperty};
use promela::run::ModelSystem;
use report::{Property, PropertyVerdict};
use trace::{FailureKind, Location};

/// A property of whole runs that a model has.
pub struct Run {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: FailureKind,
    /// What is searched for, or why that is impossible.
    pub property: Result<RunProperty, String>,
    /// Who answers its propositions.
    pub observer: usize,
    /// Where it is written.
    pub location: Option<Location>,
}

impl Run {
    /// Whether it is to be checked.
    pub fn wanted(&self, request: &Request) -> bool {
        match self.kind {
            FailureKind::Ltl | FailureKind::Never if !request.formulas.is_empty() => {
                request.formulas.contains(&self.name)
            }
            FailureKind::Progress if !request.asks_for(self.kind) => {
                request.wants(self.kind) && self.property.as_ref().is_ok_and(|property| property.expected)
            }
            kind => request.wants(kind),
        }
    }

    /// Its row in the verdict table.
    pub fn row(&self, verdict: PropertyVerdict, note: String) -> Property {
        let (name, kind) = (self.name.clone(), self.kind);
        Property { name, kind, verdict, note, counterexample: None, violations: 0, trail: None }
    }
}

/// The properties of whole runs that a model has, claims first.
pub fn runs_of(system: &mut ModelSystem, formulas: Vec<promela::ir::Claim>) -> Vec<Run> {
    let mut found = Vec::new();
    for claim in system.model.claims.clone().into_iter().chain(formulas) {
        let kind = match claim.kind {
            promela::ir::ClaimKind::Ltl { .. } => FailureKind::Ltl,
            promela::ir::ClaimKind::Never(_) => FailureKind::Never,
        };
        let location = promela::run::explain::location(&system.sources, claim.span);
        found.push((claim.name.clone(), kind, property::claim(&claim).map_err(|why| why.0), location));
    }
    let cycles = property::acceptance(&system.model).into_iter().chain([property::progress(&system.model)]);
    found.extend(cycles.map(|property| (property.name.clone(), property.kind, Ok(property), None)));
    found.into_iter().map(|(name, kind, property, location)| run(system, name, kind, property, location)).collect()
}

fn run(
    system: &mut ModelSystem,
    name: String,
    kind: FailureKind,
    property: Result<RunProperty, String>,
    location: Option<Location>,
) -> Run {
    let propositions = property.as_ref().map(|property| property.propositions.clone()).unwrap_or_default();
    let observer = system.add_observer(propositions);
    Run { name, kind, property, observer, location }
}
