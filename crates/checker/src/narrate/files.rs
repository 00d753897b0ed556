//! Names of files in a story: what they stood for before and after a call, and who changed that between two looks.

use super::guest;
use kernel::descriptor::File;
use kernel::files::permission::Asker;
use kernel::files::walk::{AT_FDCWD, Walk};
use kernel::table::footprint::{NameUse, OpenFlags};
use kernel::table::narration::Verb;
use kernel::table::{Argument, FootprintRule, Row};
use kernel::{Id, Tid};
use std::collections::BTreeMap;
use trace::FileVerb;
use world::World;

/// What a call did with a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Use {
    /// It named it.
    Name(Named),
    /// It named what cannot be there: a folder on the way is missing.
    NoContext(String),
    /// It went through a descriptor.
    Content {
        /// The file.
        inode: Id,
        /// Whether nothing was changed.
        looks: bool,
    },
}

/// A name that a call used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    /// The whole path.
    pub path: String,
    /// What it stood for before the call.
    pub before: Option<Id>,
    /// And after.
    pub after: Option<Id>,
    /// What the call came to.
    pub verb: FileVerb,
    /// Whether it was opened in order to change it.
    is_for_writing: bool,
    directory: Id,
    name: Vec<u8>,
}

/// What a call that begins is about to do with files.
pub fn begun(world: &World, tid: Tid, row: &Row, args: &[u64; 6]) -> Vec<Use> {
    let mut uses = Vec::new();
    let mut directory = AT_FDCWD;
    for (argument, value) in row.arguments.iter().zip(args) {
        match argument {
            Argument::Dir => directory = *value as i32,
            Argument::Path => {
                let used = path(world, tid, directory, *value);
                uses.extend(used.map(|used| used.opened(is_for_writing(row, args))));
            }
            // Of two descriptors both count: `copy_file_range(2)` changes the second.
            Argument::Fd => uses.extend(content(world, tid, row, *value as i32)),
            _ => {}
        }
    }
    uses
}

/// What it has done.
pub fn returned(world: &World, row: &Row, uses: &mut [Use]) {
    for used in uses {
        // What `.` stands for is not an entry that somebody could replace.
        if let Use::Name(named) = used
            && !matches!(named.name.as_slice(), b"" | b"." | b"..")
        {
            named.after = world.kernel.lookup(named.directory, &named.name);
        }
        if let Use::Name(named) = used {
            named.verb = verb(row.narration.verb, named);
        }
    }
}

fn verb(verb: Verb, named: &Named) -> FileVerb {
    match (named.before, named.after) {
        (None, Some(_)) => FileVerb::Made,
        (Some(_), None) => FileVerb::Removed,
        (Some(before), Some(after)) if before != after => FileVerb::Replaced,
        _ if verb == Verb::Looked => FileVerb::LookedAt,
        _ if verb == Verb::Opened => FileVerb::Opened,
        (None, None) => FileVerb::LookedFor,
        _ if verb == Verb::Found => FileVerb::Found,
        _ => FileVerb::Changed,
    }
}

/// Whether a call opens a file in order to change it.
fn is_for_writing(row: &Row, args: &[u64; 6]) -> bool {
    const WRITING: u64 = 0o3 | 0o1000;
    match row.footprint {
        FootprintRule::Names(NameUse::Open(OpenFlags::Argument(flags))) => args[usize::from(flags)] & WRITING != 0,
        _ => false,
    }
}

fn path(world: &World, tid: Tid, directory: i32, address: u64) -> Option<Use> {
    let path = guest::text_at(world, world.space(tid), address).filter(|path| !path.is_empty())?;
    let named = named(world, tid, directory, &path);
    Some(named.map_or(Use::NoContext(path), Use::Name))
}

fn named(world: &World, tid: Tid, directory: i32, path: &str) -> Option<Named> {
    let kernel = &world.kernel;
    let pid = kernel.threads.get(&tid)?.pid;
    let process = kernel.processes.get(&pid)?;
    let start = match directory {
        AT_FDCWD => process.directories.working,
        fd => inode_of(world, tid, fd)?,
    };
    let mut walk = Walk::new(kernel, pid, Asker::effective(&process.credentials), false);
    let place = walk.entry(start, path.as_bytes()).ok()?;
    let parent = String::from_utf8_lossy(&kernel.path_of(place.parent)?).into_owned();
    let path = format!("{}/{}", parent.trim_end_matches('/'), String::from_utf8_lossy(&place.name));
    let before = place.inode().ok();
    Some(Named {
        path,
        before,
        after: before,
        verb: FileVerb::LookedAt,
        is_for_writing: false,
        directory: place.parent,
        name: place.name,
    })
}

fn content(world: &World, tid: Tid, row: &Row, fd: i32) -> Option<Use> {
    let inode = inode_of(world, tid, fd)?;
    Some(Use::Content { inode, looks: row.footprint.only_reads() })
}

