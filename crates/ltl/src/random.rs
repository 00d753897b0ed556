//! Random formulas and words for tests, from a seed: equal seeds give equal values on every machine.

use crate::formula::Formula;
use crate::lasso::Lasso;

/// A small generator (xorshift64*). Good enough to spread tests, not for secrets.
///
/// Tests name seeds; the generator must never change, or old seeds mean other formulas.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A generator for this seed.
    pub fn new(seed: u64) -> Random {
        // Xorshift must not start at zero, and small seeds should differ in many bits.
        Random { state: (seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1 }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `bound`, or 0 if the bound is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }
}

/// Which formulas [`formula`] makes.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Number of operators and atoms.
    pub size: usize,
    /// Atoms are `0..atoms`.
    pub atoms: u32,
    /// Whether `X` may occur.
    pub next: bool,
}

/// A formula of the size asked for; every operator may occur.
pub fn formula(random: &mut Random, options: Options) -> Formula {
    match options.size {
        0 | 1 => leaf(random, options.atoms),
        2 => unary(random, options),
        _ if random.below(5) < 2 => unary(random, options),
        _ => binary(random, options),
    }
}

fn leaf(random: &mut Random, atoms: u32) -> Formula {
    match random.below(20) {
        0 => Formula::True,
        1 => Formula::False,
        _ => Formula::Atom(random.below(atoms as usize) as u32),
    }
}

fn unary(random: &mut Random, options: Options) -> Formula {
    let part = formula(random, Options { size: options.size - 1, ..options });
    match random.below(if options.next { 4 } else { 3 }) {
        0 => part.not(),
        1 => part.globally(),
        2 => part.finally(),
        _ => part.next(),
    }
}

fn binary(random: &mut Random, options: Options) -> Formula {
    let size_left = 1 + random.below(options.size - 2);
    let left = formula(random, Options { size: size_left, ..options });
    let right = formula(random, Options { size: options.size - 1 - size_left, ..options });
    match random.below(7) {
        0 => left.and(right),
        1 => left.or(right),
        2 => left.implies(right),
        3 => left.equiv(right),
        4 => left.until(right),
        5 => left.release(right),
        _ => left.weak_until(right),
    }
}

/// A word with a stem of at most `stem_max` letters and a cycle of one to `cycle_max`, over atoms `0..atoms`.
pub fn lasso(random: &mut Random, atoms: u32, stem_max: usize, cycle_max: usize) -> Lasso {
    let length = random.below(stem_max + 1);
    let letters = 1 << atoms.min(32);
    let stem: Vec<u64> = (0..length).map(|_| random.below(letters) as u64).collect();
    let first = random.below(letters) as u64;
    let mut cycle = vec![first];
    let length = random.below(cycle_max.max(1));
    cycle.extend((0..length).map(|_| random.below(letters) as u64));
    Lasso::around(stem, cycle)
}
