//! Whether a process could move: for `enabled()`, priorities and fairness.

use super::act::{Act, Outcome};
use super::eval::Env;
use super::vector::Work;
use crate::ir::{Action, Edge, Model, Receive};

impl Env<'_> {
    /// `enabled(pid)`: whether a process exists and has an executable statement.
    pub(super) fn enabled(&mut self, pid: i32) -> bool {
        // A guard that asks whether its own process is enabled has no answer; SPIN refuses it, and so do we.
        if self.depth > 0 {
            self.failures.push(super::fail::circular_enabled());
            return false;
        }
        let exists = |pid: &u32| *pid < self.work.processes();
        u32::try_from(pid).ok().filter(exists).is_some_and(|pid| can_move(self.model, self.work, pid, self.timeout, 1))
    }
}

/// Whether a process exists that has a higher priority and could move instead.
///
/// SPIN 6: only processes of the highest priority among those that can move are scheduled.
/// Evaluated without priorities, or it would be circular.
pub fn has_highest_priority(model: &Model, work: &Work, pid: u32) -> bool {
    let own = super::priority(model, work, pid);
    !(0..work.processes()).any(|other| {
        other != pid && super::priority(model, work, other) > own && can_move(model, work, other, false, 0)
    })
}

/// Whether a process has an executable statement, priorities left aside.
///
/// By trying every statement on a copy: slow, and used only where a model asks (`enabled()`,
/// priorities, `timeout` of a selection) or where a stuck state is explained.
pub fn can_move(model: &Model, work: &Work, pid: u32, timeout: bool, depth: u32) -> bool {
    let proctype = &model.proctypes[work.proctype(pid)];
    let (mut failures, mut message) = (Vec::new(), Vec::new());
    let mut act = Act { model, timeout, depth, failures: &mut failures, message: &mut message };
    let edges = &proctype.states[work.pc(model, pid)].edges;
    is_provided(&mut act, work, pid) && edges.iter().any(|edge| executable(&mut act, work, pid, edge))
}

/// Whether the `provided` clause of a process lets it run.
fn is_provided(act: &mut Act<'_>, work: &Work, pid: u32) -> bool {
    let provided = &act.model.proctypes[work.proctype(pid)].provided;
    provided.as_ref().is_none_or(|provided| super::env(act.model, work, pid, act.timeout, act.failures).truth(provided))
}

/// Whether a statement of a process could be executed.
pub(super) fn executable(act: &mut Act<'_>, work: &Work, pid: u32, edge: &Edge) -> bool {
    match &edge.action {
        // If no sibling is executable, `else` is.
        Action::Else => true,
        Action::Die => pid + 1 == work.processes(),
        Action::DStep { entry, .. } => {
            let model = act.model;
            model.proctypes[work.proctype(pid)].states[*entry].edges.iter().any(|edge| executable(act, work, pid, edge))
        }
        action => match act.execute(&mut work.clone(), pid, action) {
            Outcome::Blocked => false,
            Outcome::Done => true,
            Outcome::Offer(id) => (0..work.processes())
                .any(|other| other != pid && is_provided(act, work, other) && takes(act, work, other, id)),
        },
    }
}

fn takes(act: &mut Act<'_>, work: &Work, pid: u32, id: i32) -> bool {
    let model = act.model;
    let proctype = &model.proctypes[work.proctype(pid)];
    let accepts = |act: &mut Act<'_>, receive: &Receive| act.accepts(work, pid, receive, id);
    proctype.states[work.pc(model, pid)].edges.iter().any(|edge| match &edge.action {
        Action::Receive(receive) => accepts(act, receive),
        Action::DStep { entry, .. } => proctype.states[*entry]
            .edges
            .first()
            .is_some_and(|first| matches!(&first.action, Action::Receive(receive) if accepts(act, receive))),
        _ => false,
    })
}
