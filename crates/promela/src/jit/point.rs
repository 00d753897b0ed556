//! Native code for a whole control state: finds the first edge that can be executed, executes it and moves the process.

use super::emit::{Address, Emitter, MEMORY, Offers};
use crate::ir::{Action, ControlState, Edge, FRAME_PC, Pc, Receive, Scalar, VECTOR_LAST};
use crate::run::Marks;
use crate::run::code::{Answer, Status};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_frontend::Variable;
use std::collections::BTreeMap;

/// States with more edges are left to the interpreter.
const EDGES_MAX: usize = 64;
/// Statements of a `d_step` after which the interpreter looks whether it ever ends.
const STATEMENTS_MAX: i32 = 2000;

/// Whether the edge with a number has native code.
pub type Compilable<'a> = &'a dyn Fn(usize) -> bool;

/// What the code of a control state needs to know beside its emitter.
pub struct Point<'p> {
    /// The control state.
    pub state: &'p ControlState,
    /// All control states of the proctype.
    pub states: &'p [ControlState],
    /// Number of the first edge of each of them.
    pub firsts: &'p [usize],
    /// Which edges of the model have native code.
    pub compilable: Compilable<'p>,
    /// Where executed edges are marked.
    pub marks: &'p Marks,
}

/// Whether a control state can have native code.
pub fn has_code(state: &ControlState) -> bool {
    state.edges.len() <= EDGES_MAX && state.edges.iter().all(|edge| edge.escape == 0)
}

/// How a control state takes messages that are offered to it.
pub enum Takes {
    /// It does not.
    Never,
    /// By edges that receive.
    ByEdge,
    /// A `d_step` that begins with a receive is among the edges.
    InDStep,
}

