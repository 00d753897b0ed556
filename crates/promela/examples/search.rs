//! How fast a whole search is, without the command line around it:
//! `cargo run --release -p promela --example search -- [-jN] [-r] [-nRUNS] FILE.pml [-DNAME=VALUE...]`.
//!
//! Prints states, CPU seconds (the best of several runs, so that a busy machine disturbs less), nanoseconds for each
//! step, wall-clock seconds and bytes for each state.
#![allow(clippy::disallowed_methods, reason = "examples use the host")]
#![allow(clippy::print_stdout, reason = "an example that prints what it measured")]

use explore::{AfterViolation, Control, Options, Reduction, search};
use promela::jit::Lazy;
use promela::parse::{ParseOptions, parse_file};
use promela::run::System;
use std::path::Path;

fn main() {
    let (mut options, mut runs) = (Options { after_violation: AfterViolation::Stop, ..Options::default() }, 3);
    let (mut file, mut parse) = (String::new(), ParseOptions::default());
    for argument in std::env::args().skip(1) {
        match argument.split_at_checked(2) {
            Some(("-j", workers)) => options.workers = workers.parse().expect("a number of workers"),
            Some(("-n", count)) => runs = count.parse().expect("a number of runs"),
            Some(("-r", "")) => options.reduction = Reduction::Safety,
            Some(("-D", define)) => {
                let (name, value) = define.split_once('=').unwrap_or((define, "1"));
                parse.defines.push((name.to_owned(), Some(value.to_owned())));
            }
            _ => file = argument,
        }
    }
    let parsed = parse_file(Path::new(&file), &parse).expect("a model without errors");
    let (model, _) = promela::lower::lower(&parsed.program, &parsed.sources).expect("a model without errors");
    let (mut cpu, mut wall) = (f64::MAX, f64::MAX);
    for run in 1..=runs {
        let system = System::new(model.clone(), parsed.sources.clone(), Lazy::new(&model));
        let before = cpu_seconds();
        let stats = search(&system, &options, Control::default()).stats;
        cpu = cpu.min(cpu_seconds() - before);
        wall = wall.min(stats.seconds);
        if run == runs {
            let name = Path::new(&file).file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            println!(
                "{name:12} {:>9} states {:>9} steps  {cpu:.2} cpu s  {:.1} ns/step  {wall:.2} s  {:.1} B/state",
                stats.states,
                stats.steps,
                cpu * 1e9 / stats.steps as f64,
                stats.bytes_per_state
            );
        }
    }
}

/// Processor time of this process, all threads together.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = stat.split_whitespace().skip(13).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}
