//! Which entry describes the function at an address.
//!
//! A report asks for the variables of functions at work behind every step. To walk all entries of a unit for that takes long:
//! a Rust program is one unit, and so is each crate. So the ranges of its functions are collected once for each unit.

use super::dwarf::{Dwarf, Place, Reader};
use std::ops::Range;
use std::sync::OnceLock;

/// The functions of a binary, by their code.
pub(super) struct Functions {
    units: Vec<UnitFunctions>,
}

struct UnitFunctions {
    /// The addresses of its code.
    ranges: Vec<Range<u64>>,
    /// Code of functions, and the offsets of their entries; read when an address of the unit is asked for.
    functions: OnceLock<Vec<(Range<u64>, usize)>>,
}

impl Functions {
    pub(super) fn of(dwarf: &Dwarf) -> Self {
        let ranges = dwarf.units().iter().map(|unit| dwarf.sections.unit_ranges(unit).map_or_else(|_| Vec::new(), all));
        Self { units: ranges.map(|ranges| UnitFunctions { ranges, functions: OnceLock::new() }).collect() }
    }

    /// The entries of functions that have an address; more than one only if units contradict each other.
    pub(super) fn at(&self, dwarf: &Dwarf, address: u64) -> Vec<Place> {
        let covering = self.units.iter().enumerate().filter(|(_, of)| holds(&of.ranges, address));
        let here = covering.flat_map(|(unit, of)| {
            let functions = of.functions.get_or_init(|| read(dwarf, unit));
            let holding = functions.iter().filter(|(range, _)| range.contains(&address));
            holding.map(move |(_, offset)| Place { unit, offset: *offset })
        });
        here.collect()
    }
}

/// Whether one of the ranges has an address.
pub(super) fn holds(ranges: &[Range<u64>], address: u64) -> bool {
    ranges.iter().any(|range| range.contains(&address))
}

/// All ranges; those that can be read.
pub(super) fn all(mut ranges: gimli::RangeIter<Reader>) -> Vec<Range<u64>> {
    std::iter::from_fn(|| ranges.next().ok().flatten()).map(|range| range.begin..range.end).collect()
}

fn read(dwarf: &Dwarf, unit: usize) -> Vec<(Range<u64>, usize)> {
    let (mut found, unit) = (Vec::new(), &dwarf.units()[unit]);
    let mut cursor = unit.entries();
    while let Ok(Some(entry)) = cursor.next_dfs() {
        if entry.tag() == gimli::DW_TAG_subprogram {
            let ranges = dwarf.sections.die_ranges(unit, entry).map_or_else(|_| Vec::new(), all);
            found.extend(ranges.into_iter().map(|range| (range, entry.offset().0)));
        }
    }
    found
}
