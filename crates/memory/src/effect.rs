//! What a step looks at and does in one space, so that it can be done elsewhere without being executed.
//!
//! A step that finds the same in all words that it looks at does the same. Words that it writes count as looked at: then the
//! change of the fingerprint is the same, too, for that is a sum over words.

use std::sync::Arc;

use crate::fingerprint::Dirty;
use crate::hash;
use crate::memory::Memory;
use crate::page::{self, Bytes, Page, ZERO};
use crate::park::Parked;
use crate::store::Owner;
use crate::table::{CHUNK, CHUNKS, GROUP, GroupImage, ParkedEntry, TableImage};
use crate::watch::unpack;
use crate::{Access, PAGE_SIZE, SpaceId, access::Check};

/// Bytes of a word.
const WORD: u64 = 8;

/// A step that looks at more is not worth remembering.
const WORDS_MAX: usize = 2048;

/// What is noted while somebody wants to know all that is looked at.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    pub(crate) is_on: bool,
    /// Accesses to the current space, packed as in the log.
    pub(crate) accesses: Vec<u64>,
    /// Looks of those who look on: space, address, bytes.
    pub(crate) peeks: Vec<(SpaceId, u64, usize)>,
    /// Something was looked at that is no word of the current space.
    pub(crate) is_more: bool,
}

/// A word of a page: its number and its value.
type Word = (u16, u64);

/// What a step looks at in a page.
#[derive(Debug)]
struct Looked {
    page: u64,
    held: Option<Arc<Page>>,
    words: Box<[Word]>,
}

/// What a step makes of a page.
#[derive(Debug)]
struct Changed {
    page: u64,
    before: Option<Arc<Page>>,
    after: ParkedEntry,
    words: Box<[Word]>,
}

/// What a step looks at and does in one space.
#[derive(Debug)]
pub struct Effect {
    space: SpaceId,
    looked: Vec<Looked>,
    changed: Vec<Changed>,
}

impl Memory {
    /// From now on everything is noted that is looked at, until [`Self::end_looks`].
    pub fn note_looks(&mut self) {
        let noted = self.noted.get_mut();
        noted.accesses.clear();
        noted.peeks.clear();
        (noted.is_on, noted.is_more) = (true, false);
    }

    /// Enough was noted.
    pub fn end_looks(&mut self) {
        self.forget_log();
        self.noted.get_mut().is_on = false;
    }

    /// What was looked at and done in a space since [`Self::note_looks`], between two parked states. Nothing if there was
    /// more than words of that space: mappings, objects, other spaces.
    pub fn effect(&mut self, space: SpaceId, before: &Parked, after: &Parked) -> Option<Effect> {
        let noted = self.noted.get_mut();
        let is_here = noted.peeks.iter().all(|(other, ..)| *other == space);
        if noted.is_more || !is_here || before.ground() != after.ground() {
            return None;
        }
        let accesses = noted.accesses.drain(..).map(unpack).map(|logged| (logged.addr, u64::from(logged.size)));
        let peeks = noted.peeks.drain(..).map(|(_, addr, len)| (addr, len as u64));
        let changed = changes(space, before, after)?;
        let of_changed = changed.iter().flat_map(|changed| {
            changed.words.iter().map(|(index, _)| (changed.page * PAGE_SIZE + u64::from(*index) * WORD, WORD))
        });
        let words = words_of(accesses.chain(peeks).chain(of_changed))?;
        let looked = words.chunk_by(|one, other| one / PAGE_SIZE == other / PAGE_SIZE).map(|words| {
            let page = words[0] / PAGE_SIZE;
            let held = before.entry(space, page).and_then(|entry| entry.page.clone());
            let bytes = held.as_ref().map(|page| page.bytes());
            let value = |addr: &u64| {
                let index = (addr % PAGE_SIZE / WORD) as u16;
                (index, bytes.map_or(0, |bytes| word(bytes, index)))
            };
            Looked { page, words: words.iter().map(value).collect(), held }
        });
        Some(Effect { space, looked: looked.collect(), changed })
    }

    /// Does what a step did. Nothing may have changed since a state was parked or restored that shows what it looks at.
    ///
    /// # Panics
    /// If a page cannot be written that the step wrote.
    pub fn apply(&mut self, effect: &Effect) {
        self.settle();
        let owner = Owner::Space(effect.space);
        for changed in &effect.changed {
            let held = self.stores.table(owner).page(changed.page);
            match is_same(held, changed.before.as_ref()) {
                true => self.put_page(owner, changed.page, &changed.after),
                false => self.patch(effect.space, changed),
            }
        }
    }

