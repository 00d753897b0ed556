//! Random operations, held against a naive memory: contents, faults, undo, snapshots, fingerprints, code epochs, logs.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::naive::{Naive, PAGE};
use memory::{
    AccessKind, Backing, Halt, Limit, Logged, Mapping, Mark, Memory, ObjectId, Protection, Sharing, Snapshot, SpaceId,
};

/// A small generator: the tests must not depend on a library's choice of numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// Pages that mappings are made of; the second half falls into the same slots of the translation cache.
const PAGES: u64 = 6;
const FIRST: [u64; 2] = [0x1000, 0x1400];
const SPACES: u64 = 3;
const OBJECTS: u64 = 3;

/// The real memory, the naive one, and what should come back.
struct Pair {
    random: Random,
    real: Memory,
    naive: Naive,
    marks: Vec<(Mark, Naive)>,
    snapshots: Vec<(Snapshot, Naive)>,
    /// Fingerprints by state and states by fingerprint, over everything seen.
    fingerprints: HashMap<Naive, u128>,
    states: HashMap<u128, Naive>,
    /// What executable pages showed, at one code epoch.
    code: BTreeMap<(u64, u64), Vec<u8>>,
    code_epoch: u64,
    versions: HashMap<Vec<u8>, u64>,
    /// What should be logged, while it is.
    log: Option<Vec<Logged>>,
}

impl Pair {
    fn new(seed: u64) -> Self {
        let real = Memory::new(Limit::pages(100_000));
        let mut pair = Self {
            random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            real,
            naive: Naive::default(),
            marks: Vec::new(),
            snapshots: Vec::new(),
            fingerprints: HashMap::new(),
            states: HashMap::new(),
            code: BTreeMap::new(),
            code_epoch: 0,
            versions: HashMap::new(),
            log: None,
        };
        pair.create_space(0);
        pair
    }

    fn create_space(&mut self, id: u64) {
        self.real.create_space(SpaceId(id));
        self.naive.spaces.insert(id, BTreeMap::new());
    }

    fn space(&mut self) -> Option<u64> {
        let ids: Vec<u64> = self.naive.spaces.keys().copied().collect();
        (!ids.is_empty()).then(|| self.random.pick(&ids))
    }

    fn object(&mut self) -> Option<u64> {
        let ids: Vec<u64> = self.naive.objects.keys().copied().collect();
        (!ids.is_empty()).then(|| self.random.pick(&ids))
    }

    /// A page and a number of pages from it that stay in the half.
    fn pages(&mut self) -> (u64, u64) {
        let first = self.random.pick(&FIRST);
        let at = self.random.below(PAGES);
        (first + at, 1 + self.random.below(PAGES - at))
    }

    fn addr(&mut self) -> u64 {
        let (page, _) = self.pages();
        let offset = self.random.pick(&[0, 1, 8, 100, 4000, 4080, 4090, 4095]);
        page * PAGE + offset
    }

    fn protection(&mut self) -> u8 {
        self.random.pick(&[3, 3, 3, 3, 7, 5, 1, 0, 2])
    }

    fn step(&mut self) {
        match self.random.below(40) {
            0..3 => self.map(),
            3 => self.unmap(),
            4 => self.protect(),
            5 => self.discard(),
            6 => self.remap(),
            7..18 => self.guest(),
            18..21 => self.kernel(),
            21..24 => self.object_bytes(),
            24 => self.object_life(),
            25..27 => self.space_life(),
            27..30 => self.mark(),
            30..33 => self.undo(),
            33 => self.take_snapshot(),
            34 => self.restore(),
            35 => self.forget(),
            36..38 => self.fingerprint(),
            38 => self.take_code(),
            _ => self.toggle_log(),
        }
        self.check_code();
    }

    fn map(&mut self) {
        let Some(space) = self.space() else { return };
        let ((page, pages), protection) = (self.pages(), self.protection());
        let object = self.object().filter(|_| self.random.below(2) == 0);
        let backing =
            object.map(|id| (id, self.random.below(3), self.random.pick(&[Sharing::Private, Sharing::Shared])));
        let prot = Protection::from_bits(u64::from(protection));
        let mut mapping = Mapping::anonymous(page * PAGE, pages * PAGE, prot);
        if let Some((id, first, sharing)) = backing {
            mapping.backing = Backing::Object { id: ObjectId(id), offset: first * PAGE };
            mapping.sharing = sharing;
        }
        self.real.map(SpaceId(space), mapping).unwrap();
        self.naive.map(space, page, pages, protection, backing);
    }

