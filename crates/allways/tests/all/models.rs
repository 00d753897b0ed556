//! Models on which a checker may go wrong: each once, from the command line to the verdict.

use crate::folder::Folder;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

/// A model of the repository.
fn model(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name);
    path.canonicalize().expect("the model is there").display().to_string()
}

fn json(folder: &Folder, arguments: &[&str]) -> serde_json::Value {
    let told = folder.run(&[&["check", "--no-save", "--format", "json"], arguments].concat());
    serde_json::from_str(&told.out).unwrap_or_else(|why| panic!("{why}: {} {}", told.out, told.err))
}

/// The verdict of a property.
fn verdict<'j>(object: &'j serde_json::Value, name: &str) -> &'j str {
    let properties = object["properties"].as_array().expect("a list");
    let property = properties.iter().find(|property| property["name"] == name).expect("the property is there");
    property["verdict"].as_str().expect("a word")
}

#[test]
fn what_a_search_that_was_cut_off_after_a_violation_did_not_decide_does_not_hold() {
    let folder = Folder::new("cut-off");
    let file = model("found/cut_off.pml");
    let object = json(&folder, &[&file, "-DLA=127"]);
    assert_eq!((verdict(&object, "deadlock"), verdict(&object, "assert")), ("violated", "incomplete"), "{object}");
    assert_eq!((&object["complete"], &object["coverage"]["end"]), (&false.into(), &"violation".into()), "{object}");
    assert!(object["coverage"]["unreached"].is_null(), "{object}");
    let told = folder.run(&["check", "--no-save", "--format", "spin", &file, "-DLA=127"]);
    assert!(told.out.contains("Warning: Search not completed"), "{}", told.out);
    let object = json(&folder, &[&file, "-DLA=127", "--keep-going"]);
    assert_eq!((verdict(&object, "assert"), &object["complete"]), ("violated", &true.into()), "{object}");
}

#[test]
fn a_formula_gets_its_share_of_the_time() {
    let folder = Folder::new("share");
    let object = json(&folder, &[&model("found/starved_formula.pml"), "--time", "5s"]);
    assert_eq!((verdict(&object, "l"), &object["complete"]), ("violated", &false.into()), "{object}");
    // A formula that takes for ever leaves time for the rest, too.
    let object = json(&folder, &[&model("found/starved_formula.pml"), "--time", "5s", "--ltl", "[] (done == 0)"]);
    assert_eq!(object["complete"], false, "{object}");
    assert!(object["states"].as_u64().is_some_and(|states| states > 1000), "{object}");
}

#[test]
fn what_was_not_searched_is_not_complete() {
    let folder = Folder::new("not-searched");
    let object = json(&folder, &[&model("examples/peterson.pml"), "--order", "random", "--check", "ltl"]);
    assert_eq!((&object["verdict"], &object["complete"]), (&"inconclusive".into(), &false.into()), "{object}");
}

#[test]
fn a_limit_is_kept_inside_a_long_step() {
    let folder = Folder::new("long-step");
    // Each step of one process takes seconds.
    let file = model("found/long_atomic.pml");
    let mut command = folder.command(&["check", "--no-save", "--format", "json", &file, "-DN=8000", "--time", "1s"]);
    let (done, ended) = channel();
    std::thread::spawn(move || done.send(command.output().expect("the binary runs")));
    let output = ended.recv_timeout(Duration::from_secs(120)).expect("a limit of one second is kept");
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
    assert_eq!(object["complete"], false, "{object}");
    assert_ne!(object["verdict"], "violated", "{object}");
}

#[test]
fn counterexamples_do_not_depend_on_the_number_of_workers() {
    let folder = Folder::new("workers");
    let file = model("examples/bank_transfer.pml");
    let found = |workers: &str, more: &[&str]| {
        let object = json(&folder, &[&[file.as_str(), "-j", workers], more].concat());
        (object["properties"].clone(), object["states"].clone(), object["steps"].clone())
    };
    for more in [&["--faults", "1"][..], &[]] {
        let alone = found("1", more);
        for workers in ["4", "8"] {
            assert_eq!(found(workers, more), alone, "{workers} workers, {more:?}");
        }
    }
    let campaign = |workers: &str| {
        let told = folder.run(&["faults", "--no-save", "--faults", "1", "--format", "json", "-j", workers, &file]);
        let object: serde_json::Value = serde_json::from_str(&told.out).expect("an object");
        object["properties"].clone()
    };
    assert_eq!(campaign("8"), campaign("1"));
}

