//! Commands that users write: a list of words, or one text that is split as a shell does it.
//!
//! The rules are those of the POSIX shell for quoting (XCU 2.2), and nothing else: no expansion, no
//! operators, no comments. Whoever wants a shell writes `sh -c`.

use serde::{Deserialize, Deserializer, de};

/// A command as a list, or as one text.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a command is a list of words, [\"./program\", \"argument\"], or one text")]
enum Written {
    List(Vec<String>),
    Text(String),
}

/// Reads the words of a command.
pub fn read<'de, D: Deserializer<'de>>(file: D) -> Result<Vec<String>, D::Error> {
    match Written::deserialize(file)? {
        Written::List(words) => Ok(words),
        Written::Text(text) => {
            split(&text).ok_or_else(|| de::Error::custom(format!("a quote is not closed in the command `{text}`")))
        }
    }
}

/// The words of a text: quotes keep blanks, a backslash keeps the next letter. Nothing if a quote is not closed.
pub fn split(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            blank if blank.is_whitespace() => words.extend(word.take()),
            '\'' => word.get_or_insert_default().push_str(&quoted(&mut letters)?),
            '"' => word.get_or_insert_default().push_str(&quoted_twice(&mut letters)?),
            '\\' => word.get_or_insert_default().push(letters.next()?),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Some(words)
}

/// What stands between single quotes: every letter means itself.
fn quoted(letters: &mut std::str::Chars<'_>) -> Option<String> {
    let (inside, rest) = letters.as_str().split_once('\'')?;
    *letters = rest.chars();
    Some(inside.to_owned())
}

/// What stands between double quotes: a backslash takes the meaning from a quote and from itself.
fn quoted_twice(letters: &mut std::str::Chars<'_>) -> Option<String> {
    let mut inside = String::new();
    loop {
        match letters.next()? {
            '"' => return Some(inside),
            '\\' => match letters.next()? {
                plain @ ('"' | '\\') => inside.push(plain),
                other => inside.extend(['\\', other]),
            },
            other => inside.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_as_a_shell_does_it() {
        let table: [(&str, Option<&[&str]>); 8] = [
            ("", Some(&[])),
            (" ./s  7000 ", Some(&["./s", "7000"])),
            ("sh -c 'echo a  b'", Some(&["sh", "-c", "echo a  b"])),
            (r#"a "b \"c\" \n" d"#, Some(&["a", r#"b "c" \n"#, "d"])),
            (r"a\ b ''", Some(&["a b", ""])),
            ("a'b'\"c\"", Some(&["abc"])),
            ("a 'b", None),
            ("a \"b", None),
        ];
        for (text, words) in table {
            assert_eq!(split(text), words.map(|words| words.iter().map(|word| (*word).to_owned()).collect()), "{text}");
        }
    }
}
