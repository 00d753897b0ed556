//! The effect of a step on one space, to be applied to other states without execution.
//!
//! **Invariant:** a step has the same effect in all states that agree on its read set. Words that it writes belong to the read
//! set: then the change of the fingerprint is the same, too, for that is a sum over words.
//!
//! Example: thread 1 executes `x++` with `x` in page 5, word 2, equal to 7.
//! ```text
//! reads   page 5: content h, words {2: 7}
//! writes  page 5: words {2: 8}, sum = hash(word 2, 8) - hash(word 2, 7)
//! ```
//! In any other state with the same mappings, objects and registers in which word 2 is 7, whatever
//! else page 5 holds, the successor is that state with word 2 replaced, and its fingerprint is
//! found by one addition. The caller compares registers and kernel state; this file compares memory
//! only.

use std::sync::Arc;

use crate::memory::Memory;
use crate::owner::Owner;
use crate::page::{self, Bytes, Page, ZERO};
use crate::snapshot::Snapshot;
use crate::table::{CHUNK, CHUNKS, GROUP, GroupImage, PageImage, TableImage};
use crate::watch::unpack;
use crate::{PAGE_SIZE, SpaceId};

/// Bytes of a word.
const WORD: u64 = 8;

/// A step with a larger read set is not worth a memo.
const WORDS_MAX: usize = 2048;

/// A word of a page: its number and its value.
type Word = (u16, u64);

/// The words of a read set in one page.
#[derive(Debug)]
struct PageReads {
    page: u64,
    /// Hash of the whole page, if there was one: if that is the same, so are the words.
    content: Option<u128>,
    words: Box<[Word]>,
}

/// The words that a step writes in one page. The page itself is not kept: the result is interned in most cases, and found by
/// content.
///
/// **Invariant:** `words` are those that differ, not those that were stored: a store of the same
/// value changes nothing, and the word is in the read set anyway, through the log.
#[derive(Debug)]
struct PageWrites {
    page: u64,
    words: Box<[Word]>,
    /// What the writes add to the hash of the content, whatever else the page holds.
    sum: u128,
    /// Whether an object lies beneath.
    over: bool,
    /// Whether the page is given up.
    is_gone: bool,
}

/// The read set and the writes of a step in one space.
#[derive(Debug)]
pub struct Effect {
    space: SpaceId,
    reads: Vec<PageReads>,
    writes: Vec<PageWrites>,
    /// What it adds to the fingerprint.
    sum: u128,
}

impl Memory {
    /// Records the read set from now on, until [`Self::stop_recording`].
    pub fn record_reads(&mut self) {
        let read_set = self.read_set.get_mut();
        read_set.accesses.clear();
        read_set.peeks.clear();
        (read_set.is_on, read_set.is_more) = (true, false);
    }

    /// Ends the recording; the read set stays until the next one.
    pub fn stop_recording(&mut self) {
        self.forget_log();
        self.read_set.get_mut().is_on = false;
    }

    /// The effect on a space since [`Self::record_reads`], between two snapshots. Nothing if more than words of that space was
    /// read or changed: mappings, objects, other spaces.
    ///
    /// Takes time by the words accessed and the pages that differ and, if a base was taken in
    /// between, by the groups of its tables. The read set is used up.
    pub fn effect(&mut self, space: SpaceId, before: &Snapshot, after: &Snapshot) -> Option<Effect> {
        let read_set = self.read_set.get_mut();
        let is_here = read_set.peeks.iter().all(|(other, ..)| *other == space);
        if read_set.is_more || !is_here || before.layout_fingerprint() != after.layout_fingerprint() {
            return None;
        }
        let accesses = read_set.accesses.drain(..).map(unpack).map(|logged| (logged.addr, u64::from(logged.size)));
        let peeks = read_set.peeks.drain(..).map(|(_, addr, len)| (addr, len as u64));
        let writes = writes_between(space, before, after)?;
        let written = writes.iter().flat_map(|writes| {
            writes.words.iter().map(|(index, _)| (writes.page * PAGE_SIZE + u64::from(*index) * WORD, WORD))
        });
        let words = words_of(accesses.chain(peeks).chain(written))?;
        let reads = words.chunk_by(|one, other| one / PAGE_SIZE == other / PAGE_SIZE).map(|words| {
            let page = words[0] / PAGE_SIZE;
            let held = before.entry(space, page).and_then(|entry| Some((entry.content, entry.page.as_ref()?.bytes())));
            let value = |addr: &u64| {
                let index = (addr % PAGE_SIZE / WORD) as u16;
                (index, held.map_or(0, |(_, bytes)| word(bytes, index)))
            };
            PageReads { page, words: words.iter().map(value).collect(), content: held.map(|(content, _)| content) }
        });
        let sum = after.fingerprint().wrapping_sub(before.fingerprint());
        Some(Effect { space, reads: reads.collect(), writes, sum })
    }

