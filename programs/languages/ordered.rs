//! Two transfers between two accounts that lock them in the same order: holds. `transfer.rs` has each lock its own first.
use std::sync::{Arc, Mutex};
use std::thread;

type Account = Arc<Mutex<i32>>;

fn transfer(first: &Account, second: &Account, amount: i32) {
    let mut first = first.lock().unwrap();
    let mut second = second.lock().unwrap();
    *first -= amount;
    *second += amount;
}

fn main() {
    let [alice, bob] = [10, 10].map(|amount| Account::new(Mutex::new(amount)));
    let (a, b) = (alice.clone(), bob.clone());
    let one = thread::spawn(move || transfer(&a, &b, 1));
    let (a, b) = (alice.clone(), bob.clone());
    let two = thread::spawn(move || transfer(&a, &b, -2));
    one.join().unwrap();
    two.join().unwrap();
    assert_eq!(*alice.lock().unwrap() + *bob.lock().unwrap(), 20);
}
