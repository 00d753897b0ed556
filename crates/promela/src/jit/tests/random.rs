//! Random expressions and statements over the model of `model`.

use super::model::{LOCALS, OWN, PLACES};
use crate::ir::{Binary, ChannelQuery, Expr, Field, Index, Place, Receive, Send, Space, Unary};

/// A small generator of random numbers (xorshift).
pub struct Random(u64);

const EXTREMES: [i32; 12] = [0, 1, -1, 2, 5, 7, 31, 32, 255, 256, i32::MAX, i32::MIN];
const BINARY: [Binary; 16] = [
    Binary::Add,
    Binary::Subtract,
    Binary::Multiply,
    Binary::Divide,
    Binary::Remainder,
    Binary::BitAnd,
    Binary::BitOr,
    Binary::BitXor,
    Binary::ShiftLeft,
    Binary::ShiftRight,
    Binary::Equal,
    Binary::NotEqual,
    Binary::Less,
    Binary::LessEqual,
    Binary::Greater,
    Binary::GreaterEqual,
];
const QUERIES: [ChannelQuery; 5] =
    [ChannelQuery::Length, ChannelQuery::Full, ChannelQuery::Empty, ChannelQuery::NotFull, ChannelQuery::NotEmpty];

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, bound: u32) -> u32 {
        ((self.next() >> 32) as u32) % bound
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize].clone()
    }

    pub fn expr(&mut self, depth: u32) -> Expr {
        if depth == 0 {
            return self.leaf();
        }
        let part = |random: &mut Self| Box::new(random.expr(depth - 1));
        match self.below(16) {
            0 => Expr::Unary(self.pick(&[Unary::Negate, Unary::Not, Unary::Complement]), part(self)),
            1..=6 => Expr::Binary(self.pick(&BINARY), part(self), part(self)),
            7 | 8 => Expr::And(part(self), part(self)),
            9 | 10 => Expr::Or(part(self), part(self)),
            11 => Expr::If(part(self), part(self), part(self)),
            12 => Expr::Channel(self.pick(&QUERIES), Box::new(self.channel())),
            13 if self.below(3) == 0 => Expr::Poll(Box::new(self.receive())),
            _ => Expr::Load(self.place(depth - 1)),
        }
    }

    fn leaf(&mut self) -> Expr {
        match self.below(24) {
            0..=7 => Expr::Constant(self.pick(&EXTREMES)),
            8 => Expr::Constant(self.next() as i32),
            9 => Expr::Pid,
            10 => Expr::Processes,
            11 => Expr::Timeout,
            12 => Expr::Last,
            13 => self.at_label(),
            14 => Expr::Load(self.remote()),
            15 if self.below(4) == 0 => self.pick(&[Expr::NonProgress, Expr::PcValue(Box::new(Expr::Constant(1)))]),
            _ => Expr::Load(self.place(0)),
        }
    }

    fn at_label(&mut self) -> Expr {
        let states = (0..self.below(3)).map(|_| self.below(4) as usize).collect();
        Expr::At { proctype: self.below(2) as usize, pid: self.some_pid(), states }
    }

    fn some_pid(&mut self) -> Option<Box<Expr>> {
        (self.below(3) > 0).then(|| Box::new(Expr::Constant(self.below(5) as i32 - 1)))
    }

    /// A variable of another process.
    fn remote(&mut self) -> Place {
        let (proctype, places) = self.pick(&[(0, LOCALS), (1, OWN)]);
        let place = self.pick(places);
        let pid = self.some_pid();
        self.indexed(Space::Remote(proctype, pid), place, 0)
    }

    /// A global variable or one of the process's own.
    pub fn place(&mut self, depth: u32) -> Place {
        let (space, places) = self.pick(&[(Space::Global, PLACES), (Space::Local, LOCALS)]);
        let place = self.pick(places);
        self.indexed(space, place, depth)
    }

    fn indexed(&mut self, space: Space, (offset, scalar, bounds): super::model::Declared, depth: u32) -> Place {
        let indices = bounds.iter().map(|(bound, stride)| Index {
            value: self.index(*bound, depth),
            stride: *stride,
            bound: *bound,
        });
        Place { space, offset, indices: indices.collect(), scalar }
    }

    /// Inside the bounds, most of the time.
    fn index(&mut self, bound: u32, depth: u32) -> Expr {
        match self.below(8) {
            0 => self.expr(depth),
            1..=3 => Expr::Constant(self.below(bound) as i32),
            4 => Expr::Constant(self.below(bound + 1) as i32),
            _ => {
                let value = Box::new(self.expr(depth));
                Expr::Binary(Binary::Remainder, value, Box::new(Expr::Constant(bound as i32)))
            }
        }
    }

    fn channel(&mut self) -> Expr {
        match self.below(8) {
            0..=3 => Expr::Constant(self.below(10) as i32 - 1),
            4 => Expr::ChannelOf { first: 1, count: 2, index: Box::new(self.index(2, 1)) },
            5 => Expr::ChannelOf { first: 2, count: 3, index: Box::new(self.index(3, 1)) },
            6 => Expr::ChannelOf { first: 5, count: 1, index: Box::new(Expr::Constant(0)) },
            _ => {
                Expr::Load(Place { space: Space::Local, offset: 16, indices: vec![], scalar: crate::ir::Scalar::Byte })
            }
        }
    }

    pub fn send(&mut self) -> Send {
        let values = (0..1 + self.below(3)).map(|_| self.expr(2)).collect();
        Send { channel: self.channel(), values, sorted: self.below(10) == 0 }
    }

    pub fn receive(&mut self) -> Receive {
        let fields = (0..1 + self.below(3)).map(|_| self.field()).collect();
        Receive { channel: self.channel(), fields, anywhere: self.below(8) == 0, keep: self.below(5) == 0 }
    }

    fn field(&mut self) -> Field {
        match self.below(8) {
            0 => Field::Ignore,
            1 => Field::Match(self.expr(1)),
            2 | 3 => Field::Match(Expr::Constant(self.below(3) as i32)),
            _ => Field::Store(self.place(1)),
        }
    }
}
