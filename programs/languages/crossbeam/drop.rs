//! Two threads send, and the last receiver goes away (RUSTSEC-2025-0024): if one of them is about to install the first block of
//! the channel's list, crossbeam-channel 0.5.14 frees that block twice.
use crossbeam_channel::unbounded;
use std::thread;

fn main() {
    let (sender, receiver) = unbounded::<u8>();
    let other = sender.clone();
    let sending = thread::spawn(move || other.send(1).is_ok());
    let _ = sender.send(2);
    drop(receiver);
    sending.join().unwrap();
}
