//! Names for memory that nobody declared: the shortest way from a variable through pointers, `head->next->count`.
//!
//! Breadth-first over pointers, from variables of the program, by their declared types: so the
//! first way found is one of the shortest. It reads the state of memory at that moment; a pointer
//! that was overwritten since names nothing. Bounded in parts, elements and depth, because a heap
//! may be large and a report needs one name.

use super::dwarf::{Dwarf, Place};
use super::globals::Spot;
use super::types::Shape;
use super::variable::Part;
use super::{Modules, Storage, Variable};
use memory::{Backing, Memory, SpaceId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::rc::Rc;

/// A report needs a name, not the best one in a huge heap: how many parts of variables are looked at.
const PARTS_MAX: usize = 100_000;
/// Elements of one array that are looked at.
const ELEMENTS_MAX: u64 = 64;
/// Structs in structs, and pointers behind pointers.
const DEPTH_MAX: usize = 8;

/// Something with a name, a type and an address.
pub(super) struct Thing {
    pub(super) path: String,
    pub(super) of: Place,
    pub(super) address: u64,
}

/// A pointer that was found on the way.
struct Pointer {
    path: String,
    /// What it points to.
    of: Place,
    value: u64,
    depth: usize,
}

/// Looks for the name of an address.
pub(super) struct Search<'a> {
    memory: &'a Memory,
    space: SpaceId,
    modules: &'a Modules,
    dwarf: &'a Dwarf,
    seen: BTreeSet<(u64, Place)>,
    queue: VecDeque<Pointer>,
    /// Types that were looked at: a heap has many values of few types.
    shapes: BTreeMap<Place, Rc<Shape>>,
    /// How many parts may still be looked at.
    left: usize,
}

impl<'a> Search<'a> {
    pub(super) fn new(memory: &'a Memory, space: SpaceId, modules: &'a Modules, dwarf: &'a Dwarf) -> Self {
        let (seen, queue, shapes) = (BTreeSet::new(), VecDeque::new(), BTreeMap::new());
        Self { memory, space, modules, dwarf, seen, queue, shapes, left: PARTS_MAX }
    }

    /// Begins at a variable.
    pub(super) fn begin(&mut self, thing: &Thing) {
        self.collect(thing, 0, 0);
    }

    /// The way to an address, and the type of what is there.
    pub(super) fn find(mut self, address: u64) -> Option<Part> {
        while let Some(pointer) = self.queue.pop_front() {
            let size = self.dwarf.size(pointer.of).filter(|size| *size > 0);
            let block = size.map(|size| self.block(pointer.value, size));
            if let (Some(size), Some(true)) = (size, block.map(|block| block.contains(&address))) {
                return Some(self.arrive(&pointer, address, size));
            }
            if pointer.depth < DEPTH_MAX {
                let thing = Thing { path: format!("{}->", pointer.path), of: pointer.of, address: pointer.value };
                self.collect(&thing, pointer.depth + 1, 0);
            }
        }
        None
    }

    /// What a pointer leads to: one thing, or as many as the block has room for.
    fn block(&self, start: u64, size: u64) -> Range<u64> {
        start..start.saturating_add(self.room(start).map_or(size, |room| room.max(size)))
    }

    /// How long a block of the C library's heap is. The word before each block says so, with three flags in its lowest bits.
    ///
    /// glibc's chunk header (`malloc_chunk.mchunk_size`): allows `p[3].x` for a pointer to the
    /// first of several.
    fn room(&self, start: u64) -> Option<u64> {
        const MAPPED: u64 = 2;
        const LONGEST: u64 = 1 << 24;
        let mapping = self.memory.mapping_at(self.space, start)?;
        if mapping.backing != Backing::Anonymous || self.modules.at(start).is_some() {
            return None;
        }
        let mut word = [0; 8];
        self.memory.peek(self.space, start.checked_sub(8)?, &mut word).ok()?;
        let word = u64::from_le_bytes(word);
        let length = word & !7;
        let is_block = start.is_multiple_of(16) && length.is_multiple_of(16) && word & MAPPED == 0;
        (is_block && (32..LONGEST).contains(&length)).then(|| length - 8)
    }

