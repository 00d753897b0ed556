//! What an answer says of each change, for whoever tells it.

use super::{Change, Question, What};
use crate::Kernel;
use crate::id::Id;
use std::sync::Arc;

/// Something that was not durable when power failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Doubt {
    /// A change of names or of a size.
    Change(Change),
    /// Bytes of a block of a file: file, number, content.
    Bytes(Id, u64, Arc<[u8]>),
}

/// What is on the disk by an answer, and what is not.
#[must_use]
pub fn outcome(kernel: &Kernel, question: &Question, answer: usize) -> [Vec<Doubt>; 2] {
    let Some(disk) = kernel.files.disk.as_deref() else { return [Vec::new(), Vec::new()] };
    let told = |changes: &[Change]| changes.iter().cloned().map(Doubt::Change).collect::<Vec<_>>();
    match question {
        Question::Committed(_) => [told(&disk.changes[..answer]), told(&disk.changes[answer..])],
        Question::Reached => {
            let first = disk.changes.iter().find(|change| matches!(change.what, What::Names(_)));
            let first = first.map_or_else(Vec::new, |first| told(std::slice::from_ref(first)));
            if answer > 0 { [first, Vec::new()] } else { [Vec::new(), first] }
        }
        Question::Size(inode, lengths) => {
            let is_size = |change: &&Change| matches!(change.what, What::Size { inode: file, .. } if file == *inode);
            let sizes: Vec<Change> = disk.changes.iter().filter(is_size).cloned().collect();
            let is_it = |change: &Change| matches!(change.what, What::Size { to, .. } if to == lengths[answer]);
            let reach = if answer == 0 { 0 } else { sizes.iter().rposition(is_it).map_or(0, |last| last + 1) };
            [told(&sizes[..reach]), told(&sizes[reach..])]
        }
        Question::Block(inode, number, _) => {
            let versions = disk.blocks.get(&(*inode, *number)).map_or(&[][..], |block| &block.versions);
            let told = |versions: &[super::Version]| {
                versions.iter().map(|version| Doubt::Bytes(*inode, *number, Arc::clone(&version.bytes))).collect()
            };
            let reached = if answer == 0 { Vec::new() } else { told(&versions[answer..=answer]) };
            [reached, told(&versions[answer + 1..])]
        }
    }
}

/// What the blocks that were written last hold now.
pub fn written(kernel: &Kernel) -> impl Iterator<Item = (Id, u64, &Arc<[u8]>)> {
    let blocks = kernel.files.disk.as_deref().into_iter().flat_map(|disk| disk.blocks.iter());
    blocks.filter_map(|((inode, number), block)| Some((*inode, *number, &block.versions.last()?.bytes)))
}
