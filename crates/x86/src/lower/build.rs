//! From the code at an address to a block of micro-operations.
//!
//! A block is a straight run of instructions with exits: it goes on behind a conditional jump that is not taken, and ends at
//! any other branch, at the end of the page, before a repeated string instruction, or when it is long.
//!
//! **Invariant:** a block depends on the bytes of one or two pages and on nothing else: its own
//! page, and the next one if its last instruction reaches into it (`last_page`). That is what makes
//! it valid for as long as the content of those pages is ([`super::code`]). Looking ahead for live
//! flags stops at the page's end for the same reason.
//!
//! An example, with the micro-operations on the right:
//!
//! ```text
//! mov eax, ebx ; add eax, 4     ->  one: eax = ebx + 4, flags not computed (dead: cmp sets them)
//! cmp eax, ecx ; jne 40         ->  one: compare and branch; the branch is an early exit
//! mov [rdi], eax                ->  one: store, value handed on in a host register
//! ret                           ->  one: pop the target, look it up among recent targets
//!                               ->  fall_through: not reached here; `jne` reads `left` of what follows it
//! ```

use iced_x86::{FlowControl, Instruction, Mnemonic};

use super::chain::{self, Leaves};
use super::map::Map;
use super::ops::fallback::{self, Decoded};
use super::ops::{host, string};
use super::stops::Stops;
use super::translate;
use super::uop::{Handler, Uop};
use super::{fuse, live};
use crate::flags::STATUS;
use crate::generic;
use crate::machine::{Machine, Trap};

/// Instructions of the longest block.
///
/// Also the most that a budget can be overdrawn by, if blocks were not copied (`run.rs`), and
/// the size of the copy.
pub(super) const LENGTH_MAX: usize = 32;

/// Micro-operations ready to be copied into a view.
///
/// Immutable once built. Views copy the micro-operations, because links between blocks are written
/// into them and hold for one address space only.
pub(super) struct Template {
    pub uops: Vec<Uop>,
    /// Instructions without a handler of their own, which `link` of their micro-operations points to: kept, not read.
    pub _decoded: Box<[Decoded]>,
    /// Page of the last byte: the first, or the one behind it.
    pub last_page: u64,
    /// Whether a run stops before it.
    pub stop: bool,
}

/// Page number of an address.
pub(super) fn page(addr: u64) -> u64 {
    addr / memory::PAGE_SIZE
}

/// A decoded block, before it is lowered.
struct Straight {
    instructions: Vec<Instruction>,
    /// Flags that may be read where the block ends.
    live_out: u64,
    /// Flags that may be read where each conditional jump goes.
    live_taken: Vec<u64>,
}

/// Reads code for one block. What was decoded before, for an overlapping block or when looking ahead, is not decoded again.
pub(super) struct Reader<'a, 'm> {
    pub machine: &'a mut Machine<'m>,
    /// Instructions by address; all of them lie in pages that are watched.
    pub known: &'a mut Map<u64, Instruction>,
    pub start: u64,
}

impl Reader<'_, '_> {
    fn decode(&mut self, ip: u64) -> Result<Instruction, Trap> {
        if let Some(i) = self.known.get(&ip) {
            return Ok(*i);
        }
        let before = std::mem::replace(&mut self.machine.cpu.rip, ip);
        let result = generic::decode(self.machine);
        self.machine.cpu.rip = before;
        if let Ok(i) = &result
            && self.has(i)
        {
            self.known.insert(ip, *i);
        }
        result
    }

    /// Whether an instruction lies in the page of the block altogether.
    fn has(&self, i: &Instruction) -> bool {
        page(i.ip()) == page(self.start) && page(i.next_ip().wrapping_sub(1)) == page(self.start)
    }
}

fn is_repeated(i: &Instruction) -> bool {
    i.is_string_instruction() && (i.has_rep_prefix() || i.has_repne_prefix())
}

/// Whether `i` may change how all later accesses are made.
///
/// It may set the alignment flag, which handlers ignore: the run has to decide again who executes
/// what follows.
fn is_popf(i: &Instruction) -> bool {
    matches!(i.mnemonic(), Mnemonic::Popf | Mnemonic::Popfq)
}

/// Whether a block ends behind `i`.
fn is_last(i: &Instruction) -> bool {
    i.flow_control() != FlowControl::Next && !translate::is_jcc(i) || is_repeated(i) || is_popf(i)
}

