//! The same with the mutex of `parking_lot`: a deadlock.
use parking_lot::Mutex;
use std::sync::Arc;
use std::thread;

type Account = Arc<Mutex<i32>>;

fn transfer(from: &Account, to: &Account, amount: i32) {
    let mut from = from.lock();
    let mut to = to.lock();
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
    assert_eq!(*alice.lock() + *bob.lock(), 20);
}
