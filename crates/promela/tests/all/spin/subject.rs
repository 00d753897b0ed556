//! A model under comparison.

use super::kinds::Kinds;
use explore::{AfterViolation, Bounds, Control, Fairness, Options, Outcome, Reduction};
use promela::engines::{find_cycle, search, search_monitored};
use promela::ir::Model;
use promela::parse::{ParseOptions, parse_file};
use promela::property::{self, RunProperty};
use promela::run::{Backend, ModelSystem};
use promela::source::SourceMap;
use std::path::Path;
use trace::FailureKind;

/// Where a search for errors is cut off.
const STATES_MAX: u64 = 300_000;

/// A model that can be asked what SPIN was asked.
pub struct Subject {
    /// What it does.
    pub system: ModelSystem,
}

/// Reads a model; the error is what is wrong with it.
pub fn read(path: &Path, defines: &[&str]) -> Result<(Model, SourceMap), String> {
    let define = |word: &&str| {
        let word = word.strip_prefix("-D").expect("a define");
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value.to_owned())));
        (name.to_owned(), value)
    };
    let options = ParseOptions { defines: defines.iter().map(define).collect(), ..ParseOptions::default() };
    let parsed = parse_file(path, &options).map_err(|failure| failure.diagnostics[0].message.clone())?;
    let (model, _) =
        promela::lower::lower(&parsed.program, &parsed.sources).map_err(|errors| errors[0].message.clone())?;
    Ok((model, parsed.sources))
}

impl Subject {
    /// A model that the reference executes; the error is what is wrong with it.
    pub fn interpreted(path: &Path, defines: &[&str]) -> Result<Self, String> {
        read(path, defines)
            .map(|(model, sources)| Self { system: ModelSystem::new(model, sources, Backend::Interpreter) })
    }

    /// A model that native code executes; the error is what is wrong with it.
    pub fn native(path: &Path, defines: &[&str]) -> Result<Self, String> {
        let (model, sources) = read(path, defines)?;
        let code = Backend::compiled(&model).expect("native code for this host");
        Ok(Self { system: ModelSystem::new(model, sources, code) })
    }
}

/// Every error of an unreduced search.
fn exhaustive() -> Options {
    Options { after_violation: AfterViolation::Continue { states: None }, ..Options::default() }
}

fn kinds_of(outcome: &Outcome) -> Kinds {
    assert!(outcome.complete() || !outcome.violations.is_empty(), "a search without an end: {:?}", outcome.incomplete);
    outcome.violations.iter().map(|violation| violation.failure.kind).collect()
}

impl Subject {
    /// Stuck states and failed steps, reduction off, no end before `states_max`.
    pub fn count(&self, states_max: u64) -> Outcome {
        let bounds = Bounds { states: Some(states_max), ..Bounds::default() };
        search(&self.system, &Options { bounds, ..exhaustive() }, Control::default())
    }

    /// Kinds of stuck states and failed steps, without any claim. A search that is cut off must have found something.
    pub fn safety(&self, reduction: Reduction) -> Kinds {
        let bounds = Bounds { states: Some(STATES_MAX), ..Bounds::default() };
        kinds_of(&search(&self.system, &Options { reduction, bounds, ..exhaustive() }, Control::default()))
    }

    /// Cycles through `accept` labels. SPIN reports failed steps along with them.
    pub fn acceptance(&mut self, fairness: Fairness) -> Kinds {
        let property = property::acceptance(&self.system.model);
        property.map_or_else(Kinds::new, |property| self.cycles(&property, fairness))
    }

    /// Cycles without progress.
    pub fn progress(&mut self, fairness: Fairness) -> Kinds {
        let property = property::progress(&self.system.model);
        self.cycles(&property, fairness)
    }

    /// The claim with a name, or the first one; `None` if there is no claim.
    pub fn claim(&self, name: Option<&str>) -> Option<RunProperty> {
        let claims = &self.system.model.claims;
        let claim = match name {
            Some(name) => claims.iter().find(|claim| claim.name == name),
            None => claims.first(),
        };
        assert!(claim.is_some() || name.is_none(), "no claim {name:?}");
        claim.map(|claim| property::claim(claim).unwrap_or_else(|why| panic!("{}", why.0)))
    }

    /// Whether a run of whatever length violates a property of runs.
    pub fn cycles(&mut self, property: &RunProperty, fairness: Fairness) -> Kinds {
        let observer = self.system.add_observer(property.propositions.clone());
        let ignored = FailureKind::ALL.into_iter().filter(|kind| *kind != property.kind).collect();
        let options = Options { ignored, ..Options::default() };
        let failure = property.failure();
        let control = Control::default();
        kinds_of(&find_cycle(&self.system, &property.monitor, observer, failure, fairness, &options, control).outcome)
    }

    /// What goes wrong on finite runs that a claim follows: failed steps, and the claim's own end.
    pub fn prefixes(&mut self, property: &RunProperty) -> Kinds {
        let observer = self.system.add_observer(property.propositions.clone());
        let options = Options { ignored: vec![FailureKind::Deadlock], ..exhaustive() };
        let (monitor, failure) = (&property.monitor, property.failure());
        kinds_of(&search_monitored(&self.system, monitor, observer, failure, &options, Control::default()).outcome)
    }
}
