//! Reports for dashboards and viewers of traces, as the program writes them: models and programs, and every kind of verdict.

#[path = "../../../report/tests/formats/schema.rs"]
mod schema;
#[path = "../../../report/tests/formats/xml.rs"]
mod xml;

use crate::folder::{Folder, Told};
use crate::official;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Two locks in opposite order, an assertion that fails, and a formula that holds.
const MODEL: &str = "bool a, b; byte n;
active proctype P() { !a -> a = 1; !b -> b = 1; n++; assert(n < 2); b = 0; a = 0 }
active proctype Q() { !b -> b = 1; !a -> a = 1; n++; assert(n < 2); a = 0; b = 0 }
ltl small { [] (n < 3) }
";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Whether a value fits a schema of the documents.
fn fits(name: &str, value: &Value) {
    let path = root().join("docs/schema").join(name);
    let rules = json(&fs::read_to_string(path).expect("the schema is there"));
    assert_eq!(schema::errors(&rules, value), Vec::<String>::new(), "{value:#}");
}

fn sarif(text: &str) -> Value {
    official::sarif(text);
    let (log, rules) = (json(text), json(include_str!("../../../report/tests/formats/sarif.json")));
    assert_eq!(schema::errors(&rules, &log), Vec::<String>::new(), "{log:#}");
    log
}

/// Test cases, failures, errors and skipped ones of a report that the schema and our own rules accept.
fn suite(text: &str) -> [usize; 4] {
    official::junit(text);
    assert_eq!(xml::junit_errors(text), Vec::<String>::new(), "{text}");
    let root = xml::parse(text).expect("well-formed");
    ["testcase", "failure", "error", "skipped"].map(|name| root.all(name).len())
}

impl Folder {
    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.0.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }
}

#[test]
fn a_violated_model_is_told_in_every_format() {
    let folder = Folder::with("formats-model", "m.pml", MODEL);
    let check = |format: &str| {
        let told = folder.run(&["check", "m.pml", "--format", format]);
        assert_eq!(told.code, Some(1), "{}", told.err);
        told.out
    };
    assert_eq!(suite(&check("junit"))[1], 2, "the deadlock and the assertion");
    let log = sarif(&check("sarif"));
    let results = log["runs"][0]["results"].as_array().expect("results");
    let rules: Vec<&str> = results.iter().filter_map(|result| result["ruleId"].as_str()).collect();
    assert_eq!(rules, ["deadlock", "assert"]);
    let place = &results[1]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "m.pml");
    assert!(place["region"]["startLine"].as_u64().is_some_and(|line| (2..=3).contains(&line)), "{place}");
    let github = check("github");
    assert!(
        github.lines().any(|line| line.starts_with("::error title=assert%3A violated,file=m.pml,line=")),
        "{github}"
    );
    let object = json(&check("json"));
    fits("check.json", &object);
    let assert = &object["properties"][1];
    assert_eq!((&assert["name"], &assert["file"]), (&Value::from("assert"), &Value::from("m.pml")));
    assert!(assert["line"].is_u64() && assert["message"].is_string(), "{assert}");
}

#[test]
fn reports_go_to_files_beside_what_is_printed() {
    let folder = Folder::with("formats-files", "m.pml", MODEL);
    let reports = ["junit=out/deep/a.xml", "sarif=b.sarif", "github=c.txt", "json=d.json", "text=e.txt"];
    let mut arguments = vec!["check", "m.pml"];
    arguments.extend(reports.iter().flat_map(|report| ["--report", report]));
    let told = folder.run(&arguments);
    assert_eq!(told.code, Some(1), "{}", told.err);
    assert!(told.out.contains("error[assert]") && told.out.contains("violated: 2 of"), "{}", told.out);
    assert_eq!(suite(&folder.read("out/deep/a.xml"))[1], 2);
    sarif(&folder.read("b.sarif"));
    assert!(folder.read("c.txt").starts_with("::error "));
    fits("check.json", &json(&folder.read("d.json")));
    assert!(folder.read("e.txt").contains("error[assert]"));
    let left: Vec<_> = fs::read_dir(&folder.0).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".new")), "{left:?}");
}

