//! A worker's memory of its latest interned pairs.

/// Entries; a power of two. Together they fit the second-level cache.
const ENTRIES: usize = 8192;

/// A direct-mapped cache from (level, value) to reference: most subtrees of a successor were interned a moment ago for
/// another one, and finding them here costs one line of private memory instead of two lines of shared tables.
pub struct Memo {
    entries: Box<[Entry]>,
}

#[derive(Clone, Copy, Default)]
struct Entry {
    value: u64,
    level: u32,
    /// 0 if the entry is empty.
    reference: u32,
}

impl Default for Memo {
    fn default() -> Self {
        Self { entries: vec![Entry::default(); ENTRIES].into() }
    }
}

impl Memo {
    /// The reference of a value, from here or from `intern`.
    #[inline]
    pub fn get<E>(&mut self, level: usize, value: u64, intern: impl FnOnce() -> Result<u32, E>) -> Result<u32, E> {
        let mixed = (value ^ (level as u64) << 56 ^ value >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let entry = &mut self.entries[(mixed >> 51) as usize & (ENTRIES - 1)];
        if entry.value == value && entry.level == level as u32 && entry.reference != 0 {
            return Ok(entry.reference);
        }
        let reference = intern()?;
        *entry = Entry { value, level: level as u32, reference };
        Ok(reference)
    }
}
