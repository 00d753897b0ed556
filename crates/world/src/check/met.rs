//! Who threads are in a state, told without making the world that state: a thread that was met in the same place, and that finds
//! the same in memory and in others, is the same. Where debug assertions are on, everybody is told all the same and compared.

use super::actors::Told;
use super::library::asked::Question;
use super::programs::{Programs, Snapshot};
use super::remembered::{answers_in, are_answers_in, space_of};
use kernel::Tid;
use kernel::map::Wide;
use memory::Effect;
use rustc_hash::FxHashMap;

/// Threads that are remembered at most.
const MET_MAX: usize = 1 << 14;

/// Threads that are somebody else each time they are in the same place are told anew.
const WAYS_MAX: usize = 24;

/// Threads that were met before.
#[derive(Default)]
pub(super) struct Met {
    ways: FxHashMap<u128, Vec<Way>>,
    count: usize,
}

/// What a thread finds, and who it is then.
struct Way {
    looks: Effect,
    answers: Vec<(Question, u128)>,
    told: Told,
}

impl Way {
    fn fits(&self, state: &Snapshot) -> bool {
        state.memory.shows(&self.looks) && are_answers_in(state, &self.answers)
    }
}

impl Met {
    fn find(&self, place: u128, state: &Snapshot) -> Option<&Told> {
        self.ways.get(&place)?.iter().find(|way| way.fits(state)).map(|way| &way.told)
    }

    fn add(&mut self, place: u128, way: Way) {
        if self.count >= MET_MAX {
            *self = Self::default();
        }
        let ways = self.ways.entry(place).or_default();
        if ways.len() < WAYS_MAX {
            ways.push(way);
            self.count += 1;
        }
    }
}

impl Programs {
    /// Somebody in a state, which becomes the world only if that is not known.
    pub(super) fn meet(&mut self, state: &Snapshot, tid: Tid) -> Told {
        let place = place_of(state, tid);
        let known = place.and_then(|place| self.remembered.met.find(place, state));
        if let Some(known) = known
            && !cfg!(debug_assertions)
        {
            return known.clone();
        }
        let known = known.cloned();
        self.become_state(state);
        self.begin_notes(tid);
        let told = self.told(tid);
        let asked = self.end_notes();
        match known {
            Some(known) => debug_assert_eq!(known, told, "{tid:?} is not who it was"),
            None => self.note_met(place, (tid, state), asked, &told),
        }
        told
    }

    fn note_met(&mut self, place: Option<u128>, (tid, state): (Tid, &Snapshot), asked: Vec<Question>, told: &Told) {
        let Some((place, space)) = place.zip(space_of(state, tid)) else { return };
        let Some(looks) = self.world.memory.effect(space, &state.memory, &state.memory) else { return };
        self.remembered.met.add(place, Way { looks, answers: answers_in(state, asked), told: told.clone() });
    }
}

/// What stands for all that decides who a thread is, but for memory and other threads.
fn place_of(state: &Snapshot, tid: Tid) -> Option<u128> {
    let (cpu, member) = (state.cpus.shared(&tid)?, state.library.shared(tid)?);
    let parts = [cpu.identity(), member.identity(), state.memory.ground(), state.aside, state.kernel.identity()];
    Some(Wide::hash_of((tid.0, parts)))
}
