//! What every process is about to touch, with array indices and channel ids of the state at hand filled in.
//!
//! Connects `footprint/` (once for each control state) with a concrete state: an access `a[i]`
//! becomes one object if `i` has a value now. `next` is completed exactly, `future` only where
//! indices cannot change any more (decision 1). Both are over-approximations: an access too many
//! costs a reduction, one too few would lose interleavings.

use super::code::Code;
use super::eval::Env;
use super::step::{Course, Stepper};
use super::system::{Scratch, System};
use super::vector::Work;
use crate::footprint::access::{Access, What};
use crate::footprint::objects::{Objects, side};
use crate::footprint::{Footprints, Later};
use crate::ir::{Action, Expr, Model};
use explore::{Bits, Footprint, Pending};
use std::ops::ControlFlow;

/// Fills `actors` with what the reduction must know; leaves it empty where it should not be tried.
///
/// Empty means "expand everybody", which is always right. The cheap questions come first: most
/// states have nobody who could be taken alone.
pub fn pending<C: Code>(system: &System<C>, scratch: &mut Scratch, work: &Work, actors: &mut Vec<Pending>) {
    actors.clear();
    let footprints = system.footprints();
    let channels = work.first_channel(&system.model, work.processes());
    if footprints.off || work.processes() < 2 || footprints.objects.folds(channels as u32) {
        return;
    }
    let mut moves = false;
    for pid in 0..work.processes() {
        let closes_cycle = footprints.states[work.proctype(pid)][work.pc(&system.model, pid)].closes_cycle;
        // Whether a process moves matters only where a step of it could be taken alone.
        let started = !closes_cycle && can_start(system, scratch, work, pid);
        let (enabled, next, future) = (closes_cycle || started, Footprint::NOTHING, Footprint::NOTHING);
        actors.push(Pending { actor: pid, enabled, closes_cycle, next, future });
        moves |= started;
    }
    // Without somebody who can be taken alone there is nothing to reduce, and footprints take long to find.
    if !moves {
        actors.clear();
        return;
    }
    for actor in actors.iter_mut() {
        Resolver { model: &system.model, footprints, work, pid: actor.actor }.fill_in(actor);
    }
    if system.model.features.rendezvous {
        join_partners(&system.model, work, &mut scratch.buffers.pending, actors);
    }
}

/// The first of some processes that goes on by itself.
pub fn private<C: Code>(system: &System<C>, work: &Work, moved: Bits) -> Option<u32> {
    let states = &system.footprints().states;
    let is_private = |pid: &u32| states[work.proctype(*pid)][work.pc(&system.model, *pid)].private;
    moved.iter().take_while(|pid| *pid < work.processes()).find(is_private)
}

/// Whether a process has an executable statement.
fn can_start<C: Code>(system: &System<C>, scratch: &mut Scratch, work: &Work, pid: u32) -> bool {
    let Scratch { next, buffers, .. } = scratch;
    let mut stepper = Stepper { system, scratch: buffers, timeout: false, tell: false };
    let course = Course { holder: pid, ..Course::default() };
    let depth = stepper.scratch.chain.len();
    let flow = stepper.statements(work, &course, next, &mut |_| ControlFlow::Break(()));
    let started = flow != ControlFlow::Continue(false);
    stepper.scratch.chain.truncate(depth);
    stepper.scratch.failures.clear();
    started
}

/// A sender moves its partner along: what the partner's step touches and closes counts for the sender. `before` is a
/// buffer.
///
/// The step of a sender is a step of two processes; both footprints count, and it closes a cycle if
/// either does.
fn join_partners(model: &Model, work: &Work, before: &mut Vec<Pending>, actors: &mut [Pending]) {
    if !actors.iter().any(|actor| offers(model, work, actor.actor).next().is_some()) {
        return;
    }
    before.clear();
    before.extend_from_slice(actors);
    for actor in actors.iter_mut() {
        for id in offers(model, work, actor.actor) {
            let takes = |other: &&Pending| other.actor != actor.actor && awaits(model, work, other.actor, id);
            for other in before.iter().filter(takes) {
                actor.next = actor.next.union(other.next);
                actor.closes_cycle |= other.closes_cycle;
            }
        }
    }
}

