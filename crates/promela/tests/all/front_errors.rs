//! What users are told. The texts are the specification: change them on purpose only.

use promela::diagnostic::{Colour, render_all};
use promela::parse::{FailureKind, ParseOptions, parse_text};

/// All messages about a model, errors and warnings.
fn told(text: &str) -> String {
    match parse_text("m.pml", text, &ParseOptions::default()) {
        Ok(parsed) => render_all(&parsed.warnings, &parsed.sources, Colour::Never),
        Err(failure) => render_all(&failure.diagnostics, &failure.sources, Colour::Never),
    }
}

/// Message and help of the first diagnostic.
fn short(text: &str) -> String {
    let diagnostics = match parse_text("m.pml", text, &ParseOptions::default()) {
        Ok(parsed) => parsed.warnings,
        Err(failure) => failure.diagnostics,
    };
    let Some(first) = diagnostics.into_iter().next() else { return String::new() };
    first.message + &first.help.map_or(String::new(), |help| format!(" | {help}"))
}

#[test]
fn an_error_shows_the_place_and_what_was_expected() {
    let expected = "\
error[syntax]: expected `;`, `->` or `}` after this statement, found `x`
 --> m.pml:3:20
  |
3 |   if :: x = 1 fi x = 2
  |                  ^
  = help: statements on one line are separated by `;` or `->`
";
    assert_eq!(told("byte x;\ninit {\n  if :: x = 1 fi x = 2\n}\n"), expected.replace("3:20", "3:18"));
}

#[test]
fn an_error_in_an_inline_shows_the_call() {
    let expected = "\
error[inline]: inline `f` calls itself
 --> m.pml:1:15
  |
1 | inline f(a) { f(a) }
  |               ^
  = in the call of inline `f` at m.pml:3:8
  = note: an inline is replaced by its body, so this would never end
";
    assert_eq!(told("inline f(a) { f(a) }\nbyte x;\ninit { f(x) }\n"), expected);
}

#[test]
fn an_error_from_a_macro_stands_at_its_use() {
    let expected = "\
error[syntax]: expected an expression, found `)`
 --> m.pml:2:18
  |
2 | byte x; init { x BAD }
  |                  ^^^
  = note: it comes from macro `BAD`
";
    assert_eq!(told("#define BAD = (1 + )\nbyte x; init { x BAD }\n"), expected);
}

#[test]
fn embedded_c_is_not_a_syntax_error() {
    let text = "c_decl { typedef int t; }\nc_state \"t x\" \"Global\"\ninit { c_code { now.x = '}' == \"}\"[0]; } ; c_expr { 1 } -> skip }\n";
    let failure = parse_text("m.pml", text, &ParseOptions::default()).expect_err("embedded C");
    assert_eq!(failure.kind, FailureKind::Unsupported);
    let words: Vec<_> = failure.diagnostics.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(
        words,
        [
            "embedded C (`c_decl`) is not supported",
            "embedded C (`c_state`) is not supported",
            "embedded C (`c_code`) is not supported",
            "embedded C (`c_expr`) is not supported",
        ]
    );
}

