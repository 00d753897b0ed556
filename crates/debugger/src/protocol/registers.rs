//! Registers as gdb numbers them, and the description that tells it so.

use x86::Cpu;
use x86::cpu::{RAX, RBP, RBX, RCX, RDI, RDX, RSI, RSP};

/// What a register is made of.
#[derive(Clone, Copy)]
enum Source {
    /// A general register.
    General(usize),
    Rip,
    Flags,
    /// A segment selector: the same in every 64-bit program.
    Selector(u32),
    /// Bytes of the `fxsave` image.
    Image(usize),
    /// A control word of the x87, of two bytes in the `fxsave` image.
    ControlWord(usize),
    /// The x87's tags, two bits for each register.
    Tags,
    /// What no program has: the number of an interrupted syscall, segments of x87 pointers.
    Nothing(u64),
    FsBase,
    GsBase,
}

/// A register: its name, its size in bytes, its type in gdb's words.
struct Register {
    name: &'static str,
    size: usize,
    kind: &'static str,
    source: Source,
}

/// A feature of gdb's target descriptions, with the registers in the order that gdb expects.
struct Feature {
    name: &'static str,
    types: &'static str,
    registers: &'static [Register],
}

/// A row of the table.
const fn row(name: &'static str, size: usize, kind: &'static str, source: Source) -> Register {
    Register { name, size, kind, source }
}

/// One of the sixteen registers for whole numbers.
const fn general(name: &'static str, number: usize) -> Register {
    row(name, 8, "int64", Source::General(number))
}

/// A register that tells how the x87 or SSE unit works.
const fn control(name: &'static str, source: Source) -> Register {
    row(name, 4, "int", source)
}

/// One of the stack of x87, from its place in the image of `fxsave`.
const fn stack(name: &'static str, number: usize) -> Register {
    row(name, 10, "i387_ext", Source::Image(32 + 16 * number))
}

/// One of the XMM registers, from its place in the image of `fxsave`.
const fn vector(name: &'static str, number: usize) -> Register {
    row(name, 16, "vec128", Source::Image(160 + 16 * number))
}

/// User code and data of Linux, `__USER_CS` and `__USER_DS`.
const CODE: u32 = 0x33;
const DATA: u32 = 0x2b;

const CORE: &[Register] = &[
    general("rax", RAX),
    general("rbx", RBX),
    general("rcx", RCX),
    general("rdx", RDX),
    general("rsi", RSI),
    general("rdi", RDI),
    row("rbp", 8, "data_ptr", Source::General(RBP)),
    row("rsp", 8, "data_ptr", Source::General(RSP)),
    general("r8", 8),
    general("r9", 9),
    general("r10", 10),
    general("r11", 11),
    general("r12", 12),
    general("r13", 13),
    general("r14", 14),
    general("r15", 15),
    row("rip", 8, "code_ptr", Source::Rip),
    row("eflags", 4, "i386_eflags", Source::Flags),
    row("cs", 4, "int32", Source::Selector(CODE)),
    row("ss", 4, "int32", Source::Selector(DATA)),
    row("ds", 4, "int32", Source::Selector(0)),
    row("es", 4, "int32", Source::Selector(0)),
    row("fs", 4, "int32", Source::Selector(0)),
    row("gs", 4, "int32", Source::Selector(0)),
    stack("st0", 0),
    stack("st1", 1),
    stack("st2", 2),
    stack("st3", 3),
    stack("st4", 4),
    stack("st5", 5),
    stack("st6", 6),
    stack("st7", 7),
    control("fctrl", Source::ControlWord(0)),
    control("fstat", Source::ControlWord(2)),
    control("ftag", Source::Tags),
    control("fiseg", Source::Nothing(0)),
    control("fioff", Source::Image(8)),
    control("foseg", Source::Nothing(0)),
    control("fooff", Source::Image(16)),
    control("fop", Source::ControlWord(6)),
];

const SSE: &[Register] = &[
    vector("xmm0", 0),
    vector("xmm1", 1),
    vector("xmm2", 2),
    vector("xmm3", 3),
    vector("xmm4", 4),
    vector("xmm5", 5),
    vector("xmm6", 6),
    vector("xmm7", 7),
    vector("xmm8", 8),
    vector("xmm9", 9),
    vector("xmm10", 10),
    vector("xmm11", 11),
    vector("xmm12", 12),
    vector("xmm13", 13),
    vector("xmm14", 14),
    vector("xmm15", 15),
    row("mxcsr", 4, "i386_mxcsr", Source::Image(24)),
];

const LINUX: &[Register] = &[row("orig_rax", 8, "int", Source::Nothing(u64::MAX))];
const SEGMENTS: &[Register] = &[row("fs_base", 8, "int", Source::FsBase), row("gs_base", 8, "int", Source::GsBase)];

/// As in gdb's own `features/i386/64bit-core.xml`.
const CORE_TYPES: &str = r#"<flags id="i386_eflags" size="4"><field name="" start="22" end="31"/><field name="CF" start="0" end="0"/><field name="" start="1" end="1"/><field name="PF" start="2" end="2"/><field name="AF" start="4" end="4"/><field name="ZF" start="6" end="6"/><field name="SF" start="7" end="7"/><field name="TF" start="8" end="8"/><field name="IF" start="9" end="9"/><field name="DF" start="10" end="10"/><field name="OF" start="11" end="11"/><field name="NT" start="14" end="14"/><field name="RF" start="16" end="16"/><field name="VM" start="17" end="17"/><field name="AC" start="18" end="18"/><field name="VIF" start="19" end="19"/><field name="VIP" start="20" end="20"/><field name="ID" start="21" end="21"/></flags>"#;