    /// The snapshot after a step, from one that satisfies its read set, without restoring that.
    ///
    /// Unchecked: the caller has asked [`Snapshot::satisfies`] and compared the layout
    /// fingerprints.
    pub fn apply(&mut self, before: &Snapshot, effect: &Effect) -> Snapshot {
        let (sum, space) = (before.fingerprint().wrapping_add(effect.sum), effect.space);
        let pages = effect.writes.iter().map(|writes| {
            let entry = before.entry(space, writes.page);
            (writes.page, self.written(entry, writes))
        });
        before.with(space, pages, sum)
    }

    /// The image of a page after writes.
    fn written(&mut self, entry: Option<&PageImage>, writes: &PageWrites) -> PageImage {
        if writes.is_gone {
            return PageImage::default();
        }
        let held = entry.and_then(|entry| Some((entry.content, entry.page.as_ref()?.bytes())));
        let (content, bytes) = held.unwrap_or((0, ZERO.bytes()));
        let content = content.wrapping_add(writes.sum);
        let page = self.interned.find(content).unwrap_or_else(|| {
            let mut page = self.pool.copy_of(bytes);
            writes.apply(&mut page);
            self.interned.add(content, &page);
            page
        });
        PageImage { page: Some(page), content, over: writes.over }
    }
}

impl PageWrites {
    fn apply(&self, page: &mut Arc<Page>) {
        for (index, value) in &self.words {
            page::write(page, usize::from(*index) * WORD as usize, &value.to_le_bytes());
        }
    }
}

impl Snapshot {
    /// Whether the state agrees with the read set of a step, given that its [`Self::layout_fingerprint`] is the same.
    ///
    /// Equal hashes of a whole page settle it without a look at the words: in most states that are
    /// compared the page is the very same.
    #[must_use]
    pub fn satisfies(&self, effect: &Effect) -> bool {
        effect.reads.iter().all(|reads| {
            let held =
                self.entry(effect.space, reads.page).and_then(|entry| Some((entry.content, entry.page.as_ref()?)));
            match (held, reads.content) {
                (None, None) => true,
                (Some((held, page)), Some(content)) => {
                    held == content || reads.words.iter().all(|(index, value)| word(page.bytes(), *index) == *value)
                }
                _ => false,
            }
        })
    }
}

fn is_same(one: Option<&Arc<Page>>, other: Option<&Arc<Page>>) -> bool {
    one.map(Arc::as_ptr) == other.map(Arc::as_ptr)
}

fn word(bytes: &Bytes, index: u16) -> u64 {
    let (words, _) = bytes.as_chunks::<8>();
    u64::from_le_bytes(words[usize::from(index)])
}

/// The words of accesses, each once, in order; nothing if they are too many.
///
/// In words, not bytes: a read set that is too coarse misses a memo, never uses a wrong one.
fn words_of(accesses: impl Iterator<Item = (u64, u64)>) -> Option<Vec<u64>> {
    let mut words = Vec::new();
    for (addr, len) in accesses {
        let end = addr.saturating_add(len.max(1));
        if (end - addr) / WORD > WORDS_MAX as u64 {
            return None;
        }
        words.extend((addr & !(WORD - 1)..end).step_by(WORD as usize));
    }
    words.sort_unstable();
    words.dedup();
    (words.len() <= WORDS_MAX).then_some(words)
}

