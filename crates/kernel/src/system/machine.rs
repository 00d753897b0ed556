//! What the machine is called, and what programs are told of it.

/// `uname -r`.
pub const RELEASE: &str = "6.1.0";
/// `uname -v`.
pub const VERSION: &str = "#1 SMP Allways";
/// How much memory programs are told of, in bytes.
pub const MEMORY: u64 = 4 << 30;

/// What the machine is called.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct System {
    /// `hostname(1)`.
    pub host: Vec<u8>,
    /// `domainname(1)`.
    pub domain: Vec<u8>,
}

impl Default for System {
    fn default() -> Self {
        Self { host: b"allways".to_vec(), domain: b"(none)".to_vec() }
    }
}
