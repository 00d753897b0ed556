//! How fast steps are made, without a store: `cargo run --release -p promela --example steps -- FILE.pml [STATES]`.
//!
//! Explores breadth first until there are enough states, then computes the steps of all of them again and again, with
//! the interpreter and with native code.
#![allow(clippy::disallowed_methods, reason = "examples use the host")]
#![allow(clippy::print_stdout, reason = "an example that prints what it measured")]

use explore::{Selection, TransitionSystem};
use promela::ir::Model;
use promela::jit::Native;
use promela::parse::{ParseOptions, parse_file};
use promela::run::{Code, Interpreter, System};
use promela::source::SourceMap;
use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), states) = (arguments.next(), arguments.next().and_then(|n| n.parse().ok())) else {
        println!("usage: steps FILE.pml [STATES]");
        return;
    };
    let parsed = parse_file(Path::new(&file), &ParseOptions::default()).expect("a model without errors");
    let (model, _) = promela::lower::lower(&parsed.program, &parsed.sources).expect("a model without errors");
    let started = Instant::now();
    let native = Native::compile(&model).expect("this host has native code");
    println!("{file}: {native:?} in {:.2} ms", started.elapsed().as_secs_f64() * 1e3);
    measure("interpreter", model.clone(), Interpreter, states.unwrap_or(20_000));
    measure("native", model, native, states.unwrap_or(20_000));
}

fn measure<C: Code>(name: &str, model: Model, code: C, states: usize) {
    let system = System::new(model, SourceMap::default(), code);
    let all = reachable(&system, states);
    let mut scratch = system.scratch();
    let (mut transitions, mut rounds) = (0u64, 0);
    let started = nanoseconds();
    while rounds < 5 || nanoseconds() - started < 1e9 {
        for state in &all {
            system.steps(&mut scratch, state, Selection::All, &mut |_| {
                transitions += 1;
                ControlFlow::Continue(())
            });
        }
        rounds += 1;
    }
    let nanoseconds = nanoseconds() - started;
    let count = all.len();
    println!(
        "  {name}: {count} states of {} bytes, {} transitions, {:.1} ns per transition, {:.1} ns per state",
        all[0].len(),
        transitions / rounds,
        nanoseconds / transitions as f64,
        nanoseconds / (count as f64 * rounds as f64)
    );
}

/// Time that this thread has spent on a processor, so that a busy machine disturbs less.
fn nanoseconds() -> f64 {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    spent.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or_default()
}

fn reachable<C: Code>(system: &System<C>, states: usize) -> Vec<Vec<u8>> {
    let mut scratch = system.scratch();
    let initial = system.initial(&mut scratch);
    let (mut seen, mut queue, mut all) = (HashSet::from([initial.clone()]), VecDeque::from([initial]), Vec::new());
    while let Some(state) = queue.pop_front() {
        system.steps(&mut scratch, &state, Selection::All, &mut |step| {
            if seen.len() < states && !seen.contains(step.state) {
                seen.insert(step.state.clone());
                queue.push_back(step.state.clone());
            }
            ControlFlow::Continue(())
        });
        all.push(state);
    }
    all
}
