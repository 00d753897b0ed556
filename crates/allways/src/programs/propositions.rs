//! Propositions of `allways.toml`, written with names.

use std::collections::BTreeMap;

/// Propositions with the names of `[check.NAME.let]` replaced by what they stand for. One that is a name keeps it.
pub fn propositions(never: &[String], names: &BTreeMap<String, String>) -> Vec<String> {
    let proposition = |text: &String| {
        let expanded = expand(text, names, 0);
        match names.contains_key(text) {
            true => format!("{text} := {}", without_brackets(&expanded)),
            false => expanded,
        }
    };
    never.iter().map(proposition).collect()
}

/// Formulas: those of the command line, of which each may be the name of one of the file, or all of the file. Names stand for
/// propositions.
pub fn formulas(asked: &[String], of_file: &BTreeMap<String, String>, names: &BTreeMap<String, String>) -> Vec<String> {
    let named = |name: &String| of_file.get(name).map(|text| format!("{name} := {}", expand(text, names, 0)));
    match asked.is_empty() {
        true => of_file.keys().filter_map(named).collect(),
        false => asked.iter().map(|text| named(text).unwrap_or_else(|| expand(text, names, 0))).collect(),
    }
}

/// The same without brackets around all of it, if what is left is whole.
fn without_brackets(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else { return text };
    let mut depth = 0i32;
    let is_whole = inner.bytes().all(|byte| {
        depth += i32::from(byte == b'(') - i32::from(byte == b')');
        depth >= 0
    });
    if is_whole { inner } else { text }
}

/// Names may use names; a name that uses itself stays as it is, and is complained about where it is read.
fn expand(text: &str, names: &BTreeMap<String, String>, depth: usize) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut out, mut rest, mut last) = (String::new(), text, ' ');
    while let Some(first) = rest.chars().next() {
        if first == '"' {
            let end = rest[1..].find('"').map_or(rest.len(), |end| end + 2);
            out += &rest[..end];
            (rest, last) = (&rest[end..], '"');
            continue;
        }
        let end = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (word, tail) = rest.split_at(end);
        // What a function is asked about is a process, not a proposition.
        let is_asked = last == '(' && out.chars().rev().nth(1).is_some_and(is_word);
        let is_name = !is_asked && !":.>".contains(last) && !tail.starts_with(['(', ':', '.', '[']);
        match names.get(word).filter(|_| is_name && depth < 16) {
            Some(meaning) => out += &format!("({})", expand(meaning, names, depth + 1)),
            None => out += word,
        }
        (rest, last) = (tail, word.chars().last().unwrap_or(' '));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_propositions_and_strings_for_themselves() {
        let names = BTreeMap::from([
            ("sent".to_owned(), "exited(a) == 0".to_owned()),
            ("both".to_owned(), "sent && x > 1".to_owned()),
        ]);
        let expanded = expand("both || stdout(sent) =~ \"sent\" || a:sent == 1", &names, 0);
        assert_eq!(expanded, "((exited(a) == 0) && x > 1) || stdout(sent) =~ \"sent\" || a:sent == 1");
    }
}
