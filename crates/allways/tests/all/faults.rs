//! `allways faults` as people and scripts meet it: protocols with known answers, the AV appliance, bad input.

use crate::folder::{Folder, Told};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn models(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(folder)
}

/// Runs a campaign and reads its JSON.
fn campaign(folder: &Folder, file: &Path, flags: &str) -> Value {
    let file = file.display().to_string();
    let mut arguments = vec!["faults", &file, "--format", "json"];
    arguments.extend(flags.split_whitespace());
    let told = folder.run(&arguments);
    serde_json::from_str(&told.out).unwrap_or_else(|error| panic!("{error}: {} {}", told.out, told.err))
}

/// The minimal sets of each property, faults of a set joined by ` + `.
fn cut_sets(told: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let names = |set: &Value| {
        let faults = set["faults"].as_array().expect("a list");
        faults.iter().map(|name| name.as_str().expect("a name")).collect::<Vec<_>>().join(" + ")
    };
    let row = |row: &Value| {
        let sets = row["cut_sets"].as_array().expect("a list").iter().map(names).collect();
        (row["name"].as_str().expect("a name").to_owned(), sets)
    };
    told["properties"].as_array().expect("a list").iter().map(row).collect()
}

/// The sets that must come out for each property.
type Expected = Vec<(String, BTreeSet<String>)>;

/// The campaigns that a model's header asks for: flags, and what must come out.
fn expectations(text: &str) -> Vec<(String, Expected)> {
    let mut found: Vec<(String, Expected)> = Vec::new();
    for line in text.lines().map(|line| line.trim_start_matches([' ', '*', '/'])) {
        if let Some(flags) = line.strip_prefix("faults: ") {
            found.push((flags.to_owned(), Vec::new()));
        } else if let Some((property, sets)) = line.strip_prefix("broken: ").and_then(|line| line.split_once(": ")) {
            let sets = sets.split(", ").filter(|set| *set != "none").map(str::to_owned).collect();
            found.last_mut().expect("flags come first").1.push((property.to_owned(), sets));
        }
    }
    found
}

#[test]
fn protocols_are_broken_by_the_faults_that_they_are_known_for() {
    let folder = Folder::new("faults-protocols");
    let mut campaigns = 0;
    for entry in std::fs::read_dir(models("faults")).expect("models are there") {
        let path = entry.expect("can be read").path();
        let text = std::fs::read_to_string(&path).expect("can be read");
        for (flags, expected) in expectations(&text) {
            let told = campaign(&folder, &path, &format!("{flags} --no-save"));
            assert_eq!(told["complete"], true, "{path:?} {flags}: {told}");
            let found = cut_sets(&told);
            for (property, sets) in expected {
                assert_eq!(found.get(&property), Some(&sets), "{path:?} {flags} {property}");
            }
            campaigns += 1;
        }
    }
    assert!(campaigns >= 10, "{campaigns}");
}

/// What the paper's three faults break, with weak fairness; property 8 is deadlock, 9 is progress.
const PAPER: [(&str, &[&str]); 3] = [
    ("communication", &["p1", "p2", "p3", "p5", "deadlock"]),
    ("termination", &["p1", "p2", "p3", "p5", "progress"]),
    ("irregular", &["p1", "p2", "p5", "deadlock", "progress"]),
];