#[test]
fn a_bound_on_the_depth_covers_all_that_lies_within_it() {
    // The reduction would let P finish first.
    let late = "active proctype P() { byte l; l = 1; l = 2; l = 3; l = 4; (l == 4) }\n\
                active proctype Q() { assert(false) }";
    let folder = Folder::with("depth", "late.pml", late);
    assert_eq!(verdict(&json(&folder, &["late.pml", "--depth", "1"]), "assert"), "violated");
    // The long way comes first, and the cycle does not fit behind it.
    let cycle = "byte x;\nltl p { <>[] (x == 0) }\nactive proctype P() {\n  if :: skip; skip; skip; skip :: skip fi;\n  \
                 do :: x = (x + 1) % 4 od\n}";
    let folder = Folder::with("depth-cycle", "cycle.pml", cycle);
    assert_eq!(verdict(&json(&folder, &["cycle.pml", "--depth", "6"]), "p"), "violated");
    let object = json(&folder, &["cycle.pml", "--depth", "3", "--order", "dfs", "--check", "deadlock"]);
    assert_eq!(verdict(&object, "deadlock"), "incomplete", "{object}");
}

#[test]
fn dead_variables_tell_no_states_apart() {
    let folder = Folder::new("dead");
    let file = model("found/dead_counters.pml");
    let states = |object: serde_json::Value| object["states"].as_u64().expect("a number");
    let lean = states(json(&folder, &[&file]));
    let written = states(json(&folder, &[&file, "--reduction", "off"]));
    assert!(lean * 2 < written, "{lean} of {written} states");
}

#[test]
fn an_assertion_that_fails_in_an_endless_atomic_sequence_is_reported() {
    let text = "byte x;\nactive proctype P() { atomic { skip; L: x = 1 - x; assert(x == 5); goto L } }";
    let folder = Folder::with("endless-atomic", "m.pml", text);
    assert_eq!(verdict(&json(&folder, &["m.pml"]), "assert"), "violated");
}

#[test]
fn promises_about_rendezvous_channels_are_refused() {
    let text = "chan c = [0] of { byte };\nactive proctype P() { xs c; c!1 }\nactive proctype Q() { byte x; c?x }";
    let told = Folder::with("promise", "m.pml", text).run(&["check", "m.pml"]);
    assert_eq!(told.code, Some(2), "{}", told.err);
    assert!(told.err.contains("`xs` on a rendezvous channel"), "{}", told.err);
}

#[test]
fn mistakes_in_messages_and_prints_name_their_place() {
    let send = "typedef S { byte a; byte b };\ninit { chan l = [1] of { byte }; S s; l!s }";
    let told = Folder::with("send", "m.pml", send).run(&["check", "m.pml"]);
    assert_eq!(told.code, Some(2), "{}", told.err);
    assert!(told.err.contains("2 fields are sent") && told.err.contains("m.pml:2"), "{}", told.err);
    let parameter = "typedef S { byte a; byte b };\nchan g = [1] of { byte };\n\
                     proctype P(chan c) { S s; c!s }\ninit { run P(g) }";
    let told = Folder::with("send-late", "m.pml", parameter).run(&["check", "--no-save", "m.pml"]);
    assert_eq!(told.code, Some(1), "{}", told.err);
    assert!(told.out.contains("m.pml:3") && told.out.contains("c!s"), "{}", told.out);
    let told = Folder::with("printf", "m.pml", "init { printf(\"%d %d\\n\", 1) }").run(&["check", "m.pml"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert!(told.err.contains("warning[printf]"), "{}", told.err);
}
