//! What a step changed: locks and variables.

use super::narrator::Narrator;
use crate::system::programs::Programs;
use crate::system::state::{Snapshot, State};
use debuginfo::Variable;
use explore::graph::Taken;
use kernel::Tid;
use memory::SpaceId;
use std::collections::BTreeMap;
use trace::Change;

/// Variables of one step that are told.
const VALUES_MAX: usize = 4;

impl State {
    /// Who holds which exclusive lock.
    pub(super) fn holders(&self) -> BTreeMap<u64, Tid> {
        let held = self.overlay.threads().flat_map(|(tid, overlay)| overlay.holds.iter().map(move |lock| (*lock, tid)));
        held.collect()
    }
}

impl Programs {
    /// Named variables that a step wrote and others can see.
    pub(super) fn value_changes(&mut self, before: &Snapshot, taken: &Taken<Snapshot>) -> Vec<Change> {
        let written = taken.accesses.iter().filter(|access| access.write);
        let places = written.filter_map(|access| self.executor.words.get(&access.object)?.first().copied());
        let places: Vec<(SpaceId, u64)> = places.collect();
        let mut found: Vec<(SpaceId, Variable, String)> = Vec::new();
        for (space, address) in places {
            let Some((variable, value)) = self.narrator().value_at(space, address) else { continue };
            if !found.iter().any(|(_, known, _)| known.path == variable.path) {
                found.push((space, variable, value));
            }
        }
        self.load(before);
        let change = |(space, variable, after): (SpaceId, Variable, String)| {
            let before = self.narrator().value_of(space, &variable.path)?;
            (before != after).then_some(Change { name: variable.path, before, after })
        };
        let changes = found.into_iter().filter_map(change).take(VALUES_MAX).collect();
        self.load(&taken.reached.state);
        changes
    }
}

impl Narrator<'_> {
    /// Locks that changed hands.
    pub(super) fn lock_changes(&mut self, before: &BTreeMap<u64, Tid>, number: usize) -> Vec<Change> {
        let after = self.view.state.holders();
        let listener = &mut self.listener;
        let mut changes = Vec::new();
        for lock in before.keys().chain(after.keys().filter(|lock| !before.contains_key(lock))) {
            if before.get(lock) != after.get(lock) {
                listener.context.held.insert(*lock, number);
                // Locks without a name are the C library's own.
                let Some(name) = listener.context.objects.get(lock).cloned() else { continue };
                let who = |holder: Option<&Tid>| holder.map_or_else(|| "free".to_owned(), |tid| listener.thread(*tid));
                changes.push(Change { name, before: who(before.get(lock)), after: who(after.get(lock)) });
            }
        }
        changes
    }

    fn value_at(&mut self, space: SpaceId, address: u64) -> Option<(Variable, String)> {
        let (world, info) = (&self.view.state.world, self.listener.info.as_mut()?);
        let variable = info.global_at(world, space, address)?;
        let value = self.value_of(space, &variable.path)?;
        Some((variable, value))
    }

    fn value_of(&mut self, space: SpaceId, path: &str) -> Option<String> {
        let (memory, info) = (&self.view.state.world.memory, self.listener.info.as_mut()?);
        let place = info.global(memory, space, path).ok()??;
        Some(place.read(memory, space)?.to_string())
    }
}
