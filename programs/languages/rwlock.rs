//! A thread reads twice while another one wants to write: the second read waits for the writer, who waits for the first read.
//! With `--cfg cured` the first read is over before the second: holds.
use std::sync::{Arc, RwLock};
use std::thread;

fn main() {
    let value = Arc::new(RwLock::new(0));
    let shared = Arc::clone(&value);
    let reader = thread::spawn(move || {
        let first = shared.read().unwrap();
        #[cfg(cured)]
        let first = {
            let seen = *first;
            drop(first);
            &seen.clone()
        };
        let second = shared.read().unwrap();
        assert!(*first <= *second);
    });
    let shared = Arc::clone(&value);
    let writer = thread::spawn(move || *shared.write().unwrap() += 1);
    reader.join().unwrap();
    writer.join().unwrap();
    assert_eq!(*value.read().unwrap(), 1);
}
