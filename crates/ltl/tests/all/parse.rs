//! Formulas as text: how they bind, where atoms end, what is refused, and that nothing panics.

use ltl::random::{self, Options, Random};
use ltl::{ParseError, Parsed, parse};

/// The formula with its atoms in angle brackets.
fn shown(parsed: &Parsed) -> String {
    parsed.formula.display_with(&|index| format!("<{}>", parsed.atoms[index as usize].text)).to_string()
}

#[track_caller]
fn reads(text: &str, expected: &str) {
    let parsed = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(shown(&parsed), expected, "{text}");
    assert_eq!(parsed.warnings, [], "{text}");
}

#[track_caller]
fn warns(text: &str, expected: &str, offset: usize, word: &str) {
    let parsed = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(shown(&parsed), expected, "{text}");
    let [warning] = &parsed.warnings[..] else { panic!("{text}: {:?}", parsed.warnings) };
    assert_eq!(warning.offset, offset, "{text}");
    assert!(warning.message.contains(word), "{text}: {}", warning.message);
}

#[track_caller]
fn refuses(text: &str, offset: usize, word: &str) {
    let error: ParseError = parse(text).expect_err(text);
    assert_eq!(error.offset, offset, "{text}: {error}");
    assert!(error.to_string().contains(word), "{text}: {error}");
}

#[test]
fn operators_bind_as_in_an_ltl_block_of_spin() {
    reads("[] a U b", "([]<a> U <b>)");
    reads("[] a && b", "([]<a> && <b>)");
    reads("! a U b", "(!<a> U <b>)");
    reads("a U b U c", "((<a> U <b>) U <c>)");
    reads("a W b V c", "((<a> W <b>) V <c>)");
    reads("a -> b -> c", "((<a> -> <b>) -> <c>)");
    reads("a <-> b -> c", "((<a> <-> <b>) -> <c>)");
    reads("a || b && c U d", "(<a> || (<b> && (<c> U <d>)))");
    reads("[]<> a -> []<> b", "([]<><a> -> []<><b>)");
    reads("a U [] b U c", "((<a> U []<b>) U <c>)");
}

#[test]
fn every_spelling_of_an_operator_is_known() {
    reads("always eventually a implies next b", "([]<><a> -> X <b>)");
    reads("a until b weakuntil c release d", "(((<a> U <b>) W <c>) V <d>)");
    reads("a stronguntil b equivalent true", "((<a> U <b>) <-> true)");
    reads("a /\\ b \\/ !c", "((<a> && <b>) || !<c>)");
    reads("G F a R X false", "([]<><a> V X false)");
    reads("G(a) -> F(b)", "([]<a> -> <><b>)");
}

#[test]
fn letters_beyond_spins_reserved_ones_can_be_names() {
    reads("F == 2 && G", "(<F == 2> && <G>)");
    reads("R U s.X", "(<R> U <s.X>)");
    reads("G G", "[]<G>");
}

#[test]
fn an_atom_is_the_longest_run_of_plain_text() {
    reads("x == 2 U a", "(<x == 2> U <a>)");
    reads("[](a[i] + 1 > 3 -> <>(len(q) == 0))", "[](<a[i] + 1 > 3> -> <><len(q) == 0>)");
    reads("(x & 1) == 1 || (a && b) == c", "(<(x & 1) == 1> || <(a && b) == c>)");
    reads("P[1]@crit && P:v >= -1 && P[0]:v", "((<P[1]@crit> && <P:v >= -1>) && <P[0]:v>)");
    reads("q?[msg, 1] U q??[x]", "(<q?[msg, 1]> U <q??[x]>)");
    reads("((a && (b)))", "(<a> && <b>)");
    reads("x & 3 && c == 'x'", "(<x & 3> && <c == 'x'>)");
    reads("true == x", "<true == x>");
}

