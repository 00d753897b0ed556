//! How messages of a stream are told apart.

use std::fmt;

/// How messages of a stream are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
    /// Each ends with a line feed.
    Lines,
    /// Each begins with its length, without these bytes.
    Length {
        /// Bytes of the length: 1, 2, 4 or 8.
        bytes: usize,
        /// Whether the last byte comes first.
        is_little: bool,
    },
    /// HTTP/1.1.
    Http,
    /// The protocol of Redis.
    Resp,
    /// There is one, which ends when no more is sent.
    UntilClose,
}

/// What a framing may be called.
pub const NAMES: &str = "lines, resp, http, until-close, length:1, length:2be, length:4le and so on";

impl Framing {
    /// Reads a name.
    #[must_use]
    pub fn read(name: &str) -> Option<Self> {
        let length = |rest: &str| {
            let (bytes, is_little) = match rest.strip_suffix("le") {
                Some(bytes) => (bytes, true),
                None => (rest.strip_suffix("be").unwrap_or(rest), false),
            };
            let is_named = bytes == "1" || bytes != rest;
            let bytes = bytes.parse().ok().filter(|bytes| is_named && [1, 2, 4, 8].contains(bytes))?;
            Some(Self::Length { bytes, is_little })
        };
        match name {
            "lines" => Some(Self::Lines),
            "http" => Some(Self::Http),
            "resp" => Some(Self::Resp),
            "until-close" => Some(Self::UntilClose),
            _ => name.strip_prefix("length:").and_then(length),
        }
    }

    /// How long the first message is; nothing if it is not complete.
    #[must_use]
    pub fn first(self, bytes: &[u8]) -> Option<usize> {
        let length = match self {
            Self::Lines => line(bytes),
            Self::Length { bytes: size, is_little } => prefixed(bytes, size, is_little),
            Self::Http => http(bytes),
            Self::Resp => resp(bytes),
            Self::UntilClose => None,
        };
        length.filter(|length| *length <= bytes.len())
    }

    /// Whether the end of the connection follows a message, as it says itself (RFC 9112, section 9.3).
    #[must_use]
    pub fn ends_connection(self, message: &[u8]) -> bool {
        if self != Self::Http {
            return false;
        }
        let text = String::from_utf8_lossy(message).to_ascii_lowercase();
        let head = text.split("\r\n\r\n").next().unwrap_or_default();
        let option = head.lines().find_map(|line| line.strip_prefix("connection:")).unwrap_or_default().trim();
        match head.starts_with("http/1.0") {
            true => option != "keep-alive",
            false => option == "close",
        }
    }
}

impl fmt::Display for Framing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lines => f.write_str("lines"),
            Self::Http => f.write_str("http"),
            Self::Resp => f.write_str("resp"),
            Self::UntilClose => f.write_str("until-close"),
            Self::Length { bytes, is_little } => write!(f, "length:{bytes}{}", if *is_little { "le" } else { "be" }),
        }
    }
}

/// The first line, with its end.
fn line(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1)
}

fn prefixed(bytes: &[u8], size: usize, is_little: bool) -> Option<usize> {
    let mut length = bytes.get(..size)?.to_vec();
    if is_little {
        length.reverse();
    }
    let length = length.iter().fold(0_u64, |length, byte| length << 8 | u64::from(*byte));
    usize::try_from(length).ok()?.checked_add(size)
}

/// A request, or an answer, with its body.
fn http(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|end| end == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::trim));
    let has_body = |status: &str| !status.starts_with('1') && status != "204" && status != "304";
    let is_open_ended = text.starts_with("http/") && text.split_whitespace().nth(1).is_some_and(has_body);
    match (field("transfer-encoding"), field("content-length")) {
        (Some(coding), _) if coding.ends_with("chunked") => chunks(bytes, head),
        (_, Some(length)) => head.checked_add(length.parse().ok()?),
        // The body ends with the connection.
        _ if is_open_ended => None,
        _ => Some(head),
    }
}

/// Where chunks end that begin at a position (RFC 9112, section 7.1).
fn chunks(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let rest = bytes.get(at..)?;
        let head = line(rest)?;
        let size = String::from_utf8_lossy(&rest[..head]);
        let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
        at = at.checked_add(head)?;
        if size == 0 {
            return trailer(bytes, at);
        }
        at = at.checked_add(size)?.checked_add(2)?;
    }
}

