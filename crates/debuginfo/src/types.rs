//! Types as DWARF describes them: what they are made of, and how long they are.

use super::dwarf::{Dwarf, Entry, Place};

/// What a number in memory means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A number with a sign.
    Signed,
    /// A number without.
    Unsigned,
    /// A pointer or reference.
    Pointer,
    /// A floating-point number.
    Float,
    /// One of several names, each with its number.
    Enum(Vec<(String, i128)>),
    /// True or false.
    Bool,
    /// A character.
    Char,
    /// An array of characters that ends with a zero.
    Text,
}

/// What a type is made of, once names and qualifiers are taken off.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// One value, of so many bytes.
    Scalar(Kind, u64),
    /// A pointer, and what it points to.
    Pointer(Option<Place>),
    /// A struct, class, or union.
    Record(Vec<Member>),
    /// How many of what, outermost dimension first; one without a number has no known end.
    Array(Place, Vec<Option<u64>>),
    /// Something else: a function, an incomplete type.
    Other,
}

/// A part of a struct, class or union.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Member {
    /// Its name; a base class and a struct without a name have none, and their members count as ours.
    pub(super) name: Option<String>,
    pub(super) offset: u64,
    pub(super) of: Place,
    /// A bit-field: its first bit, counted from the lowest of the bytes at `offset`, and how many.
    pub(super) bits: Option<(u64, u64)>,
}

/// A type without names and qualifiers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bare {
    pub(super) place: Place,
    /// `_Atomic` was taken off, or it is an atomic type of a library.
    pub(super) is_atomic: bool,
    /// Its inside is nobody's business: a lock of the C library.
    pub(super) is_opaque: bool,
}

/// How many names and qualifiers are taken off; a circle of them is damage.
const LAYERS_MAX: usize = 32;

/// Types whose users know them by these names alone.
const OPAQUE: &[&str] = &[
    "pthread_mutex_t",
    "pthread_cond_t",
    "pthread_rwlock_t",
    "pthread_barrier_t",
    "pthread_spinlock_t",
    "pthread_once_t",
    "sem_t",
    "mtx_t",
    "cnd_t",
    "once_flag",
    "FILE",
];

impl Dwarf {
    /// Takes typedefs and qualifiers off; nothing is left of `void`.
    pub(super) fn bare(&self, mut place: Place) -> Option<Bare> {
        let (mut is_atomic, mut is_opaque) = (false, false);
        for _ in 0..LAYERS_MAX {
            let entry = self.entry(place)?;
            match entry.tag() {
                gimli::DW_TAG_typedef => {
                    is_opaque |= self.name(place.unit, &entry).is_some_and(|name| OPAQUE.contains(&name.as_str()));
                }
                gimli::DW_TAG_atomic_type => is_atomic = true,
                gimli::DW_TAG_const_type | gimli::DW_TAG_volatile_type | gimli::DW_TAG_restrict_type => {}
                _ => {
                    is_atomic |= self.is_atomic_record(place, &entry);
                    return Some(Bare { place, is_atomic, is_opaque });
                }
            }
            place = self.type_of(place.unit, &entry)?;
        }
        None
    }

    /// C++'s `std::atomic<T>` and Rust's `core::sync::atomic::AtomicT`.
    fn is_atomic_record(&self, place: Place, entry: &Entry) -> bool {
        let Some(scope) = self.scope(place) else { return false };
        let name = self.name(place.unit, entry).unwrap_or_default();
        let starts = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
        match scope {
            "core::sync::atomic" => starts(&["Atomic"]),
            "std" | "std::__1" => starts(&["atomic<", "atomic_flag", "__atomic_base<"]),
            _ => false,
        }
    }

    /// A type without typedefs and qualifiers, when nobody asks which they were.
    fn stripped(&self, mut place: Place) -> Option<Place> {
        for _ in 0..LAYERS_MAX {
            let entry = self.entry(place)?;
            match entry.tag() {
                gimli::DW_TAG_typedef
                | gimli::DW_TAG_atomic_type
                | gimli::DW_TAG_const_type
                | gimli::DW_TAG_volatile_type
                | gimli::DW_TAG_restrict_type => place = self.type_of(place.unit, &entry)?,
                _ => return Some(place),
            }
        }
        None
    }

    /// What a type is made of.
    pub(super) fn shape(&self, place: Place) -> Shape {
        self.stripped(place).and_then(|bare| self.shape_of_bare(bare)).unwrap_or(Shape::Other)
    }

    pub(super) fn shape_of_bare(&self, place: Place) -> Option<Shape> {
        let entry = self.entry(place)?;
        let size = Self::number(&entry, gimli::DW_AT_byte_size);
        Some(match entry.tag() {
            gimli::DW_TAG_base_type => Shape::Scalar(base_kind(&entry)?, size?),
            gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => {
                Shape::Pointer(self.type_of(place.unit, &entry))
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                size?;
                Shape::Record(self.children(place).iter().filter_map(|child| self.member(place.unit, child)).collect())
            }
            gimli::DW_TAG_array_type => Shape::Array(self.type_of(place.unit, &entry)?, self.counts(place)),
            gimli::DW_TAG_enumeration_type => Shape::Scalar(Kind::Enum(self.enumerators(place)), size?),
            _ => Shape::Other,
        })
    }

