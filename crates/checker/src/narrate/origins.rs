//! Which calls have made the changes that are not durable: the kernel keeps what they are, not where they come from.

use kernel::files::disk::{self, Change};
use kernel::{Id, Kernel};
use std::sync::Arc;
use trace::Location;

/// Where changes that are not durable come from.
#[derive(Clone, Default)]
pub struct Origins {
    changes: Vec<(Change, Option<Location>)>,
    blocks: Vec<(Id, u64, Arc<[u8]>, Origin)>,
}

/// A call, and its line.
#[derive(Clone, Default)]
pub struct Origin {
    /// The call.
    pub call: Option<String>,
    /// Its line in the program's own code.
    pub location: Option<Location>,
}

impl Origins {
    /// Remembers what a call has changed: what was not known before. Equal changes keep the place of the first.
    pub fn note(&mut self, kernel: &Kernel, call: &str, location: Option<&Location>) {
        let Some(disk) = kernel.files.disk.as_deref() else { return };
        for change in &disk.changes {
            if !self.changes.iter().any(|(known, _)| known == change) {
                self.changes.push((change.clone(), location.cloned()));
            }
        }
        for (inode, number, bytes) in disk::written(kernel) {
            if !self.blocks.iter().any(|known| (known.0, known.1, &known.2) == (inode, number, bytes)) {
                let origin = Origin { call: Some(call.to_owned()), location: location.cloned() };
                self.blocks.push((inode, number, Arc::clone(bytes), origin));
            }
        }
    }

    /// The line of the call that made a change.
    pub fn of_change(&self, change: &Change) -> Option<Location> {
        self.changes.iter().find(|(known, _)| known == change).and_then(|(_, location)| location.clone())
    }

    /// The call that wrote a block so. What is asked for may be shorter: the file may be.
    pub fn of_block(&self, inode: Id, number: u64, bytes: &[u8]) -> Origin {
        let is_it = |known: &&(Id, u64, Arc<[u8]>, Origin)| {
            let shared = known.2.len().min(bytes.len());
            (known.0, known.1) == (inode, number) && known.2[..shared] == bytes[..shared]
        };
        self.blocks.iter().rfind(is_it).map_or_else(Origin::default, |known| known.3.clone())
    }
}
