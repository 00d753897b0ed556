//! What earlier steps have shown of memory, for all states: where it is written, in what parts, by whom.
//!
//! Everything here only grows. Where a step shows that an earlier one was seen too coarsely, the search has to begin anew.

use crate::footprint::access::{self, Kind};
use kernel::Tid;
use memory::{PAGE_SIZE, SpaceId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trace::KnowledgeRef;

/// What earlier steps have shown of memory.
#[derive(Clone, Default)]
pub struct Refinement {
    /// Words at which threads stop, because a search saw that they race there.
    pub promoted: BTreeSet<(SpaceId, u64)>,
    /// Threads whose stacks others use.
    pub exposed: BTreeSet<Tid>,
    /// Parts of memory by object: whether they are written, or were only read so far.
    parts: FxHashMap<u64, Part>,
    /// Words that are used byte by byte.
    bytewise: FxHashSet<u64>,
    /// Words that are used as a whole so far.
    whole: FxHashSet<u64>,
    /// Words that the library uses to make and end threads, and nobody else so far.
    inside: FxHashSet<u64>,
    /// Words that programs use.
    outside: FxHashSet<u64>,
    /// Ranges of addresses whose mapping some step changed while several threads used the space.
    remapped: Vec<(SpaceId, Range<u64>)>,
    /// Pages that were accessed while several threads used the space.
    accessed: FxHashSet<(SpaceId, u64)>,
    /// The last of them: most accesses are to the same page as the one before.
    last_accessed: Option<(SpaceId, u64)>,
    /// Ranges of addresses whose content some step took away: accesses there are visible operations.
    discarded: Vec<(SpaceId, Range<u64>)>,
    /// Whether functions of standard input and output are executed as they stand: what they are given races.
    pub is_stdio_split: bool,
    /// A process sets the limits of another: no call that they bound concerns its caller alone.
    pub sets_limits: bool,
    /// Threads are sent signals by others: which signals a thread blocks is no longer its own concern.
    pub sends_signals: bool,
    /// Words in which locks are kept.
    pub lock_words: FxHashMap<u64, u64>,
    /// Locks that somebody other than their holder took away: holding one keeps nobody out.
    broken: BTreeSet<u64>,
    /// Locks for which that was seen in this round: what threads hold must not change while states are compared.
    breaking: BTreeSet<u64>,
    /// Whether something new was learnt that changes what earlier steps mean.
    pub has_grown: Arc<AtomicBool>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Nobody writes it: who reads it does not matter.
    OnlyRead,
    Written,
}

impl Refinement {
    fn grow(&self, is_new: bool) {
        self.has_grown.fetch_or(is_new, Ordering::Relaxed);
    }

    /// Whether an access can matter to others.
    pub fn matters(&mut self, object: u64, write: bool) -> bool {
        let part = self.parts.entry(object).or_insert(if write { Part::Written } else { Part::OnlyRead });
        if write && *part == Part::OnlyRead {
            *part = Part::Written;
            self.has_grown.store(true, Ordering::Relaxed);
        }
        *part == Part::Written
    }

    /// Whether a word is used byte by byte; from now on, if `is_part` of it is.
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

    /// Whether a word is used as a whole, and whether byte by byte, as far as is known: possibly both where it is not.
    #[must_use]
    pub fn uses(&self, word: u64) -> (bool, bool) {
        match self.bytewise.contains(&word) {
            true => (false, true),
            false => (true, !self.whole.contains(&word)),
        }
    }

    /// Whether programs use a word that the library uses to make and end threads: only then it matters that it does.
    pub fn is_used_outside(&mut self, word: u64) -> bool {
        let is_used = self.outside.contains(&word);
        if !is_used {
            self.inside.insert(word);
        }
        is_used
    }

    /// A program uses a word: a lock that `fork(2)` takes, the place for the name of a thread.
    pub fn use_outside(&mut self, word: u64) {
        if self.outside.insert(word) {
            let was_inside = self.inside.remove(&word);
            self.grow(was_inside);
        }
    }

    /// What another worker has learnt meanwhile; what was seen too coarsely by either of them makes both begin anew.
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
        let is_met = self.inside.iter().any(|word| self.outside.contains(word));
        self.grow(is_met);
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
        other.discarded.iter().for_each(|(space, range)| self.discard(*space, range.clone()));
        if other.is_stdio_split {
            self.split_stdio();
        }
        if other.sets_limits {
            self.set_limits();
        }
        if other.sends_signals {
            self.send_signals();
        }
        self.lock_words.extend(&other.lock_words);
        other.breaking.iter().for_each(|lock| self.break_lock(*lock));
    }

    /// What decides where steps begin and end, as plain data. Hash tables are sorted: files must not depend on their order.
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
            remapped: exported_ranges(&self.remapped),
            discarded: exported_ranges(&self.discarded),
            stdio: self.is_stdio_split,
            limits: self.sets_limits,
            signals: self.sends_signals,
        }
    }

    /// What another search had learnt.
    #[must_use]
    pub fn imported(known: &KnowledgeRef) -> Self {
        Self {
            promoted: known.promoted.iter().map(|(space, address)| (SpaceId(*space), *address)).collect(),
            exposed: known.exposed.iter().map(|tid| Tid(*tid)).collect(),
            parts: known.written.iter().map(|object| (*object, Part::Written)).collect(),
            bytewise: known.bytewise.iter().copied().collect(),
            remapped: imported_ranges(&known.remapped),
            discarded: imported_ranges(&known.discarded),
            is_stdio_split: known.stdio,
            sets_limits: known.limits,
            sends_signals: known.signals,
            ..Self::default()
        }
    }

    /// A page is accessed.
    pub fn note_page(&mut self, space: SpaceId, address: u64) {
        let page = (space, address / PAGE_SIZE);
        if self.last_accessed != Some(page) {
            self.last_accessed = Some(page);
            self.accessed.insert(page);
        }
    }

    /// The mapping of a range of pages is changed; `is_stack` if a thread has its stack there.
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

    /// The content of a range of pages is taken away.
    pub fn discard(&mut self, space: SpaceId, range: Range<u64>) {
        if !self.discarded.contains(&(space, range.clone())) {
            self.discarded.push((space, range));
            self.grow(true);
        }
    }

    /// Ranges whose content is taken away.
    pub fn discarded(&self) -> impl Iterator<Item = &(SpaceId, Range<u64>)> {
        self.discarded.iter()
    }

    /// Whether an access is a visible operation: a word of it races, or its content may be taken away.
    #[must_use]
    pub fn is_visible(&self, space: SpaceId, addr: u64, size: u32) -> bool {
        let end = addr + u64::from(size.max(1));
        let is_discarded = |(other, range): &(SpaceId, Range<u64>)| *other == space && range.contains(&addr);
        (addr & !3..end).step_by(4).any(|word| self.promoted.contains(&(space, word)))
            || self.discarded.iter().any(is_discarded)
    }

    /// A process sets the limits of another.
    pub fn set_limits(&mut self) {
        self.grow(!self.sets_limits);
        self.sets_limits = true;
    }

    /// A thread is sent a signal by another.
    pub fn send_signals(&mut self) {
        self.grow(!self.sends_signals);
        self.sends_signals = true;
    }

    /// Functions of standard input and output are given data that race.
    pub fn split_stdio(&mut self) {
        self.grow(!self.is_stdio_split);
        self.is_stdio_split = true;
    }

    /// The ranges whose mapping changes that have a byte in common with another, as objects.
    pub fn remapped(&self, space: SpaceId, range: Range<u64>) -> impl Iterator<Item = u64> + '_ {
        let meets = move |(other, known): &&(SpaceId, Range<u64>)| {
            *other == space && known.start < range.end && range.start < known.end
        };
        let object = |(space, range): &(SpaceId, Range<u64>)| {
            access::object(Kind::Space, access::object(Kind::Space, space.0, range.start), range.end)
        };
        self.remapped.iter().filter(meets).map(object)
    }

    /// Whether the mapping of any range changes.
    #[must_use]
    pub fn has_remapped(&self) -> bool {
        !self.remapped.is_empty()
    }

    /// Somebody other than its holder took a lock away.
    pub fn break_lock(&mut self, lock: u64) {
        let is_new = !self.broken.contains(&lock) && self.breaking.insert(lock);
        self.grow(is_new);
    }

    /// A new round begins.
    pub fn begin_round(&mut self) {
        self.broken.append(&mut self.breaking);
    }

    /// Whether a lock keeps everybody out but its holder.
    #[must_use]
    pub fn is_kept(&self, lock: u64) -> bool {
        !self.broken.contains(&lock)
    }

    /// Others use the stack of a thread.
    pub fn expose(&mut self, tid: Tid) {
        let is_new = self.exposed.insert(tid);
        self.grow(is_new);
    }

    /// Whether threads stop before accesses to a place.
    #[must_use]
    pub fn is_promoted(&self, (space, address): (SpaceId, u64)) -> bool {
        self.promoted.contains(&(space, address & !3))
    }

    /// Threads race at words.
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
