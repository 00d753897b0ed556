//! Two answers of a peer to the same conversation, and where they differ, in words.
//!
//! A peer that answers differently when told the same again breaks the one assumption that
//! everything rests on. The check ends without a verdict, and this is what the user gets: the
//! connection, the byte, both texts around it, and what to do.

use crate::ignore::Ignore;
use crate::{Datagram, End, Heard, Stream};
use ::native::Clock;
use kernel::Id;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes that are shown before and after the first that differs.
const BEFORE: usize = 24;
const AFTER: usize = 40;

/// A peer that was told the same again.
pub(crate) struct Again<'a> {
    pub name: &'a str,
    /// Its connections, numbered in the order of opening.
    pub connections: &'a BTreeMap<Id, usize>,
    /// Its flows of datagrams, numbered likewise.
    pub flows: &'a BTreeMap<Id, usize>,
    /// How much it was told.
    pub messages: u64,
}

impl Again<'_> {
    /// How it answered differently.
    pub fn difference(&self, first: &Heard, again: &Heard, ignore: &Ignore, clock: Option<Clock>) -> String {
        let streams = self.streams(first, again, ignore);
        let (at, first, again) = streams.or_else(|| self.datagrams(first, again, ignore)).unwrap_or_default();
        format!(
            "peer `{}` answered differently when it was told the same again\n  after {} messages, {at}\n   \
             first  {first}\n   again  {again}\n   {}",
            self.name,
            self.messages,
            advice(clock)
        )
    }

    /// The first connection that differs: where, and both texts.
    fn streams(&self, first: &Heard, again: &Heard, ignore: &Ignore) -> Option<(String, String, String)> {
        let stream = |heard: &Heard, id: &Id| ignore.compared(&heard.streams.get(id).cloned().unwrap_or_default());
        let both = |id: &Id| [stream(first, id), stream(again, id)];
        let all = self.connections.iter().map(|(id, number)| (*number, both(id)));
        let differing = all.filter(|(_, [first, again])| first != again);
        let (number, [first, again]) = differing.min_by_key(|(number, _)| *number)?;
        let at = first.bytes.iter().zip(&*again.bytes).take_while(|(one, other)| one == other).count();
        Some((format!("connection {}, byte {at}", number + 1), excerpt(&first, at), excerpt(&again, at)))
    }

    /// The first flow that differs: where, and both lists.
    fn datagrams(&self, first: &Heard, again: &Heard, ignore: &Ignore) -> Option<(String, String, String)> {
        let flow = |heard: &Heard, id: &Id| heard.datagrams.get(id).cloned().unwrap_or_default();
        let both = |id: &Id| [flow(first, id), flow(again, id)];
        let all = self.flows.iter().map(|(id, number)| (*number, both(id)));
        let differing = all.filter(|(_, [first, again])| !ignore.are_same_datagrams(first, again));
        let (number, [first, again]) = differing.min_by_key(|(number, _)| *number)?;
        Some((format!("flow {}", number + 1), shown(&first), shown(&again)))
    }
}

/// Datagrams in words.
pub(crate) fn shown(datagrams: &[Datagram]) -> String {
    let one = |datagram: &Datagram| match datagram {
        Datagram::Bytes(bytes) => excerpt(&Stream { bytes: Arc::clone(bytes), end: None }, 0),
        Datagram::Unreachable => "nobody is there".to_owned(),
    };
    datagrams.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Where the difference may come from, and what to do.
fn advice(clock: Option<Clock>) -> &'static str {
    match clock {
        None => {
            "it goes on with what it remembers when its connections are closed and opened again: use it for what leaves nothing \
             behind. `ignore` leaves out what may differ"
        }
        Some(Clock::Virtual) => {
            "its clock stands still and its randomness is constant; what else differs between two of its runs is its own. \
             `ignore` leaves out what may differ"
        }
        Some(Clock::Real) => {
            "its clock is that of this machine: `clock = \"virtual\"` makes it stand still, `ignore` leaves out what may differ"
        }
    }
}

/// What a stream has around a byte, and how it ends.
pub(crate) fn excerpt(stream: &Stream, at: usize) -> String {
    let (from, to) = (at.saturating_sub(BEFORE), (at + AFTER).min(stream.bytes.len()));
    let text = stream.bytes[from..to].escape_ascii();
    let (before, after) = (if from > 0 { "..." } else { "" }, if to < stream.bytes.len() { "..." } else { "" });
    let end = match stream.end {
        None => "",
        Some(End::Finished | End::Closed) => ", then its end",
        Some(End::Reset) => ", then a reset",
    };
    format!("{before}\"{text}\"{after}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_that_differs_is_told_by_the_order_of_opening() {
        let heard = |text: &str, end| {
            let stream = |text: &str, end| Stream { bytes: text.as_bytes().into(), end };
            Heard {
                streams: BTreeMap::from([(Id(9), stream("same", None)), (Id(3), stream(text, end))]),
                ..Heard::default()
            }
        };
        let connections = BTreeMap::from([(Id(9), 0), (Id(3), 1)]);
        let told = |messages, first: &Heard, again: &Heard, clock| {
            let flows = BTreeMap::from([(Id(5), 0)]);
            let again_told = Again { name: "db", connections: &connections, flows: &flows, messages };
            again_told.difference(first, again, &Ignore::default(), clock)
        };
        let (first, again) = (heard("Date: 1\r\n", None), heard("Date: 2", None));
        assert!(told(3, &first, &again, Some(Clock::Real)).contains("clock = \"virtual\""));
        let shown = told(3, &first, &again, Some(Clock::Virtual));
        assert!(shown.contains("peer `db` answered differently when it was told the same again"), "{shown}");
        assert!(shown.contains("after 3 messages, connection 2, byte 6\n"), "{shown}");
        assert!(shown.contains("first  \"Date: 1\\r\\n\"\n") && shown.contains("again  \"Date: 2\"\n"), "{shown}");
        let flow =
            |answers: &[Datagram]| Heard { datagrams: BTreeMap::from([(Id(5), answers.to_vec())]), ..Heard::default() };
        let shown =
            told(2, &flow(&[Datagram::Bytes(b"1\n"[..].into())]), &flow(&[Datagram::Unreachable]), Some(Clock::Real));
        assert!(shown.contains("after 2 messages, flow 1\n   first  \"1\\n\"\n   again  nobody is there\n"), "{shown}");
        let shown = told(1, &heard("a", None), &heard("a", Some(End::Reset)), None);
        assert!(shown.contains("again  \"a\", then a reset"), "{shown}");
        assert!(shown.contains("it goes on with what it remembers"), "{shown}");
    }
}
