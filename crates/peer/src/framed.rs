//! A peer that is told messages as a whole: bytes of one that is not complete are kept back, so that it does not matter into which
//! calls a program cuts it.

use crate::framing::Framing;
use crate::{Heard, Outside, Traffic, Trouble};
use kernel::Id;
use kernel::net::far::{Place, Said, Saying};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A peer that is told messages as a whole.
pub struct Framed {
    peer: Arc<dyn Outside>,
    framing: Framing,
    /// Whether its answers come in any order.
    is_unordered: bool,
    places: Mutex<FxHashMap<Place, Told>>,
}

/// What the peer was told of what was said up to a place.
#[derive(Clone, Default)]
struct Told {
    place: Place,
    /// What was kept back, by connection.
    kept_back: BTreeMap<Id, Vec<u8>>,
}

impl Framed {
    /// The same peer, told one message after the other.
    #[must_use]
    pub fn new(peer: Arc<dyn Outside>, framing: Framing, is_unordered: bool) -> Self {
        Self { peer, framing, is_unordered, places: Mutex::default() }
    }

    fn places(&self) -> MutexGuard<'_, FxHashMap<Place, Told>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told_at(&self, place: Place) -> Told {
        self.places().get(&place).cloned().unwrap_or_default()
    }

    /// Tells the messages that are complete.
    fn tell_bytes(&self, mut told: Told, end: Id, bytes: &[u8]) -> Told {
        let kept_back = told.kept_back.remove(&end).unwrap_or_default();
        let all = [&kept_back, bytes].concat();
        let mut rest = &all[..];
        while let Some(length) = self.framing.first(rest).filter(|length| *length > 0) {
            let (message, others) = rest.split_at(length);
            told.place = self.peer.after(told.place, &Said { end, what: Saying::Bytes(message.to_vec()) });
            rest = others;
        }
        if !rest.is_empty() {
            told.kept_back.insert(end, rest.to_vec());
        }
        told
    }

    /// Tells something else, which what was kept back comes before.
    fn tell(&self, mut told: Told, said: &Said) -> Told {
        if let Some(rest) = told.kept_back.remove(&said.end) {
            told.place = self.peer.after(told.place, &Said { end: said.end, what: Saying::Bytes(rest) });
        }
        told.place = self.peer.after(told.place, said);
        told
    }
}

impl Outside for Framed {
    fn name(&self) -> &str {
        self.peer.name()
    }

    fn after(&self, place: Place, said: &Said) -> Place {
        let told = self.told_at(place);
        let told = match &said.what {
            Saying::Bytes(bytes) => self.tell_bytes(told, said.end, bytes),
            _ => self.tell(told, said),
        };
        let after = place.after(said);
        self.places().entry(after).or_insert(told);
        after
    }

    fn heard(&self, place: Place) -> Result<Arc<Heard>, Trouble> {
        self.peer.heard(self.told_at(place).place)
    }

    fn unordered(&self) -> Option<Framing> {
        Some(self.framing).filter(|_| self.is_unordered)
    }

    fn close(&self) {
        self.peer.close();
    }

    fn traffic(&self) -> Traffic {
        self.peer.traffic()
    }

    fn told(&self) -> String {
        self.peer.told()
    }

    fn statuses(&self) -> Vec<i32> {
        self.peer.statuses()
    }
}
