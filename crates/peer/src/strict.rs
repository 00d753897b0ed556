//! A peer to which every schedule has to say the same.
//!
//! For each connection, what was first said at a position of its stream has to be said there in every schedule; one that says less
//! is no contradiction. What is said on different connections may come in any order.
//!
//! Which schedule came first is an accident of the search. So once schedules were seen to differ, all that they say at the first
//! such position of a connection can be made a contradiction, what was said first too: a second search then shows both schedules.

use crate::difference::excerpt;
use crate::{Framing, Heard, Outside, Stream, Traffic, Trouble};
use kernel::Id;
use kernel::net::far::{Place, Said, Saying};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
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
    /// How many connections were opened before each one, at least.
    opened: BTreeMap<Id, usize>,
    /// Where schedules differ first, by connection.
    variants: BTreeMap<Id, Variants>,
    /// Whether all variants are contradictions, and not only those that were not the first.
    refuses_all: bool,
    /// Places to which something leads that contradicts what another schedule says: with those that were not the first, and with all.
    contradictions: [FxHashMap<Place, String>; 2],
}

/// What schedules say at the first position of a connection where they differ.
///
/// **Invariant:** it does not depend on the order in which schedules come. Whichever was first, all others agree with it up to the
/// end of their common beginning, which is where the first difference is; and no schedule is cut off before that.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Variants {
    position: Position,
    /// Each up to that position: how much else was said is an accident of the search.
    texts: BTreeSet<Vec<u8>>,
}

/// A position of what is said on a connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Position {
    Byte(usize),
    Datagram(usize),
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
        let from = self.extend(place, said, after);
        let variant = match self.refuses_all {
            true => self.variant(said, from),
            false => self.compared(said, from),
        };
        if let Some((position, text)) = variant {
            let told = self.told(name, said.end, position, &text);
            self.contradictions[usize::from(self.refuses_all)].insert(after, told);
        }
    }

    /// Notes how much was said where something leads; how much was said on that connection before.
    fn extend(&mut self, place: Place, said: &Said, after: Place) -> usize {
        let known = self.lengths.get(&place).cloned();
        assert!(known.is_some() || place == Place::default(), "nobody has come to this place");
        let mut lengths = known.unwrap_or_default();
        let others = lengths.keys().filter(|end| **end != said.end).count();
        if !(self.refuses_all || lengths.contains_key(&said.end)) {
            let opened = self.opened.entry(said.end).or_insert(others);
            *opened = others.min(*opened);
        }
        let count = match &said.what {
            Saying::Bytes(bytes) => bytes.len(),
            Saying::Datagram { .. } => 1,
            _ => 0,
        };
        let length = Arc::make_mut(&mut lengths).entry(said.end).or_default();
        let from = std::mem::replace(length, *length + count);
        self.lengths.insert(after, lengths);
        from
    }

    /// Compares what is said from a position on with what was first said there, which grows; where they differ, and what is said.
    fn compared(&mut self, said: &Said, from: usize) -> Option<(Position, Vec<u8>)> {
        let (position, texts) = match &said.what {
            Saying::Bytes(bytes) => {
                let first = self.first.entry(said.end).or_default();
                let at = difference(first, from, bytes)?;
                let now = [&first[..from], &bytes[..=at - from]].concat();
                (Position::Byte(at), [now, first[..=at].to_vec()])
            }
            Saying::Datagram { bytes, .. } => {
                let first = self.datagrams.entry((said.end, from)).or_insert_with(|| bytes.clone());
                (Position::Datagram(from), [bytes.clone(), first.clone()])
            }
            _ => return None,
        };
        let [now, first] = texts;
        if now == first {
            return None;
        }
        let variants = self.variants.entry(said.end).or_insert_with(|| Variants { position, texts: BTreeSet::new() });
        if position < variants.position {
            *variants = Variants { position, texts: BTreeSet::new() };
        }
        if position == variants.position {
            variants.texts.extend([now.clone(), first]);
        }
        Some((position, now))
    }

    /// What is said at the position where schedules differ, if it comes to that.
    fn variant(&self, said: &Said, from: usize) -> Option<(Position, Vec<u8>)> {
        let position = self.variants.get(&said.end)?.position;
        let text = match (&said.what, position) {
            (Saying::Bytes(bytes), Position::Byte(at)) => {
                let byte = bytes.get(at.checked_sub(from)?)?;
                // Up to there all say the same.
                [&self.first.get(&said.end)?[..at], &[*byte]].concat()
            }
            (Saying::Datagram { bytes, .. }, Position::Datagram(number)) if number == from => bytes.clone(),
            _ => return None,
        };
        Some((position, text))
    }

    /// A contradiction in words: what this schedule says at a position, and the least that another one does.
    fn told(&self, name: &str, end: Id, position: Position, text: &[u8]) -> String {
        let variants = self.variants.get(&end).filter(|variants| variants.position == position);
        let other = variants.and_then(|variants| variants.texts.iter().find(|other| *other != text));
        let (place, at, first) = match position {
            Position::Byte(at) => (format!("byte {at}"), at, self.first.get(&end).and_then(|first| first.get(..=at))),
            Position::Datagram(number) => {
                (format!("datagram {}", number + 1), 0, self.datagrams.get(&(end, number)).map(Vec::as_slice))
            }
        };
        let other = other.map(Vec::as_slice).or(first).unwrap_or_default();
        let shown = |bytes: &[u8]| excerpt(&Stream { bytes: bytes.into(), end: None }, at);
        let (number, own, other) = (self.number(end), shown(text), shown(other));
        format!(
            "inconsistent: peer `{name}`, connection {number}, {place}: this schedule says {own}, another one {other}"
        )
    }

    fn contradiction(&self, place: Place) -> Option<String> {
        self.contradictions[usize::from(self.refuses_all)].get(&place).cloned()
    }

    /// Connections are numbered as they were opened at the earliest.
    fn number(&self, end: Id) -> usize {
        let key = |end: Id| (self.opened.get(&end).copied().unwrap_or(usize::MAX), end);
        1 + self.opened.keys().filter(|other| key(**other) < key(end)).count()
    }
}