#[test]
fn what_holds_passes_and_what_is_not_decided_does_not() {
    let folder =
        Folder::with("formats-verdicts", "m.pml", "byte n; active proctype P() { n++ }\nltl l { <> (n == 1) }\n");
    let report = |more: &[&str]| {
        let mut arguments = vec!["check", "m.pml", "--report", "junit=a.xml", "--report", "sarif=a.sarif"];
        arguments.extend(more);
        let told = folder.run(&arguments);
        let log = sarif(&folder.read("a.sarif"));
        let successful = log["runs"][0]["invocations"][0]["executionSuccessful"].as_bool().expect("a truth");
        let [_, failures, errors, skipped] = suite(&folder.read("a.xml"));
        (told.code.expect("a code"), [failures, errors, skipped].map(|count| count > 0), successful)
    };
    assert_eq!(report(&[]), (0, [false, false, false], true));
    assert_eq!(report(&["--order", "random", "--runs", "5"]), (3, [false, true, true], false));
    // Nothing to check, and a bound that cuts nothing off.
    assert_eq!(report(&["--depth", "50"]).0, 0);
}

#[test]
fn a_check_that_does_not_begin_leaves_no_old_result() {
    let folder = Folder::with("formats-stale", "bad.pml", "active proctype P() { nonsense nonsense }\n");
    for arguments in [["check", "bad.pml"], ["check", "missing.pml"]] {
        fs::write(folder.0.join("a.xml"), "<testsuites/>").expect("can be written");
        let told = folder.run(&[&arguments[..], &["--report", "junit=a.xml"]].concat());
        assert_eq!(told.code, Some(2), "{}", told.err);
        let text = folder.read("a.xml");
        assert_eq!(suite(&text), [1, 0, 1, 0]);
        assert!(text.contains("the check did not end"), "{text}");
    }
}

#[test]
fn a_report_that_cannot_be_written_is_told_before_anything_is_searched() {
    let folder = Folder::with("formats-unwritable", "m.pml", MODEL);
    std::os::unix::fs::symlink("/etc/passwd", folder.0.join("link.xml")).expect("can be made");
    let table = [
        ("junit=/dev/null/a.xml", "cannot write the report /dev/null/a.xml"),
        ("junit=/dev/null", "not a regular file"),
        ("junit=link.xml", "a link, which is not followed"),
        ("junit=.", "it is a folder"),
        ("junt=a.xml", "did you mean `junit`?"),
        ("perfetto=a.json", "allways report --format perfetto"),
        ("junit", "FORMAT=FILE"),
    ];
    for (report, words) in table {
        folder.run(&["check", "m.pml", "--report", report]).refused(2, &[words]);
    }
    folder.run(&["check", "m.pml", "--report", "junit=a", "--report", "json=a"]).refused(2, &["two reports go to a"]);
    folder.run(&["check", "m.pml", "--format", "junt"]).refused(2, &["junit"]);
}

#[test]
fn programs_are_told_in_every_format() {
    let folder = Folder::new("formats-programs");
    folder.compile("bank", &[], &fs::read_to_string(root().join("ci/bank.c")).expect("it is there"));
    let told = folder.run(&[
        "check",
        "--report",
        "junit=a.xml",
        "--report",
        "sarif=a.sarif",
        "--format",
        "json",
        "--",
        "./bank",
    ]);
    assert_eq!(told.code, Some(1), "{}", told.err);
    let object = json(&told.out);
    fits("check.json", &object);
    let deadlock = &object["properties"][0];
    assert_eq!(
        (&deadlock["name"], &deadlock["file"]),
        (&Value::from("deadlock"), &Value::from("bank.c")),
        "{deadlock}"
    );
    assert_eq!(suite(&folder.read("a.xml"))[1], 1);
    let log = sarif(&folder.read("a.sarif"));
    let flows = log["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"].as_array().expect("flows").len();
    assert_eq!(flows, 2, "two threads");
    let report = |format: &str| folder.run(&["report", "--format", format]).out;
    assert_eq!(suite(&report("junit")), [1, 1, 0, 0]);
    sarif(&report("sarif"));
    assert!(report("github").starts_with("::error title=deadlock%3A violated,file=bank.c,line="));
    assert!(json(&report("perfetto"))["traceEvents"].as_array().is_some_and(|all| all.len() > 5));
    assert!(report("shiviz").starts_with(r"(?<host>\S*) (?<clock>{.*})"));
    assert!(report("dot").contains("label=\"creation\""), "{}", report("dot"));
    official::dot(&report("dot"));
    fits("counterexample.json", &json(&report("json")));
    let told = folder.run(&["report", "--format", "dot", "-o", "trace.dot"]);
    assert_eq!((told.code, told.out.as_str()), (Some(0), ""));
    assert!(folder.read("trace.dot").starts_with("digraph"));
}

