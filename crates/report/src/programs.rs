//! What a search of programs tells beside states and steps: what was chosen, and what was taken for granted.
//!
//! "Assumed" and "peer" lines are part of the verdict, not decoration: a result for programs is
//! relative to the kernel that is modelled, to the seeds of what is random and to the peers that
//! were recorded.

use crate::fit::{clean, wrap};
use crate::number::count;
use crate::{Choices, Layout, Programs};
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
    list("audit", audited(programs));
    list("assumed", assumed(programs));
    for peer in &programs.traffic {
        list("peer", peer.iter().map(|word| clean(word)).collect());
    }
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
        states => words.push(format!("scheduling choices: {} states", count(states))),
    }
    words.extend(programs.choices.iter().filter(|choices| choices.states > 0).map(chosen));
    if programs.pruned > 0 {
        words.push(format!("{} redundant steps skipped (partial-order reduction)", count(programs.pruned)));
    }
    if programs.left > 0 {
        words.push(format!("{} states not fully explored", count(programs.left)));
    }
    match programs.promoted {
        0 => {}
        1 => words.push("1 racing word of memory interleaved".to_owned()),
        promoted => words.push(format!("{} racing words of memory interleaved", count(promoted))),
    }
    words.push(format!("libc: {}", clean(&programs.libc)));
    words
}

fn audited(programs: &Programs) -> Vec<String> {
    let both = programs.audited.zip(programs.memoized);
    let told =
        |(again, all)| format!("{} of {} memoized or inherited results worked out again", count(again), count(all));
    both.map(told).into_iter().collect()
}

fn chosen(choices: &Choices) -> String {
    let Choices { about, states, taken } = choices;
    let states = if *states == 1 { "1 state".to_owned() } else { format!("{} states", count(*states)) };
    let ways = if *taken == 1 { "1 way".to_owned() } else { format!("{} ways", count(*taken)) };
    format!("{}: a choice in {states}, {ways} taken", clean(about))
}

fn assumed(programs: &Programs) -> Vec<String> {
    let assumptions = programs.assumptions.iter().map(|assumption| clean(assumption));
    [clean(&programs.memory_model)].into_iter().chain(assumptions).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_choice_has_its_own_counter_and_what_was_never_met_is_not_told() {
        let choices = |about: &str, states, taken| Choices { about: about.to_owned(), states, taken };
        let all = vec![choices("whom a signal wakes", 2, 5), choices("how much a read returns", 0, 0)];
        let programs = Programs { rounds: 1, choices: all, ..Programs::default() };
        let text = searched(&programs).join(" . ");
        assert!(text.contains("whom a signal wakes: a choice in 2 states, 5 ways taken"), "{text}");
        assert!(!text.contains("how much a read returns"), "{text}");
        assert!(audited(&programs).is_empty());
        let after = Programs { audited: Some(50), memoized: Some(1_000), ..programs.clone() };
        assert_eq!(audited(&after), ["50 of 1 000 memoized or inherited results worked out again"]);
        let json = serde_json::to_value(&programs).expect("it is plain data");
        assert_eq!(
            json["choices"][1],
            serde_json::json!({"about": "how much a read returns", "states": 0, "taken": 0})
        );
    }
}
