//! One worker's access to the shared store, which grows while no worker uses it.

use super::options::Options;
use crate::store::{Allowance, Exhausted, Need, Visit, Visited};
use crate::system::Key;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

/// A store that all workers read-lock while they work, and that one of them write-locks to let it grow.
pub struct StoreSlot<V> {
    store: RwLock<V>,
    /// Taken before the store is locked, and held while it grows: otherwise the readers, which release and lock again at
    /// once, would starve the writer for the whole level.
    turnstile: Mutex<()>,
    allowance: Allowance,
}

impl<V: Visited> StoreSlot<V> {
    /// Wraps a store that may use what the options say.
    pub fn new(store: V, options: &Options) -> Self {
        let allowance = Allowance { bytes: options.bounds.bytes.unwrap_or(u64::MAX), threads: options.workers };
        Self { store: RwLock::new(store), turnstile: Mutex::new(()), allowance }
    }

    /// Shared access. A worker that panicked leaves the store consistent: every insertion is one atomic write.
    pub fn read(&self) -> RwLockReadGuard<'_, V> {
        let _turn = self.turnstile.lock().unwrap_or_else(PoisonError::into_inner);
        self.store.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn grow(&self, need: Need, reserved: u64) -> Result<(), Exhausted> {
        let _turn = self.turnstile.lock().unwrap_or_else(PoisonError::into_inner);
        let mut store = self.store.write().unwrap_or_else(PoisonError::into_inner);
        let bytes = self.allowance.bytes.saturating_sub(reserved);
        store.grow(need, Allowance { bytes, ..self.allowance })
    }
}

/// One worker's access to the store.
pub struct Session<'a, V: Visited> {
    slot: &'a StoreSlot<V>,
    guard: Option<RwLockReadGuard<'a, V>>,
    cursor: V::Cursor,
    /// Whether the store has grown since the guesses were made, which are invalid then.
    outdated: bool,
    /// Bytes used beside the store, which its growth must leave free.
    pub reserved: u64,
}

impl<'a, V: Visited> Session<'a, V> {
    /// A session that holds no lock yet.
    pub fn new(slot: &'a StoreSlot<V>) -> Self {
        Self { slot, guard: None, cursor: V::Cursor::default(), outdated: false, reserved: 0 }
    }

    /// Lets others grow the store; call it before waiting for anything.
    pub fn release(&mut self) {
        self.guard = None;
    }

    /// The store and the cursor, locking if need be.
    #[inline]
    pub fn open(&mut self) -> (&V, &mut V::Cursor) {
        let guard = self.guard.get_or_insert_with(|| self.slot.read());
        (guard, &mut self.cursor)
    }

    /// Repeats `attempt` and grows the store in between until it succeeds.
    #[inline]
    fn insist<T>(&mut self, mut attempt: impl FnMut(&V, &mut V::Cursor) -> Result<T, Need>) -> Result<T, Exhausted> {
        loop {
            let (store, cursor) = self.open();
            match attempt(store, cursor) {
                Ok(done) => return Ok(done),
                Err(need) => self.grow(need)?,
            }
        }
    }

    /// First half of an insertion.
    #[inline]
    pub fn ticket(&mut self, key: Key<'_>) -> Result<V::Ticket, Exhausted> {
        self.insist(|store, cursor| store.ticket(cursor, key))
    }

    /// Second half of an insertion.
    #[inline]
    pub fn insert(&mut self, ticket: &V::Ticket, guess: u64) -> Result<Visit, Exhausted> {
        let guess = if self.outdated { 0 } else { guess };
        let (store, cursor) = self.open();
        match store.insert(cursor, ticket, guess) {
            Ok(visit) => Ok(visit),
            Err(need) => self.insert_after(need, ticket),
        }
    }

    #[cold]
    fn insert_after(&mut self, need: Need, ticket: &V::Ticket) -> Result<Visit, Exhausted> {
        self.outdated = true;
        self.grow(need)?;
        self.insist(|store, cursor| store.insert(cursor, ticket, 0))
    }

    #[cold]
    fn grow(&mut self, need: Need) -> Result<(), Exhausted> {
        self.release();
        self.slot.grow(need, self.reserved)
    }

    /// Both halves.
    pub fn visit(&mut self, key: Key<'_>) -> Result<Visit, Exhausted> {
        let ticket = self.ticket(key)?;
        let guess = self.guess(&ticket);
        let visit = self.insert(&ticket, guess);
        self.settled();
        visit
    }

    /// See [`Visited::settled`].
    pub fn settled(&mut self) {
        self.outdated = false;
        let (store, cursor) = self.open();
        store.settled(cursor);
    }

    /// See [`Visited::foresee`].
    #[inline]
    pub fn foresee(&mut self, id: u32) {
        self.open().0.foresee(id);
    }

    /// A guess for [`Session::insert`].
    #[inline]
    fn guess(&mut self, ticket: &V::Ticket) -> u64 {
        let (store, cursor) = self.open();
        store.guess(cursor, ticket)
    }

    /// The vector of a state.
    pub fn load(&mut self, id: u32) -> &[u8] {
        let guard = self.guard.get_or_insert_with(|| self.slot.read());
        guard.load(&mut self.cursor, id)
    }

    /// Whether `key` is the state with this number.
    pub fn matches(&mut self, id: u32, key: Key<'_>) -> bool {
        let (store, cursor) = self.open();
        store.matches(cursor, id, key)
    }

    /// Memory of the store.
    pub fn bytes(&mut self) -> u64 {
        self.open().0.bytes()
    }
}
