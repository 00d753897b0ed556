//! The way from a variable's name to a value: `slots[1].id`, `head->next->count`.

use super::dwarf::{Dwarf, Place as Entry};
use super::globals::{Global, Spot};
use super::types::{Kind, Member, Shape};
use super::value::Place;
use super::{DebugInfo, Loaded, Modules};
use memory::{Memory, SpaceId};
use std::fmt;
use std::sync::{Arc, PoisonError};
use trace::similar;

/// Why a name leads to no value, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoPlace(pub String);

impl fmt::Display for NoPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoPlace {}

/// The way from an address to a value, through pointers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Way {
    start: u64,
    /// How far to go from where we are before each pointer is followed.
    jumps: Vec<u64>,
    /// The place of the value, if the last pointer were 0.
    end: Place,
}

/// One step of a path as it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Step<'a> {
    Member(&'a str),
    Index(u64),
}

impl DebugInfo {
    /// Where a global variable, or a part of one, is: `count`, `slots[1].id`, `server::state.role`, `head->next`.
    ///
    /// `Ok(None)` if a pointer on the way leads nowhere now.
    ///
    /// # Errors
    /// If there is no such variable or part, or it is not a single value.
    pub fn global(&mut self, memory: &Memory, space: SpaceId, path: &str) -> Result<Option<Place>, NoPlace> {
        let modules = self.modules(memory, space);
        let mut ways = modules.ways.lock().unwrap_or_else(PoisonError::into_inner);
        let known = ways.get(path).cloned();
        let way = known.unwrap_or_else(|| {
            let way = find(&modules, path).map(Arc::new);
            ways.insert(path.to_owned(), way.clone());
            way
        })?;
        Ok(way.follow(memory, space))
    }
}

impl Way {
    fn follow(&self, memory: &Memory, space: SpaceId) -> Option<Place> {
        let mut address = self.start;
        for jump in &self.jumps {
            let mut word = [0; 8];
            memory.peek(space, address.wrapping_add(*jump), &mut word).ok()?;
            address = u64::from_le_bytes(word);
        }
        let place = Place { address: address.wrapping_add(self.end.address), ..self.end.clone() };
        let mut byte = [0];
        memory.peek(space, place.address, &mut byte).ok().map(|()| place)
    }
}

fn find(modules: &Modules, path: &str) -> Result<Way, NoPlace> {
    let (name, steps) = split(path)?;
    let (loaded, dwarf, global) = variable(modules, name)?;
    let Spot::Fixed(start) = global.spot else {
        return Err(NoPlace(format!("`{name}` is another variable in every thread")));
    };
    let (jumps, left) = (Vec::new(), Vec::new());
    let walk = Walk { dwarf, told: name.to_owned(), of: global.of, offset: 0, jumps, bits: None, left };
    walk.all(&steps)?.arrive(loaded.bias.wrapping_add(start))
}

/// A name and the steps behind it.
fn split(path: &str) -> Result<(&str, Vec<Step<'_>>), NoPlace> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    let end = path.find(|letter| !is_word(letter) && letter != ':').unwrap_or(path.len());
    let (name, mut rest) = path.split_at(end);
    let wrong =
        || NoPlace(format!("`{path}` is not a variable: write `name`, `name.member`, `name[0]` or `name->member`"));
    if name.is_empty() {
        return Err(wrong());
    }
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (number, after) = inner.split_once(']').ok_or_else(wrong)?;
            steps.push(Step::Index(number.trim().parse().map_err(|_| wrong())?));
            rest = after;
        } else {
            let inner = rest.strip_prefix("->").or_else(|| rest.strip_prefix('.')).ok_or_else(wrong)?;
            let end = inner.find(|letter| !is_word(letter)).unwrap_or(inner.len());
            if end == 0 {
                return Err(wrong());
            }
            steps.push(Step::Member(&inner[..end]));
            rest = &inner[end..];
        }
    }
    Ok((name, steps))
}

/// The one variable of a name: the program's own before those of its libraries.
fn variable<'a>(modules: &'a Modules, name: &'a str) -> Result<(&'a Loaded, &'a Dwarf, &'a Global), NoPlace> {
    for loaded in &modules.loaded {
        let Some(dwarf) = loaded.module.dwarf() else { continue };
        let mut found: Vec<&Global> = dwarf.globals_named(name).collect();
        if found.len() > 1 && found.iter().any(|global| global.name == name) {
            found.retain(|global| global.name == name);
        }
        match found.as_slice() {
            [] => {}
            [one] => return Ok((loaded, dwarf, one)),
            many => return Err(ambiguous(name, many)),
        }
    }
    Err(unknown(modules, name))
}