    /// Writes words of a page that holds other things besides.
    fn patch(&mut self, space: SpaceId, changed: &Changed) {
        let place = self.locate(space, changed.page * PAGE_SIZE, Access::Read, Check::Nothing);
        let own = place.ok().and_then(|place| self.own(place).ok()).expect("the step wrote this page");
        let mut change = 0u128;
        for (index, value) in &changed.words {
            let old = word(own.bytes(), *index);
            change = change.wrapping_add(hash::word(usize::from(*index), *value));
            change = change.wrapping_sub(hash::word(usize::from(*index), old));
            page::write(own, usize::from(*index) * WORD as usize, &value.to_le_bytes());
        }
        self.count_change(Owner::Space(space), changed.page, change);
    }

    /// A page was written, and it is known how that changes its content: it need not be looked at again.
    fn count_change(&mut self, owner: Owner, page: u64, change: u128) {
        let dirty = self.dirty.pop();
        debug_assert!(matches!(dirty, Some(Dirty::Page(o, p)) if (o, p) == (owner, page)), "it was just written");
        let entry = self.stores.table_mut(owner).entry_made(page);
        let (old, new) = (entry.content, entry.content.wrapping_add(change));
        (entry.content, entry.stamp) = (new, entry.stamp.clean());
        self.recount(owner, page, old, new);
        self.tlb.revoke_writes();
    }
}

impl Parked {
    /// Whether a state shows what a step looks at in memory, given that its [`Self::ground`] is the same.
    #[must_use]
    pub fn shows(&self, effect: &Effect) -> bool {
        effect.looked.iter().all(|looked| {
            let held = self.entry(effect.space, looked.page).and_then(|entry| entry.page.as_ref());
            is_same(held, looked.held.as_ref())
                || held.zip(looked.held.as_ref()).is_some_and(|(held, _)| {
                    looked.words.iter().all(|(index, value)| word(held.bytes(), *index) == *value)
                })
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

/// What changes in a space from one state to the next; nothing if words of that space alone do not tell.
fn changes(space: SpaceId, before: &Parked, after: &Parked) -> Option<Vec<Changed>> {
    let mut changed = Vec::new();
    for (owner, page) in candidates(before, after) {
        let Owner::Space(id) = owner else { return None };
        let entry = |state: &Parked| state.entry(id, page).cloned().unwrap_or_default();
        let change = change_of(page, &entry(before), &entry(after)).ok()?;
        if change.is_some() && id != space {
            return None;
        }
        changed.extend(change);
    }
    Some(changed)
}

/// Pages that may differ between two states.
fn candidates(before: &Parked, after: &Parked) -> Vec<(Owner, u64)> {
    let mut pages: Vec<(Owner, u64)> = before.near().chain(after.near()).collect();
    let (old, new) = (before.whole(), after.whole());
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

/// Tells the pages that may differ between two tables.
fn differing(old: &TableImage, new: &TableImage, mut tell: impl FnMut(u64)) {
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
                (first..first + CHUNK as u64).for_each(&mut tell);
            }
        }
    }
}

/// How a page changes, if it does; an error if words alone do not tell.
fn change_of(page: u64, before: &ParkedEntry, after: &ParkedEntry) -> Result<Option<Changed>, ()> {
    if is_same(before.page.as_ref(), after.page.as_ref()) {
        return Ok(None);
    }
    // Where an object shows through, a page that comes or goes is more than its words.
    let is_plain = match (&before.page, &after.page) {
        (Some(_), Some(_)) => before.over == after.over,
        _ => !before.over && !after.over,
    };
    let bytes = |entry: &ParkedEntry| *entry.page.as_ref().map_or(ZERO.bytes(), |page| page.bytes());
    let words = differing_words(&bytes(before), &bytes(after));
    let changed = Changed { page, before: before.page.clone(), after: after.clone(), words };
    if is_plain { Ok(Some(changed)) } else { Err(()) }
}

fn differing_words(old: &Bytes, new: &Bytes) -> Box<[Word]> {
    let indices = 0..(PAGE_SIZE / WORD) as u16;
    indices.filter(|index| word(old, *index) != word(new, *index)).map(|index| (index, word(new, index))).collect()
}
