//! Operand sizes as types, and where operands come from.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use memory::{Memory, Stopped};

use super::uop::X;

/// An operand size. Values travel as `u64`, zero-extended.
pub(super) trait Width: Copy {
    const BITS: u32;
    const BYTES: u64 = Self::BITS as u64 / 8;

    unsafe fn read(register: *const u8) -> u64;
    unsafe fn write(register: *mut u8, value: u64);
    fn load(memory: &mut Memory, addr: u64) -> Result<u64, Stopped>;
    fn store(memory: &mut Memory, addr: u64, value: u64) -> Result<(), Stopped>;
    /// A load that is in the translation cache.
    fn load_quickly(memory: &mut Memory, addr: u64) -> Result<u64, Stopped>;
    /// A store that is in the translation cache.
    fn store_quickly(memory: &mut Memory, addr: u64, value: u64) -> Result<(), Stopped>;

    #[inline(always)]
    fn sign_extend(value: u64) -> u64 {
        ((value << (64 - Self::BITS)) as i64 >> (64 - Self::BITS)) as u64
    }

    #[inline(always)]
    fn zero_extend(value: u64) -> u64 {
        value << (64 - Self::BITS) >> (64 - Self::BITS)
    }
}

/// A narrow write keeps the rest of the register: done on the whole word, for a store of a part followed by a load of the
/// whole would stall the host.
///
/// `ah` and its kin are not written here (`writes_high` sends them to the reference): the mask is
/// at the bottom of the word.
unsafe fn merge(register: *mut u8, value: u64, mask: u64) {
    let whole = register.cast::<u64>();
    // Volatile, or the compiler would see that a part is enough.
    whole.write_volatile(whole.read_volatile() & !mask | value & mask);
}

/// Loads and stores of a word, careful and quick.
macro_rules! accesses {
    ($word:ty) => {
        #[inline(always)]
        fn load(memory: &mut Memory, addr: u64) -> Result<u64, Stopped> {
            memory.fast_load::<$word>(addr).map(Into::into)
        }

        #[inline(always)]
        fn store(memory: &mut Memory, addr: u64, value: u64) -> Result<(), Stopped> {
            memory.fast_store(addr, value as $word)
        }

        #[inline(always)]
        fn load_quickly(memory: &mut Memory, addr: u64) -> Result<u64, Stopped> {
            memory.quick_load::<$word>(addr).map(Into::into)
        }

        #[inline(always)]
        fn store_quickly(memory: &mut Memory, addr: u64, value: u64) -> Result<(), Stopped> {
            memory.quick_store(addr, value as $word)
        }
    };
}

impl Width for u8 {
    const BITS: u32 = 8;

    /// Any byte offset: `ah` and the like are readable.
    #[inline(always)]
    unsafe fn read(register: *const u8) -> u64 {
        u64::from(*register)
    }

    #[inline(always)]
    unsafe fn write(register: *mut u8, value: u64) {
        merge(register, value, 0xff);
    }

    accesses!(u8);
}

impl Width for u16 {
    const BITS: u32 = 16;

    #[inline(always)]
    unsafe fn read(register: *const u8) -> u64 {
        u64::from(*register.cast::<u16>())
    }

    #[inline(always)]
    unsafe fn write(register: *mut u8, value: u64) {
        merge(register, value, 0xffff);
    }

    accesses!(u16);
}

impl Width for u32 {
    const BITS: u32 = 32;

    #[inline(always)]
    unsafe fn read(register: *const u8) -> u64 {
        u64::from(*register.cast::<u32>())
    }

    #[inline(always)]
    unsafe fn write(register: *mut u8, value: u64) {
        *register.cast::<u64>() = u64::from(value as u32);
    }

    accesses!(u32);
}

impl Width for u64 {
    const BITS: u32 = 64;

    #[inline(always)]
    unsafe fn read(register: *const u8) -> u64 {
        *register.cast::<u64>()
    }

    #[inline(always)]
    unsafe fn write(register: *mut u8, value: u64) {
        *register.cast::<u64>() = value;
    }

    accesses!(u64);
}

