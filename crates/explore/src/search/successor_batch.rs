//! Batches of successors: inserted into the store together, so that the latency of memory is hidden; new ones come out.

use super::frontier::{Counts, Frontier, Sighting};
use super::origin::{Member, Origin};
use super::outcome::Incomplete;
use super::session::Session;
use super::shared::Shared;
use crate::store::{Exhausted, Visit, Visited};
use crate::system::{Failure, Key, TransitionSystem};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering::Relaxed;
use trace::{Choice, FailureKind};

/// Successors that are prefetched together before the first of them is looked up.
const BATCH: usize = 64;
/// Successors of one state after which those so far are inserted, and the bounds are polled.
const BATCH_MOST: usize = 64 * BATCH;

/// A successor whose insertion is not finished.
struct Waiting<T> {
    ticket: T,
    origin: Origin,
    choice: Choice,
    /// How far its insertion is prepared.
    guess: u64,
}

/// The successors that one worker inserts.
pub struct SuccessorBatch<'a, S: TransitionSystem, V: Visited> {
    shared: &'a Shared<'a, S, V>,
    /// The store.
    pub session: Session<'a, V>,
    batch: Vec<Waiting<V::Ticket>>,
    /// States of the batch, if the store cannot give them back; never shrinks, so that allocations are reused.
    batch_states: Vec<S::State>,
    keeps_choices: bool,
    /// Numbers of the successors, with their places in the batch, if workers share the level.
    candidates: Vec<(u32, usize)>,
    known: HashSet<(FailureKind, String, u128)>,
    /// New states.
    pub found: Frontier<S::State>,
    /// New failures.
    pub sightings: Vec<Sighting>,
    /// Counts so far.
    pub counts: Counts,
    /// Counts that the watch has.
    reported: Counts,
    reported_bytes: u64,
}

impl<'a, S: TransitionSystem, V: Visited> SuccessorBatch<'a, S, V> {
    /// An empty batch. `keeps_choices` makes it note the choice that led to each new state.
    pub fn new(shared: &'a Shared<'a, S, V>, keeps_choices: bool) -> Self {
        Self {
            shared,
            session: Session::new(&shared.slot),
            batch: Vec::with_capacity(2 * BATCH),
            batch_states: Vec::new(),
            keeps_choices,
            candidates: Vec::new(),
            known: HashSet::new(),
            found: Frontier::default(),
            sightings: Vec::new(),
            counts: Counts::default(),
            reported: Counts::default(),
            reported_bytes: 0,
        }
    }

    /// Counts on from there.
    pub fn go_on_from(&mut self, counts: Counts) {
        (self.counts, self.reported) = (counts, counts);
    }

    /// Takes a failure for one that was found before.
    pub fn know(&mut self, failure: &Failure, part: u128) {
        self.known.insert((failure.kind, failure.message.clone(), part));
    }

    /// Takes one step of a state, into which `merged` others were merged.
    #[inline]
    pub fn take(
        &mut self,
        parent: Member,
        (choice, state, failure): (Choice, &S::State, Option<&Failure>),
        merged: usize,
    ) -> ControlFlow<()> {
        self.counts.steps += 1 + merged as u64;
        if let Some(failure) = failure {
            self.sight(failure, self.shared.system.part(state), parent, Some(choice));
            if failure.fatal {
                return ControlFlow::Continue(());
            }
        }
        self.offer(parent.origin(), choice, state)
    }

    /// Notes a failure unless this worker found it before, or its kind is ignored.
    pub fn sight(&mut self, failure: &Failure, part: u128, at: Member, choice: Option<Choice>) {
        if self.shared.options.ignored.contains(&failure.kind) {
            return;
        }
        let sighting = Sighting { failure: failure.clone(), part, id: at.id, choice, index: at.index };
        if self.known.insert((failure.kind, failure.message.clone(), part)) {
            return self.sightings.push(sighting);
        }
        let same = |known: &&mut Sighting| known.failure == *failure && known.part == part;
        if let Some(known) = self.sightings.iter_mut().find(same).filter(|known| at.index < known.index) {
            *known = sighting;
        }
    }

