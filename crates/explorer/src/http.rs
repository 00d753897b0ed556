//! As much of HTTP/1.1 as a page on the same machine needs (RFC 9112): one request a connection, no encodings.
//!
//! Whoever can reach the port may send anything: lines, their number and the body are bounded. What is not understood is
//! refused, not repaired: there is one client, and it was written here.

use std::fmt::Write as _;
use std::io::{self, BufRead, Read};

/// The longest line.
const LINE_MAX: u64 = 8 * 1024;
/// The most lines of a head.
const LINES_MAX: usize = 100;
/// The longest body.
const BODY_MAX: usize = 64 * 1024;

/// What a request asks to be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Nothing changes.
    Get,
    /// Something is done.
    Post,
}

/// A request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// What to do.
    pub method: Method,
    /// Where to, as it was written.
    pub path: String,
    /// The machine that the client believes to talk to.
    pub host: String,
    /// What came with it.
    pub body: Vec<u8>,
}

/// What comes back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The status code and its words.
    pub status: &'static str,
    /// What the body is.
    pub kind: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// A page.
    #[must_use]
    pub fn html(text: String) -> Self {
        Self { status: "200 OK", kind: "text/html; charset=utf-8", body: text.into_bytes() }
    }

    /// Data.
    #[must_use]
    pub fn json(text: String) -> Self {
        Self { status: "200 OK", kind: "application/json", body: text.into_bytes() }
    }

    /// A text that says why not.
    #[must_use]
    pub fn refusal(status: &'static str, why: &str) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", body: why.as_bytes().to_vec() }
    }

    /// The bytes that are sent. Nothing may be kept, framed, or sent on elsewhere.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {}\r\n", self.status);
        let _ = write!(head, "Content-Type: {}\r\nContent-Length: {}\r\n", self.kind, self.body.len());
        head += "Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";
        head += "X-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n\r\n";
        [head.as_bytes(), &self.body].concat()
    }
}

/// Reads a request; nothing if it is none that is understood.
///
/// # Errors
/// If the connection breaks.
pub fn read_request(source: &mut impl BufRead) -> io::Result<Option<Request>> {
    let Some(first) = line(source)? else { return Ok(None) };
    let mut words = first.split(' ');
    let method = match words.next() {
        Some("GET") => Method::Get,
        Some("POST") => Method::Post,
        _ => return Ok(None),
    };
    let (Some(path), Some("HTTP/1.1" | "HTTP/1.0"), None) = (words.next(), words.next(), words.next()) else {
        return Ok(None);
    };
    let Some(Head { host, length }) = head(source)? else { return Ok(None) };
    let mut body = vec![0; length];
    source.read_exact(&mut body)?;
    Ok(Some(Request { method, path: path.to_owned(), host, body }))
}

/// What is asked of the lines behind the first one. All others are for servers that have more to decide.
#[derive(Default)]
struct Head {
    host: String,
    length: usize,
}

fn head(source: &mut impl BufRead) -> io::Result<Option<Head>> {
    let mut head = Head::default();
    for _ in 0..LINES_MAX {
        let Some(line) = line(source)? else { return Ok(None) };
        if line.is_empty() {
            return Ok(Some(head));
        }
        let Some((name, value)) = line.split_once(':') else { return Ok(None) };
        match name.to_ascii_lowercase().as_str() {
            "host" => head.host = value.trim().to_owned(),
            "content-length" => match value.trim().parse() {
                Ok(length) if length <= BODY_MAX => head.length = length,
                _ => return Ok(None),
            },
            // A body of unknown length.
            "transfer-encoding" => return Ok(None),
            _ => {}
        }
    }
    Ok(None)
}

/// A line without its end; nothing if it is too long, or no text. A bare line feed ends one, too (RFC 9112, section 2.2).
fn line(source: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    source.take(LINE_MAX).read_until(b'\n', &mut bytes)?;
    let text = bytes.strip_suffix(b"\n").map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    Ok(text.and_then(|text| String::from_utf8(text.to_vec()).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Request> {
        read_request(&mut text.as_bytes()).unwrap_or(None)
    }

    #[test]
    fn a_request_is_its_method_path_host_and_body() {
        let request =
            read("POST /t/take HTTP/1.1\r\nHost: 127.0.0.1:7\r\nContent-Length: 2\r\n\r\n{}rest").expect("is read");
        assert_eq!((request.method, request.path.as_str()), (Method::Post, "/t/take"));
        assert_eq!((request.host.as_str(), request.body.as_slice()), ("127.0.0.1:7", &b"{}"[..]));
    }

    #[test]
    fn what_is_not_understood_is_no_request() {
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(20_000));
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(200));
        let refused = [
            "",
            "GET",
            "GET /",
            "PUT / HTTP/1.1\r\n\r\n",
            "GET / HTTP/2\r\n\r\n",
            "GET / HTTP/1.1 x\r\n\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "GET / HTTP/1.1\r\n",
            "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nabc",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
            &long,
            &many,
        ];
        for text in refused {
            assert_eq!(read(text), None, "{text:.60}");
        }
    }
}
