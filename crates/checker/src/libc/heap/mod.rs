//! Allocation with its specified meaning. Every thread has an arena of its own, so that allocations of different
//! threads are independent.
//!
//! A freed block is zeroed, so that its old content does not distinguish states. A read of it returns zeros, or what
//! was written there since; a pointer read from it is null. Free cells are allocated lowest first. A block that is
//! freed by another thread than its owner stays allocated until the owner reclaims it: see `State::hand_over`.

mod arena;
mod bits;

use arena::{Arena, CELL, Part};
use kernel::Tid;
use memory::{Cause, Fault, MapError, Mapping, Memory, PAGE_SIZE, Protection, SpaceId};

/// A function that allocates or frees.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Allocation {
    /// `malloc(3)`.
    Malloc,
    /// `calloc(3)`.
    Calloc,
    /// `realloc(3)`.
    Realloc,
    /// `free(3)`.
    Free,
    /// `posix_memalign(3)`.
    PosixMemalign,
    /// `aligned_alloc(3)`.
    AlignedAlloc,
    /// `memalign(3)`.
    Memalign,
    /// `valloc(3)`.
    Valloc,
    /// `pvalloc(3)`.
    Pvalloc,
    /// `malloc_usable_size(3)`.
    UsableSize,
    /// Statistics of the library's own allocator.
    Statistics,
}

/// Why a request fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Problem {
    /// There is no room (`ENOMEM`).
    Full,
    /// The memory limit of the run.
    Limit,
    /// The program has mapped something where the arena should be.
    Occupied,
    /// The request is not summarised.
    Unknown,
    /// The address is not that of a block: the library would abort.
    Wrong(&'static str),
}

const NOT_ALLOCATED: Problem = Problem::Wrong("it is not allocated, or not any more");
const OVERWRITTEN: Problem = Problem::Wrong("what is in front of it was overwritten");

impl Problem {
    fn of(fault: Fault) -> Self {
        match fault.cause {
            Cause::NoMemory => Self::Limit,
            _ => Self::Wrong("it is not mapped any more"),
        }
    }

    fn of_map(error: MapError) -> Self {
        match error {
            MapError::NoMemory => Self::Full,
            _ => Self::Occupied,
        }
    }
}

/// An allocated block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// Its address for the program.
    pub address: u64,
    /// Bytes that it may use.
    pub usable: u64,
    /// Where it is.
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// Cells of an arena: the first, and how many.
    Cells(u64, u64),
    /// Whole pages from an address on, in an arena or elsewhere.
    Pages(u64, u64),
}

/// A block that was freed by another thread than its owner, and is not reclaimed yet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Buried {
    /// In which address space.
    pub space: SpaceId,
    /// Where it begins.
    pub start: u64,
    /// How many bytes it takes.
    pub length: u64,
}

impl Buried {
    /// Whether a thread owns it.
    pub fn is_of(&self, space: SpaceId, tid: Tid) -> bool {
        self.space == space && Arena::holding(space, self.start).is_some_and(|(arena, _)| arena.is_of(tid))
    }
}

/// Blocks of this size and more are whole pages, as in glibc (`M_MMAP_THRESHOLD`).
const PAGES_MIN: u64 = 128 << 10;
/// The smallest size of a block.
const LEAST: u64 = 32;
/// A bit of the size in front of a block, as in glibc: the block before is in use.
const IN_USE: u64 = 1;
/// The same: the block is whole pages.
const MAPPED: u64 = 2;
/// The end of the range for whole pages that do not fit into the arena.
const TOP: u64 = 0x7fff_f7ff_f000;

/// The allocator of a thread.
#[derive(Clone, Copy)]
pub struct Heap {
    /// In which address space.
    pub space: SpaceId,
    /// The thread.
    pub tid: Tid,
    /// No other thread uses the space: every block can be reclaimed at once.
    pub is_alone: bool,
    /// Bytes that may still be mapped (`RLIMIT_AS`).
    pub room: u64,
}

