//! The parts of an ELF file that a kernel looks at (`elf(5)`): header, program headers, interpreter.
//!
//! The file comes from outside: every offset is checked, nothing is trusted, nothing panics.
//!
//! What Linux's `load_elf_binary` looks at, and no more: sections and symbols are the debugger's
//! business (`debuginfo`). A file that Linux would refuse is refused with the same errno where that
//! is known.

use std::fmt;

/// An executable or shared object, as far as loading it needs.
///
/// Addresses are as in the file; the loader adds a base for relocatable ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Elf {
    /// Whether it can be loaded anywhere (`ET_DYN`: position-independent, or a library).
    pub relocatable: bool,
    /// Where execution starts, before the base is added.
    pub entry: u64,
    /// Pieces to map, ascending.
    pub segments: Vec<Segment>,
    /// The dynamic linker it asks for.
    pub interpreter: Option<Vec<u8>>,
    /// Where the program headers lie in memory, before the base is added.
    pub headers_address: u64,
    /// How many program headers there are.
    pub headers: u16,
    /// Whether the stack must be executable (`PT_GNU_STACK`).
    pub executable_stack: bool,
    /// What the program was built for beyond the baseline (`GNU_PROPERTY_X86_ISA_1_NEEDED`): bit 0 baseline, 1 v2, 2 v3, 3 v4.
    pub isa_needed: u32,
}

/// One `PT_LOAD` segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Place in the file.
    pub offset: u64,
    /// Bytes from the file.
    pub file_size: u64,
    /// Place in memory, before the base is added.
    pub address: u64,
    /// Bytes in memory; what the file does not fill is zero.
    pub size: u64,
    /// `PF_X` 1, `PF_W` 2, `PF_R` 4.
    pub flags: u32,
    /// What the address must be a multiple of.
    pub alignment: u64,
}

/// Why a file cannot be loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ElfError {
    /// It does not begin with the four bytes of an ELF file.
    NotElf,
    /// It is for something else than 64-bit x86 Linux.
    WrongMachine(String),
    /// It contradicts itself.
    Malformed(&'static str),
}

impl fmt::Display for ElfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotElf => f.write_str("it is not an ELF file"),
            Self::WrongMachine(what) => write!(f, "it is for {what}, not for x86-64 Linux"),
            Self::Malformed(what) => write!(f, "its ELF headers are damaged: {what}"),
        }
    }
}

const PT_LOAD: u32 = 1;
const PT_INTERP: u32 = 3;
const PT_PHDR: u32 = 6;
const PT_GNU_STACK: u32 = 0x6474_e551;
const PT_GNU_PROPERTY: u32 = 0x6474_e553;

/// Where user addresses end.
const ADDRESS_MAX: u64 = 0x7fff_ffff_f000;

/// Little-endian fields at checked places.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn bytes(&self, at: u64, length: u64) -> Result<&[u8], ElfError> {
        let start = usize::try_from(at).ok();
        let end = at.checked_add(length).and_then(|end| usize::try_from(end).ok());
        let range = start.zip(end).and_then(|(start, end)| self.0.get(start..end));
        range.ok_or(ElfError::Malformed("something lies beyond the end of the file"))
    }

    fn number<const N: usize>(&self, at: u64) -> Result<[u8; N], ElfError> {
        Ok(self.bytes(at, N as u64)?.try_into().expect("as many bytes as asked for"))
    }

    fn u16(&self, at: u64) -> Result<u16, ElfError> {
        self.number(at).map(u16::from_le_bytes)
    }

    fn u32(&self, at: u64) -> Result<u32, ElfError> {
        self.number(at).map(u32::from_le_bytes)
    }

    fn u64(&self, at: u64) -> Result<u64, ElfError> {
        self.number(at).map(u64::from_le_bytes)
    }
}

impl Elf {
    /// Reads the headers of a file.
    pub fn parse(file: &[u8]) -> Result<Self, ElfError> {
        if !file.starts_with(b"\x7fELF") {
            return Err(ElfError::NotElf);
        }
        let fields = Fields(file);
        check_machine(&fields)?;
        let mut elf = Self {
            relocatable: kind(&fields)?,
            entry: fields.u64(24)?,
            segments: Vec::new(),
            interpreter: None,
            headers_address: 0,
            headers: fields.u16(56)?,
            executable_stack: false,
            isa_needed: 0,
        };
        elf.read_headers(&fields)?;
        elf.check_segments()?;
        Ok(elf)
    }

