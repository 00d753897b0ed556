//! Transfers between accounts, each with a lock of its own.
use std::sync::{Arc, Mutex};

/// An account.
pub type Account = Arc<Mutex<i32>>;

/// Locks the payer first: two transfers in opposite directions can wait for each other.
pub fn transfer(from: &Account, to: &Account, amount: i32) {
    let mut from = from.lock().unwrap();
    let mut to = to.lock().unwrap();
    *from -= amount;
    *to += amount;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::spawn;

    fn two_transfers(is_back: bool) {
        let [alice, bob] = [10, 10].map(|amount| Account::new(Mutex::new(amount)));
        let (a, b) = (alice.clone(), bob.clone());
        let one = spawn(move || transfer(&a, &b, 1));
        let (a, b) = (alice.clone(), bob.clone());
        let two = spawn(move || if is_back { transfer(&b, &a, 2) } else { transfer(&a, &b, 2) });
        one.join().unwrap();
        two.join().unwrap();
        assert_eq!(*alice.lock().unwrap() + *bob.lock().unwrap(), 20);
    }

    #[test]
    fn one_way() {
        two_transfers(false);
    }

    #[test]
    fn both_ways() {
        two_transfers(true);
    }

    /// Who locks first, pays first: nobody says who that is.
    #[test]
    fn first_come() {
        let order = Arc::new(Mutex::new(Vec::new()));
        let threads = [1, 2].map(|number| {
            let order = order.clone();
            spawn(move || order.lock().unwrap().push(number))
        });
        threads.map(|thread| thread.join().unwrap());
        assert_eq!(*order.lock().unwrap(), [1, 2]);
    }

    #[test]
    #[ignore]
    fn never_asked_for() {
        std::process::abort();
    }
}
