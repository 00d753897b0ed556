//! Random programs from seeds.

use super::{Op, Program};
use explore::random::Random;

/// How large a program is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Threads, from 1 to 8.
    pub threads: u8,
    /// Operations of each thread, at most.
    pub operations: u8,
    /// Variables, from 1 to 32.
    pub variables: u8,
    /// Locks, from 1 to 32.
    pub locks: u8,
    /// Channels, from 1 to 32.
    pub channels: u8,
    /// Whether threads meet (rendezvous), which reduction does not apply to here.
    pub meetings: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Self { threads: 3, operations: 4, variables: 2, locks: 2, channels: 1, meetings: false }
    }
}

impl Program {
    /// The program with this seed.
    #[must_use]
    pub fn random(seed: u64, shape: Shape) -> Self {
        let mut random = Random::new(seed);
        let threads = (0..shape.threads).map(|_| {
            let length = 1 + random.below(shape.operations as usize) as u8;
            (0..length).map(|_| op(&mut random, shape, length)).collect()
        });
        Self { threads: threads.collect(), shape }
    }
}

fn op(random: &mut Random, shape: Shape, length: u8) -> Op {
    let mut below = |end: u8| random.below(end as usize) as u8;
    let (variable, lock, channel) = (below(shape.variables), below(shape.locks), below(shape.channels));
    let (value, position) = (below(3), below(length));
    match below(if shape.meetings { 18 } else { 15 }) {
        0 | 1 => Op::Set(variable, value),
        2 | 3 => Op::Add(variable),
        4 => Op::Await(variable, value),
        5 => Op::Assert(variable, value),
        6 => Op::Crash(variable, value),
        7 | 8 => Op::Lock(lock),
        9 => Op::Unlock(lock),
        10 => Op::Send(channel, value),
        11 => Op::Receive(channel, variable),
        12 | 13 => Op::Jump(position),
        14 => Op::Either(position),
        15 => Op::Give(0, value),
        _ => Op::Take(0, variable),
    }
}