#[test]
fn equal_atoms_share_an_index_and_remember_where_they_first_stood() {
    let parsed = parse("[](ab -> <> ab) U c").unwrap();
    let spans: Vec<_> = parsed.atoms.iter().map(|atom| (atom.text.as_str(), atom.span.clone())).collect();
    assert_eq!(spans, [("ab", 3..5), ("c", 18..19)]);
}

#[test]
fn what_spin_reads_otherwise_is_warned_about() {
    warns("a && <> x == 2", "(<a> && <><x == 2>)", 5, "SPIN");
    warns("!x == 2", "<!x == 2>", 0, "parentheses");
    warns("[]a & b", "([]<a> && <b>)", 4, "&&");
    warns("a | <>b", "(<a> || <><b>)", 2, "||");
    reads("G x == 2", "[]<x == 2>");
    reads("!(x == 2)", "!<x == 2>");
}

#[test]
fn errors_name_the_place_and_what_to_write() {
    refuses("", 0, "end of the text");
    refuses("a &&", 4, "end of the text");
    refuses("a b", 2, "expected an operator before `b`");
    refuses("a and b", 2, "write `&&`");
    refuses("not b", 4, "write `!`");
    refuses("GF p", 3, "G F p");
    refuses("a = 2", 2, "write `==`");
    refuses("a => b", 2, "write `->`");
    refuses("a <=> b", 2, "write `<->`");
    refuses("(a", 0, "never closed");
    refuses("a)", 1, "closes nothing");
    refuses("(a]", 2, "closes nothing");
    refuses("[ ] a", 0, "without a blank");
    refuses("U", 0, "cannot name a variable");
    refuses("(<>a) == 2", 6, "only plain expressions");
    refuses("x == ", 2, "lacks");
    refuses("x == []a", 2, "lacks");
    refuses("len([]q)", 4, "inside an expression");
    refuses("a \u{fc} b", 2, "unexpected character");
    refuses("x++ == 1", 1, "increments");
}

#[test]
fn deep_formulas_are_refused_not_crashed_on() {
    for (open, close) in [("(", ")"), ("!", ""), ("[]", ""), ("[](", ")"), ("a U (", ")"), ("a -> !", "")] {
        let fits = format!("{}a{}", open.repeat(300), close.repeat(300));
        assert!(parse(&fits).is_ok(), "{open}");
        let deep = format!("{}a U b{}", open.repeat(100_000), close.repeat(100_000));
        assert!(parse(&deep).unwrap_err().message.contains("deep"), "{open}");
    }
    let chain = format!("a{}", " && b".repeat(100_000));
    assert!(parse(&chain).unwrap_err().message.contains("deep"));
}

#[test]
fn printing_and_parsing_are_inverse() {
    let mut random = Random::new(1);
    for round in 0..3000 {
        let formula = random::formula(&mut random, Options { size: 1 + round % 25, atoms: 1, next: true });
        let parsed = parse(&formula.to_string()).unwrap_or_else(|error| panic!("{formula}: {error}"));
        assert_eq!(parsed.formula, formula);
    }
}

#[test]
fn no_text_panics() {
    const PIECES: &[&str] = &[
        "(", ")", "[", "]", "[]", "<>", "!", "&&", "||", "&", "|", "->", "<->", "U", "V", "W", "X", "R", "G", "F", "a",
        "x", "12", "==", "=", "<", "-", "+", ".", "@", ":", "?", "??", ",", "'", "\\", "'a'", " ", "\n", "true",
        "\u{e9}", "until", "next", "~", "a[i]", "/\\",
    ];
    let mut random = Random::new(2);
    let mut accepted = 0;
    for _ in 0..100_000 {
        let length = random.below(12);
        let text: String = (0..length).map(|_| PIECES[random.below(PIECES.len())]).collect();
        match parse(&text) {
            Ok(parsed) => accepted += usize::from(!parsed.formula.to_string().is_empty()),
            Err(error) => assert!(text.is_char_boundary(error.offset), "{text}: {error}"),
        }
    }
    assert!(accepted > 1000, "only {accepted} texts were formulas: the test is too weak");
}
