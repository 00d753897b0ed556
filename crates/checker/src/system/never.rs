//! Propositions that must never be true, evaluated in every state.

use debuginfo::DebugInfo;
use kernel::host::Host;
use proposition::Proposition;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Propositions that must never be true, and those that must be true at the end.
pub(crate) struct Forbidden {
    /// Those that must never be true, and behind them the atoms of formulas.
    pub all: Vec<(String, Proposition)>,
    /// Those that must be true at the end of each run.
    pub demanded: Vec<(String, Proposition)>,
    /// How many are atoms.
    pub atoms: usize,
    pub info: DebugInfo,
    pub directory: Vec<u8>,
    pub reads_output: bool,
    /// Those that became true in a step of which another failure is told, one bit each; shared by all workers.
    pub masked: Arc<AtomicU64>,
}

impl Forbidden {
    pub fn new(info: DebugInfo, directory: Vec<u8>) -> Self {
        let (all, demanded, masked) = (Vec::new(), Vec::new(), Arc::default());
        Self { all, demanded, atoms: 0, info, directory, reads_output: false, masked }
    }

    /// Those that must never be true.
    pub fn forbidden(&self) -> &[(String, Proposition)] {
        &self.all[..self.all.len() - self.atoms]
    }

    /// Those of them that a step made true, one bit each.
    pub fn newly_true(&self, before: u64, after: u64) -> u64 {
        let (new, count) = (after & !before, self.forbidden().len() as u32);
        if count < u64::BITS { new & ((1 << count) - 1) } else { new }
    }

    /// Notes that nobody is told of some that became true: they must not count as never true.
    pub fn mask(&self, new: u64) {
        self.masked.fetch_or(new, Ordering::Relaxed);
    }

    /// The names of those that nobody was told of, in some step.
    pub fn masked(&self) -> Vec<String> {
        let masked = self.masked.load(Ordering::Relaxed);
        let all = self.forbidden().iter().enumerate();
        all.filter(|(bit, _)| masked >> bit & 1 == 1).map(|(_, (name, _))| name.clone()).collect()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && self.demanded.is_empty()
    }

    /// All of them.
    pub fn propositions(&self) -> impl Iterator<Item = &Proposition> {
        self.all.iter().chain(&self.demanded).map(|(_, one)| one)
    }

    /// The same for another worker.
    pub fn for_worker(&self, host: Host) -> Self {
        let (all, demanded, directory) = (self.all.clone(), self.demanded.clone(), self.directory.clone());
        Self {
            all,
            demanded,
            atoms: self.atoms,
            info: DebugInfo::new(host),
            directory,
            reads_output: self.reads_output,
            masked: self.masked.clone(),
        }
    }
}

/// A proposition's name, which is its text if it has none, and its text.
#[must_use]
pub fn named(text: &str) -> (&str, &str) {
    match text.split_once(":=") {
        Some((name, text)) => (name.trim(), text.trim()),
        None => (text, text),
    }
}
