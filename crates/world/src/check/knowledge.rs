//! What earlier steps have shown of memory, for all states: where it is written, in what parts, by whom.
//!
//! Everything here only grows. Where a step shows that an earlier one was seen too coarsely, the search has to begin anew.

use kernel::Tid;
use memory::SpaceId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trace::KnowledgeRef;

/// What earlier steps have shown of memory.
#[derive(Clone, Default)]
pub struct Knowledge {
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
    /// Whether something new was learnt that changes what earlier steps mean.
    pub has_grown: Arc<AtomicBool>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Nobody writes it: who reads it does not matter.
    OnlyRead,
    Written,
}

impl Knowledge {
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
    }

    /// What decides where steps begin and end, as plain data. Hash tables are sorted: files must not depend on their order.
    #[must_use]
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
            ..Self::default()
        }
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
