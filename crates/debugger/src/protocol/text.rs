//! Numbers and bytes as packets have them, in hexadecimal.

use kernel::{Pid, Tid};
use std::fmt::Write;

/// Bytes as digits.
pub fn hex(bytes: &[u8]) -> Vec<u8> {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text.into_bytes()
}

/// A number of at most sixteen digits.
pub fn number(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u64::from_str_radix(text, 16).ok()
}

/// Digits as bytes.
pub fn bytes(text: &[u8]) -> Option<Vec<u8>> {
    let pairs = text.chunks_exact(2);
    let is_even = pairs.remainder().is_empty();
    let bytes = pairs.map(|pair| number(pair).map(|byte| byte as u8));
    bytes.collect::<Option<Vec<u8>>>().filter(|_| is_even)
}

/// The parts between separators.
pub fn parts(text: &[u8], separator: u8) -> Vec<&[u8]> {
    text.split(|byte| *byte == separator).collect()
}

/// Two numbers with a comma between them.
pub fn pair(text: &[u8]) -> Option<(u64, u64)> {
    let [one, other] = parts(text, b',')[..] else { return None };
    Some((number(one)?, number(other)?))
}

/// A thread as packets name it.
pub fn thread_id(pid: Pid, tid: Tid) -> String {
    format!("p{:x}.{:x}", pid.0, tid.0)
}

/// The thread that a packet names, with or without its process; nothing for "any" (0) and "all" (-1).
pub fn named_thread(text: &[u8]) -> Option<Tid> {
    let last = parts(text, b'.').last().copied().unwrap_or_default();
    let digits = last.strip_prefix(b"p").unwrap_or(last);
    number(digits).filter(|number| *number != 0).and_then(|number| u32::try_from(number).ok()).map(Tid)
}

/// A part of a long answer: `l` and the rest, or `m` and what fits.
pub fn slice(data: &[u8], request: &[u8]) -> Option<Vec<u8>> {
    let (offset, len) = pair(request)?;
    let start = usize::try_from(offset).ok()?.min(data.len());
    let end =
        start.saturating_add(usize::try_from(len).ok()?).min(data.len()).min(start + super::packet::PACKET_MAX / 4);
    let sign = if end == data.len() { b'l' } else { b'm' };
    Some([&[sign], &data[start..end]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_threads_are_read() {
        assert_eq!(number(b"ff"), Some(255));
        assert_eq!(number(b""), None);
        assert_eq!(number(b"+f"), None);
        assert_eq!(number(b"11112222333344445"), None);
        assert_eq!(bytes(b"6a"), Some(vec![0x6a]));
        assert_eq!(bytes(b"6a1"), None);
        assert_eq!(bytes(b"\xff\xff"), None);
        assert_eq!(named_thread(b"p1.2"), Some(Tid(2)));
        assert_eq!(named_thread(b"3"), Some(Tid(3)));
        assert_eq!(named_thread(b"p1.-1"), None);
        assert_eq!(named_thread(b"0"), None);
        assert_eq!(named_thread(b"ffffffffff"), None);
    }

    #[test]
    fn long_answers_come_in_parts() {
        assert_eq!(slice(b"hello", b"0,3"), Some(b"mhel".to_vec()));
        assert_eq!(slice(b"hello", b"3,10"), Some(b"llo".to_vec()));
        assert_eq!(slice(b"hello", b"9,10"), Some(b"l".to_vec()));
        assert_eq!(slice(b"hello", b"ffffffffffffffff,ffffffffffffffff"), Some(b"l".to_vec()));
        assert_eq!(slice(b"hello", b"x"), None);
    }
}
