//! What of a program and its libraries is not modelled, told before it runs.
//!
//! A look at the files, not a proof: code is swept from start to end, so data in between may be taken for instructions,
//! and calls whose number is computed are not seen. What a run meets is refused by name either way.
//!
//! A linear sweep, as a disassembler without symbols does it; the alternative, following control
//! flow from entry points, misses everything behind indirect calls, which is most of a C library.
//! False findings are the price, and `dormant_calls` takes out the largest class of them: wrappers
//! that nobody imports.
#![allow(clippy::disallowed_methods, reason = "looks at a file that the user names")]

use iced_x86::{Code, CpuidFeature, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use kernel::table;
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What was found in one file.
///
/// `missing` and `missing_calls` are what matters; `features` are announced as absent by `cpuid`,
/// so programs that ask do not execute them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Findings {
    /// The file.
    pub path: PathBuf,
    /// Instruction forms that are modelled.
    pub forms: usize,
    /// Forms that are not modelled, by the processor feature they belong to. Programs ask the processor (`cpuid`)
    /// before they use such features, and the one they see says no.
    pub features: BTreeMap<String, usize>,
    /// Forms of the baseline that are not modelled: met, they end a run.
    pub missing: BTreeSet<String>,
    /// Syscalls seen.
    pub calls: usize,
    /// Syscalls that are not modelled, by number.
    pub missing_calls: BTreeSet<u32>,
    /// Such calls in functions that nobody who was looked at imports: the C library wraps every call there is.
    pub dormant_calls: BTreeSet<u32>,
    /// Libraries it needs.
    pub libraries: Vec<String>,
    /// Functions it takes from them.
    imports: BTreeSet<String>,
    /// The exported functions that make calls which are not modelled; nothing where no symbol tells.
    makers: BTreeMap<u32, Vec<Option<String>>>,
    /// Why it could not be read, if it could not.
    pub problem: Option<String>,
}

/// Folders in which libraries are looked for, after those of the program's own `RUNPATH`.
const LIBRARY_FOLDERS: &[&str] = &[
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/local/lib/x86_64-linux-gnu",
    "/usr/local/lib",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];

/// Looks at a program and all libraries that it names.
///
/// Symbolic links are resolved by the host here, since nothing runs: it is advice, and no verdict
/// depends on it.
#[must_use]
pub fn examine(program: &Path) -> Vec<Findings> {
    let mut found: Vec<Findings> = Vec::new();
    let mut open = vec![program.to_owned()];
    while let Some(path) = open.pop() {
        if found.iter().any(|findings| findings.path == path) {
            continue;
        }
        let findings = examine_file(&path);
        open.extend(findings.libraries.iter().rev().filter_map(|name| library(name)));
        found.push(findings);
    }
    let imports: BTreeSet<String> = found.iter().flat_map(|findings| findings.imports.iter().cloned()).collect();
    found.iter_mut().skip(1).for_each(|library| library.put_to_sleep(&imports));
    found
}

fn library(name: &str) -> Option<PathBuf> {
    let candidates = LIBRARY_FOLDERS.iter().map(|folder| Path::new(folder).join(name));
    candidates.into_iter().find_map(|path| std::fs::canonicalize(path).ok())
}

/// Looks at one file.
#[must_use]
pub fn examine_file(path: &Path) -> Findings {
    match std::fs::read(path) {
        Ok(bytes) => examine_bytes(path, &bytes),
        Err(error) => unreadable(path, error.to_string()),
    }
}

fn unreadable(path: &Path, why: String) -> Findings {
    Findings { path: path.to_owned(), problem: Some(why), ..Findings::default() }
}

/// Looks at the content of a file.
#[must_use]
pub fn examine_bytes(path: &Path, bytes: &[u8]) -> Findings {
    let problem = |why: String| unreadable(path, why);
    if let Err(error) = crate::load::elf::Elf::parse(bytes) {
        return problem(error.to_string());
    }
    match object::File::parse(bytes) {
        Ok(file) => Sweep::default().file(path, &file),
        Err(error) => problem(error.to_string()),
    }
}

#[derive(Default)]
struct Sweep {
    codes: BTreeSet<u16>,
    /// Where each syscall is made.
    calls: BTreeMap<u32, Vec<u64>>,
    /// The last constant put into `eax`, while it is known to be there.
    number: Option<u32>,
}

impl Sweep {
    fn file(mut self, path: &Path, file: &object::File<'_>) -> Findings {
        for section in file.sections().filter(|section| section.kind() == object::SectionKind::Text) {
            if let Ok(bytes) = section.data() {
                self.section(bytes, section.address());
            }
        }
        let codes = self.codes.iter().filter_map(|code| Code::try_from(usize::from(*code)).ok());
        let (modelled, other): (Vec<Code>, Vec<Code>) = codes.partition(|code| x86::supported(*code));
        let (optional, missing): (Vec<Code>, Vec<Code>) = other.into_iter().partition(|code| feature(*code).is_some());
        let is_missing = |number: &u32| table::row(u64::from(*number)).is_none();
        let missing_calls = self.calls.iter().filter(|(number, _)| is_missing(number));
        let makers =
            missing_calls.map(|(number, places)| (*number, exporters(file, places))).collect::<BTreeMap<_, _>>();
        let mut features = BTreeMap::new();
        optional.iter().filter_map(|code| feature(*code)).for_each(|name| *features.entry(name).or_default() += 1);
        Findings {
            path: path.to_owned(),
            forms: modelled.len(),
            features,
            missing: missing.iter().map(|code| format!("{code:?}").to_lowercase()).collect(),
            calls: self.calls.len(),
            missing_calls: makers.keys().copied().collect(),
            dormant_calls: BTreeSet::new(),
            libraries: needed(file),
            imports: imports(file),
            makers,
            problem: None,
        }
    }

