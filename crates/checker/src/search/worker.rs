//! Several workers for one search: each has a world of its own, and what one learns all know in the next round.

use crate::libc::Library;
use crate::memo::audit::Audited;
use crate::memo::step_memo::Remembered;
use crate::narrate::Listener;
use crate::system::never::Beside;
use crate::system::programs::Programs;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use world::{Pace, World};
use x86::Code;

impl Programs {
    /// Another worker for the same search: states of one are states of the other.
    pub(crate) fn twin(&self) -> Self {
        let mut world = World::new(self.world.kernel.host.clone(), 1, self.world.memory.limit());
        world.memory.log_accesses(true);
        world.pace = Pace::NONE;
        let mut twin = Self {
            world,
            library: Library::default(),
            beside: Beside::default(),
            forbidden: self.forbidden.twin(self.world.kernel.host.clone()),
            hooks: self.hooks.clone(),
            code: Code::default(),
            quiet: Code::default(),
            unhooked: Code::default(),
            started: self.started.clone(),
            services: self.services.clone(),
            initial: self.initial.clone(),
            loaded: None,
            saved: crate::system::programs::numbers(),
            is_starting: false,
            words: FxHashMap::default(),
            refusal: None,
            failures: Arc::clone(&self.failures),
            printed: Vec::new(),
            points: self.points.clone(),
            listener: Listener::default(),
            info: None,
            log: Vec::new(),
            refinement: self.refinement.clone(),
            remembered: Remembered::default(),
            audited: Audited::default(),
            options: self.options.clone(),
        };
        twin.refresh_stops();
        twin
    }

    /// Takes over what others have learnt.
    pub(crate) fn learn_from(&mut self, crew: &mut [Self]) {
        for other in crew.iter_mut() {
            self.refinement.merge(&other.refinement);
            for (object, places) in &other.words {
                places.iter().for_each(|place| self.place_word(*object, *place));
            }
            self.refusal = self.refusal.take().or(other.refusal.take());
            self.audited.add(std::mem::take(&mut other.audited));
        }
    }

    /// Tells others what is known.
    pub(crate) fn teach(&self, crew: &mut [Self]) {
        crew.iter_mut().for_each(|other| {
            other.refinement = self.refinement.clone();
            other.words.clone_from(&self.words);
            other.loaded = None;
            other.remembered.clear();
        });
    }
}
