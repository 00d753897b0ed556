//! Automata as text: SPIN's never claims, and the Hanoi format that other tools read.

use std::fmt::Write;

use crate::automaton::{Automaton, Edge, State};

/// The automaton as a SPIN never claim. `name` gives the Promela text of an atom.
///
/// Only a state-based automaton can be printed; see [`Automaton::degeneralised`]. `None` for any other.
pub fn to_never_claim(automaton: &Automaton, name: impl Fn(u32) -> String) -> Option<String> {
    if !automaton.state_based {
        return None;
    }
    // SPIN starts at the first state of the text.
    let first = automaton.initial as usize;
    let rest = (0..automaton.states.len()).filter(|state| *state != first);
    let mut text = String::from("never {\n");
    for state in std::iter::once(first).chain(rest) {
        text += &claim_state(automaton, state, &name);
    }
    Some(text + "}\n")
}

fn claim_state(automaton: &Automaton, at: usize, name: &impl Fn(u32) -> String) -> String {
    let state = &automaton.states[at];
    let label = claim_label(automaton, at);
    if is_final(state, at) {
        return format!("{label}:\n\tskip\n");
    }
    if state.edges.is_empty() {
        return format!("{label}:\n\tfalse;\n");
    }
    let step = |edge: &Edge| {
        let guard = guard_text(automaton, edge, "1", " && ", |atom| format!("({})", name(atom)));
        format!("\t:: ({guard}) -> goto {}\n", claim_label(automaton, edge.to as usize))
    };
    let steps: String = state.edges.iter().map(step).collect();
    format!("{label}:\n\tdo\n{steps}\tod;\n")
}

/// Accepts everything: SPIN takes the end of a claim as a violation.
fn is_final(state: &State, at: usize) -> bool {
    state.universal && state.accepting && state.edges.iter().all(|edge| edge.to as usize == at)
}

fn claim_label(automaton: &Automaton, at: usize) -> String {
    let state = &automaton.states[at];
    let role = if at == automaton.initial as usize { "init".to_string() } else { format!("S{at}") };
    match (state.accepting, is_final(state, at)) {
        (true, true) if at != automaton.initial as usize => "accept_all".to_string(),
        (true, _) => format!("accept_{role}"),
        (false, _) => format!("T0_{role}"),
    }
}

fn guard_text(automaton: &Automaton, edge: &Edge, yes: &str, and: &str, name: impl Fn(u32) -> String) -> String {
    edge.guard.text(yes, "!", and, |bit| name(automaton.propositions[bit as usize]))
}

/// The automaton in the Hanoi Omega-Automata format, version 1. `name` gives the text of an atom.
///
/// Babiak and others, CAV 2015: what Spot, Owl and ltl3ba read, so automata can be compared with
/// theirs.
pub fn to_hoa(automaton: &Automaton, name: impl Fn(u32) -> String) -> String {
    let mut text = hoa_header(automaton, name);
    for (at, state) in automaton.states.iter().enumerate() {
        let accepting = automaton.state_based && state.accepting;
        _ = writeln!(text, "State: {at}{}", if accepting { " {0}" } else { "" });
        for edge in &state.edges {
            let guard = edge.guard.text("t", "!", "&", |bit| bit.to_string());
            _ = writeln!(text, "[{guard}] {}{}", edge.to, hoa_marks(automaton, edge));
        }
    }
    text + "--END--\n"
}

fn hoa_header(automaton: &Automaton, name: impl Fn(u32) -> String) -> String {
    let sets = automaton.acceptance_sets;
    let formula = match sets {
        0 => "t".to_string(),
        _ => (0..sets).map(|set| format!("Inf({set})")).collect::<Vec<_>>().join("&"),
    };
    let quoted = |atom: &u32| format!(" \"{}\"", name(*atom).replace('\\', "\\\\").replace('"', "\\\""));
    let atoms: String = automaton.propositions.iter().map(quoted).collect();
    let class = match (automaton.state_based, sets) {
        (true, _) => "Buchi".to_string(),
        (false, 0) => "all".to_string(),
        (false, _) => format!("generalized-Buchi {sets}"),
    };
    let place = if automaton.state_based { "state-acc" } else { "trans-acc" };
    format!(
        "HOA: v1\nStates: {}\nStart: {}\nAP: {}{atoms}\nacc-name: {class}\nAcceptance: {sets} {formula}\nproperties: {place}\n--BODY--\n",
        automaton.states.len(),
        automaton.initial,
        automaton.propositions.len(),
    )
}

fn hoa_marks(automaton: &Automaton, edge: &Edge) -> String {
    let sets: Vec<String> =
        (0..automaton.acceptance_sets).filter(|set| edge.marks >> set & 1 == 1).map(|set| set.to_string()).collect();
    if automaton.state_based || sets.is_empty() { String::new() } else { format!(" {{{}}}", sets.join(" ")) }
}
