//! Footprints of the next step and of the future of each process, for persistent sets: computed once for each control state,
//! completed with array indices and channel ids in a given state.
//!
//! An example. Two processes `flag[_pid] = 1; turn = 1 - _pid; ...` (Peterson): the first statement
//! of process 0 writes the object `flag[0]`, known exactly because `_pid` cannot change; that of
//! process 1 writes `flag[1]`. They are independent: one order of the two is explored. `turn` is
//! one object for both, so both orders of these assignments are.

pub mod access;
mod cycles;
pub mod objects;
pub mod stable;

use crate::ir::{Action, Expr, Model, Pc, ProctypeId};
use access::{Access, Collector, What};
use explore::{Bits, Footprint};
use objects::Objects;
use stable::Assigned;
use std::collections::{BTreeMap, BTreeSet};

/// Footprints of all control states of a model.
#[derive(Clone, Debug, Default)]
pub struct Footprints {
    /// Numbers of objects.
    pub objects: Objects,
    /// For each proctype and control state.
    pub states: Vec<Vec<StateFootprint>>,
    /// Accesses that are completed for a given process; [`StateFootprint`] refers to them by number.
    pub pinned: Vec<Access>,
    /// Whether the model uses something under which no reduction is attempted.
    ///
    /// Priorities, `_last` and `enabled()` make every step depend on every other; a `trace` sees
    /// the order of events.
    pub off: bool,
}

/// The footprints of one control state.
///
/// `now` is for the next statement, `rest` for what follows it in the same atomic step, `future`
/// for everything that the process can do from here on, its children included.
#[derive(Clone, Debug, Default)]
pub struct StateFootprint {
    /// The part of the next step's footprint that does not depend on the state.
    pub now_fixed: Footprint,
    /// Further accesses of the next step; completed exactly in a given state.
    pub now: Vec<Access>,
    /// The footprint of the rest of an atomic sequence that starts here.
    pub rest: Later,
    /// The union of the footprints of all future steps.
    pub future: Later,
    /// Visible effects of a step from here.
    pub visible: Bits,
    /// Whether a step from here may close a cycle of control.
    pub closes_cycle: bool,
    /// Whether a step from here is local: independent of all steps of other processes, and it closes no cycle.
    ///
    /// A private step is a persistent set by itself: it is taken at once, and the state in which it
    /// starts is not stored (`explore/src/search/merge.rs`).
    pub private: bool,
}

/// Accesses at some later time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Later {
    /// The part that does not depend on the process.
    pub fixed: Footprint,
    /// The part that does: numbers of [`Footprints::pinned`].
    pub pinned: BTreeSet<usize>,
}

impl Later {
    fn add(&mut self, other: &Self) {
        self.fixed = self.fixed.union(other.fixed);
        self.pinned.extend(&other.pinned);
    }
}

impl Footprints {
    /// Analyses a model.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let features = model.features;
        let off = features.priority || features.last || features.enabled || model.event_trace.is_some();
        let mut builder = Builder {
            model,
            assigned: Assigned::new(model),
            objects: Objects::new(model),
            pinned: Vec::new(),
            numbers: BTreeMap::new(),
        };
        let states = if off { Vec::new() } else { builder.states() };
        Self { objects: builder.objects, states, pinned: builder.pinned, off }
    }

    /// Objects that propositions read: a step that writes one of them is visible.
    ///
    /// C2: a step that changes what a property reads is visible, and never taken alone.
    #[must_use]
    pub fn observed(&self, model: &Model, propositions: &[Expr]) -> Bits {
        let mut collector = Collector::new(model, None);
        propositions.iter().for_each(|proposition| collector.expr(proposition));
        collector.accesses.iter().fold(Bits::EMPTY, |bits, access| {
            let seen = self.objects.visible(access);
            let touched = match &access.what {
                What::Global(place) => self.objects.reach(place),
                What::Channel(Expr::Constant(id), how) => self.objects.channel(*id, 1, *how, None).reads,
                What::Channel(_, how) => self.objects.any_channel(*how).reads,
                What::Everything | What::Stillness => Bits::ALL,
                _ => Bits::EMPTY,
            };
            bits.union(seen).union(touched)
        })
    }
}

