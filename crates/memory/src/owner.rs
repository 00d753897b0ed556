//! Where the bytes of a page live.

use crate::{ObjectId, SpaceId};

/// The holder of a page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Owner {
    /// A space, privately.
    Space(SpaceId),
    /// An object, for all mappings of it.
    Object(ObjectId),
}

/// Where the bytes of a page live.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// The holder of the page, now or once it is written.
    pub(crate) owner: Owner,
    /// Its number there.
    pub(crate) page: u64,
    /// The object's page that is read until then, for private mappings of objects.
    pub(crate) under: Option<(ObjectId, u64)>,
}
