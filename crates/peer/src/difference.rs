//! Two answers of a peer to the same conversation, and where they differ, in words.
//!
//! A peer that answers differently when told the same again breaks the one assumption that
//! everything rests on. The check ends without a verdict, and this is what the user gets: the
//! connection, the byte, both texts around it, and what to do.

use crate::ignore::Ignore;
use crate::{End, Heard, Stream};
use ::native::Clock;
use kernel::Id;
use std::collections::BTreeMap;

/// Bytes that are shown before and after the first that differs.
const BEFORE: usize = 24;
const AFTER: usize = 40;

/// A peer that was told the same again.
pub(crate) struct Again<'a> {
    pub name: &'a str,
    /// Its connections, numbered in the order of opening.
    pub connections: &'a BTreeMap<Id, usize>,
    /// How much it was told.
    pub messages: u64,
}

impl Again<'_> {
    /// How it answered differently.
    pub fn difference(&self, first: &Heard, again: &Heard, ignore: &Ignore, clock: Option<Clock>) -> String {
        let stream = |heard: &Heard, id: &Id| ignore.compared(&heard.streams.get(id).cloned().unwrap_or_default());
        let both = |id: &Id| [stream(first, id), stream(again, id)];
        let mut all: Vec<(usize, [Stream; 2])> =
            self.connections.iter().map(|(id, number)| (*number, both(id))).collect();
        all.sort_by_key(|(number, _)| *number);
        let differing = all.into_iter().find(|(_, [first, again])| first != again);
        let (number, [first, again]) = differing.unwrap_or_default();
        let at = first.bytes.iter().zip(&*again.bytes).take_while(|(one, other)| one == other).count();
        let (first, again) = (excerpt(&first, at), excerpt(&again, at));
        format!(
            "peer `{}` answered differently when it was told the same again\n  after {} messages, connection {}, byte {at}\n   \
             first  {first}\n   again  {again}\n   {}",
            self.name,
            self.messages,
            number + 1,
            advice(clock)
        )
    }
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
            let again_told = Again { name: "db", connections: &connections, messages };
            again_told.difference(first, again, &Ignore::default(), clock)
        };
        let (first, again) = (heard("Date: 1\r\n", None), heard("Date: 2", None));
        assert!(told(3, &first, &again, Some(Clock::Real)).contains("clock = \"virtual\""));
        let shown = told(3, &first, &again, Some(Clock::Virtual));
        assert!(shown.contains("peer `db` answered differently when it was told the same again"), "{shown}");
        assert!(shown.contains("after 3 messages, connection 2, byte 6\n"), "{shown}");
        assert!(shown.contains("first  \"Date: 1\\r\\n\"\n") && shown.contains("again  \"Date: 2\"\n"), "{shown}");
        let shown = told(1, &heard("a", None), &heard("a", Some(End::Reset)), None);
        assert!(shown.contains("again  \"a\", then a reset"), "{shown}");
        assert!(shown.contains("it goes on with what it remembers"), "{shown}");
    }
}
