//! The variables of one binary that live as long as it does, its functions, and the scopes of its types.

use super::dwarf::{Dwarf, Entry, Place, Reader, Unit, ranges_of};
use gimli::Operation;
use std::collections::HashMap;
use std::ops::Range;

/// A variable that lives as long as its program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Global {
    /// Its name with its scopes: `function::counter`, `crate::module::COUNTER`.
    pub(super) name: String,
    pub(super) spot: Spot,
    /// Bytes, at least one.
    pub(super) size: u64,
    pub(super) of: Place,
}

/// Where a variable is that lives as long as its program.
///
/// The order of the variants sorts fixed ones before those of threads; `global_at` searches by it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Spot {
    /// At an address, before the base is added.
    Fixed(u64),
    /// In each thread's own block, so far behind its beginning.
    PerThread(u64),
}

/// What a walk over all entries finds.
#[derive(Default, Debug)]
pub(super) struct Index {
    /// By place.
    pub(super) globals: Vec<Global>,
    /// The namespaces and classes that types are in, for those that are in some.
    scopes: HashMap<Place, String>,
    /// Functions by their code, in order: one that is in several pieces is there several times. To walk a unit whenever a
    /// function is asked for would take long: a Rust program is one unit.
    functions: Vec<(Range<u64>, Place)>,
}

impl Dwarf {
    /// The namespaces and classes that a type is in.
    pub(super) fn scope(&self, place: Place) -> Option<&str> {
        self.index().scopes.get(&place).map(String::as_str)
    }

    /// The function that has an address (before the base is added).
    pub(super) fn function_at(&self, address: u64) -> Option<Place> {
        let functions = &self.index().functions;
        let end = functions.partition_point(|(range, _)| range.start <= address);
        functions[..end].last().filter(|(range, _)| range.contains(&address)).map(|(_, place)| *place)
    }

    /// The variable at an address (before the base is added), and how far into it.
    pub(super) fn global_at(&self, spot: Spot) -> Option<(&Global, u64)> {
        let globals = &self.index().globals;
        let end = globals.partition_point(|global| global.spot <= spot);
        let global = globals[..end].last()?;
        let offset = match (global.spot, spot) {
            (Spot::Fixed(start), Spot::Fixed(at)) | (Spot::PerThread(start), Spot::PerThread(at)) => at - start,
            _ => return None,
        };
        (offset < global.size).then_some((global, offset))
    }

    /// Variables of a name, with or without its scopes.
    pub(super) fn globals_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Global> {
        self.index().globals.iter().filter(move |global| {
            global.name.strip_suffix(name).is_some_and(|front| front.is_empty() || front.ends_with("::"))
        })
    }
}

impl Index {
    pub(super) fn of(dwarf: &Dwarf) -> Self {
        let mut index = Self::default();
        // Nothing here may ask for the scope of a type, which is not known before the end of this walk.
        for unit in 0..dwarf.units().len() {
            if dwarf.budget.is_spent() {
                break;
            }
            Walk { dwarf, unit, scopes: Vec::new(), index: &mut index }.all();
        }
        index.globals.sort_by_key(|global| global.spot);
        index.globals.dedup_by(|a, b| a.spot == b.spot);
        index.functions.sort_by_key(|(range, _)| range.start);
        index
    }
}

struct Walk<'a> {
    dwarf: &'a Dwarf,
    unit: usize,
    /// Depth and name of what we are in.
    scopes: Vec<(isize, String)>,
    index: &'a mut Index,
}

impl Walk<'_> {
    fn all(&mut self) {
        let dwarf = self.dwarf;
        let mut cursor = dwarf.units()[self.unit].entries();
        while let Ok(Some(entry)) = cursor.next_dfs() {
            while self.scopes.last().is_some_and(|(depth, _)| *depth >= entry.depth()) {
                self.scopes.pop();
            }
            self.visit(entry);
        }
    }

    fn visit(&mut self, entry: &Entry) {
        match entry.tag() {
            gimli::DW_TAG_variable => self.index.globals.extend(self.global(entry)),
            gimli::DW_TAG_namespace => self.enter(entry),
            gimli::DW_TAG_subprogram => {
                self.add_function(entry);
                self.enter(entry);
            }
            gimli::DW_TAG_structure_type
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_union_type
            | gimli::DW_TAG_enumeration_type => {
                if !self.scopes.is_empty() {
                    let place = Place { unit: self.unit, offset: entry.offset().0 };
                    self.index.scopes.insert(place, self.scope());
                }
                self.enter(entry);
            }
            _ => {}
        }
    }

    fn add_function(&mut self, entry: &Entry) {
        let place = Place { unit: self.unit, offset: entry.offset().0 };
        let Ok(ranges) = self.dwarf.sections.die_ranges(&self.dwarf.units()[self.unit], entry) else { return };
        // Without an address it is only declared, or inlined everywhere.
        let code = ranges_of(ranges).filter(|range| range.start != 0);
        self.index.functions.extend(code.map(|range| (range, place)));
    }

    fn enter(&mut self, entry: &Entry) {
        if let Some(name) = self.dwarf.name(self.unit, entry) {
            self.scopes.push((entry.depth(), name));
        }
    }

    fn scope(&self) -> String {
        self.scopes.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join("::")
    }

    fn global(&self, entry: &Entry) -> Option<Global> {
        let unit = &self.dwarf.units()[self.unit];
        let gimli::AttributeValue::Exprloc(expression) = entry.attr_value(gimli::DW_AT_location)? else { return None };
        let spot = spot(self.dwarf, unit, expression)?;
        let own = self.dwarf.name(self.unit, entry)?;
        let of = self.dwarf.type_of(self.unit, entry)?;
        let size = self.dwarf.size(of).unwrap_or(1).max(1);
        Some(Global { name: self.full_name(entry, own), spot, size, of })
    }

    /// The name with its scopes. A static member of a C++ class is defined outside of it, so its linkage name tells more.
    fn full_name(&self, entry: &Entry, own: String) -> String {
        let mangled = self.dwarf.linkage_name(self.unit, entry);
        let clear = mangled.map(|name| super::readable(&name)).filter(|clear| clear.ends_with(&format!("::{own}")));
        match (clear, self.scopes.is_empty()) {
            (Some(clear), _) => clear,
            (None, true) => own,
            (None, false) => format!("{}::{own}", self.scope()),
        }
    }
}

/// A place that does not depend on any register.
///
/// `DW_OP_addr`, or an offset followed by `DW_OP_form_tls_address` and its GNU ancestor. Anything
/// that needs a register is no global.
fn spot(dwarf: &Dwarf, unit: &Unit, expression: gimli::Expression<Reader>) -> Option<Spot> {
    let mut operations = expression.operations(unit.encoding());
    let first = operations.next().ok()??;
    let number = match first {
        Operation::Address { address } => address,
        Operation::AddressIndex { index } => dwarf.sections.address(unit, index).ok()?,
        Operation::UnsignedConstant { value } => value,
        _ => return None,
    };
    let is_address = !matches!(first, Operation::UnsignedConstant { .. });
    match operations.next().ok()? {
        // Variables that the linker threw away are left at 0.
        None if is_address && number != 0 => Some(Spot::Fixed(number)),
        Some(Operation::PlusConstant { value }) if is_address => Some(Spot::Fixed(number.wrapping_add(value))),
        Some(Operation::TLS) => Some(Spot::PerThread(number)),
        _ => None,
    }
}
