//! Where memory comes from; where the host has none left, the program ends with an answer instead of a signal.

use crate::exit::Exit;
use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};

/// Ends the program with the exit code of an inconclusive check when the host gives no memory.
///
/// What was found so far is lost: to tell it would take memory. `--mem` ends a check before it comes to that.
pub struct OrExit;

#[cold]
#[inline(never)]
fn out_of_memory(bytes: usize) -> *mut u8 {
    use std::io::Write;
    let mut text = [0; 160];
    let mut rest = &mut text[..];
    // Formatting a number takes no memory; nor does writing to standard error.
    let _ = writeln!(
        rest,
        "error: the host has no memory left (for {bytes} bytes more)\n  = help: --mem SIZE ends a check before that"
    );
    let left = rest.len();
    let _ = std::io::stderr().write_all(&text[..text.len() - left]);
    std::process::exit(i32::from(Exit::Inconclusive.code()));
}

fn or_exit(pointer: *mut u8, bytes: usize) -> *mut u8 {
    if pointer.is_null() { out_of_memory(bytes) } else { pointer }
}

// SAFETY: every call goes to another allocator as it came; what that returns is returned.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for OrExit {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of the same method.
        or_exit(unsafe { MiMalloc.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        or_exit(unsafe { MiMalloc.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        or_exit(unsafe { MiMalloc.realloc(pointer, layout, size) }, size)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { MiMalloc.dealloc(pointer, layout) }
    }
}
