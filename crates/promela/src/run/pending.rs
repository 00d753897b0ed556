//! What every process is about to touch, with array indices and channel ids of the state at hand filled in.

use super::code::Code;
use super::eval::Env;
use super::step::{Course, Stepper};
use super::system::{Scratch, System};
use super::vector::Work;
use crate::footprint::access::{Access, What};
use crate::footprint::objects::{Objects, side};
use crate::footprint::{Footprints, Later};
use crate::ir::{Action, Expr, Model};
use explore::{Footprint, Pending};
use std::ops::ControlFlow;

/// Fills `actors` with what the reduction must know; leaves it empty where it should not be tried.
pub fn pending<C: Code>(system: &System<C>, scratch: &mut Scratch, work: &Work, actors: &mut Vec<Pending>) {
    actors.clear();
    let footprints = system.footprints();
    let channels = work.first_channel(&system.model, work.processes());
    if footprints.off || work.processes() < 2 || footprints.objects.folds(channels as u32) {
        return;
    }
    let mut moves = false;
    for pid in 0..work.processes() {
        let mut one = Resolver { model: &system.model, footprints, work, pid }.pending();
        // Whether a process moves matters only where a step of it could be taken alone.
        let started = !one.closes_cycle && can_start(system, scratch, work, pid);
        one.enabled = one.closes_cycle || started;
        moves |= started;
        actors.push(one);
    }
    // Without somebody who can be taken alone there is nothing to reduce.
    if !moves {
        actors.clear();
        return;
    }
    if system.model.features.rendezvous {
        join_partners(&system.model, work, actors);
    }
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

/// A sender moves its partner along: what the partner's step touches and closes counts for the sender.
fn join_partners(model: &Model, work: &Work, actors: &mut [Pending]) {
    let before: Vec<Pending> = actors.to_vec();
    for actor in actors.iter_mut() {
        let offers = offered(model, work, actor.actor);
        for other in before.iter().filter(|other| other.actor != actor.actor) {
            if !offers.is_empty() && awaited(model, work, other.actor).iter().any(|id| offers.contains(id)) {
                actor.next = actor.next.union(other.next);
                actor.closes_cycle |= other.closes_cycle;
            }
        }
    }
}

fn offered(model: &Model, work: &Work, pid: u32) -> Vec<i32> {
    edge_channels(model, work, pid, |action| if let Action::Send(send) = action { Some(&send.channel) } else { None })
}

fn awaited(model: &Model, work: &Work, pid: u32) -> Vec<i32> {
    let channel = |action: &'_ Action| -> Option<Expr> {
        match action {
            Action::Receive(receive) => Some(receive.channel.clone()),
            _ => None,
        }
    };
    let proctype = &model.proctypes[work.proctype(pid)];
    let edges = &proctype.states[work.pc(model, pid)].edges;
    edges
        .iter()
        .filter_map(|edge| match &edge.action {
            Action::DStep { entry, .. } => {
                proctype.states[*entry].edges.first().and_then(|first| channel(&first.action))
            }
            action => channel(action),
        })
        .map(|expr| value(model, work, pid, &expr))
        .collect()
}

fn edge_channels(model: &Model, work: &Work, pid: u32, channel: impl Fn(&Action) -> Option<&Expr>) -> Vec<i32> {
    let edges = &model.proctypes[work.proctype(pid)].states[work.pc(model, pid)].edges;
    let ids = edges.iter().filter_map(|edge| channel(&edge.action)).map(|expr| value(model, work, pid, expr));
    ids.filter(|id| work.channel(model, *id).is_some_and(|(channel, _)| channel.capacity == 0)).collect()
}

fn value(model: &Model, work: &Work, pid: u32, expr: &Expr) -> i32 {
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
    fn pending(&self) -> Pending {
        let state = &self.footprints.states[self.work.proctype(self.pid)][self.work.pc(self.model, self.pid)];
        let rest = self.later(&state.rest).union(state.now_fixed);
        let mut next = state.now.iter().fold(rest, |all, access| all.union(self.now(access)));
        next.writes = next.writes.union(state.visible);
        Pending {
            actor: self.pid,
            enabled: false,
            closes_cycle: state.closes_cycle,
            next,
            future: self.later(&state.future),
        }
    }

    fn later(&self, later: &Later) -> Footprint {
        let pinned = later.pinned.iter().map(|number| self.complete(&self.footprints.pinned[*number], false));
        pinned.fold(later.fixed, Footprint::union)
    }

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
