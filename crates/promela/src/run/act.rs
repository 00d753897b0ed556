//! Basic statements: whether they can be executed, and what they change.
//!
//! This is the definition of the statements; `jit/` compiles the same ones and must agree (decision
//! 4). A statement is tried on a copy that the stepper has made, so that "executable" and "execute"
//! are one function: there is no second place that could decide otherwise.

use super::eval::Env;
use super::vector::{Work, load, store};
use super::{event, fail, promise};
use crate::ir::{Action, Assign, Channel, Expr, FRAME_PC, Field, Model, ReadInput, Receive, Run, Send};
use explore::Failure;

/// What came of trying a statement.
///
/// **Invariant:** after `Blocked` and `Offer` the state is untouched, apart from `Act::failures`
/// and `Act::message`. The stepper relies on it and does not copy again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It cannot be executed; nothing was changed.
    Blocked,
    /// It was executed.
    Done,
    /// It offers the message in [`Act::message`] on this rendezvous channel; nothing was changed yet.
    Offer(i32),
}

/// The reference executor: what a statement needs besides the state.
pub struct Act<'a> {
    /// The model.
    pub model: &'a Model,
    /// Whether nothing else can move.
    pub timeout: bool,
    /// What went wrong.
    pub failures: &'a mut Vec<Failure>,
    /// How many `enabled()` this execution is inside of.
    pub depth: u32,
    /// The message on its way.
    pub message: &'a mut Vec<i32>,
}

