//! All spaces and objects of a world, and where the bytes of a page live among them.

use std::collections::BTreeMap;

use crate::object::Object;
use crate::owner::{Owner, Place};
use crate::page::{Bytes, ZERO};
use crate::space::Space;
use crate::table::Table;
use crate::{ObjectId, SpaceId};

/// All spaces and objects of a world.
#[derive(Debug, Default)]
pub(crate) struct Stores {
    pub(crate) spaces: BTreeMap<SpaceId, Box<Space>>,
    pub(crate) objects: BTreeMap<ObjectId, Box<Object>>,
}

impl Stores {
    /// A space that the caller knows to exist.
    pub(crate) fn space(&self, id: SpaceId) -> &Space {
        self.spaces.get(&id).expect("the space exists")
    }

    /// A space that the caller knows to exist.
    pub(crate) fn space_mut(&mut self, id: SpaceId) -> &mut Space {
        self.spaces.get_mut(&id).expect("the space exists")
    }

    /// An object that the caller knows to exist.
    pub(crate) fn object(&self, id: ObjectId) -> &Object {
        self.objects.get(&id).expect("the object exists")
    }

    /// An object that the caller knows to exist.
    pub(crate) fn object_mut(&mut self, id: ObjectId) -> &mut Object {
        self.objects.get_mut(&id).expect("the object exists")
    }

    pub(crate) fn table(&self, owner: Owner) -> &Table {
        match owner {
            Owner::Space(id) => &self.space(id).table,
            Owner::Object(id) => &self.object(id).table,
        }
    }

    pub(crate) fn table_mut(&mut self, owner: Owner) -> &mut Table {
        match owner {
            Owner::Space(id) => &mut self.space_mut(id).table,
            Owner::Object(id) => &mut self.object_mut(id).table,
        }
    }

    pub(crate) fn exists(&self, owner: Owner) -> bool {
        match owner {
            Owner::Space(id) => self.spaces.contains_key(&id),
            Owner::Object(id) => self.objects.contains_key(&id),
        }
    }

    /// Drops what emptied groups left behind.
    pub(crate) fn drop_empty_groups(&mut self) {
        self.spaces.values_mut().for_each(|space| space.table.drop_all_empty_groups());
        self.objects.values_mut().for_each(|object| object.table.drop_all_empty_groups());
    }

    /// What a page shows.
    ///
    /// In order: the page that is held, for a private mapping that of the object beneath, for an
    /// object its initial content, zeros.
    pub(crate) fn view(&self, place: Place) -> &Bytes {
        match (self.table(place.owner).page(place.page), place.under, place.owner) {
            (Some(page), _, _) => page.bytes(),
            (None, Some((object, page)), _) => self.object(object).view(page),
            (None, None, Owner::Object(object)) => self.object(object).beneath(place.page),
            (None, None, Owner::Space(_)) => ZERO.bytes(),
        }
    }

    /// What the fingerprint counts for a page that its owner does not hold.
    pub(crate) fn content_beneath(&self, owner: Owner, page: u64) -> u128 {
        match owner {
            Owner::Space(_) => 0,
            Owner::Object(id) => self.object(id).content_beneath(page),
        }
    }

    /// Whether the page has noted code.
    pub(crate) fn holds_code(&self, owner: Owner, page: u64) -> bool {
        match owner {
            Owner::Space(id) => self.space(id).code.contains(&page),
            Owner::Object(id) => self.object(id).code.contains(&page),
        }
    }
}