impl Point<'_> {
    /// How it takes messages.
    pub fn takes(&self) -> Takes {
        let receives = |edge: &Edge| matches!(edge.action, Action::Receive(_));
        let in_d_step = |edge: &Edge| match &edge.action {
            Action::DStep { entry, .. } => self.states[*entry].edges.first().is_some_and(receives),
            _ => false,
        };
        match &self.state.edges {
            edges if edges.iter().any(in_d_step) => Takes::InDStep,
            edges if edges.iter().any(receives) => Takes::ByEdge,
            _ => Takes::Never,
        }
    }

    /// The function that tries edges.
    pub fn emit(&self, emitter: &mut Emitter<'_, '_>, first: usize) {
        let blocks = self.begin(emitter);
        for (index, edge) in self.state.edges.iter().enumerate() {
            emitter.go(blocks[index]);
            self.edge(emitter, (index, first + index), edge, blocks[index + 1]);
        }
        self.end(emitter, &blocks);
    }

    /// The function that lets edges take a message.
    pub fn emit_taker(&self, emitter: &mut Emitter<'_, '_>, first: usize) -> Option<()> {
        let blocks = self.begin(emitter);
        for (index, edge) in self.state.edges.iter().enumerate() {
            emitter.go(blocks[index]);
            match &edge.action {
                Action::Receive(receive) => {
                    self.take(emitter, (index, first + index), (edge, receive), blocks[index + 1])?;
                }
                _ => {
                    emitter.builder.ins().jump(blocks[index + 1], &[]);
                }
            }
        }
        self.end(emitter, &blocks);
        Some(())
    }

    /// One block for each edge and one for the end, and the jump to the edge at which to resume.
    fn begin(&self, emitter: &mut Emitter<'_, '_>) -> Vec<Block> {
        let blocks: Vec<Block> = (0..=self.state.edges.len()).map(|_| emitter.builder.create_block()).collect();
        let resume = resume(emitter, 0, 0xffff);
        for (index, block) in blocks.iter().enumerate().skip(1) {
            let next = emitter.builder.create_block();
            let here = emitter.compare(IntCC::Equal, resume, index as i32);
            emitter.builder.ins().brif(here, *block, &[], next, &[]);
            emitter.go(next);
        }
        emitter.builder.ins().jump(blocks[0], &[]);
        blocks
    }

    fn end(&self, emitter: &mut Emitter<'_, '_>, blocks: &[Block]) {
        emitter.go(blocks[self.state.edges.len()]);
        give(emitter, Answer::NOTHING);
    }

    fn edge(&self, emitter: &mut Emitter<'_, '_>, (index, number): (usize, usize), edge: &Edge, blocked: Block) {
        let (done, ask) = (emitter.builder.create_block(), emitter.builder.create_block());
        emitter.set_exits(blocked, done, ask);
        emitter.offers = Offers::Edge(index as u32);
        let moves_itself = matches!(edge.action, Action::DStep { .. });
        let leave = Leave { index, number, last: self.is_last(index), atomic: edge.atomic };
        match &edge.action {
            Action::Else => {
                let executable = resume(emitter, 16, 1);
                emitter.builder.ins().brif(executable, blocked, &[], done, &[]);
            }
            Action::Die => {
                let (pid, processes, one) = (emitter.who_bits(0, 8), emitter.processes(), emitter.int(1));
                let after = emitter.builder.ins().iadd(pid, one);
                let youngest = emitter.builder.ins().icmp(IntCC::Equal, after, processes);
                emitter.builder.ins().brif(youngest, ask, &[], blocked, &[]);
            }
            Action::DStep { entry, inside } => {
                if edge.is_else(self.states) {
                    let (executable, first) = (resume(emitter, 16, 1), emitter.builder.create_block());
                    emitter.builder.ins().brif(executable, blocked, &[], first, &[]);
                    emitter.go(first);
                }
                DStep { point: self, inside, blocked, ask, leave, blocks: BTreeMap::new() }.emit(emitter, *entry);
            }
            action if (self.compilable)(number) => {
                emitter.statement(action).expect("a statement that was compiled on its own");
            }
            _ => {
                emitter.builder.ins().jump(ask, &[]);
            }
        }
        if !moves_itself {
            emitter.go(done);
            self.leave(emitter, leave, edge.target);
        }
        emitter.go(ask);
        give(emitter, Answer::new(Status::Ask, index as u32, false));
    }

    /// Whether no edge after this one can be executable once this one was.
    fn is_last(&self, index: usize) -> bool {
        self.state.edges[index + 1..].iter().all(|edge| edge.is_else(self.states))
    }

    /// Marks the edge, moves the process and gives the answer.
    fn leave(&self, emitter: &mut Emitter<'_, '_>, leave: Leave, target: Pc) {
        mark(emitter, self.marks, leave.number);
        let wide = emitter.model.proctypes[emitter.proctype].pc_size > 1;
        let pc = emitter.int(target as i32);
        let scalar = if wide { Scalar::Unsigned(16) } else { Scalar::Byte };
        emitter.store(Address { base: emitter.frame, offset: FRAME_PC as i32 }, scalar, pc);
        if emitter.model.features.last {
            let pid = emitter.who_bits(0, 8);
            emitter.store(Address { base: emitter.vector, offset: VECTOR_LAST as i32 }, Scalar::Byte, pid);
        }
        let answer = Answer::new(Status::Done, leave.index as u32, leave.last);
        give(emitter, if leave.atomic { answer.atomic() } else { answer });
    }

    fn take(
        &self,
        emitter: &mut Emitter<'_, '_>,
        (index, number): (usize, usize),
        (edge, receive): (&Edge, &Receive),
        blocked: Block,
    ) -> Option<()> {
        let (done, ask) = (emitter.builder.create_block(), emitter.builder.create_block());
        emitter.set_exits(blocked, done, ask);
        let (id, length) = (resume(emitter, 32, -1), resume(emitter, 16, 0xffff));
        emitter.take_offered(receive, id, length)?;
        emitter.go(done);
        let last = !self.state.edges[index + 1..].iter().any(|edge| matches!(edge.action, Action::Receive(_)));
        self.leave(emitter, Leave { index, number, last, atomic: edge.atomic }, edge.target);
        emitter.go(ask);
        give(emitter, Answer::new(Status::Ask, index as u32, false));
        Some(())
    }
}

/// An edge that was executed.
#[derive(Clone, Copy)]
struct Leave {
    index: usize,
    number: usize,
    last: bool,
    atomic: bool,
}

/// A `d_step` as part of the function: its control states become blocks.
struct DStep<'p, 'q> {
    point: &'p Point<'q>,
    inside: &'p [Pc],
    /// Where to go if the first statement cannot be executed.
    blocked: Block,
    ask: Block,
    leave: Leave,
    /// The control states that are reached, each with its block and whether that is written.
    blocks: BTreeMap<Pc, (Block, bool)>,
}

