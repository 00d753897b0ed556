//! Addresses of recognised functions, in files and in address spaces.

use super::functions::Function;
use super::layout::Flavour;
use super::table::{FUNCTIONS, Recognised};
use debuginfo::readable;
use memory::{Backing, Memory, ObjectId, Protection, SpaceId};
use object::{Object, ObjectSegment, ObjectSymbol};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A recognised function, or another address at which threads stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hook {
    /// What it is.
    pub function: Function,
    /// Of which library.
    pub flavour: Flavour,
}

/// Addresses of recognised functions. No part of any state: they depend on the content of files only. Workers share
/// what they find, because each may step from states that another has reached.
#[derive(Clone, Default)]
pub struct Hooks {
    /// The tables as of this worker's last update.
    tables: Arc<Tables>,
    shared: Arc<SharedTables>,
}

/// The tables of all workers.
#[derive(Default)]
struct SharedTables {
    version: AtomicU64,
    tables: Mutex<Arc<Tables>>,
}

#[derive(Clone, Default)]
struct Tables {
    /// How often the tables were changed.
    version: u64,
    /// Hooks by file and offset.
    places: FxHashMap<(ObjectId, u64), Hook>,
    /// Files that were analysed.
    files: HashMap<ObjectId, FileHooks>,
    /// Mappings that were analysed.
    mappings: HashSet<(ObjectId, u64, u64)>,
    /// Breakpoints of the user, by file and offset.
    breaks: FxHashSet<(ObjectId, u64)>,
    /// Addresses of hooks and breakpoints, in any space.
    addresses: BTreeSet<u64>,
    /// The same, for fast lookup.
    likely: FxHashSet<u64>,
}

/// The hooks of a file.
#[derive(Clone, Default)]
struct FileHooks {
    /// Offsets of recognised functions.
    places: Vec<u64>,
    /// Whether it is started by a C library, or is one.
    starts: bool,
    /// Whether it is a program.
    is_program: bool,
    /// Where routines are by which a library starts threads.
    starters: Vec<Range<u64>>,
}

impl Hooks {
    /// Takes over what other workers have found; whether there was anything.
    pub fn catch_up(&mut self) -> bool {
        let is_stale = self.shared.version.load(Ordering::Acquire) != self.tables.version;
        if is_stale {
            self.tables = Arc::clone(&self.shared.tables.lock().unwrap_or_else(PoisonError::into_inner));
        }
        is_stale
    }

    fn change<R>(&mut self, change: impl FnOnce(&mut Tables) -> R) -> R {
        let mut latest = self.shared.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let tables = Arc::make_mut(&mut latest);
        let result = change(tables);
        tables.version += 1;
        self.shared.version.store(tables.version, Ordering::Release);
        self.tables = Arc::clone(&latest);
        result
    }

    /// Addresses at which threads stop, in any space.
    #[must_use]
    pub fn addresses(&self) -> &BTreeSet<u64> {
        &self.tables.addresses
    }

    /// Whether a program reaches its `main` through a C library.
    #[must_use]
    pub fn begins(&self, memory: &Memory, space: SpaceId) -> bool {
        let starts = |id: &ObjectId| self.tables.files.get(id).is_some_and(|known| known.starts);
        memory.mappings(space).filter_map(object_of).any(|id| starts(&id))
    }

    /// The libraries whose functions were recognised.
    #[must_use]
    #[allow(clippy::disallowed_methods, reason = "a set has its own order")]
    pub fn flavours(&self) -> BTreeSet<Flavour> {
        self.tables.places.values().map(|hook| hook.flavour).collect()
    }

    /// The hook at an address, if there is one.
    #[must_use]
    pub fn at(&self, memory: &Memory, space: SpaceId, address: u64) -> Option<Hook> {
        if !self.tables.likely.contains(&address) {
            return None;
        }
        self.tables.places.get(&place(memory, space, address)?).copied()
    }

    /// Whether two addresses are in one library.
    #[must_use]
    pub fn is_one_library(&self, memory: &Memory, space: SpaceId, one: u64, other: u64) -> bool {
        let file = |address| place(memory, space, address).map(|place| place.0);
        let is_library = |id: ObjectId| self.tables.files.get(&id).is_some_and(|known| !known.is_program);
        file(one) == file(other) && file(one).is_some_and(is_library)
    }

