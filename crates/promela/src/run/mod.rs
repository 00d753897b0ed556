//! The meaning of a model: the IR as a transition system.
//!
//! `step.rs` is the entry: all steps of a process from a state. `act.rs` and `eval.rs` are the
//! statements and expressions, `chain.rs`, `d_step.rs` and `rendezvous.rs` what makes several
//! statements one step, `native.rs` the same by compiled code, `transitions.rs` the trait of the
//! engine.

pub mod act;
mod backend;
mod chain;
mod change;
pub mod code;
mod course;
mod coverage;
mod d_step;
mod enabled;
pub mod eval;
mod event;
pub mod explain;
pub mod fail;
mod for_loop;
mod inject;
pub(crate) mod named;
mod native;
mod pending;
mod promise;
mod rendezvous;
mod sound;
pub mod step;
mod system;
mod table;
mod transitions;
pub mod vector;

pub use backend::{Backend, ModelSystem};
pub use code::{Code, Interpreter};
pub use coverage::{Coverage, Marks, marks};
pub use inject::INJECTOR;
pub use system::{Scratch, System};

use crate::ir::Model;
use eval::Env;
use explore::Failure;
use vector::Work;

fn env<'a>(model: &'a Model, work: &'a Work, pid: u32, timeout: bool, failures: &'a mut Vec<Failure>) -> Env<'a> {
    Env { model, work, pid, timeout, ran: 0, depth: 0, failures }
}

/// The priority of a process; 1 in a model without priorities.
fn priority(model: &Model, work: &Work, pid: u32) -> i32 {
    if !model.features.priority {
        return 1;
    }
    i32::from(work.bytes[work.frame(pid) + act::priority_offset(model, work.proctype(pid))])
}

/// Gives a process that exists a new priority.
fn set_priority(model: &Model, work: &mut Work, pid: i32, value: i32) {
    let Ok(pid) = u32::try_from(pid) else { return };
    if model.features.priority && pid < work.processes() {
        let at = work.frame(pid) + act::priority_offset(model, work.proctype(pid));
        work.bytes[at] = value as u8;
    }
}
