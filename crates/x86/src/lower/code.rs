//! The cache of lowered code: no part of any state, shared by all spaces and snapshots.
//!
//! Templates are kept by address and content, so they outlive forks, restored snapshots, `execve(2)` and code that is
//! rewritten and rewritten back. Each address space has a view: copies of templates whose branches are linked to each other.
//! Links need no check, because a view is checked as a whole whenever [`memory::Memory::code_epoch`] moved.
//!
//! **Who keeps views right.** Memory counts an epoch: it moves when a page from which code was
//! taken is written, remapped or has its protection changed, and when a snapshot is restored.
//! [`Code::prepare`] compares epochs before each run and, if one moved, the content versions of all
//! pages of the view (O(pages with code), some hundreds). Within a run, a store to such a page is
//! stopped by memory (`stop_at_code`) and executed by the reference, then the view is checked
//! again: so a block never runs on after its own bytes changed, and self-modifying code works
//! without any check in the hot path.
//!
//! Alternatives that lost: flushing everything at each switch of threads (a step of the checker has
//! a few hundred instructions, decoding one costs half a microsecond), and a version check at each
//! block entry.

#![allow(unsafe_code)]

use std::rc::Rc;

use iced_x86::Instruction;
use memory::SpaceId;

use super::build::{self, LENGTH_MAX, Reader, Template, page};
use super::live;
use super::map::Map;
use super::stops::Stops;
use super::uop::Uop;
use crate::machine::{Machine, Trap};

/// Slots of the table of recent branch targets.
const RECENT: usize = 4096;
/// Micro-operations in a view before it is emptied.
///
/// 2^20 micro-operations of 48 bytes each.
const VIEW_MAX: usize = 1 << 20;
/// Micro-operations in all templates before they are forgotten.
const TEMPLATES_MAX: usize = 4 << 20;
/// Views before the oldest are forgotten.
const VIEWS_MAX: usize = 64;

/// Where an indirect branch went recently.
///
/// A direct-mapped cache for indirect branches and returns, in front of the hash map.
#[derive(Clone, Copy)]
struct Recent {
    target: u64,
    first: *const Uop,
}

/// No block starts there: the address is not canonical.
const NOWHERE: Recent = Recent { target: 1 << 63, first: std::ptr::null() };

/// A template and the content of its first and last page.
///
/// Two page contents, compared as a whole: equal contents give the same template whatever happened
/// in between.
type Version = ([u64; 2], Rc<Template>);

/// A copy of a template in a view.
struct Block {
    uops: Box<[Uop]>,
    /// Keeps what the generic micro-operations point to.
    template: Rc<Template>,
}

/// The lowered code of one address space.
struct View {
    /// Blocks by address.
    blocks: Map<u64, Block>,
    /// Content of the pages that blocks were taken from.
    pages: Map<u64, u64>,
    /// Decoded instructions of those pages.
    instructions: Map<u64, Instruction>,
    recent: Box<[Recent; RECENT]>,
    /// Micro-operations whose link was made.
    links: Vec<*mut Uop>,
    /// Micro-operations in all blocks.
    size: usize,
    /// [`memory::Memory::code_epoch`] when the view was last known to be right.
    epoch: u64,
    /// When it was last used.
    used: u64,
}

impl View {
    fn new(epoch: u64) -> Self {
        View {
            blocks: Map::default(),
            pages: Map::default(),
            instructions: Map::default(),
            recent: Box::new([NOWHERE; RECENT]),
            links: Vec::new(),
            size: 0,
            epoch,
            used: 0,
        }
    }

    /// Forgets the blocks of pages that changed, and all links.
    ///
    /// Links are removed before blocks: a link may point into a block that goes.
    fn check(&mut self, m: &mut Machine<'_>, space: SpaceId) {
        let mut changed = Vec::new();
        self.pages.retain(|&number, version| {
            let same = version_of(m, space, number) == *version;
            if !same {
                changed.push(number);
            }
            same
        });
        self.epoch = m.memory.code_epoch();
        if changed.is_empty() {
            return;
        }
        self.unlink();
        self.instructions.clear();
        let touches = |block: &Block| {
            let (first, last) = (&block.uops[0], &block.template.last_page);
            changed.contains(&page(first.ip)) || changed.contains(last)
        };
        let gone = |size: &mut usize, block: &Block| *size -= block.uops.len();
        let size = &mut self.size;
        self.blocks.retain(|_, block| {
            let stays = !touches(block);
            if !stays {
                gone(size, block);
            }
            stays
        });
    }

