//! The processor that `cpuid` shows: the same on every host, x86-64-v2 with BMI1 and LZCNT.
//!
//! Vendor, family and model are those of a processor that had just x86-64-v2, because C libraries choose their functions by
//! them. BMI1 and LZCNT come on top because `tzcnt` and `lzcnt` are `bsf` and `bsr` to a processor without them: a program
//! that was compiled for them and does not ask would get wrong numbers, and not be stopped.
//!
//! Announcing less than the host has is always safe for a program, announcing more never: a C
//! library would choose a function with instructions that end the run. Instructions above this
//! level that are modelled all the same (AES, `pclmulqdq`) are for programs that were compiled for
//! them and do not ask.

/// Highest basic leaf.
const BASIC_MAX: u32 = 7;
/// Highest extended leaf.
const EXTENDED_MAX: u32 = 0x8000_0008;
/// Family 6, model 26, stepping 5.
///
/// A Nehalem: the first with SSE4.2 and POPCNT, the last without AES and AVX.
const SIGNATURE: u32 = 0x0001_06a5;
const BRAND: &[u8; 48] = b"Allways virtual processor, x86-64-v2\0\0\0\0\0\0\0\0\0\0\0\0";

/// SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT.
const FEATURES_C: u32 = 1 << 0 | 1 << 9 | 1 << 13 | 1 << 19 | 1 << 20 | 1 << 23;
/// The baseline: x87, TSC, CMPXCHG8B, CMOV, CLFLUSH, MMX, FXSR, SSE, SSE2, and what only kernels use.
const FEATURES_D: u32 = 0x078b_fbff;
/// BMI1 (leaf 7).
const STRUCTURED_B: u32 = 1 << 3;
/// LAHF in long mode, LZCNT.
const EXTENDED_C: u32 = 1 << 0 | 1 << 5;
/// SYSCALL, no-execute pages, RDTSCP, long mode.
const EXTENDED_D: u32 = 1 << 11 | 1 << 20 | 1 << 27 | 1 << 29;

/// eax, ebx, ecx, edx for a leaf and its subleaf.
pub(super) fn answer(leaf: u32, subleaf: u32) -> [u32; 4] {
    match leaf {
        0 => vendor(BASIC_MAX),
        // One processor with number 0; cache lines of 8 quadwords.
        1 => [SIGNATURE, 1 << 16 | 8 << 8, FEATURES_C, FEATURES_D],
        // "Ask leaf 4", and a prefetch size of 64 bytes.
        2 => [0x0000_ff01, 0xf0, 0, 0],
        4 => cache(subleaf),
        7 if subleaf == 0 => [0, STRUCTURED_B, 0, 0],
        0x8000_0000 => [EXTENDED_MAX, 0, 0, 0],
        0x8000_0001 => [0, 0, EXTENDED_C, EXTENDED_D],
        0x8000_0002..=0x8000_0004 => brand(leaf - 0x8000_0002),
        // Second-level cache: 256 KiB, 8 ways, lines of 64 bytes.
        0x8000_0006 => [0, 0, 0x0100_6040, 0],
        // The time stamp counter runs at one rate.
        0x8000_0007 => [0, 0, 0, 1 << 8],
        // 40 physical and 48 virtual address bits.
        0x8000_0008 => [0x3028, 0, 0, 0],
        _ => [0; 4],
    }
}

fn vendor(max: u32) -> [u32; 4] {
    let word = |text: &[u8; 4]| u32::from_le_bytes(*text);
    [max, word(b"Genu"), word(b"ntel"), word(b"ineI")]
}

fn brand(part: u32) -> [u32; 4] {
    let at = |k: usize| {
        let start = 16 * part as usize + 4 * k;
        u32::from_le_bytes(std::array::from_fn(|byte| BRAND[start + byte]))
    };
    std::array::from_fn(at)
}

/// Leaf 4: type and level, then line size and ways, then sets.
fn cache(subleaf: u32) -> [u32; 4] {
    const SELF_INITIALISING: u32 = 1 << 8;
    let describe = |kind: u32, level: u32, ways: u32, sets: u32| {
        [kind | level << 5 | SELF_INITIALISING, 63 | (ways - 1) << 22, sets - 1, 0]
    };
    match subleaf {
        0 => describe(1, 1, 8, 64),    // 32 KiB of data
        1 => describe(2, 1, 4, 128),   // 32 KiB of instructions
        2 => describe(3, 2, 8, 512),   // 256 KiB
        3 => describe(3, 3, 16, 8192), // 8 MiB
        _ => [0; 4],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_have_the_sizes_that_the_comments_say() {
        let size = |subleaf: u32| {
            let [_, b, c, _] = cache(subleaf);
            ((b >> 22) + 1) * ((b & 0xfff) + 1) * (c + 1)
        };
        assert_eq!([size(0), size(1), size(2), size(3)], [32 << 10, 32 << 10, 256 << 10, 8 << 20]);
    }

    #[test]
    fn nothing_above_v2_is_announced_but_what_bsf_and_bsr_would_be_taken_for() {
        let [_, _, c, _] = answer(1, 0);
        let (fma, movbe, aes, xsave, osxsave, avx) = (1 << 12, 1 << 22, 1 << 25, 1 << 26, 1 << 27, 1 << 28);
        assert_eq!(c & (fma | movbe | aes | xsave | osxsave | avx), 0);
        assert_eq!([answer(7, 0), answer(7, 1)], [[0, STRUCTURED_B, 0, 0], [0; 4]]);
    }
}
