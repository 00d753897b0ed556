//! Expressions: the reference meaning that native code is compared with.

use super::fail;
use super::vector::{Work, load};
use crate::ir::{Binary, ChannelQuery, Expr, Field, Model, Place, ProctypeId, Receive, Space, Unary};
use explore::Failure;

/// Where an expression is evaluated.
///
/// What goes wrong is put into `failures` and evaluation goes on with zero, so that every caller sees a value; a step
/// with a failure that is fatal leads nowhere.
///
/// Evaluation never stops half way: a failed index or division gives zero and is noted, so that the
/// order of evaluation cannot decide which failure is reported first in two implementations.
pub struct Env<'a> {
    /// The model.
    pub model: &'a Model,
    /// The state.
    pub work: &'a Work,
    /// The process that evaluates; meaningless (0) for claims.
    pub pid: u32,
    /// Whether nothing else can move.
    pub timeout: bool,
    /// The pid that `run` returned in this statement.
    pub ran: i32,
    /// How many `enabled()` this evaluation is inside of.
    pub depth: u32,
    /// What went wrong.
    pub failures: &'a mut Vec<Failure>,
}

impl Env<'_> {
    /// The value of an expression.
    pub fn eval(&mut self, expr: &Expr) -> i32 {
        match expr {
            Expr::Constant(value) => *value,
            Expr::Load(place) => self.load(place),
            Expr::ChannelOf { first, count, index } => *first + self.index(index, *count) as i32,
            Expr::Unary(operator, operand) => unary(*operator, self.eval(operand)),
            Expr::Binary(operator, a, b) => {
                let (a, b) = (self.eval(a), self.eval(b));
                self.binary(*operator, a, b)
            }
            Expr::And(a, b) => i32::from(self.truth(a) && self.truth(b)),
            Expr::Or(a, b) => i32::from(self.truth(a) || self.truth(b)),
            Expr::If(condition, yes, no) => {
                if self.truth(condition) {
                    self.eval(yes)
                } else {
                    self.eval(no)
                }
            }
            Expr::Channel(query, channel) => self.query(*query, channel),
            Expr::Poll(receive) => i32::from(self.poll(receive)),
            Expr::Pid => self.pid as i32,
            Expr::Processes => self.work.processes() as i32,
            Expr::Last => i32::from(self.work.bytes[crate::ir::VECTOR_LAST as usize]),
            Expr::Timeout => i32::from(self.timeout),
            Expr::Accepting => i32::from(self.somewhere(|state| state.accept)),
            Expr::NonProgress => i32::from(!self.somewhere(|state| state.progress)),
            Expr::Enabled(pid) => {
                let pid = self.eval(pid);
                i32::from(self.enabled(pid))
            }
            Expr::PcValue(pid) => self.process(pid).map_or(0, |pid| self.spin_state(pid)),
            Expr::Priority(pid) => self.process(pid).map_or(0, |pid| super::priority(self.model, self.work, pid)),
            Expr::At { proctype, pid, states } => i32::from(
                self.remote(*proctype, pid.as_deref())
                    .is_some_and(|pid| states.contains(&self.work.pc(self.model, pid))),
            ),
            Expr::Run(_) => self.ran,
        }
    }

    /// Whether an expression is not zero.
    #[inline]
    pub fn truth(&mut self, expr: &Expr) -> bool {
        self.eval(expr) != 0
    }

    /// Where a place is, if the process that it speaks of exists.
    ///
    /// `P[pid]:x` of a process that does not exist has no place and reads as zero, as in SPIN.
    pub fn locate(&mut self, place: &Place) -> Option<usize> {
        let base = match &place.space {
            Space::Global => 0,
            Space::Local => self.work.frame(self.pid),
            Space::Remote(proctype, pid) => {
                let pid = self.remote(*proctype, pid.as_deref())?;
                self.work.frame(pid)
            }
        };
        let mut at = base + place.offset as usize;
        for index in &place.indices {
            at += self.index(&index.value, index.bound) * index.stride as usize;
        }
        Some(at)
    }

    fn load(&mut self, place: &Place) -> i32 {
        self.locate(place).map_or(0, |at| load(&self.work.bytes, at, place.scalar))
    }

    fn index(&mut self, value: &Expr, bound: u32) -> usize {
        let value = self.eval(value);
        if value < 0 || value as u32 >= bound {
            self.failures.push(fail::index(value, bound));
            return 0;
        }
        value as usize
    }

    fn binary(&mut self, operator: Binary, a: i32, b: i32) -> i32 {
        match operator {
            Binary::Divide | Binary::Remainder if b == 0 => {
                self.failures.push(fail::division());
                0
            }
            _ => binary(operator, a, b),
        }
    }

    /// `len` of a rendezvous channel is always 0, since a message is never in it.
    fn query(&mut self, query: ChannelQuery, channel: &Expr) -> i32 {
        let id = self.eval(channel);
        let Some((channel, at)) = self.work.channel(self.model, id) else {
            self.failures.push(fail::channel(id));
            return 0;
        };
        self.check_query(id, query);
        let length = if channel.capacity == 0 { 0 } else { u32::from(self.work.bytes[at]) };
        // A rendezvous channel is empty and never full, as in SPIN's verifier.
        let full = channel.capacity > 0 && length == channel.capacity;
        match query {
            ChannelQuery::Length => length as i32,
            ChannelQuery::Full => i32::from(full),
            ChannelQuery::Empty => i32::from(length == 0),
            ChannelQuery::NotFull => i32::from(!full),
            ChannelQuery::NotEmpty => i32::from(length > 0),
        }
    }

    fn poll(&mut self, receive: &Receive) -> bool {
        let id = self.eval(&receive.channel);
        match self.work.channel(self.model, id) {
            None => self.failures.push(fail::channel(id)),
            Some((channel, _)) if channel.capacity == 0 => self.failures.push(fail::poll_rendezvous(&channel.name)),
            Some(_) => {
                self.check_look(id);
                return self.find_message(receive, id).is_some();
            }
        }
        false
    }

    /// The slot of the message that a receive would take from a buffered channel.
    ///
    /// `??` takes the *oldest* that fits, not any: random receive is named after where the message
    /// may be, not after chance.
    pub fn find_message(&mut self, receive: &Receive, id: i32) -> Option<usize> {
        let (channel, at) = self.work.channel(self.model, id)?;
        let length = usize::from(self.work.bytes[at]);
        let candidates = if receive.anywhere { length } else { length.min(1) };
        (0..candidates).find(|slot| {
            let mut field_at = at + 1 + slot * channel.message_size() as usize;
            channel.fields.iter().zip(&receive.fields).all(|((scalar, _), field)| {
                let value = load(&self.work.bytes, field_at, *scalar);
                field_at += scalar.size() as usize;
                self.matches(field, value)
            })
        })
    }

    /// Whether one field of a message is what the receive asks for.
    pub fn matches(&mut self, field: &Field, value: i32) -> bool {
        match field {
            Field::Match(expected) => self.eval(expected) == value,
            Field::Store(_) | Field::Ignore => true,
        }
    }

    fn process(&mut self, pid: &Expr) -> Option<u32> {
        let pid = u32::try_from(self.eval(pid)).ok()?;
        (pid < self.work.processes()).then_some(pid)
    }

    fn remote(&mut self, proctype: ProctypeId, pid: Option<&Expr>) -> Option<u32> {
        match pid {
            Some(pid) => self.process(pid).filter(|pid| self.work.proctype(*pid) == proctype),
            None => (0..self.work.processes()).find(|pid| self.work.proctype(*pid) == proctype),
        }
    }

    fn spin_state(&self, pid: u32) -> i32 {
        let proctype = &self.model.proctypes[self.work.proctype(pid)];
        proctype.states[self.work.pc(self.model, pid)].spin_state as i32
    }

    /// Whether some process stands in a control state with a property.
    pub fn somewhere(&self, property: impl Fn(&crate::ir::ControlState) -> bool) -> bool {
        (0..self.work.processes())
            .any(|pid| property(&self.model.proctypes[self.work.proctype(pid)].states[self.work.pc(self.model, pid)]))
    }
}