impl Heap {
    fn u64(&self, memory: &Memory, address: u64) -> u64 {
        let mut bytes = [0; 8];
        let _ = memory.peek(self.space, address, &mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// The block at an address.
    pub fn block(&self, memory: &Memory, address: u64) -> Result<Block, Problem> {
        if !address.is_multiple_of(CELL) {
            return Err(NOT_ALLOCATED);
        }
        match Arena::holding(self.space, address) {
            Some((arena, Part::Cell(cell))) => self.block_of_cells(memory, address, (arena, cell)),
            _ => self.block_of_pages(memory, address),
        }
    }

    fn block_of_cells(&self, memory: &Memory, address: u64, (arena, cell): (Arena, u64)) -> Result<Block, Problem> {
        if !arena.is_live(memory, cell) {
            return Err(NOT_ALLOCATED);
        }
        let count = arena.length(memory, cell);
        if self.u64(memory, address - 8) != (count * CELL) | IN_USE {
            return Err(OVERWRITTEN);
        }
        Ok(Block { address, usable: count * CELL - 8, place: Place::Cells(cell, count) })
    }

    /// The block is identified by the header in front of it alone, as in glibc.
    fn block_of_pages(&self, memory: &Memory, address: u64) -> Result<Block, Problem> {
        let (lead, size) = (self.u64(memory, address - 16), self.u64(memory, address - 8));
        let length = lead.saturating_add(size & !7);
        let start = address.wrapping_sub(16).wrapping_sub(lead);
        let is_plausible = size & 7 == MAPPED
            && start.is_multiple_of(PAGE_SIZE)
            && length.is_multiple_of(PAGE_SIZE)
            && (1..1 << 46).contains(&length)
            && memory.mapping_at(self.space, start).is_some();
        if !is_plausible {
            return Err(NOT_ALLOCATED);
        }
        Ok(Block { address, usable: length - lead - 16, place: Place::Pages(start, length) })
    }

    /// Whether this thread may reclaim a block: it is in its arena, or no other thread exists.
    fn is_own(&self, block: &Block) -> bool {
        match Arena::holding(self.space, block.address) {
            Some((arena, _)) => self.is_alone || arena.is_of(self.tid),
            None => true,
        }
    }

    /// The number of cells of a block of some bytes.
    fn cells(size: u64) -> u64 {
        (size + 8).next_multiple_of(CELL).max(LEAST) / CELL
    }

    /// A new block, all zeros; and whether it was placed outside of the arena, among other mappings.
    pub fn allocate(&self, memory: &mut Memory, size: u64, align: u64) -> Result<(u64, bool), Problem> {
        const SIZE_MAX: u64 = i64::MAX as u64;
        if size > SIZE_MAX - PAGE_SIZE || align > 1 << 46 {
            return Err(Problem::Full);
        }
        let arena = Arena::of(self.space, self.tid);
        if size < PAGES_MIN && align <= PAGE_SIZE {
            let count = Self::cells(size);
            if let Some(cell) = arena.take(memory, count, align, self.room)? {
                let address = arena.address(cell);
                self.store(memory, address - 8, (count * CELL) | IN_USE)?;
                return Ok((address, false));
            }
        }
        self.allocate_pages(memory, &arena, size, align)
    }

    fn allocate_pages(
        &self,
        memory: &mut Memory,
        arena: &Arena,
        size: u64,
        align: u64,
    ) -> Result<(u64, bool), Problem> {
        let lead = align.clamp(CELL, PAGE_SIZE);
        let length = (size + lead).next_multiple_of(PAGE_SIZE);
        if length > self.room {
            return Err(Problem::Full);
        }
        let own = arena.pages(memory, length, lead, align);
        let start = match own {
            Some(start) => start,
            None => self.elsewhere(memory, length, align)?,
        };
        let writable = Protection::READ.union(Protection::WRITE);
        memory.map(self.space, Mapping::anonymous(start, length, writable)).map_err(Problem::of_map)?;
        let address = start + lead;
        self.store(memory, address - 16, lead - 16)?;
        self.store(memory, address - 8, (length - (lead - 16)) | MAPPED)?;
        Ok((address, own.is_none()))
    }

    /// An address among the other mappings, for a block that is too large for the arena.
    fn elsewhere(&self, memory: &Memory, length: u64, align: u64) -> Result<u64, Problem> {
        let slack = if align > PAGE_SIZE { align } else { 0 };
        let start = memory.find_gap(self.space, length + slack, 0, TOP).ok_or(Problem::Full)?;
        Ok(if slack == 0 { start } else { (start + PAGE_SIZE).next_multiple_of(align) - PAGE_SIZE })
    }

    fn store(&self, memory: &mut Memory, address: u64, value: u64) -> Result<(), Problem> {
        memory.write_forced(self.space, address, &value.to_le_bytes()).map_err(Problem::of)
    }

    fn clear(&self, memory: &mut Memory, address: u64, length: u64) -> Result<(), Problem> {
        memory.write_forced(self.space, address, &vec![0; length as usize]).map_err(Problem::of)
    }

    /// Frees a block; what remains to be reclaimed by its owner.
    pub fn release(&self, memory: &mut Memory, block: &Block) -> Result<Option<Buried>, Problem> {
        let is_own = self.is_own(block);
        let (start, length) = match block.place {
            Place::Cells(_, count) => (block.address, count * CELL),
            Place::Pages(start, length) => (start, length),
        };
        let buried = Buried { space: self.space, start, length };
        if let Place::Cells(cell, _) = block.place {
            self.clear(memory, start - 8, length)?;
            if !is_own && let Some((arena, _)) = Arena::holding(self.space, start) {
                arena.bury(memory, cell)?;
            }
        } else if !is_own {
            // A later access faults, as if the pages were unmapped.
            let _ = memory.discard(self.space, start, length);
            memory.protect(self.space, start, length, Protection::NONE).map_err(Problem::of_map)?;
        }
        if is_own {
            self.unearth(memory, &buried)?;
        }
        Ok((!is_own).then_some(buried))
    }

    /// Reclaims a freed block.
    pub fn unearth(&self, memory: &mut Memory, buried: &Buried) -> Result<(), Problem> {
        match Arena::holding(self.space, buried.start) {
            Some((arena, Part::Cell(cell))) => arena.give(memory, cell, buried.length / CELL),
            _ => memory.unmap(self.space, buried.start, buried.length).map_err(Problem::of_map),
        }
    }

    /// Whether a block can be resized in place.
    fn fits(&self, memory: &Memory, block: &Block, size: u64) -> bool {
        let is_large = size >= PAGES_MIN;
        match (block.place, Arena::holding(self.space, block.address)) {
            (Place::Cells(cell, count), Some((arena, _))) if !is_large => {
                let wanted = Self::cells(size);
                wanted <= count || self.is_own(block) && arena.is_free(memory, cell + count, wanted - count)
            }
            (Place::Pages(start, length), _) => {
                let lead = block.address - start;
                is_large && (size.saturating_add(lead)).next_multiple_of(PAGE_SIZE) == length
            }
            _ => false,
        }
    }

    /// The bytes that a resize or a free takes from the block: all of them, its end, or none.
    pub fn given_up(&self, memory: &Memory, block: &Block, size: Option<u64>) -> (u64, u64) {
        let kept = match (size, block.place) {
            (Some(size), _) if !self.fits(memory, block, size) => 0,
            (Some(size), Place::Cells(_, count)) if self.is_own(block) && Self::cells(size) < count => {
                Self::cells(size) * CELL - 8
            }
            (Some(_), _) => block.usable,
            (None, _) => 0,
        };
        (block.address + kept, block.usable - kept)
    }

    /// Resizes a block: its new address, what of the old one remains to be reclaimed by another owner, and whether the
    /// new one was placed outside of the arena.
    pub fn resize(
        &self,
        memory: &mut Memory,
        block: &Block,
        size: u64,
    ) -> Result<(u64, Option<Buried>, bool), Problem> {
        if self.fits(memory, block, size) {
            self.resize_here(memory, block, size)?;
            return Ok((block.address, None, false));
        }
        let (address, is_elsewhere) = self.allocate(memory, size, CELL)?;
        let mut content = vec![0; block.usable.min(size) as usize];
        memory.peek(self.space, block.address, &mut content).map_err(Problem::of)?;
        memory.write_forced(self.space, address, &content).map_err(Problem::of)?;
        let buried = self.release(memory, block)?;
        Ok((address, buried, is_elsewhere))
    }

    fn resize_here(&self, memory: &mut Memory, block: &Block, size: u64) -> Result<(), Problem> {
        let (Place::Cells(cell, count), Some((arena, _))) = (block.place, Arena::holding(self.space, block.address))
        else {
            return Ok(());
        };
        let wanted = Self::cells(size);
        if !self.is_own(block) || wanted == count {
            return Ok(());
        }
        if wanted > count {
            arena.extend(memory, cell + count, wanted - count, self.room)?;
        } else {
            self.clear(memory, block.address + wanted * CELL - 8, (count - wanted) * CELL)?;
            arena.give(memory, cell + wanted, count - wanted)?;
        }
        self.store(memory, block.address - 8, (wanted * CELL) | IN_USE)
    }
}