impl Act<'_> {
    fn env<'s>(&'s mut self, work: &'s Work, pid: u32) -> Env<'s> {
        Env { model: self.model, work, pid, timeout: self.timeout, ran: 0, depth: self.depth, failures: self.failures }
    }

    /// Tries a statement of a process. `else`, `d_step` and the end of a process are the stepper's business.
    pub fn execute(&mut self, work: &mut Work, pid: u32, action: &Action) -> Outcome {
        match action {
            Action::Condition(condition) => self.condition(work, pid, condition),
            Action::Assign(assign) => self.assign_step(work, pid, assign),
            Action::Assert { condition, text } => {
                if !self.env(work, pid).truth(condition) {
                    self.failures.push(fail::assertion(text));
                }
                Outcome::Done
            }
            Action::Send(send) => self.send(work, pid, send),
            Action::Receive(receive) => self.receive(work, pid, receive),
            Action::SetPriority { pid: target, value } => {
                let (target, value) = (self.env(work, pid).eval(target), self.env(work, pid).eval(value));
                super::set_priority(self.model, work, target, value);
                Outcome::Done
            }
            Action::ReadInput(read) => self.read_input(work, pid, read),
            Action::Print(_) => Outcome::Done,
            Action::Else | Action::DStep { .. } | Action::Die => unreachable!("the stepper handles these"),
        }
    }

    /// A condition with `run` in it has an effect even though it may turn out false (`run P() ==
    /// 7`): it is evaluated on a copy, which is thrown away then, as in SPIN where a false
    /// condition changes nothing.
    fn condition(&mut self, work: &mut Work, pid: u32, condition: &Expr) -> Outcome {
        let Some(run) = find_run(self.model, condition) else {
            return if self.env(work, pid).truth(condition) { Outcome::Done } else { Outcome::Blocked };
        };
        let mut after = work.clone();
        let ran = self.run(&mut after, pid, run);
        let mut env = self.env(&after, pid);
        env.ran = ran;
        if !env.truth(condition) {
            return Outcome::Blocked;
        }
        *work = after;
        Outcome::Done
    }

    fn assign_step(&mut self, work: &mut Work, pid: u32, assign: &Assign) -> Outcome {
        let ran = match find_run(self.model, &assign.value) {
            Some(run) => self.run(work, pid, run),
            None => 0,
        };
        self.assign(work, pid, assign, ran);
        Outcome::Done
    }

    /// An assignment; `ran` is the value of the `run` in it.
    pub fn assign(&mut self, work: &mut Work, pid: u32, assign: &Assign, ran: i32) {
        let failures = self.failures.len();
        let mut env = self.env(work, pid);
        env.ran = ran;
        let value = env.eval(&assign.value);
        let at = env.locate(&assign.place);
        // Neither the value nor the place of what failed is real.
        if let (Some(at), true) = (at, self.failures.len() == failures) {
            store(&mut work.bytes, at, assign.place.scalar, value);
        }
    }

    /// Starts a process and returns its pid; 0 and a failure if there are too many.
    fn run(&mut self, work: &mut Work, pid: u32, run: &Run) -> i32 {
        let arguments: Vec<i32> = run.arguments.iter().map(|argument| self.env(work, pid).eval(argument)).collect();
        let priority = run.priority.as_ref().map(|priority| self.env(work, pid).eval(priority));
        match self.create(work, run.proctype, &arguments) {
            Some(created) => {
                if let Some(priority) = priority {
                    super::set_priority(self.model, work, created as i32, priority);
                }
                created as i32
            }
            None => {
                self.failures.push(fail::processes());
                0
            }
        }
    }

    /// Creates a process with its parameters, channels and initial values.
    ///
    /// Order as in SPIN: frame, parameters, channels of its own, initial values. Initialisers may
    /// read parameters and earlier locals.
    pub fn create(&mut self, work: &mut Work, proctype: usize, arguments: &[i32]) -> Option<u32> {
        let pid = work.push_process(self.model, proctype)?;
        let declared = &self.model.proctypes[proctype];
        let frame = work.frame(pid);
        work.set_pc(self.model, pid, declared.entry);
        super::set_priority(self.model, work, pid as i32, declared.priority);
        for (parameter, value) in declared.locals[..declared.parameters].iter().zip(arguments) {
            store(&mut work.bytes, frame + parameter.offset as usize, parameter.scalar, *value);
        }
        let first = work.first_channel(self.model, pid);
        if first as usize + declared.channels.len() > 256 {
            self.failures.push(fail::channels());
        }
        for (index, channel) in declared.channels.iter().enumerate() {
            if let Some(place) = &channel.variable {
                let value = Expr::Constant(first + index as i32);
                self.assign(work, pid, &Assign { place: place.clone(), value }, 0);
            }
        }
        for initialiser in &declared.initialisers {
            self.assign(work, pid, initialiser, 0);
        }
        Some(pid)
    }

    /// Promises are checked even if the send blocks.
    fn send(&mut self, work: &mut Work, pid: u32, send: &Send) -> Outcome {
        let id = self.env(work, pid).eval(&send.channel);
        let Some((channel, at)) = work.channel(self.model, id) else {
            self.failures.push(fail::channel(id));
            return Outcome::Blocked;
        };
        if channel.fields.len() != send.values.len() {
            self.failures.push(fail::fields(&channel.name, channel.fields.len(), send.values.len()));
            return Outcome::Blocked;
        }
        promise::check_send(self.model, work, pid, id, self.failures);
        if channel.capacity == 0 {
            promise::check_receive(self.model, work, pid, id, self.failures);
        }
        if channel.capacity > 0 && u32::from(work.bytes[at]) == channel.capacity {
            return if self.model.features.lossy { Outcome::Done } else { Outcome::Blocked };
        }
        self.message.clear();
        for (value, (scalar, _)) in send.values.iter().zip(&channel.fields) {
            let value = scalar.cut(self.env(work, pid).eval(value));
            self.message.push(value);
        }
        if channel.capacity == 0 {
            return Outcome::Offer(id);
        }
        let slot =
            if send.sorted { sorted_slot(&work.bytes, at, channel, self.message) } else { usize::from(work.bytes[at]) };
        insert(&mut work.bytes, at, channel, slot, self.message);
        event::happened(self.model, work, pid, true, id, self.message, self.failures);
        Outcome::Done
    }

    /// The event for a `trace` claim comes before the variables are stored, because the claim's
    /// patterns speak of the message.
    fn receive(&mut self, work: &mut Work, pid: u32, receive: &Receive) -> Outcome {
        let id = self.env(work, pid).eval(&receive.channel);
        let Some((channel, at)) = work.channel(self.model, id) else {
            self.failures.push(fail::channel(id));
            return Outcome::Blocked;
        };
        // The receiving half of a rendezvous is never executable on its own.
        if channel.capacity == 0 {
            return Outcome::Blocked;
        }
        if channel.fields.len() != receive.fields.len() {
            self.failures.push(fail::fields(&channel.name, channel.fields.len(), receive.fields.len()));
            return Outcome::Blocked;
        }
        promise::check_receive(self.model, work, pid, id, self.failures);
        let Some(slot) = self.env(work, pid).find_message(receive, id) else {
            return Outcome::Blocked;
        };
        take(work, at, channel, slot, receive.keep, self.message);
        event::happened(self.model, work, pid, false, id, self.message, self.failures);
        self.bind(work, pid, receive);
        Outcome::Done
    }

    /// At the end of the input SPIN's `STDIN?x` blocks; it may store some of the characters before, which we do not.
    fn read_input(&mut self, work: &mut Work, pid: u32, read: &ReadInput) -> Outcome {
        let Some(input) = &self.model.input else {
            self.failures.push(fail::no_input());
            return Outcome::Blocked;
        };
        let at = read.position.offset as usize;
        let start = load(&work.bytes, at, read.position.scalar) as usize;
        let characters = (start..start + read.places.len()).map(|position| input.character(position));
        let Some(characters) = characters.collect::<Option<Vec<u8>>>() else { return Outcome::Blocked };
        store(&mut work.bytes, at, read.position.scalar, (start + characters.len()) as i32);
        for (place, character) in read.places.iter().zip(characters) {
            let assign = Assign { place: place.clone(), value: Expr::Constant(i32::from(character)) };
            self.assign(work, pid, &assign, 0);
        }
        Outcome::Done
    }

    /// Whether a receive accepts the offered message on a rendezvous channel.
    pub fn accepts(&mut self, work: &Work, pid: u32, receive: &Receive, id: i32) -> bool {
        if self.env(work, pid).eval(&receive.channel) != id || receive.fields.len() != self.message.len() {
            return false;
        }
        let message = std::mem::take(self.message);
        let mut env = self.env(work, pid);
        let accepted = receive.fields.iter().zip(&message).all(|(field, value)| env.matches(field, *value));
        *self.message = message;
        accepted
    }

    /// Stores the message into the variables of a receive, left to right.
    pub fn bind(&mut self, work: &mut Work, pid: u32, receive: &Receive) {
        for index in 0..receive.fields.len() {
            if let Field::Store(place) = &receive.fields[index] {
                let (value, failures) = (self.message[index], self.failures.len());
                let at = self.env(work, pid).locate(place);
                if let (Some(at), true) = (at, self.failures.len() == failures) {
                    store(&mut work.bytes, at, place.scalar, value);
                }
            }
        }
    }
}

