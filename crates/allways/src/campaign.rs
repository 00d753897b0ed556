//! Every set of faults against every property: one search for each property and budget, whatever the number of sets.
//!
//! Budgets grow one by one. A set that breaks a property is minimal if no smaller one does, and that is known because
//! all smaller ones were exhausted before; where a search was cut off, the row says so.
//!
//! Which faults have happened is part of a state (`remembers`, the state's *part*), so one search
//! visits all sets of a size at once: the states of different sets are kept apart, and a violation
//! in a part is a violation of exactly that set. One search for each set would visit the common
//! beginnings over and over; their number grows with the binomial coefficient.
//!
//! Example: faults `a`, `b`, budget 2. Level 0 searches without faults. Level 1 finds that `{a}`
//! breaks `p`. Level 2 finds that `{b,b}` does, too; `{a,b}` may or may not, but contains `{a}` and
//! is not minimal. So `p` is told with `{a}` and `{b,b}`.

use crate::evidence::finite;
use crate::jobs::in_parallel;
use crate::model::Model;
use crate::request::Request;
use crate::runs;
use crate::safety::{self, Watch, without_violation};
use explore::{Outcome, TransitionSystem, Violation};
use promela::faults::faults_of;
use replay::Budget;
use report::{Cell, CutSet, End, FaultRow, Layout, PropertyRow, Robustness, Searched, counterexample_text};
use std::sync::atomic::Ordering;
use std::time::Instant;
use trace::{Counterexample, FailureKind};

/// Steps that shortening one of many proofs may execute.
const SHORTENING_EACH: Budget = Budget { work: 10_000 };

/// What a campaign found out.
pub struct Campaign {
    /// The answers; cut sets have no ids yet.
    pub told: Robustness,
    /// Counterexamples, each with its property and its set.
    pub counterexamples: Vec<((usize, usize), Counterexample)>,
    /// Violations that could not be shown again: bugs of ours.
    pub unconfirmed: Vec<String>,
}

/// A property under attack.
///
/// **Invariant:** `ended` is empty as long as another level may be searched for this property; once
/// set, nothing is claimed about larger sets.
struct Row {
    name: String,
    kind: FailureKind,
    /// Its place among the model's properties of whole runs, if it is one.
    run: Option<usize>,
    /// Sets that break it, each with the first proof.
    broken: Vec<(Vec<usize>, Violation)>,
    exhausted: Option<u32>,
    /// Why nothing more is searched for.
    ended: String,
}

impl Row {
    fn is_open(&self) -> bool {
        self.ended.is_empty() && !self.broken.iter().any(|(set, _)| set.is_empty())
    }

    /// Takes in what a search at some budget found.
    ///
    /// A search that is complete exhausts its level even though it found violations, for it goes on
    /// in all other parts.
    fn learn(&mut self, level: u32, outcome: &Outcome, request: &Request) {
        for violation in &outcome.violations {
            if violation.failure.kind == self.kind {
                self.add(violation);
            } else if self.run.is_some() {
                self.ended = format!("cannot be evaluated: {}", violation.failure.message);
            }
        }
        if outcome.complete() {
            self.exhausted = Some(level);
        } else if self.ended.is_empty() {
            self.ended = cut_off(level, &safety::end(request, &outcome.incomplete));
        }
    }

    fn add(&mut self, violation: &Violation) {
        let set = faults_of(violation.part);
        if !self.broken.iter().any(|(known, _)| *known == set) {
            self.broken.push((set, violation.clone()));
        }
    }

    /// The sets that have no smaller one among them, smallest first.
    ///
    /// Quadratic in the sets that were found, of which there are few: budgets are small.
    fn minimal(&self) -> Vec<&(Vec<usize>, Violation)> {
        let smaller = |set: &[usize]| self.broken.iter().any(|(other, _)| other != set && is_part(other, set));
        let mut minimal: Vec<_> = self.broken.iter().filter(|(set, _)| !smaller(set)).collect();
        minimal.sort_by_key(|(set, _)| (set.len(), set.clone()));
        minimal
    }

    /// As the report has it, still without sets.
    fn told(&self, faults: &[FaultRow]) -> PropertyRow {
        PropertyRow {
            name: self.name.clone(),
            kind: self.kind,
            cut_sets: Vec::new(),
            exhausted: self.exhausted,
            note: self.ended.clone(),
            cells: cells(self.broken.iter().map(|(set, _)| &set[..]), self.exhausted, faults),
        }
    }
}

/// What each fault does alone to a property, from the sets that break it and the level that was exhausted.
pub fn cells<'a>(
    sets: impl Iterator<Item = &'a [usize]> + Clone,
    exhausted: Option<u32>,
    faults: &[FaultRow],
) -> Vec<Cell> {
    (0..).zip(faults).map(|(fault, told)| cell(sets.clone(), exhausted, (fault, told.reached))).collect()
}

