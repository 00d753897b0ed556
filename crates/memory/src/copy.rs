//! Cloning a whole memory.

use std::sync::Arc;

use crate::memory::Memory;
use crate::object::Object;
use crate::page::Pool;
use crate::space::Space;
use crate::store::Stores;
use crate::table::{Entry, Group, Table};

impl Clone for Memory {
    /// A memory with the same state; slow: searches use marks and snapshots. Marks, the log
    /// and the current space are not copied.
    fn clone(&self) -> Self {
        let mut copy = Self::new(self.limit);
        let Stores { spaces, objects } = &self.stores;
        let epoch = self.epoch;
        copy.stores.spaces = spaces.iter().map(|(id, space)| (*id, copy_space(space, epoch))).collect();
        copy.stores.objects = objects.iter().map(|(id, object)| (*id, copy_object(object, epoch))).collect();
        copy.epoch = epoch + 1;
        copy.dirty.clone_from(&self.dirty);
        // The code epoch is its own, for the two will differ.
        (copy.sum, copy.resident) = (self.sum, self.resident);
        copy
    }
}

fn copy_space(space: &Space, epoch: u64) -> Box<Space> {
    Box::new(Space {
        layout: Arc::clone(&space.layout),
        layout_sum: space.layout_sum,
        layout_dirty: space.layout_dirty,
        table: copy_table(&space.table, epoch),
        tlb: None,
        code: space.code.clone(),
        armed: space.armed.clone(),
    })
}

fn copy_object(object: &Object, epoch: u64) -> Box<Object> {
    let table = copy_table(&object.table, epoch);
    Box::new(Object { shape: object.shape, base: object.base.clone(), table, code: object.code.clone() })
}

#[allow(clippy::disallowed_methods, reason = "what comes of it does not depend on the order")]
fn copy_table(table: &Table, epoch: u64) -> Table {
    let copy = |group: &Group| Group {
        entries: std::array::from_fn(|index| copy_entry(&group.entries[index], epoch)),
        chunks: group.chunks.clone(),
        changed: group.changed,
        image: group.image.clone(),
    };
    let groups = table.groups.iter().map(|(number, group)| (*number, Box::new(copy(group)))).collect();
    Table { groups, sum: table.sum, resident: table.resident, image: table.image.clone() }
}

/// Pages are shared, but for those that the original may write in place.
///
/// Pages of the present epoch are written in place by the original without asking who shares them:
/// a copy that shared one would see its stores.
fn copy_entry(entry: &Entry, epoch: u64) -> Entry {
    let page = entry.page.as_ref().map(|page| match entry.stamp.epoch() == epoch {
        true => Pool::default().copy_of(page.bytes()),
        false => Arc::clone(page),
    });
    Entry { page, stamp: entry.stamp, content: entry.content }
}
