//! One page of bytes, shared until it is written, and the pool that recycles pages.

#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::sync::Arc;

use crate::PAGE_BYTES;

/// The bytes of a page.
pub(crate) type Bytes = [u8; PAGE_BYTES];

/// A page of memory. Not aligned to cache lines: what copies and hashes would gain is less than what the allocator loses.
#[repr(align(16))]
pub(crate) struct Page(UnsafeCell<Bytes>);

// SAFETY: a page is written only while a single `Arc` to it exists (`write`), or through a write tag of the translation
// cache, which exists only for pages that are owned since the current epoch and therefore referenced once. Pages seen by
// two threads are referenced twice, so neither writes them.
unsafe impl Sync for Page {}

/// A page that was never written.
pub(crate) static ZERO: Page = Page(UnsafeCell::new([0; PAGE_BYTES]));

impl Page {
    /// The content. The borrow must not outlive the next write, which needs the whole memory exclusively.
    pub(crate) fn bytes(&self) -> &Bytes {
        // SAFETY: writes happen only inside calls that hold `&mut Memory`, and no reference from here is kept across them.
        unsafe { &*self.0.get() }
    }

    /// Where the bytes are, for the translation cache.
    pub(crate) fn pointer(&self) -> *mut u8 {
        self.0.get().cast()
    }
}

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Page({:p})", self.pointer())
    }
}

/// Writes into a page with one reference.
pub(crate) fn write(page: &mut Arc<Page>, offset: usize, bytes: &[u8]) {
    assert_eq!(Arc::strong_count(page), 1, "a shared page is never written");
    assert!(offset + bytes.len() <= PAGE_BYTES, "a write stays inside its page");
    // SAFETY: in bounds and unshared by the assertions; `&mut Arc` excludes others meanwhile. Raw pointers of the
    // translation cache stay valid because no reference to the bytes is made.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), page.pointer().add(offset), bytes.len()) };
}

/// A page of its own with the given content, which is written once, not over zeros.
fn fresh(bytes: &Bytes) -> Arc<Page> {
    let mut page = Arc::<Page>::new_uninit();
    let inner = Arc::get_mut(&mut page).expect("a new page has one reference");
    // SAFETY: a page is its bytes alone, and all of them are written, into memory with one reference.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), inner.as_mut_ptr().cast::<u8>(), PAGE_BYTES);
        page.assume_init()
    }
}

/// Pages that were given back and wait for their next use.
#[derive(Debug, Default)]
pub(crate) struct Pool(Vec<Arc<Page>>);

/// More than this is returned to the host: sixteen mebibytes.
const POOL_MAX: usize = 4096;

impl Pool {
    /// A page with the given content.
    pub(crate) fn copy_of(&mut self, bytes: &Bytes) -> Arc<Page> {
        let Some(mut page) = self.0.pop() else { return fresh(bytes) };
        write(&mut page, 0, bytes);
        page
    }

    /// Takes a page back, unless there are other references to it.
    pub(crate) fn give(&mut self, page: Option<Arc<Page>>) {
        let Some(mut page) = page else { return };
        if self.0.len() < POOL_MAX && Arc::get_mut(&mut page).is_some() {
            self.0.push(page);
        }
    }
}
