//! Receives and polls.

use super::emit::{Address, Emitter, MEMORY};
use super::place::last_byte;
use super::{BLOCKED, DONE, channel::Target};
use crate::ir::{Binary, Channel, Expr, Field, Place, Receive, Scalar, Space};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Type, Value, types};

/// Bytes of messages up to which moving them is spelt out.
const MOVE_MAX: u32 = 256;

impl<'m> Emitter<'_, 'm> {
    /// `q?a,b`.
    pub fn receive(&mut self, receive: &Receive) -> Option<()> {
        if receive.anywhere || self.model.event_trace.is_some() || self.promises() || !independent(receive) {
            return None;
        }
        // The receiving half of a rendezvous is never executable on its own, whatever its fields.
        let fits = |channel: &Channel| channel.capacity == 0 || channel.fields.len() == receive.fields.len();
        for target in self.resolve(&receive.channel, fits)? {
            self.go(target.block);
            match target.channel.capacity {
                0 => self.answer(BLOCKED),
                _ => self.take(receive, &target)?,
            }
        }
        Some(())
    }

    fn take(&mut self, receive: &Receive, target: &Target<'_>) -> Option<()> {
        if target.channel.body_size() > MOVE_MAX {
            return None;
        }
        let blocked = self.exit(BLOCKED);
        let length = self.load(target.body, Scalar::Byte);
        let some = self.compare(IntCC::NotEqual, length, 0);
        self.unless(some, blocked);
        let values = self.match_head(receive, target, blocked)?;
        let stores = self.places(receive, &values)?;
        // From here on the statement is done: nothing may ask the interpreter any more.
        if !receive.keep {
            self.remove_head(target, length);
        }
        for (at, scalar, value) in stores {
            self.store(at, scalar, value);
        }
        self.answer(DONE);
        Some(())
    }

    /// Takes the message of `length` fields that is offered on channel `id`, if the receive accepts it.
    pub fn take_offered(&mut self, receive: &Receive, id: Value, length: Value) -> Option<()> {
        if self.model.event_trace.is_some() || self.promises() || !independent(receive) {
            return None;
        }
        let blocked = self.exit(BLOCKED);
        let channel = self.value(&receive.channel)?;
        let same_channel = self.builder.ins().icmp(IntCC::Equal, channel, id);
        self.unless(same_channel, blocked);
        let same_length = self.compare(IntCC::Equal, length, receive.fields.len() as i32);
        self.unless(same_length, blocked);
        let mut values = Vec::new();
        for (index, field) in receive.fields.iter().enumerate() {
            let value = self.builder.ins().load(types::I32, MEMORY, self.message, index as i32 * 4);
            if let Field::Match(expected) = field {
                let expected = self.value(expected)?;
                let same = self.builder.ins().icmp(IntCC::Equal, value, expected);
                self.unless(same, blocked);
            }
            values.push(value);
        }
        for (at, scalar, value) in self.places(receive, &values)? {
            self.store(at, scalar, value);
        }
        self.answer(DONE);
        Some(())
    }

    /// The fields of the oldest message; leaves for `otherwise` if they are not what the receive asks for.
    fn match_head(&mut self, receive: &Receive, target: &Target<'_>, otherwise: Block) -> Option<Vec<Value>> {
        let mut at = target.body.plus(1);
        let mut values = Vec::new();
        for ((scalar, _), field) in target.channel.fields.iter().zip(&receive.fields) {
            let value = self.load(at, *scalar);
            if let Field::Match(expected) = field {
                let expected = self.value(expected)?;
                let same = self.builder.ins().icmp(IntCC::Equal, value, expected);
                self.unless(same, otherwise);
            }
            values.push(value);
            at = at.plus(scalar.size());
        }
        Some(values)
    }

    /// Where each stored field goes.
    fn places(&mut self, receive: &Receive, values: &[Value]) -> Option<Vec<(Address, Scalar, Value)>> {
        let mut stores = Vec::new();
        for (field, value) in receive.fields.iter().zip(values) {
            if let Field::Store(place) = field {
                stores.push((self.address(place)?, place.scalar, *value));
            }
        }
        Some(stores)
    }

    /// Moves all messages up by one. Slots that are not in use are zero, so moving them too does no harm.
    fn remove_head(&mut self, target: &Target<'_>, length: Value) {
        let size = target.channel.message_size();
        let first = target.body.plus(1);
        let moved = (target.channel.capacity - 1) * size;
        for (at, unit) in pieces(moved) {
            let from = first.plus(at + size);
            let piece = self.builder.ins().load(unit, MEMORY, from.base, from.offset);
            self.builder.ins().store(MEMORY, piece, first.base, first.plus(at).offset);
        }
        for (at, unit) in pieces(size) {
            let zero = self.builder.ins().iconst(unit, 0);
            self.builder.ins().store(MEMORY, zero, first.base, first.plus(moved + at).offset);
        }
        let minus_one = self.int(-1);
        let shorter = self.builder.ins().iadd(length, minus_one);
        self.store(target.body, Scalar::Byte, shorter);
    }

    /// `q?[a,b]`.
    pub fn poll(&mut self, receive: &Receive) -> Option<Value> {
        if receive.anywhere || self.promises() {
            return None;
        }
        let fits = |channel: &Channel| channel.capacity > 0 && channel.fields.len() == receive.fields.len();
        let targets = self.resolve(&receive.channel, fits)?;
        self.for_each(targets, |emitter, target| emitter.poll_head(receive, target))
    }

    fn poll_head(&mut self, receive: &Receive, target: &Target<'_>) -> Option<Value> {
        let (no, join) = (self.builder.create_block(), self.builder.create_block());
        let result = self.builder.append_block_param(join, types::I32);
        let length = self.load(target.body, Scalar::Byte);
        let some = self.compare(IntCC::NotEqual, length, 0);
        self.unless(some, no);
        self.match_head(receive, target, no)?;
        let yes = self.int(1);
        self.builder.ins().jump(join, &[BlockArg::Value(yes)]);
        self.go(no);
        let zero = self.int(0);
        self.builder.ins().jump(join, &[BlockArg::Value(zero)]);
        self.go(join);
        Some(result)
    }
}