/// The file behind a descriptor.
pub fn inode_of(world: &World, tid: Tid, fd: i32) -> Option<Id> {
    match guest::file_of(world, tid, fd)? {
        File::Inode(id) => Some(id),
        _ => None,
    }
}

/// A use, with who and when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Noted {
    /// The step's number.
    pub step: usize,
    /// The event in it.
    pub event: usize,
    /// Who.
    pub actor: u32,
    /// What.
    pub used: Use,
}

/// All uses of files of a story, in order.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    all: Vec<Noted>,
    /// Who made what.
    makers: BTreeMap<Id, u32>,
}

impl Uses {
    /// Adds one.
    pub fn note(&mut self, noted: Noted) {
        if let Use::Name(Named { before: None, after: Some(made), .. }) = &noted.used {
            self.makers.entry(*made).or_insert(noted.actor);
        }
        self.all.push(noted);
    }

    /// Whether only one actor uses any of these files, or nobody changes them: then nobody else can tell.
    pub fn are_private(&self, step: usize, event: usize) -> Option<bool> {
        let of_event = |noted: &&Noted| noted.step == step && noted.event == event;
        let mut own = self.all.iter().filter(of_event).peekable();
        own.peek()?;
        Some(own.all(|noted| !self.is_shared(noted)))
    }

    fn is_shared(&self, noted: &Noted) -> bool {
        let same = |other: &&Noted| is_same(&noted.used, &other.used);
        let mut others = self.all.iter().filter(same).filter(|other| other.actor != noted.actor).peekable();
        others.peek().is_some() && self.all.iter().filter(same).any(|other| other.used.changes())
    }

    /// Names that several actors use and that a step gave another meaning: path, meaning before, meaning after.
    pub fn changes(&self) -> impl Iterator<Item = (&Noted, &Named)> {
        let shared = self.all.iter().filter(|noted| self.is_shared(noted));
        shared.filter_map(|noted| match &noted.used {
            Use::Name(named) if named.before != named.after => Some((noted, named)),
            _ => None,
        })
    }

    /// Paths at which nothing was found.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        self.all.iter().filter_map(|noted| match &noted.used {
            Use::NoContext(path) => Some(path.as_str()),
            Use::Name(Named {
                path,
                after: None,
                verb: FileVerb::LookedAt | FileVerb::LookedFor | FileVerb::Opened,
                ..
            }) => Some(path.as_str()),
            _ => None,
        })
    }

    /// Who made a file; nobody, if it was there from the start.
    pub fn maker(&self, inode: Id) -> Option<u32> {
        self.makers.get(&inode).copied()
    }

    /// The last time that somebody removed, replaced or changed another file than the one it had looked at: its look, its deed,
    /// and what others did to the name between the two.
    pub fn mistaken(&self) -> Option<(&Noted, &Noted, Vec<&Noted>)> {
        (0..self.all.len()).rev().find_map(|index| self.mistaken_at(index))
    }

    fn mistaken_at(&self, index: usize) -> Option<(&Noted, &Noted, Vec<&Noted>)> {
        let deed = &self.all[index];
        let Use::Name(done) = &deed.used else { return None };
        if done.before.is_none() || ![FileVerb::Removed, FileVerb::Replaced, FileVerb::Changed].contains(&done.verb) {
            return None;
        }
        let is_earlier = |noted: &&Noted| noted.actor == deed.actor && is_same(&noted.used, &deed.used);
        let look = self.all[..index].iter().rev().find(is_earlier)?;
        let Use::Name(seen) = &look.used else { return None };
        if seen.after == done.before {
            return None;
        }
        let from = self.all.iter().position(|noted| noted == look)?;
        let between = self.all[from..index]
            .iter()
            .filter(|noted| noted.actor != deed.actor && is_same(&noted.used, &deed.used) && noted.used.changes());
        Some((look, deed, between.collect()))
    }
}

impl Use {
    /// The same, known to be for writing or not.
    fn opened(self, is_for_writing: bool) -> Self {
        match self {
            Self::Name(named) => Self::Name(Named { is_for_writing, ..named }),
            other => other,
        }
    }

    fn changes(&self) -> bool {
        match self {
            Self::Name(named) if named.verb == FileVerb::Opened => named.is_for_writing,
            Self::Name(named) => ![FileVerb::LookedAt, FileVerb::LookedFor, FileVerb::Found].contains(&named.verb),
            Self::Content { looks, .. } => !looks,
            Self::NoContext(_) => false,
        }
    }

    /// What was done.
    pub fn verb(&self) -> FileVerb {
        match self {
            Self::Name(named) => named.verb,
            Self::Content { .. } => FileVerb::Used,
            Self::NoContext(_) => FileVerb::LookedFor,
        }
    }
}

fn is_same(one: &Use, other: &Use) -> bool {
    match (one, other) {
        (Use::Name(one), Use::Name(other)) => one.path == other.path,
        (Use::Content { inode: one, .. }, Use::Content { inode: other, .. }) => one == other,
        _ => false,
    }
}
