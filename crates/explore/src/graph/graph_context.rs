//! What the graph knows about a step that is executed for it: stored states, and actors that are independent of the step.

use super::actor_table::{ActorRecord, Surroundings};
use super::footprint_table::FootprintTable;
use super::search::Search;
use crate::actor_ids::ActorIds;
use crate::footprint::Access;
use crate::footprint_system::{FootprintSystem, Step, StepContext};
use rustc_hash::FxHashMap;
use trace::Choice;

struct GraphContext<'a> {
    ids: &'a FxHashMap<(u128, bool), u32>,
    footprints: &'a mut FootprintTable,
    actors: &'a ActorIds,
    surroundings: Surroundings<'a>,
    is_trial: bool,
}

/// What the system may leave out when it executes a step: the successor, if it is stored already,
/// and records of actors that cannot have changed.
impl StepContext for GraphContext<'_> {
    fn is_known(&self, fingerprint: u128, fatal: bool) -> bool {
        self.ids.contains_key(&(fingerprint, fatal))
    }

    fn is_trial(&self) -> bool {
        self.is_trial
    }

    /// An actor is untouched if the step neither conflicts with its pending footprint nor writes a
    /// lock that it holds; the second is for a release by mistake, which changes who holds the lock
    /// without touching what the holder does next.
    fn untouched(&mut self, accesses: &[Access]) -> Vec<(u32, u32)> {
        let Surroundings { mover, records, unknown } = self.surroundings;
        let Some(own) = records.iter().find(|record| record.actor == mover) else { return Vec::new() };
        let set = self.footprints.intern(mover, self.footprints.locks_of(own.pending), accesses);
        let footprints = &*self.footprints;
        // No other actor releases a lock, except by mistake: then it writes the lock.
        let depends =
            |other: &ActorRecord| footprints.conflict(set, other.pending) || footprints.writes(set, other.holds);
        let is_untouched =
            |other: &&ActorRecord| other.actor != mover && !unknown.contains(other.actor) && !depends(other);
        let untouched = records.iter().filter(is_untouched);
        untouched.map(|other| (self.actors.number(other.actor), other.choices)).collect()
    }
}

impl<T: FootprintSystem> Search<'_, T> {
    /// Executes a step, without its successor if that is stored, and without the actors that are independent of it.
    pub(super) fn step_with(
        &mut self,
        state: &T::State,
        choice: Choice,
        surroundings: Surroundings<'_>,
        is_trial: bool,
    ) -> Option<Step<T::State>> {
        self.executed += 1;
        let (ids, graph) = (&self.ids, &mut self.graph);
        let (footprints, actors) = (&mut graph.footprints, &graph.actors);
        let mut context = GraphContext { ids, footprints, actors, surroundings, is_trial };
        self.system.step_with(state, choice, &mut context)
    }
}