#[test]
fn traps_are_explained() {
    let mut wrong = Vec::new();
    for (text, expected) in [
        (
            "byte x; init { while (x) { x = 1 } }",
            "expected `;`, `->` or `}` after this statement, found `(` | Promela has no `while`: write `do :: condition -> .. :: else -> break od`",
        ),
        ("byte x; init { x += 1 }", "expected an expression, found `=` | Promela has no `+=`: write `x = x + ..`"),
        ("byte x; init { (x = 1) }", "expected `)`, found `=` | `=` assigns and is a statement; to compare write `==`"),
        (
            "byte x; init { if (x) -> skip fi }",
            "expected `::`, found `(` | options begin with `::`: `if :: (x > 0) -> .. :: else -> .. fi`",
        ),
        ("byte x = 0x10;", "`0x10` is not a decimal number | Promela has no hexadecimal numbers: write 16"),
        (
            "chan q = [1] of {bit}; init { !full(q) }",
            "`full(..)` cannot be negated | write `nfull(..)`, which is its opposite",
        ),
        (
            "chan q = [1] of {bit}; ltl { [] empty(q) }",
            "`empty(..)` cannot be part of an expression | compare `len(q)` with 0",
        ),
        (
            "chan a = [1] of {bit}, b = [1] of {bit}",
            "expected a declaration, a proctype, init, never or ltl, found `,` | SPIN ends a declaration at `}`: declare the next variable on its own",
        ),
        (
            "byte x; init { x\n== 1 }",
            "expected a statement, found `==` | an expression goes on in the next line only within parentheses or after an operator",
        ),
        (
            "T x; init { skip }",
            "expected a declaration, a proctype, init, never or ltl, found `T` | no type `T` is defined before this place",
        ),
        (
            "init { T x; skip }",
            "expected `;`, `->` or `}` after this statement, found `x` | statements on one line are separated by `;` or `->`; if `T` is meant as a type, define it before",
        ),
        (
            "byte x; init { if :: x == 1 x = 2 fi }",
            "expected `;`, `->` or `fi` after this statement, found `x` | write `->` between a guard and what it guards, and `;` between other statements on one line",
        ),
        (
            "byte x; init { if :: x == 1 -> x = 2 }",
            "expected `;`, `->` or `fi` after this statement, found `}` | the `if` that was begun before is still open: close it by `fi`",
        ),
        (
            "init { skip;\nactive proctype P() { skip }",
            "expected a statement, found the keyword `active` | `active` cannot stand inside a process: is a `}` missing before it?",
        ),
        ("byte if;", "`if` is a keyword; expected the name of a variable"),
        (
            "proctype P(byte a, byte b) { skip }",
            "`byte` is a keyword; expected the name of a variable | variables of one type are separated by `,`, those of different types by `;`",
        ),
        ("mtype = { a }; byte a;", "`a` is already an mtype constant; expected the name of a variable"),
        (
            "byte x; init { for (x = 0; x < 3; x++) { skip } }",
            "expected `:` or `in`, found `=` | write `for (i : 0 .. 9) { .. }`, `for (i in array) { .. }` or `for (m in channel) { .. }`",
        ),
        (
            "byte x; init { f(x) }",
            "expected `;`, `->` or `}` after this statement, found `(` | `f` is no inline and no macro here; define it before this place",
        ),
        (
            "inline f(a) { skip } byte x; init { x = 1 + f(x) }",
            "`f` is an inline, not a value | a call is a statement: `f(..)` or `x = f(..)`",
        ),
        (
            "inline f(a) { return a } byte x; init { f(x) }",
            "inline `f` returns a value, but this call has no place for it | call it as `x = f(..)`",
        ),
        (
            "init { return 1 }",
            "`return` can only stand in an inline | a process ends at its closing brace; use `goto` to get there",
        ),
        ("init { break }", "`break` stands outside of any loop"),
        ("init { }", "expected a statement, found `}` | a sequence cannot be empty; write `skip`"),
        ("init { skip", "expected `;`, `->` or `}` after this statement, found the end of the model"),
        (
            "init { L: byte x; skip }",
            "a declaration cannot have a label | move the label to the statement that follows",
        ),
        (
            "byte x; ltl { (<> x) == 2 }",
            "`==` cannot be applied to a temporal formula | temporal formulas are joined by && || -> <-> U W V; put the comparison inside: <> (x == 2)",
        ),
        ("byte x; ltl { [] }", "expected an expression, found `}`"),
        (
            "byte a[x + 1];",
            "this number must be known before the model runs | numbers, mtype constants and + - * / % of them are allowed here; use #define for a name",
        ),
        (
            "byte[3] a;",
            "expected the name of a variable, found `[` | an array's bound stands behind its name: `byte a[3]`",
        ),
        ("byte x; init { x = 'ab' }", "a character constant holds one character"),
        ("init { printf(\"abc) }", "expected a string, found a quote that is not closed on its line"),
        ("byte x; init { x = \u{e9} }", "expected an expression, found the character \"\u{e9}\""),
        (
            "byte x; init { if :: x = 1 -> skip fi }",
            "this guard is an assignment, which always succeeds | to compare write `==`; if the assignment is meant, follow it by `;`",
        ),
        ("byte x; init { if :: x = 1; skip :: x = 2 fi }", ""),
        ("int x = 4294967296;", "4294967296 does not fit into 32 bits and is read as 0"),
        ("chan q = [1] of {byte}; byte x; init { q?x+1 }", "expected `;`, `->` or `}` after this statement, found `+`"),
        ("chan q = [1] of {byte}; byte x; init { q?(x+1) }", "expected `)`, found `+`"),
        (
            "proctype P() { skip } init { P == 1 }",
            "`P` is a proctype, not a value | start it by `run P(..)`, or look into it by `P[pid]@label` or `P[pid]:variable`",
        ),
    ] {
        let found = short(text);
        if found != expected {
            wrong.push(format!("{text}\n  {found}\n  {expected}"));
        }
    }
    assert!(wrong.is_empty(), "told, then expected:\n{}", wrong.join("\n"));
}

#[test]
fn a_missing_file_is_named() {
    let failure = promela::parse::parse_file("/nowhere/m.pml".as_ref(), &ParseOptions::default()).expect_err("missing");
    let shown = render_all(&failure.diagnostics, &failure.sources, Colour::Never);
    assert!(shown.starts_with("error[include]: cannot read `/nowhere/m.pml`: "), "{shown}");
}
