//! What to tell people whose other language shines through.
//!
//! Nobody's mistakes are random: people write C, Java or older Promela. Recognising these costs a
//! table and turns a syntax error into an answer.

use super::operator::operator;
use super::tokens::NameClass;
use crate::ast::Ident;
use crate::diagnostic::Diagnostic;
use crate::lex::{Token, TokenKind, is_keyword};

/// How a `for` is written.
pub(super) const FOR: &str =
    "write `for (i : 0 .. 9) { .. }`, `for (i in array) { .. }` or `for (m in channel) { .. }`";

const IF: &str = "options begin with `::`: `if :: (x > 0) -> .. :: else -> .. fi`";

const SEPARATE: &str = "statements on one line are separated by `;` or `->`";
const OPTION: &str = "write `->` between a guard and what it guards, and `;` between other statements on one line";

/// Words that begin something at the outermost level only.
const OUTERMOST: [&str; 9] =
    ["active", "proctype", "D_proctype", "init", "never", "ltl", "inline", "typedef", "notrace"];

/// Words of other languages and the Promela way.
const FOREIGN: [(&str, &str); 19] = [
    ("while", "Promela has no `while`: write `do :: condition -> .. :: else -> break od`"),
    ("until", "Promela has no `until`: write `do :: .. od` with a `break`"),
    ("repeat", "Promela has no `repeat`: write `do :: .. od` with a `break`"),
    ("switch", "Promela has no `switch`: write `if :: x == 1 -> .. :: x == 2 -> .. :: else -> .. fi`"),
    ("case", "Promela has no `case`: options of `if` begin with `::`"),
    ("then", "Promela has no `then`: write `->`"),
    ("elif", "Promela has no `elif`: add a further option `:: condition -> ..`"),
    ("elseif", "Promela has no `elseif`: add a further option `:: condition -> ..`"),
    ("endif", "an `if` ends with `fi`"),
    ("continue", "Promela has no `continue`: put the rest of the loop into an option, or use `goto`"),
    ("void", "Promela has no functions: use `inline` or `proctype`"),
    ("char", "Promela has no `char`: write `byte`"),
    ("long", "the largest type is `int`, of 32 bits"),
    ("float", "Promela has integers only"),
    ("double", "Promela has integers only"),
    ("boolean", "write `bool`"),
    ("struct", "a record type is defined by `typedef name { .. }` and used by its name alone"),
    ("enum", "write `mtype = { a, b }` or `mtype:name = { a, b }`"),
    ("const", "Promela has no constants but `#define` and mtype"),
];

/// "Expected `what`, found ..", with a hint where we know one.
pub(super) fn expected(what: &str, before: &Token, found: &Token, after: &Token) -> Diagnostic {
    let mut told = Diagnostic::error("syntax", found.span, format!("expected {what}, found {}", describe(found)));
    if let Some(name) = &found.via {
        told = told.note(format!("it comes from macro `{name}`"));
    }
    told.help = hint(what, before, found, after).map(Into::into);
    told
}

fn describe(token: &Token) -> String {
    match token.kind {
        TokenKind::End => "the end of the model".to_string(),
        TokenKind::Text => "a string".to_string(),
        TokenKind::Other if matches!(&*token.text, "\"" | "'") => "a quote that is not closed on its line".to_string(),
        TokenKind::Other => format!("the character {:?}", token.text),
        TokenKind::Word if is_keyword(&token.text) => format!("the keyword `{}`", token.text),
        TokenKind::Punct if token.span.start == token.span.end => "the end of the statement".to_string(),
        _ => format!("`{}`", token.text),
    }
}

fn hint(what: &str, before: &Token, found: &Token, after: &Token) -> Option<String> {
    let foreign = |token: &Token| FOREIGN.iter().find(|(word, _)| token.is(word)).map(|(_, help)| (*help).to_string());
    foreign(found).or_else(|| foreign(before)).or_else(|| operator_hint(what, before, found, after))
}