#[test]
fn faults_of_the_plain_appliance_break_what_the_papers_faults_break() {
    let folder = Folder::new("faults-av");
    let kinds = "--check deadlock,ltl,progress --fair weak";
    let told = campaign(&folder, &models("av/av_base.pml"), &format!("{kinds} --no-save"));
    assert_eq!(told["complete"], true, "{told}");
    let breaks = |name: &str| -> BTreeSet<String> {
        let row = told["faults"].as_array().expect("a list").iter().find(|fault| fault["name"] == name);
        let breaks = row.unwrap_or_else(|| panic!("no fault {name}"))["breaks"].as_array().expect("a list");
        breaks.iter().map(|name| name.as_str().expect("a name").to_owned()).collect()
    };
    let found = [breaks("wrong:DVD_ch"), breaks("stuck:HD_state"), breaks("irregular:HD_state")];
    let everything: BTreeSet<String> = found.iter().flatten().cloned().collect();
    for (fault, broken) in PAPER {
        for property in broken {
            assert!(everything.contains(*property), "{fault} breaks {property}; found {found:?}");
        }
    }
    // A wrong acknowledgement breaks what the paper's does, a recorder that keeps its state what one does that idles.
    assert!(PAPER[0].1.iter().all(|property| found[0].contains(*property)), "{:?}", found[0]);
    assert!(PAPER[1].1.iter().all(|property| found[1].contains(*property)), "{:?}", found[1]);
    // The paper's irregular transition may happen for ever; ours once, which is not enough for a livelock.
    let once = PAPER[2].1.iter().filter(|property| **property != "progress");
    assert!(once.clone().all(|property| found[2].contains(*property)), "{:?}", found[2]);
    let without: Vec<&str> = told["properties"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|row| row["tolerates"].is_null())
        .map(|row| row["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(without, [""; 0], "without faults everything holds");
}

#[test]
fn the_improved_appliance_keeps_what_the_plain_one_loses() {
    let folder = Folder::new("faults-av-improved");
    let (before, after) = (models("av/av_base.pml"), models("av/av_improved_nofault.pml"));
    let (before, after) = (before.display().to_string(), after.display().to_string());
    let scope = ["--only", "wrong:HD_ch,stop:HD_recorder", "--check", "deadlock,ltl,progress", "--fair", "weak"];
    let told = folder.run(&[&["faults", &before, &after, "--no-save", "--format", "json"], &scope[..]].concat());
    let told: Value = serde_json::from_str(&told.out).unwrap_or_else(|error| panic!("{error}: {}", told.err));
    let broken = |side: &str| -> Vec<String> {
        let sets = cut_sets(&told[side]);
        sets.into_iter().filter(|(_, sets)| !sets.is_empty()).map(|(property, _)| property).collect()
    };
    assert_eq!(broken("before"), ["deadlock", "p1", "p2", "p3", "p5", "p7"]);
    // The paper: all but 1, 3 and 5. The lamp of 11 must not light without an error, and the model does not know of ours.
    assert_eq!(broken("after"), ["p1", "p11", "p3", "p5"]);
}

const PLAIN: &str = "chan q = [1] of { byte };
active proctype sender() { q!1 }
active proctype receiver() { byte x; q?x; assert(x == 1) }
";

#[test]
fn a_counterexample_names_its_faults_and_is_replayed_with_them() {
    let folder = Folder::with("faults-replay", "m.pml", PLAIN);
    let told = folder.run(&["faults", "m.pml", "--only", "loss"]);
    assert_eq!(told.code, Some(1), "{}", told.err);
    assert!(told.out.contains("loss:q"), "{}", told.out);
    let replayed = folder.run(&["replay"]);
    assert_eq!(replayed.code, Some(1), "{}", replayed.err);
    assert!(replayed.out.contains("loss:q: `1` is lost"), "{}", replayed.out);
    assert!(folder.run(&["replay", "--to", "2"]).code == Some(0));
}

#[test]
fn check_lets_faults_happen_on_request() {
    let folder = Folder::with("faults-check", "m.pml", PLAIN);
    assert_eq!(folder.run(&["check", "m.pml"]).code, Some(0));
    let told = folder.run(&["check", "m.pml", "--faults", "1", "--only", "corrupt"]);
    assert_eq!(told.code, Some(1), "{}", told.err);
    assert!(told.out.contains("corrupt:q: `1` becomes `0`"), "{}", told.out);
    assert_eq!(folder.run(&["replay"]).code, Some(1));
    assert_eq!(folder.run(&["check", "m.pml", "--faults", "1", "--only", "pause"]).code, Some(0));
    folder.run(&["check", "m.pml", "--only", "loss"]).refused(2, &["--faults 1"]);
    folder.run(&["check", "m.pml", "--faults", "1", "--trail"]).refused(2, &["--trail", "SPIN knows no faults"]);
}

#[test]
fn names_that_mean_nothing_get_a_suggestion() {
    let folder = Folder::with("faults-names", "m.pml", PLAIN);
    let refused = |only: &str, words: &[&str]| folder.run(&["faults", "m.pml", "--only", only]).refused(2, words);
    refused("los", &["`los`", "did you mean `loss`?"]);
    refused("loss:p", &["loss:p", "no `p`", "loss can happen to: q"]);
    refused("stop:reciever", &["stop:reciever", "did you mean `stop:receiver`?"]);
    refused("reorder", &["`reorder` cannot happen to this model", "two messages or more"]);
    refused("early", &["`early` cannot happen", "a `timeout`"]);
    refused("reorder:q", &["reorder:q", "two messages or more"]);
    folder.run(&["faults", "m.pml", "--except", "sendr"]).refused(2, &["sendr", "did you mean `sender`?"]);
    folder.run(&["faults", "m.pml", "--only", "loss", "--except", "q"]).refused(2, &["no fault is left"]);
    folder.run(&["faults", "m.pml", "--faults", "9"]).refused(2, &["9", "0 to 8"]);
    folder.run(&["faults", "m.pml", "--faults", "1,los=1"]).refused(2, &["los", "did you mean `loss`?"]);
    folder.run(&["faults", "m.pml", "--faults", "1,blackout=1"]).refused(2, &["blackout", "loss, duplicate"]);
    folder.run(&["faults", "m.pml", "--after", "[] x"]).refused(2, &["x"]);
    folder.run(&["faults", "m.pml", "--after", "<> (len(q) == 1)"]).refused(2, &["more than one state"]);
    folder.run(&["faults", "m.pml", "--reset", "x"]).refused(2, &["--reset x", "no such global variable"]);
    folder.run(&["faults", "none.pml"]).refused(2, &["none.pml", "No such file"]);
}

#[test]
fn a_campaign_that_is_cut_off_says_what_it_covered() {
    let text = "chan q = [4] of { byte };\nbyte n;\nactive [3] proctype sender() { do :: n < 200 -> n++; q!n od }\n\
                active proctype receiver() { byte x; end: do :: q?x od }\nltl low { [] (n < 210) }\n";
    let folder = Folder::with("faults-cut", "m.pml", text);
    let told = folder.run(&["faults", "m.pml", "--faults", "3", "--mem", "20M", "--check", "ltl", "--no-save"]);
    assert_eq!(told.code, Some(3), "{}{}", told.out, told.err);
    assert!(told.out.contains("none found (not exhausted: memory ran out"), "{}", told.out);
    assert!(told.out.contains("inconclusive"), "{}", told.out);
}

#[test]
fn a_kind_of_property_that_the_model_does_not_have_is_no_verdict() {
    let folder = Folder::with("faults-nothing", "m.pml", PLAIN);
    let told = folder.run(&["faults", "m.pml", "--check", "never", "--no-save"]);
    assert_eq!(told.code, Some(4), "{}{}", told.out, told.err);
    assert!(told.out.contains("--check never: the model has no never claim"), "{}", told.out);
}

#[test]
fn faults_wait_for_their_condition_and_obey_their_budgets() {
    let text = "byte x, done; bit ready;\nactive proctype p() { x = 1; x = 2; ready = 1; done = 1; assert(x == 2) }\n";
    let folder = Folder::with("faults-scope", "m.pml", text);
    let sets = |flags: &str| cut_sets(&campaign(&folder, Path::new("m.pml"), &format!("{flags} --no-save")));
    let one = BTreeSet::from(["stuck:x".to_owned()]);
    assert_eq!(sets("--only stuck:x")["assert"], one);
    assert_eq!(sets("--only stuck:x --after ready==1")["assert"], BTreeSet::new());
    assert_eq!(sets("--only stuck:x,flip:ready --faults 2,stuck=0")["assert"], BTreeSet::new());
}

#[test]
fn what_heals_breaks_liveness_no_longer() {
    let text = "bit done;\nactive proctype worker() { done = 1 }\nactive proctype clock() { do :: skip od }\n\
                ltl works { <> (done == 1) }\n";
    let folder = Folder::with("faults-heal", "m.pml", text);
    let sets = |flags: &str| cut_sets(&campaign(&folder, Path::new("m.pml"), &format!("{flags} --no-save")));
    assert_eq!(sets("--only stop --fair weak")["works"], BTreeSet::from(["stop:worker".to_owned()]));
    assert_eq!(sets("--only stop --heals")["works"], BTreeSet::new());
    assert_eq!(sets("--only pause --fair weak")["works"], BTreeSet::new());
}

#[test]
fn a_fault_that_is_needed_twice_is_told_twice() {
    let text = "chan q = [2] of { byte };\nactive proctype sender() { q!1; q!1 }\n\
                active proctype receiver() { byte x; q?x }\n";
    let folder = Folder::with("faults-twice", "m.pml", text);
    let told = campaign(&folder, Path::new("m.pml"), "--only loss --faults 2 --no-save");
    assert_eq!(cut_sets(&told)["deadlock"], BTreeSet::from(["loss:q + loss:q".to_owned()]));
    let row = &told["properties"][0];
    assert_eq!((&row["tolerates"], &row["exhausted"]), (&Value::from(1), &Value::from(2)));
    assert_eq!(row["cells"][0]["verdict"], "repeated", "once does no harm: {row}");
}

#[test]
fn what_breaks_after_a_repair_is_shown_whatever_the_budget() {
    let text = "chan q = [2] of { byte };\nactive proctype sender() { q!1; q!2 }\n\
                active proctype receiver() { byte x; q?x; if :: q?x :: timeout -> q?x; assert(false) fi }\n";
    let folder = Folder::with("faults-repair", "m.pml", text);
    let told = |budget: &str| campaign(&folder, Path::new("m.pml"), &format!("--only delay,pause --faults {budget}"));
    let (one, two) = (told("1"), told("2"));
    let alone = BTreeSet::from(["delay:q".to_owned(), "pause:sender".to_owned()]);
    for told in [&one, &two] {
        assert_eq!((&told["complete"], &cut_sets(told)["assert"]), (&Value::from(true), &alone), "{told}");
    }
    let id = two["properties"][1]["cut_sets"][0]["counterexample"].as_str().expect("it was saved");
    let replayed = folder.run(&["replay", id]);
    assert!(replayed.out.contains("healed: "), "{}{}", replayed.out, replayed.err);
}

#[test]
fn reports_come_as_text_page_trees_and_side_by_side() {
    let folder = Folder::with("faults-formats", "before.pml", PLAIN);
    let better = PLAIN.replace("q?x; assert(x == 1)", "end: q?x");
    std::fs::write(folder.0.join("after.pml"), better).expect("can write");
    let format = |format: &str| folder.run(&["faults", "before.pml", "--no-save", "--format", format]).out;
    assert!(format("html").starts_with("<!DOCTYPE html>"));
    assert!(format("dot").starts_with("digraph faults {"));
    assert!(format("psa").contains("<define-basic-event name=\"loss-q\">"));
    let told = folder.run(&["faults", "before.pml", "after.pml", "--no-save", "--only", "loss,corrupt"]);
    assert!(told.out.contains("better"), "{}", told.out);
    assert_eq!(told.code, Some(0), "the improved model decides: {}", told.out);
    let written = folder.run(&["faults", "before.pml", "--no-save", "--format", "html", "-o", "page.html"]);
    assert_eq!(written.out, "");
    assert!(folder.0.join("page.html").exists());
    folder.run(&["faults", "before.pml", "after.pml", "--format", "dot"]).refused(2, &["one system at a time"]);
}

#[test]
fn help_tells_every_kind_of_fault() {
    let told: Told = Folder::new("faults-help").run(&["help", "faults"]);
    for class in promela::faults::Class::ALL {
        assert!(told.out.contains(class.name()), "{class} is missing in: {}", told.out);
    }
}
