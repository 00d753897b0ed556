//! Services at the end of a run: which may stay where they wait, and when a run with them is over.
//!
//! A run is over when all programs but services have ended and no service can move. Time does not pass then, since
//! periodic timers of servers would make an endless chain of states. Until then it passes up to the horizon.

use crate::system::service::{Expected, Started};
use crate::system::view::View;
use crate::system::workload::Workload;
use kernel::table::{self, FootprintRule};
use kernel::{Kernel, Pid, Tid, datagram};

impl Workload {
    /// The started program that a process is, or descends from.
    pub(crate) fn root(&self, kernel: &Kernel, pid: Pid) -> Pid {
        let is_started = |pid: &Pid| self.started.iter().any(|(started, _)| started == pid);
        kernel.ancestors(pid).find(is_started).unwrap_or(pid)
    }

    /// The started program that a thread belongs to.
    fn program(&self, kernel: &Kernel, tid: Tid) -> Option<&Started> {
        let pid = self.root(kernel, kernel.threads.get(&tid)?.pid);
        self.services.iter().find(|service| service.pid == pid)
    }

    /// Whether all programs but services have ended. Where all are services, none is waited for.
    pub(crate) fn is_over(&self, kernel: &Kernel) -> bool {
        let lasting = |service: &Started| service.expected.may_last();
        let is_mixed = self.services.iter().any(lasting) && !self.services.iter().all(lasting);
        is_mixed && kernel.threads.keys().all(|tid| self.program(kernel, *tid).is_some_and(lasting))
    }
}

impl View<'_> {
    fn kernel(&self) -> &Kernel {
        &self.state.world.kernel
    }

    /// Whether a thread may be blocked for ever.
    pub(crate) fn may_stay(&self, tid: Tid) -> bool {
        // A program that was to start after one that was killed, or when power has failed, is never started.
        let may_never_start = self.has_killed() || self.workload.faults.disk().is_some();
        if !self.kernel().threads.contains_key(&tid) || self.gate(tid).is_some() && may_never_start {
            return true;
        }
        match self.workload.program(self.kernel(), tid) {
            Some(service) if service.expected == Expected::Running => true,
            Some(service) if service.expected == Expected::Idle => {
                self.is_idle(service.pid) && !self.is_locked_out(tid)
            }
            _ => false,
        }
    }

    /// Whether a service waits for requests, or for a moment.
    fn is_idle(&self, service: Pid) -> bool {
        let is_own = |tid: &Tid| self.workload.program(self.kernel(), *tid).is_some_and(|own| own.pid == service);
        self.kernel().threads.keys().any(|tid| is_own(tid) && self.awaits_requests(*tid))
    }

    /// Whether a thread waits for requests (`accept(2)`, `poll(2)`, `epoll_wait(2)`, a UDP datagram), or for a moment.
    fn awaits_requests(&self, tid: Tid) -> bool {
        let Some(thread) = self.kernel().threads.get(&tid) else { return false };
        let is_timed = thread.wait.as_ref().is_some_and(|wait| wait.deadline.is_some());
        let operation = || self.pending_operation(tid)?.deadline(self.state.seen());
        let call = thread.call.filter(|_| thread.wait.is_some());
        let is_request = |(number, args): (u64, [u64; 6])| {
            matches!(table::footprint(number), FootprintRule::Accepts | FootprintRule::Polls)
                || datagram::is_received(self.kernel(), tid, number, &args)
        };
        is_timed || call.is_some_and(is_request) || operation().is_some()
    }

    /// Whether a thread waits for a lock that nobody will release: those who must move first wait for each other, or
    /// one of them has ended. Whoever holds a lock and waits for requests may release it at the next one.
    fn is_locked_out(&self, tid: Tid) -> bool {
        let mut at = tid;
        for _ in 0..=self.kernel().threads.len() {
            let Some(holder) = self.pending_operation(at).and_then(|operation| operation.behind(self.state.seen()))
            else {
                return false;
            };
            if !self.kernel().threads.contains_key(&holder) {
                return true;
            }
            if self.awaits_requests(holder) {
                return false;
            }
            at = holder;
        }
        true
    }

    /// Programs none of which waits for a moment or for requests, and which must end: `client waits in read`.
    pub(crate) fn left_waiting(&self) -> Vec<String> {
        let threads = || self.kernel().threads.keys().copied();
        let is_of =
            |service: &Started, tid| self.workload.program(self.kernel(), tid).is_some_and(|own| own == service);
        let left = self.workload.services.iter().zip(&self.workload.started).filter_map(|(service, (_, name))| {
            let mut own = threads().filter(|tid| is_of(service, *tid)).peekable();
            let first = *own.peek().filter(|_| !service.expected.may_last())?;
            let waits = !own.any(|tid| self.awaits_requests(tid));
            waits.then(|| format!("{name} {}", self.waits_in(first)))
        });
        left.collect()
    }

    /// Whether the horizon ends the run here: somebody waits for a later moment.
    pub(crate) fn is_cut(&self) -> bool {
        !self.workload.is_over(self.kernel()) && self.has_deadline()
    }
}
