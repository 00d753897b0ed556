//! Values into blocks.

use super::{BLOCK, sum};
use std::io::{Result, Write};

/// Writes values into blocks of one length, each with its checksum. The last one is empty: it says that nothing is missing.
///
/// Blocks and not one checksum at the end: what is read is known to be right before it is used, in one pass, and a file that was
/// cut is told from one that was changed.
pub struct Writer<'w> {
    to: &'w mut dyn Write,
    block: Vec<u8>,
    number: u64,
}

impl<'w> Writer<'w> {
    /// A writer of blocks.
    pub fn new(to: &'w mut dyn Write) -> Self {
        Self { to, block: Vec::with_capacity(BLOCK), number: 0 }
    }

    /// Writes bytes.
    #[inline]
    pub fn bytes(&mut self, mut bytes: &[u8]) -> Result<()> {
        while self.block.len() + bytes.len() > BLOCK {
            let (now, later) = bytes.split_at(BLOCK - self.block.len());
            self.block.extend_from_slice(now);
            self.flush()?;
            bytes = later;
        }
        self.block.extend_from_slice(bytes);
        Ok(())
    }

    /// Writes the last blocks.
    pub fn finish(mut self) -> Result<()> {
        if !self.block.is_empty() {
            self.flush()?;
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<()> {
        self.to.write_all(&(self.block.len() as u32).to_le_bytes())?;
        self.to.write_all(&sum(self.number, &self.block))?;
        self.to.write_all(&self.block)?;
        self.block.clear();
        self.number += 1;
        Ok(())
    }

    /// Writes a number.
    #[inline]
    pub fn u32(&mut self, value: u32) -> Result<()> {
        self.bytes(&value.to_le_bytes())
    }

    /// Writes a number.
    #[inline]
    pub fn u64(&mut self, value: u64) -> Result<()> {
        self.bytes(&value.to_le_bytes())
    }

    /// Writes a number.
    pub fn u128(&mut self, value: u128) -> Result<()> {
        self.bytes(&value.to_le_bytes())
    }

    /// Writes a truth.
    pub fn bool(&mut self, value: bool) -> Result<()> {
        self.bytes(&[u8::from(value)])
    }

    /// Writes bytes and how many they are.
    pub fn list(&mut self, bytes: &[u8]) -> Result<()> {
        self.u64(bytes.len() as u64)?;
        self.bytes(bytes)
    }

    /// Writes a text.
    pub fn text(&mut self, text: &str) -> Result<()> {
        self.list(text.as_bytes())
    }
}
