//! The whole memory of one world.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::dirty::Dirty;
use crate::journal::{Journal, Record};
use crate::page::Pool;
use crate::page_intern::PageIntern;
use crate::read_set::ReadSet;
use crate::snapshot::NearestBase;
use crate::store::Stores;
use crate::tlb::Tlb;
use crate::{AccessKind, Cause, Fault, Halt, Limit, ObjectId, SpaceId};

/// Where the code epochs of the next memory begin: no two memories share any, so that lowered code may serve several worlds.
/// Nothing that a guest can see depends on it.
static NEXT_MEMORY: AtomicU64 = AtomicU64::new(0);

/// The whole memory of one world: its address spaces and the objects that they map.
///
/// Spaces and objects are named by ids that the caller chose; naming one that does not exist is a bug of the caller and
/// panics. Errors that a guest can cause are values.
///
/// Fields that are no part of the state, and so in no snapshot and no fingerprint: translations,
/// log, read set, pool, interned pages, the journal, epochs and what is armed.
pub struct Memory {
    /// Translations of the current space.
    pub(crate) tlb: Tlb,
    pub(crate) current: Option<SpaceId>,
    /// Empty ones, to be used again.
    pub(crate) spare_tlbs: Vec<Tlb>,
    /// What the last slow load read.
    pub(crate) loaded: u128,
    /// Why the last stopped access stopped.
    pub(crate) halt: Halt,
    /// [`crate::tlb::LOG`] while accesses are logged, else 0.
    pub(crate) log_tag: u64,
    pub(crate) log: Vec<u64>,
    /// The read set, while it is recorded.
    pub(crate) read_set: RefCell<ReadSet>,
    pub(crate) stores: Stores,
    /// Translations that may show a page of an object, by space and slot.
    pub(crate) watchers: BTreeMap<(ObjectId, u64), Vec<(SpaceId, u64)>>,
    pub(crate) pool: Pool,
    pub(crate) interned: PageIntern,
    pub(crate) nearest: NearestBase,
    pub(crate) journal: Journal,
    /// Pages stamped with this are held by this memory alone. Never used twice.
    pub(crate) epoch: u64,
    /// What the fingerprint does not count yet.
    pub(crate) dirty: Vec<Dirty>,
    /// How often `dirty` lost entries.
    pub(crate) drains: u64,
    /// The fingerprint, but for what is dirty.
    pub(crate) sum: u128,
    /// Pages held by all spaces and objects.
    pub(crate) resident: u64,
    pub(crate) limit: Limit,
    /// Goes up whenever a page with noted code may have other content.
    pub(crate) code_epoch: u64,
    /// Accesses to armed pages are executed.
    pub(crate) pass_armed: bool,
    /// Stores to pages that hold code are stopped.
    pub(crate) stop_at_code: bool,
    /// Code may have been noted in a page that a space holds privately, or such a page was written.
    pub(crate) is_patched: bool,
}

impl Memory {
    /// No spaces, no objects.
    #[must_use]
    pub fn new(limit: Limit) -> Self {
        let nowhere = Fault { addr: 0, access: AccessKind::Read, cause: Cause::Unmapped };
        Self {
            tlb: Tlb::default(),
            current: None,
            spare_tlbs: Vec::new(),
            loaded: 0,
            halt: Halt::Fault(nowhere),
            log_tag: 0,
            log: Vec::new(),
            read_set: RefCell::default(),
            stores: Stores::default(),
            watchers: BTreeMap::new(),
            pool: Pool::default(),
            interned: PageIntern::default(),
            nearest: NearestBase::default(),
            journal: Journal::default(),
            epoch: 1,
            dirty: Vec::new(),
            drains: 0,
            sum: 0,
            resident: 0,
            limit,
            code_epoch: NEXT_MEMORY.fetch_add(1 << 32, Ordering::Relaxed),
            pass_armed: false,
            stop_at_code: false,
            is_patched: false,
        }
    }

    /// How much it may hold.
    #[must_use]
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// Pages that all spaces and objects hold; a page that two spaces share since a fork counts twice.
    #[must_use]
    pub fn resident_pages(&self) -> u64 {
        self.resident
    }

    /// Begins an epoch: no page is held alone any more.
    pub(crate) fn begin_epoch(&mut self) {
        self.epoch += 1;
        self.tlb.revoke_writes();
    }

    /// Notes how to undo a change, if there is a mark.
    pub(crate) fn remember(&mut self, record: Record) {
        if self.journal.is_active() {
            self.journal.records.push(record);
        }
    }

    /// The translations of a space, if it has any.
    pub(crate) fn tlb_of(&mut self, space: SpaceId) -> Option<&mut Tlb> {
        if self.current == Some(space) {
            return Some(&mut self.tlb);
        }
        self.stores.spaces.get_mut(&space)?.tlb.as_mut()
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory")
            .field("spaces", &self.stores.spaces.keys())
            .field("objects", &self.stores.objects.keys())
            .field("current", &self.current)
            .field("resident", &self.resident)
            .finish_non_exhaustive()
    }
}
