//! Variables of functions at work, where the compiler keeps them on the stack.
//!
//! Only simple descriptions are understood: so far from the frame, or from the stack or frame pointer. What lies in
//! registers, or moves about, has no address and is never what an address means.
//!
//! DWARF location lists say for each range of addresses where a variable is. At `-O0` it is an
//! offset from the frame base, at `-O2` mostly a register or nowhere. A variable without an address
//! cannot be what an *address* names, so nothing is lost for reports of accesses.

use super::dwarf::{Dwarf, Entry, Place, Reader, Unit, ranges_of};
use super::reached::{Search, Thing};
use super::unwind::Call;
use super::variable::{Storage, Variable};
use super::{DebugInfo, Loaded, Modules};
use gimli::Operation;
use kernel::Tid;
use memory::SpaceId;
use world::World;

/// DWARF's numbers of the frame and the stack pointer (System V ABI, figure 3.36).
const FRAME_POINTER: gimli::Register = gimli::Register(6);
const STACK_POINTER: gimli::Register = gimli::Register(7);

/// A variable of a function.
pub(super) struct Local {
    pub name: String,
    pub address: u64,
    pub of: Place,
}

impl DebugInfo {
    /// The variable of a function of a thread that an address of its stack belongs to.
    pub(super) fn local_at(&mut self, world: &World, tid: Tid, address: u64) -> Option<Variable> {
        let stack = self.calls(world, tid);
        let holds = |call: &&Call| call.frame_end.is_some_and(|end| (call.registers.0..end).contains(&address));
        let call = stack.iter().find(holds)?;
        let space = super::unwind::space_of(world, tid)?;
        let modules = self.modules(&world.memory, space);
        let (loaded, frame) = frame(&modules, call)?;
        let dwarf = frame.dwarf;
        let (local, offset) = frame.find(address)?;
        let outer = self.location(&world.memory, space, call.within).pop();
        let storage = Storage::Local(tid, outer.and_then(|frame| frame.function).unwrap_or_default());
        Some(dwarf.part(&local.name, local.of, offset).told(loaded, dwarf, storage))
    }
}

impl DebugInfo {
    /// The name of an address that some variable of a function at work leads to.
    pub(super) fn through_locals(
        &mut self,
        world: &World,
        space: SpaceId,
        address: u64,
        storage: &Storage,
    ) -> Option<Variable> {
        let modules = self.modules(&world.memory, space);
        let in_space = |tid: &Tid| super::unwind::space_of(world, *tid) == Some(space);
        let mut threads: Vec<Tid> = world.kernel.threads.keys().copied().filter(in_space).collect();
        // What threads share mostly has its name where they were started.
        threads.sort_by_key(|tid| world.kernel.threads.get(tid).is_none_or(|thread| thread.pid.0 != tid.0));
        let mut calls: Vec<Call> = threads.into_iter().flat_map(|tid| self.calls(world, tid)).collect();
        calls.sort_by_key(is_of_library);
        calls.iter().find_map(|call| {
            let (loaded, frame) = frame(&modules, call).filter(|(loaded, _)| modules.is_own(loaded))?;
            let mut search = Search::new(&world.memory, space, &modules, frame.dwarf);
            let dwarf = frame.dwarf;
            // A copy is declared behind what it was made of.
            for local in frame.all().into_iter().rev() {
                search.begin(&Thing { path: local.name, of: local.of, address: local.address });
            }
            Some(search.find(address)?.told(loaded, dwarf, storage.clone()))
        })
    }
}

/// Whether a function is a library's that was compiled into the program: what it calls a thing says little to the author.
fn is_of_library(call: &Call) -> bool {
    const LIBRARIES: [&str; 5] = ["std::", "core::", "alloc::", "parking_lot::", "lock_api::"];
    let name = call.symbol.as_ref().map_or("", |symbol| symbol.name.trim_start_matches('<'));
    LIBRARIES.iter().any(|library| name.starts_with(library))
}

/// The variables of a function at work that is the program's own.
pub(super) fn own_locals<'a>(modules: &'a Modules, call: &'a Call) -> Option<(&'a Dwarf, Vec<Local>)> {
    let (_, frame) = frame(modules, call).filter(|(loaded, _)| modules.is_own(loaded))?;
    let dwarf = frame.dwarf;
    Some((dwarf, frame.all()))
}

/// A call as a function at work, with the binary that has it.
fn frame<'a>(modules: &'a Modules, call: &'a Call) -> Option<(&'a Loaded, Frame<'a>)> {
    let loaded = modules.at(call.within)?;
    let (dwarf, place) = (loaded.module.dwarf()?, call.within.wrapping_sub(loaded.bias));
    Some((loaded, Frame { dwarf, call, place, unit: 0, base: None }))
}