impl DStep<'_, '_> {
    fn emit(&mut self, emitter: &mut Emitter<'_, '_>, entry: Pc) {
        let statements = emitter.builder.declare_var(types::I32);
        let zero = emitter.int(0);
        emitter.builder.def_var(statements, zero);
        emitter.offers = Offers::Ask;
        self.state(emitter, entry, self.blocked);
        while let Some((pc, block)) =
            self.blocks.iter().find_map(|(pc, (block, written))| (!written).then_some((*pc, *block)))
        {
            self.blocks.insert(pc, (block, true));
            emitter.go(block);
            if self.inside.contains(&pc) {
                count(emitter, statements, self.ask);
                self.state(emitter, pc, self.ask);
            } else {
                self.point.leave(emitter, self.leave, pc);
            }
        }
    }

    /// The first executable edge of a control state; `otherwise` if there is none.
    fn state(&mut self, emitter: &mut Emitter<'_, '_>, pc: Pc, otherwise: Block) {
        let edges = &self.point.states[pc].edges;
        for (index, edge) in edges.iter().enumerate() {
            let number = self.point.firsts[pc] + index;
            let next = if index + 1 == edges.len() { otherwise } else { emitter.builder.create_block() };
            self.statement(emitter, edge, number, next);
            if next != otherwise {
                emitter.go(next);
            }
        }
        if edges.is_empty() {
            emitter.builder.ins().jump(otherwise, &[]);
        }
    }

    fn statement(&mut self, emitter: &mut Emitter<'_, '_>, edge: &Edge, number: usize, blocked: Block) {
        let done = emitter.builder.create_block();
        emitter.set_exits(blocked, done, self.ask);
        match &edge.action {
            Action::Else => emitter.builder.ins().jump(done, &[]),
            Action::DStep { .. } | Action::Die => emitter.builder.ins().jump(blocked, &[]),
            action if (self.point.compilable)(number) => {
                emitter.statement(action).expect("a statement that was compiled on its own");
                emitter.go(done);
                return self.arrive(emitter, edge, number);
            }
            _ => emitter.builder.ins().jump(self.ask, &[]),
        };
        emitter.go(done);
        self.arrive(emitter, edge, number);
    }

    fn arrive(&mut self, emitter: &mut Emitter<'_, '_>, edge: &Edge, number: usize) {
        mark(emitter, self.point.marks, number);
        let block = self.blocks.entry(edge.target).or_insert_with(|| (emitter.builder.create_block(), false)).0;
        emitter.builder.ins().jump(block, &[]);
    }
}

/// Counts a statement of a `d_step`; too many go to the interpreter.
fn count(emitter: &mut Emitter<'_, '_>, statements: Variable, ask: Block) {
    let (before, one) = (emitter.builder.use_var(statements), emitter.int(1));
    let after = emitter.builder.ins().iadd(before, one);
    emitter.builder.def_var(statements, after);
    let few = emitter.compare(IntCC::UnsignedLessThan, after, STATEMENTS_MAX);
    emitter.unless(few, ask);
}

/// Part of the last parameter, which says where to resume.
fn resume(emitter: &mut Emitter<'_, '_>, shift: i64, mask: i32) -> Value {
    let all = emitter.resume;
    let shift = emitter.builder.ins().iconst(types::I64, shift);
    let shifted = emitter.builder.ins().ushr(all, shift);
    let low = emitter.builder.ins().ireduce(types::I32, shifted);
    let mask = emitter.int(mask);
    emitter.builder.ins().band(low, mask)
}

fn give(emitter: &mut Emitter<'_, '_>, answer: Answer) {
    let answer = emitter.builder.ins().iconst(types::I64, answer.0 as i64);
    emitter.builder.ins().return_(&[answer]);
}

/// Marks an edge as executed. Reading first keeps the cache line shared between workers.
fn mark(emitter: &mut Emitter<'_, '_>, marks: &Marks, number: usize) {
    let [set, join] = [(); 2].map(|()| emitter.builder.create_block());
    emitter.builder.set_cold_block(set);
    let address = emitter.builder.ins().iconst(types::I64, marks.as_ptr() as i64);
    let is_set = emitter.builder.ins().uload8(types::I32, MEMORY, address, number as i32);
    emitter.builder.ins().brif(is_set, join, &[], set, &[]);
    emitter.go(set);
    let one = emitter.int(1);
    emitter.builder.ins().istore8(MEMORY, one, address, number as i32);
    emitter.builder.ins().jump(join, &[]);
    emitter.go(join);
}
