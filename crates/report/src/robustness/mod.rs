//! What faults do to the properties of a system: plain data, and what follows from it.
//!
//! A *minimal cut set* (the word is from fault tree analysis) is a set of faults that breaks a
//! property while none of its proper subsets does. They are found by increasing size, so a set is
//! known to be minimal when all smaller ones have been exhausted: `exhausted` says up to which size
//! that is so.
//!
//! Example: with `loss:a` and `stop:b`, budget 2, a property broken by `{loss:a, loss:a}` only (the
//! message must be lost twice) has the cell "violated if repeated", tolerates 1 and has no single
//! point of failure.

mod compare;
mod dot;
mod html;
mod json;
mod psa;
mod text;

pub use compare::{compare_html, compare_json, compare_text};
pub use dot::fault_tree_dot;
pub use html::robustness_html;
pub use json::robustness_json;
pub use psa::fault_tree_psa;
pub use text::robustness_text;

use crate::{Outcome, Verdict};
use serde::Serialize;
use trace::FailureKind;

/// What faults do to a system.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Robustness {
    /// What was checked, as the user named it.
    pub system: String,
    /// How many faults one run may meet.
    pub budget: u32,
    /// The faults that may happen.
    pub faults: Vec<FaultRow>,
    /// The properties.
    pub properties: Vec<PropertyRow>,
    /// What the user should know although nobody asked.
    pub notes: Vec<String>,
    /// What was covered.
    pub covered: Searched,
    /// Whether only weakly fair runs count for liveness.
    pub fair: bool,
}

/// A fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FaultRow {
    /// Its name: `loss:ack`.
    pub name: String,
    /// Its kind: `loss`.
    pub class: String,
    /// Whether it ever happened.
    pub reached: bool,
}

/// A property and the faults that break it.
///
/// **Invariant:** `cells` has one entry for each fault of the campaign, in the same order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PropertyRow {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: FailureKind,
    /// The minimal sets of faults that break it, smallest first.
    pub cut_sets: Vec<CutSet>,
    /// Every set with at most so many faults was exhausted; `None` if not even the empty one was.
    pub exhausted: Option<u32>,
    /// Why not all of them were.
    pub note: String,
    /// For each fault what it does alone.
    pub cells: Vec<Cell>,
}

/// A minimal set of faults: it breaks a property, and no smaller set that was exhausted does.
///
/// Sets, but for repetition: faults may happen several times in one run, and twice is a larger set
/// than once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CutSet {
    /// Indices of the faults, ascending; one that is needed twice is there twice. Empty: no fault is needed.
    pub faults: Vec<usize>,
    /// What goes wrong.
    pub message: String,
    /// The counterexample's id, if it was saved.
    pub counterexample: Option<String>,
    /// The counterexample, told for people.
    pub told: String,
    /// How long it is.
    pub steps: usize,
}

/// What a fault alone does to a property.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cell {
    /// Nothing.
    Holds,
    /// It breaks it.
    Violated,
    /// It breaks it if it happens several times.
    Repeated,
    /// The fault never happens.
    NotReached,
    /// Not everything was looked at.
    Unknown,
}

/// What all searches together covered.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Searched {
    /// Searches that were made.
    pub searches: u64,
    /// Their states.
    pub states: u64,
    /// Their steps.
    pub steps: u64,
    /// Time on the wall.
    pub seconds: f64,
    /// Whether the user stopped them.
    pub interrupted: bool,
}

impl Cell {
    /// As people read it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Violated => "violated",
            Self::Repeated => "violated if repeated",
            Self::NotReached => "not reached",
            Self::Unknown => "unknown",
        }
    }
}

impl PropertyRow {
    /// How many faults it tolerates, whatever they are; `None` if it does not hold without any, or nobody knows.
    ///
    /// Never more than what was exhausted: "no set of 2 was found" is nothing as long as not all
    /// sets of 2 were tried.
    #[must_use]
    pub fn tolerates(&self) -> Option<u32> {
        let exhausted = self.exhausted?;
        match self.cut_sets.iter().map(|set| set.faults.len() as u32).min() {
            Some(0) => None,
            Some(smallest) => Some((smallest - 1).min(exhausted)),
            None => Some(exhausted),
        }
    }

    /// Takes back that sets of so many faults were exhausted, and says why.
    ///
    /// Called when a search ended early: a campaign keeps what it found and loses what it could
    /// have claimed.
    pub fn doubt(&mut self, faults: usize, why: &str) {
        let below = (faults as u32).checked_sub(1);
        self.exhausted = self.exhausted.zip(below).map(|(exhausted, below)| exhausted.min(below));
        why.clone_into(&mut self.note);
    }

    /// Whether it fails without any fault.
    #[must_use]
    pub fn fails_anyway(&self) -> bool {
        self.cut_sets.iter().any(|set| set.faults.is_empty())
    }

