//! Two transfers between two accounts, each of which locks its own account first: a deadlock.
use std::sync::{Arc, Mutex};
use std::thread;

type Account = Arc<Mutex<i32>>;

fn transfer(from: &Account, to: &Account, amount: i32) {
    let mut from = from.lock().unwrap();
    let mut to = to.lock().unwrap();
    *from -= amount;
    *to += amount;
}

fn main() {
    let [alice, bob] = [10, 10].map(|amount| Account::new(Mutex::new(amount)));
    let (a, b) = (alice.clone(), bob.clone());
    let one = thread::spawn(move || transfer(&a, &b, 1));
    let (a, b) = (alice.clone(), bob.clone());
    let two = thread::spawn(move || transfer(&b, &a, 2));
    one.join().unwrap();
    two.join().unwrap();
    assert_eq!(*alice.lock().unwrap() + *bob.lock().unwrap(), 20);
}
