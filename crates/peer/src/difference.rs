//! Two answers of a peer to the same conversation, and where they differ, in words.

use crate::{End, Heard, Stream};
use kernel::Id;
use std::collections::BTreeMap;

/// Bytes that are shown before and after the first that differs.
const BEFORE: usize = 24;
const AFTER: usize = 40;

/// How a peer answered differently: `first` and `again`, on connections that are numbered in the order of opening.
pub(crate) fn difference(
    name: &str,
    messages: u64,
    connections: &BTreeMap<Id, usize>,
    both: (&Heard, &Heard),
) -> String {
    let streams = |id: &Id| [both.0, both.1].map(|heard| heard.streams.get(id).cloned().unwrap_or_default());
    let mut all: Vec<(usize, [Stream; 2])> = connections.iter().map(|(id, number)| (*number, streams(id))).collect();
    all.sort_by_key(|(number, _)| *number);
    let differing = all.into_iter().find(|(_, [first, again])| first != again);
    let (number, [first, again]) = differing.unwrap_or_default();
    let at = first.bytes.iter().zip(&*again.bytes).take_while(|(one, other)| one == other).count();
    let (first, again) = (excerpt(&first, at), excerpt(&again, at));
    format!(
        "peer `{name}` answered differently when it was told the same again\n  after {messages} messages, connection {}, byte {at}\n   \
         first  {first}\n   again  {again}\n   \
         its clock stands still and its randomness is constant; what else differs between two of its runs is its own",
        number + 1
    )
}

/// What a stream has around a byte, and how it ends.
fn excerpt(stream: &Stream, at: usize) -> String {
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
        let told = difference("db", 3, &connections, (&heard("Date: 1\r\n", None), &heard("Date: 2", None)));
        assert!(told.contains("peer `db` answered differently when it was told the same again"), "{told}");
        assert!(told.contains("after 3 messages, connection 2, byte 6\n"), "{told}");
        assert!(told.contains("first  \"Date: 1\\r\\n\"\n") && told.contains("again  \"Date: 2\"\n"), "{told}");
        let told = difference("db", 1, &connections, (&heard("a", None), &heard("a", Some(End::Reset))));
        assert!(told.contains("again  \"a\", then a reset"), "{told}");
    }
}
