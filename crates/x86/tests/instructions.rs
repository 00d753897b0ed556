//! `docs/instructions.md` says what is modelled. `BLESS=1 cargo test -p x86 --test instructions` writes it anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use iced_x86::{Code, CpuidFeature, EncodingKind};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/instructions.md");

const HEAD: &str = "# Instructions

What user-mode code may execute, by the feature that CPUID announces it with. Written by a test from the interpreter's own
tables: `BLESS=1 cargo test -p x86 --test instructions`.

CPUID presents an x86-64-v2 processor, so programs that ask do not use what is refused. A program that executes
an instruction that is not modelled ends as *unsupported*, with the instruction's name and address.

";

/// The forms of one feature: name of the mnemonic to the forms that are modelled and those that are not.
type Mnemonics = BTreeMap<String, (Vec<Code>, Vec<Code>)>;

fn exists(code: Code) -> bool {
    let info = code.op_code();
    code != Code::INVALID && info.mode64() && info.is_instruction() && !info.must_be_cpl0() && !info.fwait()
}

fn feature(code: Code) -> String {
    let name = |feature: &CpuidFeature| format!("{feature:?}");
    code.cpuid_features().iter().map(name).collect::<Vec<_>>().join(" + ")
}

fn features() -> BTreeMap<String, Mnemonics> {
    let mut all: BTreeMap<String, Mnemonics> = BTreeMap::new();
    for code in Code::values().filter(|code| exists(*code)) {
        let mnemonics = all.entry(feature(code)).or_default();
        let name = format!("{:?}", code.mnemonic()).to_lowercase();
        let (modelled, refused) = mnemonics.entry(name).or_default();
        if x86::supported(code) { modelled.push(code) } else { refused.push(code) }
    }
    all
}

fn form(code: &Code) -> String {
    format!("`{}`", code.op_code().instruction_string().to_lowercase())
}

fn modelled(text: &mut String, all: &BTreeMap<String, Mnemonics>) {
    text.push_str("## Modelled\n\n| feature | forms | instructions |\n|---|---:|---|\n");
    for (feature, mnemonics) in all {
        let names: Vec<&str> = mnemonics.iter().filter(|m| !m.1.0.is_empty()).map(|m| m.0.as_str()).collect();
        let forms: usize = mnemonics.values().map(|m| m.0.len()).sum();
        if forms > 0 {
            writeln!(text, "| {feature} | {forms} | {} |", names.join(" ")).expect("text grows");
        }
    }
}

/// Forms whose mnemonic, or whose feature, is modelled otherwise.
fn refused_forms(text: &mut String, all: &BTreeMap<String, Mnemonics>) {
    text.push_str("\n## Refused forms of modelled features\n\n");
    for (feature, mnemonics) in all.iter().filter(|(_, mnemonics)| mnemonics.values().any(|m| !m.0.is_empty())) {
        let legacy = |code: &&Code| code.op_code().encoding() == EncodingKind::Legacy;
        let forms: Vec<String> = mnemonics.values().flat_map(|m| m.1.iter()).filter(legacy).map(form).collect();
        if !forms.is_empty() {
            writeln!(text, "- {feature}: {}", forms.join(", ")).expect("text grows");
        }
    }
}

fn refused_features(text: &mut String, all: &BTreeMap<String, Mnemonics>) {
    let none = |mnemonics: &Mnemonics| mnemonics.values().all(|m| m.0.is_empty());
    let names: Vec<&str> = all.iter().filter(|(_, mnemonics)| none(mnemonics)).map(|(name, _)| name.as_str()).collect();
    writeln!(text, "\n## Refused features\n\n{}", names.join(", ")).expect("text grows");
}

#[test]
fn the_page_on_instructions_says_what_the_tables_say() {
    let all = features();
    let mut text = HEAD.to_owned();
    modelled(&mut text, &all);
    refused_forms(&mut text, &all);
    refused_features(&mut text, &all);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(PATH, &text).expect("the page can be written");
    }
    let page = std::fs::read_to_string(PATH).unwrap_or_default();
    assert!(page == text, "docs/instructions.md is out of date; BLESS=1 accepts what the tables say now");
}
