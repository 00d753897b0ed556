//! On which files a call must be for a fault to happen to it: what users write as `path=*.log`.

/// A path, or the names at its end; `*` is any number of characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathPattern(String);

impl PathPattern {
    /// Reads a pattern.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Whether a path is like it: all of it, or from a name on.
    #[must_use]
    pub fn matches(&self, path: &[u8]) -> bool {
        let pattern = self.0.as_bytes();
        let starts = (0..path.len()).filter(|at| path[*at] == b'/').map(|at| at + 1);
        std::iter::once(0).chain(starts).any(|start| is_like(pattern, &path[start..]))
    }
}

/// Whether a text is like a pattern with stars.
fn is_like(pattern: &[u8], text: &[u8]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((b'*', rest)) => (0..=text.len()).any(|skipped| is_like(rest, &text[skipped..])),
        Some((first, rest)) => text.split_first().is_some_and(|(found, text)| found == first && is_like(rest, text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_a_path_from_a_name_on() {
        let table = [
            ("log", "/tmp/log", true),
            ("log", "/tmp/catalog", false),
            ("*log", "/tmp/catalog", true),
            ("tmp/log", "/tmp/log", true),
            ("/tmp/log", "/tmp/log", true),
            ("/log", "/tmp/log", false),
            ("lo*", "/tmp/log.new", true),
            ("*.new", "/tmp/log.new", true),
            ("*.new", "/tmp/log", false),
        ];
        for (pattern, path, is_meant) in table {
            assert_eq!(PathPattern::new(pattern).matches(path.as_bytes()), is_meant, "{pattern} {path}");
        }
    }
}
