//! Formats of `printf`.

use crate::ir::Format;

/// Splits a format into the text between the values and the way each value is printed.
pub(super) fn split(format: &str) -> (Vec<String>, Vec<Format>) {
    let mut pieces = vec![String::new()];
    let mut formats = Vec::new();
    let mut chars = format.chars();
    while let Some(char) = chars.next() {
        let text = match char {
            '\\' => escape(chars.next()),
            '%' => match directive(chars.next()) {
                Ok(format) => {
                    formats.push(format);
                    pieces.push(String::new());
                    continue;
                }
                Err(text) => text,
            },
            other => other.to_string(),
        };
        if let Some(last) = pieces.last_mut() {
            last.push_str(&text);
        }
    }
    (pieces, formats)
}

fn escape(char: Option<char>) -> String {
    match char {
        Some('n') => "\n".into(),
        Some('t') => "\t".into(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

/// The format, or what to print instead.
fn directive(char: Option<char>) -> Result<Format, String> {
    match char {
        Some('d') => Ok(Format::Decimal),
        Some('u') => Ok(Format::Unsigned),
        Some('x') => Ok(Format::Hex),
        Some('o') => Ok(Format::Octal),
        Some('c') => Ok(Format::Char),
        Some('e') => Ok(Format::Mtype(String::new())),
        Some('%') => Err("%".into()),
        Some(other) => Err(format!("%{other}")),
        None => Err("%".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_falls_into_text_and_values() {
        let (pieces, formats) = split(r"a=%d, m=%e%%\n\t%");
        assert_eq!(pieces, ["a=", ", m=", "%\n\t%"]);
        assert_eq!(formats, [Format::Decimal, Format::Mtype(String::new())]);
    }
}
