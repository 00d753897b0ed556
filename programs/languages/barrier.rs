//! A thread looks behind a barrier at what another one sets behind it. With `--cfg cured` it is set before: holds.
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Barrier};
use std::thread;

static SET: AtomicU32 = AtomicU32::new(0);

fn main() {
    let barrier = Arc::new(Barrier::new(2));
    let shared = Arc::clone(&barrier);
    let setter = thread::spawn(move || {
        if cfg!(cured) {
            SET.store(1, SeqCst);
        }
        shared.wait();
        SET.store(1, SeqCst);
    });
    let reader = thread::spawn(move || {
        barrier.wait();
        assert_eq!(SET.load(SeqCst), 1);
    });
    setter.join().unwrap();
    reader.join().unwrap();
}
