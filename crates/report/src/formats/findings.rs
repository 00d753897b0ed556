//! What a check found out, as dashboards ask for it: passed, failed, skipped, or in error.

use super::Paths;
use crate::verdicts::verdict_line;
use crate::{Covered, End, Outcome, Property, PropertyVerdict, Sources, Summary, Verdict};
use trace::{Counterexample, Location, Trace};

/// All that a check found out.
#[derive(Clone, Copy, Debug)]
pub struct Findings<'a> {
    /// The version of the program that found it.
    pub version: &'a str,
    /// When, in seconds since 1970.
    pub created: u64,
    /// The answers.
    pub summary: &'a Summary,
    /// What refutes properties, each with the index of its property.
    pub counterexamples: &'a [(usize, Counterexample)],
    /// One run in which nothing went wrong, if somebody wants to see it.
    pub run: Option<&'a Trace>,
    /// Why the answers are not to be relied on: bugs of ours, in whole sentences.
    pub doubts: &'a [String],
    /// The sources that counterexamples name.
    pub sources: &'a Sources,
    /// How files are named.
    pub paths: &'a Paths,
}

/// What a dashboard calls a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Standing {
    /// It holds, on all that was to be covered.
    Passed,
    /// There is a counterexample.
    Failed,
    /// It was not decided, as the user asked for, or because a violation ended the search.
    Skipped,
    /// It was not decided, for a reason nobody asked for.
    Error,
}

impl Summary {
    /// The summary of a counterexample alone: of the check that found it no more is known.
    #[must_use]
    pub fn of(counterexample: &Counterexample) -> Self {
        let property = Property {
            name: counterexample.property.name.clone(),
            kind: counterexample.property.kind,
            verdict: PropertyVerdict::Violated,
            note: counterexample.message.clone(),
            counterexample: Some(counterexample.id.clone()),
            violations: 0,
            trail: None,
        };
        Self {
            system: counterexample.system.file.clone(),
            properties: vec![property],
            covered: Covered { end: End::Violation, ..Covered::default() },
            ..Self::default()
        }
    }

    /// The summary of a check that has no result yet. A report that is written first says so until it is replaced: a check
    /// that was killed leaves neither nothing nor the result of the one before.
    #[must_use]
    pub fn unfinished(system: &str) -> Self {
        let end = End::Inconclusive("the check did not end; its messages say why".to_owned());
        Self { system: system.to_owned(), covered: Covered { end, ..Covered::default() }, ..Self::default() }
    }
}

impl<'a> Findings<'a> {
    /// The counterexamples of a property.
    pub(crate) fn against(&self, property: usize) -> impl Iterator<Item = &'a Counterexample> + use<'a> {
        self.counterexamples.iter().filter(move |(index, _)| *index == property).map(|(_, found)| found)
    }

    /// What a dashboard calls a property.
    pub(super) fn standing(&self, property: &Property) -> Standing {
        let is_violated = self.summary.outcome() == Outcome::Verdict(Verdict::Violated);
        match property.verdict {
            PropertyVerdict::Holds | PropertyVerdict::Vacuous => Standing::Passed,
            PropertyVerdict::Violated | PropertyVerdict::NeedsFairness => Standing::Failed,
            PropertyVerdict::NotFound => Standing::Skipped,
            PropertyVerdict::Incomplete if is_violated => Standing::Skipped,
            PropertyVerdict::Incomplete | PropertyVerdict::Unsupported => Standing::Error,
        }
    }

    /// What is wrong with the check as a whole: our own bugs, and that there is no answer where no property says so.
    pub(super) fn troubles(&self) -> Vec<String> {
        let mut all = self.doubts.to_vec();
        let told = |property: &Property| matches!(self.standing(property), Standing::Failed | Standing::Error);
        let is_answer = matches!(self.summary.outcome(), Outcome::Verdict(Verdict::Holds | Verdict::NotFound));
        if !is_answer && !self.summary.properties.iter().any(told) {
            all.push(verdict_line(self.summary));
        }
        all
    }

    /// Why a property failed: what its counterexample says, and the note where that says more, as that only unfair runs
    /// violate it.
    pub(crate) fn message(&self, index: usize) -> String {
        let property = &self.summary.properties[index];
        let found = self.against(index).next().map(|found| found.message.as_str());
        let note = Some(property.note.as_str()).filter(|note| !note.is_empty() && Some(*note) != found);
        match found.into_iter().chain(note).collect::<Vec<_>>()[..] {
            [] => property.verdict.words().to_owned(),
            ref words => words.join("; "),
        }
    }
}

/// Where a counterexample points to: the failing place, else somebody who waits, else the last place that it came to.
pub(crate) fn place(found: &Counterexample) -> Option<&Location> {
    let waiting = || found.wait_for.iter().find_map(|waiting| waiting.location.as_ref());
    let events = found.trace.steps.iter().rev().flat_map(|step| step.events.iter().rev());
    found.location.as_ref().or_else(waiting).or_else(|| events.into_iter().find_map(|event| event.location.as_ref()))
}
