//! Random programs against the machine: `ALLWAYS_FUZZ=0..5000 scripts/test --cargo-profile fuzz -p checker random_programs_have_the_outcomes`.

#![allow(clippy::print_stdout, reason = "who tries many wants to see how many")]

use super::litmus::compiled;
use super::{ENGINES, Litmus, outcomes, tso};
use crate::fuzz;
use checker::Options;
use explore::random::Random;
use std::path::Path;

/// Operations of all threads together.
const OPERATIONS_MAX: usize = 7;
/// What a program tells: more digits do not fit into an exit code.
const OBSERVED_MAX: usize = 5;

#[test]
fn random_programs_have_the_outcomes_of_the_machine_in_all_engines() {
    let folder = compiled("random");
    let (mut compared, mut needed) = (0, 0);
    let seeds = fuzz::seeds(20);
    for seed in seeds.clone() {
        let litmus = program(&mut Random::new(seed));
        let (expected, sequential) = (litmus.expected(true), litmus.expected(false));
        if expected.iter().chain(&sequential).any(|code| *code > 255) {
            continue;
        }
        compared += 1;
        needed += usize::from(expected != sequential);
        agree(seed, &litmus, &folder);
    }
    println!("{} programs, {compared} compared, {needed} have more outcomes with store buffers", seeds.count());
    assert!(needed > 0, "no program needs store buffers");
    let _ = std::fs::remove_dir_all(folder);
}

fn agree(seed: u64, litmus: &Litmus, folder: &Path) {
    for (options, has_buffers) in [(Options::default(), false), (tso(), true)] {
        let expected = litmus.expected(has_buffers);
        for (engine, see) in ENGINES {
            let found = outcomes(litmus, see, folder, options.clone());
            let is_same = found.as_ref().is_none_or(|found| *found == expected);
            assert!(is_same, "seed {seed}, {engine}, {litmus:?}: {found:?}, expected {expected:?}");
        }
    }
}

/// A program of two or three threads, most of them around a core that needs store buffers.
fn program(random: &mut Random) -> Litmus {
    let count = 2 + random.below(2);
    let (mut threads, mut loads) = (vec![Vec::new(); count], 0);
    if random.chance(2, 3) {
        (threads[0], threads[1]) = (core("x=1 y?0"), core("y=1 x?1"));
        loads = 2;
    }
    for _ in 0..3 + random.below(OPERATIONS_MAX - 2 - loads) {
        let thread = random.below(count);
        let at = random.below(threads[thread].len() + 1);
        let operation = operation(random, &mut loads);
        threads[thread].insert(at, operation);
    }
    let words = ["x", "y"].into_iter().map(str::to_owned);
    let observed = (0..loads).map(|load| load.to_string()).chain(words).take(OBSERVED_MAX);
    Litmus {
        observed: observed.collect(),
        threads: threads.into_iter().map(|operations| operations.join(" ")).collect(),
        forks: random.chance(1, 6),
    }
}

fn core(operations: &str) -> Vec<String> {
    operations.split(' ').map(str::to_owned).collect()
}

fn operation(random: &mut Random, loads: &mut usize) -> String {
    let word = ["x", "y", "y", "x", "z"][random.below(5)];
    let value = 1 + random.below(2);
    match random.below(12) {
        0..=4 => format!("{word}={value}"),
        5..=8 if *loads < OBSERVED_MAX => {
            *loads += 1;
            format!("{word}?{}", *loads - 1)
        }
        9 => format!("{word}!{value}"),
        10 => format!("{word}i"),
        11 => ["f", "s", "f", "m"][random.below(4)].to_owned(),
        _ => format!("{word}+1"),
    }
}
