//! What an address means to a programmer: `slots[1].out`, of which type, and whether it is atomic.

use super::dwarf::{Dwarf, Place};
use super::globals::Spot;
use super::types::{Member, Shape};
use super::unwind::space_of;
use super::{DebugInfo, Loaded, errno, reached, symbols};
use kernel::Tid;
use memory::{Backing, Mapping, Name, Sharing, SpaceId};
use std::fmt;
use world::World;

/// What an address means to a programmer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Variable {
    /// Its name, and the way to the part of it that is meant: `slots[1].out`. For memory that nobody declared, the way from
    /// a variable that leads there: `head->next->count`.
    pub path: String,
    /// The type of that part; empty where nobody says.
    pub type_name: String,
    /// The binary that has it; empty for memory that no binary brought.
    pub module: String,
    /// Made for use by several threads at once: C's `_Atomic`, C++'s `std::atomic`, Rust's `AtomicU32`. Compilers tell of
    /// `_Atomic` since DWARF 5.
    pub is_atomic: bool,
    /// Where it lives.
    pub storage: Storage,
}

/// Where a variable lives.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Storage {
    /// It lives as long as its program.
    Global,
    /// Each thread has one; this thread's.
    ThreadLocal(Tid),
    /// A variable of a function at work.
    Local(Tid, String),
    /// On the stack of a thread, but no variable that we can tell.
    Stack(Tid),
    /// Memory from `malloc(3)` and its kin, in the heap that `brk(2)` grows.
    Heap,
    /// Memory that processes share.
    Shared,
    /// Other memory.
    Memory,
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if self.type_name.is_empty() { Ok(()) } else { write!(f, " ({})", self.type_name) }
    }
}

/// How deep structs in structs are followed; deeper is damage.
const DEPTH_MAX: usize = 64;

/// The part of a variable that holds an offset.
pub(super) struct Part {
    pub(super) path: String,
    pub(super) of: Place,
    pub(super) is_atomic: bool,
}

impl Part {
    pub(super) fn told(self, loaded: &Loaded, dwarf: &Dwarf, storage: Storage) -> Variable {
        Variable {
            path: self.path,
            type_name: dwarf.type_name(Some(self.of)),
            module: loaded.module.path.clone(),
            is_atomic: self.is_atomic,
            storage,
        }
    }
}

impl Dwarf {
    /// The smallest part of a variable that holds an offset.
    pub(super) fn part(&self, name: &str, of: Place, offset: u64) -> Part {
        let (mut part, mut offset) = (Part { path: name.to_owned(), of, is_atomic: false }, offset);
        for _ in 0..DEPTH_MAX {
            let Some(bare) = self.bare(part.of) else { break };
            part.is_atomic |= bare.is_atomic;
            if bare.is_atomic || bare.is_opaque {
                break;
            }
            let next = match self.shape_of_bare(bare.place) {
                Some(Shape::Record(members)) => self.member_at(&members, offset),
                Some(Shape::Array(of, counts)) => self.element_at(of, &counts, offset),
                _ => None,
            };
            let Some((step, of, inside)) = next else { break };
            part = Part { path: format!("{}{step}", part.path), of, ..part };
            offset = inside;
        }
        part
    }

    fn member_at(&self, members: &[Member], offset: u64) -> Option<(String, Place, u64)> {
        let holds = |member: &&Member| {
            let size = self.size(member.of).unwrap_or(0);
            offset.checked_sub(member.offset).is_some_and(|inside| inside < size && holds_byte(member, inside))
        };
        let member = members.iter().find(holds)?;
        let step = member.name.as_ref().map_or_else(String::new, |name| format!(".{name}"));
        Some((step, member.of, offset - member.offset))
    }

    fn element_at(&self, of: Place, counts: &[Option<u64>], offset: u64) -> Option<(String, Place, u64)> {
        let size = self.size(of).filter(|size| *size > 0)?;
        let mut number = offset / size;
        let mut indices = Vec::new();
        for count in counts.iter().skip(1).rev() {
            let count = count.filter(|count| *count > 0)?;
            indices.push(number % count);
            number /= count;
        }
        indices.push(number);
        let inside = counts.first()?.is_none_or(|count| number < count);
        let step: String = indices.iter().rev().map(|index| format!("[{index}]")).collect();
        inside.then_some((step, of, offset % size))
    }
}

/// Whether a byte of a member is its own: a bit-field has only some of the bytes that its type would take.
fn holds_byte(member: &Member, byte: u64) -> bool {
    let bits = byte.saturating_mul(8)..byte.saturating_mul(8).saturating_add(8);
    member.bits.is_none_or(|(first, count)| first < bits.end && bits.start < first.saturating_add(count))
}

