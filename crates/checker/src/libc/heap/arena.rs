//! The arena of a thread: its address follows from the thread's number, which follows from its creation path.
//!
//! A cell is 16 bytes. Blocks are laid out as in glibc: the 8 bytes in front of each, in the cell before, are its size.
//! Bitmaps at the arena's beginning, which the guest can neither read nor write, say which cells are allocated. The
//! state of an arena is the set of its blocks: it does not depend on the order of allocations.

use super::Problem;
use super::bits::Bits;
use kernel::Tid;
use memory::{Mapping, Memory, PAGE_SIZE, Protection, SpaceId};

/// The first arena; nothing else is mapped in this range, unless the program asks for it.
const FIRST: u64 = 0x1000_0000_0000;
/// Bytes from one arena to the next.
const SIZE: u64 = 512 << 20;
/// Numbers of threads have five digits.
const COUNT: u64 = 100_000;

/// Bytes of one bitmap.
const ROW: u64 = 2 << 20;
/// Where an arena keeps how far it is mapped, and the lowest free cell.
const NOTES: u64 = 3 * ROW;
/// Where cells begin.
const CELLS: u64 = 8 << 20;
/// Where blocks of whole pages begin.
const PAGES: u64 = SIZE / 2;
/// Bytes by which the mapped part grows.
const GROWTH: u64 = 128 << 10;

/// Bytes of a cell.
pub const CELL: u64 = 16;
/// Cell 0 holds the size of what begins in cell 1.
const CELL_FIRST: u64 = 1;
const CELL_END: u64 = (PAGES - CELLS) / CELL;

/// The arena of one thread in an address space.
#[derive(Clone, Copy)]
pub struct Arena {
    space: SpaceId,
    base: u64,
}

/// The part of an arena that an address is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// In a cell.
    Cell(u64),
    /// Among blocks of whole pages.
    Pages,
}

impl Arena {
    /// The arena of a thread.
    pub fn of(space: SpaceId, tid: Tid) -> Self {
        Self { space, base: FIRST + u64::from(tid.0) % COUNT * SIZE }
    }

    /// The arena that an address is in, and the part of it.
    pub fn holding(space: SpaceId, address: u64) -> Option<(Self, Part)> {
        let offset = address.checked_sub(FIRST).filter(|offset| *offset < COUNT * SIZE)?;
        let arena = Self { space, base: address - offset % SIZE };
        match offset % SIZE {
            inside if inside >= PAGES => Some((arena, Part::Pages)),
            inside if inside >= CELLS + CELL => Some((arena, Part::Cell((inside - CELLS) / CELL))),
            _ => None,
        }
    }

    /// Whether it belongs to a thread.
    pub fn is_of(&self, tid: Tid) -> bool {
        self.base == Self::of(self.space, tid).base
    }

    fn row(&self, number: u64) -> Bits {
        Bits { space: self.space, base: self.base + number * ROW }
    }

    /// Allocated cells.
    fn taken(&self) -> Bits {
        self.row(0)
    }

    /// First cells of blocks.
    fn begins(&self) -> Bits {
        self.row(1)
    }

    /// First cells of blocks that another thread has freed, and that are not reclaimed yet.
    fn dead(&self) -> Bits {
        self.row(2)
    }

    fn note(&self, memory: &Memory, number: u64) -> u64 {
        let mut bytes = [0; 8];
        let _ = memory.peek(self.space, self.base + NOTES + number * 8, &mut bytes);
        u64::from_le_bytes(bytes)
    }

    fn set_note(&self, memory: &mut Memory, number: u64, value: u64) -> Result<(), Problem> {
        if self.note(memory, number) == value {
            return Ok(());
        }
        memory.write_forced(self.space, self.base + NOTES + number * 8, &value.to_le_bytes()).map_err(Problem::of)
    }

    /// The address of the block that begins in a cell.
    pub fn address(&self, cell: u64) -> u64 {
        self.base + CELLS + cell * CELL
    }

    /// Whether a block begins in a cell and was not freed.
    pub fn is_live(&self, memory: &Memory, cell: u64) -> bool {
        self.begins().has(memory, cell) && !self.dead().has(memory, cell)
    }

    /// The number of cells of the block that begins in a cell.
    pub fn length(&self, memory: &Memory, cell: u64) -> u64 {
        let most = self.taken().same(memory, cell, CELL_END - cell);
        if most <= 1 { most } else { 1 + self.unbegun(memory, cell + 1, most - 1) }
    }

