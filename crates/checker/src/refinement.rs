//! The refinement: which words, stacks, mappings and locks matter to other threads, as steps have shown so far.
//!
//! It is one abstraction for all states. Where a step shows that it was too coarse for earlier steps, the search
//! restarts with the refined one.
//!
//! Counterexample-guided refinement without counterexamples: an abstraction ("this word is local",
//! "this lock is only released by its holder") is assumed until an execution shows otherwise; then
//! the fact is added and the search begins anew. It ends because facts only accumulate and are
//! finitely many for a finite search. **Invariant:** nothing is ever removed; merging the
//! refinements of workers is a union.

use crate::store_buffer::TriangularRaces;
use kernel::Tid;
use memory::{PAGE_SIZE, SpaceId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trace::KnowledgeRef;

/// The abstraction that decides which operations are visible and which objects footprints contain.
///
/// It must never shrink during a search: a round that lost an element would merge steps that are known to be dependent,
/// and the rounds might not terminate. `has_grown` must be set whenever a new element changes the footprint or the end
/// of a step that was taken already: otherwise a round would count as complete under an abstraction that is too coarse.
#[derive(Clone, Default)]
pub struct Refinement {
    /// Words with watchpoints: threads race there, so each access is a visible operation.
    pub promoted: BTreeSet<(SpaceId, u64)>,
    /// Threads whose stacks other threads access.
    pub exposed: BTreeSet<Tid>,
    /// Words and bytes by object: whether they are written, or were only read so far.
    parts: FxHashMap<u64, Part>,
    /// Words that are accessed byte by byte.
    bytewise: FxHashSet<u64>,
    /// Words that were only accessed as a whole so far.
    whole: FxHashSet<u64>,
    /// Words and locks that so far only the library accessed, to create and end threads.
    inside: FxHashSet<u64>,
    /// Words and locks that programs access.
    outside: FxHashSet<u64>,
    /// Those of them that the library accesses as well.
    both: FxHashSet<u64>,
    /// Address ranges whose mapping a step changed while several threads used the space.
    remapped: Vec<(SpaceId, Range<u64>)>,
    /// Pages that were accessed while several threads used the space.
    accessed: FxHashSet<(SpaceId, u64)>,
    /// The last of them: most accesses are to the same page as the previous one.
    last_accessed: Option<(SpaceId, u64)>,
    /// Address ranges whose content a step discarded, or whose mapping a step changed next to an access: accesses there are
    /// visible operations.
    watched: Vec<(SpaceId, Range<u64>)>,
    /// Whether stdio functions are executed as they stand, because their arguments race.
    pub is_stdio_split: bool,
    /// A process sets the limits of another: no syscall that they bound is local.
    pub sets_limits: bool,
    /// A thread was sent a signal by another: signal masks are visible.
    pub sends_signals: bool,
    /// Somebody has set the real-time clock while others existed: reading a clock is visible.
    pub sets_clock: bool,
    /// Whether stores wait in store buffers, and what shows it.
    pub triangular: TriangularRaces,
    /// Words that handlers of signals look at, and what they interrupt.
    handled: HandledWords,
    /// The lock of each word in which a lock is kept.
    pub lock_words: FxHashMap<u64, u64>,
    /// Locks that another thread than the holder acquired, released or overwrote: holding one excludes no other thread.
    broken: BTreeSet<u64>,
    /// Locks for which that was seen in this round. They count from the next round on: within a round, states are
    /// compared by what threads hold.
    breaking: BTreeSet<u64>,
    /// Locks that a thread found held, and went on: others can tell when they are acquired.
    observed: BTreeSet<u64>,
    /// Locks for which that was seen in this round. They count from the next round on, as above.
    observing: BTreeSet<u64>,
    /// Whether the abstraction was too coarse for earlier steps of this round.
    pub has_grown: Arc<AtomicBool>,
}

/// Words that handlers of signals read, and those that are written where a handler may interrupt: the words in both are racing words.
#[derive(Clone, Default)]
struct HandledWords {
    read: BTreeSet<(SpaceId, u64)>,
    written: FxHashSet<(SpaceId, u64)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// No step writes it, so reads are independent of all steps.
    OnlyRead,
    Written,
}

impl Refinement {
    /// Whether it has at least as many elements of each kind as another: necessary for having all of them.
    #[must_use]
    pub fn is_as_large_as(&self, other: &Self) -> bool {
        self.promoted.len() >= other.promoted.len()
            && self.exposed.len() >= other.exposed.len()
            && self.bytewise.len() >= other.bytewise.len()
            && self.remapped.len() >= other.remapped.len()
            && self.watched.len() >= other.watched.len()
    }

    fn grow(&self, is_new: bool) {
        self.has_grown.fetch_or(is_new, Ordering::Relaxed);
    }

    /// Whether an access belongs to the footprint: some step writes the object.
    pub fn matters(&mut self, object: u64, write: bool) -> bool {
        let part = self.parts.entry(object).or_insert(if write { Part::Written } else { Part::OnlyRead });
        if write && *part == Part::OnlyRead {
            *part = Part::Written;
            self.has_grown.store(true, Ordering::Relaxed);
        }
        *part == Part::Written
    }

    /// Whether a word is accessed byte by byte; from now on, if the access is to a part of it.
    pub fn is_bytewise(&mut self, word: u64, is_part: bool) -> bool {
        if self.bytewise.contains(&word) {
            return true;
        }
        match is_part {
            true => {
                self.bytewise.insert(word);
                self.grow(self.whole.contains(&word));
            }
            false => {
                self.whole.insert(word);
            }
        }
        is_part
    }

    /// Whether a word may be accessed as a whole, and whether byte by byte; both where it was not accessed yet.
    #[must_use]
    pub fn uses(&self, word: u64) -> (bool, bool) {
        match self.bytewise.contains(&word) {
            true => (false, true),
            false => (true, !self.whole.contains(&word)),
        }
    }

    /// Whether programs access a word that the library accesses to create and end threads: only then these accesses are
    /// visible.
    pub fn is_used_outside(&mut self, word: u64) -> bool {
        let is_used = self.outside.contains(&word);
        match is_used {
            true => self.both.insert(word),
            false => self.inside.insert(word),
        };
        is_used
    }

    /// A program accesses a word that may be the library's, such as a lock that `fork(2)` acquires or the name of a
    /// thread.
    pub fn use_outside(&mut self, word: u64) {
        if self.outside.insert(word) {
            let was_inside = self.inside.remove(&word);
            self.both.extend(was_inside.then_some(word));
            self.grow(was_inside);
        }
    }

    /// Merges the refinement of another worker. If one of them was too coarse for the steps of the other, both restart.
    #[allow(clippy::disallowed_methods, reason = "what comes of it does not depend on the order")]
    pub fn merge(&mut self, other: &Self) {
        for (object, part) in &other.parts {
            let own = self.parts.entry(*object).or_insert(*part);
            if *own != *part {
                *own = Part::Written;
                self.has_grown.store(true, Ordering::Relaxed);
            }
        }
        self.whole.extend(&other.whole);
        self.bytewise.extend(&other.bytewise);
        let is_torn = self.bytewise.iter().any(|word| self.whole.contains(word));
        self.grow(is_torn);
        self.whole.retain(|word| !self.bytewise.contains(word));
        self.inside.extend(&other.inside);
        self.outside.extend(&other.outside);
        let is_both = self.inside.iter().any(|word| self.outside.contains(word));
        self.grow(is_both);
        self.both.extend(&other.both);
        self.both.extend(self.inside.intersection(&self.outside));
        self.inside.retain(|word| !self.outside.contains(word));
        other.exposed.iter().for_each(|tid| self.expose(*tid));
        self.promote(other.promoted.iter().copied());
        self.accessed.extend(&other.accessed);
        other.remapped.iter().for_each(|(space, range)| self.remap(*space, range.clone(), false));
        let is_late = |(space, range): &(SpaceId, Range<u64>)| {
            other.is_accessed(*space, range) && !other.remapped.contains(&(*space, range.clone()))
        };
        let is_late = self.remapped.iter().any(is_late);
        self.grow(is_late);
        other.watched.iter().for_each(|(space, range)| self.watch(*space, range.clone()));
        if other.is_stdio_split {
            self.split_stdio();
        }
        if other.sets_limits {
            self.set_limits();
        }
        if other.sends_signals {
            self.send_signals();
        }
        if other.sets_clock {
            self.set_clock();
        }
        let is_new = self.triangular.merge(&other.triangular);
        self.grow(is_new);
        other.handled.written.iter().for_each(|place| self.note_write_outside(*place));
        other.handled.read.iter().for_each(|place| self.note_read_by_handler(*place));
        self.lock_words.extend(&other.lock_words);
        other.breaking.iter().for_each(|lock| self.break_lock(*lock));
        other.observing.iter().for_each(|lock| self.observe(*lock));
    }

    /// What decides where steps begin and end, as plain data. Hash tables are sorted: files must not depend on
    /// iteration order.
    #[must_use]
    #[allow(clippy::disallowed_methods, reason = "it is sorted then")]
    pub fn exported(&self) -> KnowledgeRef {
        let sorted = |mut numbers: Vec<u64>| {
            numbers.sort_unstable();
            numbers
        };
        let written = self.parts.iter().filter(|(_, part)| **part == Part::Written).map(|(object, _)| *object);
        KnowledgeRef {
            promoted: self.promoted.iter().map(|(space, address)| (space.0, *address)).collect(),
            exposed: self.exposed.iter().map(|tid| tid.0).collect(),
            written: sorted(written.collect()),
            bytewise: sorted(self.bytewise.iter().copied().collect()),
            outside: sorted(self.both.iter().copied().collect()),
            remapped: exported_ranges(&self.remapped),
            discarded: exported_ranges(&self.watched),
            stdio: self.is_stdio_split,
            limits: self.sets_limits,
            signals: self.sends_signals,
            clock: self.sets_clock,
            buffers: self.triangular.buffers_stores,
            read_by_handlers: self.handled.read.iter().map(|(space, address)| (space.0, *address)).collect(),
            broken: self.broken.iter().copied().collect(),
            observed: self.observed.iter().copied().collect(),
        }
    }

    /// The refinement of another search.
    #[must_use]
    pub fn imported(known: &KnowledgeRef) -> Self {
        Self {
            promoted: known.promoted.iter().map(|(space, address)| (SpaceId(*space), *address)).collect(),
            exposed: known.exposed.iter().map(|tid| Tid(*tid)).collect(),
            parts: known.written.iter().map(|object| (*object, Part::Written)).collect(),
            bytewise: known.bytewise.iter().copied().collect(),
            outside: known.outside.iter().copied().collect(),
            remapped: imported_ranges(&known.remapped),
            watched: imported_ranges(&known.discarded),
            is_stdio_split: known.stdio,
            sets_limits: known.limits,
            sends_signals: known.signals,
            sets_clock: known.clock,
            triangular: TriangularRaces::known(known.buffers),
            handled: HandledWords {
                read: known.read_by_handlers.iter().map(|(space, address)| (SpaceId(*space), *address)).collect(),
                ..HandledWords::default()
            },
            broken: known.broken.iter().copied().collect(),
            observed: known.observed.iter().copied().collect(),
            ..Self::default()
        }
    }

    /// Records an access to a page.
    pub fn note_page(&mut self, space: SpaceId, address: u64) {
        let page = (space, address / PAGE_SIZE);
        if self.last_accessed != Some(page) {
            self.last_accessed = Some(page);
            self.accessed.insert(page);
        }
    }

    /// Records that the mapping of a range of pages changes; `is_stack` if a thread has its stack there.
    pub fn remap(&mut self, space: SpaceId, range: Range<u64>, is_stack: bool) {
        if !self.remapped.iter().any(|known| *known == (space, range.clone())) {
            self.grow(is_stack || self.is_accessed(space, &range));
            self.remapped.push((space, range));
        }
    }

    /// Whether a page of a range was accessed while several threads used the space.
    #[must_use]
    #[allow(clippy::disallowed_methods, reason = "what comes of it does not depend on the order")]
    pub fn is_accessed(&self, space: SpaceId, range: &Range<u64>) -> bool {
        self.accessed.iter().any(|(other, page)| *other == space && range.contains(&(page * PAGE_SIZE)))
    }

    /// Makes accesses to a range of pages visible.
    pub fn watch(&mut self, space: SpaceId, range: Range<u64>) {
        if !self.watched.contains(&(space, range.clone())) {
            self.watched.push((space, range));
            self.grow(true);
        }
    }

    /// Ranges whose mapping changes.
    pub fn remapped(&self) -> impl Iterator<Item = &(SpaceId, Range<u64>)> {
        self.remapped.iter()
    }

    /// Ranges in which accesses are visible.
    pub fn watched(&self) -> impl Iterator<Item = &(SpaceId, Range<u64>)> {
        self.watched.iter()
    }

    /// Whether an access is a visible operation: a word of it races, or its content may be discarded.
    #[must_use]
    pub fn is_visible(&self, space: SpaceId, addr: u64, size: u32) -> bool {
        let end = addr + u64::from(size.max(1));
        let is_watched = |(other, range): &(SpaceId, Range<u64>)| *other == space && range.contains(&addr);
        (addr & !3..end).step_by(4).any(|word| self.promoted.contains(&(space, word)))
            || self.watched.iter().any(is_watched)
    }

    /// Records that a process sets the limits of another.
    pub fn set_limits(&mut self) {
        self.grow(!self.sets_limits);
        self.sets_limits = true;
    }

    /// Records that a thread is sent a signal by another.
    pub fn send_signals(&mut self) {
        self.grow(!self.sends_signals);
        self.sends_signals = true;
    }

    /// Records that somebody sets the real-time clock.
    pub fn set_clock(&mut self) {
        self.grow(!self.sets_clock);
        self.sets_clock = true;
    }

    /// Records that a thread loads a racing word behind a store to another one, with nothing in between that waits until the store
    /// has reached memory.
    pub fn note_late_load(&mut self, word: u64, tid: Tid) {
        let is_new = self.triangular.note_late_load(word, tid);
        self.grow(is_new);
    }

    /// Records a store to a word of memory that threads share.
    pub fn note_store(&mut self, word: u64, tid: Tid) {
        let is_new = self.triangular.note_store(word, tid);
        self.grow(is_new);
    }

    /// Records that a handler of a signal reads a word.
    pub fn note_read_by_handler(&mut self, (space, address): (SpaceId, u64)) {
        let place = (space, address & !3);
        self.handled.read.insert(place);
        if self.handled.written.contains(&place) {
            self.promote([place]);
        }
    }

    /// Records that somebody writes a word whom a handler of a signal may interrupt.
    pub fn note_write_outside(&mut self, (space, address): (SpaceId, u64)) {
        let place = (space, address & !3);
        self.handled.written.insert(place);
        if self.handled.read.contains(&place) {
            self.promote([place]);
        }
    }

    /// Records that arguments of stdio functions race.
    pub fn split_stdio(&mut self) {
        self.grow(!self.is_stdio_split);
        self.is_stdio_split = true;
    }

    /// Whether the mapping of a part of a range changes.
    #[must_use]
    pub fn is_remapped(&self, space: SpaceId, range: &Range<u64>) -> bool {
        self.remapped_in(space, range).next().is_some()
    }

    /// Ranges whose mapping changes, and that have a part in common with one.
    pub fn remapped_in(&self, space: SpaceId, range: &Range<u64>) -> impl Iterator<Item = &Range<u64>> {
        let meets = move |known: &Range<u64>| known.start < range.end && range.start < known.end;
        self.remapped.iter().filter(move |(other, known)| *other == space && meets(known)).map(|(_, known)| known)
    }

    /// Whether the mapping of any range changes.
    #[must_use]
    pub fn has_remapped(&self) -> bool {
        !self.remapped.is_empty()
    }

    /// Records that another thread than the holder acquired, released or overwrote a lock.
    pub fn break_lock(&mut self, lock: u64) {
        let is_new = !self.broken.contains(&lock) && self.breaking.insert(lock);
        self.grow(is_new);
    }

    /// Records that a thread has found a lock held by another, and went on.
    pub fn observe(&mut self, lock: u64) {
        let is_new = !self.observed.contains(&lock) && self.observing.insert(lock);
        self.grow(is_new);
    }

    /// The same of a thread that has read a word of a lock.
    pub fn observe_at(&mut self, word: u64) {
        let lock = self.lock_words.get(&word).copied();
        lock.into_iter().for_each(|lock| self.observe(lock));
    }

    /// Whether a word belongs to a lock whose acquisition counts as a right mover.
    #[must_use]
    pub fn is_unobserved_lock(&self, word: u64) -> bool {
        self.lock_words.get(&word).is_some_and(|lock| self.is_right_mover(*lock))
    }

    /// Whether the acquisition of a lock is a right mover, as far as is known: nobody breaks the lock, or goes on where it is
    /// held.
    #[must_use]
    pub fn is_right_mover(&self, lock: u64) -> bool {
        self.is_kept(lock) && !self.observed.contains(&lock)
    }

    /// Begins a round.
    pub fn begin_round(&mut self) {
        self.broken.append(&mut self.breaking);
        self.observed.append(&mut self.observing);
        self.triangular.begin_round();
    }

    /// Whether holding a lock excludes all other threads, as far as is known.
    #[must_use]
    pub fn is_kept(&self, lock: u64) -> bool {
        !self.broken.contains(&lock)
    }

    /// Records that other threads access the stack of a thread.
    pub fn expose(&mut self, tid: Tid) {
        let is_new = self.exposed.insert(tid);
        self.grow(is_new);
    }

    /// Whether a word has a watchpoint.
    #[must_use]
    pub fn is_promoted(&self, (space, address): (SpaceId, u64)) -> bool {
        self.promoted.contains(&(space, address & !3))
    }

    /// Sets watchpoints on words at which threads race.
    pub fn promote(&mut self, words: impl IntoIterator<Item = (SpaceId, u64)>) {
        for (space, address) in words {
            let is_new = self.promoted.insert((space, address & !3));
            self.grow(is_new);
        }
    }
}

fn exported_ranges(ranges: &[(SpaceId, Range<u64>)]) -> Vec<(u64, u64, u64)> {
    ranges.iter().map(|(space, range)| (space.0, range.start, range.end)).collect()
}

fn imported_ranges(ranges: &[(u64, u64, u64)]) -> Vec<(SpaceId, Range<u64>)> {
    ranges.iter().map(|(space, start, end)| (SpaceId(*space), *start..*end)).collect()
}
