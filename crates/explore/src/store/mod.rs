//! Visited stores: sets of states that give each state a small number.
//!
//! **Invariant:** a lossless store gives equal numbers to equal vectors only; a store of fingerprints to equal fingerprints
//! only. A number never changes, also when the store grows. Insertion is atomic: of workers that insert one state at the same
//! time exactly one gets `new`.
//!
//! Which store, and why: a state of a model has 50 to 500 bytes, of which a step changes a few. The
//! tree store keeps it in 8 bytes asymptotically (one pair at the root), losslessly; fingerprints
//! cost as much and lose; plain tables of vectors cost ten times as much (decision 2).

mod arena;
mod batch;
mod bitstate;
mod fingerprint;
mod memo;
mod pages;
mod plan;
mod sample;
mod table;
mod tree;

use crate::journal::{Broken, Reader, Writer};
use crate::system::Key;
pub use arena::Arena;
pub use bitstate::Bitstate;
pub use fingerprint::{Fingerprints64, Fingerprints128};
pub use sample::Sample;
use std::io;
pub use table::{Block, Full, PairTable, Table, tag};
pub use tree::Tree;

/// Which visited store to use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StoreKind {
    /// Lossless: vectors as trees of shared nodes, 20-30 bytes a state whatever the length of the vector. Systems whose keys
    /// are fingerprints get [`StoreKind::Fingerprint128`] instead.
    #[default]
    Tree,
    /// 64-bit fingerprints: two states may collide, with the probability that the outcome states.
    Fingerprint64,
    /// 128-bit fingerprints: as above, the probability is negligible for any search that fits a machine.
    Fingerprint128,
    /// A few bits a state, in an array of fixed size: searches what fits and says that it is a sample.
    Bitstate {
        /// Bits set for each state.
        hashes: u32,
    },
}

/// What an insertion found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Visit {
    /// The number of the state: from 1, nearly dense; 0 if the store gives no numbers.
    pub id: u32,
    /// Whether the state was not visited before.
    pub new: bool,
}

/// What must happen, while no worker uses the store, before an insertion can go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// The table with this number must grow.
    Room(usize),
    /// Vectors of this many words must fit.
    Width(usize),
}

/// Why a store cannot grow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exhausted {
    /// The memory bound, or the machine's memory.
    Memory,
    /// No numbers are left.
    Numbers,
}

/// What a store may use when it grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Allowance {
    /// Bytes in use afterwards, at most.
    pub bytes: u64,
    /// Threads that may share the work: the workers of the search wait meanwhile.
    pub threads: usize,
}

/// States that a store is written without: the search had not finished what led to them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LeftOut {
    /// None.
    Nothing,
    /// Those with greater numbers.
    After(u32),
    /// Those whose bits are set.
    These(Vec<u64>),
}

impl LeftOut {
    /// Whether a state is left out.
    #[inline]
    #[must_use]
    pub fn has(&self, id: u32) -> bool {
        match self {
            Self::Nothing => false,
            Self::After(last) => id > *last,
            Self::These(bits) => bits.get(id as usize / 64).is_some_and(|word| word >> (id % 64) & 1 == 1),
        }
    }
}

/// A set of states that workers share.
///
/// Insertion comes in two halves so that a worker can hide the latency of memory: [`Visited::ticket`] does what hits the
/// cache and prefetches the rest, [`Visited::insert`] finishes a batch of tickets later. In between
/// [`Visited::guess`], [`Visited::fetch`] and [`Visited::approach`] follow the links of the chain, each for the whole
/// batch.
///
/// **Who may call what when.** `ticket` to `insert` and `load` take `&self` and are called by all
/// workers at once. `grow` takes `&mut self`: the search stops its workers for it, and hints from
/// before are void. A ticket stays valid across growth.
pub trait Visited: Send + Sync {
    /// What one worker keeps between calls: the state it expands, references it has reserved.
    type Cursor: Default + Send;
    /// An insertion that is half done.
    type Ticket: Copy + Send;
    /// Whether a state can be restored from its number.
    const RESTORES: bool;
    /// Whether states get numbers at all.
    const NUMBERS: bool = true;
    /// What a journal calls this kind of store.
    const FORMAT: u32;

    /// First half of an insertion.
    fn ticket(&self, cursor: &mut Self::Cursor, key: Key<'_>) -> Result<Self::Ticket, Need>;

    /// A hint for the second half, once what the first prefetched has arrived; prefetches what it will read. 0 is no hint.
    /// Worth a call when tickets come in batches; invalid once the store has grown.
    fn guess(&self, cursor: &mut Self::Cursor, ticket: &Self::Ticket) -> u64;

    /// Prefetches what [`Visited::approach`] will read, once what [`Visited::guess`] prefetched has arrived.
    #[inline]
    fn fetch(&self, cursor: &mut Self::Cursor, ticket: &Self::Ticket, guess: u64) {
        let _ = (cursor, ticket, guess);
    }

    /// Prefetches what the second half will read, once what [`Visited::fetch`] prefetched has arrived.
    #[inline]
    fn approach(&self, cursor: &mut Self::Cursor, ticket: &Self::Ticket, guess: u64) {
        let _ = (cursor, ticket, guess);
    }

    /// All tickets so far are used.
    fn settled(&self, cursor: &mut Self::Cursor) {
        let _ = cursor;
    }

    /// Prefetches what [`Visited::load`] will read.
    fn foresee(&self, id: u32) {
        let _ = id;
    }

    /// Second half of an insertion; `guess` is what [`Visited::guess`] gave, or 0.
    ///
    /// # Errors A [`Need`]: nothing was inserted, and the same ticket may be tried again when the
    /// store has grown.
    fn insert(&self, cursor: &mut Self::Cursor, ticket: &Self::Ticket, guess: u64) -> Result<Visit, Need>;

    /// The vector of a state; the next tickets are stored as differences to it.
    fn load<'c>(&self, cursor: &'c mut Self::Cursor, id: u32) -> &'c [u8];

    /// Whether `key` is the state with this number.
    fn matches(&self, cursor: &mut Self::Cursor, id: u32, key: Key<'_>) -> bool;

    /// Does what is needed, unless more would be in use afterwards than is allowed.
    fn grow(&mut self, need: Need, allowance: Allowance) -> Result<(), Exhausted>;

    /// Memory in use, in bytes.
    fn bytes(&self) -> u64;

    /// One more than the largest number given out.
    fn ids_end(&self) -> u32;

    /// Whether a state has this number.
    fn has(&self, id: u32) -> bool;

    /// Writes all states but some, with their numbers, while no worker inserts.
    fn write(&self, to: &mut Writer<'_>, left_out: &LeftOut) -> io::Result<()>;

    /// A store that was written, into which so many workers will insert.
    fn read(from: &mut Reader, workers: usize) -> Result<Self, Broken>
    where
        Self: Sized;

    /// Probability that two of `states` states collide.
    fn collision_probability(&self, states: u64) -> f64 {
        let _ = states;
        0.0
    }

    /// For stores of fixed size: how full it is, from 0 to 1.
    fn fill(&self) -> Option<f64> {
        None
    }
}