    fn unlink(&mut self) {
        for link in self.links.drain(..) {
            // SAFETY: blocks live as long as their links are listed, and nothing runs while a view is checked.
            unsafe { (*link).link = std::ptr::null() };
        }
        self.recent.fill(NOWHERE);
    }
}

/// Content of a page, and whether the program may rewrite it.
///
/// Writability is part of it, because [`build::build`] takes no flag as dead in a page that the
/// program can rewrite under a running block.
fn version_of(m: &mut Machine<'_>, space: SpaceId, page: u64) -> u64 {
    let writable = build::is_writable(m, page * memory::PAGE_SIZE);
    m.memory.code_version(space, page) << 1 | u64::from(writable)
}

/// Lowered code. Not part of any state: a run with an empty one behaves the same, only slower.
///
/// One per worker. It is not `Sync`, and need not be: worlds move between workers, caches do not.
pub struct Code {
    /// Templates by address, each with the content of the pages that it was made from.
    templates: Map<u64, Vec<Version>>,
    /// Micro-operations in all templates.
    size: usize,
    views: Map<u64, View>,
    /// The view of the space that runs.
    view: View,
    space: Option<SpaceId>,
    clock: u64,
    stops: Stops,
    /// Whether the reference executes everything.
    pub(super) reference: bool,
    /// See [`Code::bounces`].
    pub(super) bounces: u64,
    /// Room for the beginning of a block, when the budget does not reach its end.
    pub(super) scratch: Box<[Uop; LENGTH_MAX + 1]>,
}

// SAFETY: all pointers, counted ones too, lead into blocks and templates that the same value owns and never lends.
unsafe impl Send for Code {}

impl Default for Code {
    fn default() -> Self {
        let nothing = super::translate::fall_through(0);
        Code {
            templates: Map::default(),
            size: 0,
            views: Map::default(),
            view: View::new(0),
            space: None,
            clock: 0,
            stops: Stops::default(),
            reference: false,
            bounces: 0,
            scratch: Box::new([nothing; LENGTH_MAX + 1]),
        }
    }
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Code({} addresses lowered, {} views)", self.templates.len(), self.views.len() + 1)
    }
}

impl Code {
    /// An empty cache.
    pub fn new() -> Self {
        Code::default()
    }

    /// A cache that is used for nothing but to say which flags are dead: every instruction is executed by its reference meaning.
    /// Runs are the same as with any other, only slower: to compare with.
    ///
    /// The differential tests run whole programs with this and with the ordinary one, and compare
    /// states after each run.
    pub fn reference() -> Self {
        Code { reference: true, ..Code::default() }
    }

    /// How often the host's stack had grown so much that the interpreter had to begin anew: never, if the compiler turns the
    /// calls from handler to handler into jumps. Behaviour does not depend on it, speed does.
    pub fn bounces(&self) -> u64 {
        self.bounces
    }

    /// Makes the view of the current space the one in use, and right. Nothing may be running.
    ///
    /// Only here are blocks dropped, so pointers into blocks are valid from one call to the next.
    /// That is the lifetime on which the `unsafe` code of `uop.rs` relies.
    pub(super) fn prepare(&mut self, m: &mut Machine<'_>) {
        let Some(space) = m.memory.current() else { return };
        if self.space != Some(space) {
            self.switch(space, m.memory.code_epoch());
        }
        if self.view.size > VIEW_MAX {
            self.view = View::new(m.memory.code_epoch());
        }
        if self.size > TEMPLATES_MAX {
            self.templates.clear();
            self.size = 0;
        }
        if self.view.epoch != m.memory.code_epoch() {
            self.view.check(m, space);
        }
    }

    #[allow(clippy::disallowed_methods, reason = "a cache: what is dropped is no part of any state")]
    fn switch(&mut self, space: SpaceId, epoch: u64) {
        self.clock += 1;
        let mut view = self.views.remove(&space.0).unwrap_or_else(|| View::new(epoch));
        view.used = self.clock;
        let left = std::mem::replace(&mut self.view, view);
        if let Some(old) = self.space.replace(space) {
            self.views.insert(old.0, left);
        }
        if self.views.len() > VIEWS_MAX {
            let oldest = self.views.iter().min_by_key(|(_, view)| view.used).map(|(id, _)| *id);
            oldest.map(|id| self.views.remove(&id));
        }
    }