    /// How many cells follow in which no block begins.
    fn unbegun(&self, memory: &Memory, cell: u64, most: u64) -> u64 {
        if self.begins().has(memory, cell) { 0 } else { self.begins().same(memory, cell, most) }
    }

    /// Whether cells are free.
    pub fn is_free(&self, memory: &Memory, from: u64, count: u64) -> bool {
        from + count <= CELL_END && !self.taken().has(memory, from) && self.taken().same(memory, from, count) == count
    }

    /// Allocates the lowest free cells for a block; nothing if there are none left. `room` is what may still be mapped.
    pub fn take(&self, memory: &mut Memory, count: u64, align: u64, room: u64) -> Result<Option<u64>, Problem> {
        let from = self.note(memory, 0).max(CELL_FIRST);
        let Some(cell) = self.taken().gap(memory, (from, CELL_END), count, (align / CELL).max(1)) else {
            return Ok(None);
        };
        self.reach(memory, cell + count, room)?;
        self.taken().put(memory, cell, count, true)?;
        self.begins().put(memory, cell, 1, true)?;
        if cell == from {
            let next = self.taken().gap(memory, (cell + count, CELL_END), 1, 1).unwrap_or(CELL_END);
            self.set_note(memory, 0, next)?;
        }
        Ok(Some(cell))
    }

    /// Extends a block into free cells.
    pub fn extend(&self, memory: &mut Memory, from: u64, count: u64, room: u64) -> Result<(), Problem> {
        self.reach(memory, from + count, room)?;
        self.taken().put(memory, from, count, true)?;
        if self.note(memory, 0) == from {
            let next = self.taken().gap(memory, (from + count, CELL_END), 1, 1).unwrap_or(CELL_END);
            self.set_note(memory, 0, next)?;
        }
        Ok(())
    }

    /// Frees cells: those of a block, or its last ones.
    pub fn give(&self, memory: &mut Memory, from: u64, count: u64) -> Result<(), Problem> {
        self.taken().put(memory, from, count, false)?;
        self.begins().put(memory, from, 1, false)?;
        self.dead().put(memory, from, 1, false)?;
        let first = self.note(memory, 0).min(from);
        // Zero if no block is left below: an empty arena equals one that was never used.
        self.set_note(memory, 0, if first <= CELL_FIRST { 0 } else { first })
    }

    /// Marks a block as freed. Its cells stay allocated until the owner reclaims them.
    pub fn bury(&self, memory: &mut Memory, cell: u64) -> Result<(), Problem> {
        self.dead().put(memory, cell, 1, true)
    }

    /// Maps an arena up to the end of some cells.
    fn reach(&self, memory: &mut Memory, end: u64, room: u64) -> Result<(), Problem> {
        let (mapped, wanted) = (self.note(memory, 1), (end * CELL).next_multiple_of(GROWTH));
        if wanted <= mapped {
            return Ok(());
        }
        let notes = NOTES + PAGE_SIZE;
        let is_new = mapped == 0;
        // Blocks of whole pages may be there already.
        if is_new && memory.mappings_in(self.space, self.base, self.base + PAGES).next().is_some() {
            return Err(Problem::Occupied);
        }
        let more = wanted - mapped + if is_new { notes } else { 0 };
        if more > room {
            return Err(Problem::Full);
        }
        if is_new {
            memory.map(self.space, Mapping::anonymous(self.base, notes, Protection::NONE)).map_err(Problem::of_map)?;
        }
        let writable = Protection::READ.union(Protection::WRITE);
        let new = Mapping::anonymous(self.base + CELLS + mapped, wanted - mapped, writable);
        memory.map(self.space, new).map_err(Problem::of_map)?;
        self.set_note(memory, 1, wanted)
    }

    /// The lowest free address range for `length` bytes of whole pages, such that its beginning plus `lead` is a
    /// multiple of `align`.
    pub fn pages(&self, memory: &Memory, length: u64, lead: u64, align: u64) -> Option<u64> {
        let place = |from: u64| (from + lead).next_multiple_of(align.max(PAGE_SIZE)) - lead.next_multiple_of(PAGE_SIZE);
        let mut start = place(self.base + PAGES);
        for mapping in memory.mappings_in(self.space, self.base + PAGES, self.base + SIZE) {
            if start + length <= mapping.start {
                break;
            }
            start = place(mapping.end());
        }
        (start + length <= self.base + SIZE).then_some(start)
    }
}
