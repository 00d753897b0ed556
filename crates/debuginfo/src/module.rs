//! One binary: what its file says about code and data in it.
//!
//! Found by content, not by path: a file that is replaced while a search runs is another module,
//! and two paths to one file are one. Everything that is read of it (symbols, DWARF, unwind tables)
//! is computed on first use and kept.

use super::dwarf::Dwarf;
use super::symbols::Symbols;
use explore::Budget;
use kernel::host::Host;
use std::sync::{Arc, OnceLock};
use world::load::elf::{Elf, Segment};

/// A binary, found by its content; it may be loaded in several spaces and at several places.
pub struct Module {
    /// Its path, as `/proc/PID/maps` has it.
    pub path: String,
    pub(super) bytes: Arc<[u8]>,
    pub(super) elf: Elf,
    host: Host,
    pub(super) budget: Budget,
    symbols: OnceLock<Symbols>,
    debug_file: OnceLock<Option<Arc<[u8]>>>,
    dwarf: OnceLock<Option<Dwarf>>,
}

impl Module {
    pub(super) fn new(path: String, bytes: Arc<[u8]>, (host, budget): (Host, Budget)) -> Option<Self> {
        let elf = Elf::parse(&bytes).ok()?;
        let (symbols, debug_file, dwarf) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Some(Self { path, bytes, elf, host, budget, symbols, debug_file, dwarf })
    }

    /// Its name without folders.
    #[must_use]
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Its symbols; those of its debug file where it was stripped of them.
    pub fn symbols(&self) -> &Symbols {
        self.symbols.get_or_init(|| {
            let own = Symbols::of(&self.bytes);
            if has_section(&self.bytes, ".symtab") {
                return own;
            }
            let other = self.debug_file().map(|bytes| Symbols::of(bytes));
            other.filter(|other| !other.is_empty()).unwrap_or(own)
        })
    }

    /// Whether it contains the C library: it is the library, or is linked with it statically.
    pub fn has_libc(&self) -> bool {
        let marks = ["__libc_start_main", "__pthread_initialize_minimal"];
        marks.into_iter().any(|mark| self.symbols().named(mark).next().is_some())
    }

    /// The file with the debug information that was stripped from it, found by its build id.
    pub(super) fn debug_file(&self) -> Option<&Arc<[u8]>> {
        self.debug_file.get_or_init(|| find_debug_file(&self.bytes, &self.host)).as_ref()
    }

    /// Its debug information, if there is any.
    pub(super) fn dwarf(&self) -> Option<&Dwarf> {
        self.dwarf.get_or_init(|| Dwarf::of(self)).as_ref()
    }

    /// Whether it says which source its code comes from (`-g`).
    pub fn has_debug_information(&self) -> bool {
        self.dwarf().is_some()
    }

    /// Size and alignment of what each thread has of it alone (`PT_TLS`).
    pub(super) fn thread_block(&self) -> Option<(u64, u64)> {
        use object::read::elf::{ElfFile64, ProgramHeader};
        let file = ElfFile64::<object::LittleEndian>::parse(&*self.bytes).ok()?;
        let mut headers = file.elf_program_headers().iter();
        let block = headers.find(|header| header.p_type(object::LittleEndian) == object::elf::PT_TLS)?;
        let (size, alignment) = (block.p_memsz(object::LittleEndian), block.p_align(object::LittleEndian));
        (size < 1 << 40 && alignment < 1 << 20).then_some((size, alignment.max(1)))
    }

    /// Whether an address, before the base is added, is of something that can be executed.
    pub(super) fn is_code(&self, place: u64) -> bool {
        let covers = |segment: &Segment| place.wrapping_sub(segment.address) < segment.size && segment.flags & 1 != 0;
        self.elf.segments.iter().any(covers)
    }

    /// What is added to the addresses in the file, if the byte at `offset` of the file is at `address`.
    ///
    /// Position-independent files are linked at 0 and loaded anywhere; all addresses in the file
    /// are relative to that. The executable segment decides, since others may be mapped apart.
    pub(super) fn bias(&self, offset: u64, address: u64) -> Option<u64> {
        let covers = |segment: &&Segment| {
            let start = segment.offset & !0xfff;
            segment.flags & 1 != 0 && (start..segment.offset.saturating_add(segment.file_size)).contains(&offset)
        };
        let segment = self.elf.segments.iter().find(covers)?;
        let linked = (segment.address & !0xfff).wrapping_add(offset - (segment.offset & !0xfff));
        Some(address.wrapping_sub(linked))
    }
}

pub(super) fn has_section(bytes: &[u8], name: &str) -> bool {
    use object::Object;
    object::File::parse(bytes).is_ok_and(|file| file.section_by_name(name).is_some())
}

/// Debian and others install what they strip from a binary under its build id.
///
/// Matched by build id (a hash that the linker puts into both files): debug information of another
/// build would name wrong lines, which is worse than none.
fn find_debug_file(bytes: &[u8], host: &Host) -> Option<Arc<[u8]>> {
    use object::Object;
    let file = object::File::parse(bytes).ok()?;
    let id: String = file.build_id().ok()??.iter().map(|byte| format!("{byte:02x}")).collect();
    let (first, rest) = id.split_at_checked(2)?;
    let path = format!("/usr/lib/debug/.build-id/{first}/{rest}.debug");
    let found = host.0.content(path.as_bytes())?;
    // One for another binary of this name would lead astray.
    let is_same = object::File::parse(&*found).ok()?.build_id().ok()?? == file.build_id().ok()??;
    is_same.then_some(found)
}
