//! Tables of texts and what the preprocessor makes of them.

use super::*;
use crate::source::FileId;
use std::path::PathBuf;

/// Files in memory.
struct Files(Vec<(PathBuf, String)>);

impl Reader for Files {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        let found = self.0.iter().find(|(name, _)| name == path);
        found.map(|(_, text)| text.clone().into_bytes()).ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }
}

fn files(list: &[(&str, &str)]) -> Files {
    Files(list.iter().map(|(name, text)| (PathBuf::from(name), (*text).to_string())).collect())
}

fn output(list: &[(&str, &str)], options: &ParseOptions) -> Result<(Output, SourceMap), Diagnostic> {
    let mut sources = SourceMap::default();
    let made = preprocess(Path::new("dir/m.pml"), &files(list), options, &mut sources)?;
    Ok((made, sources))
}

/// The tokens, a `/` before those that begin a line.
fn shown(tokens: &[Token]) -> String {
    let words: Vec<String> = tokens[..tokens.len() - 1]
        .iter()
        .map(|token| format!("{}{}", if token.newline { "/" } else { "" }, token.text))
        .collect();
    words.join(" ")
}

fn check(text: &str, expected: &str) {
    match output(&[("dir/m.pml", text)], &ParseOptions::default()) {
        Ok((made, _)) => assert_eq!(shown(&made.tokens), expected, "{text}"),
        Err(told) => assert_eq!(format!("error: {}", told.message), expected, "{text}"),
    }
}

#[test]
fn macros_without_parameters() {
    check("#define N 3\nN+N\nNN", "/3 + 3 /NN");
    check("#define A B\n#define B A\nA B", "/A B");
    check("#define E\nx E y\nE\nz", "/x y /z");
    check("#define M (x == \\\n 1)\nM", "/( x == 1 )");
    check("#define N 3\n0..N", "/0 .. 3");
    check("#define N 1\n#undef N\nN", "/N");
    check("#define x q??<y>\nx", "/q ?? < y >");
}

#[test]
fn macros_with_parameters() {
    check("#define F(a,b) a-b\nF(1,2) F((1,2),3) F (x , y)", "/1 - 2 ( 1 , 2 ) - 3 x - y");
    check("#define F(a) a a\n#define G F\nG(1) G\n(2) F", "/1 1 2 2 /F");
    check("#define F() x\nF() F( )", "/x x");
    check("#define F(a) [a]\nF()", "/[ ]");
    check("#define F(a,b) a b\nF(1,\n2) y", "/1 2 /y");
    check("#define f(x) x f\nf(1)(2)", "/1 f ( 2 )");
    check("#define f(x) f(x)\n#define g f(g)\nf(f(1)) g", "/f ( f ( 1 ) ) f ( g )");
    check("#define NIL(x) x\n#define G_0(a) NIL(G_1)(a)\n#define G_1(a) NIL(G_0)(a)\nG_0(9)", "/G_0 ( 9 )");
    check("#define F(a) a\nF(\n#if 1\nx\n#else\ny\n#endif\n)", "/x");
}

#[test]
fn joining_and_quoting() {
    check("#define S(a) #a\nS( x  +\"y\\n\" )", "/\"x +\\\"y\\\\n\\\"\"");
    check("#define J(a,b) a##b\n#define xy 7\nJ(x,y) J(,y) J(x,) J(,)", "/7 y x");
    check("#define x 1\n#define J(a) a##_t\n#define K(a) J(a)\nJ(x) K(x)", "/x_t 1_t");
    check("#define V(f, ...) f(__VA_ARGS__)\nV(g,1,(2,3)) V(g)", "/g ( 1 , ( 2 , 3 ) ) g ( )");
    check("#define V(f, a...) p(f, ## a)\nV(g,1,2) V(g)", "/p ( g , 1 , 2 ) p ( g )");
    check("#define J(a,b) a##b\nJ(+,x)", "error: `##` joins `+` and `x`, which is not one token");
}

#[test]
fn conditions() {
    for (condition, holds) in [
        ("1", true),
        ("0", false),
        ("defined(N) && N == 3", true),
        ("defined N && !defined(M)", true),
        ("M", false),
        ("N * 2 + 1 << 1 == 14", true),
        ("(N > 2 ? 0x10 : 1/0) == 020", true),
        ("0 && 1/0", false),
        ("-1 < 0 && ~0 == -1 && 'a' == 97", true),
        ("!!N && 10ul % 4 == 2", true),
        ("F(2) == 4", true),
    ] {
        let text = format!("#define N 3\n#define F(x) (x+x)\n#if {condition}\nyes\n#else\nno\n#endif\n");
        check(&text, if holds { "/yes" } else { "/no" });
    }
    check("#if 0\na\n#elif 1\nb\n#elif 1/0\nc\n#else\nd\n#endif", "/b");
    check("#if 0\n#if 1\na\n#else\nb\n#endif\n#bogus don't\n#else\nc\n#endif", "/c");
    check("#ifdef A\na\n#endif\n#ifndef A\nb\n#endif", "/b");
}

