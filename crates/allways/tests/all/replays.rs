//! Every counterexample of the bundled programs and models shows the same failure again: from its file, in a fresh folder, and
//! whatever the number of workers that found it.

use crate::folder::{Folder, Told};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

/// Bundled programs with a bug, and how they are built.
const PROGRAMS: [(&str, &[&str]); 9] = [
    ("phil", &["-DN=2"]),
    ("bbuf", &["-DNP=2", "-DNC=2", "-DITEMS=1", "-DBUG_IF"]),
    ("bbuf", &["-DNP=2", "-DNC=2", "-DITEMS=1", "-DBUG_SIGNAL"]),
    ("rax", &["-DROUNDS=1", "-DCOND_OUTER"]),
    ("rax_sysv", &["-DROUNDS=1", "-DCOND_OUTER"]),
    ("chat", &["-DCLIENTS=2", "-DBUG_INIT"]),
    ("chat", &["-DCLIENTS=2", "-DBUG_SYNC"]),
    ("treiber", &["-DT=2", "-DK=1", "-DBUG"]),
    ("peterson", &["-DK=1", "-DBUG"]),
];

/// The saved counterexamples of a folder: their files by their ids.
fn saved(folder: &Folder) -> BTreeMap<String, serde_json::Value> {
    let entries = fs::read_dir(folder.0.join(".allways")).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| {
        let text = fs::read_to_string(entry.path().join("counterexample.json")).ok()?;
        let id = entry.file_name().into_string().expect("ids are ASCII");
        Some((id, serde_json::from_str(&text).expect("it is JSON")))
    });
    files.collect()
}

/// What stays the same of counterexamples that were found by different numbers of workers.
fn essence(all: &BTreeMap<String, serde_json::Value>) -> Vec<String> {
    let one = |(id, file): (&String, &serde_json::Value)| {
        format!("{id} {} {} {}", file["message"], file["schedule"], file["programs"]["end"])
    };
    all.iter().map(one).collect()
}

fn replayed(elsewhere: &Folder, id: &str, file: &serde_json::Value) -> Told {
    let name = format!("{id}.json");
    fs::write(elsewhere.0.join(&name), file.to_string()).expect("the folder takes files");
    // From elsewhere, what the programs read has to be named.
    match file["programs"]["services"][0]["directory"].as_str() {
        Some(root) => elsewhere.run(&["replay", &name, "--root", root]),
        None => elsewhere.run(&["replay", &name]),
    }
}

#[test]
fn every_counterexample_of_the_bundled_programs_replays_to_the_same_state_elsewhere() {
    for (number, (name, flags)) in PROGRAMS.into_iter().enumerate() {
        let folder = Folder::new(&format!("replays-{number}"));
        let source = root().join(format!("programs/{name}.c"));
        let mut gcc = Command::new("gcc");
        gcc.args(["-g", "-O1", "-pthread", "-o", name]).args(flags).arg(&source).current_dir(&folder.0);
        assert!(gcc.status().expect("gcc runs").success(), "{name} {flags:?}");
        let command = format!("./{name}");
        let told = folder.run(&["check", "-j1", "--", &command]);
        assert_eq!(told.code, Some(1), "{name} {flags:?}: {}{}", told.out, told.err);
        let one = saved(&folder);
        assert!(!one.is_empty(), "{name} {flags:?}: {}", told.err);
        if name != "chat" {
            // Of the largest one search is enough.
            fs::remove_dir_all(folder.0.join(".allways")).expect("it is there");
            folder.run(&["check", "-j2", "--", &command]);
            assert_eq!(essence(&one), essence(&saved(&folder)), "{name} {flags:?}");
        }
        let elsewhere = Folder::new(&format!("replays-{number}-elsewhere"));
        for (id, file) in &one {
            let told = replayed(&elsewhere, id, file);
            let end = file["programs"]["end"].as_str().expect("programs have an end");
            let same = format!("the same failure in the same state (fingerprint {end})");
            assert!(told.code == Some(1) && told.err.contains(&same), "{name} {id}: {}{}", told.out, told.err);
        }
    }
}

#[test]
fn every_counterexample_of_the_bundled_models_replays_to_the_same_story_elsewhere() {
    let models = fs::read_dir(root().join("models/examples")).expect("examples are there").flatten();
    let mut found = 0;
    for model in models.map(|entry| entry.path().display().to_string()) {
        let stem = Path::new(&model).file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        let folder = Folder::new(&format!("replays-{stem}"));
        folder.run(&["check", "-j1", &model]);
        let one = saved(&folder);
        let elsewhere = Folder::new(&format!("replays-{stem}-elsewhere"));
        for (id, file) in &one {
            let told = replayed(&elsewhere, id, file);
            let before = folder.run(&["report", id]);
            assert_eq!((told.code, &told.out), (Some(1), &before.out), "{model} {id}: {}", told.err);
            found += 1;
        }
        let several = Folder::new(&format!("replays-{stem}-several"));
        several.run(&["check", "-j2", &model]);
        for (id, file) in &saved(&several) {
            assert_eq!(replayed(&elsewhere, id, file).code, Some(1), "{model} {id}");
        }
        assert_eq!(one.len(), saved(&several).len(), "{model}");
    }
    assert!(found >= 5, "only {found} counterexamples");
}