    fn unmap(&mut self) {
        let Some(space) = self.space() else { return };
        let (page, pages) = self.pages();
        self.real.unmap(SpaceId(space), page * PAGE, pages * PAGE).unwrap();
        self.naive.unmap(space, page, pages);
    }

    fn protect(&mut self) {
        let Some(space) = self.space() else { return };
        let ((page, pages), protection) = (self.pages(), self.protection());
        let prot = Protection::from_bits(u64::from(protection));
        let real = self.real.protect(SpaceId(space), page * PAGE, pages * PAGE, prot);
        assert_eq!(real, self.naive.protect(space, page, pages, protection));
    }

    fn discard(&mut self) {
        let Some(space) = self.space() else { return };
        let (page, pages) = self.pages();
        let real = self.real.discard(SpaceId(space), page * PAGE, pages * PAGE);
        assert_eq!(real, self.naive.discard(space, page, pages));
    }

    /// Moves part of a mapping from one half to the other.
    fn remap(&mut self) {
        let Some(space) = self.space() else { return };
        let half = self.random.below(2) as usize;
        let (from, to) = (FIRST[half] + self.random.below(PAGES), FIRST[1 - half] + self.random.below(PAGES));
        let Some(mapping) = self.real.mapping_at(SpaceId(space), from * PAGE) else { return };
        let old = 1 + self.random.below(mapping.end() / PAGE - from);
        let new = 1 + self.random.below(PAGES);
        self.real.remap(SpaceId(space), from * PAGE, old * PAGE, to * PAGE, new * PAGE).unwrap();
        self.naive.move_pages(space, from, old, to, new);
    }

    fn enter(&mut self) -> Option<u64> {
        let entered = self.real.current().map(|id| id.0);
        let space = entered.filter(|_| self.random.below(4) != 0).or_else(|| self.space())?;
        self.real.enter(SpaceId(space));
        Some(space)
    }

    fn guest(&mut self) {
        let Some(space) = self.enter() else { return };
        let (addr, size) = (self.addr(), self.random.pick(&[1, 2, 4, 8, 16]));
        if self.random.below(2) == 0 { self.guest_load(space, addr, size) } else { self.guest_store(space, addr, size) }
    }

    fn guest_load(&mut self, space: u64, addr: u64, size: u64) {
        let real = match size {
            1 => self.real.load_u8(addr).map(|value| value.to_le_bytes().to_vec()),
            2 => self.real.load_u16(addr).map(|value| value.to_le_bytes().to_vec()),
            4 => self.real.load_u32(addr).map(|value| value.to_le_bytes().to_vec()),
            8 => self.real.load_u64(addr).map(|value| value.to_le_bytes().to_vec()),
            _ => self.real.load_u128(addr).map(|value| value.to_le_bytes().to_vec()),
        };
        let naive = self.naive.read(space, addr, size, AccessKind::Read).map_err(Halt::Fault);
        assert_eq!(real, naive, "load of {size} at {addr:#x}");
        self.note(addr, size, false, &naive);
    }

    fn guest_store(&mut self, space: u64, addr: u64, size: u64) {
        let byte = self.random.pick(&[0, 0, 1, 2]);
        let wide = u128::from_le_bytes([byte; 16]);
        let real = match size {
            1 => self.real.store_u8(addr, wide as u8),
            2 => self.real.store_u16(addr, wide as u16),
            4 => self.real.store_u32(addr, wide as u32),
            8 => self.real.store_u64(addr, wide as u64),
            _ => self.real.store_u128(addr, wide),
        };
        let naive = self.naive.read(space, addr, size, AccessKind::Write).map_err(Halt::Fault).map(|_| ());
        assert_eq!(real, naive, "store of {size} at {addr:#x}");
        if naive.is_ok() {
            self.naive.write(space, addr, &vec![byte; size as usize]).unwrap();
        }
        self.note(addr, size, true, &naive);
    }

    /// An access that faults is logged as a read of the byte at which it does.
    fn note<T>(&mut self, addr: u64, size: u64, write: bool, done: &Result<T, Halt>) {
        let Some(log) = &mut self.log else { return };
        log.push(match done {
            Err(Halt::Fault(fault)) => Logged { addr: fault.addr, size: 1, write: false },
            _ => Logged { addr, size: size as u32, write },
        });
    }