/// Decodes from `start`; an error only if not even one instruction can be executed.
fn decode(reader: &mut Reader<'_, '_>, stops: &Stops) -> Result<Vec<Instruction>, Trap> {
    let start = reader.start;
    let mut instructions: Vec<Instruction> = Vec::new();
    let mut ip = start;
    while instructions.len() < LENGTH_MAX && page(ip) == page(start) {
        let i = match reader.decode(ip) {
            Ok(i) if generic::lookup(i.code()).is_some() => i,
            Ok(_) if instructions.is_empty() => return Err(Trap::Unsupported),
            Err(trap) if instructions.is_empty() => return Err(trap),
            _ => break,
        };
        // Alone in its block, for it counts its own instructions.
        if (is_repeated(&i) || stops.contains(&i)) && !instructions.is_empty() {
            break;
        }
        instructions.push(i);
        ip = i.next_ip();
        if is_last(&i) {
            break;
        }
    }
    Ok(instructions)
}

/// Flags that are live at `target`. Only the page of the block is decoded: the block is valid as long as that is.
///
/// An error or a form that is not modelled ends the look ahead with everything live, which is
/// always right: it costs a flag computation, never a wrong flag.
fn live_at(reader: &mut Reader<'_, '_>, target: u64) -> u64 {
    let mut ip = target;
    live::ahead(|| {
        if page(ip) != page(reader.start) {
            return None;
        }
        let modelled = |i: &Instruction| generic::lookup(i.code()).is_some();
        let i = reader.decode(ip).ok().filter(modelled).filter(|i| reader.has(i))?;
        ip = i.next_ip();
        Some(i)
    })
}

/// Whether the program can write the page of `addr`.
pub(super) fn is_writable(m: &Machine<'_>, addr: u64) -> bool {
    let mapping = m.memory.current().and_then(|space| m.memory.mapping_at(space, addr));
    mapping.is_some_and(|mapping| mapping.protection.contains(memory::Protection::WRITE))
}

fn look_ahead(reader: &mut Reader<'_, '_>, instructions: Vec<Instruction>) -> Straight {
    let last = instructions[instructions.len() - 1];
    let live_out = match last.flow_control() {
        FlowControl::Next => live_at(reader, last.next_ip()),
        FlowControl::ConditionalBranch if !is_last(&last) => live_at(reader, last.next_ip()),
        FlowControl::UnconditionalBranch | FlowControl::Call => live_at(reader, last.near_branch_target()),
        _ => STATUS,
    };
    let mut taken = |i: &Instruction| match translate::is_jcc(i) {
        true => live_at(reader, i.near_branch_target()),
        false => 0,
    };
    let live_taken = instructions.iter().map(&mut taken).collect();
    Straight { instructions, live_out, live_taken }
}

/// Flags that may be read behind each instruction; the first entry is for before the first.
///
/// Backwards over the block, the textbook equation `live before = live after - set + read`. A
/// conditional jump adds what is live at its target. Whether a flag is dead must not depend on how
/// the block was entered, because a run that stops clears dead flags (see [`live`]).
fn liveness(straight: &Straight) -> Vec<u64> {
    let mut live = vec![straight.live_out; straight.instructions.len() + 1];
    for (n, i) in straight.instructions.iter().enumerate().rev() {
        live[n + 1] |= straight.live_taken[n];
        let effect = live::effect(i);
        live[n] = live[n + 1] & !effect.sets | effect.reads;
    }
    live
}

/// Collects the micro-operations of one block.
struct Builder {
    uops: Vec<Uop>,
    decoded: Vec<Decoded>,
    /// The register whose value is handed to the next micro-operation.
    last: Option<u8>,
}

impl Builder {
    /// The reference meaning of `i`; `link` is its place in `decoded` until all are there.
    ///
    /// The pointer is made only in [`build`], when all decoded instructions are in their final
    /// place; until then `link` holds an index, one-based so that null still means "none".
    fn generic(&mut self, i: &Instruction) {
        let run: Handler = match i {
            i if is_repeated(i) => string::pick(i).unwrap_or(fallback::repeated),
            i if is_popf(i) => fallback::leaving,
            i if is_last(i) => fallback::last,
            _ => fallback::plain,
        };
        // A jump too far for its handler is not last, but goes where it likes.
        let run = if translate::is_jcc(i) { fallback::last } else { run };
        let mut uop = translate::blank(run, i.ip());
        let generic = generic::lookup(i.code()).expect("only modelled instructions come here");
        uop.link = std::ptr::without_provenance(self.decoded.len() + 1);
        self.decoded.push(Decoded { instruction: *i, generic });
        self.uops.push(uop);
    }

