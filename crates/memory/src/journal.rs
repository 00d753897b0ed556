//! The journal: what changed since the first mark, newest last.
//!
//! **Invariant:** empty unless there is a mark. Records of pages hold the page that was there,
//! moved and not shared; so a page of an earlier epoch is not written in place while there is a
//! mark, whatever its reference count says.

use std::sync::Arc;

use crate::layout::Layout;
use crate::object::{Object, Shape};
use crate::owner::Owner;
use crate::space::Space;
use crate::table::{Entry, Images};
use crate::{ObjectId, SpaceId};

/// A point to undo back to.
///
/// Good until a mark before it is undone to, marks are forgotten or a snapshot is restored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    pub(crate) depth: usize,
    pub(crate) serial: u64,
}

/// How to undo one change.
#[derive(Debug)]
pub(crate) enum Record {
    /// A page was replaced.
    Page { owner: Owner, page: u64, old: Entry },
    /// Images of a page's chunk, group or table became invalid.
    Images { owner: Owner, page: u64, images: Images },
    /// Mappings changed in a range of addresses.
    Layout { space: SpaceId, old: Arc<Layout>, sum: u128, dirty: bool, start: u64, end: u64 },
    /// A space came, went or was replaced.
    Space { id: SpaceId, old: Option<Box<Space>> },
    /// An object came or went.
    Object { id: ObjectId, old: Option<Box<Object>> },
    /// An object's shape changed.
    Shape { id: ObjectId, old: Shape },
}

/// What a mark needs to know apart from the records behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marked {
    pub(crate) serial: u64,
    pub(crate) records: usize,
    pub(crate) drains: u64,
    pub(crate) dirty: usize,
}

/// The marks and all that changed since the first.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    pub(crate) records: Vec<Record>,
    pub(crate) marks: Vec<Marked>,
    pub(crate) serial: u64,
}

impl Journal {
    /// Whether changes are to be noted at all.
    pub(crate) fn is_active(&self) -> bool {
        !self.marks.is_empty()
    }

    /// Forgets all marks, and how to come back to them.
    pub(crate) fn clear(&mut self) {
        self.marks.clear();
        self.records.clear();
    }
}
