//! One mapping: a range of addresses, what backs it and what may be done with it.

use std::sync::Arc;

use crate::{ObjectId, Protection};

/// What shows where nothing was written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Backing {
    /// Zeros.
    Anonymous,
    /// The bytes of an object.
    Object {
        /// Which object.
        id: ObjectId,
        /// Where in it the mapping starts, in bytes; a multiple of the page size.
        offset: u64,
    },
}

/// Where writes are visible.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sharing {
    /// This space alone (`MAP_PRIVATE`).
    Private,
    /// In all mappings and reads of the object (`MAP_SHARED`). Needs an object, for anonymous shared memory too.
    Shared,
}

/// What `/proc/PID/maps` calls the mapping.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Name {
    /// Nothing.
    #[default]
    None,
    /// `[heap]`.
    Heap,
    /// `[stack]`.
    Stack,
    /// A file, or any other text.
    Path(Arc<str>),
}

impl Name {
    /// As `/proc/PID/maps` shows it.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::None => "",
            Self::Heap => "[heap]",
            Self::Stack => "[stack]",
            Self::Path(path) => path,
        }
    }
}

/// A range of addresses, what backs it and what may be done with it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Mapping {
    /// First address; a multiple of the page size.
    pub start: u64,
    /// Bytes; [`crate::Memory::map`] rounds it up to whole pages.
    pub len: u64,
    /// What may be done with it.
    pub protection: Protection,
    /// What shows where nothing was written.
    pub backing: Backing,
    /// Where writes are visible.
    pub sharing: Sharing,
    /// Grows towards lower addresses when touched below its start (`MAP_GROWSDOWN`).
    pub grows_down: bool,
    /// What `/proc/PID/maps` calls it.
    pub name: Name,
}

impl Mapping {
    /// A private anonymous mapping.
    #[must_use]
    pub const fn anonymous(start: u64, len: u64, protection: Protection) -> Self {
        Self {
            start,
            len,
            protection,
            backing: Backing::Anonymous,
            sharing: Sharing::Private,
            grows_down: false,
            name: Name::None,
        }
    }

    /// First address behind it.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.start + self.len
    }

    /// The object and the offset in it that `addr` shows.
    #[must_use]
    pub fn object_at(&self, addr: u64) -> Option<(ObjectId, u64)> {
        match self.backing {
            Backing::Anonymous => None,
            Backing::Object { id, offset } => Some((id, offset.wrapping_add(addr.wrapping_sub(self.start)))),
        }
    }

    /// The part of it from `start` to `end`, which must lie inside, or go on before or behind it.
    pub(crate) fn piece(&self, start: u64, end: u64) -> Self {
        Self { backing: self.backing_at(start), start, len: end - start, ..self.clone() }
    }

    fn backing_at(&self, addr: u64) -> Backing {
        self.object_at(addr).map_or(Backing::Anonymous, |(id, offset)| Backing::Object { id, offset })
    }

    /// Whether `next` starts where this ends and both are one mapping for every purpose.
    pub(crate) fn continues_in(&self, next: &Self) -> bool {
        self.end() == next.start
            && self.protection == next.protection
            && self.sharing == next.sharing
            && self.grows_down == next.grows_down
            && self.backing_at(next.start) == next.backing
            && self.name == next.name
    }
}