/// The `run` in an expression.
pub fn find_run<'e>(model: &Model, expr: &'e Expr) -> Option<&'e Run> {
    if !model.features.run {
        return None;
    }
    match expr {
        Expr::Run(run) => Some(run),
        Expr::Unary(_, a) => find_run(model, a),
        Expr::Binary(_, a, b) | Expr::And(a, b) | Expr::Or(a, b) => find_run(model, a).or_else(|| find_run(model, b)),
        Expr::If(a, b, c) => find_run(model, a).or_else(|| find_run(model, b)).or_else(|| find_run(model, c)),
        _ => None,
    }
}

/// The slot before the first message that is larger, field by field.
///
/// Equal messages keep their order of arrival: the new one goes behind them ("before the first
/// message that is *larger*").
fn sorted_slot(bytes: &[u8], at: usize, channel: &Channel, message: &[i32]) -> usize {
    let length = usize::from(bytes[at]);
    (0..length).find(|slot| larger(bytes, slot_at(at, channel, *slot), channel, message)).unwrap_or(length)
}

fn larger(bytes: &[u8], mut at: usize, channel: &Channel, message: &[i32]) -> bool {
    let stored = channel.fields.iter().map(|(scalar, _)| {
        let value = load(bytes, at, *scalar);
        at += scalar.size() as usize;
        value
    });
    stored.gt(message.iter().copied())
}

fn slot_at(at: usize, channel: &Channel, slot: usize) -> usize {
    at + 1 + slot * channel.message_size() as usize
}

/// O(bytes behind the slot). The caller has checked that there is room.
pub(crate) fn insert(bytes: &mut [u8], at: usize, channel: &Channel, slot: usize, message: &[i32]) {
    let (from, end) = (slot_at(at, channel, slot), slot_at(at, channel, usize::from(bytes[at])));
    bytes.copy_within(from..end, from + channel.message_size() as usize);
    bytes[at] += 1;
    let mut field_at = from;
    for ((scalar, _), value) in channel.fields.iter().zip(message) {
        store(bytes, field_at, *scalar, *value);
        field_at += scalar.size() as usize;
    }
}

/// Reads a message into `message` and, unless it is kept, removes it; the slot that becomes free is zeroed so that
/// equal states have equal vectors.
pub(crate) fn take(work: &mut Work, at: usize, channel: &Channel, slot: usize, keep: bool, message: &mut Vec<i32>) {
    let from = slot_at(at, channel, slot);
    message.clear();
    let mut field_at = from;
    for (scalar, _) in &channel.fields {
        message.push(load(&work.bytes, field_at, *scalar));
        field_at += scalar.size() as usize;
    }
    if keep {
        return;
    }
    let end = slot_at(at, channel, usize::from(work.bytes[at]));
    let size = channel.message_size() as usize;
    work.bytes.copy_within(from + size..end, from);
    work.bytes[end - size..end].fill(0);
    work.bytes[at] -= 1;
}

/// Where the priority of a frame stands, if the model has priorities.
pub fn priority_offset(model: &Model, proctype: usize) -> usize {
    FRAME_PC as usize + model.proctypes[proctype].pc_size as usize
}
