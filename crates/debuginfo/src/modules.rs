//! The binaries of an address space, and where in it they are.

use super::module::Module;
use super::symbols::{Kind, Symbol};
use super::unwind::{self, Tables};
use super::way::{NoPlace, Way};
use memory::{Backing, Mapping, Memory, Name, ObjectId, Protection, SpaceId};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A piece of a file that a space can execute. Two spaces with the same pieces have the same modules.
///
/// Only executable pieces identify a layout: data segments come and go with `mprotect(2)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Piece {
    start: u64,
    len: u64,
    pub(super) object: ObjectId,
    offset: u64,
}

/// The executable pieces of files in a space, in address order.
pub(super) fn pieces(memory: &Memory, space: SpaceId) -> impl Iterator<Item = (Piece, &Mapping)> {
    memory.mappings(space).filter_map(|mapping| match mapping.backing {
        Backing::Object { id, offset } if mapping.protection.contains(Protection::EXECUTE) => {
            Some((Piece { start: mapping.start, len: mapping.len, object: id, offset }, mapping))
        }
        _ => None,
    })
}

/// A binary in an address space.
pub struct Loaded {
    /// What it is.
    pub module: Arc<Module>,
    /// What is added to the addresses in its file.
    pub bias: u64,
    /// The addresses that its segments take, from the first to the last.
    pub range: Range<u64>,
    object: ObjectId,
}

impl Loaded {
    /// A binary of which a piece is mapped.
    pub(super) fn new(piece: &Piece, module: Arc<Module>) -> Option<Self> {
        let bias = module.bias(piece.offset, piece.start)?;
        let (first, last) = module.elf.extent();
        Some(Self { bias, range: bias.wrapping_add(first)..bias.wrapping_add(last), object: piece.object, module })
    }

    /// Whether the file still is what it was when it was read.
    pub(super) fn is_current(&self, memory: &Memory) -> bool {
        memory.object_exists(self.object) && is_content(memory, self.object, &self.module.bytes)
    }
}

/// Whether an object has these bytes. A comparison of addresses, unless a guest has written the file.
pub(super) fn is_content(memory: &Memory, object: ObjectId, bytes: &Arc<[u8]>) -> bool {
    match memory.object_unchanged(object) {
        Some(now) if Arc::ptr_eq(now, bytes) => true,
        _ => memory.object_len(object) == bytes.len() as u64 && memory.object_content(object) == *bytes,
    }
}

/// What a mapping's file is called.
pub(super) fn path(mapping: &Mapping) -> String {
    match &mapping.name {
        Name::Path(path) => path.to_string(),
        name => name.text().to_owned(),
    }
}

/// A library function that was looked for, and found.
///
/// Several of one name are the rule: versions of a symbol, local copies, the same library in two
/// name spaces of the linker.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Function {
    /// Its address in the space.
    pub address: u64,
    /// Which of the names.
    pub index: usize,
    /// Bytes of code; 0 where nobody said.
    pub size: u64,
    /// Which of the modules.
    pub module: usize,
    /// The address is of the code that chooses the function when the program starts (`STT_GNU_IFUNC`).
    pub is_indirect: bool,
    /// Kept for old programs, with perhaps another meaning (`pthread_cond_wait@GLIBC_2.2.5`).
    ///
    /// Hooks must not take an old version for the current one: `pthread_cond_wait@GLIBC_2.2.5` has
    /// another layout of the condition variable.
    pub is_old: bool,
}

/// What was looked for, and what was found.
type Search = (Vec<String>, Arc<[Function]>);

/// The binaries of an address space. As long as a space keeps the same one, nothing was mapped or unmapped for execution.
///
/// Shared by spaces with the same layout (after `fork(2)`), with caches behind mutexes.
#[derive(Default)]
pub struct Modules {
    pub(super) pieces: Vec<Piece>,
    /// In address order.
    pub loaded: Vec<Loaded>,
    searches: Mutex<Vec<Search>>,
    tables: OnceLock<Tables>,
    pub(super) ways: Mutex<HashMap<String, Result<Arc<Way>, NoPlace>>>,
}

/// How many different lists of names are remembered.
const SEARCHES_MAX: usize = 8;

impl Modules {
    pub(super) fn new(pieces: Vec<Piece>, loaded: Vec<Loaded>) -> Self {
        Self { pieces, loaded, ..Self::default() }
    }

    /// How to get from functions to their callers.
    pub(super) fn tables(&self) -> &Tables {
        self.tables.get_or_init(|| unwind::tables(&self.loaded))
    }

    /// The binary that an address belongs to: its code, its data, or what it began with as zeros.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<&Loaded> {
        self.loaded.iter().find(|loaded| loaded.range.contains(&address))
    }

    /// The program itself: libraries are loaded above it.
    #[must_use]
    pub fn program(&self) -> Option<&Loaded> {
        self.loaded.first()
    }

    /// Whether a binary's variables are what programmers know: those of the C library and of the dynamic linker are not.
    pub(super) fn is_own(&self, loaded: &Loaded) -> bool {
        let is_program = self.program().is_some_and(|first| first.range == loaded.range);
        let is_linker = || loaded.module.symbols().named("_rtld_global").next().is_some();
        is_program || !loaded.module.has_libc() && !is_linker()
    }

    /// Where functions of these names are: all of them, in every module, by address.
    #[must_use]
    pub fn functions(&self, names: &[&str]) -> Arc<[Function]> {
        let mut searches = self.searches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = searches.iter().find(|(known, _)| known == names) {
            return Arc::clone(found);
        }
        let found: Arc<[Function]> = self.search(names).into();
        if searches.len() == SEARCHES_MAX {
            searches.remove(0);
        }
        searches.push((names.iter().map(ToString::to_string).collect(), Arc::clone(&found)));
        found
    }

    fn search(&self, names: &[&str]) -> Vec<Function> {
        let mut found = Vec::new();
        for (module, loaded) in self.loaded.iter().enumerate() {
            for (index, name) in names.iter().enumerate() {
                let functions = loaded.module.symbols().named(name).filter(|symbol| symbol.kind != Kind::Data);
                found.extend(functions.map(|symbol| function(symbol, index, module, loaded.bias)));
            }
        }
        found.sort();
        found
    }
}

fn function(symbol: &Symbol, index: usize, module: usize, bias: u64) -> Function {
    Function {
        address: bias.wrapping_add(symbol.address),
        index,
        size: symbol.size,
        module,
        is_indirect: symbol.kind == Kind::Indirect,
        is_old: symbol.is_old,
    }
}
