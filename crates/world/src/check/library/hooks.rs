//! Where recognised functions are, in files and in address spaces.

use super::functions::{FUNCTIONS, Function};
use super::layout::Flavour;
use memory::{Backing, Memory, ObjectId, Protection, SpaceId};
use object::{Object, ObjectSegment, ObjectSymbol};
use std::collections::{BTreeSet, HashMap, HashSet};

/// A recognised function, or a place that matters, at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hook {
    /// What it is.
    pub function: Function,
    /// Of which library.
    pub flavour: Flavour,
}

/// Where recognised functions are. No part of any state: files do not change their meaning.
#[derive(Default)]
pub struct Hooks {
    /// By file and place in it.
    places: HashMap<(ObjectId, u64), Hook>,
    /// Files that were looked at.
    files: HashMap<ObjectId, Known>,
    /// Mappings that were looked at.
    mappings: HashSet<(ObjectId, u64, u64)>,
    /// Addresses at which any of them is mapped, in any space.
    pub addresses: BTreeSet<u64>,
}

/// What is known of a file.
#[derive(Default)]
struct Known {
    /// Where recognised functions are in it.
    places: Vec<u64>,
    /// Whether it is started by a C library, or is one.
    starts: bool,
}

impl Hooks {
    /// Whether a program will come to its `main` through a C library.
    #[must_use]
    pub fn begins(&self, memory: &Memory, space: SpaceId) -> bool {
        let starts = |id: &ObjectId| self.files.get(id).is_some_and(|known| known.starts);
        memory.mappings(space).filter_map(object_of).any(|id| starts(&id))
    }

    /// The libraries whose functions were recognised.
    #[must_use]
    pub fn flavours(&self) -> BTreeSet<Flavour> {
        self.places.values().map(|hook| hook.flavour).collect()
    }

    /// The hook at an address, if there is one.
    #[must_use]
    pub fn at(&self, memory: &Memory, space: SpaceId, address: u64) -> Option<Hook> {
        if !self.addresses.contains(&address) {
            return None;
        }
        self.places.get(&place(memory, space, address)?).copied()
    }

    /// Looks at what an address space maps for execution; whether there are new addresses.
    pub fn look(&mut self, memory: &Memory, space: SpaceId) -> bool {
        let before = self.addresses.len();
        let mapped: Vec<_> = memory
            .mappings(space)
            .filter(|mapping| mapping.protection.contains(Protection::EXECUTE))
            .filter_map(|mapping| match mapping.backing {
                Backing::Object { id, offset } => Some((id, mapping.start, offset, mapping.len)),
                Backing::Anonymous => None,
            })
            .collect();
        for (id, start, offset, len) in mapped {
            if self.mappings.insert((id, start, offset)) {
                self.look_at_file(memory, id);
                let inside = self.files[&id].places.iter().filter(|place| (offset..offset + len).contains(place));
                self.addresses.extend(inside.map(|place| start + (place - offset)));
            }
        }
        self.addresses.len() > before
    }

    /// Adds a place of the program itself; whether it is new.
    pub fn add(&mut self, memory: &Memory, space: SpaceId, address: u64, hook: Hook) -> bool {
        let Some(place) = place(memory, space, address) else { return false };
        self.places.entry(place).or_insert(hook);
        self.files.entry(place.0).or_default().places.push(place.1);
        self.mappings.retain(|(id, ..)| *id != place.0);
        self.addresses.insert(address)
    }

    fn look_at_file(&mut self, memory: &Memory, id: ObjectId) {
        if self.files.contains_key(&id) {
            return;
        }
        let mut bytes = vec![0; memory.object_len(id) as usize];
        memory.read_object(id, 0, &mut bytes);
        let (starts, found) = functions_in(&bytes).unwrap_or_default();
        let places = found.iter().map(|(place, _)| *place).collect();
        self.files.insert(id, Known { places, starts });
        self.places.extend(found.into_iter().map(|(place, hook)| ((id, place), hook)));
    }
}

/// The file and the place in it that an address shows.
fn place(memory: &Memory, space: SpaceId, address: u64) -> Option<(ObjectId, u64)> {
    let mapping = memory.mapping_at(space, address)?;
    match mapping.backing {
        Backing::Object { id, offset } => Some((id, address - mapping.start + offset)),
        Backing::Anonymous => None,
    }
}

fn object_of(mapping: &memory::Mapping) -> Option<ObjectId> {
    match mapping.backing {
        Backing::Object { id, .. } => Some(id),
        Backing::Anonymous => None,
    }
}

/// Whether a C library starts what is in an executable file, and that library's functions by their place in the file.
fn functions_in(bytes: &[u8]) -> Option<(bool, Vec<(u64, Hook)>)> {
    let file = object::File::parse(bytes).ok()?;
    const START: &str = "__libc_start_main";
    let starts = file.symbols().chain(file.dynamic_symbols()).any(|symbol| symbol.name() == Ok(START));
    let mut defined = HashMap::<&str, BTreeSet<u64>>::new();
    for symbol in file.symbols().chain(file.dynamic_symbols()).filter(ObjectSymbol::is_definition) {
        if let Ok(name) = symbol.name() {
            defined.entry(name).or_default().insert(symbol.address());
        }
    }
    // Only a C library starts programs.
    if !defined.contains_key(START) {
        return Some((starts, Vec::new()));
    }
    const MUSL: [&str; 3] = ["__init_libc", "__dls2b", "__libc_start_init"];
    let flavour = if MUSL.iter().any(|name| defined.contains_key(name)) { Flavour::Musl } else { Flavour::Glibc };
    let place = |address: u64| {
        let segments = file.segments();
        let mut holding =
            segments.filter(|segment| (segment.address()..segment.address() + segment.size()).contains(&address));
        holding.next().map(|segment| segment.file_range().0 + (address - segment.address()))
    };
    let mut found = Vec::new();
    for (name, function) in FUNCTIONS {
        let places = defined.get(name).into_iter().flatten().filter_map(|address| place(*address));
        found.extend(places.map(|place| (place, Hook { function: *function, flavour })));
    }
    Some((starts, found))
}