#[test]
fn wrong_directives() {
    check("#if 1/0\n#endif", "error: division by zero in a condition");
    check("#if\n#endif", "error: expected a value in this condition");
    check("#if (1\n#endif", "error: expected `)` in this condition");
    check("#if 1\nx", "error: this condition is not closed");
    check("#else", "error: #else without #if");
    check("#if 1\n#else\n#else\n#endif", "error: #else after #else");
    check("#endif", "error: #endif without #if");
    check("#error no  luck", "error: #error no  luck");
    check("#nonsense", "error: there is no directive `#nonsense`");
    check("#define 3", "error: expected a macro's name");
    check("#define F(a,3) a", "error: the parameters of macro `F` are not a list of names");
    check("#define F(a", "error: the parameters of macro `F` are not a list of names");
    check("#define F(a) #b", "error: `#` must stand before a parameter of the macro");
    check("#define F ## x", "error: `##` needs something on both sides");
    check("#define F(a,b) a\nF(1)", "error: macro `F` takes 2 arguments, but 1 are given");
    check("#define F(a) a\nF(1", "error: the arguments of macro `F` are not closed");
    check("#include x", "error: expected \"file\" or <file> after #include");
    check("#include \"no.h\"", "error: cannot find the included file `no.h`");
}

#[test]
fn lines_that_are_skipped() {
    check("#pragma x\n#line 3\n# 7 \"file\"\n#\n#ident \"x\"\nx", "/x");
}

#[test]
fn built_in_macros() {
    check("\n__LINE__ __FILE__\n#define L __LINE__\n\nL", "/2 \"dir/m.pml\" /5");
}

#[test]
fn includes_are_found_beside_the_includer_and_where_told() {
    let list = [
        ("dir/m.pml", "a\n#include \"sub/b.h\"\nz\n#define N <sys.h>\n#include N"),
        ("dir/sub/b.h", "#pragma once\n#include \"c.h\"\n#include \"b.h\"\nb"),
        ("dir/sub/c.h", "c"),
        ("inc/sys.h", "s"),
    ];
    let options = ParseOptions { include_dirs: vec!["inc".into()], ..ParseOptions::default() };
    let (made, sources) = output(&list, &options).expect("fine");
    assert_eq!(shown(&made.tokens), "/a /c /b /z /s");
    let place = sources.locate(made.tokens[1].span).expect("located");
    assert_eq!((place.path, place.line), (Path::new("dir/sub/c.h"), 1));
}

#[test]
fn definitions_come_from_the_options_too() {
    let options = ParseOptions {
        defines: vec![("N".into(), Some("4".into())), ("E".into(), None), ("U".into(), None)],
        undefines: vec!["U".into()],
        include_dirs: vec![],
    };
    let (made, _) = output(&[("dir/m.pml", "N E U")], &options).expect("fine");
    assert_eq!(shown(&made.tokens), "/4 1 U");
}

#[test]
fn a_macros_tokens_stand_at_its_use_and_arguments_where_they_are() {
    let (made, _) = output(&[("dir/m.pml", "#define F(a) b a\nF(c)")], &ParseOptions::default()).expect("fine");
    let places: Vec<_> = made.tokens.iter().map(|token| (token.span.start, token.span.end)).collect();
    assert_eq!(places[..2], [(17, 21), (19, 20)]);
    assert_eq!(made.tokens[0].via.as_deref(), Some("F"));
    assert_eq!(made.tokens[1].via, None);
    assert_eq!(made.tokens[0].span.file, FileId(0));
}

#[test]
fn a_bomb_of_doubling_macros_ends_with_an_error() {
    let doubling: String = (1..40).map(|n| format!("#define M{n} M{} M{}\n", n - 1, n - 1)).collect();
    check(&format!("{doubling}#define M0 x x\nM39"), "error: macros grow to more than 1000000 tokens");
    check(&format!("{doubling}#define M0\nM39"), "error: macros grow to more than 1000000 tokens");
}

#[test]
fn nested_calls_and_includes_end_with_an_error() {
    let nested = "F(".repeat(5_000) + &")".repeat(5_000);
    check(&format!("#define F(x) x\n{nested}"), "error: macro calls are nested more than 100 deep");
    check("#include \"m.pml\"", "error: includes are nested more than 100 deep");
    check("#include \"m.pml\"\n#include \"m.pml\"", "error: includes are nested more than 100 deep");
}

#[test]
fn deep_conditions_end_with_an_error() {
    for part in ["(", "!", "-", "1 ? "] {
        let deep = part.repeat(20_000);
        check(&format!("#if {deep}\n#endif"), "error: this condition is nested too deeply");
    }
}

#[test]
fn long_chains_of_macros_are_followed() {
    let chain: String = (0..20_000).map(|n| format!("#define C{} C{n}\n", n + 1)).collect();
    check(&format!("{chain}C20000"), "/C0");
}

#[test]
fn a_second_different_definition_is_told() {
    let text = "#define N 1\n#define N 1\n#define N 2\n#warning look\n";
    let (made, _) = output(&[("dir/m.pml", text)], &ParseOptions::default()).expect("fine");
    let told: Vec<_> = made.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(told, ["macro `N` is defined again", "#warning look"]);
}
