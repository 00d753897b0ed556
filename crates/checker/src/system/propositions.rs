//! Propositions of the workload, evaluated in every state.

use crate::footprint::access::{self, Kind};
use crate::system::state::State;
use crate::system::view::View;
use crate::system::workload::Workload;
use explore::graph::Access;
use explore::system::Failure;
use kernel::Pid;
use proposition::{Proposition, Stream, WorldFacts};
use trace::FailureKind;

impl Workload {
    pub(crate) fn facts<R>(
        &mut self,
        state: &State,
        then: impl FnOnce(&[(String, Proposition)], &mut WorldFacts<'_>) -> R,
    ) -> R {
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

    /// The failure of an end at which a proposition does not hold that must hold there.
    pub(crate) fn unmet(&mut self, state: &State) -> Option<Failure> {
        let demanded = self.forbidden.demanded.clone();
        let fails = |(_, one): &&(String, Proposition)| self.facts(state, |_, facts| one.holds(facts) != Ok(true));
        let (name, _) = demanded.iter().find(fails)?;
        let message = format!("`{name}` does not hold at the end");
        Some(Failure { kind: FailureKind::Never, message, fatal: true, property: Some(name.clone()) })
    }

    /// Which propositions hold in a state, one bit each.
    pub(crate) fn valuation(&mut self, state: &State) -> u64 {
        if self.forbidden.all.is_empty() {
            return 0;
        }
        self.facts(state, |all, facts| {
            let holds = all.iter().enumerate().map(|(bit, (_, one))| u64::from(one.holds(facts) == Ok(true)) << bit);
            holds.fold(0, |all, one| all | one)
        })
    }

    /// What propositions depend on, as a fingerprint.
    pub(crate) fn support(&mut self, state: &State) -> u64 {
        if self.forbidden.is_empty() {
            return 0;
        }
        let mix = |all: u64, one: u64| all.rotate_left(7) ^ one;
        self.facts(state, |all, facts| all.iter().map(|(_, one)| one.support(facts)).fold(0, mix))
    }

    /// Whether a step with these accesses may change what propositions depend on, in some order with independent steps: it
    /// does so here, or it changes one of several things that they put together.
    pub(crate) fn is_observed(&self, accesses: &[Access], has_changed: bool) -> bool {
        let is_file = |access: &Access| {
            access::changes(access) && matches!(access::kind(access.object), Kind::Names | Kind::Inode)
        };
        let may_change = |one: &Proposition| one.depends_on_all() || one.reads_files() && accesses.iter().any(is_file);
        has_changed || self.forbidden.all.iter().any(|(_, one)| may_change(one))
    }

    /// The failure of a step that makes forbidden propositions true, one bit each: the first of them. The program goes on behind
    /// it, and so does the search: what comes later may fail as well.
    pub(crate) fn forbidden_failure(&self, new: u64) -> Option<Failure> {
        let (text, _) = self.forbidden.forbidden().get(new.trailing_zeros() as usize)?;
        Some(Failure {
            kind: FailureKind::Never,
            message: format!("`{text}` became true"),
            fatal: false,
            property: Some(text.clone()),
        })
    }
}

impl View<'_> {
    /// The started program that a process is, or descends from.
    pub(crate) fn service(&self, pid: Pid) -> Pid {
        self.workload.root(&self.state.world.kernel, pid)
    }
}
