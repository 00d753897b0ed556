//! Instructions as people write them.
//!
//! For refusals ("not modelled: `vpaddb ...`"): the bytes are there so that whoever reports it need
//! not have the binary.

use iced_x86::{Decoder, DecoderOptions, FastFormatter};

/// The instruction that some bytes begin with, and those bytes: `vpaddb ymm0,ymm1,ymm2 (c5 f5 fc c2)`.
#[must_use]
pub fn instruction_text(bytes: &[u8], address: u64) -> String {
    let instruction = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode();
    let used = bytes.get(..instruction.len()).unwrap_or(bytes);
    let hex: Vec<String> = used.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut text = String::new();
    FastFormatter::new().format(&instruction, &mut text);
    format!("{text} ({})", hex.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_is_named_with_its_bytes() {
        assert_eq!(instruction_text(&[0xc5, 0xf5, 0xfc, 0xc2, 0x90], 0), "vpaddb ymm0,ymm1,ymm2 (c5 f5 fc c2)");
        assert_eq!(instruction_text(&[], 0), "(bad) ()");
    }
}
