//! The kernel's accesses: any space, any length, permissions checked, progress reported.

use std::ops::Range;

use crate::memory::Memory;
use crate::owner::{Owner, Place};
use crate::{AccessKind, Cause, Fault, Halt, Mapping, PAGE_BYTES, PAGE_SIZE, Sharing, SpaceId, page};

/// The part of an access that lies in one page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// First address.
    pub(crate) addr: u64,
    /// Number of the page.
    pub(crate) page: u64,
    /// Where in the page.
    pub(crate) offset: usize,
    /// Bytes.
    pub(crate) len: usize,
    /// Bytes of the access that come before.
    done: usize,
}

impl Piece {
    /// Where in the caller's buffer.
    pub(crate) fn range(&self) -> Range<usize> {
        self.done..self.done + self.len
    }
}

/// Cuts an access at the ends of pages.
pub(crate) fn pieces(addr: u64, len: usize) -> impl Iterator<Item = Piece> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = addr.wrapping_add(done as u64);
        let offset = (at % PAGE_SIZE) as usize;
        let piece = Piece { addr: at, page: at / PAGE_SIZE, offset, len: (PAGE_BYTES - offset).min(len - done), done };
        done += piece.len;
        (piece.len > 0).then_some(piece)
    })
}

/// Whether permissions are checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Check {
    Permission,
    Nothing,
}

impl Memory {
    /// Finds where an address lives; lets a stack grow for it.
    pub(crate) fn resolve(
        &mut self,
        space: SpaceId,
        addr: u64,
        access: AccessKind,
        check: Check,
    ) -> Result<Place, Fault> {
        let found = match self.locate(space, addr, access, check) {
            Err(Fault { cause: Cause::Unmapped, .. }) if self.grow_stack(space, addr, access, check) => {
                self.locate(space, addr, access, check)
            }
            found => found,
        };
        if found.is_err() {
            self.log_fault(space, addr);
        }
        found
    }

    /// Finds where an address lives.
    pub(crate) fn locate(&self, space: SpaceId, addr: u64, access: AccessKind, check: Check) -> Result<Place, Fault> {
        let fault = |cause| Fault { addr, access, cause };
        let mapping = self.mapping_at(space, addr).ok_or(fault(Cause::Unmapped))?;
        if check == Check::Permission && !mapping.protection.allows(access) {
            return Err(fault(Cause::Protected));
        }
        let under = mapping.object_at(addr).map(|(id, offset)| (id, offset / PAGE_SIZE));
        if under.is_some_and(|(id, page)| page >= self.stores.object(id).pages()) {
            return Err(fault(Cause::BeyondEnd));
        }
        Ok(place(space, mapping, addr, under))
    }

    fn grow_stack(&mut self, space: SpaceId, addr: u64, access: AccessKind, check: Check) -> bool {
        let Some((start, stack)) = self.stores.space(space).layout.growth(addr) else { return false };
        let end = stack.start;
        if check == Check::Permission && !stack.protection.allows(access) {
            return false;
        }
        self.edit(space, start, end, |layout| layout.grow(start));
        true
    }

    /// Reads bytes of a space. On a fault all bytes before [`Fault::addr`] are read.
    ///
    /// # Errors
    /// At the first byte that cannot be read.
    pub fn read(&mut self, space: SpaceId, addr: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        for piece in pieces(addr, buffer.len()) {
            let place = self.resolve(space, piece.addr, AccessKind::Read, Check::Permission)?;
            self.log_kernel(space, piece, false);
            let bytes = self.stores.view(place);
            buffer[piece.range()].copy_from_slice(&bytes[piece.offset..piece.offset + piece.len]);
        }
        Ok(())
    }

    /// Reads bytes of a space and adds them to what there is, each copied once. On a fault all bytes before [`Fault::addr`] are added,
    /// and no room is made for more than that: a guest may ask for any length.
    ///
    /// # Errors
    /// At the first byte that cannot be read.
    pub fn read_onto(&mut self, space: SpaceId, addr: u64, length: usize, bytes: &mut Vec<u8>) -> Result<(), Fault> {
        for piece in pieces(addr, length) {
            let place = self.resolve(space, piece.addr, AccessKind::Read, Check::Permission)?;
            self.log_kernel(space, piece, false);
            bytes.extend_from_slice(&self.stores.view(place)[piece.offset..piece.offset + piece.len]);
        }
        Ok(())
    }

    /// Reads bytes of a space whatever its permissions, without growing stacks or logging: for the checker itself.
    ///
    /// # Errors
    /// At the first byte that is not there.
    pub fn peek(&self, space: SpaceId, addr: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        self.note_peek(space, addr, buffer.len());
        for piece in pieces(addr, buffer.len()) {
            let place = self.locate(space, piece.addr, AccessKind::Read, Check::Nothing)?;
            let bytes = self.stores.view(place);
            buffer[piece.range()].copy_from_slice(&bytes[piece.offset..piece.offset + piece.len]);
        }
        Ok(())
    }