    fn section(&mut self, bytes: &[u8], address: u64) {
        let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
        let mut instruction = Instruction::default();
        while decoder.can_decode() {
            decoder.decode_out(&mut instruction);
            if !instruction.is_invalid() {
                self.instruction(&instruction);
            }
        }
    }

    /// The number of a call is taken from the last constant in `eax` of the same straight run;
    /// wrappers of the C library put it right before the instruction.
    fn instruction(&mut self, instruction: &Instruction) {
        self.codes.insert(instruction.code() as u16);
        let sets_eax = instruction.op0_kind() == OpKind::Register
            && matches!(instruction.op0_register(), Register::EAX | Register::RAX);
        match instruction.mnemonic() {
            Mnemonic::Syscall => {
                if let Some(number) = self.number.take() {
                    self.calls.entry(number).or_default().push(instruction.ip());
                }
            }
            Mnemonic::Mov if sets_eax && instruction.op1_kind() == OpKind::Immediate32 => {
                self.number = Some(instruction.immediate32());
            }
            Mnemonic::Call | Mnemonic::Ret | Mnemonic::Jmp => self.number = None,
            _ if sets_eax => self.number = None,
            _ => {}
        }
    }
}

/// The feature beyond x86-64-v2 that an instruction belongs to.
#[must_use]
pub fn feature(code: Code) -> Option<String> {
    const BASELINE: &[CpuidFeature] = &[
        CpuidFeature::INTEL8086,
        CpuidFeature::INTEL186,
        CpuidFeature::INTEL286,
        CpuidFeature::INTEL386,
        CpuidFeature::INTEL486,
        CpuidFeature::X64,
        CpuidFeature::CMOV,
        CpuidFeature::CX8,
        CpuidFeature::FPU,
        CpuidFeature::FPU287,
        CpuidFeature::FPU387,
        CpuidFeature::FXSR,
        CpuidFeature::MMX,
        CpuidFeature::SSE,
        CpuidFeature::SSE2,
        CpuidFeature::SSE3,
        CpuidFeature::SSSE3,
        CpuidFeature::SSE4_1,
        CpuidFeature::SSE4_2,
        CpuidFeature::POPCNT,
        CpuidFeature::CMPXCHG16B,
        CpuidFeature::SYSCALL,
    ];
    code.cpuid_features().iter().find(|feature| !BASELINE.contains(feature)).map(|feature| format!("{feature:?}"))
}

/// The names in `DT_NEEDED`.
fn needed(file: &object::File<'_>) -> Vec<String> {
    let section = |name: &str| file.section_by_name(name).and_then(|section| section.data().ok()).unwrap_or_default();
    let (dynamic, strings) = (section(".dynamic"), section(".dynstr"));
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    let entries = dynamic.chunks_exact(16).map(|entry| (word(&entry[..8]), word(&entry[8..])));
    entries
        .filter(|(tag, _)| *tag == 1)
        .filter_map(|(_, offset)| {
            let name = strings.get(usize::try_from(offset).ok()?..)?.split(|byte| *byte == 0).next()?;
            String::from_utf8(name.to_vec()).ok()
        })
        .collect()
}

/// Names that a file takes from libraries.
fn imports(file: &object::File<'_>) -> BTreeSet<String> {
    let undefined = file.dynamic_symbols().filter(ObjectSymbol::is_undefined);
    undefined.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect()
}

/// For each place the exported functions that cover it.
fn exporters(file: &object::File<'_>, places: &[u64]) -> Vec<Option<String>> {
    let covering = |place: &u64| {
        let covers = |symbol: &object::Symbol<'_, '_>| {
            symbol.is_definition() && (symbol.address()..symbol.address().saturating_add(symbol.size())).contains(place)
        };
        let names: Vec<Option<String>> =
            file.dynamic_symbols().filter(covers).map(|symbol| symbol.name().ok().map(str::to_owned)).collect();
        if names.is_empty() { vec![None] } else { names }
    };
    places.iter().flat_map(covering).collect()
}

impl Findings {
    /// Calls whose makers are all exported, and imported by nobody, do not count.
    fn put_to_sleep(&mut self, imports: &BTreeSet<String>) {
        let sleeps = |makers: &Vec<Option<String>>| {
            makers.iter().all(|maker| maker.as_ref().is_some_and(|name| !imports.contains(name)))
        };
        self.dormant_calls =
            self.makers.iter().filter(|(_, makers)| sleeps(makers)).map(|(number, _)| *number).collect();
        self.missing_calls.retain(|number| !self.dormant_calls.contains(number));
    }

    /// Whether nothing stands in the way of a run.
    #[must_use]
    pub fn is_fine(&self) -> bool {
        self.problem.is_none() && self.missing.is_empty() && self.missing_calls.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_call_is_the_last_constant_in_eax() {
        let mut sweep = Sweep::default();
        // mov eax, 39; syscall; mov eax, 500; xor eax, eax; syscall
        let code = [0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0xb8, 0xf4, 1, 0, 0, 0x31, 0xc0, 0x0f, 0x05];
        sweep.section(&code, 0x1000);
        assert_eq!(sweep.calls, BTreeMap::from([(39, vec![0x1005])]));
    }

    #[test]
    fn instructions_beyond_the_baseline_belong_to_a_feature() {
        assert_eq!(feature(Code::VEX_Vpaddb_ymm_ymm_ymmm256).as_deref(), Some("AVX2"));
        assert_eq!(feature(Code::Add_rm64_r64), None);
    }

    #[test]
    fn a_missing_file_is_a_problem_with_a_reason() {
        let findings = examine_file(Path::new("/nonexistent"));
        assert!(!findings.is_fine() && findings.problem.is_some());
    }
}
