//! Connections have one name in the world of the search, and another one in the world of a peer.
//!
//! Names are creation paths: two worlds make the same ones. So a name of one world never names anything in the other.
//!
//! Example: both worlds call the first connection of their first process the same, since names are
//! creation paths. Exclusive or with the peer's own number keeps the two name spaces apart.

use kernel::Id;
use rustc_hash::FxHashMap;

/// Names of connections inside and outside of the world of a peer.
#[derive(Default)]
pub(crate) struct Names {
    /// What stands for the peer.
    own: u64,
    outside: FxHashMap<Id, Id>,
    inside: FxHashMap<Id, Id>,
}

impl Names {
    /// Names for a peer.
    pub fn of(peer: &str) -> Self {
        Self { own: Id::named(peer).0, ..Self::default() }
    }

    /// The name inside of a connection that was opened outside.
    pub fn inside(&mut self, outside: Id) -> Id {
        let known = self.inside.get(&outside).copied();
        known.unwrap_or_else(|| self.pair(outside, self.translated(outside)).1)
    }

    /// The name outside of a connection that was opened inside.
    pub fn outside(&mut self, inside: Id) -> Id {
        let known = self.outside.get(&inside).copied();
        known.unwrap_or_else(|| self.pair(self.translated(inside), inside).0)
    }

    fn pair(&mut self, outside: Id, inside: Id) -> (Id, Id) {
        self.inside.insert(outside, inside);
        self.outside.insert(inside, outside);
        (outside, inside)
    }

    fn translated(&self, id: Id) -> Id {
        Id(id.0 ^ self.own).child(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_and_differ_from_peer_to_peer() {
        let (mut one, mut two) = (Names::of("one"), Names::of("two"));
        let inside = one.inside(Id(7));
        assert!(inside != Id(7) && one.inside(Id(7)) == inside && one.outside(inside) == Id(7));
        let outside = one.outside(Id(9));
        assert!(outside != Id(9) && one.inside(outside) == Id(9));
        assert_ne!(two.outside(Id(9)), outside);
    }
}
