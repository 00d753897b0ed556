//! Which disks power loss may leave: all answers to the kernel's questions, compared with all subsets of the changes that were
//! made, enumerated here by brute force from nothing but a list of them.

use crate::guest::Guest;
use kernel::files::disk::{self, Disk, Model, Order};
use kernel::files::{self, base};
use std::collections::{BTreeMap, BTreeSet};

const AT_FDCWD: u64 = -100_i64 as u64;
const O_WRONLY: u64 = 1;
const O_CREAT: u64 = 0o100;
const O_SYNC: u64 = 0o4_010_000;
const BLOCK: usize = 2;
const PATHS: [&str; 3] = ["/a/x", "/a/y", "/b/x"];

/// What is left: paths with contents.
type Left = BTreeMap<String, Vec<u8>>;

/// Something that a program does.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Write { path: &'static str, at: usize, text: &'static str, is_synchronous: bool },
    Cut(&'static str, usize),
    Rename(&'static str, &'static str),
    Link(&'static str, &'static str),
    Unlink(&'static str),
    Sync(&'static str),
    DataSync(&'static str),
    SyncFolder(&'static str),
    SyncAll,
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }

    fn deed(&mut self) -> Deed {
        let (path, other) = (PATHS[self.below(3)], PATHS[self.below(3)]);
        match self.below(14) {
            0..=4 => {
                let text = ["p", "qr", "stu"][self.below(3)];
                Deed::Write { path, at: self.below(3), text, is_synchronous: self.below(6) == 0 }
            }
            5 => Deed::Cut(path, self.below(3)),
            6 | 7 => Deed::Rename(path, other),
            8 => Deed::Link(path, other),
            9 => Deed::Unlink(path),
            10 => Deed::Sync(path),
            11 => Deed::DataSync(path),
            12 => Deed::SyncFolder(["/a", "/b"][self.below(2)]),
            _ => {
                if self.below(3) == 0 {
                    Deed::SyncAll
                } else {
                    Deed::Sync(path)
                }
            }
        }
    }
}

fn text(guest: &mut Guest, text: &str) -> u64 {
    guest.put(&[text.as_bytes(), b"\0"].concat())
}

fn on(guest: &mut Guest, path: &str, flags: u64, then: impl FnOnce(&mut Guest, u64)) {
    let name = text(guest, path);
    let fd = guest.call("openat", &[AT_FDCWD, name, flags, 0o644]);
    if fd >= 0 {
        then(guest, fd as u64);
        guest.call("close", &[fd as u64]);
    }
}

/// Does it with calls.
fn carry_out(guest: &mut Guest, deed: Deed) {
    match deed {
        Deed::Write { path, at, text, is_synchronous } => {
            let flags = O_CREAT | O_WRONLY | if is_synchronous { O_SYNC } else { 0 };
            on(guest, path, flags, |guest, fd| {
                let bytes = guest.put(text.as_bytes());
                guest.call("pwrite64", &[fd, bytes, text.len() as u64, at as u64]);
            });
        }
        Deed::Cut(path, length) => {
            let path = text(guest, path);
            guest.call("truncate", &[path, length as u64]);
        }
        Deed::Rename(from, to) | Deed::Link(from, to) => {
            let (from, to) = (text(guest, from), text(guest, to));
            guest.call(if matches!(deed, Deed::Link(..)) { "link" } else { "rename" }, &[from, to]);
        }
        Deed::Unlink(path) => {
            let path = text(guest, path);
            guest.call("unlink", &[path]);
        }
        Deed::Sync(path) | Deed::SyncFolder(path) => {
            on(guest, path, 0, |guest, fd| assert_eq!(guest.call("fsync", &[fd]), 0));
        }
        Deed::DataSync(path) => on(guest, path, 0, |guest, fd| assert_eq!(guest.call("fdatasync", &[fd]), 0)),
        Deed::SyncAll => drop(guest.call("sync", &[])),
    }
}

/// All disks, by the kernel's questions.
fn answered(guest: &mut Guest) -> BTreeSet<Left> {
    disk::crash(&mut guest.kernel, &mut guest.memory);
    let mut all = BTreeSet::new();
    ask(guest, &mut all);
    all
}

fn ask(guest: &mut Guest, all: &mut BTreeSet<Left>) {
    let Some(question) = disk::question(&guest.kernel, &guest.memory, |_| true) else {
        assert!(guest.kernel.files.disk.is_none(), "nothing is open");
        all.insert(left(guest));
        return;
    };
    let (kernel, memory) = (guest.kernel.clone(), guest.memory.snapshot());
    for answer in 0..question.answers() {
        disk::answer(&mut guest.kernel, &mut guest.memory, &question, answer as usize);
        ask(guest, all);
        guest.kernel = kernel.clone();
        guest.memory.restore(&memory);
    }
}

/// The files that there are; how many names each has must be right.
fn left(guest: &Guest) -> Left {
    let find = |path: &str| files::resolve(&guest.kernel, base::root(), path.as_bytes(), true).ok();
    let found: Vec<_> = PATHS.into_iter().filter_map(|path| Some((path, find(path)?))).collect();
    for (path, id) in &found {
        let names = found.iter().filter(|(_, other)| other == id).count();
        let links = guest.kernel.inode(*id).map(|inode| inode.links as usize);
        assert_eq!(links, Some(names), "{path} has so many names");
    }
    let content = |id| files::read_at(&guest.kernel, &guest.memory, id, 0, 64);
    found.into_iter().map(|(path, id)| (path.to_owned(), content(id))).collect()
}

/// One change that was made, by brute force.
#[derive(Clone, Debug)]
struct Event {
    what: What,
    is_durable: bool,
}

#[derive(Clone, Debug)]
enum What {
    /// Names lead to these files now.
    Names {
        changes: Vec<(&'static str, Option<usize>)>,
        about: BTreeSet<String>,
        creates: bool,
    },
    Size {
        file: usize,
        to: usize,
    },
    /// A block holds this. It came with the event of that number; it was given back by it.
    Data {
        file: usize,
        block: usize,
        bytes: Vec<u8>,
        with: Option<usize>,
        is_freed: bool,
    },
}

/// All that was done, as a list of changes: nothing is ever taken off it.
struct Story {
    order: Order,
    events: Vec<Event>,
    names: BTreeMap<&'static str, usize>,
    files: Vec<Vec<u8>>,
}

fn folder(path: &str) -> String {
    path[..2].to_owned()
}

impl Story {
    fn push(&mut self, what: What) -> usize {
        self.events.push(Event { what, is_durable: false });
        self.events.len() - 1
    }

    fn rename(&mut self, changes: Vec<(&'static str, Option<usize>)>, creates: bool) {
        let folders: BTreeSet<String> = changes.iter().map(|(path, _)| folder(path)).collect();
        let parts = if self.order == Order::Posix { folders.len() } else { 1 };
        for part in folders.iter().take(parts) {
            let is_of_part = |path: &str| self.order == Order::Ext4 || folder(path) == *part;
            let changes: Vec<_> = changes.iter().filter(|(path, _)| is_of_part(path)).copied().collect();
            let files = changes.iter().flat_map(|(path, after)| [*after, self.names.get(path).copied()]);
            let mut about: BTreeSet<String> = files.flatten().map(|file| file.to_string()).collect();
            about.extend(changes.iter().map(|(path, _)| folder(path)));
            self.push(What::Names { changes, about, creates });
        }
        for (path, after) in changes {
            match after {
                Some(file) => drop(self.names.insert(path, file)),
                None => drop(self.names.remove(path)),
            }
        }
    }

    fn block(&self, file: usize, block: usize) -> Vec<u8> {
        self.files[file].iter().skip(block * BLOCK).take(BLOCK).copied().collect()
    }

    fn write(&mut self, path: &'static str, at: usize, text: &str) -> Vec<usize> {
        if !self.names.contains_key(path) {
            self.files.push(Vec::new());
            self.rename(vec![(path, Some(self.files.len() - 1))], true);
        }
        let file = self.names[path];
        let (mut reached, end) = (self.files[file].len(), at + text.len());
        let content = &mut self.files[file];
        content.resize(content.len().max(end), 0);
        content[at..end].copy_from_slice(text.as_bytes());
        let blocks: Vec<usize> = (at / BLOCK..end.div_ceil(BLOCK)).collect();
        for block in &blocks {
            let upto = end.min((block + 1) * BLOCK);
            let with = (upto > reached).then(|| self.push(What::Size { file, to: upto }));
            reached = reached.max(upto);
            // The page cache holds what the whole call has written.
            let bytes = self.block(file, *block);
            self.push(What::Data { file, block: *block, bytes, with, is_freed: false });
        }
        blocks
    }

    fn cut(&mut self, path: &str, length: usize) {
        let Some(file) = self.names.get(path).copied().filter(|file| self.files[*file].len() != length) else { return };
        let before = self.files[file].len();
        let with = Some(self.push(What::Size { file, to: length }));
        self.files[file].resize(length, 0);
        for block in length / BLOCK..before.div_ceil(BLOCK) {
            let bytes = self.block(file, block);
            self.push(What::Data { file, block, bytes, with, is_freed: length <= block * BLOCK });
        }
    }

    /// What is about a file or a folder is durable from now on.
    fn sync(&mut self, who: &str, blocks: Option<&[usize]>, only_data: bool) {
        let is_own = |file: usize| file.to_string() == who;
        let counts = |event: &Event| match &event.what {
            What::Names { about, creates, .. } => about.contains(who) && (!only_data || *creates),
            What::Size { file, .. } => is_own(*file),
            What::Data { .. } => false,
        };
        let last = self.events.iter().rposition(counts);
        let order = self.order;
        for (at, event) in self.events.iter_mut().enumerate() {
            event.is_durable |= match (&event.what, order) {
                (What::Data { file, block, .. }, _) => is_own(*file) && blocks.is_none_or(|all| all.contains(block)),
                (_, Order::Ext4) => last.is_some_and(|last| at <= last),
                (What::Size { file, .. }, Order::Posix) => is_own(*file),
                (What::Names { changes, .. }, Order::Posix) => changes.iter().all(|(path, _)| folder(path) == who),
            };
        }
        self.force_covered_data();
    }

    /// A size that is durable covers data that is.
    fn force_covered_data(&mut self) {
        if self.order == Order::Ext4 {
            let durable: Vec<bool> = self.events.iter().map(|event| event.is_durable).collect();
            for event in &mut self.events {
                if let What::Data { with: Some(with), .. } = event.what {
                    event.is_durable |= durable[with];
                }
            }
        }
    }

    fn tell(&mut self, deed: Deed) {
        let found = |story: &Self, path: &str| story.names.get(path).copied();
        match deed {
            Deed::Write { path, at, text, is_synchronous } => {
                let blocks = self.write(path, at, text);
                if is_synchronous {
                    let file = self.names[path].to_string();
                    self.sync(&file, Some(&blocks), false);
                }
            }
            Deed::Cut(path, length) => self.cut(path, length),
            Deed::Rename(from, to) => {
                if let Some(file) = found(self, from).filter(|file| found(self, to) != Some(*file)) {
                    self.rename(vec![(from, None), (to, Some(file))], false);
                }
            }
            Deed::Link(from, to) => {
                if let Some(file) = found(self, from).filter(|_| found(self, to).is_none()) {
                    self.rename(vec![(to, Some(file))], false);
                }
            }
            Deed::Unlink(path) => {
                if found(self, path).is_some() {
                    self.rename(vec![(path, None)], false);
                }
            }
            Deed::Sync(path) | Deed::DataSync(path) => {
                if let Some(file) = found(self, path) {
                    self.sync(&file.to_string(), None, matches!(deed, Deed::DataSync(_)));
                }
            }
            Deed::SyncFolder(path) => self.sync(path, None, false),
            Deed::SyncAll => self.events.iter_mut().for_each(|event| event.is_durable = true),
        }
    }

    /// All disks: every legal set of changes that have reached it. Nothing if there are too many sets.
    fn disks(&self) -> Option<BTreeSet<Left>> {
        let open: Vec<usize> = (0..self.events.len()).filter(|at| !self.events[*at].is_durable).collect();
        if open.len() > 13 {
            return None;
        }
        let sets = 0..1_u32 << open.len();
        let reached = |set: u32| -> Vec<bool> {
            let chosen = |at: usize| open.iter().position(|other| *other == at).is_some_and(|bit| set >> bit & 1 == 1);
            (0..self.events.len()).map(|at| self.events[at].is_durable || chosen(at)).collect()
        };
        Some(sets.map(reached).filter(|reached| self.is_legal(reached)).map(|reached| self.disk(&reached)).collect())
    }

    fn is_legal(&self, reached: &[bool]) -> bool {
        if self.order == Order::Posix {
            return true;
        }
        let is_data = |at: usize| matches!(self.events[at].what, What::Data { .. });
        let metadata: Vec<bool> = (0..reached.len()).filter(|at| !is_data(*at)).map(|at| reached[at]).collect();
        let is_prefix = metadata.windows(2).all(|pair| pair[0] || !pair[1]);
        is_prefix && (0..reached.len()).all(|at| self.is_in_order(at, reached))
    }

    /// Data is on the disk before what covers it, and not in blocks that are given back only later.
    fn is_in_order(&self, at: usize, reached: &[bool]) -> bool {
        let What::Data { file, block, with, .. } = &self.events[at].what else { return true };
        let is_covered = with.is_none_or(|with| !reached[with] || reached[at]);
        let is_elsewhere = self.events[..=at].iter().any(|event| match &event.what {
            What::Data { file: other, block: number, with: Some(with), is_freed: true, .. } => {
                (other, number) == (file, block) && !reached[*with]
            }
            _ => false,
        });
        is_covered && !(is_elsewhere && reached[at])
    }

    fn disk(&self, reached: &[bool]) -> Left {
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        let mut files: Vec<(usize, BTreeMap<usize, Vec<u8>>)> = vec![Default::default(); self.files.len()];
        for (event, _) in self.events.iter().zip(reached).filter(|(_, reached)| **reached) {
            match &event.what {
                What::Names { changes, .. } => {
                    for (path, after) in changes {
                        match after {
                            Some(file) => drop(names.insert(path, *file)),
                            None => drop(names.remove(path)),
                        }
                    }
                }
                What::Size { file, to } => files[*file].0 = *to,
                What::Data { file, block, bytes, .. } => drop(files[*file].1.insert(*block, bytes.clone())),
            }
        }
        let byte = |file: usize, at: usize| -> u8 {
            files[file].1.get(&(at / BLOCK)).and_then(|bytes| bytes.get(at % BLOCK)).copied().unwrap_or(0)
        };
        let content = |file: usize| (0..files[file].0).map(|at| byte(file, at)).collect();
        names.into_iter().map(|(path, file)| (path.to_owned(), content(file))).collect()
    }
}

fn guest(order: Order) -> Guest {
    let mut guest = Guest::new();
    for folder in ["/a", "/b"] {
        let name = text(&mut guest, folder);
        assert_eq!(guest.call("mkdir", &[name, 0o755]), 0);
    }
    let model = Model { order, block: BLOCK as u32 };
    guest.kernel.files.disk = Some(Box::new(Disk::new(model, guest.kernel.files.directories.clone())));
    guest
}

/// Compares both on some deeds; whether there were few enough sets.
fn agree(order: Order, deeds: &[Deed]) -> bool {
    let mut guest = guest(order);
    let (events, names, files) = (Vec::new(), BTreeMap::new(), Vec::new());
    let mut story = Story { order, events, names, files };
    for deed in deeds {
        carry_out(&mut guest, *deed);
        story.tell(*deed);
    }
    let Some(legal) = story.disks() else { return false };
    assert_eq!(answered(&mut guest), legal, "{order:?}: {deeds:#?}");
    true
}

#[test]
fn the_disks_that_power_loss_leaves_are_those_of_all_legal_sets_of_changes() {
    let count = std::env::var("DISKS").ok().and_then(|count| count.parse().ok()).unwrap_or(400);
    let mut compared = 0;
    for seed in 0..count {
        let mut dice = Dice(seed);
        let deeds: Vec<Deed> = (0..2 + dice.below(7)).map(|_| dice.deed()).collect();
        compared += [Order::Ext4, Order::Posix].into_iter().filter(|order| agree(*order, &deeds)).count();
    }
    assert!(compared as u64 > count, "most have few enough sets: {compared}");
}
