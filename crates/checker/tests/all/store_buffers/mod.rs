//! Programs on x86-TSO: litmus tests with known outcomes, and random programs, each compared with the machine of the literature by
//! brute force, in all engines.

mod litmus;
mod machine;
mod programs;
mod random;

use crate::fuzz::compare::{self, Missing, Seen};
use crate::start::search_with;
use checker::{BUFFERED_MAX, Engine, MemoryModel, Options, Programs};
use explore::graph::Mode;
use machine::{Observed, Operation};
use std::collections::BTreeSet;
use std::path::Path;

/// A program of a few operations.
#[derive(Clone, Debug)]
struct Litmus {
    /// The operations of each thread, as `litmus.c` reads them.
    threads: Vec<String>,
    /// What it tells at its end: words and loads.
    observed: String,
    /// Whether its threads are processes.
    forks: bool,
}

impl Litmus {
    fn new(threads: &[&str], observed: &str) -> Self {
        Self {
            threads: threads.iter().map(|text| (*text).to_owned()).collect(),
            observed: observed.to_owned(),
            forks: false,
        }
    }

    /// All outcomes by brute force, as `litmus.c` encodes them.
    fn expected(&self, has_buffers: bool) -> BTreeSet<u32> {
        let threads: Vec<Vec<Operation>> =
            self.threads.iter().map(|text| text.split_whitespace().map(operation).collect()).collect();
        let observed: Vec<Observed> = self.observed.bytes().map(observed).collect();
        let code = |values: &Vec<u8>| 1 + values.iter().fold(0, |code, value| code * 3 + u32::from(*value));
        machine::outcomes(&threads, &observed, has_buffers).iter().map(code).collect()
    }

    /// The program at its beginning.
    fn start(&self, folder: &Path, options: Options) -> Programs {
        let how = if self.forks { "processes" } else { "threads" };
        let threads = self.threads.iter().map(String::as_str);
        let arguments: Vec<&str> = ["./program", how, &self.observed].into_iter().chain(threads).collect();
        search_with(folder, &arguments, options)
    }
}

fn word(name: u8) -> usize {
    usize::from(name - b'w')
}

fn operation(text: &str) -> Operation {
    let value = text.as_bytes().get(2).map_or(0, |digit| digit - b'0');
    match text.as_bytes() {
        [name, b'=', _] => Operation::Store(word(*name), value),
        [name, b'?', _] => Operation::Load(word(*name), usize::from(value)),
        [name, b'!', _] => Operation::Exchange(word(*name), value),
        [name, b'+', _] => Operation::Add(word(*name), value),
        [name, b'i'] => Operation::Increment(word(*name)),
        [b'f' | b's'] => Operation::Fence,
        [b'm'] => Operation::FenceAll,
        _ => panic!("no operation: {text}"),
    }
}

fn observed(what: u8) -> Observed {
    if what >= b'w' { Observed::Word(word(what)) } else { Observed::Register(usize::from(what - b'0')) }
}

/// Memory as on x86.
fn tso() -> Options {
    Options { memory: MemoryModel::Tso { buffered_max: BUFFERED_MAX }, ..Options::default() }
}

type See = fn(&mut Programs) -> Result<Seen, Missing>;

/// The engines, each by the name that a failed test tells.
const ENGINES: [(&str, See); 5] = [
    ("reduced", |programs| compare::answer(&Engine::Graph { mode: Mode::Reduced, workers: 1, alone: 0 }, programs)),
    ("full", |programs| compare::answer(&Engine::Graph { mode: Mode::Full, workers: 1, alone: 0 }, programs)),
    ("two workers", |programs| compare::answer(&Engine::Graph { mode: Mode::Reduced, workers: 2, alone: 0 }, programs)),
    ("classes", |programs| compare::answer(&Engine::Classes { depth: 300 }, programs)),
    ("without memory", |programs| compare::without_memory(programs).ok_or(Missing::Large)),
];

/// The exit codes of a program that ends in no other way; nothing if it is too large.
fn outcomes(litmus: &Litmus, see: See, folder: &Path, options: Options) -> Option<BTreeSet<u32>> {
    let mut programs = litmus.start(folder, options);
    let seen = match see(&mut programs) {
        Ok(seen) => seen,
        Err(Missing::Large) => return None,
        Err(Missing::Refused(what)) => panic!("{litmus:?}: {what}"),
    };
    let code = |failure: &String| {
        let digits = failure.rsplit(' ').next().expect("there is a last word");
        digits.parse().unwrap_or_else(|_| panic!("{litmus:?}: {failure}"))
    };
    Some(seen.failures.iter().map(code).collect())
}