/// Bytes cut into pieces that fit a register: offset and type of each.
fn pieces(bytes: u32) -> Vec<(u32, Type)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for (size, unit) in [(8, types::I64), (4, types::I32), (2, types::I16), (1, types::I8)] {
        while at + size <= bytes {
            pieces.push((at, unit));
            at += size;
        }
    }
    pieces
}

/// Whether it makes no difference that all places of a receive are found before anything is stored.
fn independent(receive: &Receive) -> bool {
    let stored: Vec<&Place> = receive
        .fields
        .iter()
        .filter_map(|field| if let Field::Store(place) = field { Some(place) } else { None })
        .collect();
    let untouched = |expr: &Expr, before: &[&Place]| reads_none_of(expr, before);
    (0..stored.len()).all(|at| stored[at].indices.iter().all(|index| untouched(&index.value, &stored[..at])))
}

/// Whether an expression is plain and reads none of these places.
fn reads_none_of(expr: &Expr, places: &[&Place]) -> bool {
    match expr {
        Expr::Constant(_) | Expr::Pid | Expr::Processes => true,
        Expr::Load(place) => {
            place.indices.iter().all(|index| reads_none_of(&index.value, places))
                && places.iter().all(|other| apart(place, other))
        }
        Expr::Unary(_, a) => reads_none_of(a, places),
        Expr::Binary(Binary::Divide | Binary::Remainder, ..) => false,
        Expr::Binary(_, a, b) => reads_none_of(a, places) && reads_none_of(b, places),
        _ => false,
    }
}

/// Whether two places can never be the same bytes.
fn apart(a: &Place, b: &Place) -> bool {
    match (&a.space, &b.space) {
        (Space::Global, Space::Local) | (Space::Local, Space::Global) => true,
        (Space::Global, Space::Global) | (Space::Local, Space::Local) => {
            last_byte(a) <= u64::from(b.offset) || last_byte(b) <= u64::from(a.offset)
        }
        _ => false,
    }
}