    /// Writes bytes into a space. On a fault all bytes before [`Fault::addr`] are written.
    ///
    /// # Errors
    /// At the first byte that cannot be written.
    pub fn write(&mut self, space: SpaceId, addr: u64, bytes: &[u8]) -> Result<(), Fault> {
        self.write_checked(space, addr, bytes, Check::Permission)
    }

    /// Writes whatever the permissions: for loaders and debuggers.
    ///
    /// # Errors
    /// At the first byte that is not there.
    pub fn write_forced(&mut self, space: SpaceId, addr: u64, bytes: &[u8]) -> Result<(), Fault> {
        self.write_checked(space, addr, bytes, Check::Nothing)
    }

    fn write_checked(&mut self, space: SpaceId, addr: u64, bytes: &[u8], check: Check) -> Result<(), Fault> {
        for piece in pieces(addr, bytes.len()) {
            let place = self.resolve(space, piece.addr, AccessKind::Write, check)?;
            let fault = |cause| Fault { addr: piece.addr, access: AccessKind::Write, cause };
            page::write(self.own(place).map_err(fault)?, piece.offset, &bytes[piece.range()]);
            self.log_kernel(space, piece, true);
        }
        Ok(())
    }

    /// Reads up to a zero byte, which is left out, or `max` bytes without one.
    ///
    /// # Errors
    /// At the first byte that cannot be read.
    pub fn read_until_nul(&mut self, space: SpaceId, addr: u64, max: usize) -> Result<Vec<u8>, Fault> {
        let mut found = Vec::new();
        for piece in pieces(addr, max) {
            let place = self.resolve(space, piece.addr, AccessKind::Read, Check::Permission)?;
            let bytes = &self.stores.view(place)[piece.offset..piece.offset + piece.len];
            let end = bytes.iter().position(|byte| *byte == 0);
            found.extend_from_slice(&bytes[..end.unwrap_or(piece.len)]);
            self.log_kernel(space, Piece { len: end.map_or(piece.len, |end| end + 1), ..piece }, false);
            if end.is_some() {
                break;
            }
        }
        Ok(found)
    }

    /// Reads a 32-bit number.
    ///
    /// # Errors
    /// At the first byte that cannot be read.
    pub fn read_u32(&mut self, space: SpaceId, addr: u64) -> Result<u32, Fault> {
        let mut bytes = [0; 4];
        self.read(space, addr, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Reads a 64-bit number.
    ///
    /// # Errors
    /// At the first byte that cannot be read.
    pub fn read_u64(&mut self, space: SpaceId, addr: u64) -> Result<u64, Fault> {
        let mut bytes = [0; 8];
        self.read(space, addr, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Writes a 32-bit number.
    ///
    /// # Errors
    /// At the first byte that cannot be written.
    pub fn write_u32(&mut self, space: SpaceId, addr: u64, value: u32) -> Result<(), Fault> {
        self.write(space, addr, &value.to_le_bytes())
    }

    /// Writes a 64-bit number.
    ///
    /// # Errors
    /// At the first byte that cannot be written.
    pub fn write_u64(&mut self, space: SpaceId, addr: u64, value: u64) -> Result<(), Fault> {
        self.write(space, addr, &value.to_le_bytes())
    }

    /// Reads up to 16 bytes of instructions of the current space; how many could be executed, at least one.
    ///
    /// # Errors
    /// If the first byte cannot be executed.
    pub fn fetch(&mut self, addr: u64, buffer: &mut [u8; 16]) -> Result<usize, Halt> {
        let unmapped = Fault { addr, access: AccessKind::Execute, cause: Cause::Unmapped };
        let space = self.current.ok_or(Halt::Fault(unmapped))?;
        let mut count = 0;
        for piece in pieces(addr, buffer.len()) {
            match self.locate(space, piece.addr, AccessKind::Execute, Check::Permission) {
                Err(fault) if count == 0 => return Err(Halt::Fault(fault)),
                Err(_) => break,
                Ok(place) => {
                    let bytes = self.stores.view(place);
                    buffer[piece.range()].copy_from_slice(&bytes[piece.offset..piece.offset + piece.len]);
                    count += piece.len;
                }
            }
        }
        Ok(count)
    }
}

/// Where a page of a mapping lives.
fn place(space: SpaceId, mapping: &Mapping, addr: u64, under: Option<(crate::ObjectId, u64)>) -> Place {
    match (mapping.sharing, under) {
        (Sharing::Shared, Some((id, page))) => Place { owner: Owner::Object(id), page, under: None },
        _ => Place { owner: Owner::Space(space), page: addr / PAGE_SIZE, under },
    }
}