/// Where lines end of which the last one is empty.
fn trailer(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let rest = bytes.get(at..)?;
        let end = line(rest)?;
        at += end;
        if rest[..end].trim_ascii().is_empty() {
            return Some(at);
        }
    }
}

/// A command or a reply of Redis: an array has its parts in it.
fn resp(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    let mut parts = 1_u64;
    while parts > 0 {
        let rest = bytes.get(at..)?;
        let head = line(rest)?;
        let number = std::str::from_utf8(&rest[1..head]).ok().and_then(|text| text.trim().parse::<i64>().ok());
        let number = u64::try_from(number.unwrap_or(-1)).ok();
        at += head;
        parts -= 1;
        match (rest[0], number) {
            (b'$', Some(length)) => at = at.checked_add(usize::try_from(length).ok()?)?.checked_add(2)?,
            (b'*', Some(count)) => parts = parts.checked_add(count)?,
            _ => {}
        }
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The framing of a name, and the messages that a text has; the rest is incomplete.
    fn messages(name: &str, text: &str) -> Vec<String> {
        let framing = Framing::read(name).unwrap_or_else(|| panic!("{name}"));
        let (mut rest, mut all) = (text.as_bytes(), Vec::new());
        while let Some(length) = framing.first(rest) {
            all.push(String::from_utf8_lossy(&rest[..length]).into_owned());
            rest = &rest[length..];
        }
        all
    }

    #[test]
    fn messages_are_complete_or_not_there() {
        let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        let post = "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nab";
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n";
        let empty = "HTTP/1.1 204 No Content\r\n\r\n";
        let set = "*2\r\n$3\r\nGET\r\n$1\r\na\r\n";
        let table: [(&str, String, &[&str]); 9] = [
            ("lines", "a\nbc\nd".into(), &["a\n", "bc\n"]),
            ("length:1", "\u{1}a\u{2}bcd".into(), &["\u{1}a", "\u{2}bc"]),
            ("length:2be", "\0\u{1}a\0\u{2}b".into(), &["\0\u{1}a"]),
            ("length:2le", "\u{1}\0a\u{2}".into(), &["\u{1}\0a"]),
            ("http", format!("{get}{post}GET"), &[get, post]),
            ("http", format!("{chunked}{empty}HTTP/1.1 200 OK\r\n\r\nuntil its end"), &[chunked, empty]),
            ("http", chunked[..chunked.len() - 2].into(), &[]),
            (
                "resp",
                format!("{set}+OK\r\n$-1\r\n:1\r\n*0\r\n$2\r\na"),
                &[set, "+OK\r\n", "$-1\r\n", ":1\r\n", "*0\r\n"],
            ),
            ("until-close", "a\n".into(), &[]),
        ];
        for (name, text, expected) in table {
            assert_eq!(messages(name, &text), expected, "{name}: {text:?}");
        }
    }

    #[test]
    fn a_message_says_whether_the_connection_ends_with_it() {
        let table = [
            (Framing::Http, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false),
            (Framing::Http, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", true),
            (Framing::Http, "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", true),
            (Framing::Http, "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n", false),
            (Framing::Lines, "connection: close\n", false),
        ];
        for (framing, message, expected) in table {
            assert_eq!(framing.ends_connection(message.as_bytes()), expected, "{message}");
        }
    }

    #[test]
    fn names_come_back_and_others_are_none() {
        for name in ["lines", "http", "resp", "until-close", "length:4be", "length:8le"] {
            assert_eq!(Framing::read(name).map(|framing| framing.to_string()).as_deref(), Some(name));
        }
        for name in ["", "line", "length:", "length:4", "length:3be", "length:be"] {
            assert_eq!(Framing::read(name), None, "{name}");
        }
    }

    #[test]
    fn lengths_that_nobody_can_send_are_incomplete() {
        assert_eq!(Framing::read("length:8be").and_then(|framing| framing.first(&[0xff; 16])), None);
        assert_eq!(Framing::Resp.first(b"$9223372036854775807\r\n"), None);
    }
}
