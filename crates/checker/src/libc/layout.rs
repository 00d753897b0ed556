//! The formats of locks in memory, by C library.

/// A library whose functions are summarised.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Flavour {
    /// The GNU C library.
    Glibc,
    /// musl.
    Musl,
    /// Rust's standard library, on top of one of these.
    Rust,
}

/// Offsets in a `pthread_mutex_t`.
pub struct MutexLayout {
    /// The lock word: not zero while it is held.
    pub lock: u64,
    /// The recursion count.
    pub count: u64,
    /// The holder.
    pub owner: u64,
    /// Its kind.
    pub kind: u64,
    /// Bits of the kind for robust and priority-inheriting ones: they are not summarised.
    pub special: u32,
}

impl MutexLayout {
    /// The bytes of a mutex that contain all of these.
    pub const BYTES: usize = 24;
}

impl Flavour {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Glibc => "glibc",
            Self::Musl => "musl",
            Self::Rust => "Rust",
        }
    }

    /// The layout of its mutex.
    #[must_use]
    pub fn mutex(self) -> MutexLayout {
        match self {
            // A word, which does not say whose it is.
            Self::Rust => MutexLayout { lock: 0, count: 0, owner: 0, kind: 0, special: 0 },
            Self::Glibc => MutexLayout { lock: 0, count: 4, owner: 8, kind: 16, special: 0x70 },
            Self::Musl => MutexLayout { lock: 4, count: 20, owner: 4, kind: 0, special: 0x0c },
        }
    }

    /// The value of a free spin lock.
    #[must_use]
    pub fn free_spin_lock(self) -> u32 {
        match self {
            Self::Glibc => 1,
            Self::Musl | Self::Rust => 0,
        }
    }

    /// How many threads a barrier is for, from the third word of a `pthread_barrier_t`.
    #[must_use]
    pub fn barrier_size(self, word: u32) -> u32 {
        match self {
            Self::Glibc | Self::Rust => word,
            Self::Musl => word.wrapping_add(1),
        }
    }
}