fn ambiguous(name: &str, many: &[&Global]) -> NoPlace {
    let names: Vec<String> = many.iter().map(|global| format!("`{}`", global.name)).collect();
    NoPlace(format!("there are {} variables `{name}`: {}", many.len(), names.join(", ")))
}

fn unknown(modules: &Modules, name: &str) -> NoPlace {
    let Some(program) = modules.program() else { return NoPlace("no program is loaded".into()) };
    let file = program.module.name();
    let Some(dwarf) = program.module.dwarf() else {
        return NoPlace(format!("`{file}` has no debug information: compile it with -g to use variables by name"));
    };
    let names = dwarf.index().globals.iter().map(|global| global.name.as_str());
    let last = names.map(|name| name.rsplit("::").next().unwrap_or(name));
    NoPlace(format!("`{file}` has no global variable `{name}`{}", similar::hint(name, last)))
}

/// On the way: a type, and how far we are from where the last pointer led.
struct Walk<'a> {
    dwarf: &'a Dwarf,
    /// The path so far.
    told: String,
    of: Entry,
    offset: u64,
    jumps: Vec<u64>,
    bits: Option<(u64, u64)>,
    /// Dimensions of an array that are still to be indexed; `of` is what it has in the end.
    left: Vec<Option<u64>>,
}

impl Walk<'_> {
    fn all(mut self, steps: &[Step<'_>]) -> Result<Self, NoPlace> {
        for step in steps {
            match step {
                Step::Member(name) => self.member(name)?,
                Step::Index(index) => self.index(*index)?,
            }
        }
        Ok(self)
    }

    fn follow(&mut self, to: Option<Entry>) -> Result<(), NoPlace> {
        self.of = to.ok_or_else(|| NoPlace(format!("`{}` points to nothing that has a type", self.told)))?;
        self.jumps.push(std::mem::take(&mut self.offset));
        Ok(())
    }

    /// What is here: an array that is indexed in part is still an array.
    fn shape(&self) -> Shape {
        if self.left.is_empty() { self.dwarf.shape(self.of) } else { Shape::Array(self.of, self.left.clone()) }
    }

    fn member(&mut self, name: &str) -> Result<(), NoPlace> {
        if let Shape::Pointer(to) = self.shape() {
            self.follow(to)?;
        }
        let Shape::Record(members) = self.shape() else {
            return Err(NoPlace(format!("`{}` is `{}` and has no members", self.told, self.type_name())));
        };
        let Some((offset, member)) = self.find_member(&members, name, 0) else {
            let names = members.iter().filter_map(|member| member.name.as_deref());
            let hint = similar::hint(name, names);
            return Err(NoPlace(format!("`{}` has no member `{name}`{hint}", self.type_name())));
        };
        self.offset = self.offset.wrapping_add(offset);
        self.bits = member.bits;
        self.of = member.of;
        self.told = format!("{}.{name}", self.told);
        Ok(())
    }

    /// A member, perhaps of a base class or of a struct without a name, and how far in it is.
    fn find_member(&self, members: &[Member], name: &str, depth: usize) -> Option<(u64, Member)> {
        const DEPTH_MAX: usize = 16;
        let own = members.iter().find(|member| member.name.as_deref() == Some(name));
        if let Some(member) = own {
            return Some((member.offset, member.clone()));
        }
        let nameless = members.iter().filter(|member| member.name.is_none() && depth < DEPTH_MAX);
        nameless.into_iter().find_map(|outer| {
            let Shape::Record(inner) = self.dwarf.shape(outer.of) else { return None };
            let (offset, member) = self.find_member(&inner, name, depth + 1)?;
            Some((outer.offset.wrapping_add(offset), member))
        })
    }

    fn index(&mut self, index: u64) -> Result<(), NoPlace> {
        match self.shape() {
            Shape::Array(of, counts) => self.element(of, &counts, index)?,
            Shape::Pointer(to) => {
                self.follow(to)?;
                self.advance(index)?;
            }
            _ => return Err(NoPlace(format!("`{}` is `{}` and has no elements", self.told, self.type_name()))),
        }
        self.told = format!("{}[{index}]", self.told);
        Ok(())
    }

    fn element(&mut self, of: Entry, counts: &[Option<u64>], index: u64) -> Result<(), NoPlace> {
        let (first, rest) = counts.split_first().unwrap_or((&None, &[]));
        if let Some(count) = first.filter(|count| index >= *count) {
            return Err(NoPlace(format!("`{}` has {count} elements, counted from 0", self.told)));
        }
        (self.of, self.left) = (of, rest.to_vec());
        self.advance(index)
    }

    /// Goes so many elements on.
    fn advance(&mut self, index: u64) -> Result<(), NoPlace> {
        let one = self.dwarf.size(self.of);
        let size = one.and_then(|one| self.left.iter().try_fold(one, |size, count| size.checked_mul((*count)?)));
        let size = size.ok_or_else(|| NoPlace(format!("how long an element of `{}` is, is not known", self.told)))?;
        self.offset = self.offset.wrapping_add(size.wrapping_mul(index));
        Ok(())
    }

    fn type_name(&self) -> String {
        self.dwarf.type_name(Some(self.of))
    }

    fn arrive(self, start: u64) -> Result<Way, NoPlace> {
        let type_name = self.type_name();
        let single = if self.left.is_empty() { self.dwarf.single(self.of) } else { None };
        let Some(Single { kind, size, is_signed }) = single else {
            return Err(NoPlace(format!("`{}` is `{type_name}`, which is not one value", self.told)));
        };
        let end = Place { address: self.offset, size, kind, bits: self.bits, is_signed, type_name };
        Ok(Way { start, jumps: self.jumps, end })
    }
}

