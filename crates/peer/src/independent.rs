//! A peer that answers each connection as if there were no other one: so its user says, and it is compared.
//!
//! Each connection has a conversation of its own, so that what is said on different ones is independent. In it the connection has
//! one name, whichever it is: connections on which the same is said share their answers. In states in which there are several,
//! the peer is told all of their conversations, mixed in one order, and what it answers is compared.

use crate::difference::{excerpt, shown};
use crate::ignore::Ignore;
use crate::{Framing, Heard, Outside, Traffic, Trouble};
use kernel::Id;
use kernel::map::Wide;
use kernel::net::far::{Place, Said, Saying};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The name of each connection in its own conversation.
const ALONE: Id = Id(1);
/// Conversations that have no more than so much in them together are all compared, longer ones by sample.
const SHORT: usize = 12;
/// One of so many is in the sample.
const SAMPLE: u128 = 16;

/// A peer that answers each connection as if there were no other one.
pub struct Independent {
    peer: Arc<dyn Outside>,
    ignore: Ignore,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    places: FxHashMap<Place, Own>,
    /// Conversations that were compared, by their places.
    compared: FxHashSet<u128>,
    /// How many were told to the peer for that.
    told: u64,
}

/// A place of the conversation of one connection.
#[derive(Clone)]
struct Own {
    before: Place,
    said: Said,
    /// Where the same is in the conversation with the peer.
    place: Place,
}

impl Book {
    /// All that leads to a place.
    fn way_to(&self, mut place: Place) -> Vec<Said> {
        let mut way = Vec::new();
        while let Some(own) = self.places.get(&place) {
            way.push(own.said.clone());
            place = own.before;
        }
        way.reverse();
        way
    }
}

impl Independent {
    /// The same peer; answers are compared but for what is left out.
    #[must_use]
    pub fn new(peer: Arc<dyn Outside>, ignore: Ignore) -> Self {
        Self { peer, ignore, book: Mutex::default() }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What all connections said, in an order that the key chooses.
    fn mixed(&self, places: &[(Id, Place)], key: u128) -> Vec<Said> {
        let book = self.book();
        let mut ways: Vec<_> = places.iter().map(|(_, place)| book.way_to(*place).into_iter().peekable()).collect();
        let mut mixed = Vec::new();
        loop {
            ways.retain_mut(|way| way.peek().is_some());
            if ways.is_empty() {
                return mixed;
            }
            let turn = Wide::hash_of((key, mixed.len())) % ways.len() as u128;
            mixed.extend(ways[turn as usize].next());
        }
    }

    /// Tells the peer what all connections said, in one order, and compares what each is answered.
    fn compare(&self, places: &[(Id, Place)], key: u128) -> Result<(), Trouble> {
        let mixed = self.mixed(places, key);
        if mixed.len() > SHORT && !key.is_multiple_of(SAMPLE) {
            return Ok(());
        }
        self.book().told += 1;
        let place = mixed.iter().fold(Place::default(), |place, said| self.peer.after(place, said));
        let together = self.peer.heard(place)?;
        for (number, (end, place)) in places.iter().enumerate() {
            let alone = self.heard(*place)?;
            if let Some(told) = self.difference(&alone, &together, *end) {
                return Err(Trouble::Inconclusive(format!(
                    "peer `{}` does not answer each connection as if there were no other one\n  connection {} of {}, {told}\n   \
                     leave out `connections = \"independent\"`: then all connections share one order",
                    self.peer.name(),
                    number + 1,
                    places.len()
                )));
            }
        }
        Ok(())
    }

    /// How a connection is answered differently when there are others.
    fn difference(&self, alone: &Heard, together: &Heard, end: Id) -> Option<String> {
        let stream = |heard: &Heard| self.ignore.compared(&heard.streams.get(&end).cloned().unwrap_or_default());
        let (one, other) = (stream(alone), stream(together));
        let at = one.bytes.iter().zip(&*other.bytes).take_while(|(one, other)| one == other).count();
        let datagrams = |heard: &Heard| heard.datagrams.get(&end).cloned().unwrap_or_default();
        let (some, others) = (datagrams(alone), datagrams(together));
        match (one == other, self.ignore.are_same_datagrams(&some, &others)) {
            (false, _) => Some(format!(
                "byte {at}\n   alone        {}\n   with others  {}",
                excerpt(&one, at),
                excerpt(&other, at)
            )),
            (true, false) => {
                Some(format!("datagrams\n   alone        {}\n   with others  {}", shown(&some), shown(&others)))
            }
            (true, true) => None,
        }
    }
}

/// What is said, by a connection that has the only name.
fn renamed(what: &Saying) -> Said {
    let what = match what {
        Saying::Datagram { bytes, .. } => Saying::Datagram { from: 0, bytes: bytes.clone() },
        other => other.clone(),
    };
    Said { end: ALONE, what }
}

impl Outside for Independent {
    fn name(&self) -> &str {
        self.peer.name()
    }

    fn after(&self, place: Place, said: &Said) -> Place {
        let mut book = self.book();
        let before = book.places.get(&place).map(|own| own.place).unwrap_or_default();
        let own = Own { before: place, said: said.clone(), place: self.peer.after(before, &renamed(&said.what)) };
        let after = place.after(said);
        book.places.entry(after).or_insert(own);
        after
    }

    fn heard(&self, place: Place) -> Result<Arc<Heard>, Trouble> {
        let own = self.book().places.get(&place).cloned();
        let Some(Own { said, place, .. }) = own else { return Ok(Arc::default()) };
        let heard = self.peer.heard(place)?;
        let stream = heard.streams.get(&ALONE).map(|stream| (said.end, stream.clone()));
        let datagrams = heard.datagrams.get(&ALONE).map(|answers| (said.end, answers.clone()));
        let (streams, datagrams) = (stream.into_iter().collect(), datagrams.into_iter().collect());
        Ok(Arc::new(Heard { streams, datagrams, ..Heard::default() }))
    }

    fn agree(&self, places: &[(Id, Place)]) -> Result<(), Trouble> {
        let key = Wide::hash_of(places);
        if places.len() < 2 || self.book().compared.contains(&key) {
            return Ok(());
        }
        self.compare(places, key)?;
        self.book().compared.insert(key);
        Ok(())
    }

    fn is_independent(&self) -> bool {
        true
    }

    fn unordered(&self) -> Option<Framing> {
        self.peer.unordered()
    }

    fn close(&self) {
        self.peer.close();
    }

    fn traffic(&self) -> Traffic {
        self.peer.traffic()
    }

    fn told(&self) -> String {
        format!("{}, connections independent: {} states compared", self.peer.told(), self.book().told)
    }

    fn statuses(&self) -> Vec<i32> {
        self.peer.statuses()
    }
}
