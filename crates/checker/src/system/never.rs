//! Propositions that must never be true, evaluated in every state.

use debuginfo::DebugInfo;
use kernel::host::Host;
use proposition::Proposition;

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
}

impl Forbidden {
    pub fn new(info: DebugInfo, directory: Vec<u8>) -> Self {
        Self { all: Vec::new(), demanded: Vec::new(), atoms: 0, info, directory, reads_output: false }
    }

    /// Those that must never be true.
    pub fn forbidden(&self) -> &[(String, Proposition)] {
        &self.all[..self.all.len() - self.atoms]
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
