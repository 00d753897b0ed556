//! Call stacks of guests, by the unwind tables that their binaries carry, with function names where symbols are found.

use crate::world::World;
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Module, Unwinder};
use kernel::{Pid, Tid, files};
use memory::{Memory, Name, SpaceId};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol};
use std::fmt;
use std::ops::Range;

/// No report needs more.
const FRAMES_MAX: usize = 24;

/// One call on a stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The address: of the instruction, or of the one that a call returns to.
    pub address: u64,
    /// The file that is mapped there, and the place in it.
    pub place: Option<(String, u64)>,
    /// The function and how far into it.
    pub function: Option<(String, u64)>,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.address)?;
        if let Some((name, offset)) = &self.function {
            write!(f, "  {name}+{offset:#x}")?;
        }
        match &self.place {
            Some((file, _)) if self.function.is_some() => write!(f, "  ({file})"),
            Some((file, offset)) => write!(f, "  {file}+{offset:#x}"),
            None => Ok(()),
        }
    }
}

/// A binary in an address space.
struct Binary {
    path: String,
    bytes: Vec<u8>,
    /// Addresses that are mapped from it.
    mapped: Range<u64>,
    /// What is added to the addresses in the file.
    base: u64,
}

/// The call stack of a thread, innermost function first.
pub fn frames(world: &mut World, tid: Tid) -> Vec<Frame> {
    let Some(thread) = world.kernel.threads.get(&tid) else { return Vec::new() };
    let (pid, Some(cpu)) = (thread.pid, world.cpus.get(&tid)) else { return Vec::new() };
    let Some(space) = world.kernel.processes.get(&pid).map(|process| process.space) else { return Vec::new() };
    let registers = UnwindRegsX86_64::new(cpu.rip, cpu.gpr[x86::cpu::RSP], cpu.gpr[x86::cpu::RBP]);
    let rip = cpu.rip;
    let binaries = binaries(world, pid, space);
    let addresses = unwind(&mut world.memory, space, &binaries, rip, registers);
    addresses.into_iter().map(|address| describe(&binaries, address)).collect()
}

fn unwind(
    memory: &mut Memory,
    space: SpaceId,
    binaries: &[Binary],
    rip: u64,
    registers: UnwindRegsX86_64,
) -> Vec<FrameAddress> {
    let mut unwinder = UnwinderX86_64::<Vec<u8>>::new();
    binaries.iter().filter_map(module).for_each(|module| unwinder.add_module(module));
    let mut cache = CacheX86_64::new();
    let mut read = |address: u64| {
        let mut word = [0; 8];
        memory.read(space, address, &mut word).map(|()| u64::from_le_bytes(word)).map_err(|_| ())
    };
    let mut frames = unwinder.iter_frames(rip, registers, &mut cache, &mut read);
    let mut addresses = Vec::new();
    while let (Ok(Some(address)), true) = (frames.next(), addresses.len() < FRAMES_MAX) {
        addresses.push(address);
    }
    addresses
}

/// The files that are mapped for execution.
fn binaries(world: &mut World, pid: Pid, space: SpaceId) -> Vec<Binary> {
    let mut mapped: Vec<(String, Range<u64>)> = Vec::new();
    for mapping in world.memory.mappings(space) {
        let Name::Path(name) = &mapping.name else { continue };
        let name = name.to_string();
        let end = mapping.start + mapping.len;
        match mapped.iter_mut().find(|(path, _)| *path == name) {
            Some((_, range)) => range.end = end,
            None if name.starts_with('/') => mapped.push((name, mapping.start..end)),
            None => {}
        }
    }
    mapped.into_iter().filter_map(|(path, range)| binary(world, pid, path, range)).collect()
}

fn binary(world: &mut World, pid: Pid, path: String, mapped: Range<u64>) -> Option<Binary> {
    let inode = files::resolve(&world.kernel, pid, path.as_bytes(), true).ok()?;
    let (object, length) = files::content(&world.kernel, &mut world.memory, inode).ok()?;
    let mut bytes = vec![0; length as usize];
    world.memory.read_object(object, 0, &mut bytes);
    let file = object::File::parse(&*bytes).ok()?;
    let first = file.segments().map(|segment| segment.address()).min()? & !0xfff;
    let base = mapped.start.wrapping_sub(first);
    Some(Binary { path, bytes, mapped, base })
}

fn module(binary: &Binary) -> Option<Module<Vec<u8>>> {
    let file = object::File::parse(&*binary.bytes).ok()?;
    let data = |name: &str| file.section_by_name(name)?.data().ok().map(<[u8]>::to_vec);
    let range = |name: &str| {
        let section = file.section_by_name(name)?;
        Some(section.address()..section.address().saturating_add(section.size()))
    };
    let sections = ExplicitModuleSectionInfo {
        base_svma: 0,
        text_svma: range(".text"),
        text: data(".text"),
        got_svma: range(".got"),
        eh_frame_svma: range(".eh_frame"),
        eh_frame: data(".eh_frame"),
        eh_frame_hdr_svma: range(".eh_frame_hdr"),
        eh_frame_hdr: data(".eh_frame_hdr"),
        debug_frame: data(".debug_frame"),
        ..ExplicitModuleSectionInfo::default()
    };
    Some(Module::new(binary.path.clone(), binary.mapped.clone(), binary.base, sections))
}

fn describe(binaries: &[Binary], frame: FrameAddress) -> Frame {
    let address = frame.address();
    let Some(binary) = binaries.iter().find(|binary| binary.mapped.contains(&address)) else {
        return Frame { address, place: None, function: None };
    };
    // A return address lies behind its call, perhaps already in the next function.
    let place = frame.address_for_lookup().wrapping_sub(binary.base);
    let function =
        function(binary, place).map(|(name, start)| (name, address.wrapping_sub(binary.base).wrapping_sub(start)));
    Frame { address, place: Some((binary.path.clone(), address.wrapping_sub(binary.base))), function }
}

/// The function that covers a place, and where it starts.
fn function(binary: &Binary, place: u64) -> Option<(String, u64)> {
    let file = object::File::parse(&*binary.bytes).ok()?;
    let symbols = file.symbols().chain(file.dynamic_symbols());
    let covers = |symbol: &object::Symbol<'_, '_>| {
        symbol.kind() == object::SymbolKind::Text
            && (symbol.address()..symbol.address().saturating_add(symbol.size().max(1))).contains(&place)
    };
    let symbol = symbols.into_iter().find(covers)?;
    let name = symbol.name().ok()?;
    Some((format!("{:#}", rustc_demangle::demangle(name)), symbol.address()))
}
