//! Which host instruction does which guest instruction: its own namesake.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use std::arch::asm;

use iced_x86::{Instruction, Mnemonic, OpKind};

use super::{Direction, Handler, Uop, Vector, by_immediate, pick_float, pick_plain};
use crate::lower::ops::vector_operands::operands;
use crate::machine::xmm_index;

/// The body of [`Vector::run`], by what is read of the second operand. A whole one is loaded by itself, for guest memory that is
/// aligned need not be so on the host.
macro_rules! body {
    (u128, $text:literal, $d:ident, $s:ident) => {
        asm!(
            "movaps {a}, [{d}]", "movups {b}, [{s}]", concat!($text, " {a}, {b}"), "movaps [{d}], {a}",
            d = in(reg) $d, s = in(reg) $s, a = out(xmm_reg) _, b = out(xmm_reg) _, options(nostack)
        )
    };
    (u64, $text:literal, $d:ident, $s:ident) => {
        asm!(
            "movaps {a}, [{d}]", concat!($text, " {a}, qword ptr [{s}]"), "movaps [{d}], {a}",
            d = in(reg) $d, s = in(reg) $s, a = out(xmm_reg) _, options(nostack)
        )
    };
    (u32, $text:literal, $d:ident, $s:ident) => {
        asm!(
            "movaps {a}, [{d}]", concat!($text, " {a}, dword ptr [{s}]"), "movaps [{d}], {a}",
            d = in(reg) $d, s = in(reg) $s, a = out(xmm_reg) _, options(nostack)
        )
    };
}

/// One type for each instruction, and a function from mnemonics to handlers.
macro_rules! instructions {
    ($function:ident, $pick:ident; $($word:tt { $($name:ident $text:literal)* })*) => {
        $($(
            struct $name;
            impl Vector for $name {
                type Word = $word;
                #[inline(always)]
                unsafe fn run(d: *mut u128, s: *const u8) {
                    body!($word, $text, d, s);
                }
            }
        )*)*

        pub(super) fn $function(mnemonic: Mnemonic, direction: Direction) -> Option<Handler> {
            match mnemonic {
                $($(Mnemonic::$name => $pick::<$name>(direction),)*)*
                _ => None,
            }
        }
    };
}

instructions! { pick_arithmetic, pick_float;
    u128 {
        Addps "addps" Subps "subps" Mulps "mulps" Divps "divps" Minps "minps" Maxps "maxps" Sqrtps "sqrtps"
        Addpd "addpd" Subpd "subpd" Mulpd "mulpd" Divpd "divpd" Minpd "minpd" Maxpd "maxpd" Sqrtpd "sqrtpd"
        Cvtpd2ps "cvtpd2ps" Cvtdq2ps "cvtdq2ps" Cvtps2dq "cvtps2dq" Cvttps2dq "cvttps2dq"
        Cvtpd2dq "cvtpd2dq" Cvttpd2dq "cvttpd2dq"
    }
    u64 {
        Addsd "addsd" Subsd "subsd" Mulsd "mulsd" Divsd "divsd" Minsd "minsd" Maxsd "maxsd" Sqrtsd "sqrtsd"
        Cvtsd2ss "cvtsd2ss" Cvtps2pd "cvtps2pd"
    }
    u32 {
        Addss "addss" Subss "subss" Mulss "mulss" Divss "divss" Minss "minss" Maxss "maxss" Sqrtss "sqrtss"
        Cvtss2sd "cvtss2sd"
    }
}

