//! What a step looks at and does in one space, so that it can be done elsewhere without being executed.
//!
//! A step that finds the same in all words that it looks at does the same. Words that it writes count as looked at: then the
//! change of the fingerprint is the same, too, for that is a sum over words.

use std::sync::Arc;

use crate::memory::Memory;
use crate::page::{self, Bytes, Page, ZERO};
use crate::snapshot::Parked;
use crate::store::Owner;
use crate::table::{CHUNK, CHUNKS, GROUP, GroupImage, ParkedEntry, TableImage};
use crate::watch::unpack;
use crate::{PAGE_SIZE, SpaceId};

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
    /// What all of it was, if there was one: then nothing else need be looked at.
    content: Option<u128>,
    words: Box<[Word]>,
}

/// What a step makes of a page. No page itself is kept: what comes of it was parked before in most cases, and is found there.
#[derive(Debug)]
struct Changed {
    page: u64,
    words: Box<[Word]>,
    /// What it adds to the identity of the content, whatever else the page holds.
    sum: u128,
    /// Whether an object lies beneath.
    over: bool,
    /// Whether there is no page any more.
    is_gone: bool,
}

/// What a step looks at and does in one space.
#[derive(Debug)]
pub struct Effect {
    space: SpaceId,
    looked: Vec<Looked>,
    changed: Vec<Changed>,
    /// What it adds to the fingerprint.
    sum: u128,
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
            let held = before.entry(space, page).and_then(|entry| Some((entry.content, entry.page.as_ref()?.bytes())));
            let value = |addr: &u64| {
                let index = (addr % PAGE_SIZE / WORD) as u16;
                (index, held.map_or(0, |(_, bytes)| word(bytes, index)))
            };
            Looked { page, words: words.iter().map(value).collect(), content: held.map(|(content, _)| content) }
        });
        let sum = after.fingerprint().wrapping_sub(before.fingerprint());
        Some(Effect { space, looked: looked.collect(), changed, sum })
    }

    /// What a step makes of a state that shows what it looks at, without restoring that.
    pub fn redone(&mut self, before: &Parked, effect: &Effect) -> Parked {
        let (sum, space) = (before.fingerprint().wrapping_add(effect.sum), effect.space);
        let pages = effect.changed.iter().map(|changed| {
            let entry = before.entry(space, changed.page);
            (changed.page, self.changed(entry, changed))
        });
        before.with(space, pages, sum)
    }

    /// What a step makes of a page.
    fn changed(&mut self, entry: Option<&ParkedEntry>, changed: &Changed) -> ParkedEntry {
        if changed.is_gone {
            return ParkedEntry::default();
        }
        let held = entry.and_then(|entry| Some((entry.content, entry.page.as_ref()?.bytes())));
        let (content, bytes) = held.unwrap_or((0, ZERO.bytes()));
        let content = content.wrapping_add(changed.sum);
        let page = self.twins.find(content).unwrap_or_else(|| {
            let mut page = self.pool.copy_of(bytes);
            changed.write(&mut page);
            self.twins.add(content, &page);
            page
        });
        ParkedEntry { page: Some(page), content, over: changed.over }
    }
}

impl Changed {
    /// Writes the words that change.
    fn write(&self, page: &mut Arc<Page>) {
        for (index, value) in &self.words {
            page::write(page, usize::from(*index) * WORD as usize, &value.to_le_bytes());
        }
    }
}

impl Parked {
    /// Whether a state shows what a step looks at in memory, given that its [`Self::ground`] is the same.
    #[must_use]
    pub fn shows(&self, effect: &Effect) -> bool {
        effect.looked.iter().all(|looked| {
            let held =
                self.entry(effect.space, looked.page).and_then(|entry| Some((entry.content, entry.page.as_ref()?)));
            match (held, looked.content) {
                (None, None) => true,
                (Some((held, page)), Some(content)) => {
                    held == content || looked.words.iter().all(|(index, value)| word(page.bytes(), *index) == *value)
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
    let words = differing_words(bytes(before), bytes(after));
    let content = |entry: &ParkedEntry| entry.page.as_ref().map_or(0, |_| entry.content);
    let sum = content(after).wrapping_sub(content(before));
    let changed = Changed { page, words, sum, over: after.over, is_gone: after.page.is_none() };
    if is_plain { Ok(Some(changed)) } else { Err(()) }
}

fn bytes(entry: &ParkedEntry) -> &Bytes {
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
