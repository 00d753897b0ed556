//! Reading arguments from the guest's memory and writing results into it.
//!
//! All of it goes through [`memory::Memory`], so that what a call reads and writes in the guest is
//! in the access log and thereby in its footprint. A bad address is `EFAULT`, never a signal
//! (`syscalls(2)`); what was stored before it stays.

use crate::call::{Call, Stop};
use crate::errno::{E2BIG, EFAULT, EINVAL, ENAMETOOLONG};
use memory::{Fault, SpaceId};

/// `PATH_MAX`, with the final zero byte.
const PATH_MAX: usize = 4096;

/// The longest list of strings that `execve(2)` takes, in bytes.
const STRINGS_MAX: usize = 2 << 20;

/// `UIO_MAXIOV`.
const IOV_MAX: u64 = 1024;

/// Room that is made for bytes before it is known whether they are there.
const GATHERED_AT_ONCE: u64 = 1 << 16;

/// One piece of scattered memory (`struct iovec`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Where.
    pub address: u64,
    /// How long.
    pub length: u64,
}

/// What is left of pieces after `skip` bytes, at most `length` of it.
pub fn window(pieces: &[Piece], mut skip: u64, mut length: u64) -> impl Iterator<Item = Piece> {
    pieces.iter().map(move |piece| {
        let before = piece.length.min(skip);
        skip -= before;
        let now = (piece.length - before).min(length);
        length -= now;
        Piece { address: piece.address.wrapping_add(before), length: now }
    })
}

fn efault(_: Fault) -> Stop {
    EFAULT.into()
}

impl Call<'_> {
    /// The caller's address space.
    #[must_use]
    pub fn space(&self) -> SpaceId {
        self.process().space
    }

    /// `N` bytes of the guest.
    pub fn load<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Stop> {
        let mut bytes = [0; N];
        let space = self.space();
        self.memory.read(space, address, &mut bytes).map_err(efault)?;
        Ok(bytes)
    }

    /// Bytes of the guest.
    pub fn load_bytes(&mut self, address: u64, length: usize) -> Result<Vec<u8>, Stop> {
        self.gather(&[Piece { address, length: length as u64 }])
    }

    /// Writes bytes into the guest.
    pub fn store(&mut self, address: u64, bytes: &[u8]) -> Result<(), Stop> {
        let space = self.space();
        self.memory.write(space, address, bytes).map_err(efault)
    }

    /// A 32-bit number of the guest.
    pub fn load_u32(&mut self, address: u64) -> Result<u32, Stop> {
        self.load(address).map(u32::from_le_bytes)
    }

    /// A 64-bit number of the guest.
    pub fn load_u64(&mut self, address: u64) -> Result<u64, Stop> {
        self.load(address).map(u64::from_le_bytes)
    }

    /// Writes a 32-bit number into the guest.
    pub fn store_u32(&mut self, address: u64, value: u32) -> Result<(), Stop> {
        self.store(address, &value.to_le_bytes())
    }

    /// Writes a 64-bit number into the guest.
    pub fn store_u64(&mut self, address: u64, value: u64) -> Result<(), Stop> {
        self.store(address, &value.to_le_bytes())
    }

    /// A string that ends with a zero byte, which is left out.
    ///
    /// Reading stops at the zero byte: the page behind a string need not be mapped.
    pub fn load_string(&mut self, address: u64, max: usize) -> Result<Vec<u8>, Stop> {
        let space = self.space();
        let bytes = self.memory.read_until_nul(space, address, max).map_err(efault)?;
        if bytes.len() >= max { Err(ENAMETOOLONG.into()) } else { Ok(bytes) }
    }

    /// A path.
    pub fn load_path(&mut self, address: u64) -> Result<Vec<u8>, Stop> {
        self.load_string(address, PATH_MAX)
    }

    /// A list of strings that ends with a null pointer, as `execve(2)` takes; none at all if the address is null.
    ///
    /// 9 bytes for each string: its zero byte and its pointer, as Linux counts them against
    /// `ARG_MAX`.
    pub fn load_strings(&mut self, address: u64) -> Result<Vec<Vec<u8>>, Stop> {
        let (mut strings, mut total) = (Vec::new(), 0);
        if address == 0 {
            return Ok(strings);
        }
        loop {
            let pointer = self.load_u64(address.wrapping_add(8 * strings.len() as u64))?;
            if pointer == 0 {
                return Ok(strings);
            }
            let string = self.load_string(pointer, STRINGS_MAX).map_err(|stop| match stop {
                Stop::Errno(ENAMETOOLONG) => E2BIG.into(),
                other => other,
            })?;
            total += string.len() + 9;
            if total > STRINGS_MAX {
                return Err(E2BIG.into());
            }
            strings.push(string);
        }
    }

    /// A list of pieces (`struct iovec`).
    ///
    /// `readv(2)`: `EINVAL` if the sum of the lengths overflows an `ssize_t`, before anything is
    /// transferred.
    pub fn load_pieces(&mut self, address: u64, count: u64) -> Result<Vec<Piece>, Stop> {
        if count > IOV_MAX {
            return Err(EINVAL.into());
        }
        let piece = |index: u64| {
            let bytes: [u8; 16] = self.load(address.wrapping_add(16 * index))?;
            let (start, length) = bytes.split_at(8);
            let number = |half: &[u8]| u64::from_le_bytes(half.try_into().expect("eight bytes"));
            Ok(Piece { address: number(start), length: number(length) })
        };
        let pieces: Vec<Piece> = (0..count).map(piece).collect::<Result<_, Stop>>()?;
        let total = pieces.iter().try_fold(0u64, |sum, piece| sum.checked_add(piece.length));
        total.filter(|total| i64::try_from(*total).is_ok()).map(|_| pieces).ok_or(EINVAL.into())
    }

    /// Scatters bytes over pieces, as `readv(2)` does.
    pub fn scatter(&mut self, pieces: &[Piece], mut bytes: &[u8]) -> Result<(), Stop> {
        for piece in pieces {
            let (now, rest) = bytes.split_at(bytes.len().min(piece.length as usize));
            self.store(piece.address, now)?;
            bytes = rest;
        }
        Ok(())
    }

    /// Gathers bytes from pieces, as `writev(2)` does.
    pub fn gather(&mut self, pieces: &[Piece]) -> Result<Vec<u8>, Stop> {
        let (space, length) = (self.space(), pieces.iter().map(|piece| piece.length).fold(0, u64::saturating_add));
        // A hostile length must not make the host allocate.
        let mut bytes = Vec::with_capacity(length.min(GATHERED_AT_ONCE) as usize);
        for piece in pieces {
            self.memory.read_onto(space, piece.address, piece.length as usize, &mut bytes).map_err(efault)?;
        }
        Ok(bytes)
    }
}