    /// Whether the numbers of an enum have a sign.
    pub(super) fn is_signed_enum(&self, place: Place) -> bool {
        self.children(place).iter().any(|child| {
            let value = child.attr(gimli::DW_AT_const_value).and_then(gimli::Attribute::sdata_value);
            value.is_some_and(|value| value < 0)
        })
    }

    /// The entries directly below one.
    pub(super) fn children(&self, place: Place) -> Vec<Entry> {
        let mut children = Vec::new();
        let Some(unit) = self.units().get(place.unit) else { return children };
        let Ok(mut tree) = unit.entries_tree(Some(gimli::UnitOffset(place.offset))) else { return children };
        let Ok(root) = tree.root() else { return children };
        let mut below = root.children();
        while let Ok(Some(child)) = below.next() {
            children.push(child.entry().clone());
        }
        children
    }

    fn member(&self, unit: usize, child: &Entry) -> Option<Member> {
        let is_base = child.tag() == gimli::DW_TAG_inheritance;
        // A static member of a C++ class is no part of its objects.
        let is_static = child.has_attr(gimli::DW_AT_declaration) || child.has_attr(gimli::DW_AT_external);
        if !is_base && (child.tag() != gimli::DW_TAG_member || is_static) {
            return None;
        }
        let of = self.type_of(unit, child)?;
        let offset = Self::number(child, gimli::DW_AT_data_member_location).unwrap_or(0);
        let name = if is_base { None } else { self.name(unit, child) };
        Some(self.bit_field(child, Member { name, offset, of, bits: None }))
    }

    /// Finds the bytes that a bit-field shares with its neighbours: as many as its type has, where it lies in them.
    fn bit_field(&self, child: &Entry, member: Member) -> Member {
        let count = Self::number(child, gimli::DW_AT_bit_size);
        let first = Self::number(child, gimli::DW_AT_data_bit_offset);
        let (Some(count), Some(size)) = (count, self.size(member.of).filter(|size| (1..=8).contains(size))) else {
            return member;
        };
        match (first, Self::number(child, gimli::DW_AT_bit_offset)) {
            (Some(first), _) => {
                let offset = first / 8 / size * size;
                Member { offset, bits: Some((first - offset * 8, count)), ..member }
            }
            // Until DWARF 4 bits were counted from the highest.
            (None, Some(high)) => {
                Member { bits: (size * 8).checked_sub(high.saturating_add(count)).map(|low| (low, count)), ..member }
            }
            (None, None) => Member { bits: Some((0, count)), ..member },
        }
    }

    fn counts(&self, place: Place) -> Vec<Option<u64>> {
        let dimensions = self.children(place).into_iter().filter(|child| child.tag() == gimli::DW_TAG_subrange_type);
        let count = |child: Entry| {
            let last = || Self::number(&child, gimli::DW_AT_upper_bound)?.checked_add(1);
            Self::number(&child, gimli::DW_AT_count).or_else(last)
        };
        dimensions.map(count).collect()
    }

    fn enumerators(&self, place: Place) -> Vec<(String, i128)> {
        let is_signed = self.is_signed_enum(place);
        let number = |child: &Entry| {
            let value = child.attr(gimli::DW_AT_const_value)?;
            if is_signed { value.sdata_value().map(i128::from) } else { value.udata_value().map(i128::from) }
        };
        let children = self.children(place);
        let named = children.iter().filter(|child| child.tag() == gimli::DW_TAG_enumerator);
        named.filter_map(|child| Some((self.name(place.unit, child)?, number(child)?))).collect()
    }

    /// Bytes of a type.
    pub(super) fn size(&self, place: Place) -> Option<u64> {
        self.size_within(place, LAYERS_MAX)
    }

    fn size_within(&self, place: Place, layers: usize) -> Option<u64> {
        let bare = self.stripped(place).filter(|_| layers > 0)?;
        let entry = self.entry(bare)?;
        let own = Self::number(&entry, gimli::DW_AT_byte_size);
        own.or_else(|| match self.shape_of_bare(bare)? {
            Shape::Pointer(_) => Some(8),
            Shape::Array(of, counts) => {
                let one = self.size_within(of, layers - 1)?;
                counts.into_iter().try_fold(one, |size, count| size.checked_mul(count?))
            }
            _ => None,
        })
    }
}

fn base_kind(entry: &Entry) -> Option<Kind> {
    let gimli::AttributeValue::Encoding(encoding) = entry.attr_value(gimli::DW_AT_encoding)? else { return None };
    match encoding {
        gimli::DW_ATE_signed => Some(Kind::Signed),
        gimli::DW_ATE_unsigned => Some(Kind::Unsigned),
        gimli::DW_ATE_boolean => Some(Kind::Bool),
        gimli::DW_ATE_float => Some(Kind::Float),
        gimli::DW_ATE_signed_char | gimli::DW_ATE_unsigned_char | gimli::DW_ATE_UTF => Some(Kind::Char),
        _ => None,
    }
}
