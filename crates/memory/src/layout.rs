//! All mappings of one space, in address order, never overlapping, merged wherever two are one for every purpose.
//!
//! Merging makes the layout a function of what is mapped, not of the calls that led there, so fingerprints agree.
//!
//! **Invariant:** `ends` is `mappings` mapped to their ends; `Layout::note_ends` restores it after
//! each change. Lookups bisect `ends`: a miss of the translation cache costs O(log n) for n
//! mappings, a change O(n).

use crate::{Backing, MapError, Mapping, Name, PAGE_SIZE, Protection, Sharing};

/// First address above user space.
pub const USER_END: u64 = 0x7fff_ffff_f000;

/// `vm.mmap_min_addr`: nothing is placed below unless asked to.
const PLACED_MIN: u64 = 0x1_0000;

/// Free room that Linux keeps below a stack (`stack_guard_gap`, 256 pages).
const STACK_GUARD: u64 = 256 * PAGE_SIZE;

/// Default of `RLIMIT_STACK`.
const STACK_LIMIT: u64 = 8 << 20;

/// All mappings of one space.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Layout {
    mappings: Vec<Mapping>,
    /// Where each ends: close together, for they are searched all the time.
    ends: Vec<u64>,
    /// How long a mapping that grows down may become, in bytes.
    pub(crate) stack_limit: u64,
}

impl Default for Layout {
    fn default() -> Self {
        Self { mappings: Vec::new(), ends: Vec::new(), stack_limit: STACK_LIMIT }
    }
}

impl Layout {
    pub(crate) fn mappings(&self) -> &[Mapping] {
        &self.mappings
    }

    /// Number of the first mapping that ends behind `addr`.
    fn first_behind(&self, addr: u64) -> usize {
        self.ends.partition_point(|end| *end <= addr)
    }

    /// To be called whenever mappings have changed.
    fn note_ends(&mut self) {
        self.ends.clear();
        self.ends.extend(self.mappings.iter().map(Mapping::end));
    }

    pub(crate) fn find(&self, addr: u64) -> Option<&Mapping> {
        self.mappings.get(self.first_behind(addr)).filter(|mapping| mapping.start <= addr)
    }

    /// Mappings that have a byte in the range.
    pub(crate) fn overlapping(&self, start: u64, end: u64) -> &[Mapping] {
        let first = self.first_behind(start);
        let count = self.mappings[first..].partition_point(|mapping| mapping.start < end);
        &self.mappings[first..first + count]
    }

    /// Whether every byte of the range is mapped.
    pub(crate) fn covers(&self, start: u64, end: u64) -> bool {
        self.covered_until(start, end) == end
    }

    /// The first byte of the range that is not mapped, or its end.
    fn covered_until(&self, start: u64, end: u64) -> u64 {
        let reach = |at: u64, mapping: &Mapping| if mapping.start <= at { mapping.end().min(end) } else { at };
        self.overlapping(start, end).iter().fold(start, reach)
    }

    /// Removes the range and returns what was there, cut at its ends.
    pub(crate) fn carve(&mut self, start: u64, end: u64) -> Vec<Mapping> {
        let first = self.first_behind(start);
        let count = self.overlapping(start, end).len();
        let cut: Vec<Mapping> = self.mappings[first..first + count].to_vec();
        let before = cut.first().filter(|mapping| mapping.start < start).map(|m| m.piece(m.start, start));
        let behind = cut.last().filter(|mapping| mapping.end() > end).map(|m| m.piece(end, m.end()));
        self.mappings.splice(first..first + count, before.into_iter().chain(behind));
        self.note_ends();
        cut.into_iter().map(|m| m.piece(m.start.max(start), m.end().min(end))).collect()
    }

    /// Adds a mapping where nothing is.
    pub(crate) fn insert(&mut self, mapping: Mapping) {
        let at = self.first_behind(mapping.start);
        self.mappings.insert(at, mapping);
        self.merge_at(at + 1);
        self.merge_at(at);
        self.note_ends();
    }

    /// Makes one of the mapping with this number and the one before, if they are one.
    fn merge_at(&mut self, at: usize) {
        if at == 0 || at >= self.mappings.len() || !self.mappings[at - 1].continues_in(&self.mappings[at]) {
            return;
        }
        self.mappings[at - 1].len += self.mappings[at].len;
        self.mappings.remove(at);
    }

    /// Changes what is allowed, up to the first byte that is not mapped, as mprotect(2) does.
    ///
    /// POSIX leaves open what a failed mprotect(2) changed; Linux has changed the pages before the
    /// gap, and programs see that.
    pub(crate) fn protect(&mut self, start: u64, end: u64, protection: Protection) -> Result<(), MapError> {
        let reached = self.covered_until(start, end);
        for piece in self.carve(start, reached) {
            self.insert(Mapping { protection, ..piece });
        }
        if reached == end { Ok(()) } else { Err(MapError::NotMapped) }
    }