    fn kernel(&mut self) {
        let Some(space) = self.space() else { return };
        // The kernel's accesses are logged page by page; here only those of the guest are compared.
        if self.log.is_some() {
            return;
        }
        let (addr, len) = (self.addr(), self.random.pick(&[0, 3, 200, 5000]));
        let mut buffer = vec![0; len as usize];
        let mut onto = Vec::new();
        let added = self.real.read_onto(SpaceId(space), addr, len as usize, &mut onto).map(|()| onto);
        let real = self.real.read(SpaceId(space), addr, &mut buffer).map(|()| buffer);
        assert!(added == real, "both ways of reading {len} at {addr:#x}");
        assert!(real == self.naive.read(space, addr, len, AccessKind::Read), "read of {len} at {addr:#x}");
        let bytes = vec![self.random.pick(&[0, 1]); len as usize];
        assert_eq!(self.real.write(SpaceId(space), addr, &bytes), self.naive.write(space, addr, &bytes));
    }

    fn object_bytes(&mut self) {
        let Some(id) = self.object() else { return };
        let offset = self.random.pick(&[0, 1, 4090, 4096, 8000]);
        let bytes = vec![self.random.pick(&[0, 1, 3]); self.random.pick(&[0, 1, 10, 5000])];
        if self.random.below(3) > 0 {
            self.real.write_object(ObjectId(id), offset, &bytes).unwrap();
            self.naive.write_object(id, offset, &bytes);
        } else {
            self.real.resize_object(ObjectId(id), offset).unwrap();
            self.naive.resize(id, offset);
        }
    }

    fn object_life(&mut self) {
        let id = self.random.below(OBJECTS);
        match self.naive.objects.get(&id) {
            Some(object) if object.held => {
                self.real.drop_object(ObjectId(id));
                self.naive.drop_object(id);
            }
            Some(_) => (),
            None => self.create_object(id),
        }
    }

    fn create_object(&mut self, id: u64) {
        let len = self.random.pick(&[0u64, 5, 4096, 5000, 10_000]);
        let byte = self.random.pick(&[0, 1, 3]);
        if self.random.below(2) == 0 {
            self.real.create_object(ObjectId(id), len);
            self.naive.objects.insert(id, crate::naive::Object { len, held: true, pages: BTreeMap::new() });
        } else {
            self.real.create_object_over(ObjectId(id), Arc::from(vec![byte; len as usize]));
            self.naive.objects.insert(id, crate::naive::Object { len: 0, held: true, pages: BTreeMap::new() });
            self.naive.write_object(id, 0, &vec![byte; len as usize]);
        }
    }

    fn space_life(&mut self) {
        let id = self.random.below(SPACES);
        let parent = self.space();
        match (self.naive.spaces.contains_key(&id), parent) {
            (true, _) if self.random.below(2) == 0 => {
                self.real.drop_space(SpaceId(id));
                self.naive.drop_space(id);
            }
            (true, _) => {
                self.real.clear_space(SpaceId(id));
                self.naive.drop_space(id);
                self.naive.spaces.insert(id, BTreeMap::new());
            }
            (false, Some(parent)) => {
                self.real.fork_space(SpaceId(parent), SpaceId(id)).unwrap();
                let copy = self.naive.spaces[&parent].clone();
                self.naive.spaces.insert(id, copy);
            }
            (false, None) => self.create_space(id),
        }
    }

    fn mark(&mut self) {
        if self.marks.len() < 6 {
            self.marks.push((self.real.mark(), self.naive.clone()));
        }
    }

    fn undo(&mut self) {
        if self.marks.is_empty() {
            return;
        }
        let keep = self.random.below(self.marks.len() as u64) as usize;
        self.marks.truncate(keep + 1);
        let (mark, naive) = &self.marks[keep];
        self.real.undo_to(*mark);
        self.naive = naive.clone();
    }

    /// Gives up all marks, or one and those after it: the state stays.
    fn forget(&mut self) {
        match self.random.below(4) {
            0 => {
                self.real.forget_marks();
                self.marks.clear();
            }
            1 if !self.marks.is_empty() => {
                let kept = self.random.below(self.marks.len() as u64) as usize;
                self.real.release(self.marks[kept].0);
                self.marks.truncate(kept);
            }
            _ => {}
        }
    }

    fn take_snapshot(&mut self) {
        self.snapshots.push((self.real.snapshot(), self.naive.clone()));
    }

