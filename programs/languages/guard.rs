//! `main` joins a thread that waits for what `main` has locked: a deadlock. With `--cfg cured` it unlocks first, and holds.
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let total = Arc::new(Mutex::new(0));
    let mut guard = total.lock().unwrap();
    *guard += 1;
    let shared = Arc::clone(&total);
    let adder = thread::spawn(move || *shared.lock().unwrap() += 1);
    #[cfg(cured)]
    drop(guard);
    adder.join().unwrap();
}
