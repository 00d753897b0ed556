//! Fault trees in the Open-PSA model exchange format, which tools for reliability read.

use super::Robustness;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// One fault tree with a top gate for each property that faults can break. A fault that is needed several times in a
/// run becomes as many basic events.
#[must_use]
pub fn fault_tree_psa(told: &Robustness) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<opsa-mef>\n");
    let _ = writeln!(out, "  <define-fault-tree name=\"{}\">", identifier(&told.system));
    let mut events = BTreeSet::new();
    for row in told.properties.iter().filter(|row| !row.cut_sets.is_empty()) {
        let _ = writeln!(out, "    <define-gate name=\"{}\">", identifier(&format!("{}-fails", row.name)));
        let _ = writeln!(out, "      <label>{}</label>", escaped(&format!("{} fails", row.name)));
        let _ = writeln!(out, "      <or>");
        for set in &row.cut_sets {
            let all: Vec<Event> = occurrences(&set.faults);
            match &all[..] {
                [] => out.push_str("        <constant value=\"true\"/>\n"),
                [only] => {
                    let _ = writeln!(out, "        <basic-event name=\"{}\"/>", only.name(told));
                }
                several => {
                    out.push_str("        <and>\n");
                    for event in several {
                        let _ = writeln!(out, "          <basic-event name=\"{}\"/>", event.name(told));
                    }
                    out.push_str("        </and>\n");
                }
            }
            events.extend(all);
        }
        out.push_str("      </or>\n    </define-gate>\n");
    }
    out.push_str("  </define-fault-tree>\n  <model-data>\n");
    for event in &events {
        let _ = writeln!(out, "    <define-basic-event name=\"{}\">", event.name(told));
        let _ = writeln!(out, "      <label>{}</label>", escaped(&event.label(told)));
        out.push_str("    </define-basic-event>\n");
    }
    out.push_str("  </model-data>\n</opsa-mef>\n");
    out
}

/// The n-th occurrence of a fault.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    fault: usize,
    nth: usize,
}

impl Event {
    fn name(self, told: &Robustness) -> String {
        let name = identifier(&told.faults[self.fault].name);
        if self.nth == 1 { name } else { format!("{name}-{}", self.nth) }
    }

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
        for name in ["stop-P", "loss-q", "loss-q-2"] {
            assert_eq!(psa.matches(&format!("<define-basic-event name=\"{name}\">")).count(), 1, "{psa}");
            assert!(psa.contains(&format!("<basic-event name=\"{name}\"/>")), "{psa}");
        }
        assert!(psa.contains("<define-gate name=\"deadlock-fails\">"), "{psa}");
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
