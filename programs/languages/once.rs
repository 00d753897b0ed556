//! Two threads make a value at the same time, which should be made once. With `--cfg cured` one waits for the other: holds.
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static VALUE: OnceLock<u32> = OnceLock::new();
static MADE: AtomicU32 = AtomicU32::new(0);

fn make() -> u32 {
    MADE.fetch_add(1, SeqCst);
    7
}

fn value() -> u32 {
    if cfg!(cured) {
        return *VALUE.get_or_init(make);
    }
    let known = VALUE.get().copied();
    known.unwrap_or_else(|| {
        let _ = VALUE.set(make());
        7
    })
}

fn main() {
    for thread in [thread::spawn(value), thread::spawn(value)] {
        assert_eq!(thread.join().unwrap(), 7);
    }
    assert_eq!(MADE.load(SeqCst), 1);
}
