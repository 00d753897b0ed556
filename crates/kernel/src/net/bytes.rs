//! A queue of bytes.

use std::hash::{Hash, Hasher};

/// A queue of bytes: appended at the end, taken from the front.
#[derive(Clone, Default)]
pub struct Bytes {
    data: Vec<u8>,
    start: usize,
}

impl Bytes {
    /// All of them.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.data[self.start..]
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.data.len() - self.start
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds at the end.
    pub fn append(&mut self, bytes: &[u8]) {
        self.data.extend_from_slice(bytes);
    }

    /// Adds at the end what somebody else writes there; nothing if that fails.
    pub fn append_by<E>(&mut self, add: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        let before = self.data.len();
        add(&mut self.data).inspect_err(|_| self.data.truncate(before))
    }

    /// Takes away from the front. What was taken is freed now and then, so that a long stream costs no more than its
    /// present content.
    ///
    /// Amortised O(1) per byte: a byte is moved at most as often as the queue halves.
    pub fn consume(&mut self, count: usize) {
        self.start += count;
        assert!(self.start <= self.data.len(), "no more is taken than there is");
        if self.start * 2 >= self.data.len() {
            self.data.drain(..self.start);
            self.start = 0;
        }
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        Self { data: bytes.to_vec(), start: 0 }
    }
}

// What was taken is no part of the value.
impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Bytes {}

impl Hash for Bytes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b\"{}\"", self.as_slice().escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::Bytes;

    #[test]
    fn equal_content_is_equal_however_it_came_about() {
        let mut long = Bytes::from(&b"abcdefgh"[..]);
        long.consume(3);
        long.append(b"ij");
        assert_eq!(long, Bytes::from(&b"defghij"[..]));
        long.consume(7);
        assert!(long.is_empty());
        assert_eq!(long, Bytes::default());
    }
}
