//! The words of the crate: identities, permissions, accesses and what can go wrong.

use crate::PAGE_SIZE;

/// Identity of an address space; the caller chooses it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SpaceId(pub u64);

/// Identity of an object: the content of a file, memfd, shared memory segment or anonymous shared mapping.
/// The caller chooses it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ObjectId(pub u64);

/// What may be done with a mapping, as in `mprotect(2)`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Protection(u8);

impl Protection {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// Loads.
    pub const READ: Self = Self(1);
    /// Stores.
    pub const WRITE: Self = Self(2);
    /// Instruction fetches.
    pub const EXECUTE: Self = Self(4);
    /// Loads and stores.
    pub const READ_WRITE: Self = Self(3);
    /// Loads and instruction fetches.
    pub const READ_EXECUTE: Self = Self(5);

    /// Whether everything in `other` is allowed.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// What either allows.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The bits as `PROT_READ`, `PROT_WRITE` and `PROT_EXEC` of `mmap(2)`.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// From the bits of `mmap(2)`; other bits are dropped.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits as u8 & 7)
    }

    /// Whether `access` is allowed. On x86 whatever can be written or executed can also be read.
    #[must_use]
    pub const fn allows(self, access: AccessKind) -> bool {
        match access {
            AccessKind::Read => self.0 != 0,
            AccessKind::Write => self.contains(Self::WRITE),
            AccessKind::Execute => self.contains(Self::EXECUTE),
        }
    }
}

impl std::ops::BitOr for Protection {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.union(other)
    }
}

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AccessKind {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An instruction fetch.
    Execute,
}

/// Why an access cannot be done.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Cause {
    /// Nothing is mapped there: SIGSEGV with `SEGV_MAPERR`.
    Unmapped,
    /// The mapping forbids it: SIGSEGV with `SEGV_ACCERR`.
    Protected,
    /// The page lies behind the end of the mapped object: SIGBUS with `BUS_ADRERR`.
    BeyondEnd,
    /// The world's limit of pages is reached.
    NoMemory,
}

/// An access that cannot be done. `addr` is the first byte that failed; all bytes before it are done for kernel-side
/// accesses (as `copy_from_user` reports them), none for guest accesses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Fault {
    /// The first byte that failed.
    pub addr: u64,
    /// What was tried.
    pub access: AccessKind,
    /// Why it failed.
    pub cause: Cause,
}

/// An access to an armed page, about to happen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct VisibleAccess {
    /// First byte of the whole access.
    pub addr: u64,
    /// Bytes of the whole access.
    pub size: u32,
    /// What it does.
    pub access: AccessKind,
}

/// Why a guest access was not done. Nothing was changed, so the instruction can be tried again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Halt {
    /// It cannot be done.
    Fault(Fault),
    /// It is to an armed page: it was to be stopped before.
    Visible(VisibleAccess),
}

/// A guest access was not done; [`crate::Memory::halt`] says why. Free of content so that the fast path returns in
/// registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stopped;

/// Why a change of mappings or objects was refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MapError {
    /// The limit of pages or of mappings is reached.
    NoMemory,
    /// Misaligned, empty, wrapping or outside of user space.
    Invalid,
    /// Part of the range is not mapped.
    NotMapped,
    /// Part of the range is taken.
    Occupied,
    /// No such object.
    NoObject,
}

/// Bounds of one world's memory.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Pages with content of their own that all spaces and objects may hold together.
    pub pages: u64,
    /// Mappings that one space may hold, as `vm.max_map_count`.
    pub mappings: usize,
    /// Whether the caller has too little memory, besides: asked whenever a few megabytes are added.
    pub is_pressed: Option<fn() -> bool>,
}

impl Limit {
    /// So many pages, and Linux's default for mappings.
    #[must_use]
    pub const fn pages(pages: u64) -> Self {
        Self { pages, mappings: 65_530, is_pressed: None }
    }

    /// So many bytes, rounded down to pages.
    #[must_use]
    pub const fn bytes(bytes: u64) -> Self {
        Self::pages(bytes / PAGE_SIZE)
    }

    /// The pages of guests where so many bytes are for everything: an eighth is for what keeps them.
    #[must_use]
    pub const fn within(bytes: u64) -> Self {
        Self::bytes(bytes - bytes / 8)
    }
}

impl Default for Limit {
    /// Two gibibytes.
    fn default() -> Self {
        Self::bytes(2 << 30)
    }
}

/// One guest access in the log.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Logged {
    /// First byte.
    pub addr: u64,
    /// Bytes.
    pub size: u32,
    /// A store, not a load.
    pub write: bool,
}