/// Where what is said from a position on differs from what was first said there, which grows.
fn difference(first: &mut Vec<u8>, from: usize, bytes: &[u8]) -> Option<usize> {
    let known = first.get(from..).unwrap_or_default();
    let same = known.iter().zip(bytes).take_while(|(one, other)| one == other).count();
    if same < known.len().min(bytes.len()) {
        return Some(from + same);
    }
    first.extend_from_slice(bytes.get(known.len()..).unwrap_or_default());
    None
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

    fn close(&self) {
        self.peer.close();
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
        self.book().contradiction(place)
    }

    fn refuse_all_variants(&self, is_all: bool) {
        self.book().refuses_all = is_all;
    }

    fn variants(&self) -> Vec<[String; 2]> {
        let book = self.book();
        let pair = |(end, variants): (&Id, &Variants)| {
            let told = |text: &Vec<u8>| book.told(self.name(), *end, variants.position, text);
            let mut least = variants.texts.iter().take(2).map(told);
            Some([least.next()?, least.next()?])
        };
        book.variants.iter().filter_map(pair).collect()
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
            book.contradiction(after)
        })
    }

    #[test]
    fn what_is_said_first_has_to_be_said_again_however_it_is_cut() {
        let mut book = Book::default();
        assert_eq!(said(&mut book, &[bytes(7, "GET"), bytes(3, "x"), bytes(7, " a")]), None);
        assert_eq!(said(&mut book, &[bytes(3, "x"), bytes(7, "G"), bytes(7, "ET a\n")]), None, "another order and cut");
        assert_eq!(said(&mut book, &[bytes(7, "GE")]), None, "less");
        let told = said(&mut book, &[bytes(7, "GET"), bytes(7, " b\n")]).unwrap_or_default();
        assert!(told.contains("byte 4: this schedule says \"GET b\", another one \"GET a\""), "{told}");
        let told = said(&mut book, &[bytes(3, "w")]).unwrap_or_default();
        assert!(told.contains("byte 0: this schedule says \"w\", another one \"x\""), "{told}");
    }

    #[test]
    fn datagrams_count_one_by_one() {
        let datagram = |text: &str| Said { end: Id(7), what: Saying::Datagram { from: 1, bytes: text.into() } };
        let mut book = Book::default();
        assert_eq!(said(&mut book, &[datagram("ab"), datagram("c")]), None);
        let told = said(&mut book, &[datagram("ab"), datagram("cd")]).unwrap_or_default();
        assert!(told.contains("datagram 2: this schedule says \"cd\", another one \"c\""), "{told}");
        book.refuses_all = true;
        let told = said(&mut book, &[datagram("ab"), datagram("c")]).unwrap_or_default();
        assert!(told.contains("datagram 2: this schedule says \"c\", another one \"cd\""), "{told}");
    }

    /// All that is said of four schedules in one order, and again once all variants are refused.
    fn variants(order: [usize; 4]) -> (Vec<Option<String>>, Option<Variants>) {
        let schedules = ["begin c", "begin b", "begin also", "begin at"];
        let way = |text: &str| [bytes(9, "hello"), bytes(5, "begin "), bytes(5, &text[6..])];
        let mut book = Book::default();
        for index in order {
            said(&mut book, &way(schedules[index]));
        }
        book.refuses_all = true;
        let told = schedules.iter().map(|text| said(&mut book, &way(text))).collect();
        (told, book.variants.get(&Id(5)).cloned())
    }

    #[test]
    fn variants_do_not_depend_on_who_came_first() {
        let expected = variants([0, 1, 2, 3]);
        let told = |own: &str, other: &str| {
            let says = format!("this schedule says \"begin {own}\", another one \"begin {other}\"");
            Some(format!("inconsistent: peer `db`, connection 2, byte 6: {says}"))
        };
        assert_eq!(expected.0, [told("c", "a"), told("b", "a"), told("a", "b"), told("a", "b")]);
        for order in [[1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0], [2, 0, 3, 1]] {
            assert_eq!(variants(order), expected, "{order:?}");
        }
    }
}
