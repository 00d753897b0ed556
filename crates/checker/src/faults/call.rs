//! Faults of syscalls: a call fails, transfers less than it could, or sends a datagram that does not simply arrive.
//!
//! They are further alternatives of the thread that is about to make the call. A step ends before each call to which a
//! fault may ever happen, be the budget spent or not: where steps end does not depend on what has happened.

use super::descriptor_kind::DescriptorKind;
use super::path_pattern::PathPattern;
use super::placed::{PlacedFault, budget_object, permanent_object};
use super::plan::Effect;
use crate::footprint::access;
use crate::system::startup::SYSCALL;
use crate::system::step::Step;
use crate::system::stepper::Stepper;
use crate::system::view::View;
use explore::graph::Access;
use kernel::call::Deviation;
use kernel::errno::{ECONNREFUSED, Errno};
use kernel::net::connect::asks_for_tcp;
use kernel::net::datagram_fault::DatagramFault;
use kernel::{Tid, datagram, short_transfer, signal, table};

/// A fault of a syscall that may happen in a state: its number in the plan, and how many bytes are transferred at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CallFault {
    pub fault: u16,
    pub effect: Effect,
    pub most: Option<u64>,
}

impl CallFault {
    /// How the call deviates.
    pub fn deviation(self) -> Deviation {
        match self.effect {
            Effect::Error { errno, .. } => Deviation { error: Some(errno), ..Deviation::default() },
            Effect::Refuse => Deviation { error: Some(ECONNREFUSED), ..Deviation::default() },
            Effect::Datagram(fault) => Deviation { datagram: Some(fault), ..Deviation::default() },
            _ => Deviation { most: self.most, ..Deviation::default() },
        }
    }

    /// What it writes: the budget, and for a permanent one that it has happened. A datagram that is delayed may arrive at any
    /// time.
    pub fn accesses(self) -> Vec<Access> {
        if self.effect == Effect::Datagram(DatagramFault::Delay) {
            return access::everything();
        }
        let permanent =
            matches!(self.effect, Effect::Error { is_permanent: true, .. }).then(|| permanent_object(self.fault));
        let write = |object| Access { object, write: true, plain: false };
        std::iter::once(budget_object()).chain(permanent).map(write).collect()
    }
}

impl<'a> View<'a> {
    /// The syscall that a thread is about to make, or waits in; and whether it waits. None within functions of the library
    /// that are one step, unless it is the only thread: there `exit(3)` writes what was not written yet. And none before the
    /// program's own code.
    fn call_to_fail(self, tid: Tid) -> Option<((u64, [u64; 6]), bool)> {
        let thread = self.state.world.kernel.threads.get(&tid)?;
        let is_within = self.state.is_quiet(tid) && !self.state.shares_nothing(self.state.world.space(tid));
        if is_within || self.state.starts(tid) {
            return None;
        }
        match (&thread.wait, thread.call) {
            (Some(_), Some(call)) => Some((call, true)),
            (Some(_), None) => None,
            (None, _) => self.state.call_at(tid).map(|call| (call, false)),
        }
    }

    /// Faults of the plan that are about a syscall of a thread.
    fn faults_of(self, tid: Tid, number: u64) -> impl Iterator<Item = (u16, &'a PlacedFault)> {
        let kernel = &self.state.world.kernel;
        let faults = self.workload.faults.all.iter().enumerate();
        let program = move || kernel.threads.get(&tid).map(|thread| self.workload.root(kernel, thread.pid));
        let is_about = move |fault: &PlacedFault| fault.effect.call() == Some(number) && fault.is_of(program());
        faults.filter(move |(_, fault)| is_about(fault)).map(|(index, fault)| (index as u16, fault))
    }

    /// The same where the call is on a file and a kind of descriptor that the fault is about.
    fn faults_on(self, tid: Tid, call: (u64, [u64; 6])) -> impl Iterator<Item = (u16, &'a PlacedFault)> {
        let is_at =
            move |pattern: &PathPattern| self.asked(tid, call).file_paths().iter().any(|path| pattern.matches(path));
        let is_on = move |kind: DescriptorKind| {
            self.asked(tid, call).open_files().any(|open| DescriptorKind::of(&open.file) == Some(kind))
        };
        let is_meant = move |fault: &PlacedFault| fault.path.as_ref().is_none_or(is_at) && fault.on.is_none_or(is_on);
        self.faults_of(tid, call.0).filter(move |(_, fault)| is_meant(fault))
    }

    /// Faults of the plan that are about the datagram that a syscall of a thread sends.
    fn datagram_faults(
        self,
        tid: Tid,
        (number, args): (u64, [u64; 6]),
    ) -> impl Iterator<Item = (u16, &'a PlacedFault)> {
        let kernel = &self.state.world.kernel;
        let program = move || kernel.threads.get(&tid).map(|thread| self.workload.root(kernel, thread.pid));
        let is_sent = datagram::is_sent(kernel, tid, number, &args);
        let faults = self.workload.faults.all.iter().enumerate().filter(move |_| is_sent);
        let is_about = move |fault: &PlacedFault| matches!(fault.effect, Effect::Datagram(_)) && fault.is_of(program());
        faults.filter(move |(_, fault)| is_about(fault)).map(|(index, fault)| (index as u16, fault))
    }

