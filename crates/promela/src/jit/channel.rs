//! Channels: finding the body, questions, sends.
//!
//! A channel that is named by a constant is at a constant offset. For any other, the code looks its
//! shape up in a table and branches to code for that shape; an id without a channel goes to the
//! interpreter, which knows the message.

use super::emit::{Address, Emitter, MEMORY, Offers};
use super::layout::{ChannelEntry, Layout, find_channel};
use super::{ASK, BLOCKED, DONE};
use crate::ir::{Channel, ChannelQuery, Expr, Scalar, Send};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, Block, BlockArg, InstBuilder, Signature, Value, types};
use cranelift_codegen::isa::CallConv;

/// A channel as a statement sees it: code that begins at `block` knows its shape.
pub struct Target<'m> {
    pub block: Block,
    pub channel: &'m Channel,
    pub body: Address,
    pub id: Value,
}

impl<'m> Emitter<'_, 'm> {
    /// Ends the current block with a jump to the code for the channel's shape; channels that the statement does not
    /// `accept`, and ids without a channel, go to the interpreter.
    pub fn resolve(&mut self, channel: &Expr, accept: impl Fn(&Channel) -> bool) -> Option<Vec<Target<'m>>> {
        match channel {
            Expr::Constant(id) => self.known_channel(*id, accept),
            Expr::ChannelOf { first, count, index } if let Expr::Constant(index) = **index => {
                let inside = (0..i64::from(*count)).contains(&i64::from(index));
                if inside { self.known_channel(first.checked_add(index)?, accept) } else { None }
            }
            _ => self.any_channel(channel, accept),
        }
    }

    fn known_channel(&mut self, id: i32, accept: impl Fn(&Channel) -> bool) -> Option<Vec<Target<'m>>> {
        let channel = self.model.channels.get(usize::try_from(id).ok()?.checked_sub(1)?)?;
        if !accept(channel) {
            return None;
        }
        let block = self.builder.create_block();
        let id = self.int(id);
        self.builder.ins().jump(block, &[]);
        Some(vec![Target { block, channel, body: Address { base: self.vector, offset: channel.offset as i32 }, id }])
    }

    fn any_channel(&mut self, channel: &Expr, accept: impl Fn(&Channel) -> bool) -> Option<Vec<Target<'m>>> {
        let id = self.value(channel)?;
        let (offset, shape) = self.look_up(id);
        let base = self.builder.ins().iadd(self.vector, offset);
        let mut targets = Vec::new();
        for (number, channel) in self.layout.shapes.iter().enumerate().filter(|(_, channel)| accept(channel)) {
            let (block, next) = (self.builder.create_block(), self.builder.create_block());
            let same = self.compare(IntCC::Equal, shape, number as i32);
            self.builder.ins().brif(same, block, &[], next, &[]);
            targets.push(Target { block, channel, body: Address { base, offset: 0 }, id });
            self.go(next);
        }
        let ask = self.ask();
        self.builder.ins().jump(ask, &[]);
        (!targets.is_empty()).then_some(targets)
    }

    /// Offset and shape of a channel that is known at run time only.
    fn look_up(&mut self, id: Value) -> (Value, Value) {
        let [global, own, join] = [(); 3].map(|()| self.builder.create_block());
        let offset = self.builder.append_block_param(join, types::I64);
        let shape = self.builder.append_block_param(join, types::I32);
        let minus_one = self.int(-1);
        let index = self.builder.ins().iadd(id, minus_one);
        let is_global = self.compare(IntCC::UnsignedLessThan, index, self.layout.channels.len() as i32);
        self.builder.ins().brif(is_global, global, &[], own, &[]);
        self.go(global);
        let table = self.builder.ins().iconst(types::I64, self.layout.channels.as_ptr() as i64);
        let entry = self.element(table, index, size_of::<ChannelEntry>() as u32);
        let at = self.builder.ins().uload32(MEMORY, entry, 0);
        let its_shape = self.builder.ins().load(types::I32, MEMORY, entry, 4);
        self.builder.ins().jump(join, &[BlockArg::Value(at), BlockArg::Value(its_shape)]);
        self.go(own);
        let (at, its_shape) = self.look_up_own(index);
        self.builder.ins().jump(join, &[BlockArg::Value(at), BlockArg::Value(its_shape)]);
        self.go(join);
        (offset, shape)
    }

    /// A channel of some process. If there is none, the shape is one that no channel has.
    ///
    /// Where the frame of a process begins depends on those before it, so its channels are found at
    /// run time by walking the frames.
    fn look_up_own(&mut self, index: Value) -> (Value, Value) {
        // Ids from 0 downwards are no channels.
        let positive = self.compare(IntCC::SignedGreaterThanOrEqual, index, 0);
        let ask = self.ask();
        self.unless(positive, ask);
        let globals = self.int(self.layout.channels.len() as i32);
        let index = self.builder.ins().isub(index, globals);
        let found = self.call_find(index);
        let thirty_two = self.builder.ins().iconst(types::I64, 32);
        let high = self.builder.ins().ushr(found, thirty_two);
        let shape = self.builder.ins().ireduce(types::I32, high);
        let low = self.builder.ins().ireduce(types::I32, found);
        let offset = self.builder.ins().uextend(types::I64, low);
        (offset, shape)
    }

    fn call_find(&mut self, index: Value) -> Value {
        let mut signature = Signature::new(CallConv::SystemV);
        let parameters = [types::I64, types::I64, types::I64, types::I64, types::I32];
        signature.params.extend(parameters.map(AbiParam::new));
        signature.returns.push(AbiParam::new(types::I64));
        let signature = self.builder.import_signature(signature);
        let layout: *const Layout = self.layout;
        let layout = self.builder.ins().iconst(types::I64, layout as i64);
        let callee = self.builder.ins().iconst(types::I64, find_channel as *const () as i64);
        let arguments = [layout, self.vector, self.who, self.frames, index];
        let call = self.builder.ins().call_indirect(signature, callee, &arguments);
        self.builder.inst_results(call)[0]
    }

    /// `len(q)` and its kin.
    pub fn query(&mut self, query: ChannelQuery, channel: &Expr) -> Option<Value> {
        if self.promises() {
            return None;
        }
        let targets = self.resolve(channel, |_| true)?;
        self.for_each(targets, |emitter, target| Some(emitter.answer_query(query, target)))
    }

    fn answer_query(&mut self, query: ChannelQuery, target: &Target<'_>) -> Value {
        let capacity = target.channel.capacity as i32;
        let length = if capacity == 0 { self.int(0) } else { self.load(target.body, Scalar::Byte) };
        let flag = match query {
            ChannelQuery::Length => return length,
            // A rendezvous channel is never full.
            ChannelQuery::Full if capacity == 0 => return length,
            ChannelQuery::NotFull if capacity == 0 => return self.int(1),
            ChannelQuery::Full => self.compare(IntCC::Equal, length, capacity),
            ChannelQuery::NotFull => self.compare(IntCC::NotEqual, length, capacity),
            ChannelQuery::Empty => self.compare(IntCC::Equal, length, 0),
            ChannelQuery::NotEmpty => self.compare(IntCC::NotEqual, length, 0),
        };
        self.builder.ins().uextend(types::I32, flag)
    }

    /// One value from the code for each shape.
    pub fn for_each(
        &mut self,
        targets: Vec<Target<'m>>,
        mut value: impl FnMut(&mut Self, &Target<'m>) -> Option<Value>,
    ) -> Option<Value> {
        let join = self.builder.create_block();
        let result = self.builder.append_block_param(join, types::I32);
        for target in targets {
            self.go(target.block);
            let value = value(self, &target)?;
            self.builder.ins().jump(join, &[BlockArg::Value(value)]);
        }
        self.go(join);
        Some(result)
    }

    /// Whether somebody promised a channel to himself: the interpreter checks that.
    pub fn promises(&self) -> bool {
        let promises = |proctype: &crate::ir::Proctype| {
            !proctype.exclusive_receive.is_empty() || !proctype.exclusive_send.is_empty()
        };
        self.model.proctypes.iter().any(promises)
    }

    /// `q!a,b`.
    pub fn send(&mut self, send: &Send) -> Option<()> {
        if send.sorted || self.model.event_trace.is_some() || self.promises() {
            return None;
        }
        for target in self.resolve(&send.channel, |channel| channel.fields.len() == send.values.len())? {
            self.go(target.block);
            match target.channel.capacity {
                0 => self.offer(send, &target)?,
                _ => self.append(send, &target)?,
            }
        }
        Some(())
    }

    fn offer(&mut self, send: &Send, target: &Target<'_>) -> Option<()> {
        if let Offers::Ask = self.offers {
            self.answer(ASK);
            return Some(());
        }
        for (index, (value, (scalar, _))) in send.values.iter().zip(&target.channel.fields).enumerate() {
            let value = self.value(value)?;
            let value = self.cut(*scalar, value);
            self.builder.ins().store(MEMORY, value, self.message, index as i32 * 4);
        }
        self.answer_offer(target.id);
        Some(())
    }

    fn append(&mut self, send: &Send, target: &Target<'_>) -> Option<()> {
        let length = self.load(target.body, Scalar::Byte);
        let room = self.compare(IntCC::UnsignedLessThan, length, target.channel.capacity as i32);
        let full = self.exit(if self.model.features.lossy { DONE } else { BLOCKED });
        self.unless(room, full);
        let values = send.values.iter().map(|value| self.value(value)).collect::<Option<Vec<_>>>()?;
        let slot = self.element(target.body.base, length, target.channel.message_size());
        let mut at = Address { base: slot, offset: target.body.offset + 1 };
        for ((scalar, _), value) in target.channel.fields.iter().zip(values) {
            self.store(at, *scalar, value);
            at = at.plus(scalar.size());
        }
        let one = self.int(1);
        let longer = self.builder.ins().iadd(length, one);
        self.store(target.body, Scalar::Byte, longer);
        self.answer(DONE);
        Some(())
    }
}