/// The rendezvous channels on which a process would send now.
fn offers<'a>(model: &'a Model, work: &'a Work, pid: u32) -> impl Iterator<Item = i32> + 'a {
    let edges = &model.proctypes[work.proctype(pid)].states[work.pc(model, pid)].edges;
    let ids = edges.iter().filter_map(move |edge| match &edge.action {
        Action::Send(send) => Some(value(model, work, pid, &send.channel)),
        _ => None,
    });
    ids.filter(|id| work.channel(model, *id).is_some_and(|(channel, _)| channel.capacity == 0))
}

/// Whether a process would receive from this channel now.
fn awaits(model: &Model, work: &Work, pid: u32, id: i32) -> bool {
    let proctype = &model.proctypes[work.proctype(pid)];
    let receives = |action: &Action| match action {
        Action::Receive(receive) => value(model, work, pid, &receive.channel) == id,
        _ => false,
    };
    proctype.states[work.pc(model, pid)].edges.iter().any(|edge| match &edge.action {
        Action::DStep { entry, .. } => {
            proctype.states[*entry].edges.first().is_some_and(|first| receives(&first.action))
        }
        action => receives(action),
    })
}

fn value(model: &Model, work: &Work, pid: u32, expr: &Expr) -> i32 {
    // Most channels are named.
    if let Expr::Constant(id) = expr {
        return *id;
    }
    Env { model, work, pid, timeout: false, ran: 0, depth: 0, failures: &mut Vec::new() }.eval(expr)
}

/// Completes the accesses of one process.
struct Resolver<'a> {
    model: &'a Model,
    footprints: &'a Footprints,
    work: &'a Work,
    pid: u32,
}

impl Resolver<'_> {
    fn fill_in(&self, actor: &mut Pending) {
        let state = &self.footprints.states[self.work.proctype(self.pid)][self.work.pc(self.model, self.pid)];
        let rest = self.later(&state.rest).union(state.now_fixed);
        let mut next = state.now.iter().fold(rest, |all, access| all.union(self.now(access)));
        next.writes = next.writes.union(state.visible);
        (actor.next, actor.future) = (next, self.later(&state.future));
    }

    fn later(&self, later: &Later) -> Footprint {
        let pinned = later.pinned.iter().map(|number| self.complete(&self.footprints.pinned[*number], false));
        pinned.fold(later.fixed, Footprint::union)
    }

    /// `timeout` is true exactly when nobody moves, so a step that asks for it depends on
    /// everything.
    fn now(&self, access: &Access) -> Footprint {
        match access.what {
            What::Stillness => Footprint::EVERYTHING,
            What::Death => Objects::death_now(self.pid + 1 == self.work.processes()),
            _ => self.footprints.objects.fixed(access).unwrap_or_else(|| self.complete(access, true)),
        }
    }

    fn complete(&self, access: &Access, now: bool) -> Footprint {
        let objects = &self.footprints.objects;
        match &access.what {
            What::Global(place) => {
                let mut failures = Vec::new();
                let at = Env {
                    model: self.model,
                    work: self.work,
                    pid: self.pid,
                    timeout: false,
                    ran: 0,
                    depth: 0,
                    failures: &mut failures,
                }
                .locate(place);
                at.map_or(Footprint::EVERYTHING, |at| side(objects.at(at), access.write))
            }
            What::Channel(channel, how) => {
                let id = value(self.model, self.work, self.pid, channel);
                match self.work.channel(self.model, id) {
                    Some((channel, at)) => {
                        let length = if channel.capacity == 0 { 0 } else { u32::from(self.work.bytes[at]) };
                        objects.channel(id, channel.capacity, *how, now.then_some(length))
                    }
                    None => Footprint::EVERYTHING,
                }
            }
            _ => Footprint::EVERYTHING,
        }
    }
}
