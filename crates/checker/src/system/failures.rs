//! Failures: deadlocks, livelocks, unexpected ends of processes, misuse of functions.

use crate::system::programs::Programs;
use crate::system::service::Expected;
use crate::system::state::{History, State};
use crate::system::view::View;
use crate::system::workload::Workload;
use explore::system::Failure;
use kernel::Tid;
use kernel::kernel::Ended;
use std::sync::atomic::Ordering;
use trace::FailureKind;

impl Programs {
    /// The failure of the state as it is now, in which no actor is enabled; none where the horizon ends the run.
    pub(crate) fn stuck(&mut self) -> Option<Failure> {
        if self.view().is_cut() {
            self.cut.lock().expect("no thread panics with it").add(self.view().left_waiting());
            return None;
        }
        let stuck = self.view().stuck().or_else(|| self.workload.unmet(&self.state));
        self.failures.fetch_add(u64::from(stuck.is_some()), Ordering::Relaxed);
        stuck
    }
}

impl View<'_> {
    /// The failure of a state in which no actor is enabled: a livelock if a thread spins there, else a deadlock.
    ///
    /// Not every state without a step is a failure: services that may run for ever may stay where
    /// they wait.
    pub(crate) fn stuck(&self) -> Option<Failure> {
        let tids = || self.state.world.kernel.threads.keys();
        let waiting: Vec<String> = tids().map(|tid| self.waits(*tid)).collect();
        let spins = tids().any(|tid| self.state.spin_awaits(*tid).is_some());
        let (kind, is_wanted) = match spins {
            true => (FailureKind::Livelock, self.workload.options.checks.livelock),
            false => (FailureKind::Deadlock, self.workload.options.checks.deadlock),
        };
        if tids().all(|tid| self.may_stay(*tid)) || !is_wanted {
            return None;
        }
        Some(Failure { kind, message: waiting.join("; "), fatal: true, property: None })
    }

    pub(crate) fn waits(&self, tid: Tid) -> String {
        let thread = self.state.world.kernel.threads.get(&tid).expect("it waits");
        let process = self.state.world.kernel.processes.get(&thread.pid).map_or("", |process| &process.name);
        format!("{process}/{} {}", tid.0, self.waits_in(tid))
    }

    /// What a blocked thread does, as the end of a sentence.
    pub(crate) fn waits_in(&self, tid: Tid) -> String {
        let thread = self.state.world.kernel.threads.get(&tid).expect("it waits");
        if self.gate(tid).is_some() {
            return "is never started".to_owned();
        }
        if self.state.spin_awaits(tid).is_some() {
            return "looks again and again, and nothing changes".to_owned();
        }
        if let Some(hook) = self.hook(tid).filter(|hook| hook.function.synchronises()) {
            return format!("waits in {}", hook.function.name());
        }
        let call = thread.call.and_then(|(number, _)| kernel::table::row(number)).map_or("?", |row| row.name);
        format!("waits in {call}")
    }
}

impl State {
    /// Takes the processes that have ended since the last call.
    pub(crate) fn take_ended(&mut self) -> Vec<Ended> {
        // Taking from an empty list would copy the shared kernel.
        if self.world.kernel.ended.is_empty() { Vec::new() } else { std::mem::take(&mut self.world.kernel.ended) }
    }
}

impl Workload {
    /// The failure of processes that have just ended, reaped or not.
    pub(crate) fn failure(&self, ended: &[Ended], history: &History) -> Option<Failure> {
        let is_sent = |ended: &&Ended| self.is_ended_by_fault(history, ended.pid, ended.status & 0x7f);
        ended.iter().filter(|ended| !is_sent(ended)).find_map(|ended| self.failure_of(ended))
    }

    /// `SIGKILL` is no failure: a program is killed because another one of the check wanted it.
    fn failure_of(&self, Ended { pid, name, status }: &Ended) -> Option<Failure> {
        let signal = status & 0x7f;
        const SIGABRT: i32 = 6;
        const SIGKILL: i32 = 9;
        let told = world::strace::signal_name(signal as u64);
        let failure = |kind, message| Some(Failure { kind, message, fatal: true, property: None });
        match signal {
            0 if self.options.checks.exit
                && self.expected(*pid).is_some_and(|expected| !expected.allows(status >> 8)) =>
            {
                let but = match self.expected(*pid) {
                    Some(Expected::Running) => ", but should go on running".to_owned(),
                    Some(Expected::Code(code)) => format!(" instead of {code}"),
                    _ => String::new(),
                };
                failure(FailureKind::Exit, format!("{name} ends with exit code {}{but}", status >> 8))
            }
            SIGABRT if self.options.checks.assert => failure(FailureKind::Assert, format!("{name} is aborted")),
            0 | SIGABRT | SIGKILL => None,
            _ if self.options.checks.crash => failure(FailureKind::Crash, format!("{name} is ended by {told}")),
            _ => None,
        }
    }

    pub(crate) fn misused(&self, actor: u32, what: &str) -> Option<Failure> {
        let message = format!("thread {actor}: {what}");
        self.options.checks.misuse.then_some(Failure {
            kind: FailureKind::Misuse,
            message,
            fatal: false,
            property: None,
        })
    }
}