fn operator_hint(what: &str, before: &Token, found: &Token, after: &Token) -> Option<String> {
    if what == "a statement" && (found.is("=") || operator(found).is_some()) {
        return Some("an expression goes on in the next line only within parentheses or after an operator".to_string());
    }
    let adjacent = !found.space && !found.newline;
    Some(match &*found.text {
        "=" if adjacent && "+-*/%&|^".contains(&*before.text) && !before.text.is_empty() => {
            format!("Promela has no `{}=`: write `x = x {} ..`", before.text, before.text)
        }
        "=" if before.is("&&") || before.is("||") => format!("Promela has no `{}=`: write it out", before.text),
        "=" => "`=` assigns and is a statement; to compare write `==`".to_string(),
        "(" if what == "`::`" => IF.to_string(),
        "(" if is_name(before) => {
            format!("`{}` is no inline and no macro here; define it before this place", before.text)
        }
        "," if before.is("}") => "SPIN ends a declaration at `}`: declare the next variable on its own".to_string(),
        "?" | "??" => "a receive is a statement; inside an expression poll with `q?[..]`".to_string(),
        "!!" => "`!!` is the sorted send; to negate twice write `! !x`".to_string(),
        "[" if before.kind == TokenKind::Word => "an array's bound stands behind its name: `byte a[3]`".to_string(),
        "->" if what.starts_with("an expression") => "a condition must stand before `->`".to_string(),
        _ if what.starts_with("a declaration") && is_name(found) && after.kind == TokenKind::Word => {
            format!("no type `{}` is defined before this place", found.text)
        }
        "}" if what.contains("`fi`") || what.contains("`od`") => {
            let (word, close) = if what.contains("`fi`") { ("if", "fi") } else { ("do", "od") };
            format!("the `{word}` that was begun before is still open: close it by `{close}`")
        }
        _ if what == "a statement" && OUTERMOST.iter().any(|word| found.is(word)) => {
            format!("`{}` cannot stand inside a process: is a `}}` missing before it?", found.text)
        }
        _ if what.contains("after this statement") && is_name(before) && is_name(found) => format!(
            "statements on one line are separated by `;` or `->`; if `{}` is meant as a type, define it before",
            before.text
        ),
        _ if what.contains("after this statement") && found.kind == TokenKind::Word => {
            if what.contains("`}`") {
                SEPARATE.to_string()
            } else {
                OPTION.to_string()
            }
        }
        _ => return None,
    })
}

fn is_name(token: &Token) -> bool {
    token.kind == TokenKind::Word && !is_keyword(&token.text)
}

/// A keyword where a name is needed.
pub(super) fn keyword_as_name(token: &Token, what: &str) -> Diagnostic {
    let told = Diagnostic::error("syntax", token.span, format!("`{}` is a keyword; expected {what}", token.text));
    let types = ["bit", "bool", "byte", "pid", "short", "int", "unsigned", "mtype", "chan"];
    if types.iter().any(|word| token.is(word)) {
        return told.help("variables of one type are separated by `,`, those of different types by `;`");
    }
    told
}

/// A name that was declared as something else.
pub(super) fn taken_name(token: &Token, what: &str, class: NameClass) -> Diagnostic {
    let message = format!("`{}` is already {}; expected {what}", token.text, class_words(class));
    Diagnostic::error("syntax", token.span, message)
}

/// A type or an inline where a value is needed.
pub(super) fn not_a_value(token: &Token, class: NameClass) -> Diagnostic {
    let message = format!("`{}` is {}, not a value", token.text, class_words(class));
    let told = Diagnostic::error("syntax", token.span, message);
    match class {
        NameClass::Inline => told.help(format!("a call is a statement: `{0}(..)` or `x = {0}(..)`", token.text)),
        _ => told,
    }
}

/// A proctype's name that is neither run nor looked into.
pub(super) fn bare_proctype(name: &Ident) -> Diagnostic {
    Diagnostic::error("syntax", name.span, format!("`{}` is a proctype, not a value", name.name)).help(format!(
        "start it by `run {0}(..)`, or look into it by `{0}[pid]@label` or `{0}[pid]:variable`",
        name.name
    ))
}

fn class_words(class: NameClass) -> &'static str {
    match class {
        NameClass::Plain => "a name",
        NameClass::Mtype => "an mtype constant",
        NameClass::Record => "a type",
        NameClass::Proctype => "a proctype",
        NameClass::Inline => "an inline",
    }
}

/// `0x10`, `1.5`, `12abc`.
pub(super) fn bad_number(token: &Token) -> Diagnostic {
    let told = Diagnostic::error("syntax", token.span, format!("`{}` is not a decimal number", token.text));
    let lower = token.text.to_ascii_lowercase();
    match lower.strip_prefix("0x").and_then(|digits| i64::from_str_radix(digits, 16).ok()) {
        Some(value) => told.help(format!("Promela has no hexadecimal numbers: write {value}")),
        None => told,
    }
}
