//! Text from outside, made harmless for the language that it is put into.
//!
//! Names, messages and output come from programs and files that anyone may have written. Each
//! function is for one place of one language, and what that place cannot hold is replaced by U+FFFD:
//! a report that cannot be read hides what it should show.

use std::fmt::Write as _;

/// What stands for a character that the language cannot hold.
const REPLACEMENT: char = '\u{fffd}';

/// Text between tags of XML. A carriage return is a reference, since readers turn a bare one into a new line.
pub(crate) fn xml_text(text: &str) -> String {
    xml(text, &[('\r', "&#13;")])
}

/// The value of an attribute of XML. White space is written as references: readers turn it into blanks otherwise
/// (XML 1.0, section 3.3.3).
pub(crate) fn xml_attribute(text: &str) -> String {
    xml(text, &[('\r', "&#13;"), ('\n', "&#10;"), ('\t', "&#9;")])
}

/// Replaces what is markup anywhere, and `also` what the place does not keep. Both kinds of quotes: attributes may have either.
fn xml(text: &str, also: &[(char, &str)]) -> String {
    const MARKS: [(char, &str); 5] = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&apos;")];
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match MARKS.iter().chain(also).find(|(mark, _)| *mark == c) {
            Some((_, reference)) => out.push_str(reference),
            None => out.push(if is_xml(c) { c } else { REPLACEMENT }),
        }
    }
    out
}

/// Whether XML 1.0 has the character at all (section 2.2, `Char`); what it has not is not allowed as a reference either.
fn is_xml(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// The message of a workflow command of GitHub.
pub(crate) fn workflow_message(text: &str) -> String {
    percent(text, &['%', '\r', '\n'])
}

/// The value of a property of a workflow command: colons and commas end one.
pub(crate) fn workflow_property(text: &str) -> String {
    percent(text, &['%', '\r', '\n', ':', ','])
}

/// Marks as GitHub's runner takes them back. The percent sign is one of them: otherwise a text could say `%0A` itself.
fn percent(text: &str, marks: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if marks.contains(&c) {
            let _ = write!(out, "%{:02X}", u32::from(c));
        } else {
            out.push(if c.is_control() && c != '\t' { REPLACEMENT } else { c });
        }
    }
    out
}

/// A quoted string of Graphviz's DOT. Backslashes are doubled: `\N` and others stand for names in a label.
pub(crate) fn dot(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push(' '),
            c if c.is_control() => out.push(REPLACEMENT),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A path as a reference to a URI (RFC 3986): absolute paths are of the local machine.
pub(crate) fn uri(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let mut out = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        if is_plain(byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    // An empty reference is the document itself.
    if out.is_empty() { ".".to_owned() } else { out }
}

/// A word without white space, for formats in which a blank ends it.
pub(crate) fn word(text: &str) -> String {
    let shown = |c: char| if c.is_whitespace() || c.is_control() { '_' } else { c };
    let word: String = text.chars().map(shown).collect();
    if word.is_empty() { "_".to_owned() } else { word }
}

/// A single line: JavaScript knows two ends of a line more than we do.
pub(crate) fn line(text: &str) -> String {
    crate::fit::clean(text).replace(['\u{2028}', '\u{2029}'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What hostile programs print, and what their files are called.
    const HOSTILE: [&str; 10] = [
        "]]></failure><testcase name='x'/>",
        "a & b < c > d \"e\" 'f'",
        "\0\u{1}\u{8}\u{b}\u{1b}[31m\u{7f}\u{fffe}\u{ffff}",
        "::error file=x::y\r\n::stop-commands::z",
        "%0A::set-output name=a::b",
        "a,line=1:b",
        "\" ]; evil [label=\"",
        "\\N \\G \\",
        "two\nlines\tand\ra return\u{2028}",
        "",
    ];

    #[test]
    fn nothing_ends_an_element_or_an_attribute_and_every_character_is_one_of_xml() {
        for text in HOSTILE {
            for out in [xml_text(text), xml_attribute(text)] {
                assert!(!out.contains(['<', '>', '"', '\'', '\r']) && out.chars().all(is_xml), "{out:?}");
                let bare = out.split('&').skip(1).any(|rest| !rest.contains(';'));
                assert!(!bare, "{out:?}");
            }
            assert!(!xml_attribute(text).contains(['\n', '\t']));
        }
        assert_eq!(xml_text("a\u{1b}b\n\r"), "a\u{fffd}b\n&#13;");
        assert_eq!(xml_attribute("<a\n\"b\"&"), "&lt;a&#10;&quot;b&quot;&amp;");
    }

    #[test]
    fn a_workflow_command_stays_on_its_line_and_a_property_in_its_place() {
        for text in HOSTILE {
            assert!(!workflow_message(text).contains(['\n', '\r', '\u{1b}', '\0']));
            assert!(!workflow_property(text).contains([':', ',', '\n', '\r']));
        }
        // What GitHub's runner takes back, in this order.
        let back = |text: String| {
            let text = text.replace("%0D", "\r").replace("%0A", "\n").replace("%3A", ":").replace("%2C", ",");
            text.replace("%25", "%")
        };
        let text = "100 %: a,b\r\n%0A";
        assert_eq!(back(workflow_property("100 %: a,b\r\n")), "100 %: a,b\r\n");
        assert_eq!(workflow_message(text), "100 %25: a,b%0D%0A%250A");
    }

    #[test]
    fn a_string_of_dot_ends_where_it_should() {
        for text in HOSTILE {
            let quoted = dot(text);
            let inner = &quoted[1..quoted.len() - 1];
            let mut escaped = false;
            for c in inner.chars() {
                assert!(c != '"' || escaped, "{quoted}");
                escaped = c == '\\' && !escaped;
            }
            assert!(!escaped && !inner.contains('\n'), "{quoted}");
        }
        assert_eq!(dot("a\"b\\N\nc"), r#""a\"b\\N\nc""#);
    }

    #[test]
    fn paths_become_references_to_uris() {
        let table = [
            ("src/a b.c", "src/a%20b.c"),
            ("/usr/x.c", "file:///usr/x.c"),
            ("c:/x", "c%3A/x"),
            ("ü?#", "%C3%BC%3F%23"),
            ("", "."),
        ];
        for (path, meant) in table {
            assert_eq!(uri(path), meant);
        }
    }

    #[test]
    fn words_have_no_blanks_and_lines_no_ends() {
        assert_eq!(word("T1 worker\n"), "T1_worker_");
        assert_eq!(word(""), "_");
        assert_eq!(line("a\u{2028}b\nc\u{1b}"), "a b c");
    }
}
