//! What binaries say about themselves: names of functions and variables, source lines, types.
//!
//! | question | answer |
//! |---|---|
//! | which binaries does a space map? | [`DebugInfo::modules`] |
//! | what is at an address? | [`DebugInfo::symbol`] |
//! | where is a function or variable? | [`DebugInfo::address_of`], [`DebugInfo::functions`] |
//! | which source line is it? | [`DebugInfo::location`], [`DebugInfo::addresses_of_line`], [`lines::source_line`] |
//! | who called? | [`DebugInfo::stack`] |
//! | which variable is at an address? | [`DebugInfo::variable_at`] |
//! | what is in a variable? | [`DebugInfo::global`], [`Place::read`] |
//! | what is in all of them? | [`DebugInfo::globals`], [`DebugInfo::locals`] |
//!
//! A [`DebugInfo`] is no part of any state. It remembers what it has read of each file for as long as the file stays what
//! it was, so it serves all states of a search.
//!
//! **Invariant:** no file panics and no answer is guessed: damaged or missing debug information
//! means `None`, and reports fall back to symbols and then to addresses. Nothing here decides a
//! verdict; it decides how a counterexample reads, what `--never` can name and where breakpoints
//! are.

mod dwarf;
mod errno;
mod globals;
pub mod lines;
mod listing;
mod locals;
mod module;
mod modules;
mod reached;
pub mod stack;
pub mod symbols;
mod type_name;
mod types;
pub mod unwind;
mod value;
pub mod variable;
mod way;

pub use listing::Listed;
pub use module::Module;
pub use modules::{Function, Loaded, Modules};
pub use trace::similar;
pub use types::Kind;
pub use value::{Place, Value};
pub use variable::{Storage, Variable};
pub use way::NoPlace;

use explore::Budget;
use kernel::host::Host;
use memory::{Memory, ObjectId, SpaceId};
use modules::Piece;
use std::collections::HashMap;
use std::sync::Arc;

/// What binaries say about themselves.
///
/// Cached by content of files and by layout of spaces: thousands of states share a layout, so a
/// question about another state is most often a lookup.
pub struct DebugInfo {
    host: Host,
    files: HashMap<ObjectId, Arc<Module>>,
    layouts: HashMap<Vec<Piece>, Arc<Modules>>,
    spaces: HashMap<SpaceId, Arc<Modules>>,
    budget: Budget,
}

/// A named place: `malloc+0x12` in a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    /// The function or variable.
    pub name: String,
    /// How far behind its beginning.
    pub offset: u64,
    /// The binary that has it.
    pub module: String,
}

impl DebugInfo {
    /// Nothing read yet. Debug files are looked for under the declared roots of this host.
    #[must_use]
    pub fn new(host: Host) -> Self {
        let (files, layouts, spaces) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { host, files, layouts, spaces, budget: Budget::default() }
    }

    /// The same, which knows nothing more once the budget is spent: to read a large binary takes seconds.
    #[must_use]
    pub fn within(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// The binaries of a space. The same `Arc` as before unless something was mapped or unmapped for execution.
    pub fn modules(&mut self, memory: &Memory, space: SpaceId) -> Arc<Modules> {
        if !memory.space_exists(space) || self.budget.is_spent() {
            return Arc::default();
        }
        if let Some(known) = self.spaces.get(&space).filter(|known| is_current(memory, space, known)) {
            return Arc::clone(known);
        }
        let modules = self.look(memory, space);
        self.spaces.insert(space, Arc::clone(&modules));
        modules
    }

    fn look(&mut self, memory: &Memory, space: SpaceId) -> Arc<Modules> {
        let pieces: Vec<Piece> = modules::pieces(memory, space).map(|(piece, _)| piece).collect();
        if let Some(known) = self.layouts.get(&pieces).filter(|known| is_current(memory, space, known)) {
            return Arc::clone(known);
        }
        let mut loaded: Vec<Loaded> = Vec::new();
        for (piece, mapping) in modules::pieces(memory, space) {
            let module = self.module(memory, piece.object, mapping);
            let new = module.and_then(|module| Loaded::new(&piece, module));
            loaded.extend(new.filter(|new| !loaded.iter().any(|old| old.range == new.range)));
        }
        let modules = Arc::new(Modules::new(pieces.clone(), loaded));
        self.layouts.insert(pieces, Arc::clone(&modules));
        modules
    }

    fn module(&mut self, memory: &Memory, object: ObjectId, mapping: &memory::Mapping) -> Option<Arc<Module>> {
        if let Some(known) = self.files.get(&object).filter(|known| modules::is_content(memory, object, &known.bytes)) {
            return Some(Arc::clone(known));
        }
        let bytes = memory.object_content(object);
        let module = Arc::new(Module::new(modules::path(mapping), bytes, (self.host.clone(), self.budget.clone()))?);
        self.files.insert(object, Arc::clone(&module));
        Some(module)
    }

    /// Where functions of these names are in a space: all of them, by address. Cheap to ask again.
    pub fn functions(&mut self, memory: &Memory, space: SpaceId, names: &[&str]) -> Arc<[Function]> {
        self.modules(memory, space).functions(names)
    }

    /// The function or variable at an address.
    pub fn symbol(&mut self, memory: &Memory, space: SpaceId, address: u64) -> Option<Named> {
        let modules = self.modules(memory, space);
        let loaded = modules.at(address)?;
        let place = address.wrapping_sub(loaded.bias);
        let is_code = loaded.module.is_code(place);
        let symbol = loaded.module.symbols().at(place, |kind| (kind != symbols::Kind::Data) == is_code)?;
        Some(Named { name: readable(&symbol.name), offset: place - symbol.address, module: loaded.module.path.clone() })
    }

    /// Where a function or variable is; the program's own before its libraries'.
    pub fn address_of(&mut self, memory: &Memory, space: SpaceId, name: &str) -> Option<u64> {
        let modules = self.modules(memory, space);
        let is_wanted = |symbol: &&symbols::Symbol| !symbol.is_old && symbol.kind != symbols::Kind::Indirect;
        modules.loaded.iter().find_map(|loaded| {
            let symbol = loaded.module.symbols().named(name).find(is_wanted)?;
            Some(loaded.bias.wrapping_add(symbol.address))
        })
    }
}

/// A symbol as programmers write it.
#[must_use]
pub fn readable(name: &str) -> String {
    // A demangler takes the name of a C function such as `f` for the code of a type.
    if !["_Z", "__Z", "_R"].iter().any(|start| name.starts_with(start)) {
        return name.to_owned();
    }
    addr2line::demangle_auto(name.into(), None).into_owned()
}

/// Whether a space still has these modules.
///
/// Compares the executable mappings with what was seen; cheap enough to ask each time.
fn is_current(memory: &Memory, space: SpaceId, known: &Modules) -> bool {
    let now = modules::pieces(memory, space).map(|(piece, _)| piece);
    now.eq(known.pieces.iter().cloned()) && known.loaded.iter().all(|loaded| loaded.is_current(memory))
}
