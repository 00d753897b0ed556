//! Supported forms that cannot be compared with the host, and why.

use iced_x86::{Code, Mnemonic};

const MNEMONICS: &[(Mnemonic, &str)] = &[
    (Mnemonic::Syscall, "would call the host's kernel"),
    (Mnemonic::Sysenter, "would call the host's kernel"),
    (Mnemonic::Int, "may call the host's kernel"),
    (Mnemonic::Cpuid, "shows the virtual processor, not the host's"),
    (Mnemonic::Rdtsc, "shows virtual time"),
    (Mnemonic::Rdtscp, "shows virtual time"),
    (Mnemonic::Xgetbv, "the virtual processor has no XSAVE"),
    (Mnemonic::Xsave, "the virtual processor has no XSAVE"),
    (Mnemonic::Xsave64, "the virtual processor has no XSAVE"),
    (Mnemonic::Xrstor, "the virtual processor has no XSAVE"),
    (Mnemonic::Xrstor64, "the virtual processor has no XSAVE"),
];

/// Why a form is left out, if it is.
pub fn reason(code: Code) -> Option<&'static str> {
    MNEMONICS.iter().find(|row| row.0 == code.mnemonic()).map(|row| row.1)
}

/// All of them.
pub fn all() -> impl Iterator<Item = (Code, &'static str)> {
    MNEMONICS.iter().filter_map(|&(mnemonic, why)| {
        Code::values().find(|&code| code.mnemonic() == mnemonic && x86::supported(code)).map(|code| (code, why))
    })
}
