//! Two threads count under a mutex: holds.
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let counter = Arc::new(Mutex::new(0));
    let count = || {
        let counter = Arc::clone(&counter);
        thread::spawn(move || *counter.lock().unwrap() += 1)
    };
    let threads = [count(), count()];
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*counter.lock().unwrap(), 2);
}
