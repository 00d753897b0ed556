//! The same with the mutex of `parking_lot`, locked in one order: holds.
use parking_lot::Mutex;
use std::sync::Arc;
use std::thread;

type Account = Arc<Mutex<i32>>;

fn transfer(first: &Account, second: &Account, amount: i32) {
    let mut first = first.lock();
    let mut second = second.lock();
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
    assert_eq!(*alice.lock() + *bob.lock(), 20);
}