    /// The address of another recognised function in the same file.
    #[must_use]
    pub fn sibling(&self, memory: &Memory, space: SpaceId, address: u64, function: Function) -> Option<u64> {
        let (file, here) = place(memory, space, address)?;
        let known = self.tables.files.get(&file)?.places.iter();
        let mut same =
            known.filter(|place| self.tables.places.get(&(file, **place)).is_some_and(|h| h.function == function));
        same.next().map(|place| address.wrapping_add(place.wrapping_sub(here)))
    }

    /// The routines by which the library in the file at an address starts threads, as addresses there.
    #[must_use]
    pub fn starters(&self, memory: &Memory, space: SpaceId, address: u64) -> Vec<Range<u64>> {
        let Some((file, here)) = place(memory, space, address) else { return Vec::new() };
        let known = self.tables.files.get(&file).map_or(&[][..], |known| &known.starters);
        let at = |offset: u64| address.wrapping_add(offset.wrapping_sub(here));
        known.iter().map(|range| at(range.start)..at(range.end)).collect()
    }

    /// Whether there is a breakpoint at an address.
    #[must_use]
    pub fn is_break(&self, memory: &Memory, space: SpaceId, address: u64) -> bool {
        let breaks = &self.tables.breaks;
        !breaks.is_empty() && place(memory, space, address).is_some_and(|place| breaks.contains(&place))
    }

    /// Sets a breakpoint.
    pub fn add_break(&mut self, memory: &Memory, space: SpaceId, address: u64) {
        let Some(place) = place(memory, space, address) else { return };
        self.change(|tables| {
            tables.breaks.insert(place);
            tables.add(place, address);
        });
    }

    /// Analyses the executable mappings of an address space; whether there are new addresses.
    pub fn look(&mut self, memory: &Memory, space: SpaceId) -> bool {
        let before = self.tables.addresses.len();
        let executable = memory.mappings(space).filter(|mapping| mapping.protection.contains(Protection::EXECUTE));
        let mapped = executable.filter_map(|mapping| match mapping.backing {
            Backing::Object { id, offset } => Some((id, mapping.start, offset, mapping.len)),
            Backing::Anonymous => None,
        });
        let is_new = |(id, start, offset, _): &_| !self.tables.mappings.contains(&(*id, *start, *offset));
        let new: Vec<(ObjectId, u64, u64, u64)> = mapped.filter(is_new).collect();
        if !new.is_empty() {
            self.change(|tables| new.into_iter().for_each(|mapping| tables.look_at(memory, mapping)));
        }
        self.tables.addresses.len() > before
    }

    /// Adds a hook at an address; whether it is new.
    pub fn add(&mut self, memory: &Memory, space: SpaceId, address: u64, hook: Hook) -> bool {
        let Some(place) = place(memory, space, address) else { return false };
        if self.tables.places.contains_key(&place) && self.tables.addresses.contains(&address) {
            return false;
        }
        self.change(|tables| {
            tables.places.entry(place).or_insert(hook);
            tables.add(place, address)
        })
    }
}

impl Tables {
    fn add(&mut self, place: (ObjectId, u64), address: u64) -> bool {
        self.files.entry(place.0).or_default().places.push(place.1);
        self.mappings.retain(|(id, ..)| *id != place.0);
        self.likely.insert(address);
        self.addresses.insert(address)
    }

    fn look_at(&mut self, memory: &Memory, (id, start, offset, len): (ObjectId, u64, u64, u64)) {
        self.mappings.insert((id, start, offset));
        self.look_at_file(memory, id);
        let inside = self.files[&id].places.iter().filter(|place| (offset..offset + len).contains(place));
        let addresses = inside.map(|place| start + (place - offset));
        self.likely.extend(addresses.clone());
        self.addresses.extend(addresses);
    }

    fn look_at_file(&mut self, memory: &Memory, id: ObjectId) {
        if self.files.contains_key(&id) {
            return;
        }
        let Found { starts, is_program, found, starters } =
            functions_in(&memory.object_content(id)).unwrap_or_default();
        let places = found.iter().map(|(place, _)| *place).collect();
        self.files.insert(id, FileHooks { places, starts, is_program, starters });
        self.places.extend(found.into_iter().map(|(place, hook)| ((id, place), hook)));
    }
}

/// The file that is mapped at an address, and the offset in it.
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

/// The symbols of interest of an executable file.
#[derive(Default)]
struct Found {
    /// Whether a C library starts what is in it.
    starts: bool,
    /// Whether it has a `main`.
    is_program: bool,
    /// The functions of that library, by offset in the file.
    found: Vec<(u64, Hook)>,
    /// Where routines are by which a library starts threads, by offset in the file.
    starters: Vec<Range<u64>>,
}