/// "Holds" needs an exhausted level of at least 1: with less nobody has let the fault happen.
fn cell<'a>(
    sets: impl Iterator<Item = &'a [usize]>,
    exhausted: Option<u32>,
    (fault, is_reached): (usize, bool),
) -> Cell {
    let alone = sets.filter(|set| set.iter().all(|other| *other == fault));
    match (alone.map(<[usize]>::len).min(), exhausted) {
        (Some(0 | 1), _) => Cell::Violated,
        (Some(_), _) => Cell::Repeated,
        (None, Some(0) | None) => Cell::Unknown,
        (None, Some(_)) if !is_reached => Cell::NotReached,
        (None, Some(_)) => Cell::Holds,
    }
}

/// With how many faults, at the end of a sentence.
pub fn with_faults(level: u32) -> String {
    match level {
        0 => "without faults".to_owned(),
        1 => "with 1 fault".to_owned(),
        more => format!("with {more} faults"),
    }
}

/// Where a search was cut off, and why.
fn cut_off(level: u32, end: &End) -> String {
    let with = with_faults(level);
    match end {
        End::Bound(bound) | End::Limit(bound) => format!("{bound} was not enough {with}"),
        end => format!("{} {with}", without_violation(end).1),
    }
}

/// Whether one list is part of the other, both ascending, as often as each number occurs.
pub fn is_part(part: &[usize], whole: &[usize]) -> bool {
    let count = |list: &[usize], number: usize| list.iter().filter(|other| **other == number).count();
    part.iter().all(|number| count(part, *number) <= count(whole, *number))
}

/// Lets every set of faults up to the budget happen, and looks what becomes of every property.
pub fn campaign(model: &mut Model, request: &Request, budget: u32, watch: Watch<'_>) -> Campaign {
    let started = Instant::now();
    let mut rows = rows(model, request);
    let mut covered = Searched::default();
    for level in 0..=budget {
        if !rows.iter().any(Row::is_open) {
            break;
        }
        allow(model, level);
        attack(model, request, level, &mut rows, &mut covered, watch);
        covered.interrupted |= watch.stop.load(Ordering::Relaxed);
    }
    allow(model, budget);
    let mut campaign = evidence(model, request, &rows, watch);
    covered.seconds = started.elapsed().as_secs_f64();
    let kinds: Vec<FailureKind> = rows.iter().map(|row| row.kind).collect();
    let told = &mut campaign.told;
    told.notes.extend(request.missing(&kinds));
    (told.budget, told.covered, told.fair) = (budget, covered, request.fair);
    campaign
}

/// Lets so many faults happen in each run.
fn allow(model: &mut Model, budget: u32) {
    if let Some(faults) = &mut model.system.faults {
        faults.budget = budget;
    }
}

fn rows(model: &Model, request: &Request) -> Vec<Row> {
    let row = |name: &str, kind, run| Row {
        name: name.to_owned(),
        kind,
        run,
        broken: Vec::new(),
        exhausted: None,
        ended: String::new(),
    };
    let mut rows: Vec<Row> =
        model.properties(request).iter().map(|property| row(&property.name, property.kind, None)).collect();
    let wanted = model.runs.iter().enumerate().filter(|(_, run)| run.wanted(request));
    rows.extend(wanted.map(|(index, run)| row(&run.name, run.kind, Some(index))));
    rows
}

/// Searches with one budget: all failed steps and stuck states together, properties of whole runs one by one.
///
/// Properties of whole runs are searched in parallel, each with its share of workers and memory, so
/// that together they stay within what the user allows.
fn attack(model: &Model, request: &Request, level: u32, rows: &mut [Row], covered: &mut Searched, watch: Watch<'_>) {
    let mut outcomes: Vec<(usize, Result<Outcome, String>)> = Vec::new();
    if rows.iter().any(|row| row.run.is_none() && row.is_open()) {
        let outcome = safety::search(model.searched(request), request, watch);
        count(covered, &outcome);
        for row in rows.iter_mut().filter(|row| row.run.is_none() && row.is_open()) {
            row.learn(level, &outcome, request);
        }
    }
    let open: Vec<(usize, usize)> = (0..)
        .zip(rows.iter())
        .filter(|(_, row)| row.is_open())
        .filter_map(|(index, row)| Some((index, row.run?)))
        .collect();
    let mut each = request.clone();
    let threads = request.workers.min(open.len()).max(1);
    each.workers = (request.workers / threads).max(1);
    each.memory = request.memory.map(|bytes| bytes / threads as u64);
    let found = in_parallel(open.len(), threads, |job| runs::violations(model, &model.runs[open[job].1], &each, watch));
    outcomes.extend(open.iter().map(|(row, _)| *row).zip(found));
    for (row, outcome) in outcomes {
        match outcome {
            Ok(outcome) => {
                count(covered, &outcome);
                rows[row].learn(level, &outcome, request);
            }
            Err(why) => rows[row].ended = format!("unsupported: {why}"),
        }
    }
}

