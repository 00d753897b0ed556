//! Prints what the visited store costs: processor time a step and bytes a state, on synthetic systems.
//!
//! `cargo run --release -p explore --example store_bench [workers [small]]`
#![allow(clippy::disallowed_methods, reason = "examples use the host")]
#![allow(clippy::print_stdout)]

use explore::{Control, Options, Outcome, StoreKind, TransitionSystem, search};
use testkit::Counters;

fn main() {
    let workers: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1);
    let systems = match std::env::args().nth(2) {
        // Small enough to count instructions.
        Some(_) => vec![(5, 9, 8)],
        None => vec![(6, 9, 8), (7, 9, 7), (14, 2, 3), (14, 2, 16), (5, 24, 8)],
    };
    println!(
        "{:46} {:>10} {:>11} {:>9} {:>8} {:>8} {:>7}",
        "system", "states", "steps", "Mst/cpu-s", "ns/step", "B/state", "wall s"
    );
    for (actors, end, stride) in systems {
        let system = Counters { stride, ..Counters::new(actors, end) };
        let name = format!("{actors} counters to {end}, {} bytes", actors as usize * stride);
        for store in [StoreKind::Tree, StoreKind::Fingerprint64] {
            report(&format!("{name} {store:?}"), &system, &Options { workers, store, ..Options::default() });
        }
    }
}

fn report<S: TransitionSystem>(name: &str, system: &S, options: &Options) {
    let started = cpu_seconds();
    let Outcome { stats, .. } = search(system, options, Control::default());
    let seconds = cpu_seconds() - started;
    println!(
        "{name:46} {:>10} {:>11} {:>9.2} {:>8.1} {:>8.1} {:>7.2}",
        stats.states,
        stats.steps,
        stats.states as f64 / seconds / 1e6,
        seconds * 1e9 / stats.steps as f64,
        stats.bytes_per_state,
        stats.seconds,
    );
}

/// Processor time of this process: wall-clock time says little on a busy machine. Ticks are hundredths of a second.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = stat.split_whitespace().skip(13).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}
