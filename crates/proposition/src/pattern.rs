//! Patterns: which processes are meant, and which texts match.
//!
//! Names are those of services in `allways.toml` or on the command line: a service with several
//! replicas has processes `name.1` to `name.N`, one with a single replica is just `name`.

use debuginfo::similar;

/// The processes that a name means, of those that there are: a service with its replicas, one of them, or a pattern with `*`.
///
/// # Errors
/// If no process is meant.
pub fn processes(name: &str, names: &[String]) -> Result<Vec<String>, String> {
    Processes { pattern: name.to_owned(), every: false }.among(names)
}

/// Which processes are meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Processes {
    /// A service, one replica of it, or a pattern with `*`.
    pub(super) pattern: String,
    /// Of every one of them, not just of some.
    pub(super) every: bool,
}

impl Processes {
    /// The processes that are meant, of those that there are.
    ///
    /// # Errors If no process is meant. A pattern that means nothing is always a mistake: `every`
    /// of none would be true, and a check would pass for a typo.
    pub(super) fn among(&self, names: &[String]) -> Result<Vec<String>, String> {
        let found: Vec<String> = names.iter().filter(|name| is_meant(&self.pattern, name)).cloned().collect();
        if found.is_empty() { Err(unknown(&self.pattern, names)) } else { Ok(found) }
    }
}

fn unknown(pattern: &str, names: &[String]) -> String {
    let services = names.iter().map(|name| service(name)).chain(names.iter().map(String::as_str));
    let hint = similar::hint(pattern, services);
    match (hint.is_empty(), names) {
        (false, _) | (true, []) => format!("there is no process `{pattern}`{hint}"),
        (true, names) => format!("there is no process `{pattern}`: there are {}", listed(names)),
    }
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The service that a process is a replica of.
fn service(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((service, number)) if !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()) => service,
        _ => name,
    }
}

/// A service means all its replicas; the first replica of a service that has one only is that one.
///
/// Both ways of writing hold for any number of replicas, so a proposition need not change when the
/// number does.
fn is_meant(pattern: &str, name: &str) -> bool {
    matches(pattern.as_bytes(), name.as_bytes())
        || service(name) == pattern
        || pattern.strip_suffix(".1").is_some_and(|service| service == name)
        || pattern.strip_suffix(".*").is_some_and(|service| service == name)
}

/// Whether a name fits a pattern in which `*` is any text. Remembers one star only, which is enough: what an earlier star
/// could take instead, the last one can take, too.
///
/// O(pattern × name) at worst, without recursion.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p, n));
            p += 1;
        } else if pattern.get(p) == Some(&name[n]) {
            (p, n) = (p + 1, n + 1);
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            (p, n) = (at + 1, taken + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|letter| *letter == b'*')
}

/// A regular expression, ready to be used.
///
/// `regex_lite` takes time linear in the text, for no pattern backtracks: a program's output is not
/// trusted to be kind.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    /// As it was written.
    pub(super) text: String,
    regex: regex_lite::Regex,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Pattern {
    /// Multi-line, since outputs are lists of lines and `^ACK` is meant of any of them.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let mut builder = regex_lite::RegexBuilder::new(text);
        let regex = builder.multi_line(true).size_limit(1 << 20).build();
        regex.map(|regex| Self { text: text.to_owned(), regex }).map_err(|error| error.to_string())
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(pattern: &str) -> Vec<String> {
        let names = ["server", "client.1", "client.2", "proxy"].map(str::to_owned);
        Processes { pattern: pattern.to_owned(), every: false }.among(&names).unwrap_or_default()
    }

    #[test]
    fn services_replicas_and_stars_mean_processes() {
        assert_eq!(meant("server"), ["server"]);
        assert_eq!(meant("server.1"), ["server"]);
        assert_eq!(meant("server.*"), ["server"]);
        assert_eq!(meant("client"), ["client.1", "client.2"]);
        assert_eq!(meant("client.2"), ["client.2"]);
        assert_eq!(meant("client.*"), ["client.1", "client.2"]);
        assert_eq!(meant("*r*"), ["server", "proxy"]);
        assert_eq!(meant("*").len(), 4);
        assert_eq!(meant("c*t.2"), ["client.2"]);
        assert!(meant("client.3").is_empty());
        assert!(meant("c").is_empty());
    }

    #[test]
    fn stars_match_as_a_plain_search_does() {
        fn plain(pattern: &[u8], name: &[u8]) -> bool {
            match pattern.split_first() {
                None => name.is_empty(),
                Some((b'*', rest)) => (0..=name.len()).any(|taken| plain(rest, &name[taken..])),
                Some((letter, rest)) => name.split_first().is_some_and(|(n, more)| n == letter && plain(rest, more)),
            }
        }
        let words = |letters: &[u8], longest: u32| -> Vec<Vec<u8>> {
            let word = |mut number: usize, length: u32| -> Vec<u8> {
                let mut letter = || {
                    let letter = letters[number % letters.len()];
                    number /= letters.len();
                    letter
                };
                (0..length).map(|_| letter()).collect()
            };
            (0..=longest).flat_map(|length| (0..letters.len().pow(length)).map(move |n| word(n, length))).collect()
        };
        for pattern in words(b"ab*", 5) {
            for name in words(b"ab", 5) {
                assert_eq!(matches(&pattern, &name), plain(&pattern, &name), "{pattern:?} {name:?}");
            }
        }
    }
}
