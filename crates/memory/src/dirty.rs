//! What the fingerprint does not count yet.

use crate::SpaceId;
use crate::owner::Owner;

/// Something that the fingerprint may not count yet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dirty {
    /// A page was written.
    Page(Owner, u64),
    /// Mappings changed.
    Layout(SpaceId),
}