/// The writes to a space between two states; nothing if more than words of that space differ.
fn writes_between(space: SpaceId, before: &Snapshot, after: &Snapshot) -> Option<Vec<PageWrites>> {
    let mut writes = Vec::new();
    for (owner, page) in candidates(before, after) {
        let Owner::Space(id) = owner else { return None };
        let entry = |state: &Snapshot| state.entry(id, page).cloned().unwrap_or_default();
        let of_page = writes_to(page, &entry(before), &entry(after)).ok()?;
        if of_page.is_some() && id != space {
            return None;
        }
        writes.extend(of_page);
    }
    Some(writes)
}

/// Pages that may differ between two states.
///
/// Within one base the two deltas; else also what differs by identity between the bases. Pages of
/// equal content and different identity are sorted out by the comparison of words.
fn candidates(before: &Snapshot, after: &Snapshot) -> Vec<(Owner, u64)> {
    let mut pages: Vec<(Owner, u64)> = before.delta().chain(after.delta()).collect();
    let (old, new) = (before.base(), after.base());
    if !Arc::ptr_eq(old, new) {
        for space in old.spaces() {
            let tables = (old.table(space), new.table(space));
            let (Some(old), Some(new)) = tables else { continue };
            differing(old, new, |page| pages.push((Owner::Space(space), page)));
        }
    }
    pages.sort_unstable();
    pages.dedup();
    pages
}

/// Hands the pages that may differ between two tables to `visit`.
fn differing(old: &TableImage, new: &TableImage, mut visit: impl FnMut(u64)) {
    let numbers = old.groups.iter().chain(&new.groups).map(|(number, _)| *number);
    for number in numbers.collect::<std::collections::BTreeSet<u64>>() {
        let (one, other) = (old.group(number), new.group(number));
        if one.map(Arc::as_ptr) == other.map(Arc::as_ptr) {
            continue;
        }
        for index in 0..CHUNKS {
            let chunk =
                |group: Option<&Arc<GroupImage>>| group.and_then(|group| group[index].as_ref()).map(Arc::as_ptr);
            if chunk(one) != chunk(other) {
                let first = number * GROUP + (index * CHUNK) as u64;
                (first..first + CHUNK as u64).for_each(&mut visit);
            }
        }
    }
}

/// The writes that make one page of another, if they differ; an error if they differ in more than words.
fn writes_to(page: u64, before: &PageImage, after: &PageImage) -> Result<Option<PageWrites>, ()> {
    if is_same(before.page.as_ref(), after.page.as_ref()) {
        return Ok(None);
    }
    // Over an object, a page that comes or goes is more than its words.
    let is_plain = match (&before.page, &after.page) {
        (Some(_), Some(_)) => before.over == after.over,
        _ => !before.over && !after.over,
    };
    let words = differing_words(bytes(before), bytes(after));
    let content = |entry: &PageImage| entry.page.as_ref().map_or(0, |_| entry.content);
    let sum = content(after).wrapping_sub(content(before));
    let writes = PageWrites { page, words, sum, over: after.over, is_gone: after.page.is_none() };
    if is_plain { Ok(Some(writes)) } else { Err(()) }
}

fn bytes(entry: &PageImage) -> &Bytes {
    entry.page.as_ref().map_or(ZERO.bytes(), |page| page.bytes())
}

/// Most of a page is the same: blocks of it are compared first.
fn differing_words(old: &Bytes, new: &Bytes) -> Box<[Word]> {
    const BLOCK: usize = 64;
    let (old, new) = (old.as_chunks::<8>().0.as_chunks::<BLOCK>().0, new.as_chunks::<8>().0.as_chunks::<BLOCK>().0);
    let mut words = Vec::new();
    for (number, (old, new)) in old.iter().zip(new).enumerate().filter(|(_, (old, new))| old != new) {
        let pairs = old.iter().zip(new).enumerate().filter(|(_, (old, new))| old != new);
        words.extend(pairs.map(|(index, (_, new))| ((number * BLOCK + index) as u16, u64::from_le_bytes(*new))));
    }
    words.into()
}
