//! What the operations do.

use super::{Op, Program, ROOM};
use explore::{Bits, Failure};
use trace::FailureKind;

impl Program {
    /// How many choices a thread has.
    pub(crate) fn choices(&self, state: &[u8], thread: usize) -> u32 {
        let Some(op) = self.threads[thread].get(state[thread] as usize) else { return 0 };
        let ready = match *op {
            Op::Await(variable, value) => state[self.variable(variable)] == value,
            Op::Lock(lock) => state[self.lock(lock)] == 0,
            Op::Send(channel, _) => (state[self.channel(channel)] as usize) < ROOM,
            Op::Receive(channel, _) => state[self.channel(channel)] > 0,
            Op::Give(meeting, _) => return self.takers(state, meeting).len() as u32,
            Op::Take(..) => false,
            Op::Either(_) => return 2,
            _ => true,
        };
        u32::from(ready)
    }

    /// Threads that wait at a meeting.
    fn takers(&self, state: &[u8], meeting: u8) -> Vec<(usize, u8)> {
        let at = |(thread, code): (usize, &Vec<Op>)| match code.get(state[thread] as usize) {
            Some(Op::Take(here, variable)) if *here == meeting => Some((thread, *variable)),
            _ => None,
        };
        self.threads.iter().enumerate().filter_map(at).collect()
    }

    /// Takes a choice of a thread in place; who moved, and what went wrong.
    pub(crate) fn take(&self, state: &mut [u8], thread: usize, index: u32) -> (Bits, Option<Failure>) {
        let position = state[thread];
        let mut moved = Bits::one(thread as u32);
        let mut failure = None;
        state[thread] = position + 1;
        match self.threads[thread][position as usize] {
            Op::Set(variable, value) => state[self.variable(variable)] = value,
            Op::Add(variable) => state[self.variable(variable)] = (state[self.variable(variable)] + 1) % 3,
            Op::Await(..) => {}
            Op::Assert(variable, value) if state[self.variable(variable)] == value => {
                failure = Some(wrong(FailureKind::Assert, thread, position));
            }
            Op::Crash(variable, value) if state[self.variable(variable)] == value => {
                failure = Some(wrong(FailureKind::Runtime, thread, position));
            }
            Op::Assert(..) | Op::Crash(..) => {}
            Op::Lock(lock) => state[self.lock(lock)] = 1,
            Op::Unlock(lock) => state[self.lock(lock)] = 0,
            Op::Send(channel, value) => self.put(state, channel, value),
            Op::Receive(channel, variable) => state[self.variable(variable)] = self.get(state, channel),
            Op::Give(meeting, value) => {
                let (taker, variable) = self.takers(state, meeting)[index as usize];
                state[self.variable(variable)] = value;
                state[taker] += 1;
                moved.insert(taker as u32);
            }
            Op::Take(..) => unreachable!("a taker has no choices"),
            Op::Jump(to) => state[thread] = to,
            Op::Either(to) if index == 0 => state[thread] = to,
            Op::Either(_) => {}
        }
        (moved, failure)
    }

    fn put(&self, state: &mut [u8], channel: u8, value: u8) {
        let start = self.channel(channel);
        let length = state[start] as usize;
        state[start + 1 + length] = value;
        state[start] += 1;
    }

    /// Bytes behind the last message are zeroed, so that equal channels are equal bytes and states
    /// meet.
    fn get(&self, state: &mut [u8], channel: u8) -> u8 {
        let start = self.channel(channel);
        let value = state[start + 1];
        state.copy_within(start + 2..start + 1 + ROOM, start + 1);
        state[start + ROOM] = 0;
        state[start] -= 1;
        value
    }
}

fn wrong(kind: FailureKind, thread: usize, position: u8) -> Failure {
    Failure {
        kind,
        message: format!("thread {thread}, operation {position}"),
        fatal: kind == FailureKind::Runtime,
        property: None,
    }
}
