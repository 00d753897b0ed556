//! Where scalars are.
//!
//! The index check is an unsigned comparison with the bound, which covers negative indices as well.

use super::emit::{Address, Emitter, MEMORY};
use crate::ir::{Expr, Index, Place, ProctypeId, Space};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};

impl Emitter<'_, '_> {
    /// The address of a global or of the process's own variable.
    pub fn address(&mut self, place: &Place) -> Option<Address> {
        let (base, limit) = match place.space {
            Space::Global => (self.vector, self.layout.globals_size),
            Space::Local => (self.frame, self.layout.frame_sizes[self.proctype]),
            Space::Remote(..) => return None,
        };
        self.address_from(base, limit, place)
    }

    fn address_from(&mut self, base: Value, limit: u32, place: &Place) -> Option<Address> {
        if last_byte(place) > u64::from(limit) {
            return None;
        }
        let mut at = Address { base, offset: i32::try_from(place.offset).ok()? };
        for index in &place.indices {
            at = self.indexed(at, index)?;
        }
        Some(at)
    }

    fn indexed(&mut self, at: Address, index: &Index) -> Option<Address> {
        if let Expr::Constant(value) = index.value {
            let inside = u32::try_from(value).ok().filter(|value| *value < index.bound)?;
            return Some(at.plus(inside * index.stride));
        }
        let value = self.bounded(&index.value, index.bound)?;
        Some(Address { base: self.element(at.base, value, index.stride), ..at })
    }

    /// An index, checked.
    pub fn bounded(&mut self, index: &Expr, bound: u32) -> Option<Value> {
        let value = self.value(index)?;
        // A negative index is a large one here.
        let inside = self.compare(IntCC::UnsignedLessThan, value, i32::try_from(bound).ok()?);
        let ask = self.ask();
        self.unless(inside, ask);
        Some(value)
    }

    /// The value of a variable.
    pub fn load_place(&mut self, place: &Place) -> Option<Value> {
        let Space::Remote(proctype, pid) = &place.space else {
            let at = self.address(place)?;
            return Some(self.load(at, place.scalar));
        };
        self.of_process(*proctype, pid.as_deref(), |emitter, frame| {
            let limit = emitter.layout.frame_sizes[*proctype];
            let at = emitter.address_from(frame, limit, place)?;
            Some(emitter.load(at, place.scalar))
        })
    }

    /// `P[pid]@label`.
    pub fn at_label(&mut self, proctype: ProctypeId, pid: Option<&Expr>, states: &[usize]) -> Option<Value> {
        let scalar = match self.model.proctypes[proctype].pc_size {
            1 => crate::ir::Scalar::Byte,
            _ => crate::ir::Scalar::Unsigned(16),
        };
        self.of_process(proctype, pid, |emitter, frame| {
            let pc = emitter.load(Address { base: frame, offset: crate::ir::FRAME_PC as i32 }, scalar);
            let mut any = emitter.builder.ins().iconst(types::I8, 0);
            for state in states {
                let here = emitter.compare(IntCC::Equal, pc, i32::try_from(*state).ok()?);
                any = emitter.builder.ins().bor(any, here);
            }
            Some(emitter.builder.ins().uextend(types::I32, any))
        })
    }

    /// Something about a process of a proctype: `about` gets its frame; 0 if there is no such process.
    fn of_process(
        &mut self,
        proctype: ProctypeId,
        pid: Option<&Expr>,
        about: impl FnOnce(&mut Self, Value) -> Option<Value>,
    ) -> Option<Value> {
        let (found, join) = (self.builder.create_block(), self.builder.create_block());
        let frame = self.builder.append_block_param(found, types::I64);
        let result = self.builder.append_block_param(join, types::I32);
        match pid {
            Some(pid) => self.named_process(proctype, pid, found, join)?,
            None => self.lowest_process(proctype, found, join),
        }
        self.go(found);
        let value = about(self, frame)?;
        self.builder.ins().jump(join, &[BlockArg::Value(value)]);
        self.go(join);
        Some(result)
    }

    fn named_process(&mut self, proctype: ProctypeId, pid: &Expr, found: Block, join: Block) -> Option<()> {
        let pid = self.value(pid)?;
        let none = self.int(0);
        let (exists, processes) = (self.builder.create_block(), self.processes());
        let below = self.builder.ins().icmp(IntCC::UnsignedLessThan, pid, processes);
        self.builder.ins().brif(below, exists, &[], join, &[BlockArg::Value(none)]);
        self.go(exists);
        let (frame, is) = self.frame_of(proctype, pid);
        self.builder.ins().brif(is, found, &[BlockArg::Value(frame)], join, &[BlockArg::Value(none)]);
        Some(())
    }

    fn lowest_process(&mut self, proctype: ProctypeId, found: Block, join: Block) {
        let (head, body) = (self.builder.create_block(), self.builder.create_block());
        let pid = self.builder.append_block_param(head, types::I32);
        let (none, processes) = (self.int(0), self.processes());
        self.builder.ins().jump(head, &[BlockArg::Value(none)]);
        self.go(head);
        let below = self.builder.ins().icmp(IntCC::UnsignedLessThan, pid, processes);
        self.builder.ins().brif(below, body, &[], join, &[BlockArg::Value(none)]);
        self.go(body);
        let (frame, is) = self.frame_of(proctype, pid);
        let one = self.int(1);
        let next = self.builder.ins().iadd(pid, one);
        self.builder.ins().brif(is, found, &[BlockArg::Value(frame)], head, &[BlockArg::Value(next)]);
    }

    /// The frame of a process that exists, and whether it is of this proctype. Frames of this proctype are checked to be
    /// inside the vector: the caller of the code has only vouched for the process's own.
    fn frame_of(&mut self, proctype: ProctypeId, pid: Value) -> (Value, Value) {
        let ask = self.ask();
        let entry = self.element(self.frames, pid, 4);
        let offset = self.builder.ins().uload32(MEMORY, entry, 0);
        let size = self.builder.ins().iconst(types::I64, i64::from(self.layout.frame_sizes[proctype]));
        let end = self.builder.ins().iadd(offset, size);
        let length = self.who_bits(32, 32);
        let length = self.builder.ins().uextend(types::I64, length);
        let inside = self.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, length);
        // A smaller frame of another proctype at the very end must not be taken for one that is cut off.
        let first = self.builder.ins().icmp(IntCC::UnsignedLessThan, offset, length);
        self.unless(first, ask);
        let frame = self.builder.ins().iadd(self.vector, offset);
        let number = self.builder.ins().uload8(types::I32, MEMORY, frame, 0);
        let same = self.compare(IntCC::Equal, number, proctype as i32);
        (frame, self.builder.ins().band(same, inside))
    }
}

/// One past the last byte that a place can reach.
pub fn last_byte(place: &Place) -> u64 {
    let reach = |index: &Index| u64::from(index.bound.saturating_sub(1)) * u64::from(index.stride);
    u64::from(place.offset) + place.indices.iter().map(reach).sum::<u64>() + u64::from(place.scalar.size())
}
