//! Operations of the C library in words: `lock forks[0]`, `waits for forks[1], held by T2`.

use super::narrator::Narrator;
use crate::footprint::access::{self, Kind};
use crate::libc::{Allocation, Function, Hook, Operation, Whole};
use crate::system::state::State;
use kernel::Tid;
use x86::cpu::RDX;

impl State {
    fn wait_words(&self, operation: &Operation, what: &str) -> String {
        let asleep = self.overlay.thread(operation.tid).and_then(|overlay| overlay.asleep);
        match asleep {
            Some(_) => format!("wake up at {what}"),
            None => format!("sleep at {what}"),
        }
    }
}

impl Narrator<'_> {
    /// What a thread is about to do; nothing for what is not worth telling.
    pub(super) fn operation_words(&mut self, tid: Tid, hook: Hook) -> Option<String> {
        use Function as F;
        let operation = self.view.operation(tid, hook);
        let what = self.object_name(&operation);
        Some(match hook.function {
            F::Lock | F::SpinLock => format!("lock {what}"),
            F::TimedLock | F::ClockLock => format!("lock {what}, with a time limit"),
            F::TryLock | F::TryMtx | F::SpinTryLock => format!("try to lock {what}"),
            F::Unlock | F::SpinUnlock | F::UnlockBoth => format!("unlock {what}"),
            F::DestroyMutex | F::DestroyCondition => format!("destroy {what}"),
            F::ReadLock | F::TimedReadLock | F::ClockReadLock => format!("lock {what} for reading"),
            F::TryReadLock => format!("try to lock {what} for reading"),
            F::WriteLock | F::TimedWriteLock | F::ClockWriteLock => format!("lock {what} for writing"),
            F::TryWriteLock => format!("try to lock {what} for writing"),
            F::Wait | F::TimedWait | F::ClockWait => self.view.state.wait_words(&operation, &what),
            F::Signal => format!("signal {what}"),
            F::Broadcast => format!("wake all at {what}"),
            F::BarrierWait => format!("come to barrier {what}"),
            F::SemaphoreWait | F::SemaphoreTimedWait | F::SemaphoreClockWait => format!("take semaphore {what}"),
            F::SemaphoreTryWait => format!("try to take semaphore {what}"),
            F::SemaphorePost => format!("give semaphore {what}"),
            F::Join => format!("join {}", self.joined_name(&operation)),
            F::TryJoin => format!("try to join {}", self.joined_name(&operation)),
            F::TimedJoin | F::ClockJoin => format!("join {}, with a time limit", self.joined_name(&operation)),
            F::Once => format!("come to {what}, which is done once"),
            F::Cancel => format!("cancel {}", self.joined_name(&operation)),
            F::Whole(Whole::Detach) => format!("detach {}", self.joined_name(&operation)),
            F::Whole(Whole::Create) => format!("create a thread for {}", self.routine(tid)),
            F::Whole(Whole::EndThread) => "end the thread".to_owned(),
            F::Whole(Whole::EndProcess) => format!("exit({})", operation.args[0] as i32),
            F::AssertFail => "the assertion fails".to_owned(),
            F::Allocate(Allocation::Free | Allocation::Realloc) => format!("free what is at {what}"),
            _ => return None,
        })
    }

    /// The function that a new thread is made for.
    pub(super) fn routine(&mut self, tid: Tid) -> String {
        let (space, address) = (self.view.state.world.space(tid), self.view.state.world.cpus[&tid].gpr[RDX]);
        let memory = &self.view.state.world.memory;
        let named = self.listener.info.as_mut().and_then(|info| info.symbol(memory, space, address));
        named.map_or_else(|| format!("{address:#x}"), |named| named.name)
    }

    /// What an operation is about, by the program's own name.
    pub(super) fn object_name(&mut self, operation: &Operation) -> String {
        let name = self.name_at(operation.space, operation.args[0]);
        for kind in [Kind::Lock, Kind::Condition] {
            let object =
                access::word(&self.view.state.world.memory, operation.space, operation.args[0], true, kind).object;
            self.listener.context.objects.insert(object, name.clone());
        }
        if matches!(operation.function, Function::Wait | Function::TimedWait | Function::ClockWait) {
            let lock = self.name_at(operation.space, operation.args[1]);
            let object =
                access::word(&self.view.state.world.memory, operation.space, operation.args[1], true, Kind::Lock)
                    .object;
            self.listener.context.objects.insert(object, lock);
        }
        name
    }

    fn joined_name(&self, operation: &Operation) -> String {
        match operation.joined(self.view.state.seen()) {
            Some(other) => self.listener.thread(other),
            None => {
                let known = self.listener.context.bases.get(&(operation.space, operation.args[0]));
                known.cloned().unwrap_or_else(|| "a thread that has ended".to_owned())
            }
        }
    }

    /// Why a thread cannot go on, and who would have to move first.
    pub(super) fn waiting_words(&mut self, tid: Tid, since: &dyn Fn(u64) -> Option<usize>) -> (String, Option<Tid>) {
        if self.view.gate(tid).is_some() {
            return ("is never started: what it depends on does not happen".to_owned(), None);
        }
        let hook = self.view.hook(tid).filter(|hook| hook.function.synchronises());
        match hook {
            Some(hook) => self.waits_at(tid, hook, since),
            None => (self.waits_in_kernel(tid), None),
        }
    }

    fn waits_at(&mut self, tid: Tid, hook: Hook, since: &dyn Fn(u64) -> Option<usize>) -> (String, Option<Tid>) {
        use Function as F;
        let operation = self.view.operation(tid, hook);
        let what = self.object_name(&operation);
        let seen = self.view.state.seen();
        if hook.function.joins() {
            let other = operation.joined(seen);
            return (format!("waits for the end of {}", self.joined_name(&operation)), other);
        }
        let is_asleep = self
            .view
            .state
            .overlay
            .thread(tid)
            .is_some_and(|overlay| overlay.asleep.is_some_and(|asleep| !asleep.woken));
        if is_asleep {
            let (verb, nobody) = match hook.function {
                F::BarrierWait => ("waits at barrier", "not all have come"),
                _ => ("sleeps at", "nobody is left to wake it"),
            };
            return (format!("{verb} {what}; {nobody}"), None);
        }
        if let Some(lock) = operation.takes(seen) {
            let name = self.listener.context.objects.get(&lock).cloned().unwrap_or(what);
            let Some(holder) = seen.overlay.holder(lock) else { return (format!("waits for {name}"), None) };
            let since = since(lock).map(|step| format!(" since step {step}")).unwrap_or_default();
            let who =
                if holder == tid { "by itself".to_owned() } else { format!("by {}", self.listener.thread(holder)) };
            return (format!("waits for {name}, held {who}{since}"), Some(holder));
        }
        (format!("waits for {what}"), None)
    }

    fn waits_in_kernel(&self, tid: Tid) -> String {
        match self.listener.waits_in(tid) {
            Some(heard) => format!("waits in {}", heard.text),
            None => {
                let call = self.view.state.world.kernel.threads.get(&tid).and_then(|thread| thread.call);
                let name = call.map_or_else(|| "?".to_owned(), |(number, _)| world::refusal::call_name(number));
                format!("waits in {name}")
            }
        }
    }
}