    /// Puts a state into the batch; breaks if the search is to end.
    #[inline]
    pub fn offer(&mut self, origin: Origin, choice: Choice, state: &S::State) -> ControlFlow<()> {
        let key: Key<'_> = self.shared.system.key(state);
        match self.session.ticket(key) {
            Ok(ticket) => self.batch.push(Waiting { ticket, origin, choice, guess: 0 }),
            Err(exhausted) => {
                self.give_up(exhausted);
                return ControlFlow::Break(());
            }
        }
        if !V::RESTORES {
            match self.batch_states.get_mut(self.batch.len() - 1) {
                Some(spare) => spare.clone_from(state),
                None => self.batch_states.push(state.clone()),
            }
        }
        if self.batch.len() >= BATCH_MOST { self.interrupt() } else { ControlFlow::Continue(()) }
    }

    /// Finishes the insertions of a state that has very many successors, as far as they are known; breaks if the search
    /// is to end.
    #[cold]
    fn interrupt(&mut self) -> ControlFlow<()> {
        self.flush();
        self.report_counts();
        self.session.release();
        if self.shared.poll() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Ends the search because a step was cut; what is known already is kept.
    #[cold]
    pub fn cut(&mut self) {
        self.flush();
        self.report_counts();
        self.session.release();
        self.shared.cut();
    }

    /// Whether the batch is large enough to hide the latency of memory.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.batch.len() >= BATCH
    }

    /// Finishes the insertions of the batch.
    pub fn flush(&mut self) {
        let mut batch = std::mem::take(&mut self.batch);
        let (store, cursor) = self.session.open();
        for waiting in &mut batch {
            waiting.guess = store.guess(cursor, &waiting.ticket);
        }
        for waiting in &batch {
            store.fetch(cursor, &waiting.ticket, waiting.guess);
        }
        for waiting in &batch {
            store.approach(cursor, &waiting.ticket, waiting.guess);
        }
        for (index, waiting) in batch.iter().enumerate() {
            match self.session.insert(&waiting.ticket, waiting.guess) {
                Ok(visit) => self.settle(index, waiting, visit),
                Err(exhausted) => {
                    self.give_up(exhausted);
                    break;
                }
            }
        }
        self.session.settled();
        self.settle_candidates(&batch);
        batch.clear();
        self.batch = batch;
    }

    /// Counts a successor and notes it if it is new; in a shared level [`Self::settle_candidates`] notes it.
    #[inline]
    fn settle(&mut self, index: usize, waiting: &Waiting<V::Ticket>, visit: Visit) {
        self.counts.states += u64::from(visit.new);
        self.counts.matched += u64::from(!visit.new);
        if waiting.origin.is_index() {
            self.shared.prefetch_parent(visit.id);
            self.candidates.push((visit.id, index));
        } else if visit.new {
            match self.shared.record_parent(visit.id, waiting.origin.0) {
                true => self.find(index, waiting, visit.id),
                false => self.give_up(Exhausted::Memory),
            }
        }
    }

    /// A state that is new in this level belongs to the first state of the level that leads to it, whichever worker was
    /// faster. In the order of the batch, so that the order of the next level does not depend on who was faster either.
    fn settle_candidates(&mut self, batch: &[Waiting<V::Ticket>]) {
        let mut candidates = std::mem::take(&mut self.candidates);
        for (id, index) in candidates.drain(..) {
            match self.shared.claim(id, batch[index].origin) {
                Some(true) => self.find(index, &batch[index], id),
                Some(false) => {}
                None => self.give_up(Exhausted::Memory),
            }
        }
        self.candidates = candidates;
    }