impl DebugInfo {
    /// What an address means to a programmer; nothing if nothing is mapped there.
    pub fn variable_at(&mut self, world: &World, space: SpaceId, address: u64) -> Option<Variable> {
        let modules = self.modules(&world.memory, space);
        let known = modules.at(address).and_then(|loaded| global(loaded, address));
        let mapping = world.memory.space_exists(space).then(|| world.memory.mapping_at(space, address)).flatten()?;
        // Libraries have their blocks elsewhere, where only the dynamic linker knows.
        let known = known.or_else(|| per_thread(world, space, modules.program()?, address));
        let known = known.or_else(|| errno::errno(world, space, &modules.loaded, address));
        let known = known.or_else(|| self.on_stack(world, space, mapping, address));
        known.or_else(|| Some(self.reached(world, space, mapping, address)))
    }

    /// The global variable at an address. Unlike [`Self::variable_at`] it looks neither at stacks nor along pointers, so it
    /// can be asked at every write of a trace.
    pub fn global_at(&mut self, world: &World, space: SpaceId, address: u64) -> Option<Variable> {
        let modules = self.modules(&world.memory, space);
        world.memory.space_exists(space).then(|| world.memory.mapping_at(space, address)).flatten()?;
        global(modules.at(address)?, address)
    }

    /// Memory that nobody declared, by the pointers that lead there.
    fn reached(&mut self, world: &World, space: SpaceId, mapping: &Mapping, address: u64) -> Variable {
        let plain = plain(mapping);
        let modules = self.modules(&world.memory, space);
        let storage = &plain.storage;
        let found = reached::through_globals(&world.memory, space, &modules, address, storage);
        found.or_else(|| self.through_locals(world, space, address, storage)).unwrap_or(plain)
    }

    fn on_stack(&mut self, world: &World, space: SpaceId, mapping: &Mapping, address: u64) -> Option<Variable> {
        let inside = mapping.start..mapping.end();
        let has_stack_here = |tid: &&Tid| {
            let pointer = world.cpus.get(tid).map(|cpu| cpu.gpr[x86::cpu::RSP]);
            space_of(world, **tid) == Some(space) && pointer.is_some_and(|pointer| inside.contains(&pointer))
        };
        let tid = *world.kernel.threads.keys().find(has_stack_here)?;
        self.local_at(world, tid, address).or_else(|| Some(unnamed("stack", Storage::Stack(tid))))
    }
}

fn unnamed(path: &str, storage: Storage) -> Variable {
    let (type_name, module) = (String::new(), String::new());
    Variable { path: path.to_owned(), type_name, module, is_atomic: false, storage }
}

/// What there is to say of memory that no binary brought.
fn plain(mapping: &Mapping) -> Variable {
    let is_shared = mapping.sharing == Sharing::Shared;
    match (&mapping.name, &mapping.backing) {
        (Name::Heap, _) => unnamed("heap", Storage::Heap),
        (Name::Path(path), _) if is_shared => unnamed(path, Storage::Shared),
        (Name::Path(path), _) => unnamed(path, Storage::Memory),
        (_, Backing::Object { .. }) if is_shared => unnamed("shared memory", Storage::Shared),
        _ => unnamed("memory", Storage::Memory),
    }
}

fn global(loaded: &Loaded, address: u64) -> Option<Variable> {
    let place = address.wrapping_sub(loaded.bias);
    described(loaded, Spot::Fixed(place), Storage::Global).or_else(|| symbol_only(loaded, place))
}

fn described(loaded: &Loaded, spot: Spot, storage: Storage) -> Option<Variable> {
    let dwarf = loaded.module.dwarf()?;
    let (global, offset) = dwarf.global_at(spot)?;
    let part = dwarf.part(&global.name, global.of, offset);
    Some(part.told(loaded, dwarf, storage))
}

/// Where there is no debug information: `table+0x10`.
fn symbol_only(loaded: &Loaded, place: u64) -> Option<Variable> {
    let symbol = loaded.module.symbols().at(place, |kind| kind == symbols::Kind::Data)?;
    let name = super::readable(&symbol.name);
    let path = match place - symbol.address {
        0 => name,
        offset => format!("{name}+{offset:#x}"),
    };
    Some(Variable { module: loaded.module.path.clone(), ..unnamed(&path, Storage::Global) })
}

fn per_thread(world: &World, space: SpaceId, loaded: &Loaded, address: u64) -> Option<Variable> {
    let (size, alignment) = loaded.module.thread_block()?;
    let threads = world.cpus.iter().filter(|(tid, _)| space_of(world, **tid) == Some(space));
    threads.into_iter().find_map(|(tid, cpu)| {
        let start = cpu.fs_base.checked_sub(size.next_multiple_of(alignment))?;
        let offset = address.checked_sub(start).filter(|offset| *offset < size)?;
        described(loaded, Spot::PerThread(offset), Storage::ThreadLocal(*tid))
    })
}
