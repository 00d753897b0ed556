//! A thread waits without looking whether it was told already: it may wait for ever. With `--cfg cured` it looks: holds.
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

fn main() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let shared = Arc::clone(&pair);
    let waiter = thread::spawn(move || {
        let (ready, told) = &*shared;
        let mut is_ready = ready.lock().unwrap();
        while cfg!(not(cured)) || !*is_ready {
            is_ready = told.wait(is_ready).unwrap();
            if *is_ready {
                break;
            }
        }
    });
    let shared = Arc::clone(&pair);
    let teller = thread::spawn(move || {
        *shared.0.lock().unwrap() = true;
        shared.1.notify_one();
    });
    waiter.join().unwrap();
    teller.join().unwrap();
}
