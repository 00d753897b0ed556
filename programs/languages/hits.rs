//! Two threads count without a mutex: one hit may be lost.
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static HITS: AtomicU32 = AtomicU32::new(0);

fn count() {
    let hits = HITS.load(SeqCst);
    HITS.store(hits + 1, SeqCst);
}

fn main() {
    let threads = [thread::spawn(count), thread::spawn(count)];
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(HITS.load(SeqCst), 2);
}
