//! What a search of programs tells beside states and steps: what was chosen, and what was taken for granted.

use crate::fit::{clean, wrap};
use crate::number::count;
use crate::{Layout, Programs};
use std::fmt::Write as _;

/// The lines about a search of programs.
pub(crate) fn programs_text(programs: &Programs, layout: &Layout) -> String {
    let mut out = String::new();
    let mut list = |head: &str, words: Vec<String>| {
        for (index, line) in wrap(&words, " . ", layout.width.saturating_sub(9).max(20)).iter().enumerate() {
            let head = if index == 0 { head } else { "" };
            let _ = writeln!(out, "{head:8} {line}");
        }
    };
    list("search", searched(programs));
    list("assumed", assumed(programs));
    out
}

fn searched(programs: &Programs) -> Vec<String> {
    let mut words = vec![match programs.rounds {
        1 => "1 round".to_owned(),
        rounds => format!("{rounds} rounds"),
    }];
    words.push(format!("{} steps executed", count(programs.executed)));
    words.extend(programs.engine.iter().map(|word| clean(word)));
    match programs.scheduling {
        0 if programs.engine.is_empty() => words.push("one schedule".to_owned()),
        0 => {}
        states => words.push(format!("who moves: a choice in {} states", count(states))),
    }
    if programs.data > 0 {
        words.push(format!("{}: a choice in {} states", programs.choices.join(", "), count(programs.data)));
    }
    if programs.pruned > 0 {
        words.push(format!("{} steps left out that cannot matter", count(programs.pruned)));
    }
    if programs.left > 0 {
        words.push(format!("{} states with steps not taken", count(programs.left)));
    }
    match programs.promoted {
        0 => {}
        1 => words.push("1 racy word made visible".to_owned()),
        promoted => words.push(format!("{} racy words made visible", count(promoted))),
    }
    words.push(format!("libc: {}", clean(&programs.libc)));
    words
}

fn assumed(programs: &Programs) -> Vec<String> {
    let assumptions = programs.assumptions.iter().map(|assumption| clean(assumption));
    [clean(&programs.memory_model)].into_iter().chain(assumptions).collect()
}