instructions! { pick_lanes, pick_plain;
    u128 {
        Andps "andps" Andpd "andpd" Pand "pand" Andnps "andnps" Andnpd "andnpd" Pandn "pandn"
        Orps "orps" Orpd "orpd" Por "por" Xorps "xorps" Xorpd "xorpd" Pxor "pxor"
        Paddb "paddb" Paddw "paddw" Paddd "paddd" Paddq "paddq" Psubb "psubb" Psubw "psubw" Psubd "psubd" Psubq "psubq"
        Paddsb "paddsb" Paddsw "paddsw" Paddusb "paddusb" Paddusw "paddusw"
        Psubsb "psubsb" Psubsw "psubsw" Psubusb "psubusb" Psubusw "psubusw"
        Pmullw "pmullw" Pmulhw "pmulhw" Pmulhuw "pmulhuw" Pmuludq "pmuludq" Pmaddwd "pmaddwd" Psadbw "psadbw"
        Pavgb "pavgb" Pavgw "pavgw" Pminub "pminub" Pminsw "pminsw" Pmaxub "pmaxub" Pmaxsw "pmaxsw"
        Pcmpeqb "pcmpeqb" Pcmpeqw "pcmpeqw" Pcmpeqd "pcmpeqd" Pcmpgtb "pcmpgtb" Pcmpgtw "pcmpgtw" Pcmpgtd "pcmpgtd"
        Packsswb "packsswb" Packssdw "packssdw" Packuswb "packuswb"
        Punpcklbw "punpcklbw" Punpcklwd "punpcklwd" Punpckldq "punpckldq" Punpcklqdq "punpcklqdq"
        Punpckhbw "punpckhbw" Punpckhwd "punpckhwd" Punpckhdq "punpckhdq" Punpckhqdq "punpckhqdq"
        Unpcklps "unpcklps" Unpcklpd "unpcklpd" Unpckhps "unpckhps" Unpckhpd "unpckhpd"
        Psllw "psllw" Pslld "pslld" Psllq "psllq" Psrlw "psrlw" Psrld "psrld" Psrlq "psrlq" Psraw "psraw" Psrad "psrad"
    }
    u64 { Cvtdq2pd "cvtdq2pd" }
}

/// Shifts by a number in the instruction. Sixteen bytes from the immediate on are still in the micro-operation, and of a count
/// only eight are read.
fn pick_shift(mnemonic: Mnemonic) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Psllw => by_immediate::<Psllw>,
        Mnemonic::Pslld => by_immediate::<Pslld>,
        Mnemonic::Psllq => by_immediate::<Psllq>,
        Mnemonic::Psrlw => by_immediate::<Psrlw>,
        Mnemonic::Psrld => by_immediate::<Psrld>,
        Mnemonic::Psrlq => by_immediate::<Psrlq>,
        Mnemonic::Psraw => by_immediate::<Psraw>,
        Mnemonic::Psrad => by_immediate::<Psrad>,
        _ => return None,
    })
}

/// Fills in the operands and picks the handler for an instruction on lanes.
pub(super) fn pick(u: &mut Uop, i: &Instruction) -> Option<Handler> {
    if i.op1_kind() == OpKind::Immediate8 && i.op_count() == 2 {
        u.imm = u64::from(i.immediate8());
        let number = i.op0_register().is_xmm().then(|| xmm_index(i.op0_register()))?;
        u.d = number as u8;
        return pick_shift(i.mnemonic());
    }
    let known = pick_lanes(i.mnemonic(), Direction::Between).is_some();
    if known { pick_lanes(i.mnemonic(), operands(u, i)?) } else { None }
}

/// `cmpps` and its kin, one type for each predicate.
macro_rules! comparisons {
    ($($name:ident $text:literal $word:tt $from:literal;)*) => {$(
        struct $name<const PREDICATE: u8>;
        impl<const PREDICATE: u8> Vector for $name<PREDICATE> {
            type Word = $word;
            #[inline(always)]
            unsafe fn run(d: *mut u128, s: *const u8) {
                asm!(
                    "movaps {a}, [{d}]", concat!($from, " {b}, [{s}]"), concat!($text, " {a}, {b}, {p}"), "movaps [{d}], {a}",
                    d = in(reg) d, s = in(reg) s, a = out(xmm_reg) _, b = out(xmm_reg) _, p = const PREDICATE, options(nostack)
                )
            }
        }
    )*

        /// The handler for a comparison into a mask.
        pub(super) fn pick_compare(i: &Instruction, direction: Direction) -> Option<Handler> {
            match (i.mnemonic(), i.immediate8() & 7) {
                $(
                    (Mnemonic::$name, 0) => pick_float::<$name<0>>(direction),
                    (Mnemonic::$name, 1) => pick_float::<$name<1>>(direction),
                    (Mnemonic::$name, 2) => pick_float::<$name<2>>(direction),
                    (Mnemonic::$name, 3) => pick_float::<$name<3>>(direction),
                    (Mnemonic::$name, 4) => pick_float::<$name<4>>(direction),
                    (Mnemonic::$name, 5) => pick_float::<$name<5>>(direction),
                    (Mnemonic::$name, 6) => pick_float::<$name<6>>(direction),
                    (Mnemonic::$name, _) => pick_float::<$name<7>>(direction),
                )*
                _ => None,
            }
        }
    };
}

comparisons! {
    Cmpps "cmpps" u128 "movups";
    Cmppd "cmppd" u128 "movups";
    Cmpss "cmpss" u32 "movss";
    Cmpsd "cmpsd" u64 "movsd";
}
