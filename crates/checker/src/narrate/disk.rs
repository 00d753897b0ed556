//! What was on the disk when power had failed: each change with the call that made it, and its line.

use super::narrator::Narrator;
use super::origins::Origin;
use crate::faults::Healing;
use crate::system::choice::Alternative;
use kernel::files::disk::{self, Change, Doubt, NameChange, What};
use kernel::{Id, table};
use trace::{Choice, DiskChange, DiskEvent, DiskWhat};

impl Narrator<'_> {
    /// What an answer about the disk says; nothing if the choice is none.
    pub(super) fn disk_event(&self, choice: Choice) -> Option<DiskEvent> {
        let Alternative::Heal(Healing::Disk(answer)) = self.view.alternative(choice)? else { return None };
        let kernel = &self.view.state.world.kernel;
        let [reached, lost] = disk::outcome(kernel, &self.view.disk_question()?, answer as usize);
        let told = |all: Vec<Doubt>| all.iter().flat_map(|doubt| self.told(doubt)).collect();
        Some(DiskEvent { reached: told(reached), lost: told(lost) })
    }

    fn told(&self, doubt: &Doubt) -> Vec<DiskChange> {
        match doubt {
            Doubt::Change(change) => self.told_change(change),
            Doubt::Bytes(inode, number, bytes) => {
                let Origin { call, location } = self.listener.context.origins.of_block(*inode, *number, bytes);
                let size = u64::from(self.view.workload.faults.disk().map_or(0, |model| model.block));
                let (file, offset, count) = (self.file_name(*inode), number * size, bytes.len() as u64);
                let by_sync_of = file.clone();
                vec![DiskChange { what: DiskWhat::Bytes { file, offset, count }, call, location, by_sync_of }]
            }
        }
    }

    fn told_change(&self, change: &Change) -> Vec<DiskChange> {
        let location = self.listener.context.origins.of_change(change);
        let call = table::row(change.call).map(|row| row.name.to_owned());
        let one = |what, by_sync_of| DiskChange { what, call: call.clone(), location: location.clone(), by_sync_of };
        match &change.what {
            What::Size { inode, from, to } => {
                let file = self.file_name(*inode);
                vec![one(DiskWhat::Size { file: file.clone(), from: *from, to: *to }, file)]
            }
            What::Names(names) => match &names[..] {
                [old, new] if old.after.is_none() && old.before == new.after => {
                    let what = DiskWhat::Renamed([self.path(old), self.path(new)]);
                    vec![one(what, self.directory(new))]
                }
                names => names.iter().map(|name| one(self.name_event(name), self.directory(name))).collect(),
            },
        }
    }

    fn name_event(&self, name: &NameChange) -> DiskWhat {
        let path = self.path(name);
        if name.after.is_some() { DiskWhat::Made(path) } else { DiskWhat::Removed(path) }
    }

    fn path(&self, name: &NameChange) -> String {
        let path = self.view.state.world.kernel.path_in(name.directory, &name.name);
        self.below(&String::from_utf8_lossy(&path.unwrap_or_else(|| name.name.clone())))
    }

    fn directory(&self, name: &NameChange) -> String {
        let path = self.view.state.world.kernel.path_of(name.directory).unwrap_or_default();
        match self.below(&String::from_utf8_lossy(&path)) {
            own if own == self.listener.folder => "the directory".to_owned(),
            path => format!("the directory {path}"),
        }
    }

    fn file_name(&self, inode: Id) -> String {
        self.listener.context.files.get(&inode).cloned().unwrap_or_else(|| "a file".to_owned())
    }
}
