//! A thread is unparked before it is ready, looks, and parks for ever. With `--cfg cured` it is unparked behind that: holds.
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

static READY: AtomicBool = AtomicBool::new(false);

fn main() {
    let waiter = thread::spawn(|| {
        while !READY.load(SeqCst) {
            thread::park();
        }
    });
    let handle = waiter.thread().clone();
    let setter = thread::spawn(move || {
        if cfg!(cured) {
            READY.store(true, SeqCst);
        }
        handle.unpark();
        READY.store(true, SeqCst);
    });
    waiter.join().unwrap();
    setter.join().unwrap();
}
