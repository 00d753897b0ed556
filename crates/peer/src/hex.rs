//! Bytes in hexadecimal, as records have them.

/// The longest answer that a record may have: anybody may have written it.
const BYTES_MAX: usize = 64 << 20;

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let is_whole = text.len().is_multiple_of(2) && text.len() / 2 <= BYTES_MAX && text.is_ascii();
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).ok();
    if is_whole { (0..text.len()).step_by(2).map(byte).collect() } else { None }
}
