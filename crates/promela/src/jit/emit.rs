//! The making of one function: its parameters, its ways out, scalars in memory.

use super::layout::Layout;
use super::{ASK, OFFER};
use crate::ir::{Model, ProctypeId, Scalar};
use crate::run::code::{Answer, Status};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;

/// Memory that is there, at any alignment.
pub const MEMORY: MemFlagsData = MemFlagsData::new().with_notrap();

/// A place in memory: a register and a constant.
#[derive(Clone, Copy)]
pub struct Address {
    pub base: Value,
    pub offset: i32,
}

impl Address {
    pub fn plus(self, bytes: u32) -> Self {
        Self { offset: self.offset + bytes as i32, ..self }
    }
}

/// Emits the code of one statement. Methods return `None` for what only the interpreter does.
pub struct Emitter<'f, 'm> {
    pub builder: FunctionBuilder<'f>,
    pub model: &'m Model,
    pub layout: &'m Layout,
    /// Whose statement it is.
    pub proctype: ProctypeId,
    /// Start of the vector.
    pub vector: Value,
    /// Start of the process's frame.
    pub frame: Value,
    /// See [`crate::run::code::who`].
    pub who: Value,
    /// Where each frame starts.
    pub frames: Value,
    /// The message buffer.
    pub message: Value,
    /// Where the function of a control state is to resume.
    pub resume: Value,
    /// What a send on a rendezvous channel does.
    pub offers: Offers,
    /// Where to go after each of the three constant answers; blocks of a single statement are written at the end.
    exits: [Option<Block>; 3],
}

/// What a send on a rendezvous channel does.
#[derive(Clone, Copy)]
pub enum Offers {
    /// The function of a statement says so.
    Statement,
    /// The function of a control state says so, with the number of the edge.
    Edge(u32),
    /// The interpreter does it.
    Ask,
}

impl<'f, 'm> Emitter<'f, 'm> {
    /// Starts a function.
    pub fn new(mut builder: FunctionBuilder<'f>, model: &'m Model, layout: &'m Layout, proctype: ProctypeId) -> Self {
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let [vector, frame, who, frames, message, ref rest @ ..] = *builder.block_params(entry) else {
            unreachable!("the signatures have five parameters or more")
        };
        let resume = rest.first().copied().unwrap_or(who);
        let (offers, exits) = (Offers::Statement, [None; 3]);
        Self { builder, model, layout, proctype, vector, frame, who, frames, message, resume, offers, exits }
    }

    /// Ends the function of a statement.
    pub fn finish(mut self, config: cranelift_codegen::isa::TargetFrontendConfig) {
        for (status, exit) in (0..).zip(self.exits) {
            if let Some(exit) = exit {
                self.go(exit);
                let status = self.int(status);
                self.builder.ins().return_(&[status]);
            }
        }
        self.finish_blocks(config);
    }

    /// Ends a function all of whose blocks are written.
    pub fn finish_blocks(mut self, config: cranelift_codegen::isa::TargetFrontendConfig) {
        self.builder.seal_all_blocks();
        self.builder.finalize(config);
    }

    /// Goes on in another block.
    pub fn go(&mut self, block: Block) {
        self.builder.switch_to_block(block);
    }

    /// The way out to the interpreter; in a statement, nothing may have been written before it.
    pub fn ask(&mut self) -> Block {
        let ask = self.exit(ASK);
        self.builder.set_cold_block(ask);
        ask
    }

    /// Where to go after one of the three constant answers.
    pub fn exit(&mut self, status: i32) -> Block {
        let known = self.exits[status as usize];
        let exit = known.unwrap_or_else(|| self.builder.create_block());
        self.exits[status as usize] = Some(exit);
        exit
    }

    /// Says where the next statement goes on after each of the three constant answers.
    pub fn set_exits(&mut self, blocked: Block, done: Block, ask: Block) {
        self.exits = [Some(blocked), Some(done), Some(ask)];
        self.builder.set_cold_block(ask);
    }

    /// Ends the statement with a constant answer.
    pub fn answer(&mut self, status: i32) {
        let exit = self.exit(status);
        self.builder.ins().jump(exit, &[]);
    }

