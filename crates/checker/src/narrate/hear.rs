//! Operations and accesses of a step, heard while it is executed.

use super::narrator::Narrator;
use super::place::{self};
use crate::libc::Hook;
use crate::system::overlay::ThreadOverlay;
use crate::system::stepper::Stepper;
use kernel::Tid;
use memory::{AccessKind, SpaceId};
use trace::EventKind;

/// Variables of libstdc++ that no author names: the pool in which `std::atomic::wait` counts who waits.
const OF_LIBSTDCXX: &str = "std::__";

impl Stepper<'_> {
    /// Hears an operation of the C library that is about to be carried out.
    pub(crate) fn hear_operation(&mut self, tid: Tid, hook: Hook) {
        // What the library does inside is not what the program does, nor is what it does with locks of its own.
        let is_own = !self.state.overlay.thread(tid).is_some_and(ThreadOverlay::is_in_library)
            && !self.narrator().is_of_system(tid, hook);
        if self.listener.info.is_some()
            && is_own
            && let Some(kind) = self.narrator().operation_event(tid, hook)
        {
            if let EventKind::CreateThread { routine } = &kind {
                self.listener.context.routine = Some(routine.clone());
            }
            let heard = self.listener.hear(&self.state.world, tid, kind);
            self.listener.heard.push(heard);
        }
    }

    /// Hears an access to a word that threads stop at.
    pub(crate) fn hear_access(&mut self, tid: Tid, space: SpaceId, access: memory::VisibleAccess) {
        if self.listener.info.is_some() {
            let name = self.narrator().name_at(space, access.addr);
            if name.starts_with(OF_LIBSTDCXX) {
                return;
            }
            let is_write = access.access != AccessKind::Read;
            let kind = EventKind::Access { name, is_write, is_buffered: is_write && self.view().buffers_stores(tid) };
            let heard = self.listener.hear(&self.state.world, tid, kind);
            // What a runtime does before or behind the author's own code is not what the program does.
            if !heard.is_runtime {
                self.listener.heard.push(heard);
            }
        }
    }

    /// Hears the oldest buffered store of a thread reach memory: at the line of the store.
    pub(crate) fn hear_drain(&mut self, tid: Tid) {
        if self.listener.info.is_some()
            && let Some(store) = self.state.buffered(tid).first().copied()
        {
            let space = self.state.world.space(tid);
            let name = self.narrator().name_at(space, store.part.addr);
            let heard = self
                .state
                .at_instruction(tid, store.rip, |world| self.listener.hear(world, tid, EventKind::Drain { name }));
            self.listener.heard.push(heard);
        }
    }
}

impl Narrator<'_> {
    /// Whether an operation is about a lock of a library of the system, or of an interpreter: one that no debug information
    /// describes, in a process with a single thread, where nobody else can notice it.
    fn is_of_system(&mut self, tid: Tid, hook: Hook) -> bool {
        let operation = self.view.operation(tid, hook);
        let world = &self.view.state.world;
        let info = self.listener.info.as_mut();
        let variable = info.and_then(|info| info.variable_at(world, operation.space, operation.args[0]));
        let is_lock = hook.function.synchronises() && !hook.function.joins();
        let pid = world.kernel.threads.get(&tid).map(|thread| thread.pid);
        let process = pid.and_then(|pid| world.kernel.processes.get(&pid));
        let is_alone = process.is_some_and(|process| process.threads.len() == 1);
        let is_foreign = |variable: debuginfo::Variable| {
            place::is_of_system(&variable.module) || is_alone && variable.type_name.is_empty()
        };
        is_lock && variable.is_some_and(is_foreign)
    }

    /// How the program calls what is at an address.
    pub(super) fn name_at(&mut self, space: SpaceId, address: u64) -> String {
        let world = &self.view.state.world;
        let variable = self.listener.info.as_mut().and_then(|info| info.variable_at(world, space, address));
        match variable.filter(|variable| !variable.module.is_empty()) {
            Some(variable) => of_author(&variable.path).to_owned(),
            None => format!("{address:#x}"),
        }
    }
}

/// A variable without the members of libstdc++'s own types at the end of its path: `alice.lock` for
/// `alice.lock._M_mutex`. Names that begin like these are reserved to the library.
fn of_author(path: &str) -> &str {
    let last = path.rfind(['.', '>']).map_or(path, |at| &path[at + 1..]);
    match path.strip_suffix(last).filter(|rest| last.starts_with("_M_") && !rest.is_empty()) {
        Some(rest) => of_author(rest.trim_end_matches(['.', '-', '>'])),
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_the_library_are_left_out_of_a_name() {
        let told = |path: &str, name: &str| assert_eq!(of_author(path), name);
        told("alice.lock._M_mutex", "alice.lock");
        told("bank->ready._M_base._M_i", "bank->ready");
        told("bank->_M_mutex", "bank");
        told("a._M_x.b", "a._M_x.b");
        told("_M_mutex", "_M_mutex");
    }
}
