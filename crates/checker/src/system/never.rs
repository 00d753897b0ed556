//! What must never be true of programs: propositions that are looked at in every state.

use crate::system::programs::Programs;
use crate::system::state::State;
use crate::system::view::View;
use crate::system::workload::Workload;
use debuginfo::DebugInfo;
use explore::system::Failure;
use kernel::Pid;
use kernel::descriptor::Console;
use kernel::host::Host;
use proposition::{Problem, Proposition, Stream, WorldFacts};
use trace::FailureKind;

/// Propositions that must never be true.
pub(crate) struct Forbidden {
    all: Vec<(String, Proposition)>,
    pub info: DebugInfo,
    directory: Vec<u8>,
    reads_output: bool,
}

impl Forbidden {
    pub fn new(info: DebugInfo, directory: Vec<u8>) -> Self {
        Self { all: Vec::new(), info, directory, reads_output: false }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The same for another worker.
    pub fn twin(&self, host: Host) -> Self {
        let (all, directory) = (self.all.clone(), self.directory.clone());
        Self { all, info: DebugInfo::new(host), directory, reads_output: self.reads_output }
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

impl Workload {
    fn facts<R>(&mut self, state: &State, then: impl FnOnce(&[(String, Proposition)], &mut WorldFacts<'_>) -> R) -> R {
        let processes: Vec<(String, Pid)> = self.started.iter().map(|(pid, name)| (name.clone(), *pid)).collect();
        let history = &state.history;
        let output = |pid: Pid, stream: Stream| history.output.get(&(pid, stream as u8)).cloned().unwrap_or_default();
        let mut facts = WorldFacts {
            world: &state.world,
            info: &mut self.forbidden.info,
            processes: &processes,
            output: &output,
            called: None,
            directory: &self.forbidden.directory,
        };
        then(&self.forbidden.all, &mut facts)
    }

    /// Which of the propositions are true now, one bit each.
    pub(crate) fn valuation(&mut self, state: &State) -> u64 {
        if self.forbidden.all.is_empty() {
            return 0;
        }
        self.facts(state, |all, facts| {
            let holds = all.iter().enumerate().map(|(bit, (_, one))| u64::from(one.holds(facts) == Ok(true)) << bit);
            holds.fold(0, |all, one| all | one)
        })
    }

    /// What has become true that must not.
    pub(crate) fn forbidden_failure(&self, before: u64, after: u64) -> Option<Failure> {
        let new = (after & !before).trailing_zeros() as usize;
        let (text, _) = self.forbidden.all.get(new)?;
        Some(Failure { kind: FailureKind::Never, message: format!("`{text}` has become true"), fatal: true })
    }
}

impl View<'_> {
    /// The program that was started to which a process belongs.
    pub(crate) fn service(&self, pid: Pid) -> Pid {
        let parent = |pid: &Pid| self.state.world.kernel.processes.get(pid).map(|process| process.parent);
        let is_started = |pid: &Pid| self.workload.started.iter().any(|(started, _)| started == pid);
        std::iter::successors(Some(pid), parent).take(64).find(is_started).unwrap_or(pid)
    }
}

impl Programs {
    /// A proposition must never be true; `NAME := PROPOSITION` gives it a name.
    ///
    /// # Errors
    /// If it cannot be read, or names what is not there.
    pub fn forbid(&mut self, text: &str) -> Result<(), Problem> {
        let (name, text) = named(text);
        let proposition = Proposition::parse(text)?;
        self.workload.facts(&self.state, |_, facts| proposition.verify(facts))?;
        self.workload.forbidden.reads_output |= proposition.reads_output();
        self.workload.forbidden.all.push((name.to_owned(), proposition));
        Ok(())
    }

    /// A proposition that is true from the start.
    pub fn forbidden_from_the_start(&mut self) -> Option<String> {
        let initial = explore::graph::FootprintSystem::initial(self);
        drop(initial);
        let true_now = self.workload.valuation(&self.state).trailing_zeros() as usize;
        self.workload.forbidden.all.get(true_now).map(|(text, _)| text.clone())
    }

    /// Takes what programs have written since the last step.
    pub(crate) fn take_output(&mut self) {
        self.printed.clear();
        if self.state.world.kernel.output.is_empty() {
            return;
        }
        self.printed = std::mem::take(&mut self.state.world.kernel.output);
        if !self.workload.forbidden.reads_output {
            return;
        }
        for output in &self.printed {
            let stream = if output.stream == Console::Error { Stream::Error } else { Stream::Output };
            let key = (self.view().service(output.pid), stream as u8);
            let mut text = self.state.history.output.get(&key).cloned().unwrap_or_default();
            text.extend_from_slice(&output.bytes);
            self.state.history.output.insert(key, text);
        }
    }
}