    /// Ends the statement with an offer on a rendezvous channel.
    pub fn answer_offer(&mut self, id: Value) {
        match self.offers {
            Offers::Statement => {
                let base = self.int(OFFER);
                let status = self.builder.ins().iadd(id, base);
                self.builder.ins().return_(&[status]);
            }
            Offers::Edge(edge) => {
                let wide = self.builder.ins().uextend(types::I64, id);
                let thirty_two = self.builder.ins().iconst(types::I64, 32);
                let high = self.builder.ins().ishl(wide, thirty_two);
                let low = self.builder.ins().iconst(types::I64, Answer::new(Status::Offer, edge, false).0 as i64);
                let answer = self.builder.ins().bor(high, low);
                self.builder.ins().return_(&[answer]);
            }
            Offers::Ask => self.answer(ASK),
        }
    }

    /// Goes on here if the flag is true, elsewhere if not.
    pub fn unless(&mut self, flag: Value, elsewhere: Block) {
        let here = self.builder.create_block();
        self.builder.ins().brif(flag, here, &[], elsewhere, &[]);
        self.go(here);
    }

    /// A constant.
    pub fn int(&mut self, value: i32) -> Value {
        self.builder.ins().iconst(types::I32, i64::from(value as u32))
    }

    /// A comparison with a constant.
    pub fn compare(&mut self, how: IntCC, value: Value, constant: i32) -> Value {
        let constant = self.int(constant);
        self.builder.ins().icmp(how, value, constant)
    }

    /// `base + index * stride`; the index is known not to be negative.
    pub fn element(&mut self, base: Value, index: Value, stride: u32) -> Value {
        let wide = self.builder.ins().uextend(types::I64, index);
        let stride = self.builder.ins().iconst(types::I64, i64::from(stride));
        let distance = self.builder.ins().imul(wide, stride);
        self.builder.ins().iadd(base, distance)
    }

    /// Reads a scalar.
    pub fn load(&mut self, at: Address, scalar: Scalar) -> Value {
        let ins = self.builder.ins();
        match (scalar.size(), scalar) {
            (1, _) => ins.uload8(types::I32, MEMORY, at.base, at.offset),
            (2, Scalar::Short) => ins.sload16(types::I32, MEMORY, at.base, at.offset),
            (2, _) => ins.uload16(types::I32, MEMORY, at.base, at.offset),
            _ => ins.load(types::I32, MEMORY, at.base, at.offset),
        }
    }

    /// Writes a scalar, cut to its type.
    pub fn store(&mut self, at: Address, scalar: Scalar, value: Value) {
        let value = match scalar {
            Scalar::Bit | Scalar::Unsigned(_) => self.cut(scalar, value),
            Scalar::Byte | Scalar::Short | Scalar::Int => value,
        };
        let ins = self.builder.ins();
        match scalar.size() {
            1 => ins.istore8(MEMORY, value, at.base, at.offset),
            2 => ins.istore16(MEMORY, value, at.base, at.offset),
            _ => ins.store(MEMORY, value, at.base, at.offset),
        };
    }

    /// What is left of a value when it is stored.
    pub fn cut(&mut self, scalar: Scalar, value: Value) -> Value {
        if scalar == Scalar::Short {
            let short = self.builder.ins().ireduce(types::I16, value);
            return self.builder.ins().sextend(types::I32, short);
        }
        if scalar == Scalar::Int {
            return value;
        }
        // Every other type keeps low bits only.
        let mask = self.int(scalar.cut(-1));
        self.builder.ins().band(value, mask)
    }

    /// `bits` bits of [`crate::run::code::who`].
    pub fn who_bits(&mut self, shift: i64, bits: u32) -> Value {
        let shift = self.builder.ins().iconst(types::I64, shift);
        let shifted = self.builder.ins().ushr(self.who, shift);
        let low = self.builder.ins().ireduce(types::I32, shifted);
        if bits == 32 {
            return low;
        }
        let mask = self.int((1 << bits) - 1);
        self.builder.ins().band(low, mask)
    }

    /// How many processes there are.
    pub fn processes(&mut self) -> Value {
        self.who_bits(16, 16)
    }
}
