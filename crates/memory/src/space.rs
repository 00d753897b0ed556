//! Address spaces.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::layout::Layout;
use crate::owner::Owner;
use crate::table::Table;
use crate::tlb::Tlb;
use crate::{SpaceId, hash};

/// One address space.
#[derive(Debug, Default)]
pub(crate) struct Space {
    /// Shared with forks and snapshots until it changes.
    pub(crate) layout: Arc<Layout>,
    /// What the fingerprint counts for the layout.
    pub(crate) layout_sum: u128,
    /// The layout may differ from the one that the fingerprint counts.
    pub(crate) layout_dirty: bool,
    /// Pages written privately.
    pub(crate) table: Table,
    /// Translations, while another space is the current one.
    pub(crate) tlb: Option<Tlb>,
    /// Pages with noted code.
    pub(crate) code: BTreeSet<u64>,
    /// Ranges of pages to stop before; no part of any state.
    pub(crate) armed: Vec<std::ops::Range<u64>>,
}

impl Space {
    /// What it adds to the fingerprint.
    pub(crate) fn sum(&self) -> u128 {
        self.layout_sum.wrapping_add(self.table.sum)
    }

    /// What its layout should add to the fingerprint.
    pub(crate) fn layout_counted(&self, id: SpaceId) -> u128 {
        hash::placed(hash::text(&self.layout.describe()) | 1, Owner::Space(id), u64::MAX)
    }

    /// Whether an access to the page is to be stopped before.
    pub(crate) fn is_armed(&self, page: u64) -> bool {
        self.armed.iter().any(|range| range.contains(&page))
    }
}
