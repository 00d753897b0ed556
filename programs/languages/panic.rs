//! Two threads take the last ticket.
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

static TICKETS: AtomicUsize = AtomicUsize::new(1);

fn take() {
    if TICKETS.load(SeqCst) == 0 {
        return;
    }
    let left = TICKETS.fetch_sub(1, SeqCst).checked_sub(1);
    left.expect("oversold");
}

fn main() {
    let other = thread::spawn(take);
    take();
    other.join().unwrap();
}
