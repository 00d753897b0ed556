//! All variables of a state with their values: globals of a program, and what lies on the stack of a thread.
//!
//! Records and arrays are listed by their parts. Variables that a compiler keeps in registers are not.
//!
//! For snapshots of a state in a report, so bounded: sixteen parts, four levels. The C library's
//! own types are opaque, except whether a mutex is locked.

use super::dwarf::{Dwarf, Place as Entry};
use super::globals::Spot;
use super::types::Shape;
use super::value::{Place, Value};
use super::way::Single;
use super::{DebugInfo, unwind};
use kernel::Tid;
use memory::{Memory, SpaceId};
use world::World;

/// Parts of one variable that are listed at most.
const PARTS_MAX: usize = 16;
/// How deep records in records are followed.
const DEPTH_MAX: usize = 4;

/// The type of mutexes, whose first word says whether they are locked.
const MUTEX: &str = "pthread_mutex_t";
/// Whether the parts of a type are nobody's business but the C library's.
fn is_of_library(type_name: &str) -> bool {
    type_name.starts_with("pthread_") && type_name != "pthread_t" || type_name == "sem_t"
}

/// A variable, or a part of one, with its value.
#[derive(Clone, PartialEq, Debug)]
pub struct Listed {
    /// Its name, and the way to the part: `slots[1].out`.
    pub path: String,
    /// Its value.
    pub value: Value,
}

impl DebugInfo {
    /// The global variables of the program of a space, by address.
    pub fn globals(&mut self, memory: &Memory, space: SpaceId) -> Vec<Listed> {
        let modules = self.modules(memory, space);
        let Some((loaded, dwarf)) = modules.program().and_then(|loaded| Some((loaded, loaded.module.dwarf()?))) else {
            return Vec::new();
        };
        let own = dwarf.index().globals.iter().filter(|global| !global.name.ends_with("__PRETTY_FUNCTION__"));
        let fixed = own.filter_map(|global| match global.spot {
            Spot::Fixed(start) => Some((global, loaded.bias.wrapping_add(start))),
            Spot::PerThread(_) => None,
        });
        let parts = fixed.flat_map(|(global, address)| {
            Lister { dwarf, memory, space, found: Vec::new() }.list(&global.name, global.of, address)
        });
        parts.collect()
    }

    /// The variables of the functions at work in a thread, innermost first, each with the name of its function; functions of
    /// libraries are left out.
    pub fn locals(&mut self, world: &World, tid: Tid) -> Vec<(String, Listed)> {
        let Some(space) = unwind::space_of(world, tid) else { return Vec::new() };
        let modules = self.modules(&world.memory, space);
        let mut all = Vec::new();
        for call in self.calls(world, tid) {
            let Some((dwarf, locals)) = super::locals::own_locals(&modules, &call) else { continue };
            let outer = self.location(&world.memory, space, call.within).pop();
            let function = outer.and_then(|frame| frame.function).unwrap_or_default();
            for local in locals {
                let lister = Lister { dwarf, memory: &world.memory, space, found: Vec::new() };
                all.extend(
                    lister
                        .list(&local.name, local.of, local.address)
                        .into_iter()
                        .map(|listed| (function.clone(), listed)),
                );
            }
        }
        all
    }
}

/// Lists the parts of one variable.
struct Lister<'a> {
    dwarf: &'a Dwarf,
    memory: &'a Memory,
    space: SpaceId,
    found: Vec<Listed>,
}

impl Lister<'_> {
    fn list(mut self, name: &str, of: Entry, address: u64) -> Vec<Listed> {
        self.add(name, of, address, 0);
        self.found
    }

    fn add(&mut self, path: &str, of: Entry, address: u64, depth: usize) {
        if self.found.len() >= PARTS_MAX || depth > DEPTH_MAX {
            return;
        }
        let type_name = self.dwarf.type_name(Some(of));
        if is_of_library(&type_name) {
            let mut word = [0; 4];
            let is_read = type_name == MUTEX && self.memory.peek(self.space, address, &mut word).is_ok();
            let number = u32::from_le_bytes(word);
            let text = if number == 0 { "free" } else { "locked" };
            let value = is_read.then(|| Value::Number(number.into(), text.to_owned()));
            self.found.extend(value.map(|value| Listed { path: path.to_owned(), value }));
            return;
        }
        if let Some(Single { kind, size, is_signed }) = self.dwarf.single(of) {
            let place = Place { address, size, kind, bits: None, is_signed, type_name };
            let value = place.read(self.memory, self.space);
            self.found.extend(value.map(|value| Listed { path: path.to_owned(), value }));
            return;
        }
        match self.dwarf.shape(of) {
            Shape::Record(members) => {
                for member in members.iter().filter(|member| member.bits.is_none()) {
                    let step = member.name.as_ref().map_or_else(String::new, |name| format!(".{name}"));
                    self.add(&format!("{path}{step}"), member.of, address.wrapping_add(member.offset), depth + 1);
                }
            }
            Shape::Array(of, counts) if counts.len() == 1 => self.elements(path, of, counts[0], address, depth),
            _ => {}
        }
    }

    fn elements(&mut self, path: &str, of: Entry, count: Option<u64>, address: u64, depth: usize) {
        let Some((count, size)) = count.zip(self.dwarf.size(of)) else { return };
        for index in 0..count.min(PARTS_MAX as u64) {
            self.add(&format!("{path}[{index}]"), of, address.wrapping_add(size.wrapping_mul(index)), depth + 1);
        }
    }
}