    fn read_headers(&mut self, fields: &Fields<'_>) -> Result<(), ElfError> {
        const HEADER_SIZE: u64 = 56;
        if u64::from(fields.u16(54)?) != HEADER_SIZE {
            return Err(ElfError::Malformed("program headers of an unknown size"));
        }
        let table = fields.u64(32)?;
        for index in 0..u64::from(self.headers) {
            let at = table.checked_add(index * HEADER_SIZE).ok_or(ElfError::Malformed("a huge offset"))?;
            self.read_header(fields, at)?;
        }
        if self.headers_address == 0 {
            self.headers_address = self.address_of(table).unwrap_or(0);
        }
        Ok(())
    }

    fn read_header(&mut self, fields: &Fields<'_>, at: u64) -> Result<(), ElfError> {
        let segment = segment(fields, at)?;
        match fields.u32(at)? {
            PT_LOAD => self.segments.push(segment),
            PT_INTERP => self.interpreter = Some(interpreter(fields, &segment)?),
            PT_PHDR => self.headers_address = segment.address,
            PT_GNU_STACK => self.executable_stack = segment.flags & 1 != 0,
            PT_GNU_PROPERTY => self.isa_needed = isa_needed(fields, &segment).unwrap_or(0),
            _ => {}
        }
        Ok(())
    }

    /// Where a place of the file is found in memory.
    fn address_of(&self, offset: u64) -> Option<u64> {
        let covers = |segment: &&Segment| (segment.offset..segment.offset + segment.file_size).contains(&offset);
        let segment = self.segments.iter().find(covers)?;
        Some(segment.address + (offset - segment.offset))
    }

    /// Order and disjointness are relied upon by `extent` and by mapping segment after segment.
    fn check_segments(&self) -> Result<(), ElfError> {
        if self.segments.is_empty() {
            return Err(ElfError::Malformed("nothing to load"));
        }
        let ordered = self.segments.windows(2).all(|pair| pair[0].address + pair[0].size <= pair[1].address);
        if ordered { Ok(()) } else { Err(ElfError::Malformed("segments overlap or are out of order")) }
    }

    /// First and last address that the segments take, rounded to pages.
    #[must_use]
    pub fn extent(&self) -> (u64, u64) {
        let first = self.segments.first().map_or(0, |segment| segment.address & !0xfff);
        let last = self.segments.last().map_or(0, |segment| (segment.address + segment.size + 0xfff) & !0xfff);
        (first, last)
    }

    /// The largest alignment that a segment asks for.
    #[must_use]
    pub fn alignment(&self) -> u64 {
        self.segments.iter().map(|segment| segment.alignment).max().unwrap_or(1).max(0x1000)
    }
}

fn check_machine(fields: &Fields<'_>) -> Result<(), ElfError> {
    let identity: [u8; 8] = fields.number(0)?;
    if identity[4] == 1 {
        return Err(ElfError::WrongMachine("32-bit machines".into()));
    }
    if identity[4] != 2 || identity[5] != 1 {
        return Err(ElfError::WrongMachine("a big-endian machine".into()));
    }
    match fields.u16(18)? {
        62 => Ok(()),
        183 => Err(ElfError::WrongMachine("64-bit ARM".into())),
        243 => Err(ElfError::WrongMachine("RISC-V".into())),
        21 => Err(ElfError::WrongMachine("64-bit PowerPC".into())),
        22 => Err(ElfError::WrongMachine("IBM S/390".into())),
        number => Err(ElfError::WrongMachine(format!("machine number {number}"))),
    }
}

fn kind(fields: &Fields<'_>) -> Result<bool, ElfError> {
    match fields.u16(16)? {
        2 => Ok(false),
        3 => Ok(true),
        1 => Err(ElfError::Malformed("it is an object file that was not linked")),
        4 => Err(ElfError::Malformed("it is a core dump")),
        _ => Err(ElfError::Malformed("its type is unknown")),
    }
}

