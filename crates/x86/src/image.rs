//! Floating-point state as 512 bytes, for a kernel that enters a signal handler and saves it without an instruction.
//!
//! Layout: SDM vol. 1, section 10.5.1 ("FXSAVE Area"). Linux puts this image into the frame of a
//! signal handler (`uc_mcontext.fpregs`), where the handler may read and change it, so the bytes
//! have to be the processor's own. The kernel's extension behind it (`struct _fpx_sw_bytes`, XSAVE)
//! is announced by a magic number in the last 48 bytes, which are zero here: there is none.

use crate::Cpu;
use crate::x87::{restore_fx, save_fx};

/// Bits of `mxcsr` that exist.
///
/// The same word is stored in the image as `MXCSR_MASK`: bit 6 (DAZ) is there, so that programs may
/// use it.
const MXCSR_MASK: u32 = 0xffff;

/// What `fxsave64` would write.
#[must_use]
pub fn fxsave_image(cpu: &Cpu) -> [u8; 512] {
    let mut image = [0; 512];
    let (head, stack) = save_fx(&cpu.x87);
    let last = u64::from(cpu.mxcsr) | u64::from(MXCSR_MASK) << 32;
    for (k, word) in head.into_iter().chain([last]).enumerate() {
        image[8 * k..8 * k + 8].copy_from_slice(&word.to_le_bytes());
    }
    for (k, register) in stack.into_iter().chain(cpu.xmm).enumerate() {
        image[32 + 16 * k..48 + 16 * k].copy_from_slice(&register.to_le_bytes());
    }
    image
}

/// Takes what `fxrstor64` would read; bits of `mxcsr` that do not exist are dropped, as Linux does.
///
/// `fxrstor` itself raises `#GP` on reserved bits; the kernel, on the way out of a signal handler,
/// clears them instead (`mxcsr_feature_mask` in Linux), because user code could otherwise make the
/// kernel fault.
pub fn fxrestore_image(cpu: &mut Cpu, image: &[u8; 512]) {
    let word = |k: usize| u64::from_le_bytes(image[8 * k..8 * k + 8].try_into().expect("eight bytes"));
    let register = |k: usize| u128::from_le_bytes(image[32 + 16 * k..48 + 16 * k].try_into().expect("sixteen bytes"));
    cpu.x87 = restore_fx([word(0), word(1), word(2)], std::array::from_fn(register));
    cpu.mxcsr = word(3) as u32 & MXCSR_MASK;
    cpu.xmm = std::array::from_fn(|k| register(8 + k));
}
