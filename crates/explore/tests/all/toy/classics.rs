//! Programs with known numbers of inequivalent schedules.

use super::code::Compare::{Differs, Equal};
use super::code::{Code, Op, Value};
use super::machine::Program;

/// Dining philosophers; the last one is left-handed if they are to be safe.
pub fn philosophers(count: usize, safe: bool) -> Program {
    let philosopher = |id: usize| {
        let (mut first, mut second) = (id, (id + 1) % count);
        if safe && id == count - 1 {
            (first, second) = (second, first);
        }
        vec![Op::Lock(first), Op::Lock(second), Op::Unlock(second), Op::Unlock(first), Op::End]
    };
    Program { threads: (0..count).map(philosopher).collect(), born: count, mutexes: count, ..Program::default() }
}

/// Variants of the bounded buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Buffer {
    Right,
    If,
    Signal,
    Broadcast,
}

/// Producers and consumers over a buffer with room for one.
pub fn buffer(variant: Buffer, sides: usize, items: usize) -> Program {
    let one_queue = matches!(variant, Buffer::Signal | Buffer::Broadcast);
    let not_empty = usize::from(!one_queue);
    let wake = |queue| if variant == Buffer::Broadcast { Op::Broadcast(queue) } else { Op::Signal(queue) };
    let side = |wait: usize, other: usize, from: i8| {
        let mut code = Code::default();
        for _ in 0..items {
            code.op(Op::Lock(0));
            let top = code.here();
            code.op(Op::Get { word: 0, plus: None, into: 0 });
            let go = code.branch(0, Equal, from);
            code.op(Op::Sleep { queue: wait, mutex: 0 });
            if variant != Buffer::If {
                code.op(Op::Jump(top));
            }
            code.land(go);
            code.op(Op::Get { word: 0, plus: None, into: 0 });
            code.op(Op::Assert { register: 0, compare: Equal, value: from, message: "used" });
            code.op(Op::Put { word: 0, value: Value::Is(1 - from) });
            code.op(wake(other)).op(Op::Unlock(0));
        }
        code.done()
    };
    let producers = (0..sides).map(|_| side(0, not_empty, 0));
    let consumers = (0..sides).map(|_| side(not_empty, 0, 1));
    let threads: Vec<_> = producers.chain(consumers).collect();
    Program { born: threads.len(), threads, words: vec![0], mutexes: 1, queues: 2, ..Program::default() }
}

/// The Remote Agent: two tasks that wait for each other's events; the counter is looked at outside the lock if `outer`.
pub fn remote_agent(rounds: usize, outer: bool) -> Program {
    let signal = |code: &mut Code, event: usize| {
        code.op(Op::Lock(event)).op(Op::Load { var: event, into: 1 }).op(Op::Increase { register: 1, modulo: 4 });
        code.op(Op::Store { var: event, value: Value::Of(1) }).op(Op::Signal(event)).op(Op::Unlock(event));
    };
    // Register 2 is 1 where the counter is what it was.
    let compare = |code: &mut Code, event: usize, was: i8| {
        code.op(Op::Load { var: event, into: 1 });
        code.branch(1, Differs, was)
    };
    let wait = |code: &mut Code, event: usize, was: i8| {
        let outside = outer.then(|| compare(code, event, was));
        code.op(Op::Lock(event));
        let inside = (!outer).then(|| compare(code, event, was));
        code.op(Op::Sleep { queue: event, mutex: event });
        inside.into_iter().for_each(|from| code.land(from));
        code.op(Op::Unlock(event));
        outside.into_iter().for_each(|from| code.land(from));
        code.op(Op::Load { var: event, into: 0 });
    };
    let mut tasks = [Code::default(), Code::default()];
    for round in 0..rounds {
        let was = (round % 4) as i8;
        wait(&mut tasks[0], 0, was);
        signal(&mut tasks[0], 1);
        signal(&mut tasks[1], 0);
        wait(&mut tasks[1], 1, was);
    }
    let threads = tasks.into_iter().map(Code::done).collect();
    Program { threads, born: 2, vars: vec![0; 2], mutexes: 2, queues: 2, ..Program::default() }
}

/// Treiber's stack: two threads push and pop.
pub fn treiber(rounds: usize) -> Program {
    let worker = |id: usize| {
        let mut code = Code::default();
        for round in 0..rounds {
            let node = 1 + id * rounds + round;
            code.op(Op::Load { var: 0, into: 0 });
            let again = code.here();
            code.op(Op::Put { word: node, value: Value::Of(0) });
            code.op(Op::Swap { var: 0, expected: 0, new: Value::Is(node as i8), done: 1 });
            code.op(Op::Branch { register: 1, compare: Equal, value: 0, to: again });
            code.op(Op::Load { var: 0, into: 0 });
            let top = code.here();
            let empty = code.branch(0, Equal, 0);
            code.op(Op::Get { word: 0, plus: Some(0), into: 2 });
            code.op(Op::Swap { var: 0, expected: 0, new: Value::Of(2), done: 1 });
            code.op(Op::Branch { register: 1, compare: Equal, value: 0, to: top });
            code.op(Op::Add { var: 1, value: 1, old: 3 });
            code.land(empty);
        }
        code.done()
    };
    Program {
        threads: vec![worker(0), worker(1)],
        born: 2,
        vars: vec![0; 2],
        words: vec![0; 2 * rounds + 1],
        ..Program::default()
    }
}

/// Store buffering: at least one of the two sees the other's store.
pub fn store_buffering() -> Program {
    let side = |own: usize| {
        let mut code = Code::default();
        code.op(Op::Store { var: own, value: Value::Is(1) }).op(Op::Load { var: 1 - own, into: 0 });
        code.done()
    };
    Program { threads: vec![side(0), side(1)], born: 2, vars: vec![0; 2], ..Program::default() }
}

/// Peterson's lock. Its loop is taken as an await: a thread that reads too early is stuck, because reading again is like reading
/// later.
pub fn peterson(rounds: usize) -> Program {
    let worker = |me: usize| {
        let (other, turn, inside) = (1 - me, 2, 3);
        let mut code = Code::default();
        for _ in 0..rounds {
            code.op(Op::Store { var: me, value: Value::Is(1) });
            code.op(Op::Store { var: turn, value: Value::Is(other as i8) });
            code.op(Op::Load { var: other, into: 0 });
            let free = code.branch(0, Equal, 0);
            code.op(Op::Load { var: turn, into: 0 });
            let mine = code.branch(0, Differs, other as i8);
            code.op(Op::Await(Vec::new()));
            code.land(free);
            code.land(mine);
            code.op(Op::Add { var: inside, value: 1, old: 0 });
            code.op(Op::Assert { register: 0, compare: Equal, value: 0, message: "alone" });
            code.op(Op::Add { var: inside, value: -1, old: 0 });
            code.op(Op::Store { var: me, value: Value::Is(0) });
        }
        code.done()
    };
    Program { threads: vec![worker(0), worker(1)], born: 2, vars: vec![0; 4], ..Program::default() }
}
