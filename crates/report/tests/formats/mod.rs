//! What dashboards and viewers of traces read: golden files, the rules of each format, and hostile names.

mod schema;
mod traces;
mod xml;

use crate::{check, fixture};
use report::*;
use serde_json::Value;
use trace::Counterexample;

fn paths() -> Paths {
    Paths { here: "/repo/models".to_owned(), root: "/repo".to_owned() }
}

/// Formats of a whole check, of what a test gives.
struct Found {
    summary: Summary,
    counterexamples: Vec<(usize, Counterexample)>,
    doubts: Vec<String>,
}

impl Found {
    fn alone(counterexample: Counterexample) -> Self {
        let summary = Summary::of(&counterexample);
        Self { summary, counterexamples: vec![(0, counterexample)], doubts: Vec::new() }
    }

    fn answer(verdict: PropertyVerdict, end: End) -> Self {
        let properties = vec![fixture::property("p", trace::FailureKind::Ltl, verdict)];
        let covered = Covered { end, ..fixture::covered() };
        let summary = Summary { properties, covered, ..fixture::summary() };
        Self { summary, counterexamples: Vec::new(), doubts: Vec::new() }
    }

    fn told<T>(&self, format: impl Fn(&Findings<'_>) -> T) -> T {
        format(&Findings {
            version: "0.1.0",
            created: 1_700_000_000,
            summary: &self.summary,
            counterexamples: &self.counterexamples,
            run: None,
            doubts: &self.doubts,
            sources: &fixture::bank_sources(),
            paths: &paths(),
        })
    }

    fn junit(&self) -> String {
        let text = self.told(junit);
        assert_eq!(xml::junit_errors(&text), Vec::<String>::new(), "{text}");
        text
    }

    fn sarif(&self) -> Value {
        let log: Value = serde_json::from_str(&self.told(sarif)).expect("JSON");
        let rules: Value = serde_json::from_str(include_str!("sarif.json")).expect("JSON");
        assert_eq!(schema::errors(&rules, &log), Vec::<String>::new(), "{log:#}");
        for result in log["runs"][0]["results"].as_array().expect("a list") {
            let rule =
                &log["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().expect("a number") as usize];
            assert_eq!(rule["id"], result["ruleId"], "the index is that of the rule");
        }
        log
    }
}

/// A check with two counterexamples, and properties of every verdict.
fn whole() -> Found {
    let mut summary = fixture::summary();
    summary.properties.push(fixture::property("open", trace::FailureKind::Ltl, PropertyVerdict::Incomplete));
    let counterexamples = vec![(0, fixture::deadlock()), (2, fixture::lasso())];
    Found { summary, counterexamples, doubts: Vec::new() }
}

#[test]
fn a_check_is_a_test_suite() {
    check("check.junit.xml", &whole().junit());
}

#[test]
fn a_check_is_a_run_of_sarif() {
    whole().sarif();
    check("check.sarif", &whole().told(sarif));
}

#[test]
fn a_check_is_annotations_at_lines_of_the_repository() {
    check("check.github", &whole().told(github));
}

#[test]
fn a_property_of_json_has_its_place_and_message() {
    let json: Value = serde_json::from_str(&whole().told(summary_json)).expect("JSON");
    let deadlock = &json["properties"][0];
    assert_eq!((&deadlock["file"], &deadlock["line"]), (&Value::from("bank.pml"), &Value::from(6)));
    assert_eq!(deadlock["message"], "invalid end state");
    assert_eq!((&json["version"], &json["tool"]), (&Value::from(1), &Value::from("allways 0.1.0")));
    assert!(json["properties"][1]["file"].is_null() && json["properties"][1]["message"].is_null());
}

/// What JUnit calls a check with one property: failures, errors, skipped.
fn counts(found: &Found) -> [String; 3] {
    let root = xml::parse(&found.junit()).expect("well-formed");
    let suite = root.all("testsuite")[0].attributes.clone();
    let value = |name: &str| suite.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    ["failures", "errors", "skipped"].map(|name| value(name).expect("it is there"))
}

#[test]
fn what_the_exit_code_calls_a_failure_is_never_a_success() {
    use PropertyVerdict::*;
    let ran_out = || End::Inconclusive("memory ran out (8.0 GB)".to_owned());
    let limit = || End::Limit("8 s".to_owned());
    let table = [
        (Holds, End::Exhaustive, ["0", "0", "0"], true),
        (Holds, End::Bound("depth 9".to_owned()), ["0", "0", "0"], true),
        (Vacuous, End::Exhaustive, ["0", "0", "0"], true),
        (NotFound, limit(), ["0", "0", "1"], true),
        (Violated, End::Violation, ["1", "0", "0"], true),
        (NeedsFairness, End::Exhaustive, ["1", "0", "0"], true),
        (Incomplete, ran_out(), ["0", "1", "0"], false),
        (Unsupported, End::Exhaustive, ["0", "1", "0"], false),
        (Incomplete, End::Interrupted, ["0", "1", "0"], false),
        // Everything that was searched holds, and the search did not come to its end.
        (Holds, ran_out(), ["0", "1", "0"], false),
        (Holds, End::Interrupted, ["0", "1", "0"], false),
    ];
    for (verdict, end, junit, is_successful) in table {
        let found = Found::answer(verdict, end.clone());
        assert_eq!(counts(&found), junit, "{verdict:?} {end:?}");
        let log = found.sarif();
        let invocation = &log["runs"][0]["invocations"][0];
        assert_eq!(invocation["executionSuccessful"], is_successful, "{verdict:?} {end:?}");
        let passes = junit == ["0", "0", "0"];
        let told = found.told(github);
        assert_eq!(!told.contains("::error") && !told.contains("::warning"), passes, "{told}");
    }
}

#[test]
fn a_check_of_nothing_a_check_that_did_not_end_and_our_own_bugs_are_errors() {
    let nothing = Summary { properties: Vec::new(), ..fixture::summary() };
    let doubtful = Found {
        doubts: vec!["an audit found a difference".to_owned()],
        ..Found::answer(PropertyVerdict::Holds, End::Exhaustive)
    };
    let of = |summary| Found { summary, counterexamples: Vec::new(), doubts: Vec::new() };
    let table = [
        (of(nothing), "nothing was checked"),
        (of(Summary::unfinished("bank.pml")), "the check did not end"),
        (doubtful, "an audit found a difference"),
    ];
    for (found, words) in table {
        assert_eq!(counts(&found)[1], "1", "{words}");
        assert!(found.junit().contains(words));
        assert_eq!(found.sarif()["runs"][0]["invocations"][0]["executionSuccessful"], false);
        let told = found.told(github);
        assert!(told.lines().any(|line| line.starts_with("::error ") && line.contains(words)), "{told}");
    }
}

#[test]
fn a_counterexample_alone_is_a_check_of_one_property() {
    let found = Found::alone(fixture::rendezvous());
    assert_eq!(counts(&found), ["1", "0", "0"]);
    let log = found.sarif();
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "models/bank.pml");
    let flows = result["codeFlows"][0]["threadFlows"].as_array().expect("flows");
    assert_eq!(flows.iter().map(|flow| &flow["id"]).collect::<Vec<_>>(), ["left:0", "middle:1", "right:2"]);
}

#[test]
fn what_a_program_prints_becomes_no_link() {
    let found = hostile("[press here](https://example.org)");
    let log = Found::alone(found).told(sarif);
    let messages: Vec<&str> = log.lines().filter(|line| line.trim_start().starts_with("\"text\": ")).collect();
    assert!(messages.iter().any(|text| text.contains("[press here] (https")), "{messages:?}");
    assert!(!messages.iter().any(|text| text.contains("](")), "{messages:?}");
}

#[test]
fn long_code_flows_keep_their_end() {
    let steps = (0..1_500).map(|n| vec![fixture::event(n % 2, &format!("s{n}"), 1)]).collect();
    let log = Found::alone(fixture::counterexample(&["a", "b"], steps, None)).sarif();
    let flow = &log["runs"][0]["results"][0]["codeFlows"][0];
    assert_eq!(flow["message"]["text"], "the last 1000 of 1500 events");
    let last = flow["threadFlows"][1]["locations"].as_array().and_then(|all| all.last()).expect("one");
    assert_eq!(
        (&last["executionOrder"], &last["location"]["message"]["text"]),
        (&Value::from(1_500), &Value::from("s1499"))
    );
}

#[test]
fn a_place_without_a_line_is_a_file() {
    let mut found = fixture::lasso();
    for (line, column) in [(0, 0), (0, 7), (3, 0), (u32::MAX, u32::MAX)] {
        found.location = Some(trace::Location { file: "a.c".to_owned(), line, column, width: u32::MAX });
        let log = Found::alone(found.clone()).sarif();
        let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(place.get("region").is_some(), line > 0);
        Found::alone(found.clone()).junit();
    }
}

/// Hostile texts, as programs print them and call their files.
const HOSTILE: [&str; 9] = [
    "]]></failure></testcase><testcase name=\"ok\" classname=\"x\" time=\"0\"/>",
    "\u{1b}]0;title\u{7}\0\u{fffe}\u{ffff}",
    "x\n::error file=a,line=1::injected\r\n::stop-commands::t",
    "%0A::set-output name=a::b,c:d",
    "\"]; n99 [label=\"x\\",
    "{\"a\":1}\nhost {\"b\":2}\nevent",
    "line\u{2028}separator\u{85}next",
    "日本語 🦀 \u{202e}evil",
    "",
];

/// A counterexample in which everything is called so.
fn hostile(text: &str) -> Counterexample {
    let mut found = fixture::lasso();
    let all = |name: &mut String| text.clone_into(name);
    all(&mut found.message);
    all(&mut found.property.name);
    all(&mut found.system.file);
    all(&mut found.tool);
    found.notes = vec![text.to_owned()];
    found.location.iter_mut().for_each(|at| all(&mut at.file));
    found.trace.actors.iter_mut().for_each(|actor| all(&mut actor.name));
    for event in found.trace.steps.iter_mut().flat_map(|step| &mut step.events) {
        all(&mut event.text);
        event.output = Some(text.to_owned());
        event.failure = Some(text.to_owned());
        event.location.iter_mut().for_each(|at| all(&mut at.file));
        event.changes.iter_mut().for_each(|change| all(&mut change.name));
    }
    found
}

fn survives(text: &str) {
    let found = hostile(text);
    let mut all = Found::alone(found.clone());
    all.summary.warnings = vec![text.to_owned()];
    all.doubts = vec![text.to_owned()];
    let junit = xml::parse(&all.junit()).expect("well-formed");
    assert_eq!(junit.all("testcase").len(), 2, "a property, and a doubt");
    all.sarif();
    let told = all.told(github);
    assert_eq!(told.lines().count(), 3, "{told}");
    assert!(told.lines().all(|line| line.starts_with("::") && line.matches("::").count() >= 2), "{told}");
    let _: Value = serde_json::from_str(&all.told(summary_json)).expect("JSON");
    traces::check_all(&found);
}

#[test]
fn hostile_names_break_no_format() {
    HOSTILE.into_iter().for_each(survives);
}

#[test]
fn random_texts_break_no_format() {
    // Marsaglia's xorshift: the same texts on every machine.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let marks: Vec<char> =
        "<>&\"'%:,=;\\{}[]()|\n\r\t \0\u{1b}\u{7f}\u{85}\u{2028}\u{fffd}\u{ffff}ax0üñ日🦀-".chars().collect();
    for _ in 0..300 {
        let length = random(24);
        let text: String = (0..length).map(|_| marks[random(marks.len() as u64) as usize]).collect();
        survives(&text);
    }
}
