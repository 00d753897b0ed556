//! Integers of one to eight bytes in 64-bit words.
//!
//! Sizes are 1 to 8 bytes; 0 would shift by 64 and is nobody's operand.

/// All ones in the low `size` bytes.
#[inline(always)]
pub(crate) fn mask(size: usize) -> u64 {
    u64::MAX >> (64 - 8 * size)
}

/// `value` of `size` bytes, sign-extended.
#[inline(always)]
pub(crate) fn sign_extend(value: u64, size: usize) -> u64 {
    let unused = 64 - 8 * size;
    ((value << unused) as i64 >> unused) as u64
}
