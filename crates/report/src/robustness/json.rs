//! The robustness report as one JSON object.

use super::{Cell, CutSet, PropertyRow, Robustness};
use crate::{Outcome, Verdict};
use serde::Serialize;
use trace::FailureKind;

#[derive(Serialize)]
pub(super) struct Object<'a> {
    verdict: Verdict,
    complete: bool,
    system: &'a str,
    budget: u32,
    fair: bool,
    faults: Vec<FaultObject<'a>>,
    properties: Vec<PropertyObject<'a>>,
    single_points: Vec<PointObject<'a>>,
    notes: &'a [String],
    searches: u64,
    states: u64,
    steps: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct FaultObject<'a> {
    name: &'a str,
    class: &'a str,
    reached: bool,
    /// The effects table: what is lost if nothing but this happens.
    breaks: Vec<&'a str>,
}

#[derive(Serialize)]
struct PropertyObject<'a> {
    name: &'a str,
    kind: FailureKind,
    tolerates: Option<u32>,
    exhausted: Option<u32>,
    complete: bool,
    note: &'a str,
    cut_sets: Vec<SetObject<'a>>,
    cells: Vec<CellObject<'a>>,
}

#[derive(Serialize)]
struct SetObject<'a> {
    faults: Vec<&'a str>,
    message: &'a str,
    counterexample: Option<&'a str>,
    steps: usize,
}

#[derive(Serialize)]
struct CellObject<'a> {
    fault: &'a str,
    verdict: Cell,
}

#[derive(Serialize)]
struct PointObject<'a> {
    fault: &'a str,
    breaks: Vec<&'a str>,
}

/// The report as one object on one line.
#[must_use]
pub fn robustness_json(told: &Robustness) -> String {
    serde_json::to_string(&object(told)).expect("plain data always becomes JSON") + "\n"
}

pub(super) fn object(told: &Robustness) -> Object<'_> {
    let verdict = match told.outcome() {
        Outcome::Verdict(verdict) => verdict,
        Outcome::Nothing | Outcome::Interrupted => Verdict::Inconclusive,
    };
    let name = |fault: usize| told.faults[fault].name.as_str();
    Object {
        verdict,
        complete: told.complete(),
        system: &told.system,
        budget: told.budget,
        fair: told.fair,
        faults: (0..told.faults.len()).map(|fault| fault_object(told, fault)).collect(),
        properties: told.properties.iter().map(|row| property(told, row)).collect(),
        single_points: told
            .single_points()
            .into_iter()
            .map(|(fault, breaks)| PointObject { fault: name(fault), breaks })
            .collect(),
        notes: &told.notes,
        searches: told.covered.searches,
        states: told.covered.states,
        steps: told.covered.steps,
        seconds: told.covered.seconds,
    }
}

fn fault_object(told: &Robustness, fault: usize) -> FaultObject<'_> {
    let row = &told.faults[fault];
    let lost = |property: &&PropertyRow| property.cells[fault] == Cell::Violated && !property.fails_anyway();
    let broken = told.properties.iter().filter(lost);
    let breaks = broken.map(|property| property.name.as_str()).collect();
    FaultObject { name: &row.name, class: &row.class, reached: row.reached, breaks }
}

fn property<'a>(told: &'a Robustness, row: &'a PropertyRow) -> PropertyObject<'a> {
    let cells = told.faults.iter().zip(&row.cells);
    PropertyObject {
        name: &row.name,
        kind: row.kind,
        tolerates: row.tolerates(),
        exhausted: row.exhausted,
        complete: row.complete(told.budget),
        note: &row.note,
        cut_sets: row.cut_sets.iter().map(|set| set_object(told, set)).collect(),
        cells: cells.map(|(fault, cell)| CellObject { fault: &fault.name, verdict: *cell }).collect(),
    }
}

fn set_object<'a>(told: &'a Robustness, set: &'a CutSet) -> SetObject<'a> {
    SetObject {
        faults: set.faults.iter().map(|fault| told.faults[*fault].name.as_str()).collect(),
        message: &set.message,
        counterexample: set.counterexample.as_deref(),
        steps: set.steps,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;

    #[test]
    fn a_fault_loses_nothing_that_fails_without_it() {
        let mut told = example();
        let breaks = |told: &Robustness| fault_object(told, 1).breaks.iter().map(|name| (*name).to_owned()).collect();
        let before: Vec<String> = breaks(&told);
        assert_eq!(before, ["deadlock"]);
        told.properties[0].cut_sets[0].faults.clear();
        let after: Vec<String> = breaks(&told);
        assert_eq!(after, [""; 0]);
    }
}
