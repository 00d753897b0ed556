//! Operations of the C library as events, and why threads cannot go on.

use super::inline_locks;
use super::narrator::Narrator;
use super::place;
use crate::footprint::access::{self, Kind};
use crate::libc::{Does, Function, Hook, Narration, Operation};
use kernel::Tid;
use trace::{Call, EventKind, Verb, WaitReason};
use x86::cpu::RDX;

impl Narrator<'_> {
    /// What a thread is about to do; nothing for what is not worth telling.
    pub(super) fn operation_event(&mut self, tid: Tid, hook: Hook) -> Option<EventKind> {
        let operation = self.view.operation(tid, hook);
        // Also learns what the locks are called.
        let what = self.object_name(&operation);
        let event = |verb, object| {
            let has_time_limit = hook.function.has_time_limit();
            EventKind::Operation(trace::Operation { verb, object, has_time_limit })
        };
        Some(match hook.function.row()?.narration {
            Narration::Silent => return None,
            // What nothing names is a library's own.
            Narration::Variable(Verb::Once) if what.starts_with("0x") => return None,
            Narration::Variable(Verb::Sleep) if self.sleeps(tid) => event(Verb::WakeUp, Some(what)),
            Narration::Variable(verb) => event(verb, Some(what)),
            Narration::Thread(verb) => event(verb, self.joined_name(&operation)),
            Narration::CreateThread => EventKind::CreateThread { routine: self.routine(tid) },
            Narration::ExitThread => EventKind::ExitThread,
            Narration::ExitProcess => EventKind::ExitProcess { status: operation.args[0] as i32 },
            Narration::Assertion => EventKind::Assertion,
        })
    }

    /// Whether a thread sleeps in a function of the library: its next step there is behind the sleep.
    fn sleeps(&self, tid: Tid) -> bool {
        self.view.state.overlay.thread(tid).is_some_and(|overlay| overlay.asleep.is_some())
    }

    /// The function that a new thread is made for: by its name, or where a library starts all threads in a function of its own
    /// (Rust's, which is known, or libstdc++'s, which has no name), by the line of the author that makes the thread.
    pub(super) fn routine(&mut self, tid: Tid) -> String {
        let (space, address) = (self.view.state.world.space(tid), self.view.state.world.cpus[&tid].gpr[RDX]);
        let (world, memory) = (&self.view.state.world, &self.view.state.world.memory);
        let hook = self.view.executor.hooks.at(memory, space, address);
        let is_of_library = hook.is_some_and(|hook| hook.function == Function::LibraryStart);
        let Some(info) = self.listener.info.as_mut() else { return format!("{address:#x}") };
        let named = info.symbol(memory, space, address).filter(|_| !is_of_library).map(|named| named.name);
        let named = named.or_else(|| place::author(info, world, tid));
        named.unwrap_or_else(|| format!("{address:#x}"))
    }

    /// What an operation is about, by the program's own name.
    pub(super) fn object_name(&mut self, operation: &Operation) -> String {
        let name = self.name_at(operation.space, operation.args[0]);
        let is_inline = operation.function.does().is_some_and(Does::is_of_inline_locks);
        let name = if is_inline { inline_locks::of_author(&name).to_owned() } else { name };
        for kind in [Kind::Lock, Kind::Condition] {
            let object =
                access::word(&self.view.state.world.memory, operation.space, operation.args[0], true, kind).object;
            self.listener.context.objects.insert(object, name.clone());
        }
        if operation.function.does() == Some(Does::Wait) {
            let lock = self.name_at(operation.space, operation.args[1]);
            let object =
                access::word(&self.view.state.world.memory, operation.space, operation.args[1], true, Kind::Lock)
                    .object;
            self.listener.context.objects.insert(object, lock);
        }
        name
    }

    /// How the thread is called that an operation is about, if anybody knows.
    fn joined_name(&self, operation: &Operation) -> Option<String> {
        match operation.joined(self.view.state.seen()) {
            Some(other) => Some(self.listener.thread(other)),
            None => self.listener.context.bases.get(&(operation.space, operation.args[0])).cloned(),
        }
    }

    /// Why a thread cannot go on, and who would have to move first.
    pub(super) fn wait_reason(&mut self, tid: Tid, since: &dyn Fn(u64) -> Option<usize>) -> (WaitReason, Option<Tid>) {
        if self.view.gate(tid).is_some() {
            return (WaitReason::NotStarted, None);
        }
        let hook = self.view.hook(tid).filter(|hook| hook.function.synchronises());
        match hook {
            Some(hook) => self.waits_at(tid, hook, since),
            None => (self.waits_for_others(tid), None),
        }
    }

    /// Why a thread waits in a syscall: for peers alone, or for whatever the call says.
    fn waits_for_others(&self, tid: Tid) -> WaitReason {
        let (call, peers) = (self.waits_in_kernel(tid), self.view.peers_awaited(tid));
        if peers.is_empty() { WaitReason::Call(call) } else { WaitReason::Peers { call, peers } }
    }

    fn waits_at(&mut self, tid: Tid, hook: Hook, since: &dyn Fn(u64) -> Option<usize>) -> (WaitReason, Option<Tid>) {
        let operation = self.view.operation(tid, hook);
        let what = self.object_name(&operation);
        let seen = self.view.state.seen();
        if hook.function.joins() {
            return (WaitReason::Joins(self.joined_name(&operation)), operation.joined(seen));
        }
        let asleep = self.view.state.overlay.thread(tid).and_then(|overlay| overlay.asleep);
        if asleep.is_some_and(|asleep| !asleep.woken) {
            return match hook.function.does() {
                Some(Does::BarrierWait) => (WaitReason::Barrier(what), None),
                _ => (WaitReason::Condition(what), None),
            };
        }
        let inline = operation.inline_lock(seen);
        let Some(lock) = operation.takes(seen).or(inline) else { return (WaitReason::Object(what), None) };
        let name = self.listener.context.objects.get(&lock).cloned().unwrap_or(what);
        match seen.overlay.holder(lock).or_else(|| self.listener.context.inline_holders.get(&lock).copied()) {
            None => (WaitReason::Object(name), None),
            Some(tid) => {
                let holder = self.listener.thread_ref(tid);
                (WaitReason::Lock { name, holder, since: since(lock) }, Some(tid))
            }
        }
    }

    fn waits_in_kernel(&self, tid: Tid) -> Call {
        let heard = self.listener.waits_in(tid).and_then(|heard| heard.kind.call());
        heard.cloned().unwrap_or_else(|| {
            let call = self.view.state.world.kernel.threads.get(&tid).and_then(|thread| thread.call);
            Call::named(call.map_or_else(|| "?".to_owned(), |(number, _)| world::refusal::call_name(number)))
        })
    }
}
