//! Blocks back into values.

use super::{BLOCK, Broken, SUM, sum};
use std::io::Read;

/// Steps of a search that takes years.
const COUNT_MAX: u64 = 1 << 48;

/// Reads what a [`super::Writer`] has written, and hands out nothing whose checksum does not agree.
pub struct Reader {
    from: Box<dyn Read + Send>,
    block: Vec<u8>,
    /// How far the block has been read.
    at: usize,
    number: u64,
    /// Bytes of the file that are not read yet, as far as is known.
    left: u64,
}

impl Reader {
    /// A reader of so many bytes.
    pub fn new(from: Box<dyn Read + Send>, left: u64) -> Self {
        Self { from, block: Vec::new(), at: 0, number: 0, left }
    }

    fn next_block(&mut self) -> Result<(), Broken> {
        let (mut len, mut expected) = ([0; 4], [0; SUM]);
        self.from.read_exact(&mut len)?;
        self.from.read_exact(&mut expected)?;
        let len = u32::from_le_bytes(len) as usize;
        if len > BLOCK {
            return Err(Broken::Damaged);
        }
        self.block.resize(len, 0);
        self.from.read_exact(&mut self.block)?;
        if sum(self.number, &self.block) != expected {
            return Err(Broken::Damaged);
        }
        self.left = self.left.saturating_sub((len + 4 + SUM) as u64);
        (self.at, self.number) = (0, self.number + 1);
        Ok(())
    }

    /// Fills a buffer.
    #[inline]
    pub fn bytes(&mut self, mut to: &mut [u8]) -> Result<(), Broken> {
        loop {
            let there = to.len().min(self.block.len() - self.at);
            let (now, later) = to.split_at_mut(there);
            now.copy_from_slice(&self.block[self.at..self.at + there]);
            self.at += there;
            if later.is_empty() {
                return Ok(());
            }
            to = later;
            self.next_block()?;
            if self.block.is_empty() {
                return Err(Broken::Contradictory("values are missing at its end"));
            }
        }
    }

    /// Reads the rest: whether all of it is there and agrees with its checksums.
    ///
    /// # Errors
    /// If not.
    pub fn end(mut self) -> Result<(), Broken> {
        loop {
            self.next_block()?;
            if self.block.is_empty() {
                let more = self.from.read(&mut [0])?;
                return if more == 0 { Ok(()) } else { Err(Broken::Damaged) };
            }
        }
    }

    /// Reads a number.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, Broken> {
        let mut bytes = [0; 4];
        self.bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Reads a number.
    #[inline]
    pub fn u64(&mut self) -> Result<u64, Broken> {
        let mut bytes = [0; 8];
        self.bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads a number that counts something: larger ones are a mistake, and would break arithmetic.
    pub fn small(&mut self) -> Result<u64, Broken> {
        match self.u64()? {
            count if count <= COUNT_MAX => Ok(count),
            _ => Err(Broken::Contradictory("more than anybody can count")),
        }
    }

    /// Reads a number.
    pub fn u128(&mut self) -> Result<u128, Broken> {
        let mut bytes = [0; 16];
        self.bytes(&mut bytes)?;
        Ok(u128::from_le_bytes(bytes))
    }

    /// Reads a truth.
    pub fn bool(&mut self) -> Result<bool, Broken> {
        let mut byte = [0];
        self.bytes(&mut byte)?;
        match byte {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(Broken::Contradictory("neither true nor false")),
        }
    }

    /// Reads how many values of at least so many bytes follow: never more than the rest of the file can hold, so that room may
    /// be made for them.
    pub fn count(&mut self, each: u64) -> Result<u64, Broken> {
        let count = self.u64()?;
        self.holds(count, each).map(|()| count)
    }

    /// Whether the rest of the file can hold so many values of so many bytes.
    pub fn holds(&self, count: u64, each: u64) -> Result<(), Broken> {
        let there = self.left + (self.block.len() - self.at) as u64;
        match count.checked_mul(each) {
            Some(bytes) if bytes <= there => Ok(()),
            _ => Err(Broken::Contradictory("more values than the file can hold")),
        }
    }

    /// Reads bytes that were written with their number.
    pub fn list(&mut self) -> Result<Vec<u8>, Broken> {
        let mut bytes = vec![0; self.count(1)? as usize];
        self.bytes(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads a text.
    pub fn text(&mut self) -> Result<String, Broken> {
        String::from_utf8(self.list()?).map_err(|_| Broken::Contradictory("a text that is none"))
    }
}