#[test]
fn saved_counterexamples_are_listed_for_scripts() {
    let folder = Folder::with("formats-ls", "m.pml", MODEL);
    let list = || json(&folder.run(&["ls", "--format", "json"]).out);
    fits("ls.json", &list());
    assert_eq!(list()["counterexamples"].as_array().map(Vec::len), Some(0));
    folder.run(&["check", "m.pml"]);
    fs::create_dir_all(folder.0.join(".allways/abcd")).expect("can be made");
    fs::write(folder.0.join(".allways/abcd/counterexample.json"), "{").expect("can be written");
    let all = list();
    fits("ls.json", &all);
    let entries = all["counterexamples"].as_array().expect("a list");
    assert_eq!(entries.len(), 3, "{all:#}");
    assert!(entries.iter().any(|entry| entry["error"].is_string() && entry["id"] == "abcd"));
    assert!(
        entries.iter().any(|entry| entry["id"] == all["latest"] && entry["file"] == "m.pml" && entry["line"].is_u64())
    );
    for entry in entries.iter().filter(|entry| entry["error"].is_null()) {
        fits(
            "counterexample.json",
            &json(&folder.run(&["report", entry["id"].as_str().expect("an id"), "--format", "json"]).out),
        );
    }
}

#[test]
fn a_profile_stands_between_the_command_line_and_the_check() {
    let folder = Folder::with("formats-profile", "m.pml", MODEL);
    let file = "[check.m]\nmodel = \"m.pml\"\ndepth = 3\n[profile.ci]\ndepth = 4\nreport = { junit = \"out/a.xml\", json = \"a.json\" }\n";
    fs::write(folder.0.join("allways.toml"), file).expect("can be written");
    let bound = |arguments: &[&str]| {
        let told = folder.run(&[&["check"], arguments, &["--format", "json"]].concat());
        let object = json(&told.out);
        object["coverage"]["bound"].as_str().map(str::to_owned)
    };
    assert_eq!(bound(&["m"]).as_deref(), Some("depth 3"));
    assert!(!folder.0.join("out").exists());
    assert_eq!(bound(&["m", "--profile", "ci"]).as_deref(), Some("depth 4"));
    suite(&folder.read("out/a.xml"));
    assert_eq!(json(&folder.read("a.json"))["coverage"]["bound"], "depth 4");
    assert_eq!(bound(&["m", "--profile", "ci", "--depth", "5"]).as_deref(), Some("depth 5"));
    // A model by its file, and a report of the command line instead of the profile's.
    fs::remove_dir_all(folder.0.join("out")).expect("is there");
    assert_eq!(bound(&["m.pml", "--profile", "ci", "--report", "junit=b.xml"]).as_deref(), Some("depth 4"));
    assert!(folder.0.join("b.xml").exists() && !folder.0.join("out").exists());
    folder.run(&["check", "m", "--profile", "cii"]).refused(2, &["no profile `cii`", "there is ci"]);
    Folder::with("formats-no-profile", "m.pml", MODEL)
        .run(&["check", "m.pml", "--profile", "ci"])
        .refused(2, &["there is no allways.toml", "`ci`"]);
}

#[test]
fn a_hostile_program_breaks_no_report() {
    let folder = Folder::new("formats-hostile");
    let name = "a\"]]>%0A::error&'<x y";
    let source = "#include <stdio.h>\nint main(void) { puts(\"\\x1b]0;x\\a\\n::stop-commands::x\\n]]></system-out>\"); fflush(stdout); __builtin_trap(); }\n";
    folder.compile("plain", &[], source);
    fs::rename(folder.0.join("plain"), folder.0.join(name)).expect("can be renamed");
    let program = format!("./{name}");
    let formats = ["junit", "sarif", "github", "json"];
    let told: Vec<Told> =
        formats.iter().map(|format| folder.run(&["check", "--format", format, "--", &program])).collect();
    assert!(told.iter().all(|told| told.code == Some(1)), "{}{}", told[0].out, told[0].err);
    assert_eq!(suite(&told[0].out)[1], 1);
    sarif(&told[1].out);
    assert!(
        told[2]
            .out
            .lines()
            .all(|line| ["::error ", "::warning ", "::notice "].iter().any(|level| line.starts_with(level)))
    );
    fits("check.json", &json(&told[3].out));
    for format in ["junit", "sarif", "perfetto"] {
        let told = folder.run(&["report", "--format", format]);
        assert!(format == "junit" && suite(&told.out)[1] == 1 || format != "junit" && json(&told.out).is_object());
    }
}

