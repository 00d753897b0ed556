//! What of an answer may differ when a peer is told the same again.
//!
//! It decides the comparison of two answers and nothing else: the search goes on with the first one.

use crate::{Datagram, Heard, Stream};
use regex_lite::{Regex, RegexBuilder};

/// Stands for what is left out. No byte is written so.
const MASK: char = '\u{100}';
/// The mask, as it is shown.
const SHOWN: &[u8] = b"<ignored>";

/// Patterns of what is left out of comparisons.
///
/// Bytes are matched as characters of the same number (Latin-1), so that patterns work on any
/// stream.
#[derive(Clone, Debug, Default)]
pub struct Ignore(Vec<Regex>);

impl Ignore {
    /// Patterns, as users write them. They match bytes, so that no text has to be valid.
    ///
    /// # Errors
    /// If one is no regular expression, or has letters that are more than a byte.
    pub fn new(patterns: &[String]) -> Result<Self, String> {
        let pattern = |text: &String| match text.is_ascii() {
            true => RegexBuilder::new(text).size_limit(1 << 20).build().map_err(|error| format!("`{text}`: {error}")),
            false => Err(format!("`{text}`: answers are bytes; write it in ASCII")),
        };
        patterns.iter().map(pattern).collect::<Result<_, _>>().map(Self)
    }

    /// Whether two answers differ in nothing but what is left out.
    pub(crate) fn are_same(&self, first: &Heard, again: &Heard) -> bool {
        let are_ends = first.opens == again.opens && first.streams.keys().eq(again.streams.keys());
        let mut pairs = first.streams.values().zip(again.streams.values());
        are_ends
            && pairs.all(|(first, again)| self.is_same(first, again))
            && first.datagrams.keys().eq(again.datagrams.keys())
            && first
                .datagrams
                .values()
                .zip(again.datagrams.values())
                .all(|(first, again)| self.are_same_datagrams(first, again))
    }

    /// Whether the answers to two flows differ in nothing but what is left out.
    pub(crate) fn are_same_datagrams(&self, first: &[Datagram], again: &[Datagram]) -> bool {
        let is_same = |(first, again): (&Datagram, &Datagram)| match (first.bytes(), again.bytes()) {
            (Some(one), Some(other)) => one == other || self.masked(one) == self.masked(other),
            (one, other) => one == other,
        };
        first.len() == again.len() && first.iter().zip(again).all(is_same)
    }

    fn is_same(&self, first: &Stream, again: &Stream) -> bool {
        first == again
            || !self.0.is_empty() && first.end == again.end && self.masked(&first.bytes) == self.masked(&again.bytes)
    }

    /// Each byte as the character of its number, and a mask for what is left out.
    fn masked(&self, bytes: &[u8]) -> String {
        let text = bytes.iter().copied().map(char::from).collect();
        self.0.iter().fold(text, |text, pattern| pattern.replace_all(&text, MASK.to_string().as_str()).into_owned())
    }

    /// A stream as it is compared.
    pub(crate) fn compared(&self, stream: &Stream) -> Stream {
        let letter = |letter: char| u8::try_from(letter).map_or_else(|_| SHOWN.to_vec(), |byte| vec![byte]);
        Stream { bytes: self.masked(&stream.bytes).chars().flat_map(letter).collect(), end: stream.end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::End;

    fn stream(text: &[u8]) -> Stream {
        Stream { bytes: text.into(), end: None }
    }

    #[test]
    fn what_is_left_out_may_differ_in_length_and_nothing_else_may() {
        let ignore = Ignore::new(&["Date: [^\r]*".to_owned(), "id=[0-9]+".to_owned()]).expect("patterns");
        let table: [(&[u8], &[u8], bool); 6] = [
            (b"Date: 1\r\nx", b"Date: 22\r\nx", true),
            (b"Date: 1\r\nx", b"Date: 22\r\ny", false),
            (b"\xff id=1;", b"\xff id=345;", true),
            (b"\xff id=1;", b"\xfe id=1;", false),
            (b"Date: 1\r\n", b"Date: 1\r\nmore", false),
            (b"", b"", true),
        ];
        for (first, again, is_same) in table {
            assert_eq!(ignore.is_same(&stream(first), &stream(again)), is_same, "{first:?} {again:?}");
        }
        let flow =
            |texts: &[&str]| texts.iter().map(|text| Datagram::Bytes(text.as_bytes().into())).collect::<Vec<_>>();
        assert!(ignore.are_same_datagrams(&flow(&["id=1", "x"]), &flow(&["id=22", "x"])));
        assert!(!ignore.are_same_datagrams(&flow(&["id=1", "x"]), &flow(&["id=22"])));
        assert!(!ignore.are_same_datagrams(&flow(&["x"]), &[Datagram::Unreachable]));
        let ended = Stream { end: Some(End::Reset), ..stream(b"id=1") };
        assert!(!ignore.is_same(&ended, &stream(b"id=2")));
        assert_eq!(ignore.compared(&stream(b"\xffDate: 1\r\n")), stream(b"\xff<ignored>\r\n"));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for (text, why) in [("(", "`(`: "), ("\u{e9}", "ASCII")] {
            assert!(Ignore::new(&[text.to_owned()]).is_err_and(|told| told.contains(why)), "{text}");
        }
    }
}
