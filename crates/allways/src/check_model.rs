//! All searches of a model, and its counterexamples executed again.

use crate::checked::Checked;
use crate::evidence::{SHORTENING, finite};
use crate::model::{Model, property};
use crate::request::Request;
use crate::run_property::Run;
use crate::runs::{self, Answer};
use crate::safety::{self, Watch, without_violation};
use crate::turns::Turns;
use crate::unreached::unreached;
use report::{End, Property, PropertyVerdict, Summary};
use trace::{Counterexample, FailureKind, PropertyRef, Trace};

impl Model {
    /// Checks what was asked for: short searches for properties of whole runs, then failed steps and stuck states, then
    /// what the short searches left open.
    ///
    /// Probes come first, since a short search often finds an error of whole runs; what remains
    /// open then shares the time with the search for safety.
    pub fn check(&self, request: &Request, watch: Watch<'_>) -> Checked {
        let safety = !self.properties(request).is_empty();
        let wanted: Vec<&Run> = self.runs.iter().filter(|run| run.wanted(request)).collect();
        let mut answers = runs::probe_all(self, &wanted, request, watch);
        let open = wanted.iter().zip(&answers).filter(|(_, answer)| answer.is_none()).map(|(run, _)| *run);
        let open: Vec<&Run> = open.collect();
        let (mut checked, late) = match safety {
            true => self.check_in_turns(&open, request, watch),
            false => (Checked::default(), runs::check_all(self, &open, request, 0, watch)),
        };
        checked.summary.system.clone_from(&self.system_ref.file);
        for (answer, late) in answers.iter_mut().filter(|answer| answer.is_none()).zip(late) {
            *answer = Some(late);
        }
        let answers: Vec<Answer> = answers.into_iter().flatten().collect();
        let covered = &mut checked.summary.covered;
        if !safety {
            *covered = runs::covered(request, &answers).unwrap_or_default();
        }
        covered.end = runs::end(covered.end.clone(), &answers);
        for answer in answers {
            let index = checked.summary.properties.len();
            checked.summary.properties.push(answer.property);
            match answer.counterexample {
                None => {}
                Some(Ok(counterexample)) => checked.counterexamples.push((index, counterexample)),
                Some(Err(mismatch)) => {
                    checked.unconfirmed.push(format!("{}: {mismatch}", wanted_name(&checked, index)));
                }
            }
        }
        let present = |kind: &FailureKind| checked.summary.properties.iter().any(|property| property.kind == *kind);
        let wanted = safety::SAFETY.into_iter().filter(|kind| request.wants(*kind));
        checked.summary.absent = wanted.filter(|kind| !present(kind)).collect();
        let kinds: Vec<_> = checked.summary.properties.iter().map(|property| property.kind).collect();
        checked.summary.warnings.extend(request.missing(&kinds));
        checked.summary.covered.faults = self.faults_words();
        checked.summary.covered.state_bytes = self.system.initial_work().bytes.len() as u64;
        checked
    }

    /// The search for failed steps and stuck states and those for properties of whole runs. If time is short, the former
    /// stands still after its share of it and goes on when the others have had theirs.
    ///
    /// While it is paused, the memory of the safety search counts against the others.
    fn check_in_turns(&self, open: &[&Run], request: &Request, watch: Watch<'_>) -> (Checked, Vec<Answer>) {
        let Some(left) = request.time_left().filter(|_| !open.is_empty()) else {
            let checked = self.check_safety(request, watch);
            let answers = match checked.summary.covered.end {
                End::Interrupted => {
                    open.iter().map(|run| Answer::not_searched(run, "interrupted", End::Interrupted)).collect()
                }
                _ => runs::check_all(self, open, request, 0, watch),
            };
            return (checked, answers);
        };
        let turns = Turns::new(left / (open.len() as u32 + 1));
        std::thread::scope(|scope| {
            let safety = scope.spawn(|| turns.search(watch, |watch| self.check_safety(request, watch)));
            let paused = turns.wait();
            let memory = request.memory.map(|bytes| if paused { bytes.saturating_sub(turns.bytes()) } else { bytes });
            let rest = Request { memory, ..request.clone() };
            let answers = runs::check_all(self, open, &rest, u32::from(paused), watch);
            turns.resume();
            let checked = safety.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (checked, answers)
        })
    }

    fn check_safety(&self, request: &Request, watch: Watch<'_>) -> Checked {
        let outcome = safety::search_or_known(self.searched(request), request, watch);
        let covered = safety::covered(request, &outcome);
        let mut properties = self.properties(request);
        for property in &mut properties {
            (property.verdict, property.note) = without_violation(&covered.end);
        }
        let (mut counterexamples, mut unconfirmed) = (Vec::new(), Vec::new());
        for violation in &outcome.violations {
            let index = index_of(&mut properties, violation.failure.kind);
            properties[index].verdict = PropertyVerdict::Violated;
            if properties[index].violations == 0 {
                properties[index].note = violation.failure.message.clone();
            }
            properties[index].violations += 1;
            // One proof a property is enough to read; --keep-going shows them all.
            if properties[index].violations > 1 && !request.keep_going {
                continue;
            }
            match finite(&mut self.replay(), &self.system_ref, violation, SHORTENING) {
                Ok(counterexample) => counterexamples.push((index, counterexample)),
                Err(mismatch) => unconfirmed.push(format!("{}: {mismatch}", violation.failure.message)),
            }
        }
        // A search that was cut off would accuse code that it had no time to reach.
        let unreached = (covered.end == End::Exhaustive).then(|| unreached(self.searched(request)));
        let summary = Summary { properties, covered, unreached, ..Summary::default() };
        Checked { summary, counterexamples, unconfirmed, ..Checked::default() }
    }

    /// Executes a counterexample again and checks that it shows its failure.
    ///
    /// # Errors
    /// Where and why it does not.
    pub fn confirm(&self, counterexample: &Counterexample) -> Result<Trace, replay::Mismatch> {
        let PropertyRef { name, kind } = &counterexample.property;
        if safety::SAFETY.contains(kind) {
            return replay::confirm(&mut self.replay(), counterexample, None);
        }
        match self.runs.iter().find(|run| run.kind == *kind && run.name == *name) {
            Some(run) if let Ok(property) = &run.property => runs::confirm(self, run, property, counterexample),
            _ => Err(replay::Mismatch { step: 0, why: format!("the model has no property `{name}` of kind {kind}") }),
        }
    }
}

fn wanted_name(checked: &Checked, index: usize) -> &str {
    &checked.summary.properties[index].name
}

/// The property of a kind; failures of kinds that nobody listed get a row of their own.
fn index_of(properties: &mut Vec<Property>, kind: FailureKind) -> usize {
    if let Some(index) = properties.iter().position(|property| property.kind == kind) {
        return index;
    }
    properties.push(property(kind));
    properties.len() - 1
}