fn segment(fields: &Fields<'_>, at: u64) -> Result<Segment, ElfError> {
    let segment = Segment {
        offset: fields.u64(at + 8)?,
        file_size: fields.u64(at + 32)?,
        address: fields.u64(at + 16)?,
        size: fields.u64(at + 40)?,
        flags: fields.u32(at + 4)?,
        alignment: fields.u64(at + 48)?,
    };
    let end = segment.address.checked_add(segment.size).filter(|end| *end <= ADDRESS_MAX);
    if end.is_none() || segment.offset.checked_add(segment.file_size).is_none() {
        return Err(ElfError::Malformed("a segment beyond the address space"));
    }
    if fields.u32(at)? != PT_LOAD {
        return Ok(segment);
    }
    if segment.file_size > segment.size {
        return Err(ElfError::Malformed("a segment larger in the file than in memory"));
    }
    if segment.offset % 0x1000 != segment.address % 0x1000 {
        return Err(ElfError::Malformed("a segment that does not fit its page"));
    }
    if segment.alignment > 1 && !segment.alignment.is_power_of_two() || segment.alignment > 1 << 32 {
        return Err(ElfError::Malformed("an alignment that is no power of two"));
    }
    Ok(segment)
}

fn interpreter(fields: &Fields<'_>, segment: &Segment) -> Result<Vec<u8>, ElfError> {
    if segment.file_size > 4096 {
        return Err(ElfError::Malformed("the interpreter's path is too long"));
    }
    let path = fields.bytes(segment.offset, segment.file_size)?;
    match path.split_last() {
        Some((0, path)) if !path.is_empty() => Ok(path.to_vec()),
        _ => Err(ElfError::Malformed("the interpreter's path does not end")),
    }
}

/// `GNU_PROPERTY_X86_ISA_1_NEEDED` in the note, if it is there.
fn isa_needed(fields: &Fields<'_>, segment: &Segment) -> Option<u32> {
    const ISA_1_NEEDED: u32 = 0xc000_8002;
    let note = fields.bytes(segment.offset, segment.file_size).ok()?;
    let properties = Fields(note.get(16..)?);
    let mut at = 0;
    while let (Ok(kind), Ok(size)) = (properties.u32(at), properties.u32(at + 4)) {
        if kind == ISA_1_NEEDED {
            return properties.u32(at + 8).ok();
        }
        at += 8 + u64::from(size).next_multiple_of(8);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with one loadable segment.
    fn small() -> Vec<u8> {
        let mut file = vec![0; 120];
        file[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\x00");
        file[16] = 2;
        file[18] = 62;
        file[24..32].copy_from_slice(&0x40_0078u64.to_le_bytes());
        file[32] = 64;
        file[54] = 56;
        file[56] = 1;
        file[64] = 1;
        file[68] = 5;
        file[80..88].copy_from_slice(&0x40_0000u64.to_le_bytes());
        file[96] = 120;
        file[104] = 120;
        file[112..120].copy_from_slice(&0x1000u64.to_le_bytes());
        file
    }

    #[test]
    fn a_small_executable_is_understood() {
        let elf = Elf::parse(&small()).unwrap();
        assert_eq!((elf.entry, elf.headers_address, elf.extent()), (0x40_0078, 0x40_0040, (0x40_0000, 0x40_1000)));
    }

    #[test]
    fn text_is_not_elf() {
        assert_eq!(Elf::parse(b"#!/bin/sh\n"), Err(ElfError::NotElf));
    }

    #[test]
    fn other_machines_are_named() {
        let mut file = small();
        file[18] = 183;
        assert_eq!(Elf::parse(&file).unwrap_err().to_string(), "it is for 64-bit ARM, not for x86-64 Linux");
    }

    #[test]
    fn no_prefix_and_no_changed_byte_panics() {
        let file = small();
        for length in 0..file.len() {
            let _ = Elf::parse(&file[..length]);
        }
        for (index, value) in (0..file.len()).flat_map(|index| [0, 1, 0x7f, 0xff].map(|value| (index, value))) {
            let mut changed = file.clone();
            changed[index] = value;
            let _ = Elf::parse(&changed).map(|elf| (elf.extent(), elf.alignment()));
        }
    }
}
