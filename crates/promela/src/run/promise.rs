//! `xr` and `xs`: promises that only one process receives from, or sends to, a channel.
//!
//! The reduction does not rely on them; they are checked because SPIN checks them and models state them.

use super::eval::Env;
use super::fail;
use super::vector::Work;
use crate::ir::{Expr, Model};
use explore::Failure;

/// Notes a send by `pid` on a channel that another process has promised to itself.
pub fn check_send(model: &Model, work: &Work, pid: u32, id: i32, failures: &mut Vec<Failure>) {
    if model.proctypes.iter().any(|proctype| !proctype.exclusive_send.is_empty()) {
        check(model, work, pid, id, "xs", failures);
    }
}

/// Notes a receive or a look by `pid` on a channel that another process has promised to itself.
pub fn check_receive(model: &Model, work: &Work, pid: u32, id: i32, failures: &mut Vec<Failure>) {
    if model.proctypes.iter().any(|proctype| !proctype.exclusive_receive.is_empty()) {
        check(model, work, pid, id, "xr", failures);
    }
}

fn check(model: &Model, work: &Work, pid: u32, id: i32, word: &'static str, failures: &mut Vec<Failure>) {
    let owner = (0..work.processes()).find(|owner| {
        *owner != pid
            && promised(model, work, *owner, word).iter().any(|channel| value(model, work, *owner, channel) == id)
    });
    if let (Some(owner), Some((channel, _))) = (owner, work.channel(model, id)) {
        failures.push(fail::promise(word, &channel.name, owner));
    }
}

fn promised<'m>(model: &'m Model, work: &Work, owner: u32, word: &str) -> &'m [Expr] {
    let proctype = &model.proctypes[work.proctype(owner)];
    if word == "xs" { &proctype.exclusive_send } else { &proctype.exclusive_receive }
}

fn value(model: &Model, work: &Work, pid: u32, channel: &Expr) -> i32 {
    Env { model, work, pid, timeout: false, ran: 0, depth: 0, failures: &mut Vec::new() }.eval(channel)
}
