//! Comparison, minimum, maximum.

use std::cmp::Ordering;

use super::{Class, Env, Float, INVALID};

/// How two operands relate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The first is smaller.
    Less,
    /// They are equal; zeros are, whatever their signs.
    Equal,
    /// The first is greater.
    Greater,
    /// One of them is no number.
    Unordered,
}

/// Whether comparing with a quiet NaN is invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quiet {
    /// It is silently unordered (`ucomisd`, `fucom`).
    Passes,
    /// It is invalid (`comisd`, `fcom`).
    Invalid,
}

impl Env {
    /// Compares; a signaling NaN is always invalid.
    pub fn compare(&mut self, quiet: Quiet, a: Float, b: Float) -> Order {
        let (a, b) = match self.two(a, b) {
            Ok(pair) => pair,
            Err(_) => {
                if quiet == Quiet::Invalid {
                    self.flags |= INVALID;
                }
                return Order::Unordered;
            }
        };
        self.note_denormal(a);
        self.note_denormal(b);
        order(a, b)
    }

    /// `minss` and its kin: the second operand if they are unordered or both zero.
    ///
    /// SDM vol. 2, MINSS: not IEEE 754's minimum. `min(NaN, x)` is `x`, `min(x, NaN)` is the NaN,
    /// and both zeros give the second, so compilers can use it for `a < b ? a : b`.
    pub fn minimum(&mut self, a: Float, b: Float) -> Float {
        self.select(Order::Less, a, b)
    }

    /// `maxss` and its kin.
    pub fn maximum(&mut self, a: Float, b: Float) -> Float {
        self.select(Order::Greater, a, b)
    }

    fn select(&mut self, first: Order, a: Float, b: Float) -> Float {
        if self.compare(Quiet::Invalid, a, b) == first { self.flush(a) } else { self.flush(b) }
    }
}

/// The order of two numbers that are no NaNs.
pub(super) fn order(a: Float, b: Float) -> Order {
    if a.is_zero() && b.is_zero() {
        return Order::Equal;
    }
    let ordering = match (a.sign, b.sign) {
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
        (false, false) => magnitude(a).cmp(&magnitude(b)),
        (true, true) => magnitude(b).cmp(&magnitude(a)),
    };
    match ordering {
        Ordering::Less => Order::Less,
        Ordering::Equal => Order::Equal,
        Ordering::Greater => Order::Greater,
    }
}

/// Something that sorts as magnitudes do.
fn magnitude(a: Float) -> (u8, i32, u64) {
    match a.class {
        Class::Zero => (0, 0, 0),
        Class::Infinite => (2, 0, 0),
        _ => (1, a.exponent, a.significand),
    }
}