    fn restore(&mut self) {
        if self.snapshots.is_empty() || self.random.below(2) == 0 {
            return;
        }
        let (snapshot, naive) = self.snapshots[self.random.below(self.snapshots.len() as u64) as usize].clone();
        if self.random.below(3) == 0 {
            // A worker that never saw the state.
            self.real = Memory::new(Limit::pages(100_000));
            self.real.log_accesses(self.log.is_some());
            self.code.clear();
        }
        self.real.restore(&snapshot);
        self.naive = naive;
        self.marks.clear();
        self.log = self.log.take().map(|_| Vec::new());
        self.real.take_log();
    }

    /// Equal states have equal fingerprints, different ones different.
    fn fingerprint(&mut self) {
        let fingerprint = self.real.fingerprint();
        let known = *self.fingerprints.entry(self.naive.clone()).or_insert(fingerprint);
        assert_eq!(known, fingerprint, "one state, one fingerprint");
        let state = self.states.entry(fingerprint).or_insert_with(|| self.naive.clone());
        assert!(*state == self.naive, "one fingerprint, one state");
    }

    /// Looks at a page as a processor does that takes instructions from it.
    fn take_code(&mut self) {
        let Some(space) = self.space() else { return };
        let (page, _) = self.pages();
        let version = self.real.code_version(SpaceId(space), page);
        match self.naive.page(space, page, AccessKind::Execute) {
            Ok(bytes) => {
                assert_eq!(*self.versions.entry(bytes.clone()).or_insert(version), version);
                self.note_code(space, page, bytes);
            }
            Err(_) => assert_eq!(version, 0),
        }
    }

    fn note_code(&mut self, space: u64, page: u64, bytes: Vec<u8>) {
        if self.code_epoch != self.real.code_epoch() {
            self.code.clear();
            self.code_epoch = self.real.code_epoch();
        }
        self.code.insert((space, page), bytes);
    }

    /// While the code epoch stands still, no page that code was taken from shows anything else.
    fn check_code(&mut self) {
        if self.code_epoch != self.real.code_epoch() {
            return;
        }
        for ((space, page), bytes) in &self.code {
            let shown = self.naive.page(*space, *page, AccessKind::Execute);
            assert!(shown.as_ref() == Ok(bytes), "space {space} page {page:#x}");
        }
    }

    fn toggle_log(&mut self) {
        if let Some(expected) = self.log.take() {
            assert_eq!(self.real.take_log(), expected);
            self.real.log_accesses(false);
        } else if self.random.below(3) == 0 {
            self.real.log_accesses(true);
            self.log = Some(Vec::new());
        }
    }

    /// Every page of every space and object.
    fn compare(&mut self) {
        assert!(self.real.spaces().map(|id| id.0).eq(self.naive.spaces.keys().copied()));
        assert!(self.real.objects().map(|id| id.0).eq(self.naive.objects.keys().copied()));
        for (id, object) in &self.naive.objects {
            assert_eq!(self.real.object_len(ObjectId(*id)), object.len);
            let mut bytes = vec![9; object.len as usize + 7];
            assert_eq!(self.real.read_object(ObjectId(*id), 0, &mut bytes), object.len as usize);
            let pages: Vec<u8> = (0..=object.len / PAGE).flat_map(|page| object.page(page)).collect();
            assert!(bytes[..object.len as usize] == pages[..object.len as usize], "object {id}");
        }
        let spaces: Vec<u64> = self.naive.spaces.keys().copied().collect();
        for space in spaces {
            self.real.enter(SpaceId(space));
            for page in FIRST.into_iter().flat_map(|first| first..first + PAGES) {
                self.compare_page(space, page);
            }
        }
    }

    fn compare_page(&mut self, space: u64, page: u64) {
        let naive = self.naive.page(space, page, AccessKind::Read);
        let real = self.real.load::<{ PAGE as usize }>(page * PAGE);
        assert!(real.map(Vec::from).ok() == naive.clone().ok(), "space {space} page {page:#x}");
        // Once more through the translations.
        for offset in [0, 100, 4088] {
            let expected = naive.as_ref().ok().map(|bytes| bytes[offset]);
            assert_eq!(self.real.load_u8(page * PAGE + offset as u64).ok(), expected);
        }
    }
}

fn run(seeds: std::ops::Range<u64>, steps: usize) {
    for seed in seeds {
        let mut pair = Pair::new(seed);
        for step in 0..steps {
            pair.step();
            if step % 16 == 0 && pair.log.is_none() {
                pair.compare();
            }
            pair.real.check_invariants();
        }
        pair.fingerprint();
    }
}

#[test]
fn random_operations_agree_with_a_naive_memory() {
    run(1..40, 500);
}

#[test]
fn long_random_runs_agree_with_a_naive_memory() {
    run(1000..1003, 6000);
}
