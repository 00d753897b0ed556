//! The symbols of one binary: `.symtab` and `.dynsym`, by name and by address (`elf(5)`).
//!
//! The file comes from outside: a table that is damaged is a table without symbols.

use object::elf::{self, FileHeader64};
use object::read::elf::{ElfFile, Sym, SymbolTable, VersionTable};
use object::{LittleEndian, SectionIndex, SymbolIndex};

type Header = FileHeader64<LittleEndian>;

/// What a symbol names.
///
/// `STT_GNU_IFUNC` matters for hooks: the address is that of a resolver, and the function itself is
/// what it returned.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A function.
    Function,
    /// A function that is chosen when the program starts (`STT_GNU_IFUNC`): the address is of the code that chooses.
    Indirect,
    /// A variable.
    Data,
    /// A place that nobody gave a type: code written in assembler, mostly.
    Label,
}

/// A name for an address in a binary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// Its name, as the linker sees it.
    pub name: Box<str>,
    /// Where it is, before the base is added.
    pub address: u64,
    /// Bytes; 0 where nobody said.
    pub size: u64,
    /// What it names.
    pub kind: Kind,
    /// Programs that are linked today get another function of this name (`pthread_cond_wait@GLIBC_2.2.5`): this one is
    /// kept for old programs, and may mean something else.
    pub is_old: bool,
}

/// The symbols of one binary.
///
/// Two sorted tables, O(log n) by address and by name; a C library has some three thousand symbols,
/// a browser a million.
#[derive(Default, Debug)]
pub struct Symbols {
    /// By address, then best name first.
    all: Vec<Symbol>,
    /// Places in `all`, by name.
    by_name: Vec<u32>,
}

/// How many symbols before an address are looked at: functions inside functions are rare.
///
/// Symbols may nest (a function's local labels); looking back further would make unlucky addresses
/// slow.
const BACK_MAX: usize = 64;

impl Symbols {
    /// The symbols of a file; none if it is not a 64-bit ELF file.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut all = read(bytes).unwrap_or_default();
        all.sort_by(|a, b| rank(a).cmp(&rank(b)));
        all.dedup_by(|a, b| a.name == b.name && a.address == b.address && a.is_old == b.is_old);
        let mut by_name: Vec<u32> = (0..all.len() as u32).collect();
        by_name.sort_by_key(|place| &all[*place as usize].name);
        Self { all, by_name }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// All symbols of a name: several where it has versions, or is local to several sources.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Symbol> {
        let text = |place: &u32| &*self.all[*place as usize].name;
        let first = self.by_name.partition_point(|place| text(place) < name);
        let same = self.by_name[first..].iter().take_while(move |place| text(place) == name);
        same.map(|place| &self.all[*place as usize])
    }

    /// All symbols, by address.
    pub fn iter(&self) -> impl Iterator<Item = &Symbol> {
        self.all.iter()
    }

    /// The symbol that covers an address, the best name of several, among those that are wanted.
    ///
    /// One without a size goes on until the next begins: code that was written in assembler.
    #[must_use]
    pub fn at(&self, address: u64, wanted: impl Fn(Kind) -> bool) -> Option<&Symbol> {
        let end = self.all.partition_point(|symbol| symbol.address <= address);
        let mut before = self.all[..end].iter().rev().filter(|symbol| wanted(symbol.kind)).take(BACK_MAX);
        let last = before.clone().next()?;
        let covering = before.find(|symbol| address - symbol.address < symbol.size);
        let start = covering.or((last.size == 0).then_some(last))?.address;
        let first = self.all.partition_point(|symbol| symbol.address < start);
        let covers = |symbol: &Symbol| symbol.size == 0 || address - start < symbol.size;
        self.all[first..end].iter().find(|symbol| wanted(symbol.kind) && covers(symbol))
    }
}

/// Readers know a function by the name that manuals give it: without underscores, current, short.
fn rank(symbol: &Symbol) -> (u64, bool, Kind, usize, usize, &str) {
    let underscores = symbol.name.len() - symbol.name.trim_start_matches('_').len();
    (symbol.address, symbol.is_old, symbol.kind, underscores, symbol.name.len(), &symbol.name)
}

fn read(bytes: &[u8]) -> Option<Vec<Symbol>> {
    let file = ElfFile::<Header>::parse(bytes).ok()?;
    let sections = file.elf_section_table();
    let versions = sections.versions(LittleEndian, bytes).ok().flatten();
    let mut all = Vec::new();
    for (table, versions) in [(file.elf_symbol_table(), None), (file.elf_dynamic_symbol_table(), versions.as_ref())] {
        all.extend(table.enumerate().filter_map(|(index, _)| symbol(table, index, versions)));
    }
    Some(all)
}

fn symbol(
    table: &SymbolTable<'_, Header>,
    index: SymbolIndex,
    versions: Option<&VersionTable<'_, Header>>,
) -> Option<Symbol> {
    let raw = table.symbol(index).ok()?;
    table.symbol_section(LittleEndian, raw, index).ok()?.filter(|section| *section != SectionIndex(0))?;
    let name = std::str::from_utf8(table.symbol_name(LittleEndian, raw).ok()?).ok()?;
    // The table of a static program carries versions in its names.
    let (name, version) = name.split_once('@').unwrap_or((name, "@"));
    let is_old = versions.is_some_and(|versions| versions.version_index(LittleEndian, index).is_hidden());
    let kind = match raw.st_type() {
        elf::STT_FUNC => Kind::Function,
        elf::STT_GNU_IFUNC => Kind::Indirect,
        elf::STT_OBJECT => Kind::Data,
        elf::STT_NOTYPE => Kind::Label,
        _ => return None,
    };
    let is_old = is_old || !version.starts_with('@');
    (!name.is_empty()).then(|| Symbol {
        name: name.into(),
        address: raw.st_value(LittleEndian),
        size: raw.st_size(LittleEndian),
        kind,
        is_old,
    })
}
