//! Fault trees for Graphviz: a property fails if one of its minimal sets happens, a set if all its faults do.
//!
//! For Graphviz: `dot -Tsvg`. The same tree as `psa.rs`, as a picture.

use super::Robustness;
use crate::escape::dot as quoted;
use std::fmt::Write as _;

/// One tree for each property that faults can break, faults shared between them.
#[must_use]
pub fn fault_tree_dot(told: &Robustness) -> String {
    let mut out = String::from("digraph faults {\n  rankdir=TB;\n  node [fontname=\"sans-serif\"];\n");
    let mut used = vec![false; told.faults.len()];
    for (number, row) in told.properties.iter().enumerate().filter(|(_, row)| !row.cut_sets.is_empty()) {
        let label = quoted(&format!("{} fails", row.name));
        let _ = writeln!(out, "  p{number} [label={label}, shape=box, style=filled, fillcolor=\"#f4c7c3\"];");
        if row.cut_sets.len() > 1 {
            let _ = writeln!(out, "  p{number}_or [label=\"OR\", shape=invhouse];\n  p{number} -> p{number}_or;");
        }
        let above = if row.cut_sets.len() > 1 { format!("p{number}_or") } else { format!("p{number}") };
        for (index, set) in row.cut_sets.iter().enumerate() {
            set.faults.iter().for_each(|fault| used[*fault] = true);
            match &set.faults[..] {
                [] => {
                    let _ = writeln!(out, "  p{number}_s{index} [label=\"without any fault\", shape=ellipse];");
                    let _ = writeln!(out, "  {above} -> p{number}_s{index};");
                }
                [only] => {
                    let _ = writeln!(out, "  {above} -> f{only};");
                }
                several => {
                    let _ = writeln!(out, "  p{number}_s{index} [label=\"AND\", shape=house];");
                    let _ = writeln!(out, "  {above} -> p{number}_s{index};");
                    for fault in several {
                        let _ = writeln!(out, "  p{number}_s{index} -> f{fault};");
                    }
                }
            }
        }
    }
    for (number, fault) in told.faults.iter().enumerate().filter(|(number, _)| used[*number]) {
        let _ = writeln!(out, "  f{number} [label={}, shape=ellipse];", quoted(&fault.name));
    }
    out.push_str("}\n");
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;

    #[test]
    fn sets_of_one_fault_need_no_gate_and_larger_ones_are_conjunctions() {
        let dot = fault_tree_dot(&example());
        assert!(dot.contains("p0 -> f1;"), "{dot}");
        assert!(dot.contains("p1_s0 [label=\"AND\", shape=house];"), "{dot}");
        assert_eq!(dot.matches("p1_s0 -> f0;").count(), 2, "a fault that is needed twice has two arrows: {dot}");
        assert!(!dot.contains("early:P"), "what breaks nothing is left out: {dot}");
    }
}