fn functions_in(bytes: &[u8]) -> Option<Found> {
    let file = object::File::parse(bytes).ok()?;
    const START: &str = "__libc_start_main";
    let starts = file.symbols().chain(file.dynamic_symbols()).any(|symbol| symbol.name() == Ok(START));
    let (mut defined, mut sizes) = (Defined::new(), HashMap::new());
    for symbol in file.symbols().chain(file.dynamic_symbols()).filter(ObjectSymbol::is_definition) {
        if let Ok(name) = symbol.name() {
            defined.entry(name).or_default().insert(symbol.address());
            sizes.insert(symbol.address(), symbol.size());
        }
    }
    let is_program = defined.contains_key("main");
    let mut functions = rust_functions(&defined);
    // Only a C library starts programs.
    if defined.contains_key(START) {
        functions.extend(c_functions(&defined));
    }
    let place = |address: u64| {
        let segments = file.segments();
        let mut holding =
            segments.filter(|segment| (segment.address()..segment.address() + segment.size()).contains(&address));
        holding.next().map(|segment| segment.file_range().0 + (address - segment.address()))
    };
    let starting = functions.iter().filter(|(_, hook)| hook.function == Function::LibraryStart);
    let starters = starting.filter_map(|(address, _)| place(*address).map(|start| start..start + sizes[address]));
    let starters = starters.collect();
    let found = functions.into_iter().filter_map(|(address, hook)| Some((place(address)?, hook))).collect();
    Some(Found { starts, is_program, found, starters })
}

/// Names that a file defines, with their addresses.
type Defined<'a> = HashMap<&'a str, BTreeSet<u64>>;

/// The functions of a C library.
fn c_functions(defined: &Defined<'_>) -> Vec<(u64, Hook)> {
    const MUSL: [&str; 3] = ["__init_libc", "__dls2b", "__libc_start_init"];
    let flavour = if MUSL.iter().any(|name| defined.contains_key(name)) { Flavour::Musl } else { Flavour::Glibc };
    let allocates = has_own_allocator(defined, flavour);
    let rows = FUNCTIONS.iter().filter(|row| allocates || !matches!(row.function, Function::Allocate(_)));
    let named = rows.flat_map(|row| row.names.iter().map(|name| (*name, row.function)));
    let places = named.filter_map(|(name, function)| Some((defined.get(name)?, Hook { function, flavour })));
    places.flat_map(|(addresses, hook)| addresses.iter().map(move |address| (*address, hook))).collect()
}

/// The functions of Rust's standard library, which is a part of each program. Symbols are their paths, encoded.
#[allow(clippy::disallowed_methods, reason = "an address has one name")]
fn rust_functions(defined: &Defined<'_>) -> Vec<(u64, Hook)> {
    let has_any = |parts: &[&str]| defined.keys().any(|name| parts.iter().any(|part| name.contains(part)));
    let rows = FUNCTIONS.iter().filter(|row| match row.recognised {
        Recognised::Always => true,
        Recognised::With(parts) => has_any(parts),
        Recognised::Without(parts) => !has_any(parts),
    });
    let named = rows.flat_map(|row| row.names.iter().map(|name| (*name, row.function)));
    let rows = named.filter_map(|(path, function)| Some((path, path.rsplit_once("::")?.1, function)));
    let mut found = Vec::new();
    for (path, last, function) in rows {
        let is_meant = |name: &str| name.contains(last) && path_of(name) == path;
        let addresses = defined.iter().filter(|(name, _)| is_meant(name)).flat_map(|(_, addresses)| addresses);
        found.extend(addresses.map(|address| (*address, Hook { function, flavour: Flavour::Rust })));
    }
    found
}

/// The path of a function of Rust, without what its generic parameters stand for.
fn path_of(symbol: &str) -> String {
    let name = readable(symbol);
    name.split("::<").next().unwrap_or_default().replace(['<', '>'], "")
}

/// Whether `malloc(3)` is the library's own: a statically linked program may replace it.
fn has_own_allocator(defined: &Defined<'_>, flavour: Flavour) -> bool {
    let Some(malloc) = defined.get("malloc") else { return false };
    let is_same = |name: &str| defined.get(name).map(|own| own.intersection(malloc).next().is_some());
    match flavour {
        Flavour::Glibc => is_same("__libc_malloc") == Some(true),
        // The shared library, which is also the dynamic linker, exports public symbols only.
        Flavour::Musl => is_same("default_malloc").unwrap_or(defined.contains_key("__dls2b")),
        Flavour::Rust => false,
    }
}
