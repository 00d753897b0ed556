//! Calls on paths.
//!
//! A path reads every entry on its way. Who makes or removes a name writes one entry; so those who use different names do
//! not meet, even in one directory. What cannot be told entry by entry (a directory that moves with all that is in it, the
//! permissions of one, `/proc`, watched files) concerns all names.

use super::access::{self, Kind, entry, listing, reads, writes};
use super::executables::changes_writers;
use super::{Footprint, PendingCall, everything};
use explore::graph::Access;
use kernel::Id;
use kernel::descriptor::{Description, File};
use kernel::files::walk::{AT_FDCWD, AT_SYMLINK_FOLLOW, AT_SYMLINK_NOFOLLOW, Passed, Walk};
use kernel::files::{self, Inode, Kind as Sort, Node, Place};
use kernel::table::footprint::{Follow, NameUse, OpenFlags};
use kernel::table::{self, Argument};

/// Paths are at most this long.
const PATH_MAX: usize = 4096;
const O_CREAT: u64 = 0o100;
const O_TRUNC: u64 = 0o1000;
const O_WRITING: u64 = 3; // O_WRONLY, O_RDWR
const TMPFILE: u64 = 0o20_000_000;
const AT_REMOVEDIR: u64 = 0x200;

/// What all calls on files read, and those write that concern every name.
pub fn all_files(write: bool) -> Access {
    Access { object: access::ALL_NAMES, write, plain: false }
}

/// A name in a directory comes or goes. Who does so to different names does not meet: only those who look at all names of
/// the directory, or when it was changed, come before or after. So they write what those who change read.
fn change_entry(directory: Id, name: &[u8]) -> [Access; 2] {
    let access = |object, write| Access { object, write, plain: false };
    [access(entry(directory, name), true), access(listing(directory), false)]
}

/// All names of a directory are looked at, or when it was changed.
pub fn look_at_listing(directory: Id) -> Access {
    Access { object: listing(directory), write: true, plain: false }
}

/// A path argument, and the argument that holds the directory that it starts from.
#[derive(Clone, Copy)]
pub(super) struct PathArgument {
    from: Option<usize>,
    path: usize,
}

/// What one path leads through, and to.
///
/// Symbolic links, `..` and mount-like places are resolved as the call will resolve them, by the
/// kernel's own `Walk`; entries that are passed are read, so a rename on the way conflicts.
pub(super) struct Way {
    passed: Vec<Passed>,
    /// Nothing where the way ends before.
    place: Option<Place>,
}

impl Way {
    /// The inode that is there.
    pub(super) fn found(&self) -> Option<Id> {
        self.place.as_ref().and_then(|place| place.inode().ok())
    }
}