fn count(covered: &mut Searched, outcome: &Outcome) {
    covered.searches += 1;
    covered.states += outcome.stats.states;
    covered.steps += outcome.stats.steps;
}

/// One counterexample for each minimal set, shortened and executed again.
fn evidence(model: &Model, request: &Request, rows: &[Row], watch: Watch<'_>) -> Campaign {
    let faults = fault_rows(model);
    let mut properties: Vec<PropertyRow> = rows.iter().map(|row| row.told(&faults)).collect();
    let jobs: Vec<(usize, &(Vec<usize>, Violation))> =
        (0..).zip(rows).flat_map(|(number, row)| row.minimal().into_iter().map(move |set| (number, set))).collect();
    let proofs = in_parallel(jobs.len(), request.workers, |job| {
        let (number, (set, violation)) = jobs[job];
        proof(model, request, &rows[number], violation, set, patience(request, watch))
    });
    let (mut counterexamples, mut unconfirmed) = (Vec::new(), Vec::new());
    for ((number, (set, _)), proof) in jobs.into_iter().zip(proofs) {
        match proof {
            Ok(counterexample) => {
                let cut_sets = &mut properties[number].cut_sets;
                cut_sets.push(CutSet {
                    faults: set.clone(),
                    message: counterexample.message.clone(),
                    counterexample: None,
                    told: counterexample_text(&counterexample, &model.sources(), &Layout::PLAIN),
                    steps: counterexample.schedule.choices.len(),
                });
                counterexamples.push(((number, cut_sets.len() - 1), counterexample));
            }
            Err(why) => {
                unconfirmed.push(format!("{}: {why}", rows[number].name));
                // Neither broken nor exhausted: no verdict may rest on it.
                properties[number].doubt(set.len(), "a violation could not be shown again");
            }
        }
    }
    let notes = model.system.faults.as_ref().map(|faults| faults.notes(&model.system.model)).unwrap_or_default();
    let system = model.system_ref.file.clone();
    let told = Robustness { system, faults, properties, notes, ..Robustness::default() };
    Campaign { told, counterexamples, unconfirmed }
}

fn fault_rows(model: &Model) -> Vec<FaultRow> {
    let Some(faults) = &model.system.faults else { return Vec::new() };
    let row = |(number, fault): (usize, &promela::faults::Fault)| FaultRow {
        name: fault.name.clone(),
        class: fault.class.to_string(),
        reached: faults.was_met(number),
    };
    faults.faults.iter().enumerate().map(row).collect()
}

/// How long a proof may be shortened: not at all for somebody who waits no longer.
fn patience(request: &Request, watch: Watch<'_>) -> Budget {
    let over = request.time_left().is_some_and(|left| left.is_zero()) || watch.stop.load(Ordering::Relaxed);
    if over { Budget { work: 0 } } else { SHORTENING_EACH }
}

/// Shortening may drop steps, and with them a fault: then what was shown is a smaller set, which
/// contradicts that smaller ones were exhausted, or another one. The end state says which faults
/// the shortened run has met.
fn proof(
    model: &Model,
    request: &Request,
    row: &Row,
    violation: &Violation,
    set: &[usize],
    budget: Budget,
) -> Result<Counterexample, String> {
    let shown = match row.run {
        None => finite(&mut model.replay(), &model.system_ref, violation, budget),
        Some(run) => runs::proof(model, &model.runs[run], &violation.schedule, request.fair, budget),
    };
    let counterexample = shown.map_err(|mismatch| mismatch.to_string())?;
    let run = replay::run(&mut model.replay(), &counterexample.schedule).map_err(|mismatch| mismatch.to_string())?;
    let met = run.states.last().map(|state| faults_of(model.system.part(state)));
    match met.as_deref() == Some(set) {
        true => Ok(counterexample),
        false => Err(format!("its shortened proof needs other faults: {met:?} instead of {set:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_part_of_another_as_often_as_its_faults_occur() {
        assert!(is_part(&[], &[1]));
        assert!(is_part(&[1, 1], &[1, 1, 2]));
        assert!(!is_part(&[1, 1], &[1, 2]));
        assert!(!is_part(&[3], &[1, 2]));
    }

    #[test]
    fn what_was_cut_off_says_where_and_why() {
        assert_eq!(cut_off(1, &End::Bound("time 5 s".to_owned())), "time 5 s was not enough with 1 fault");
        assert_eq!(cut_off(0, &End::Interrupted), "interrupted without faults");
    }
}
