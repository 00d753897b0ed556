//! Operations and accesses of a step, heard while it is executed.

use super::narrator::Narrator;
use super::place::{self};
use crate::libc::Hook;
use crate::system::overlay::ThreadOverlay;
use crate::system::stepper::Stepper;
use kernel::Tid;
use memory::{AccessKind, SpaceId};
use trace::EventKind;

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
            let kind = EventKind::Access { name, is_write: access.access != AccessKind::Read };
            let heard = self.listener.hear(&self.state.world, tid, kind);
            self.listener.heard.push(heard);
        }
    }
}

impl Narrator<'_> {
    /// Whether an operation is about a variable of a library of the system.
    fn is_of_system(&mut self, tid: Tid, hook: Hook) -> bool {
        let operation = self.view.operation(tid, hook);
        let world = &self.view.state.world;
        let info = self.listener.info.as_mut();
        let variable = info.and_then(|info| info.variable_at(world, operation.space, operation.args[0]));
        let is_lock = hook.function.synchronises() && !hook.function.joins();
        is_lock && variable.is_some_and(|variable| place::is_of_system(&variable.module))
    }

    /// How the program calls what is at an address.
    pub(super) fn name_at(&mut self, space: SpaceId, address: u64) -> String {
        let world = &self.view.state.world;
        let variable = self.listener.info.as_mut().and_then(|info| info.variable_at(world, space, address));
        match variable.filter(|variable| !variable.module.is_empty()) {
            Some(variable) => variable.path,
            None => format!("{address:#x}"),
        }
    }
}