/// Operators with one operand.
#[must_use]
pub fn unary(operator: Unary, a: i32) -> i32 {
    match operator {
        Unary::Negate => a.wrapping_neg(),
        Unary::Not => i32::from(a == 0),
        Unary::Complement => !a,
    }
}

/// Operators with two operands; division by zero gives zero here and is reported by the caller.
#[must_use]
pub fn binary(operator: Binary, a: i32, b: i32) -> i32 {
    match operator {
        Binary::Add => a.wrapping_add(b),
        Binary::Subtract => a.wrapping_sub(b),
        Binary::Multiply => a.wrapping_mul(b),
        Binary::Divide => a.checked_div(b).unwrap_or(if b == 0 { 0 } else { a }),
        Binary::Remainder => a.checked_rem(b).unwrap_or(0),
        Binary::BitAnd => a & b,
        Binary::BitOr => a | b,
        Binary::BitXor => a ^ b,
        // As the processor does it: only the low five bits of the distance count.
        Binary::ShiftLeft => a.wrapping_shl(b as u32),
        Binary::ShiftRight => a.wrapping_shr(b as u32),
        Binary::Equal => i32::from(a == b),
        Binary::NotEqual => i32::from(a != b),
        Binary::Less => i32::from(a < b),
        Binary::LessEqual => i32::from(a <= b),
        Binary::Greater => i32::from(a > b),
        Binary::GreaterEqual => i32::from(a >= b),
    }
}