    /// Whether a fault may ever happen to the syscall that a thread is about to make.
    pub(crate) fn may_ever_fail(self, tid: Tid) -> bool {
        let has_faults = |((number, args), _): ((u64, [u64; 6]), bool)| {
            self.faults_of(tid, number).chain(self.datagram_faults(tid, (number, args))).next().is_some()
        };
        let may_fail = || self.call_to_fail(tid).is_some_and(has_faults);
        // Power may fail between any two calls that others can notice.
        let is_noticed = |((number, _), _): ((u64, [u64; 6]), bool)| !table::footprint(number).is_local();
        let may_crash = || self.workload.faults.disk().is_some() && self.call_to_fail(tid).is_some_and(is_noticed);
        !self.workload.faults.all.is_empty() && (may_crash() || may_fail())
    }

    /// Faults that may happen to the next syscall of a thread.
    pub(crate) fn call_faults(self, tid: Tid) -> Vec<CallFault> {
        let kernel = &self.state.world.kernel;
        let (faults, history) = (&self.workload.faults, &self.state.history);
        if faults.is_spent(history) || faults.are_deferred(history) || signal::is_deliverable(kernel, tid) {
            return Vec::new();
        }
        let Some((call, waits)) = self.call_to_fail(tid) else { return Vec::new() };
        let faults = self.faults_on(tid, call);
        let faults = faults.filter(|(index, _)| !self.state.history.has_permanent(*index, self.workload));
        let faults = faults.chain(self.datagram_faults(tid, call));
        let faults = faults.filter(|(index, _)| self.workload.faults.may_happen(*index, &self.state.history));
        faults.flat_map(|(fault, placed)| self.ways(tid, (fault, placed.effect), call, waits)).collect()
    }

    /// In which ways a fault may happen to a call.
    fn ways(
        self,
        tid: Tid,
        (fault, effect): (u16, Effect),
        (number, args): (u64, [u64; 6]),
        waits: bool,
    ) -> Vec<CallFault> {
        let kernel = &self.state.world.kernel;
        match effect {
            Effect::Error { .. } | Effect::Datagram(_) | Effect::Refuse if waits => Vec::new(),
            Effect::Refuse if !asks_for_tcp(kernel, tid, number, &args) => Vec::new(),
            Effect::Error { .. } | Effect::Datagram(_) | Effect::Refuse => {
                vec![CallFault { fault, effect, most: None }]
            }
            Effect::Short { .. } => {
                let written =
                    short_transfer::amounts_written(kernel, tid, number, &args).into_iter().filter(|_| !waits);
                let read = short_transfer::amounts_read(kernel, tid, number, &args);
                read.into_iter().chain(written).map(|most| CallFault { fault, effect, most: Some(most) }).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The error of a permanent fault that has happened.
    fn permanent_error(self, tid: Tid, call: (u64, [u64; 6])) -> Option<Errno> {
        let happened = |(index, _): &(u16, &PlacedFault)| self.state.history.faults.contains(index);
        self.faults_on(tid, call).filter(happened).find_map(|(_, fault)| fault.permanent_error())
    }
}

impl Stepper<'_> {
    /// Whether a step ends before a syscall inside of library code: a fault may happen to it, and it is not what the step began
    /// with. Then the call is not made yet.
    pub(crate) fn stops_before(&mut self, step: &Step) -> bool {
        let behind = self.state.world.cpus[&step.tid].rip;
        let is_first = step.parts == 0 && step.began_at + SYSCALL == behind;
        if self.workload.faults.all.is_empty() || is_first {
            return false;
        }
        self.state.go_back_before_syscall(step.tid);
        let stops = self.view().may_ever_fail(step.tid);
        if !stops {
            self.state.world.cpus.get_mut(&step.tid).expect("it runs").rip = behind;
        }
        stops
    }

    /// How the syscall that a step makes deviates: as the alternative says, or because of a permanent fault.
    pub(crate) fn deviation(&mut self, step: &mut Step, call: (u64, [u64; 6])) -> Deviation {
        let chosen = step.alternative.take_deviation();
        if chosen != Deviation::default() || self.workload.faults.all.is_empty() || self.state.starts(step.tid) {
            return chosen;
        }
        let view = self.view();
        let permanent = view.faults_of(step.tid, call.0).filter(|(_, fault)| fault.permanent_error().is_some());
        let reads: Vec<Access> = permanent
            .map(|(index, _)| Access { object: permanent_object(index), write: false, plain: false })
            .collect();
        let error = view.permanent_error(step.tid, call);
        step.accesses.extend(reads);
        self.listener.fault = error.map(|_| String::new());
        Deviation { error, ..chosen }
    }
}