    fn arrive(&self, pointer: &Pointer, address: u64, size: u64) -> Part {
        let (index, offset) = ((address - pointer.value) / size, (address - pointer.value) % size);
        let mut part = self.dwarf.part("", pointer.of, offset);
        part.path = match (index, part.path.strip_prefix('.')) {
            (0, Some(member)) => format!("{}->{member}", pointer.path),
            (0, None) if part.path.is_empty() => format!("*{}", pointer.path),
            (index, _) => format!("{}[{index}]{}", pointer.path, part.path),
        };
        part
    }

    fn shape(&mut self, of: Place) -> Rc<Shape> {
        let dwarf = self.dwarf;
        Rc::clone(self.shapes.entry(of).or_insert_with(|| Rc::new(dwarf.shape(of))))
    }

    fn may_look(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }

    /// Notes all pointers in a thing.
    fn collect(&mut self, thing: &Thing, depth: usize, nested: usize) {
        if nested > DEPTH_MAX || !self.may_look() {
            return;
        }
        match &*self.shape(thing.of) {
            Shape::Pointer(Some(of)) => self.note(thing, *of, depth),
            Shape::Record(members) => {
                for member in members {
                    let path = match &member.name {
                        None => thing.path.clone(),
                        Some(name) if thing.path.ends_with("->") => format!("{}{name}", thing.path),
                        Some(name) => format!("{}.{name}", thing.path),
                    };
                    let address = thing.address.wrapping_add(member.offset);
                    self.collect(&Thing { path, of: member.of, address }, depth, nested + 1);
                }
            }
            Shape::Array(of, counts) => self.collect_elements(thing, *of, counts, depth, nested),
            _ => {}
        }
    }

    fn collect_elements(&mut self, thing: &Thing, of: Place, counts: &[Option<u64>], depth: usize, nested: usize) {
        let ([Some(count)], Some(size)) = (counts, self.dwarf.size(of)) else { return };
        if !self.has_pointers(of, 0) {
            return;
        }
        for index in 0..(*count).min(ELEMENTS_MAX) {
            let path = format!("{}[{index}]", thing.path.trim_end_matches("->"));
            let address = thing.address.wrapping_add(index.wrapping_mul(size));
            self.collect(&Thing { path, of, address }, depth, nested + 1);
        }
    }

    /// Whether it is worth looking into every element of an array.
    fn has_pointers(&mut self, of: Place, nested: usize) -> bool {
        if !self.may_look() {
            return false;
        }
        match &*self.shape(of) {
            Shape::Pointer(_) => true,
            Shape::Array(of, _) => nested < DEPTH_MAX && self.has_pointers(*of, nested + 1),
            Shape::Record(members) => {
                nested < DEPTH_MAX && members.iter().any(|member| self.has_pointers(member.of, nested + 1))
            }
            _ => false,
        }
    }

    fn note(&mut self, thing: &Thing, of: Place, depth: usize) {
        let mut word = [0; 8];
        let is_there = self.memory.peek(self.space, thing.address, &mut word).is_ok();
        let value = u64::from_le_bytes(word);
        if is_there && value != 0 && self.seen.insert((value, of)) {
            let path = thing.path.strip_suffix("->").map_or_else(|| thing.path.clone(), |path| format!("(*{path})"));
            self.queue.push_back(Pointer { path, of, value, depth });
        }
    }
}

/// The name of an address that some variable of a program leads to.
pub(super) fn through_globals(
    memory: &Memory,
    space: SpaceId,
    modules: &Modules,
    address: u64,
    storage: &Storage,
) -> Option<Variable> {
    let own = modules.loaded.iter().filter(|loaded| modules.is_own(loaded));
    own.into_iter().find_map(|loaded| {
        let dwarf = loaded.module.dwarf()?;
        let mut search = Search::new(memory, space, modules, dwarf);
        for global in &dwarf.index().globals {
            if let Spot::Fixed(place) = global.spot {
                let path = global.name.clone();
                search.begin(&Thing { path, of: global.of, address: loaded.bias.wrapping_add(place) });
            }
        }
        Some(search.find(address)?.told(loaded, dwarf, storage.clone()))
    })
}
