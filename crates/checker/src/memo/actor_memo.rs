//! Who threads are in a state, told without making the world that state: a thread that was met in the same place, and that finds
//! the same in memory and in others, is the same. Where debug assertions are on, everybody is told all the same and compared.

use crate::libc::read_set::Dependency;
use crate::memo::lru::Ways;
use crate::memo::step_memo::{MemoKey, answers_in, are_answers_in, space_of};
use crate::system::actors::Told;
use crate::system::programs::{Programs, Snapshot};
use kernel::Tid;
use memory::Effect;
use rustc_hash::FxHashMap;
use trace::Choice;

/// Threads that are remembered at most.
const MET_MAX: usize = 1 << 14;

/// Threads that were met before.
#[derive(Default)]
pub(crate) struct Met {
    ways: FxHashMap<u128, Ways<Way>>,
    count: usize,
}

/// What a thread finds, and who it is then.
struct Way {
    looks: Effect,
    answers: Vec<(Dependency, u128)>,
    told: Told,
}

impl Way {
    fn fits(&self, state: &Snapshot) -> bool {
        state.memory.satisfies(&self.looks) && are_answers_in(state, &self.answers)
    }
}

impl Met {
    fn find(&mut self, place: MemoKey, state: &Snapshot) -> Option<Told> {
        let mut find = |place| self.ways.get_mut(&place)?.find(|way| way.fits(state)).map(|way| way.told.clone());
        find(place.silent).or_else(|| find(place.any))
    }

    fn add(&mut self, place: u128, way: Way) {
        if self.count >= MET_MAX {
            *self = Self::default();
        }
        self.count += self.ways.entry(place).or_default().add(way);
    }
}

impl Programs {
    /// Somebody in a state, which becomes the world only if that is not known.
    pub(crate) fn meet(&mut self, state: &Snapshot, tid: Tid) -> Told {
        let place = self.remembered.place_of(state, Choice { actor: tid.0, index: 0 });
        let known = place.and_then(|place| self.remembered.met.find(place, state));
        if let Some(known) = known.as_ref()
            && !self.is_due()
        {
            return known.clone();
        }
        self.become_state(state);
        self.begin_notes(tid);
        let told = self.told(tid);
        let asked = self.end_notes();
        match known {
            Some(known) if known != told => self.note_difference(tid, "a thread is not who it was in the same place"),
            Some(_) => {}
            None => self.note_met(place, (tid, state), asked, &told),
        }
        told
    }

    fn note_met(
        &mut self,
        place: Option<MemoKey>,
        (tid, state): (Tid, &Snapshot),
        asked: Vec<Dependency>,
        told: &Told,
    ) {
        let Some((place, space)) = place.zip(space_of(state, tid)) else { return };
        let place = if self.is_by_itself(tid) { place.silent } else { place.any };
        let Some(looks) = self.world.memory.effect(space, &state.memory, &state.memory) else { return };
        self.remembered.met.add(place, Way { looks, answers: answers_in(state, asked), told: told.clone() });
    }

    /// Whether no other thread in the kernel decides who a thread is: it is at a function of the library, and waits for
    /// nothing in the kernel, nor for another service.
    fn is_by_itself(&self, tid: Tid) -> bool {
        let waits = self.world.kernel.threads.get(&tid).is_none_or(|thread| thread.wait.is_some());
        !waits && self.pending_operation(tid).is_some() && self.gate(tid).is_none()
    }
}