/// The lines of the block `key: |`, or of the list `key:`, that follows a text of a YAML file.
fn block(text: &str, after: &str, key: &str) -> String {
    let rest = text.split_once(after).unwrap_or_else(|| panic!("no {after}")).1;
    let at = rest.find(&format!("{key}:")).unwrap_or_else(|| panic!("no {key}"));
    let line_start = rest[..at].rfind('\n').map_or(0, |end| end + 1);
    let indent = at - line_start;
    let inner = rest[at..]
        .lines()
        .skip(1)
        .take_while(|line| line.trim().is_empty() || line.len() - line.trim_start().len() > indent);
    inner.map(|line| line.trim_start().trim_start_matches("- ").to_owned() + "\n").collect()
}

/// Runs a script of an example as a runner does, with this program in its path.
fn script(folder: &Folder, text: &str, environment: &[(&str, &str)]) -> Told {
    let own = Path::new(env!("CARGO_BIN_EXE_allways")).parent().expect("it has a folder").display();
    let path = format!("{own}:{}", std::env::var("PATH").unwrap_or_default());
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", text]).current_dir(&folder.0).env("PATH", path);
    bash.env("COLUMNS", "100").env("LC_ALL", "C.UTF-8").envs(environment.iter().copied());
    Told::new(bash.output().expect("bash runs"))
}

fn example(name: &str) -> Folder {
    let folder = Folder::new(name);
    for file in ["bank.c", "allways.toml"] {
        fs::copy(root().join("ci").join(file), folder.0.join(file)).expect("the example is there");
    }
    folder
}

#[test]
fn the_action_for_github_does_what_it_says() {
    let folder = example("formats-action");
    let read = |name: &str| fs::read_to_string(root().join("ci/github").join(name)).expect("it is there");
    let (action, workflow) = (read("action.yml"), read("workflow.yml"));
    let build = script(&folder, &block(&workflow, "name: Build", "run"), &[]);
    assert_eq!(build.code, Some(0), "{}", build.err);
    let input = |key: &str| {
        let line =
            workflow.lines().find_map(|line| line.trim().strip_prefix(&format!("{key}: "))).expect("it is there");
        line.to_owned()
    };
    let workspace = folder.0.canonicalize().expect("it is there").display().to_string();
    let install = script(&folder, &block(&action, "name: Install", "run"), &[("REV", "")]);
    assert_eq!(install.code, Some(0), "nothing is installed where allways is there: {}", install.err);
    let (check, options) = (input("check"), input("options"));
    let environment =
        [("CHECK", check.as_str()), ("OPTIONS", &options), ("REPORTS", "target"), ("GITHUB_WORKSPACE", &workspace)];
    let told = script(&folder, &block(&action, "name: Check", "run"), &environment);
    assert_eq!(told.code, Some(1), "{}{}", told.out, told.err);
    assert!(
        told.out.lines().any(|line| line.starts_with("::error title=deadlock%3A violated,file=bank.c,line=")),
        "{}",
        told.out
    );
    assert_eq!(suite(&folder.read("target/allways.xml"))[1], 1);
    sarif(&folder.read(&input("sarif_file")));
    for name in ["check", "options", "directory", "reports", "rev"] {
        assert!(action.contains(&format!("${{{{ inputs.{name} }}}}")), "the input {name} is used");
    }
}

#[test]
fn the_job_for_gitlab_does_what_it_says() {
    let folder = example("formats-gitlab");
    let job = fs::read_to_string(root().join("ci/gitlab/allways.yml")).expect("it is there");
    let before = script(&folder, &block(&job, "image:", "before_script"), &[]);
    assert_eq!(before.code, Some(0), "{}", before.err);
    let told = script(&folder, &block(&job, "before_script:", "script"), &[]);
    assert_eq!(told.code, Some(1), "{}{}", told.out, told.err);
    for file in block(&job, "artifacts:", "paths").lines() {
        assert!(folder.0.join(file).exists(), "{file}");
    }
    assert_eq!(suite(&folder.read("target/allways.xml"))[1], 1);
}

#[test]
fn files_are_named_from_the_root_of_the_repository() {
    let folder = Folder::new("formats-root");
    fs::create_dir(folder.0.join("models")).expect("can be made");
    fs::write(folder.0.join("models/m.pml"), MODEL).expect("can be written");
    let mut command = folder.command(&["check", "m.pml", "--format", "github"]);
    let output = command
        .current_dir(folder.0.join("models"))
        .env("CI_PROJECT_DIR", folder.0.canonicalize().expect("it is there"));
    let told = Told::new(output.output().expect("the binary runs"));
    assert!(told.out.contains(",file=models/m.pml,line="), "{}", told.out);
}
