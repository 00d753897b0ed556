//! The DWARF sections of one binary, and its units.
//!
//! DWARF (version 2 to 5) is a tree of entries for each source file (*unit*), with attributes that
//! refer to other entries, strings and location programs. `gimli` reads it; this file finds entries
//! again by (unit, offset), since borrowing them would tie everything to one lifetime. Sections are
//! loaded once for each binary and shared by all states.

use super::globals::Index;
use super::module::Module;
use explore::Budget;
use gimli::{EndianArcSlice, LittleEndian, Reader as _, SectionId};
use object::{Object, ObjectSection};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

/// Bytes of a section, shared.
pub(super) type Reader = EndianArcSlice<LittleEndian>;
/// One source file with what it includes.
pub(super) type Unit = gimli::Unit<Reader>;
/// One thing that is described.
pub(super) type Entry = gimli::DebuggingInformationEntry<Reader>;
/// The value of an attribute.
pub(super) type Value = gimli::AttributeValue<Reader>;

/// The DWARF sections of one binary.
///
/// Lazily built: most questions need lines only, and the index of a large C++ binary takes seconds,
/// within a budget.
pub(super) struct Dwarf {
    pub(super) sections: Arc<gimli::Dwarf<Reader>>,
    /// Finds source lines; it remembers what it has read, and does not let two read at once.
    pub(super) lines: Mutex<addr2line::Context<Reader>>,
    units: OnceLock<Vec<Unit>>,
    index: OnceLock<Index>,
    pub(super) budget: Budget,
}

/// An entry, by its unit's number and its place there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Place {
    pub(super) unit: usize,
    pub(super) offset: usize,
}

impl Dwarf {
    /// The sections of a module, or of its debug file; nothing if there are none.
    pub(super) fn of(module: &Module) -> Option<Self> {
        let budget = &module.budget;
        Self::read(&module.bytes, budget).or_else(|| Self::read(module.debug_file()?, budget))
    }

    fn read(bytes: &[u8], budget: &Budget) -> Option<Self> {
        let file = object::File::parse(bytes).ok()?;
        file.section_by_name(".debug_info")?;
        let load = |id: SectionId| -> Result<Reader, gimli::Error> {
            let section = file.section_by_name(id.name());
            let data = section.and_then(|section| section.uncompressed_data().ok()).unwrap_or_default();
            Ok(Reader::new(Arc::from(&*data), LittleEndian))
        };
        let sections = Arc::new(gimli::Dwarf::load(load).ok()?);
        let lines = Mutex::new(addr2line::Context::from_arc_dwarf(Arc::clone(&sections)).ok()?);
        Some(Self { sections, lines, units: OnceLock::new(), index: OnceLock::new(), budget: budget.clone() })
    }

    /// All units that can be read, in the order in which they are in the file.
    pub(super) fn units(&self) -> &[Unit] {
        self.units.get_or_init(|| {
            let mut headers = self.sections.units();
            let mut units = Vec::new();
            while let Ok(Some(header)) = headers.next() {
                units.extend(self.sections.unit(header));
            }
            units
        })
    }

    /// What a walk over all entries finds.
    pub(super) fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::of(self))
    }

    pub(super) fn entry(&self, place: Place) -> Option<Entry> {
        self.units().get(place.unit)?.entry(gimli::UnitOffset(place.offset)).ok()
    }

    /// The entry that an attribute refers to, in the same unit or another.
    ///
    /// `DW_FORM_ref*` is relative to the unit, `DW_FORM_ref_addr` to the section: link-time
    /// optimised binaries use the second across units.
    pub(super) fn referred(&self, unit: usize, value: Option<Value>) -> Option<Place> {
        match value? {
            Value::UnitRef(offset) => Some(Place { unit, offset: offset.0 }),
            Value::DebugInfoRef(offset) => {
                let start = |unit: &Unit| unit.header.debug_info_offset().map_or(usize::MAX, |start| start.0);
                let unit = self.units().partition_point(|unit| start(unit) <= offset.0).checked_sub(1)?;
                let offset = offset.to_unit_offset(&self.units()[unit].header)?;
                Some(Place { unit, offset: offset.0 })
            }
            _ => None,
        }
    }

    /// The name of an entry; that of its declaration if it has none.
    pub(super) fn name(&self, unit: usize, entry: &Entry) -> Option<String> {
        let own = entry.attr_value(gimli::DW_AT_name);
        own.and_then(|value| self.text(unit, value)).or_else(|| {
            let place = self.declaration(unit, entry)?;
            self.text(place.unit, self.entry(place)?.attr_value(gimli::DW_AT_name)?)
        })
    }

    /// The entry that says what this one leaves out.
    ///
    /// `DW_AT_specification` for members that are defined outside of their class,
    /// `DW_AT_abstract_origin` for inlined and cloned functions.
    pub(super) fn declaration(&self, unit: usize, entry: &Entry) -> Option<Place> {
        let attributes = [gimli::DW_AT_specification, gimli::DW_AT_abstract_origin];
        attributes.into_iter().find_map(|name| self.referred(unit, entry.attr_value(name)))
    }

    /// The type of an entry; that of its declaration if it has none.
    pub(super) fn type_of(&self, unit: usize, entry: &Entry) -> Option<Place> {
        self.referred(unit, entry.attr_value(gimli::DW_AT_type)).or_else(|| {
            let place = self.declaration(unit, entry)?;
            self.referred(place.unit, self.entry(place)?.attr_value(gimli::DW_AT_type))
        })
    }

    /// The name of an entry as the linker sees it.
    pub(super) fn linkage_name(&self, unit: usize, entry: &Entry) -> Option<String> {
        let own = entry.attr_value(gimli::DW_AT_linkage_name);
        own.and_then(|value| self.text(unit, value)).or_else(|| {
            let place = self.declaration(unit, entry)?;
            self.text(place.unit, self.entry(place)?.attr_value(gimli::DW_AT_linkage_name)?)
        })
    }

    fn text(&self, unit: usize, value: Value) -> Option<String> {
        let text = self.sections.attr_string(self.units().get(unit)?, value).ok()?;
        Some(String::from_utf8_lossy(&text.to_slice().ok()?).into_owned())
    }

    /// The number that an attribute gives.
    pub(super) fn number(entry: &Entry, name: gimli::DwAt) -> Option<u64> {
        entry.attr(name)?.udata_value()
    }
}

/// All ranges that can be read.
pub(super) fn ranges_of(mut ranges: gimli::RangeIter<Reader>) -> impl Iterator<Item = Range<u64>> {
    std::iter::from_fn(move || ranges.next().ok().flatten()).map(|range| range.begin..range.end)
}
