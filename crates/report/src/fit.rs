//! Making text fit into columns.
//!
//! Widths are columns of a terminal, neither bytes nor characters: a CJK letter takes two, a
//! combining one none (Unicode Standard Annex 11). Every text that did not come from this program
//! passes [`clean`] before it is measured, so no column is miscounted and no escape sequence of a
//! file name reaches the terminal.

use crate::Signs;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// The text without anything that would move the cursor or change the terminal: names and messages come from files.
pub fn clean(text: &str) -> String {
    let shown = |c: char| if c == '\n' || c == '\t' { ' ' } else { c };
    text.chars().map(shown).filter(|c| !c.is_control()).collect()
}

/// The text cut to `room` columns; the cut is marked.
///
/// May leave a column free where a wide letter does not fit.
pub fn cut(text: &str, room: usize, signs: Signs) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mark = if signs == Signs::Ascii { "~" } else { "…" };
    let mut kept = String::new();
    let mut used = width(mark);
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > room {
            break;
        }
        kept.push(c);
    }
    if room > 0 { kept + mark } else { String::new() }
}

/// A name cut to `room` columns; a number at its end, which tells it from others, is kept.
pub fn cut_name(name: &str, room: usize, signs: Signs) -> String {
    match name.rsplit_once(':') {
        Some((kind, number)) if width(name) > room && room > width(number) + 2 => {
            format!("{}:{number}", cut(kind, room - width(number) - 1, signs))
        }
        _ => cut(name, room, signs),
    }
}

/// The text followed by blanks, `room` columns in all.
pub fn pad(text: &str, room: usize) -> String {
    let blanks = room.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(blanks))
}

/// Words joined by `separator`, broken into lines of at most `room` columns.
pub fn wrap(words: &[String], separator: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if width(line) + width(separator) + width(word) <= room => {
                line.push_str(separator);
                line.push_str(word);
            }
            _ => lines.push(word.clone()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_fits_and_says_that_it_is_cut() {
        assert_eq!(cut("hello", 5, Signs::Unicode), "hello");
        assert_eq!(cut("hello", 4, Signs::Unicode), "hel…");
        assert_eq!(cut("hello", 4, Signs::Ascii), "hel~");
        assert_eq!(cut("hello", 0, Signs::Unicode), "");
        assert_eq!(cut("日本語", 5, Signs::Unicode), "日本…");
        assert_eq!(cut("日本語", 4, Signs::Unicode), "日…");
    }

    #[test]
    fn a_cut_name_keeps_its_number() {
        assert_eq!(cut_name("Philosopher:13", 14, Signs::Unicode), "Philosopher:13");
        assert_eq!(cut_name("Philosopher:13", 9, Signs::Unicode), "Philo…:13");
        assert_eq!(cut_name("Philosopher:13", 4, Signs::Unicode), "Phi…");
    }

    #[test]
    fn escapes_in_names_do_not_reach_the_terminal() {
        assert_eq!(clean("a\x1b[31mb\nc\u{7}"), "a[31mb c");
    }

    #[test]
    fn lines_break_between_words() {
        let words = ["a = 1", "b = 2", "c = 3"].map(str::to_owned);
        assert_eq!(wrap(&words, ", ", 12), ["a = 1, b = 2", "c = 3"]);
    }
}
