//! `xr` and `xs`: promises that only one process receives from, or sends to, a channel.
//!
//! The reduction does not rely on them; they are checked because SPIN checks them and models state them.

use super::eval::Env;
use super::fail;
use super::vector::Work;
use crate::ir::{ChannelQuery, Expr, Model};
use explore::Failure;

/// Notes a send by `pid` on a channel that another process has promised to itself.
pub fn check_send(model: &Model, work: &Work, pid: u32, id: i32, failures: &mut Vec<Failure>) {
    if model.proctypes.iter().any(|proctype| !proctype.exclusive_send.is_empty()) {
        check(model, work, pid, id, "xs", failures);
    }
}

impl Env<'_> {
    /// Notes a query of a channel that another process has promised to itself. `nfull` is true until somebody sends,
    /// `nempty` until somebody receives, so each is free for whoever holds just that promise; the others depend on both.
    pub(super) fn check_query(&mut self, id: i32, query: ChannelQuery) {
        match query {
            ChannelQuery::NotFull => check_send(self.model, self.work, self.pid, id, self.failures),
            ChannelQuery::NotEmpty => check_receive(self.model, self.work, self.pid, id, self.failures),
            ChannelQuery::Length | ChannelQuery::Full | ChannelQuery::Empty => self.check_look(id),
        }
    }

    /// Notes a look at what is in a channel that another process has promised to itself in either direction.
    pub(super) fn check_look(&mut self, id: i32) {
        check_send(self.model, self.work, self.pid, id, self.failures);
        check_receive(self.model, self.work, self.pid, id, self.failures);
    }
}

/// Notes a receive by `pid` from a channel that another process has promised to itself.
pub fn check_receive(model: &Model, work: &Work, pid: u32, id: i32, failures: &mut Vec<Failure>) {
    if model.proctypes.iter().any(|proctype| !proctype.exclusive_receive.is_empty()) {
        check(model, work, pid, id, "xr", failures);
    }
}

/// A promise is that of a *process*, not of a proctype: two processes of the type that promises
/// break it, if both use the channel.
fn check(model: &Model, work: &Work, pid: u32, id: i32, word: &'static str, failures: &mut Vec<Failure>) {
    let Some((channel, _)) = work.channel(model, id) else { return };
    let rendezvous = channel.capacity == 0;
    let owner = (0..work.processes()).find(|owner| {
        (*owner != pid || rendezvous)
            && promised(model, work, *owner, word).iter().any(|channel| value(model, work, *owner, channel) == id)
    });
    failures.extend(owner.map(|owner| match rendezvous {
        true => fail::promise_rendezvous(word, &channel.name),
        false => fail::promise(word, &channel.name, owner),
    }));
}

fn promised<'m>(model: &'m Model, work: &Work, owner: u32, word: &str) -> &'m [Expr] {
    let proctype = &model.proctypes[work.proctype(owner)];
    if word == "xs" { &proctype.exclusive_send } else { &proctype.exclusive_receive }
}

fn value(model: &Model, work: &Work, pid: u32, channel: &Expr) -> i32 {
    Env { model, work, pid, timeout: false, ran: 0, depth: 0, failures: &mut Vec::new() }.eval(channel)
}
