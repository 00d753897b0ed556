//! The host's own arithmetic where it provably gives the same bits and no new flags.
//!
//! That is so when rounding is to nearest with denormals kept, the operands are normal numbers or zeros, the result is normal and
//! above the smallest normal number, and either the sticky precision flag is set already or the result is exact. Rust's `f32` and
//! `f64` operations are IEEE 754's on every host.
//!
//! The point is the *flags*: a double operation whose precision flag is already set, which is the
//! case in any program after its first inexact result, cannot raise anything new for normal
//! operands and a normal result.

/// Neither rounding mode, nor flush to zero, nor denormals as zeros.
const SPECIAL: u32 = 0xe040;
const INEXACT_MASK: u32 = 0x1000;
const INEXACT_FLAG: u32 = 0x20;

fn usable(mxcsr: u32) -> bool {
    mxcsr & (SPECIAL | INEXACT_MASK) == INEXACT_MASK
}

fn sticky(mxcsr: u32) -> bool {
    mxcsr & INEXACT_FLAG != 0
}

/// An arithmetic operation with two operands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
}

macro_rules! fast {
    ($name:ident, $root:ident, $float:ty, $bits:ty) => {
        /// The square root, if the host's is right.
        #[inline]
        pub(crate) fn $root(mxcsr: u32, a: $bits) -> Option<$bits> {
            let a = <$float>::from_bits(a);
            let known = usable(mxcsr) && sticky(mxcsr) && a.is_normal() && a > 0.0;
            known.then(|| a.sqrt().to_bits())
        }

        /// The result, if the host's is right.
        #[inline]
        pub(crate) fn $name(mxcsr: u32, operation: Operation, a: $bits, b: $bits) -> Option<$bits> {
            let (a, b) = (<$float>::from_bits(a), <$float>::from_bits(b));
            let ordinary = |x: $float| x.is_normal() || x == 0.0;
            if !usable(mxcsr) || !ordinary(a) || !ordinary(b) {
                return None;
            }
            let normal = |x: $float| x.is_finite() && x.abs() > <$float>::MIN_POSITIVE;
            let sum = |b: $float| {
                let r = a + b;
                // Knuth's exact error of a sum.
                let t = r - a;
                let exact = (a - (r - t)) + (b - t) == 0.0;
                (r == 0.0 || normal(r) && (sticky(mxcsr) || exact)).then_some(r)
            };
            let r = match operation {
                Operation::Add => sum(b),
                Operation::Subtract => sum(-b),
                Operation::Multiply => Some(a * b).filter(|&r| a == 0.0 || b == 0.0 || normal(r) && sticky(mxcsr)),
                Operation::Divide => Some(a / b).filter(|&r| b != 0.0 && (a == 0.0 || normal(r) && sticky(mxcsr))),
            };
            r.map(<$float>::to_bits)
        }
    };
}
fast!(double, double_root, f64, u64);
fast!(single, single_root, f32, u32);
