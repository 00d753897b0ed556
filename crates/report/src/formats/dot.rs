//! A trace for Graphviz: an event for each node, a cluster for each actor, time downwards.
//!
//! For `dot -Tsvg`. Solid arrows are happens-before: the order of one actor, and between actors what
//! `causality` knows. Dashed ones are the schedule, where another actor takes over. What the lanes of
//! the text fold is left out here as well, and counted.

use super::causality::edges;
use super::occurrences::{Occurrence, actors, occurrences};
use crate::Detail;
use crate::escape::dot as quoted;
use crate::fold::{Part, folded, is_fault, unfolded};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use trace::Counterexample;

/// The trace of a counterexample.
#[must_use]
pub fn trace_dot(found: &Counterexample, detail: Detail) -> String {
    let all = occurrences(&found.trace, detail);
    let shown = shown(found, &all, detail);
    let mut out = String::from("digraph trace {\n  rankdir=TB;\n  node [shape=box, fontname=\"sans-serif\"];\n");
    let title = format!("{}: {}", found.property.name, found.message);
    let _ = writeln!(out, "  label={};\n  labelloc=t;", quoted(&title));
    out += &lanes(found, &all, &shown);
    out += &order(&all, &shown);
    for edge in edges(found, &all).iter().filter(|edge| shown.contains(&edge.from) && shown.contains(&edge.to)) {
        let _ = writeln!(out, "  n{} -> n{} [label=\"{}\", constraint=false];", edge.from, edge.to, edge.cause.name());
    }
    out += &cycle(found, &all, &shown);
    let left_out = all.len() - shown.len();
    if left_out > 0 {
        let _ = writeln!(out, "  left_out [shape=plaintext, label=\"{left_out} events left out (-v shows them)\"];");
    }
    out + "}\n"
}

/// The occurrences that are drawn.
fn shown(found: &Counterexample, all: &[Occurrence<'_>], detail: Detail) -> BTreeSet<usize> {
    let parts = if detail == Detail::Full { unfolded(&found.trace) } else { folded(&found.trace) };
    let step = |part: Part| match part {
        Part::Step(index) => Some(index + 1),
        Part::Local(_) | Part::Middle(_) => None,
    };
    let steps: BTreeSet<usize> = parts.into_iter().filter_map(step).collect();
    (0..all.len()).filter(|&at| steps.contains(&all[at].step)).collect()
}

/// The nodes, each in the cluster of its actor: Graphviz then keeps an actor in one column.
fn lanes(found: &Counterexample, all: &[Occurrence<'_>], shown: &BTreeSet<usize>) -> String {
    let mut out = String::new();
    for (number, actor) in actors(&found.trace, all).into_iter().enumerate() {
        let own: Vec<usize> = shown.iter().copied().filter(|&at| all[at].actor() == actor).collect();
        if own.is_empty() {
            continue;
        }
        let _ = writeln!(out, "  subgraph cluster_{number} {{\n    label={};", quoted(&found.trace.name(actor)));
        for at in own {
            let _ = writeln!(out, "    n{at} [label={}{}];", quoted(&label(&all[at])), look(found, all, at));
        }
        out += "  }\n";
    }
    out
}

/// What a node says, one fact on each line.
fn label(one: &Occurrence<'_>) -> String {
    let mut lines = vec![format!("{}: {}", one.step, one.text())];
    lines.extend(one.changes());
    lines.extend(one.place());
    lines.join("\n")
}

/// Faults and the last event are what people look for.
fn look(found: &Counterexample, all: &[Occurrence<'_>], at: usize) -> &'static str {
    if is_fault(&found.trace, all[at].actor()) {
        ", shape=octagon, style=filled, fillcolor=\"#fff2cc\""
    } else if at + 1 == all.len() {
        ", style=filled, fillcolor=\"#f4c7c3\""
    } else {
        ""
    }
}

/// Each event after the one before it: of the same actor, and in the schedule.
fn order(all: &[Occurrence<'_>], shown: &BTreeSet<usize>) -> String {
    let mut out = String::new();
    let mut last: BTreeMap<u32, usize> = BTreeMap::new();
    let mut before: Option<usize> = None;
    for &at in shown {
        let own = last.insert(all[at].actor(), at);
        if let Some(own) = own {
            let _ = writeln!(out, "  n{own} -> n{at};");
        }
        if let Some(before) = before.filter(|before| Some(*before) != own) {
            let _ = writeln!(out, "  n{before} -> n{at} [style=dashed, color=gray];");
        }
        before = Some(at);
    }
    out
}

/// The way back of a lasso.
fn cycle(found: &Counterexample, all: &[Occurrence<'_>], shown: &BTreeSet<usize>) -> String {
    let first = found.trace.cycle_start.and_then(|start| shown.iter().find(|&&at| all[at].step > start));
    match first.zip(shown.last()) {
        Some((first, last)) => {
            format!("  n{last} -> n{first} [label=\"for ever\", style=bold, constraint=false];\n")
        }
        None => String::new(),
    }
}