    /// One instruction, or two; how many.
    ///
    /// Fusing is tried first: a pair counts as two instructions, so budgets and counters are those
    /// of the reference.
    fn lower(&mut self, straight: &Straight, live: &[u64], n: usize) -> usize {
        let i = &straight.instructions[n];
        if let Some(next) = straight.instructions.get(n + 1)
            && let Some(uop) = self.pair(i, next, live[n + 2])
        {
            self.uops.push(uop);
            return 2;
        }
        let effect = live::effect(i);
        let uop = match i {
            i if translate::is_jcc(i) => translate::jump_if(i),
            i if is_last(i) => translate::last(i, self.last),
            _ => translate::translate(i, live[n + 1] & modifies(i, effect.sets) != 0, self.last),
        };
        match uop {
            Some(uop) => self.push(uop, i),
            None => {
                self.last = None;
                self.generic(i);
                self.usual(i);
            }
        }
        1
    }

    /// Two instructions in one.
    fn pair(&mut self, i: &Instruction, next: &Instruction, live: u64) -> Option<Uop> {
        if translate::is_jcc(next) {
            let uop = fuse::with_jump(i, next, live & STATUS != 0)?;
            self.leave(&uop, i);
            return Some(uop);
        }
        let uop = fuse::after_copy(i, next, live & modifies(next, live::effect(next).sets) != 0, self.last)?;
        self.leave(&uop, next);
        Some(uop)
    }

    fn push(&mut self, uop: Uop, i: &Instruction) {
        self.leave(&uop, i);
        self.uops.push(uop);
    }

    /// Notes what the micro-operation of `i` leaves for the next.
    fn leave(&mut self, uop: &Uop, i: &Instruction) {
        self.last = match chain::leaves(i) {
            _ if translate::is_jcc(i) => self.last,
            Leaves::Same => self.last,
            Leaves::Result => Some(uop.d),
            Leaves::Nothing => None,
        };
    }

    /// A handler that knows the usual cases and leaves the rest to the reference.
    fn usual(&mut self, i: &Instruction) {
        let uop = self.uops.last_mut().expect("one was pushed");
        let mut filled = *uop;
        if let Some(run) = host::pick_floating(&mut filled, i) {
            *uop = Uop { run, ..filled };
        }
    }
}

/// Flags that `i` may change, which is more than those it surely sets.
///
/// A handler that skips the flags must skip all or none: an instruction that changes only some
/// (rotations: CF, OF) is treated as if it changed all, and keeps its flags as soon as any is live.
fn modifies(i: &Instruction, sets: u64) -> u64 {
    if i.rflags_modified() != 0 { STATUS } else { sets }
}

/// Lowers the code at `start`.
pub(super) fn build(mut reader: Reader<'_, '_>, stops: &Stops) -> Result<Template, Trap> {
    let instructions = decode(&mut reader, stops)?;
    let stop = stops.contains(&instructions[0]);
    let straight = look_ahead(&mut reader, instructions);
    // A block may overwrite its own instructions, and with them what made flags dead.
    let live = if is_writable(reader.machine, reader.start) {
        vec![STATUS; straight.instructions.len() + 1]
    } else {
        liveness(&straight)
    };
    let mut builder = Builder { uops: Vec::new(), decoded: Vec::new(), last: None };
    let total = straight.instructions.len();
    let mut n = 0;
    while n < total {
        let first = builder.uops.len();
        let count = builder.lower(&straight, &live, n);
        builder.uops[first].left = (total - n) as u16;
        n += count;
    }
    let last = straight.instructions[total - 1];
    // Also behind a branch, which reads its count.
    builder.uops.push(translate::fall_through(last.next_ip()));
    builder.uops[0].shift |= live::pack(STATUS & !live[0]) << 2;
    let decoded = builder.decoded.into_boxed_slice();
    for uop in &mut builder.uops {
        if !uop.link.is_null() {
            uop.link = std::ptr::from_ref(&decoded[uop.link.addr() - 1]).cast();
        }
    }
    Ok(Template { uops: builder.uops, _decoded: decoded, last_page: page(last.next_ip().wrapping_sub(1)), stop })
}
