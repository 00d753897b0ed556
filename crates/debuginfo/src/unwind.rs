//! Call stacks of threads, by the unwind tables that their binaries carry.

use super::lines::Frame;
use super::{DebugInfo, Loaded, Modules, Named};
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Unwinder};
use kernel::Tid;
use memory::{Memory, SpaceId};
use object::{Object, ObjectSection};
use std::sync::Arc;
use world::World;

/// Knows how to get from a function to its caller.
pub(super) type Tables = UnwinderX86_64<Arc<[u8]>>;

/// No report needs more.
const FRAMES_MAX: usize = 24;

/// One call on a stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The address: of the instruction, or of the one that a call returns to.
    pub address: u64,
    /// An address in the instruction itself: a return address lies behind its call, perhaps in the next function.
    pub within: u64,
    /// Stack pointer and frame pointer while it is at work.
    pub registers: (u64, u64),
    /// Where its frame ends: what the stack pointer is once it has returned. Nothing for the outermost.
    pub frame_end: Option<u64>,
    /// The function, by its symbol.
    pub symbol: Option<Named>,
    /// The file that is mapped there, and the place in it.
    pub place: Option<(String, u64)>,
    /// What the source calls it: functions that were inlined first, then the one that they were put into. Empty if nobody
    /// asked.
    pub source: Vec<Frame>,
}

/// A frame, before anybody has looked up what it is.
struct Bare {
    address: FrameAddress,
    registers: (u64, u64),
    frame_end: Option<u64>,
}

impl DebugInfo {
    /// The call stack of a thread with source lines, innermost function first.
    pub fn stack(&mut self, world: &World, tid: Tid) -> Vec<Call> {
        let mut calls = self.calls(world, tid);
        let Some(space) = space_of(world, tid) else { return calls };
        for call in &mut calls {
            call.source = self.location(&world.memory, space, call.within);
        }
        calls
    }

    /// The call stack of a thread without source lines, which take time to find.
    pub fn calls(&mut self, world: &World, tid: Tid) -> Vec<Call> {
        let Some(space) = space_of(world, tid) else { return Vec::new() };
        let Some(cpu) = world.cpus.get(&tid) else { return Vec::new() };
        let registers = UnwindRegsX86_64::new(cpu.rip, cpu.gpr[x86::cpu::RSP], cpu.gpr[x86::cpu::RBP]);
        let modules = self.modules(&world.memory, space);
        let bare = walk(&world.memory, space, &modules, cpu.rip, registers);
        bare.into_iter().map(|bare| self.describe(&world.memory, space, &modules, &bare)).collect()
    }

    fn describe(&mut self, memory: &Memory, space: SpaceId, modules: &Modules, bare: &Bare) -> Call {
        let (address, within) = (bare.address.address(), bare.address.address_for_lookup());
        let loaded = modules.at(within);
        let symbol = self.symbol(memory, space, within);
        Call {
            address,
            within,
            registers: bare.registers,
            frame_end: bare.frame_end,
            symbol: symbol.map(|named| Named { offset: named.offset.wrapping_add(address - within), ..named }),
            place: loaded.map(|loaded| (loaded.module.path.clone(), address.wrapping_sub(loaded.bias))),
            source: Vec::new(),
        }
    }
}

/// The address space of a thread.
pub(super) fn space_of(world: &World, tid: Tid) -> Option<SpaceId> {
    let pid = world.kernel.threads.get(&tid)?.pid;
    world.kernel.processes.get(&pid).map(|process| process.space)
}

fn walk(memory: &Memory, space: SpaceId, modules: &Modules, rip: u64, mut registers: UnwindRegsX86_64) -> Vec<Bare> {
    let tables = modules.tables();
    let mut cache = CacheX86_64::new();
    let mut read = |address: u64| {
        let mut word = [0; 8];
        memory.peek(space, address, &mut word).map(|()| u64::from_le_bytes(word)).map_err(|_| ())
    };
    let mut frames = Vec::new();
    let mut next = Some(FrameAddress::from_instruction_pointer(rip));
    while let (Some(address), true) = (next, frames.len() < FRAMES_MAX) {
        let before = (registers.sp(), registers.bp());
        let caller = tables.unwind_frame(address, &mut registers, &mut cache, &mut read).ok().flatten();
        // After a return, the stack pointer is where the frame of the function that returned ends.
        frames.push(Bare { address, registers: before, frame_end: caller.map(|_| registers.sp()) });
        next = caller.and_then(FrameAddress::from_return_address);
    }
    frames
}

/// The unwind tables of all binaries.
pub(super) fn tables(loaded: &[Loaded]) -> Tables {
    let mut tables = Tables::new();
    loaded.iter().filter_map(module).for_each(|module| tables.add_module(module));
    tables
}

fn module(loaded: &Loaded) -> Option<framehop::Module<Arc<[u8]>>> {
    let file = object::File::parse(&*loaded.module.bytes).ok()?;
    let data = |name: &str| file.section_by_name(name)?.data().ok().map(Arc::<[u8]>::from);
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
    Some(framehop::Module::new(loaded.module.path.clone(), loaded.range.clone(), loaded.bias, sections))
}