    /// Whether a stack may grow down to `addr`; the new start if so.
    ///
    /// As Linux's `expand_stack`: within `RLIMIT_STACK`, and not closer to a mapping below than the
    /// guard gap, unless that is a stack itself or inaccessible (a guard page that the program
    /// made).
    pub(crate) fn growth(&self, addr: u64) -> Option<(u64, &Mapping)> {
        let above = self.first_behind(addr);
        let stack = self.mappings.get(above).filter(|mapping| mapping.grows_down && addr < mapping.start)?;
        let start = addr - addr % PAGE_SIZE;
        let near = |below: &Mapping| {
            !below.grows_down && below.protection != Protection::NONE && start - below.end() < STACK_GUARD
        };
        let blocked = above.checked_sub(1).is_some_and(|below| near(&self.mappings[below]));
        (!blocked && start >= PLACED_MIN && stack.end() - start <= self.stack_limit).then_some((start, stack))
    }

    /// Moves the start of the mapping above `start` down to it.
    pub(crate) fn grow(&mut self, start: u64) {
        let above = self.first_behind(start);
        let grown = self.mappings[above].piece(start, self.mappings[above].end());
        self.mappings[above] = grown;
        self.merge_at(above);
        self.note_ends();
    }

    /// Where a mapping of `len` bytes may go: at `hint` if that is free, else as high as possible below `below`.
    ///
    /// Top down, as Linux places mappings, but without randomisation: an address is a function of
    /// the layout alone, so that states which differ only in history meet.
    pub(crate) fn find_gap(&self, len: u64, hint: u64, below: u64) -> Option<u64> {
        let len = round_up(len).filter(|len| *len > 0)?;
        let hint = hint - hint % PAGE_SIZE;
        if hint >= PLACED_MIN && self.is_free(hint, len) {
            return Some(hint);
        }
        let mut ceiling = below.min(USER_END) - below.min(USER_END) % PAGE_SIZE;
        for mapping in self.mappings.iter().rev() {
            if mapping.end() <= ceiling && ceiling - mapping.end() >= len {
                break;
            }
            ceiling = ceiling.min(guarded_start(mapping));
        }
        ceiling.checked_sub(len).filter(|start| *start >= PLACED_MIN)
    }

    fn is_free(&self, start: u64, len: u64) -> bool {
        let Some(end) = start.checked_add(len).filter(|end| *end <= USER_END) else { return false };
        let behind = self.first_behind(start);
        self.mappings.get(behind).is_none_or(|mapping| guarded_start(mapping) >= end)
    }

    /// Everything that makes this layout differ from another, as bytes to hash.
    pub(crate) fn describe(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(64 + 64 * self.mappings.len());
        bytes.extend(self.stack_limit.to_le_bytes());
        for mapping in &self.mappings {
            describe_mapping(mapping, &mut bytes);
        }
        bytes
    }
}

fn describe_mapping(mapping: &Mapping, bytes: &mut Vec<u8>) {
    let (id, offset, kind) = match mapping.backing {
        Backing::Anonymous => (0, 0, 0),
        Backing::Object { id, offset } => (id.0, offset, 1),
    };
    let shared = u8::from(mapping.sharing == Sharing::Shared);
    let name = match &mapping.name {
        Name::None => 0,
        Name::Heap => 1,
        Name::Stack => 2,
        Name::Path(_) => 3,
    };
    bytes.extend([mapping.start, mapping.len, id, offset].iter().flat_map(|word| word.to_le_bytes()));
    bytes.extend([kind, shared, u8::from(mapping.grows_down), mapping.protection.bits(), name]);
    bytes.extend((mapping.name.text().len() as u64).to_le_bytes());
    bytes.extend(mapping.name.text().as_bytes());
}

/// Where a mapping starts, with the room that stacks keep below them.
fn guarded_start(mapping: &Mapping) -> u64 {
    if mapping.grows_down { mapping.start.saturating_sub(STACK_GUARD) } else { mapping.start }
}

/// A length in whole pages.
pub(crate) fn round_up(len: u64) -> Option<u64> {
    Some(len.checked_add(PAGE_SIZE - 1)? / PAGE_SIZE * PAGE_SIZE)
}

/// The end of a range that starts at a page and lies in user space, its length rounded up to whole pages.
pub(crate) fn range_end(start: u64, len: u64) -> Result<u64, MapError> {
    let end = round_up(len).and_then(|len| start.checked_add(len)).ok_or(MapError::Invalid)?;
    if start.is_multiple_of(PAGE_SIZE) && start < end && end <= USER_END { Ok(end) } else { Err(MapError::Invalid) }
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
