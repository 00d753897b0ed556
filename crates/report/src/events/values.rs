//! Values of events in words: bytes, paths, spans of time, descriptors.

use trace::{Bytes, FileKind, Stream};

/// Nanoseconds, for people.
///
/// Virtual time. Rounded down where precision would only distract; below a millisecond exact, since
/// there it is a count of small steps.
pub(super) fn nanoseconds(span: u64) -> String {
    const DAY: u64 = 86_400;
    let seconds = span / 1_000_000_000;
    match span {
        0..1_000_000 => format!("{span} ns"),
        1_000_000..1_000_000_000 => format!("{} ms", span / 1_000_000),
        _ if seconds >= 2 * DAY => format!("{} days", seconds / DAY),
        _ if span.is_multiple_of(1_000_000_000) || seconds > 60 => format!("{seconds} s"),
        _ => format!("{:.3} s", span as f64 / 1e9),
    }
}

/// Bytes: as a text if they are one, by their number otherwise.
pub(crate) fn bytes(bytes: &Bytes) -> String {
    let dots = if bytes.length > Bytes::KEPT as u64 { "..." } else { "" };
    match (&bytes.start, bytes.length) {
        (Some(text), _) => format!("{text:?}{dots}"),
        (None, 1) => "1 byte".to_owned(),
        (None, length) => format!("{length} bytes"),
    }
}

/// A path in quotes that fits; of a long one the middle is left out.
///
/// The end is kept longer than the beginning: that is where two names of one directory differ.
pub(super) fn path(path: &str, room: usize) -> String {
    // Letters of the beginning, then dots.
    const HEAD: usize = 8;
    const CUT: usize = HEAD + 3;
    let letters: Vec<char> = path.chars().collect();
    if letters.len() <= room {
        return format!("\"{path}\"");
    }
    let part = |letters: &[char]| letters.iter().collect::<String>();
    format!("\"{}...{}\"", part(&letters[..HEAD]), part(&letters[letters.len() - (room - CUT)..]))
}

/// `fd 4 (socket)`.
pub(super) fn descriptor(fd: i32, file: &FileKind) -> String {
    match file_kind(file) {
        "" => format!("fd {fd}"),
        kind => format!("fd {fd} ({kind})"),
    }
}

fn file_kind(file: &FileKind) -> &str {
    match file {
        FileKind::Other => "",
        FileKind::File(name) => name.as_deref().unwrap_or("file"),
        FileKind::Directory => "directory",
        FileKind::Pipe => "pipe",
        FileKind::Socket => "socket",
        FileKind::Eventfd => "eventfd",
        FileKind::Timerfd => "timerfd",
        FileKind::Epoll => "epoll",
        FileKind::Terminal => "terminal",
        FileKind::Stream(stream) => stream_name(*stream),
    }
}

/// A standard stream.
pub(super) fn stream_name(stream: Stream) -> &'static str {
    match stream {
        Stream::Input => "standard input",
        Stream::Output => "standard output",
        Stream::Error => "standard error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_the_unit_that_people_would_take() {
        let spans = [999_999, 5_000_000, 1_500_000_000, 3_000_000_000, 61_500_000_000, 200_000_000_000_000];
        assert_eq!(spans.map(nanoseconds), ["999999 ns", "5 ms", "1.500 s", "3 s", "61 s", "2 days"]);
    }

    #[test]
    fn bytes_are_quoted_if_they_are_text_and_counted_otherwise() {
        let told = |start: &[u8], length| bytes(&Bytes::beginning_with(start, length));
        assert_eq!(told(b"ping\n", 5), r#""ping\n""#);
        assert_eq!(told(&[b'a'; 30], 30), format!("\"{}\"...", "a".repeat(24)));
        assert_eq!((told(&[0], 1), told(&[0, 1], 2)), ("1 byte".to_owned(), "2 bytes".to_owned()));
        assert_eq!(told(b"", 0), "\"\"");
        assert_eq!(bytes(&Bytes::unreadable(7)), "7 bytes");
    }

    #[test]
    fn a_long_path_loses_its_middle() {
        assert_eq!(path("/tmp/x", 28), "\"/tmp/x\"");
        assert_eq!(path("/var/lib/somewhere/below/a/file", 28), "\"/var/lib...here/below/a/file\"");
    }
}