/// How an address is computed.
pub(super) trait Address: Copy {
    unsafe fn of<const C: bool>(x: X<C>) -> u64;
}

/// Base and displacement; the base may be the zero register or a segment's.
#[derive(Clone, Copy)]
pub(super) struct Based;

/// Base, scaled index and displacement.
#[derive(Clone, Copy)]
pub(super) struct Indexed;

impl Address for Based {
    #[inline(always)]
    unsafe fn of<const C: bool>(x: X<C>) -> u64 {
        x.get::<u64>(x.uop().base).wrapping_add(x.uop().disp)
    }
}

impl Address for Indexed {
    #[inline(always)]
    unsafe fn of<const C: bool>(x: X<C>) -> u64 {
        let index = x.get::<u64>(x.uop().index) << (x.uop().shift & 3);
        Based::of(x).wrapping_add(index)
    }
}

/// What the micro-operation before wrote, and displacement.
#[derive(Clone, Copy)]
pub(super) struct BasedOnLast;

/// Base, displacement, and what the micro-operation before wrote as scaled index.
#[derive(Clone, Copy)]
pub(super) struct IndexedByLast;

impl Address for BasedOnLast {
    #[inline(always)]
    unsafe fn of<const C: bool>(x: X<C>) -> u64 {
        x.last.assume_init().wrapping_add(x.uop().disp)
    }
}

impl Address for IndexedByLast {
    #[inline(always)]
    unsafe fn of<const C: bool>(x: X<C>) -> u64 {
        Based::of(x).wrapping_add(x.last.assume_init() << (x.uop().shift & 3))
    }
}

/// Where an operand that is only read comes from.
pub(super) trait Source: Copy {
    unsafe fn read<T: Width, const C: bool>(x: X<C>) -> Result<u64, Stopped>;
}

/// The register `s`.
#[derive(Clone, Copy)]
pub(super) struct Register;

/// The register that `base` names, in a micro-operation without address.
#[derive(Clone, Copy)]
pub(super) struct Third;

impl Source for Third {
    #[inline(always)]
    unsafe fn read<T: Width, const C: bool>(x: X<C>) -> Result<u64, Stopped> {
        Ok(x.get::<T>(x.uop().base))
    }
}

/// The register `d`.
#[derive(Clone, Copy)]
pub(super) struct Destination;

/// The immediate, already cut to size.
#[derive(Clone, Copy)]
pub(super) struct Immediate;

/// The immediate in the lower half, next to a branch target.
#[derive(Clone, Copy)]
pub(super) struct Half;

/// The memory operand.
#[derive(Clone, Copy)]
pub(super) struct At<A>(std::marker::PhantomData<A>);

impl Source for Register {
    #[inline(always)]
    unsafe fn read<T: Width, const C: bool>(x: X<C>) -> Result<u64, Stopped> {
        Ok(x.get::<T>(x.uop().s))
    }
}

impl Source for Destination {
    #[inline(always)]
    unsafe fn read<T: Width, const C: bool>(x: X<C>) -> Result<u64, Stopped> {
        Ok(x.get::<T>(x.uop().d))
    }
}

/// What the micro-operation before wrote to its register.
#[derive(Clone, Copy)]
pub(super) struct Before;

impl Source for Before {
    #[inline(always)]
    unsafe fn read<T: Width, const C: bool>(x: X<C>) -> Result<u64, Stopped> {
        Ok(T::zero_extend(x.last.assume_init()))
    }
}

impl Source for Immediate {
    #[inline(always)]
    unsafe fn read<T: Width, const C: bool>(x: X<C>) -> Result<u64, Stopped> {
        Ok(x.uop().imm)
    }
}

impl Source for Half {
    #[inline(always)]
    unsafe fn read<T: Width, const C: bool>(x: X<C>) -> Result<u64, Stopped> {
        Ok(T::zero_extend(x.uop().imm as i32 as u64))
    }
}

impl<A: Address> Source for At<A> {
    #[inline(always)]
    unsafe fn read<T: Width, const C: bool>(x: X<C>) -> Result<u64, Stopped> {
        x.load::<T>(A::of(x))
    }
}