/// A function at work.
struct Frame<'a> {
    dwarf: &'a Dwarf,
    call: &'a Call,
    /// Where it is, before the base is added.
    place: u64,
    unit: usize,
    /// What its variables are described relative to.
    base: Option<u64>,
}

impl Frame<'_> {
    /// All variables of the function.
    fn all(mut self) -> Vec<Local> {
        let Some(function) = self.dwarf.function_at(self.place) else { return Vec::new() };
        self.unit = function.unit;
        self.locals(function)
    }

    fn find(self, address: u64) -> Option<(Local, u64)> {
        let dwarf = self.dwarf;
        self.all().into_iter().find_map(|local| inside(dwarf, local, address))
    }

    fn is_within(&self, ranges: gimli::RangeIter<Reader>) -> bool {
        ranges_of(ranges).any(|range| range.contains(&self.place))
    }

    fn unit(&self) -> &Unit {
        &self.dwarf.units()[self.unit]
    }

    /// The variables of the function and of the blocks that we are in. Blocks that we are not in may use the same bytes.
    fn locals(&mut self, function: Place) -> Vec<Local> {
        let (mut locals, mut skipped) = (Vec::new(), None::<isize>);
        let dwarf = self.dwarf;
        let offset = gimli::UnitOffset(function.offset);
        let Ok(mut cursor) = dwarf.units()[function.unit].entries_at_offset(offset) else { return locals };
        while let Ok(Some(entry)) = cursor.next_dfs() {
            // Behind the last entry of the function.
            if entry.depth() <= 0 && entry.offset() != offset {
                break;
            }
            if skipped.is_some_and(|depth| entry.depth() > depth) {
                continue;
            }
            skipped = None;
            match entry.tag() {
                gimli::DW_TAG_subprogram | gimli::DW_TAG_lexical_block | gimli::DW_TAG_inlined_subroutine => {
                    let is_here =
                        dwarf.sections.die_ranges(self.unit(), entry).is_ok_and(|ranges| self.is_within(ranges));
                    skipped = (!is_here).then(|| entry.depth());
                    if is_here && entry.tag() == gimli::DW_TAG_subprogram {
                        self.base = self.frame_base(entry);
                    }
                }
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => locals.extend(self.local(entry)),
                _ => {}
            }
        }
        // What is declared innermost hides what is around it.
        locals.reverse();
        locals
    }

    /// GCC and clang write `DW_OP_call_frame_cfa`, and the frame's end comes from the unwinder.
    fn frame_base(&self, entry: &Entry) -> Option<u64> {
        let expression = self.expression(entry.attr_value(gimli::DW_AT_frame_base)?)?;
        let mut operations = expression.operations(self.unit().encoding());
        let base = match operations.next().ok()?? {
            Operation::CallFrameCFA => self.call.frame_end?,
            Operation::Register { register } => self.register(register)?,
            Operation::RegisterOffset { register, offset, .. } => self.register(register)?.wrapping_add_signed(offset),
            _ => return None,
        };
        operations.next().ok()?.is_none().then_some(base)
    }

    fn register(&self, register: gimli::Register) -> Option<u64> {
        match register {
            STACK_POINTER => Some(self.call.registers.0),
            FRAME_POINTER => Some(self.call.registers.1),
            _ => None,
        }
    }

    /// The description that holds where we are.
    fn expression(&self, value: super::dwarf::Value) -> Option<gimli::Expression<Reader>> {
        if let super::dwarf::Value::Exprloc(expression) = value {
            return Some(expression);
        }
        let mut locations = self.dwarf.sections.attr_locations(self.unit(), value).ok()??;
        while let Ok(Some(location)) = locations.next() {
            if (location.range.begin..location.range.end).contains(&self.place) {
                return Some(location.data);
            }
        }
        None
    }

    fn local(&self, entry: &Entry) -> Option<Local> {
        let expression = self.expression(entry.attr_value(gimli::DW_AT_location)?)?;
        let mut operations = expression.operations(self.unit().encoding());
        let address = match operations.next().ok()?? {
            Operation::FrameOffset { offset } => self.base?.wrapping_add_signed(offset),
            Operation::RegisterOffset { register, offset, .. } => self.register(register)?.wrapping_add_signed(offset),
            _ => return None,
        };
        operations.next().ok()?.is_none().then_some(())?;
        let name = self.dwarf.name(self.unit, entry)?;
        Some(Local { name, address, of: self.dwarf.type_of(self.unit, entry)? })
    }
}

fn inside(dwarf: &Dwarf, local: Local, address: u64) -> Option<(Local, u64)> {
    let size = dwarf.size(local.of)?;
    let offset = address.checked_sub(local.address).filter(|offset| *offset < size)?;
    Some((local, offset))
}