/// As in gdb's own `features/i386/64bit-sse.xml`.
const SSE_TYPES: &str = r#"<vector id="v4f" type="ieee_single" count="4"/><vector id="v2d" type="ieee_double" count="2"/><vector id="v16i8" type="int8" count="16"/><vector id="v8i16" type="int16" count="8"/><vector id="v4i32" type="int32" count="4"/><vector id="v2i64" type="int64" count="2"/><union id="vec128"><field name="v4_float" type="v4f"/><field name="v2_double" type="v2d"/><field name="v16_int8" type="v16i8"/><field name="v8_int16" type="v8i16"/><field name="v4_int32" type="v4i32"/><field name="v2_int64" type="v2i64"/><field name="uint128" type="uint128"/></union><flags id="i386_mxcsr" size="4"><field name="IE" start="0" end="0"/><field name="DE" start="1" end="1"/><field name="ZE" start="2" end="2"/><field name="OE" start="3" end="3"/><field name="UE" start="4" end="4"/><field name="PE" start="5" end="5"/><field name="DAZ" start="6" end="6"/><field name="IM" start="7" end="7"/><field name="DM" start="8" end="8"/><field name="ZM" start="9" end="9"/><field name="OM" start="10" end="10"/><field name="UM" start="11" end="11"/><field name="PM" start="12" end="12"/><field name="FZ" start="15" end="15"/></flags>"#;

const FEATURES: &[Feature] = &[
    Feature { name: "org.gnu.gdb.i386.core", types: CORE_TYPES, registers: CORE },
    Feature { name: "org.gnu.gdb.i386.sse", types: SSE_TYPES, registers: SSE },
    Feature { name: "org.gnu.gdb.i386.linux", types: "", registers: LINUX },
    Feature { name: "org.gnu.gdb.i386.segments", types: "", registers: SEGMENTS },
];

fn all() -> impl Iterator<Item = &'static Register> {
    FEATURES.iter().flat_map(|feature| feature.registers)
}

/// The description of the machine, as gdb's `target.xml`.
pub fn description() -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">\
         <architecture>i386:x86-64</architecture><osabi>GNU/Linux</osabi>",
    );
    for feature in FEATURES {
        text += &format!("<feature name=\"{}\">{}", feature.name, feature.types);
        for Register { name, size, kind, .. } in feature.registers {
            text += &format!("<reg name=\"{name}\" bitsize=\"{}\" type=\"{kind}\"/>", 8 * size);
        }
        text += "</feature>";
    }
    text + "</target>"
}

/// All registers of a thread, in order.
pub fn values(cpu: &Cpu) -> Vec<u8> {
    let image = x86::fxsave_image(cpu);
    all().flat_map(|register| value(register, cpu, &image)).collect()
}

/// One register by its number.
pub fn numbered(cpu: &Cpu, number: usize) -> Option<Vec<u8>> {
    let image = x86::fxsave_image(cpu);
    all().nth(number).map(|register| value(register, cpu, &image))
}

fn value(register: &Register, cpu: &Cpu, image: &[u8; 512]) -> Vec<u8> {
    let word = match register.source {
        Source::Image(at) => return image[at..at + register.size].to_vec(),
        Source::General(number) => cpu.gpr[number],
        Source::Rip => cpu.rip,
        Source::Flags => cpu.rflags(),
        Source::Selector(selector) => u64::from(selector),
        Source::ControlWord(at) => u64::from(u16::from_le_bytes([image[at], image[at + 1]])),
        Source::Tags => u64::from(tags(image[4])),
        Source::Nothing(value) => value,
        Source::FsBase => cpu.fs_base,
        Source::GsBase => cpu.gs_base,
    };
    word.to_le_bytes()[..register.size].to_vec()
}

/// Tags as `fsave` has them, empty or not: which of the others are zero or special nobody needs.
fn tags(in_use: u8) -> u16 {
    (0..8).filter(|number| in_use & 1 << number == 0).fold(0, |tags, number| tags | 3 << (2 * number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_where_the_description_says() {
        let mut cpu = Cpu { rip: 0x1122_3344, fs_base: 7, mxcsr: 0x1f80, ..Cpu::default() };
        cpu.gpr[RBX] = 5;
        cpu.xmm[3] = 9;
        let of = |name: &str| numbered(&cpu, all().position(|register| register.name == name).expect("a name"));
        assert_eq!(of("rbx"), Some(5_u64.to_le_bytes().to_vec()));
        assert_eq!(of("rip"), Some(0x1122_3344_u64.to_le_bytes().to_vec()));
        assert_eq!(of("xmm3"), Some(9_u128.to_le_bytes().to_vec()));
        assert_eq!(of("mxcsr"), Some(0x1f80_u32.to_le_bytes().to_vec()));
        assert_eq!(of("fs_base"), Some(7_u64.to_le_bytes().to_vec()));
        assert_eq!(of("ftag"), Some(0xffff_u32.to_le_bytes().to_vec()));
        assert_eq!(numbered(&cpu, 1000), None);
        assert_eq!(values(&cpu).len(), all().map(|register| register.size).sum::<usize>());
    }
}