    /// The faults that break it alone.
    pub fn single_points(&self) -> impl Iterator<Item = usize> {
        self.cut_sets.iter().filter_map(|set| if let [only] = set.faults[..] { Some(only) } else { None })
    }

    /// Whether every set up to the budget was exhausted. What fails without any fault needs no more.
    #[must_use]
    pub fn complete(&self, budget: u32) -> bool {
        self.fails_anyway() || self.exhausted == Some(budget)
    }
}

impl Robustness {
    /// The name of a set of faults: `loss:a + stop:b`, or `no fault`.
    #[must_use]
    pub fn set_name(&self, set: &[usize]) -> String {
        if set.is_empty() {
            return "no fault".to_owned();
        }
        set.iter().map(|fault| self.faults[*fault].name.as_str()).collect::<Vec<_>>().join(" + ")
    }

    /// The faults that break some property alone, with the properties they break.
    #[must_use]
    pub fn single_points(&self) -> Vec<(usize, Vec<&str>)> {
        let broken = |fault: usize| {
            let rows = self.properties.iter().filter(|row| row.single_points().any(|only| only == fault));
            (fault, rows.map(|row| row.name.as_str()).collect::<Vec<_>>())
        };
        (0..self.faults.len()).map(broken).filter(|(_, names)| !names.is_empty()).collect()
    }

    /// Whether every set up to the budget was exhausted for every property.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.properties.iter().all(|row| row.complete(self.budget))
    }

    /// The answer of the whole campaign.
    ///
    /// A violation stands even if the campaign was interrupted or is incomplete: no further search
    /// takes it back.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        if self.properties.iter().any(|row| !row.cut_sets.is_empty()) {
            return Outcome::Verdict(Verdict::Violated);
        }
        if self.covered.interrupted {
            return Outcome::Interrupted;
        }
        match (self.properties.is_empty(), self.complete()) {
            (true, _) => Outcome::Nothing,
            (false, true) => Outcome::Verdict(Verdict::Holds),
            (false, false) => Outcome::Verdict(Verdict::Inconclusive),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two properties and three faults: one tolerates one fault, the other none.
    pub(crate) fn example() -> Robustness {
        let fault = |name: &str, reached| FaultRow {
            name: name.to_owned(),
            class: name.split(':').next().unwrap_or_default().to_owned(),
            reached,
        };
        let set = |faults: &[usize], id: &str| CutSet {
            faults: faults.to_vec(),
            message: "invalid end state".to_owned(),
            counterexample: Some(id.to_owned()),
            told: "step 1 <loss>\n".to_owned(),
            steps: 4,
        };
        let row = |name: &str, cut_sets, cells: [Cell; 3]| PropertyRow {
            name: name.to_owned(),
            kind: FailureKind::Deadlock,
            cut_sets,
            exhausted: Some(2),
            note: String::new(),
            cells: cells.to_vec(),
        };
        Robustness {
            system: "a.pml".to_owned(),
            budget: 2,
            faults: vec![fault("loss:q", true), fault("stop:P", true), fault("early:P", false)],
            properties: vec![
                row("deadlock", vec![set(&[1], "1a2b")], [Cell::Holds, Cell::Violated, Cell::NotReached]),
                row("safe", vec![set(&[0, 0], "3c4d")], [Cell::Repeated, Cell::Holds, Cell::NotReached]),
            ],
            covered: Searched { searches: 4, states: 100, steps: 200, ..Searched::default() },
            ..Robustness::default()
        }
    }

    #[test]
    fn what_is_tolerated_is_one_less_than_the_smallest_set() {
        let told = example();
        assert_eq!(told.properties[0].tolerates(), Some(0));
        assert_eq!(told.properties[1].tolerates(), Some(1));
        let mut open = told.properties[1].clone();
        open.cut_sets.clear();
        assert_eq!(open.tolerates(), Some(2));
        open.exhausted = Some(0);
        assert_eq!(open.tolerates(), Some(0), "what was not exhausted is not tolerated");
        open.exhausted = None;
        assert_eq!(open.tolerates(), None);
        let mut doubted = told.properties[1].clone();
        doubted.cut_sets.clear();
        doubted.doubt(2, "no proof");
        assert_eq!((doubted.tolerates(), doubted.complete(2), doubted.note.as_str()), (Some(1), false, "no proof"));
        doubted.doubt(0, "no proof");
        assert_eq!(doubted.tolerates(), None);
    }

    #[test]
    fn single_points_of_failure_are_faults_that_suffice_once() {
        assert_eq!(example().single_points(), vec![(1, vec!["deadlock"])]);
    }

    #[test]
    fn what_was_not_exhausted_never_reads_as_holds() {
        let mut told = example();
        told.properties.iter_mut().for_each(|row| row.cut_sets.clear());
        assert_eq!(told.outcome(), Outcome::Verdict(Verdict::Holds));
        told.properties[0].exhausted = Some(1);
        assert_eq!(told.outcome(), Outcome::Verdict(Verdict::Inconclusive));
    }
}