impl PendingCall<'_> {
    /// What a call on paths touches.
    ///
    /// `None` on the way becomes "everything": paths through `/proc` or through open files that are
    /// no inodes.
    pub(super) fn names(&self, usage: NameUse) -> Footprint {
        if usage == NameUse::Enter && !self.is_alone() {
            // Where paths begin is the business of all threads of a process.
            return everything();
        }
        let paths = self.paths(usage);
        let ways: Option<Vec<Way>> = paths.iter().map(|path| self.way(usage, *path)).collect();
        let Some(accesses) = ways.and_then(|ways| self.at_the_ends(usage, &ways)) else { return everything() };
        let mut all = vec![all_files(self.are_watched())];
        all.extend(accesses);
        match usage {
            NameUse::Open(_) => all.extend(self.descriptors(true)),
            _ if paths.iter().any(|path| path.from.is_some()) => all.extend(self.descriptors(false)),
            _ => {}
        }
        Footprint::Objects(all)
    }

    /// Files that the call may read, change or move; nothing if any.
    pub(crate) fn files(&self) -> Option<Vec<Id>> {
        use kernel::table::FootprintRule as Rule;
        let row = table::row(self.number)?;
        let usage = match row.footprint {
            Rule::Closes | Rule::Names(NameUse::Look | NameUse::Stat | NameUse::Enter | NameUse::Tell) => {
                return Some(Vec::new());
            }
            Rule::Names(usage) => usage,
            _ if row.arguments.contains(&Argument::Path) => return None,
            _ => NameUse::Look,
        };
        let open = row.arguments.iter().zip(self.args).filter(|(kind, _)| **kind == Argument::Fd);
        let open = open.filter_map(|(_, fd)| self.inode_at(fd as i32));
        let mut files: Vec<Id> = open.collect();
        for path in self.paths(usage) {
            files.extend(self.way(usage, path)?.found());
        }
        Some(files)
    }

    /// The path arguments. What a symbolic link holds is a text: only its own name is a path.
    pub(super) fn paths(&self, usage: NameUse) -> Vec<PathArgument> {
        let arguments = table::row(self.number).map_or(&[][..], |row| row.arguments);
        let is_directory = |index: &usize| arguments[*index] == Argument::Dir;
        let paths = arguments.iter().enumerate().filter(|(_, argument)| **argument == Argument::Path);
        let paths = paths.map(|(path, _)| PathArgument { from: path.checked_sub(1).filter(is_directory), path });
        match usage {
            NameUse::Make => paths.rev().take(1).collect(),
            _ => paths.collect(),
        }
    }

    /// Whether somebody is told what happens to files: then all of it is in one order.
    pub(super) fn are_watched(&self) -> bool {
        !self.kernel.files.notifiers.is_empty()
    }

    /// What a path leads through and to; nothing if that cannot be told by entries.
    pub(super) fn way(&self, usage: NameUse, PathArgument { from, path }: PathArgument) -> Option<Way> {
        let process = self.kernel.processes.get(&self.pid())?;
        let start = from.map_or(AT_FDCWD, |from| self.args[from] as i32);
        let Some(path) = self.path(self.args[path]) else {
            // A descriptor instead of a path, or an error.
            let place = self.inode_at(start).map(|id| at_itself(id, process.directories.working));
            return Some(Way { passed: Vec::new(), place });
        };
        self.way_of(usage, start, &path)
    }

    pub(super) fn way_of(&self, usage: NameUse, start: i32, path: &[u8]) -> Option<Way> {
        let process = self.kernel.processes.get(&self.pid())?;
        let start = match start {
            _ if path.first() == Some(&b'/') => Some(files::base::root()),
            AT_FDCWD => Some(process.directories.working),
            fd => self.inode_at(fd),
        };
        let Some(start) = start else { return Some(Way { passed: Vec::new(), place: None }) };
        if path.is_empty() {
            return Some(Way { passed: Vec::new(), place: Some(at_itself(start, start)) });
        }
        let asker = files::permission::Asker::effective(&process.credentials);
        let mut walk = Walk::new(self.kernel, process.pid, asker, self.follows(usage)).recording();
        let place = match usage {
            NameUse::Make | NameUse::Remove(_) | NameUse::RemoveDirectory | NameUse::Rename => walk.entry(start, path),
            _ => walk.go(start, path),
        };
        let way = Way { passed: walk.passed(), place: place.ok() };
        let is_plain = way.passed.iter().all(|passed| !self.is_made_up(passed)) && !self.leads_outside(&way);
        is_plain.then_some(way)
    }

    /// What it touches to look a path up.
    pub(super) fn look_up(&self, path: &[u8]) -> Vec<Access> {
        let Some(way) = self.way_of(NameUse::Look, AT_FDCWD, path) else { return access::everything() };
        std::iter::once(all_files(self.are_watched())).chain(self.on_the_way(&way)).collect()
    }

    /// Whether a link at the end of a path is followed. Where that makes no difference to what is touched, it is.
    fn follows(&self, usage: NameUse) -> bool {
        let (NameUse::Change(follow) | NameUse::Link(follow)) = usage else { return true };
        let has = |argument: u8, flag: u32| self.args[usize::from(argument)] & u64::from(flag) != 0;
        match follow {
            Follow::Always => true,
            Follow::Never => false,
            Follow::If(argument) => has(argument, AT_SYMLINK_FOLLOW),
            Follow::Unless(argument) => !has(argument, AT_SYMLINK_NOFOLLOW),
        }
    }

    /// Whether an entry is made when it is looked at: it tells of processes and terminals.
    fn is_made_up(&self, passed: &Passed) -> bool {
        let base = self.kernel.files.known.get(passed.directory);
        base.is_some_and(|base| is_of_state(&files::base::join(&base.path, &passed.name)))
    }

    /// Whether a directory lists what is there when it is looked at: processes and terminals.
    pub(super) fn tells_of_state(&self, id: Id) -> bool {
        self.kernel.files.known.get(id).is_some_and(|base| is_of_state(&base.path))
    }

    /// Whether a path leads to an open file that is no inode.
    fn leads_outside(&self, way: &Way) -> bool {
        matches!(way.place, Some(Place { node: Some(Node::Open(_)), .. }))
    }

    /// What the descriptors among the call's arguments refer to.
    pub(crate) fn open_files(&self) -> impl Iterator<Item = &Description> {
        let arguments = table::row(self.number).map_or(&[][..], |row| row.arguments);
        let (kernel, tid) = (self.kernel, self.tid);
        let open = arguments.iter().zip(self.args).filter(|(argument, _)| **argument == Argument::Fd);
        open.filter_map(move |(_, fd)| kernel.descriptions.get(&kernel.description_for(tid, fd as i32)?))
    }

    /// The absolute paths of the files that the call is on, by a path or by a descriptor.
    pub(crate) fn file_paths(&self) -> Vec<Vec<u8>> {
        let open = self.open_files().map(|open| open.path.clone());
        open.chain(self.paths(NameUse::Look).into_iter().filter_map(|path| self.absolute(path))).collect()
    }

    /// The absolute path of an entry; it need not exist.
    fn absolute(&self, PathArgument { from, path }: PathArgument) -> Option<Vec<u8>> {
        let start = from.map_or(AT_FDCWD, |from| self.args[from] as i32);
        let Place { parent, name, .. } = self.way_of(NameUse::Rename, start, &self.path(self.args[path])?)?.place?;
        self.kernel.path_in(parent, &name)
    }

    fn path(&self, address: u64) -> Option<Vec<u8>> {
        let mut path = Vec::new();
        while path.len() < PATH_MAX {
            let mut byte = [0];
            self.memory.peek(self.space(), address + path.len() as u64, &mut byte).ok()?;
            match byte[0] {
                0 => return Some(path),
                byte => path.push(byte),
            }
        }
        None
    }

    /// The inode that a descriptor refers to, or the working directory.
    fn inode_at(&self, fd: i32) -> Option<Id> {
        let process = self.kernel.processes.get(&self.pid())?;
        if fd == AT_FDCWD {
            return Some(process.directories.working);
        }
        let descriptor = process.descriptors.get(fd).ok()?;
        match self.kernel.descriptions.get(&descriptor.description)?.file {
            File::Inode(id) => Some(id),
            _ => None,
        }
    }

    /// What a use of names touches at the ends of its ways, and on them; nothing if that cannot be told.
    fn at_the_ends(&self, usage: NameUse, ways: &[Way]) -> Option<Vec<Access>> {
        let mut accesses: Vec<Access> = ways.iter().flat_map(|way| self.on_the_way(way)).collect();
        match (usage, ways) {
            (NameUse::Look, _) => {}
            (NameUse::Stat, [way]) => {
                accesses.extend(way.found().filter(|id| self.is_directory(*id)).map(look_at_listing));
            }
            (NameUse::Open(flags), [way]) => accesses.extend(self.open(flags, way)?),
            (NameUse::Change(_), [way]) => accesses.extend(way.found().map_or(Some(Vec::new()), |id| self.change(id))?),
            (NameUse::Make, [way]) => accesses.extend(make(way)),
            (NameUse::Remove(flags), [way]) if !self.removes_directory(flags) => accesses.extend(remove(way)),
            (NameUse::Remove(_) | NameUse::RemoveDirectory, [way]) => {
                accesses.extend(remove(way));
                accesses.extend(way.found().map(look_at_listing));
            }
            (NameUse::Link(_), [old, new]) => {
                let made = make(new);
                let counts = old.found().filter(|_| !made.is_empty()).map(|id| writes(Kind::Inode, id.0));
                accesses.extend(made.into_iter().chain(counts));
            }
            (NameUse::Rename, [old, new]) => accesses.extend(self.rename(old, new)),
            (NameUse::Enter | NameUse::Tell, _) => {
                accesses.extend(self.inode_at(AT_FDCWD).map(|id| reads(Kind::Inode, id.0)));
            }
            _ => return None,
        }
        Some(accesses)
    }

    /// `unlinkat(2)` removes directories, too.
    fn removes_directory(&self, flags: Option<u8>) -> bool {
        flags.is_some_and(|flags| self.args[usize::from(flags)] & AT_REMOVEDIR != 0)
    }

    /// Entries are read, and what links lead to; so is what is at the end.
    pub(super) fn on_the_way(&self, way: &Way) -> Vec<Access> {
        let read = |object| Access { object, write: false, plain: false };
        let mut accesses: Vec<Access> =
            way.passed.iter().map(|passed| read(entry(passed.directory, &passed.name))).collect();
        let files = way.passed.iter().filter_map(|passed| passed.found).filter(|id| !self.is_directory(*id));
        accesses.extend(files.chain(way.found()).map(|id| reads(Kind::Inode, id.0)));
        accesses
    }

    fn inode(&self, id: Id) -> Option<Inode> {
        self.kernel.inode(id)
    }

    /// Whether an inode is a directory.
    pub(super) fn is_directory(&self, id: Id) -> bool {
        self.inode(id).is_some_and(|inode| inode.is_directory())
    }

    fn open(&self, flags: OpenFlags, way: &Way) -> Option<Vec<Access>> {
        let flags = match flags {
            OpenFlags::Argument(argument) => self.args[usize::from(argument)],
            OpenFlags::Creat => O_CREAT | O_TRUNC | 1,
        };
        if flags & TMPFILE != 0 {
            return None;
        }
        let Some(id) = way.found() else {
            return Some(if flags & O_CREAT != 0 { make(way) } else { Vec::new() });
        };
        match self.inode(id)?.kind {
            Sort::Regular if flags & (O_WRITING | O_TRUNC) != 0 && files::is_running(self.kernel, id) => None,
            Sort::Regular => {
                let writer = (flags & O_WRITING != 0).then(|| changes_writers(id, self.pid()));
                let content = (flags & O_TRUNC != 0).then(|| writes(Kind::Inode, id.0));
                Some(writer.into_iter().chain(content).collect())
            }
            Sort::Character(number) if !files::device::is_known(number) => None,
            Sort::Fifo | Sort::Magic | Sort::Text => None,
            _ => Some(Vec::new()),
        }
    }

    /// Attributes or content of an inode change; those of a directory decide about all that is in it.
    pub(super) fn change(&self, id: Id) -> Option<Vec<Access>> {
        let inode = self.inode(id)?;
        let own = writes(Kind::Inode, id.0);
        match inode.kind {
            Sort::Directory => Some(vec![own, all_files(true), look_at_listing(id)]),
            Sort::Regular if files::is_running(self.kernel, id) => None,
            _ => Some(vec![own]),
        }
    }

    fn rename(&self, old: &Way, new: &Way) -> Vec<Access> {
        let (Some(from), Some(to), Some(id)) = (&old.place, &new.place, old.found()) else { return Vec::new() };
        let mut accesses: Vec<Access> =
            [from, to].iter().flat_map(|place| change_entry(place.parent, &place.name)).collect();
        for id in [Some(id), new.found()].into_iter().flatten() {
            accesses.push(writes(Kind::Inode, id.0));
            if self.is_directory(id) {
                accesses.extend([all_files(true), look_at_listing(id)]);
            }
        }
        accesses
    }
}

/// Whether a path leads to what tells of processes and terminals.
fn is_of_state(path: &[u8]) -> bool {
    path.starts_with(b"/proc") || path.starts_with(b"/dev/pts")
}

/// What is reached without a name.
fn at_itself(id: Id, parent: Id) -> Place {
    Place { parent, name: Vec::new(), node: Some(Node::Inode(id)), slash: false, dots: false }
}

/// A name is made if there is none.
fn make(way: &Way) -> Vec<Access> {
    let place = way.place.as_ref().filter(|place| place.node.is_none());
    place.map_or_else(Vec::new, |place| change_entry(place.parent, &place.name).into())
}

/// A name is removed if there is one; so may be what it leads to.
fn remove(way: &Way) -> Vec<Access> {
    let (Some(place), Some(id)) = (&way.place, way.found()) else { return Vec::new() };
    let [entry, listing] = change_entry(place.parent, &place.name);
    vec![entry, listing, writes(Kind::Inode, id.0)]
}
