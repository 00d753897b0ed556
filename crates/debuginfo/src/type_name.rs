//! Types as programmers write them.

use super::dwarf::{Dwarf, Entry, Place};

/// A type in a type in a type: further in, dots will do.
const DEPTH_MAX: usize = 12;

impl Dwarf {
    /// A type as programmers write it.
    pub(super) fn type_name(&self, place: Option<Place>) -> String {
        self.written(place, DEPTH_MAX)
    }

    fn written(&self, place: Option<Place>, depth: usize) -> String {
        let Some(place) = place else { return "void".into() };
        let Some(entry) = self.entry(place) else { return "?".into() };
        let inner = || {
            if depth == 0 { "...".into() } else { self.written(self.type_of(place.unit, &entry), depth - 1) }
        };
        let name = self.name(place.unit, &entry).map(|name| self.qualified(place, &name));
        match entry.tag() {
            gimli::DW_TAG_const_type => qualify("const", &inner()),
            gimli::DW_TAG_volatile_type => qualify("volatile", &inner()),
            gimli::DW_TAG_restrict_type => inner(),
            gimli::DW_TAG_atomic_type => qualify("_Atomic", &inner()),
            gimli::DW_TAG_pointer_type => name.unwrap_or_else(|| point("*", &inner())),
            gimli::DW_TAG_reference_type => name.unwrap_or_else(|| point("&", &inner())),
            gimli::DW_TAG_rvalue_reference_type => name.unwrap_or_else(|| point("&&", &inner())),
            gimli::DW_TAG_array_type => name.unwrap_or_else(|| self.array(place, &entry, depth)),
            gimli::DW_TAG_subroutine_type => format!("{} ({})", inner(), self.parameters(place, depth)),
            tag => self.tagged(place.unit, tag, name),
        }
    }

    /// C writes `struct` before the names of structs.
    fn tagged(&self, unit: usize, tag: gimli::DwTag, name: Option<String>) -> String {
        let word = match tag {
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type => "struct ",
            gimli::DW_TAG_union_type => "union ",
            gimli::DW_TAG_enumeration_type => "enum ",
            _ => "",
        };
        match name {
            Some(name) if self.is_c(unit) => format!("{word}{name}"),
            Some(name) => name,
            None => format!("{word}{{...}}"),
        }
    }

    fn is_c(&self, unit: usize) -> bool {
        let root = self.units().get(unit).and_then(|unit| unit.entry(unit.header.root_offset()).ok());
        let language = root.and_then(|root| root.attr_value(gimli::DW_AT_language));
        let is_c = |language| {
            matches!(
                language,
                gimli::DW_LANG_C | gimli::DW_LANG_C89 | gimli::DW_LANG_C99 | gimli::DW_LANG_C11 | gimli::DW_LANG_C17
            )
        };
        matches!(language, Some(gimli::AttributeValue::Language(language)) if is_c(language))
    }

    fn qualified(&self, place: Place, name: &str) -> String {
        self.scope(place).map_or_else(|| name.to_owned(), |scope| format!("{scope}::{name}"))
    }

    fn array(&self, place: Place, entry: &Entry, depth: usize) -> String {
        let of = self.written(self.type_of(place.unit, entry), depth.saturating_sub(1));
        let Some(super::types::Shape::Array(_, counts)) = self.shape_of_bare(place) else { return of };
        let dimension = |count: &Option<u64>| count.map_or("[]".into(), |count| format!("[{count}]"));
        format!("{of}{}", counts.iter().map(dimension).collect::<String>())
    }

    fn parameters(&self, place: Place, depth: usize) -> String {
        let children = self.children(place);
        let parameters = children.iter().filter(|child| child.tag() == gimli::DW_TAG_formal_parameter);
        let written = parameters.map(|child| self.written(self.type_of(place.unit, child), depth.saturating_sub(1)));
        written.collect::<Vec<_>>().join(", ")
    }
}

/// A qualifier of a pointer comes behind it, of anything else before it.
fn qualify(word: &str, inner: &str) -> String {
    if inner.ends_with('*') { format!("{inner}{word}") } else { format!("{word} {inner}") }
}

fn point(sign: &str, inner: &str) -> String {
    match inner.split_once(" (") {
        Some((result, parameters)) => format!("{result} ({sign})({parameters}"),
        None if inner.ends_with('*') => format!("{inner}{sign}"),
        None => format!("{inner} {sign}"),
    }
}
