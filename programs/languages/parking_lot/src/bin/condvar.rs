//! Two threads are told while the mutex is locked, and so wait in its queue next: holds.
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::thread;

fn main() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let waiter = || {
        let pair = Arc::clone(&pair);
        thread::spawn(move || {
            let mut is_ready = pair.0.lock();
            while !*is_ready {
                pair.1.wait(&mut is_ready);
            }
        })
    };
    let waiters = [waiter(), waiter()];
    let mut is_ready = pair.0.lock();
    *is_ready = true;
    pair.1.notify_all();
    drop(is_ready);
    for waiter in waiters {
        waiter.join().unwrap();
    }
}
