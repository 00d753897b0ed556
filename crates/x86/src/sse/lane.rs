//! Vectors as lanes of one integer type.
//!
//! Generic over the integer type, so that a row of a table names the operation and its type says
//! the lanes: `u8::saturating_add` is `paddusb`.

/// An integer that a vector is made of.
pub(super) trait Lane: Copy {
    /// Its size.
    const BITS: u32;
    /// Lane `k` of a vector.
    fn get(vector: u128, k: u32) -> Self;
    /// Itself, zero-extended.
    fn wide(self) -> u128;
}

macro_rules! lanes {
    ($($type:ty as $unsigned:ty),*) => {$(
        impl Lane for $type {
            const BITS: u32 = <$type>::BITS;
            #[inline(always)]
            fn get(vector: u128, k: u32) -> Self {
                (vector >> (k * <$type>::BITS)) as $type
            }
            #[inline(always)]
            fn wide(self) -> u128 {
                u128::from(self as $unsigned)
            }
        }
    )*};
}
lanes!(u8 as u8, u16 as u16, u32 as u32, u64 as u64, i8 as u8, i16 as u16, i32 as u32, i64 as u64);

/// The vector whose lane `k` is `f(k)`, for as many lanes as fill 16 bytes.
#[inline(always)]
pub(super) fn build<T: Lane>(f: impl Fn(u32) -> T) -> u128 {
    build_some(128 / T::BITS, f)
}

/// The vector whose lane `k` is `f(k)` for the first `count` lanes, zero above.
#[inline(always)]
pub(super) fn build_some<T: Lane>(count: u32, f: impl Fn(u32) -> T) -> u128 {
    (0..count).fold(0, |vector, k| vector | f(k).wide() << (k * T::BITS))
}

/// Lane by lane.
#[inline(always)]
pub(super) fn zip<T: Lane, U: Lane>(a: u128, b: u128, f: impl Fn(T, T) -> U) -> u128 {
    build(|k| f(T::get(a, k), T::get(b, k)))
}