struct Builder<'m> {
    model: &'m Model,
    assigned: Assigned,
    objects: Objects,
    pinned: Vec<Access>,
    numbers: BTreeMap<String, usize>,
}

impl Builder<'_> {
    fn states(&mut self) -> Vec<Vec<StateFootprint>> {
        let own: Vec<Vec<Vec<Access>>> =
            (0..self.model.proctypes.len()).map(|proctype| self.accesses(proctype)).collect();
        let later: Vec<Vec<Later>> = own
            .iter()
            .enumerate()
            .map(|(proctype, states)| states.iter().map(|all| self.later(proctype, all)).collect())
            .collect();
        let futures = self.futures(&later);
        let touched = later.iter().flatten().fold(Footprint::NOTHING, |all, later| all.union(self.unpinned(later)));
        (0..own.len())
            .map(|proctype| {
                let mut states = self.proctype(proctype, &own[proctype], &later[proctype], &futures[proctype]);
                self.close_cycles(proctype, &mut states, &touched);
                states.iter_mut().for_each(|state| self.complete_channels(state));
                states
            })
            .collect()
    }

    fn proctype(
        &self,
        proctype: ProctypeId,
        own: &[Vec<Access>],
        later: &[Later],
        futures: &[Later],
    ) -> Vec<StateFootprint> {
        (0..own.len())
            .map(|pc| {
                let inside = self.atomic_rest(proctype, pc);
                let mut rest = Later::default();
                inside.iter().for_each(|pc| rest.add(&later[*pc]));
                let visible = |pc: &Pc| {
                    own[*pc]
                        .iter()
                        .filter(|access| access.write)
                        .fold(Bits::EMPTY, |bits, access| bits.union(self.objects.visible(access)))
                };
                let (now_fixed, now) = self.split(&own[pc]);
                StateFootprint {
                    now_fixed,
                    now,
                    rest,
                    future: futures[pc].clone(),
                    visible: inside.iter().chain([&pc]).map(visible).fold(Bits::EMPTY, Bits::union),
                    closes_cycle: false,
                    private: false,
                }
            })
            .collect()
    }

    /// Decides which control states close cycles and which are local, given the footprint of all steps of all processes.
    fn close_cycles(&self, proctype: ProctypeId, states: &mut [StateFootprint], touched: &Footprint) {
        let meets = |state: &StateFootprint| state.now_fixed.union(state.rest.fixed).conflicts(touched);
        let inside: Vec<BTreeSet<Pc>> = (0..states.len()).map(|pc| self.atomic_rest(proctype, pc)).collect();
        let rests: BTreeSet<Pc> = inside.iter().flatten().copied().collect();
        let cost = |pc: Pc| {
            let state = &states[pc];
            // Inside an atomic sequence it would count for every state that the sequence starts from.
            let depends = !state.now.is_empty() || !state.rest.pinned.is_empty();
            u32::from(rests.contains(&pc)) * 4 + if meets(state) { 0 } else { 2 - u32::from(depends) }
        };
        let closes = self.closing(proctype, cost);
        let declared = &self.model.proctypes[proctype];
        for (pc, state) in states.iter_mut().enumerate() {
            let d_steps = declared.states[pc].edges.iter().flat_map(|edge| d_step_inside(&edge.action));
            state.closes_cycle = closes[pc] || inside[pc].iter().chain(d_steps).any(|pc| closes[*pc]);
            let is_known = state.now.is_empty() && state.rest.pinned.is_empty();
            state.private = is_known && !meets(state) && !state.closes_cycle;
        }
    }

    /// Completes accesses to channels that the model names, so that no search has to in every state. Not before cycles are
    /// closed: where, that depends on which accesses are open.
    fn complete_channels(&self, state: &mut StateFootprint) {
        let StateFootprint { now_fixed, now, rest, future, .. } = state;
        for later in [rest, future] {
            let Later { fixed, pinned } = later;
            pinned.retain(|number| match self.named_channel(&self.pinned[*number]) {
                Some((_, touched)) => {
                    *fixed = fixed.union(touched);
                    false
                }
                None => true,
            });
        }
        // The footprint of a rendezvous does not depend on the length of its channel.
        now.retain(|access| match self.named_channel(access) {
            Some((0, touched)) => {
                *now_fixed = now_fixed.union(touched);
                false
            }
            _ => true,
        });
    }

    /// The capacity of a channel that the model names, and the footprint of an access to it in the future.
    fn named_channel(&self, access: &Access) -> Option<(u32, Footprint)> {
        let What::Channel(Expr::Constant(id), how) = access.what else { return None };
        let capacity = self.model.channels.get(usize::try_from(id.checked_sub(1)?).ok()?)?.capacity;
        Some((capacity, self.objects.channel(id, capacity, how, None)))
    }

    /// The footprint that does not depend on the state, and the accesses that do.
    fn split(&self, accesses: &[Access]) -> (Footprint, Vec<Access>) {
        let (mut fixed, mut open) = (Footprint::NOTHING, Vec::new());
        for access in accesses {
            let depends = matches!(access.what, What::Death | What::Stillness);
            match self.objects.fixed(access).filter(|_| !depends) {
                Some(known) => fixed = fixed.union(known),
                None => open.push(access.clone()),
            }
        }
        (fixed, open)
    }

    /// The accesses of all edges of each control state.
    fn accesses(&self, proctype: ProctypeId) -> Vec<Vec<Access>> {
        let declared = &self.model.proctypes[proctype];
        (0..declared.states.len())
            .map(|pc| {
                let mut collector = Collector::new(self.model, Some(proctype));
                declared.provided.iter().for_each(|provided| collector.expr(provided));
                for edge in &declared.states[pc].edges {
                    collector.edge(&declared.states, pc, edge);
                }
                collector.accesses
            })
            .collect()
    }

    /// Accesses at a later time: what is not stable may be anything within its bounds.
    fn later(&mut self, proctype: ProctypeId, accesses: &[Access]) -> Later {
        let mut later = Later::default();
        for access in accesses {
            if let Some(fixed) = self.objects.fixed(access) {
                later.fixed = later.fixed.union(fixed);
            } else if self.is_stable(proctype, access) {
                later.pinned.insert(self.number(access));
            } else {
                later.fixed = later.fixed.union(self.widest(access));
            }
        }
        later
    }

    fn is_stable(&self, proctype: ProctypeId, access: &Access) -> bool {
        match &access.what {
            What::Global(place) => place.indices.iter().all(|index| self.assigned.stable(proctype, &index.value)),
            What::Channel(channel, _) => self.assigned.stable(proctype, channel),
            _ => false,
        }
    }

    fn widest(&self, access: &Access) -> Footprint {
        match &access.what {
            What::Global(place) => objects::side(self.objects.reach(place), access.write),
            What::Channel(_, how) => self.objects.any_channel(*how),
            _ => Footprint::EVERYTHING,
        }
    }

    fn number(&mut self, access: &Access) -> usize {
        let key = format!("{access:?}");
        *self.numbers.entry(key).or_insert_with(|| {
            self.pinned.push(access.clone());
            self.pinned.len() - 1
        })
    }

    /// The future of every control state: its own accesses, those of its successors, and those of processes it starts.
    fn futures(&self, later: &[Vec<Later>]) -> Vec<Vec<Later>> {
        let mut futures = later.to_vec();
        loop {
            let before = futures.clone();
            for (proctype, declared) in self.model.proctypes.iter().enumerate() {
                for (pc, state) in declared.states.iter().enumerate().rev() {
                    for edge in &state.edges {
                        let mut next = Vec::new();
                        targets(&edge.action, edge.target, &mut next);
                        for target in next.into_iter().filter(|target| *target < declared.states.len()) {
                            let successor = futures[proctype][target].clone();
                            futures[proctype][pc].add(&successor);
                        }
                        for started in self.started(&edge.action) {
                            let entry = self.model.proctypes[started].entry;
                            let unknown = self.unpinned(&futures[started][entry]);
                            futures[proctype][pc].fixed = futures[proctype][pc].fixed.union(unknown);
                        }
                    }
                }
            }
            if futures == before {
                return futures;
            }
        }
    }

    /// A future seen from outside the process, whose parameters are not known yet.
    fn unpinned(&self, later: &Later) -> Footprint {
        later.pinned.iter().fold(later.fixed, |all, number| all.union(self.widest(&self.pinned[*number])))
    }

    fn started(&self, action: &Action) -> Vec<ProctypeId> {
        let expr = match action {
            Action::Condition(expr) => expr,
            Action::Assign(assign) => &assign.value,
            // Which processes a d_step starts is found through its own control states.
            _ => return Vec::new(),
        };
        crate::run::act::find_run(self.model, expr).map(|run| run.proctype).into_iter().collect()
    }

    /// The control states that an atomic sequence passes through after a step from `pc` began.
    fn atomic_rest(&self, proctype: ProctypeId, pc: Pc) -> BTreeSet<Pc> {
        let states = &self.model.proctypes[proctype].states;
        let mut found = BTreeSet::new();
        let mut open = vec![pc];
        while let Some(pc) = open.pop() {
            for edge in states[pc].edges.iter().filter(|edge| edge.atomic) {
                let mut next = Vec::new();
                targets(&edge.action, edge.target, &mut next);
                for target in next {
                    if target < states.len() && found.insert(target) {
                        open.push(target);
                    }
                }
            }
        }
        found
    }

    /// Control states that close cycles: every cycle of a process leads through one of them. Better those that are never
    /// left alone anyway, so `cost` says how much would be lost.
    fn closing(&self, proctype: ProctypeId, cost: impl Fn(Pc) -> u32) -> Vec<bool> {
        let passed = self.passed(proctype);
        // What goes round inside a d_step is over within one step.
        let successors: Vec<Vec<Pc>> = (0..passed.len())
            .map(|pc| if passed[pc] { Vec::new() } else { self.successors(proctype, pc, &passed) })
            .collect();
        cycles::cut(&successors, cost)
    }

    /// Control states in which a process never rests, since they are inside a d_step. None if an edge from outside leads into
    /// one.
    fn passed(&self, proctype: ProctypeId) -> Vec<bool> {
        let declared = &self.model.proctypes[proctype];
        let mut passed = vec![false; declared.states.len()];
        for edge in declared.states.iter().flat_map(|state| &state.edges) {
            d_step_inside(&edge.action).iter().for_each(|pc| passed[*pc] = true);
        }
        let outside = declared.states.iter().zip(&passed).filter(|(_, passed)| !**passed);
        let ends = outside.flat_map(|(state, _)| &state.edges).map(|edge| edge.target);
        if ends.chain([declared.entry]).any(|pc| passed.get(pc) == Some(&true)) {
            passed.fill(false);
        }
        passed
    }

    /// Where a process may rest after an edge of `pc`; `passed` are the control states inside a d_step.
    fn successors(&self, proctype: ProctypeId, pc: Pc, passed: &[bool]) -> Vec<Pc> {
        let states = &self.model.proctypes[proctype].states;
        let mut next = Vec::new();
        for edge in &states[pc].edges {
            targets(&edge.action, edge.target, &mut next);
            let edges = d_step_inside(&edge.action).iter().flat_map(|pc| &states[*pc].edges);
            edges.for_each(|edge| targets(&edge.action, edge.target, &mut next));
        }
        next.retain(|target| *target < states.len() && !passed[*target]);
        next
    }
}

/// The control states inside a `d_step`.
fn d_step_inside(action: &Action) -> &[Pc] {
    if let Action::DStep { inside, .. } = action { inside } else { &[] }
}

/// Where an edge may lead. A `d_step` is passed through its own control states, whose edges lead on.
fn targets(action: &Action, target: Pc, next: &mut Vec<Pc>) {
    match action {
        Action::Die => {}
        Action::DStep { entry, inside } => {
            next.push(*entry);
            next.extend(inside);
            next.push(target);
        }
        _ => next.push(target),
    }
}