    #[inline]
    fn find(&mut self, index: usize, waiting: &Waiting<V::Ticket>, id: u32) {
        self.found.ids.push(id);
        if waiting.origin.is_index() {
            self.found.origins.push(waiting.origin);
        }
        if self.keeps_choices {
            self.found.choices.push(waiting.choice);
        }
        if !V::RESTORES {
            self.found.states.push(self.batch_states[index].clone());
        }
    }

    /// Adds the counts since the last call to those that all workers share. Before every poll of the bounds; not more often,
    /// since workers contend here.
    pub fn report_counts(&mut self) {
        let watch = &self.shared.watch;
        let bytes = self.found.len() as u64 * self.shared.entry_bytes::<S::State>();
        watch.states.fetch_add(self.counts.states - self.reported.states, Relaxed);
        watch.steps.fetch_add(self.counts.steps - self.reported.steps, Relaxed);
        watch.bytes_frontier.fetch_add(bytes.saturating_sub(self.reported_bytes), Relaxed);
        (self.reported, self.reported_bytes) = (self.counts, bytes);
        self.session.reserved = watch.bytes_frontier.load(Relaxed) + self.shared.parent_bytes();
    }

    /// Hands over the new states.
    pub fn take_found(&mut self) -> Frontier<S::State> {
        self.reported_bytes = 0;
        std::mem::take(&mut self.found)
    }

    fn give_up(&self, exhausted: Exhausted) {
        self.shared.watch.stop(match exhausted {
            Exhausted::Memory => Incomplete::Memory,
            Exhausted::Numbers => Incomplete::StoreFull,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::{Control, Options};
    use super::super::session::StoreSlot;
    use super::super::watch::Watch;
    use super::*;
    use crate::store::{Arena, Fingerprints128};
    use crate::system::{Explained, Selection, Step};

    /// States without steps: the test says what leads where.
    struct States;

    impl TransitionSystem for States {
        type State = u128;
        type Scratch = ();

        fn scratch(&self) {}

        fn initial(&self, (): &mut ()) -> u128 {
            0
        }

        fn key<'a>(&self, state: &'a u128) -> Key<'a> {
            Key::Fingerprint(*state)
        }

        fn steps(&self, (): &mut (), _: &u128, _: Selection, _: &mut impl FnMut(Step<'_, u128>) -> ControlFlow<()>) {}

        fn stuck(&self, (): &mut (), _: &u128) -> Option<Failure> {
            None
        }

        fn observe(&self, (): &mut (), _: &u128, _: usize) -> Result<u64, Failure> {
            Ok(0)
        }

        fn explain(&self, (): &mut (), _: &u128, _: Choice) -> Option<Explained<u128>> {
            None
        }

        fn actor_name(&self, _: &u128, _: u32) -> String {
            String::new()
        }
    }

    #[test]
    fn the_order_of_the_next_level_does_not_depend_on_who_was_faster() {
        let options = Options { workers: 2, ..Options::default() };
        let store = Fingerprints128::new(2).unwrap();
        let slot = StoreSlot::new(store, &options);
        let watch = Watch::new(&options, Control::default());
        let shared = Shared { system: &States, options: &options, slot, parents: Some(Arena::new(1)), watch };
        // The worker of the second place is done before the first place leads to the same state, and to another one.
        let mut found = Frontier::default();
        for (place, successors) in [(1, &[20][..]), (0, &[20, 30])] {
            let mut batch = SuccessorBatch::new(&shared, false);
            let parent = Member { id: 7 + place as u32, index: place, is_shared: true };
            for state in successors {
                let flow = batch.take(parent, (Choice { actor: 0, index: 0 }, state, None), 0);
                assert!(flow.is_continue());
            }
            batch.flush();
            found.append(&mut batch.take_found());
        }
        let level = shared.put_in_order(found, &[7, 8]);
        assert_eq!(level.states, [20, 30]);
        assert!(level.ids.iter().all(|id| shared.parent(*id) == 7));
    }
}
