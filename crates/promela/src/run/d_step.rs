//! `d_step`: a sequence that is one statement, with one way through it.
//!
//! Compared with `atomic`: no nondeterminism is kept (the first executable option is taken, as
//! SPIN's manual says), no state in between exists for anybody, and blocking anywhere but at the
//! first statement is an error. So it can be executed in place, without branches to follow.

use super::act::Outcome;
use super::code::Code;
use super::fail;
use super::step::{Micro, Stepper};
use super::table::Kind;
use super::vector::Work;
use crate::ir::{Action, Edge, Pc};

/// Statements in a `d_step` after which it is called endless.
const STATEMENTS_MAX: usize = 1_000_000;

impl<C: Code> Stepper<'_, C> {
    /// Runs a `d_step` in place. It is executable if its first statement is; blocking later is an error.
    pub(super) fn d_step(&mut self, from: &Work, work: &mut Work, pid: u32, edge: &Edge) -> Outcome {
        let Action::DStep { entry, inside } = &edge.action else { unreachable!("the caller has looked") };
        match self.first_statement(work, pid, *entry) {
            None => Outcome::Blocked,
            Some(pc) if self.run_on(work, pid, pc, inside) => Outcome::Done,
            Some(_) => {
                work.copy_from(from);
                Outcome::Blocked
            }
        }
    }

    /// Goes on after the first statement, a rendezvous receive, was executed by the sender's offer.
    pub(super) fn d_step_rest(&mut self, work: &mut Work, pid: u32, entry: Pc, inside: &[Pc]) {
        let proctype = work.proctype(pid);
        self.system.coverage.reach(self.system.table.number(proctype, entry));
        let second = self.system.model.proctypes[proctype].states[entry].edges[0].target;
        self.run_on(work, pid, second, inside);
    }

    /// Runs until the sequence is left; `false` if it cannot go on.
    ///
    /// `inside` tells where the sequence ends: a jump out of it is a normal end, and may lead to
    /// any control state.
    fn run_on(&mut self, work: &mut Work, pid: u32, mut pc: Pc, inside: &[Pc]) -> bool {
        for _ in 0..STATEMENTS_MAX {
            if !inside.contains(&pc) {
                work.set_pc(&self.system.model, pid, pc);
                return true;
            }
            match self.first_statement(work, pid, pc) {
                Some(next) => pc = next,
                None => {
                    self.scratch.failures.push(fail::d_step_blocks());
                    return false;
                }
            }
        }
        self.scratch.failures.push(fail::endless("a d_step", STATEMENTS_MAX));
        false
    }

    /// Executes the first executable edge of a control state; where it leads.
    fn first_statement(&mut self, work: &mut Work, pid: u32, pc: Pc) -> Option<Pc> {
        let system = self.system;
        let spot = system.table.state(work, pid, pc);
        for number in spot.edges() {
            let row = system.table.row(number);
            let outcome = match row.kind {
                Kind::Else => Outcome::Done,
                Kind::DStep | Kind::Die => Outcome::Blocked,
                Kind::Look | Kind::Change => self.execute(work, pid, &spot, number),
            };
            match outcome {
                Outcome::Blocked => {}
                Outcome::Done => {
                    system.coverage.reach(number);
                    self.tell_inside(work, pid, spot.at(number));
                    return Some(row.target as usize);
                }
                Outcome::Offer(_) => {
                    self.scratch.failures.push(fail::d_step_rendezvous());
                    return None;
                }
            }
        }
        None
    }

    fn tell_inside(&mut self, work: &Work, pid: u32, (proctype, pc, edge): (usize, Pc, usize)) {
        if !self.tell {
            return;
        }
        let action = &self.system.model.proctypes[proctype].states[pc].edges[edge].action;
        let carries = matches!(action, Action::Send(_) | Action::Receive(_));
        let message = carries.then(|| self.scratch.message.clone());
        let micro = Micro { pid, at: (proctype, pc, edge), message, partner: None, after: work.clone() };
        self.scratch.inside.push(micro);
    }
}
