//! Random monitors.
//!
//! Transition-based generalised Büchi automata without any structure that a translation from LTL
//! would give them: edges that no valuation takes, states that nothing leaves, sets that no edge
//! marks.

use explore::random::Random;
use explore::{Monitor, MonitorEdge, MonitorState};

/// A monitor with up to three states and two acceptance sets over the given number of propositions. One in eight has
/// a violating state.
#[must_use]
pub fn random_monitor(seed: u64, propositions: u32) -> Monitor {
    let mut random = Random::new(seed);
    let count = 1 + random.below(3);
    let acceptance_sets = random.below(3) as u32;
    let mut states = Vec::new();
    for _ in 0..count {
        let mut edges = Vec::new();
        for _ in 0..1 + random.below(3) {
            edges.push(edge(&mut random, count, propositions, acceptance_sets));
        }
        states.push(MonitorState { edges, violates: false });
    }
    if count > 1 && random.chance(1, 8) {
        states[count - 1].violates = true;
    }
    Monitor { states, initial: 0, acceptance_sets, infinite_only: false }
}

fn edge(random: &mut Random, states: usize, propositions: u32, acceptance_sets: u32) -> MonitorEdge {
    let mut edge = MonitorEdge { to: random.below(states) as u32, ..MonitorEdge::default() };
    for proposition in 0..propositions {
        match random.below(4) {
            0 => edge.must_hold |= 1 << proposition,
            1 => edge.must_fail |= 1 << proposition,
            _ => {}
        }
    }
    for set in 0..acceptance_sets {
        edge.marks |= u64::from(random.chance(1, 3)) << set;
    }
    edge
}
