//! Where the C libraries keep what: the formats of locks in memory.

/// Which C library.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Flavour {
    /// The GNU C library.
    Glibc,
    /// musl.
    Musl,
}

/// Offsets in a `pthread_mutex_t`.
pub struct MutexLayout {
    /// Not zero while it is held.
    pub lock: u64,
    /// How often a recursive one is held, besides the first time.
    pub count: u64,
    /// Who holds it.
    pub owner: u64,
    /// Its kind.
    pub kind: u64,
    /// Bits of the kind that say that it is robust or inherits priorities: then the library's own code decides.
    pub special: u32,
}

impl MutexLayout {
    /// As much of a mutex as any of this lies in.
    pub const BYTES: usize = 24;
}

impl Flavour {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Glibc => "glibc",
            Self::Musl => "musl",
        }
    }

    /// Where a mutex keeps what.
    #[must_use]
    pub fn mutex(self) -> MutexLayout {
        match self {
            Self::Glibc => MutexLayout { lock: 0, count: 4, owner: 8, kind: 16, special: 0x70 },
            Self::Musl => MutexLayout { lock: 4, count: 20, owner: 4, kind: 0, special: 0x0c },
        }
    }

    /// The value of a free spin lock.
    #[must_use]
    pub fn free_spin_lock(self) -> u32 {
        match self {
            Self::Glibc => 1,
            Self::Musl => 0,
        }
    }

    /// How many threads a barrier is for, from the third word of a `pthread_barrier_t`.
    #[must_use]
    pub fn barrier_size(self, word: u32) -> u32 {
        match self {
            Self::Glibc => word,
            Self::Musl => word.wrapping_add(1),
        }
    }
}
