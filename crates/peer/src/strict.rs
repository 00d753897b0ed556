//! A peer to which every schedule has to say the same.
//!
//! For each connection, what was first said at a position of its stream has to be said there in every schedule; one that says less
//! is no contradiction. What is said on different connections may come in any order.

use crate::difference::excerpt;
use crate::{Framing, Heard, Outside, Stream, Traffic, Trouble};
use kernel::Id;
use kernel::net::far::{Place, Said, Saying};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A peer to which every schedule has to say the same.
pub struct Strict {
    peer: Arc<dyn Outside>,
    book: Mutex<Book>,
}

/// What was said.
#[derive(Default)]
struct Book {
    /// Bytes that were said on each connection, and datagrams on each flow, by place.
    lengths: FxHashMap<Place, Arc<BTreeMap<Id, usize>>>,
    /// What was first said on each connection.
    first: BTreeMap<Id, Vec<u8>>,
    /// Datagrams that were first said, by flow and number.
    datagrams: BTreeMap<(Id, usize), Vec<u8>>,
    /// Connections, numbered in the order in which they were first opened.
    numbers: BTreeMap<Id, usize>,
    /// Places to which something leads that contradicts what was first said.
    contradictions: FxHashMap<Place, String>,
}

impl Strict {
    /// The same peer, told the same in every schedule.
    #[must_use]
    pub fn new(peer: Arc<dyn Outside>) -> Self {
        Self { peer, book: Mutex::default() }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    /// Notes that something is said at a place, which leads to another one.
    fn note(&mut self, name: &str, place: Place, said: &Said, after: Place) {
        let known = self.lengths.get(&place).cloned();
        assert!(known.is_some() || place == Place::default(), "nobody has come to this place");
        let mut lengths = known.unwrap_or_default();
        let next = self.numbers.len() + 1;
        let number = *self.numbers.entry(said.end).or_insert(next);
        let count = match &said.what {
            Saying::Bytes(bytes) => bytes.len(),
            Saying::Datagram { .. } => 1,
            _ => 0,
        };
        let length = Arc::make_mut(&mut lengths).entry(said.end).or_default();
        let from = std::mem::replace(length, *length + count);
        let told = match &said.what {
            Saying::Bytes(bytes) => contradiction(self.first.entry(said.end).or_default(), from, bytes),
            Saying::Datagram { bytes, .. } => {
                let first = self.datagrams.entry((said.end, from)).or_insert_with(|| bytes.clone());
                (first != bytes).then(|| format!("datagram {}: {}", from + 1, both([first, bytes], 0)))
            }
            _ => None,
        };
        if let Some(told) = told {
            self.contradictions.insert(after, format!("inconsistent: peer `{name}`, connection {number}, {told}"));
        }
        self.lengths.insert(after, lengths);
    }
}

/// Compares what is said from a position on with what was first said there, which grows; how they differ, in words.
fn contradiction(first: &mut Vec<u8>, from: usize, bytes: &[u8]) -> Option<String> {
    let known = first.get(from..).unwrap_or_default();
    let same = known.iter().zip(bytes).take_while(|(one, other)| one == other).count();
    if same < known.len().min(bytes.len()) {
        let now = [&first[..from], bytes].concat();
        // How much else was said there so far is an accident of the search.
        let at = from + same;
        return Some(format!("byte {at}: {}", both([&first[..=at], &now[..=at]], at)));
    }
    first.extend_from_slice(bytes.get(known.len()..).unwrap_or_default());
    None
}

/// What two schedules say, around a byte. The order is that of the texts: which schedule came first is an accident of the search.
fn both(mut texts: [&[u8]; 2], at: usize) -> String {
    texts.sort_unstable();
    let [one, other] = texts.map(|bytes| excerpt(&Stream { bytes: bytes.into(), end: None }, at));
    format!("one schedule says {one}, another one {other}")
}

impl Outside for Strict {
    fn name(&self) -> &str {
        self.peer.name()
    }

    fn after(&self, place: Place, said: &Said) -> Place {
        let after = self.peer.after(place, said);
        self.book().note(self.peer.name(), place, said, after);
        after
    }

    fn heard(&self, place: Place) -> Result<Arc<Heard>, Trouble> {
        self.peer.heard(place)
    }

    fn unordered(&self) -> Option<Framing> {
        self.peer.unordered()
    }

    fn traffic(&self) -> Traffic {
        self.peer.traffic()
    }

    fn told(&self) -> String {
        self.peer.told()
    }

    fn is_independent(&self) -> bool {
        self.peer.is_independent()
    }

    fn agree(&self, places: &[(Id, Place)]) -> Result<(), Trouble> {
        self.peer.agree(places)
    }

    fn statuses(&self) -> Vec<i32> {
        self.peer.statuses()
    }

    fn contradiction(&self, place: Place) -> Option<String> {
        self.book().contradictions.get(&place).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(end: u64, text: &str) -> Said {
        Said { end: Id(end), what: Saying::Bytes(text.into()) }
    }

    /// Says all that, one after the other, from the beginning; what contradicts.
    fn said(book: &mut Book, all: &[Said]) -> Option<String> {
        let mut place = Place::default();
        all.iter().find_map(|said| {
            let after = place.after(said);
            book.note("db", place, said, after);
            place = after;
            book.contradictions.get(&after).cloned()
        })
    }

    #[test]
    fn what_is_said_first_has_to_be_said_again_however_it_is_cut() {
        let mut book = Book::default();
        assert_eq!(said(&mut book, &[bytes(7, "GET"), bytes(3, "x"), bytes(7, " a")]), None);
        assert_eq!(said(&mut book, &[bytes(3, "x"), bytes(7, "G"), bytes(7, "ET a\n")]), None, "another order and cut");
        assert_eq!(said(&mut book, &[bytes(7, "GE")]), None, "less");
        let told = said(&mut book, &[bytes(7, "GET"), bytes(7, " b\n")]);
        let expected =
            "inconsistent: peer `db`, connection 1, byte 4: one schedule says \"GET a\", another one \"GET b\"";
        assert_eq!(told.as_deref(), Some(expected));
        let told = said(&mut book, &[bytes(3, "w")]).unwrap_or_default();
        assert!(told.contains("connection 2, byte 0: one schedule says \"w\", another one \"x\""), "{told}");
    }

    #[test]
    fn datagrams_count_one_by_one() {
        let datagram = |text: &str| Said { end: Id(7), what: Saying::Datagram { from: 1, bytes: text.into() } };
        let mut book = Book::default();
        assert_eq!(said(&mut book, &[datagram("ab"), datagram("c")]), None);
        let told = said(&mut book, &[datagram("ab"), datagram("cd")]).unwrap_or_default();
        assert!(told.contains("datagram 2: one schedule says \"c\", another one \"cd\""), "{told}");
    }
}