/// A type of one value.
pub(super) struct Single {
    pub kind: Kind,
    pub size: u64,
    pub is_signed: bool,
}

impl Dwarf {
    /// What kind of value a type is. Wrappers of libraries around one value are taken off.
    pub(super) fn single(&self, of: Entry) -> Option<Single> {
        const WRAPPERS_MAX: usize = 16;
        let mut place = self.bare(of)?.place;
        for _ in 0..WRAPPERS_MAX {
            match self.shape_of_bare(place)? {
                Shape::Scalar(kind, size) => {
                    let is_signed = self.is_signed(place, &kind);
                    return Some(Single { kind, size, is_signed });
                }
                Shape::Pointer(_) => return Some(Single { kind: Kind::Pointer, size: 8, is_signed: false }),
                Shape::Array(of, counts) => return text(self.shape(of), &counts),
                Shape::Record(members) if self.is_wrapper(place) => place = self.bare(self.wrapped(&members)?)?.place,
                Shape::Record(_) | Shape::Other => return None,
            }
        }
        None
    }

    /// Whether a record is a wrapper of a library: `std::atomic<int>`, `core::cell::UnsafeCell<u32>`.
    fn is_wrapper(&self, place: Entry) -> bool {
        let words = ["std", "core::cell", "core::sync", "std::sync", "core::num"];
        self.scope(place).is_some_and(|scope| words.iter().any(|word| scope.starts_with(word)))
    }

    /// The one part of a wrapper that takes room.
    fn wrapped(&self, members: &[Member]) -> Option<Entry> {
        let mut solid = members.iter().filter(|member| self.size(member.of).is_some_and(|size| size > 0));
        let one = solid.next()?;
        solid.next().is_none().then_some(one.of)
    }

    fn is_signed(&self, place: Entry, kind: &Kind) -> bool {
        match kind {
            Kind::Signed => true,
            Kind::Enum(names) => names.iter().any(|(_, number)| *number < 0),
            Kind::Char => self.entry(place).is_some_and(|entry| {
                let encoding = entry.attr_value(gimli::DW_AT_encoding);
                encoding == Some(gimli::AttributeValue::Encoding(gimli::DW_ATE_signed_char))
            }),
            _ => false,
        }
    }
}

/// An array of characters is one text.
fn text(element: Shape, counts: &[Option<u64>]) -> Option<Single> {
    match (element, counts) {
        (Shape::Scalar(Kind::Char, 1), [Some(size)]) => {
            Some(Single { kind: Kind::Text, size: *size, is_signed: false })
        }
        _ => None,
    }
}
