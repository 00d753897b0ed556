//! Fault trees in the Open-PSA model exchange format, which tools for reliability read.
//!
//! The gate of a property is the disjunction of its minimal cut sets, each a conjunction of basic
//! events (Open-PSA Model Exchange Format 2.0). Probabilities are left to the reliability engineer:
//! a model checker has none.

use super::{PropertyRow, Robustness};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// One fault tree with a top gate for each property that faults can break. A fault that is needed several times in a
/// run becomes as many basic events.
#[must_use]
pub fn fault_tree_psa(told: &Robustness) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<opsa-mef>\n");
    let _ = writeln!(out, "  <define-fault-tree name=\"{}\">", identifier(&told.system));
    let broken: Vec<&PropertyRow> = told.properties.iter().filter(|row| !row.cut_sets.is_empty()).collect();
    let names = Names::new(told, &broken);
    for (row, name) in broken.iter().zip(&names.gates) {
        let _ = writeln!(out, "    <define-gate name=\"{name}\">");
        let _ = writeln!(out, "      <label>{}</label>", escaped(&format!("{} fails", row.name)));
        out += &formula(row, &names);
        out.push_str("    </define-gate>\n");
    }
    out.push_str("  </define-fault-tree>\n  <model-data>\n");
    for (event, name) in &names.events {
        let _ = writeln!(out, "    <define-basic-event name=\"{name}\">");
        let _ = writeln!(out, "      <label>{}</label>", escaped(&event.label(told)));
        out.push_str("    </define-basic-event>\n");
    }
    out.push_str("  </model-data>\n</opsa-mef>\n");
    out
}

/// One of the sets happens. A gate of one argument would be none, and tools refuse it.
fn formula(row: &PropertyRow, names: &Names) -> String {
    let (open, close) = if row.cut_sets.len() > 1 { ("      <or>\n", "      </or>\n") } else { ("", "") };
    let sets: String = row.cut_sets.iter().map(|set| conjunction(&set.faults, names)).collect();
    format!("{open}{sets}{close}")
}

/// Everything in a set happens.
fn conjunction(set: &[usize], names: &Names) -> String {
    let event = |event: &Event| format!("<basic-event name=\"{}\"/>\n", names.events[event]);
    match &occurrences(set)[..] {
        [] => "        <constant value=\"true\"/>\n".to_owned(),
        [only] => format!("        {}", event(only)),
        several => {
            let all: String = several.iter().map(|one| format!("          {}", event(one))).collect();
            format!("        <and>\n{all}        </and>\n")
        }
    }
}

/// Names that the format allows, no two of them alike: other signs than letters become the same dash.
struct Names {
    gates: Vec<String>,
    events: BTreeMap<Event, String>,
}

impl Names {
    fn new(told: &Robustness, broken: &[&PropertyRow]) -> Self {
        let mut taken = BTreeSet::new();
        let mut name = |text: &str| {
            let name = identifier(text);
            let numbered = (2..).map(|number| format!("{name}_{number}"));
            let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name));
            let free = free.unwrap_or(name);
            taken.insert(free.clone());
            free
        };
        let gates = broken.iter().map(|row| name(&format!("{}-fails", row.name))).collect();
        let events: BTreeSet<Event> =
            broken.iter().flat_map(|row| &row.cut_sets).flat_map(|set| occurrences(&set.faults)).collect();
        Self { gates, events: events.into_iter().map(|event| (event, name(&event.label(told)))).collect() }
    }
}

/// The n-th occurrence of a fault.
///
/// Repetitions are different basic events: in a Boolean formula `x and x` is `x`, and a property
/// that survives one loss would be shown to fail from one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    fault: usize,
    nth: usize,
}

impl Event {
    fn label(self, told: &Robustness) -> String {
        let name = &told.faults[self.fault].name;
        if self.nth == 1 { name.clone() } else { format!("{name}, occurrence {}", self.nth) }
    }
}

fn occurrences(set: &[usize]) -> Vec<Event> {
    let nth = |index: usize| set[..=index].iter().filter(|fault| **fault == set[index]).count();
    (0..set.len()).map(|index| Event { fault: set[index], nth: nth(index) }).collect()
}

/// A name as the format allows it: letters, digits, `_` and single `-`, beginning with a letter.
fn identifier(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        let c = if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        if c != '-' || !name.ends_with('-') && !name.is_empty() {
            name.push(c);
        }
    }
    let name = name.trim_end_matches('-');
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name.to_owned() } else { format!("n{name}") }
}

/// Text between tags.
pub(super) fn escaped(text: &str) -> String {
    let clean: String = text.chars().filter(|c| !c.is_control() || *c == '\n').collect();
    clean.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;

    #[test]
    fn every_event_of_a_gate_is_defined_once() {
        let psa = fault_tree_psa(&example());
        for name in ["stop-P", "loss-q", "loss-q-occurrence-2"] {
            assert_eq!(psa.matches(&format!("<define-basic-event name=\"{name}\">")).count(), 1, "{psa}");
            assert!(psa.contains(&format!("<basic-event name=\"{name}\"/>")), "{psa}");
        }
        assert!(psa.contains("<define-gate name=\"deadlock-fails\">"), "{psa}");
        assert!(!psa.contains("<or>"), "one set needs no choice: {psa}");
    }

    #[test]
    fn what_differs_only_in_signs_gets_names_of_its_own() {
        let mut told = example();
        told.properties[0].name = "[] a".to_owned();
        told.properties[1].name = "<> a".to_owned();
        let psa = fault_tree_psa(&told);
        for name in ["a-fails", "a-fails_2"] {
            assert_eq!(psa.matches(&format!("<define-gate name=\"{name}\">")).count(), 1, "{psa}");
        }
    }

    #[test]
    fn names_are_made_of_what_the_format_allows() {
        assert_eq!(identifier("corrupt:q[1]"), "corrupt-q-1");
        assert_eq!(identifier("[] (a -> <> b)"), "a-b");
        assert_eq!(identifier("./m.pml"), "m-pml");
        assert_eq!(identifier("2x"), "n2x");
        assert_eq!(escaped("a<b & \"c\""), "a&lt;b &amp; &quot;c&quot;");
    }
}
