//! A message may not be there yet when it is asked for. With `--cfg cured` it is waited for: holds.
use std::sync::mpsc::channel;
use std::thread;

fn main() {
    let (sender, receiver) = channel();
    let teller = thread::spawn(move || sender.send(7).unwrap());
    let told = if cfg!(cured) { receiver.recv().unwrap() } else { receiver.try_recv().unwrap() };
    assert_eq!(told, 7);
    teller.join().unwrap();
}