    /// The first micro-operation of the block at `start`, which stays where it is until [`Code::prepare`].
    ///
    /// A block that a run stops before is never handed out, so nothing is ever linked to it.
    pub(super) fn block(&mut self, m: &mut Machine<'_>, start: u64) -> Result<*const Uop, Trap> {
        match self.any_block(m, start)? {
            (_, true) => Err(Trap::Stop),
            (first, false) => Ok(first),
        }
    }

    /// The same for any block, and whether a run stops before it.
    fn any_block(&mut self, m: &mut Machine<'_>, start: u64) -> Result<(*const Uop, bool), Trap> {
        if let Some(block) = self.view.blocks.get(&start) {
            return Ok((block.uops.as_ptr(), block.template.stop));
        }
        let template = self.template(m, start)?;
        let uops: Box<[Uop]> = template.uops.clone().into_boxed_slice();
        let (first, stop) = (uops.as_ptr(), template.stop);
        self.view.size += uops.len();
        self.view.blocks.insert(start, Block { uops, template });
        Ok((first, stop))
    }

    /// Sets before which instructions runs stop. What was lowered for others is forgotten.
    ///
    /// Blocks are cut at stops, so all templates depend on them. The checker changes stops rarely.
    pub fn stop_before(&mut self, stops: Stops) {
        if self.stops != stops {
            *self = Code { stops, reference: self.reference, ..Code::default() };
        }
    }

    /// Before which instructions runs stop.
    pub fn stops(&self) -> &Stops {
        &self.stops
    }

    fn template(&mut self, m: &mut Machine<'_>, start: u64) -> Result<Rc<Template>, Trap> {
        let versions = |code: &mut Code, m: &mut Machine<'_>, pages: [u64; 2]| pages.map(|p| code.version(m, p));
        for (known, template) in self.templates.get(&start).cloned().unwrap_or_default() {
            if versions(self, m, [page(start), template.last_page]) == known {
                return Ok(template);
            }
        }
        let reader = Reader { machine: &mut *m, known: &mut self.view.instructions, start };
        let built = build::build(reader, &self.stops);
        if built.is_err() {
            // The page will not be watched on behalf of this block.
            self.view.instructions.clear();
        }
        let template = Rc::new(built?);
        let versions = versions(self, m, [page(start), template.last_page]);
        self.size += template.uops.len();
        self.templates.entry(start).or_default().push((versions, template.clone()));
        Ok(template)
    }

    /// Content of a page, as far as the current view is concerned; watched from now on.
    fn version(&mut self, m: &mut Machine<'_>, page: u64) -> u64 {
        if let Some(version) = self.view.pages.get(&page) {
            return *version;
        }
        let Some(space) = m.memory.current() else { return 0 };
        let version = version_of(m, space, page);
        // Beginning to watch a page may move the epoch, but changes no content.
        self.view.epoch = m.memory.code_epoch();
        self.view.pages.insert(page, version);
        version
    }

    /// Links `from` to a block.
    ///
    /// Blocks in `scratch` are copies for one run: a link from them would dangle.
    pub(super) fn link(&mut self, from: *const Uop, to: *const Uop) {
        if self.scratch.as_ptr_range().contains(&from) {
            return;
        }
        let from = from.cast_mut();
        // SAFETY: `from` is in a block of the current view; the interpreter reads it only between two handlers.
        unsafe { (*from).link = to };
        self.view.links.push(from);
    }

    /// The block at `target`, if it was remembered.
    #[inline(always)]
    pub(super) fn recent(&self, target: u64) -> *const Uop {
        let slot = &self.view.recent[(target ^ target >> 12) as usize % RECENT];
        if slot.target == target { slot.first } else { std::ptr::null() }
    }

    /// Remembers the block at `target`.
    pub(super) fn remember(&mut self, target: u64, first: *const Uop) {
        self.view.recent[(target ^ target >> 12) as usize % RECENT] = Recent { target, first };
    }

    /// Flags that are dead at `start`.
    pub(super) fn dead(&mut self, m: &mut Machine<'_>, start: u64) -> u64 {
        let mut first = self.recent(start);
        if first.is_null() {
            let Ok((found, stop)) = self.any_block(m, start) else { return 0 };
            if !stop {
                self.remember(start, found);
            }
            first = found;
        }
        // SAFETY: the first micro-operation of a block of the current view.
        live::unpack(unsafe { (*first).shift } >> 2)
    }
}
