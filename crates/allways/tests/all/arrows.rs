//! Crates use each other only as ARCHITECTURE.md says.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows of the table in ARCHITECTURE.md: crate and what it may use.
fn allowed() -> BTreeMap<String, BTreeSet<String>> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md is there");
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let uses = cells[3].split(',').map(|name| name.trim().to_owned()).filter(|name| name != "-");
        (cells[1].trim_matches('`').to_owned(), uses.collect())
    };
    rows.map(row).collect()
}

fn metadata() -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["metadata", "--format-version", "1", "--no-deps", "--offline"];
    let output = Command::new(cargo).args(arguments).current_dir(root()).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo prints JSON")
}

/// The crates of the workspace that a crate uses outside its tests.
fn uses(package: &Value, all: &BTreeSet<String>) -> BTreeSet<String> {
    let dependencies = package["dependencies"].as_array().expect("a list");
    let normal = dependencies.iter().filter(|dependency| dependency["kind"].as_str() != Some("dev"));
    normal
        .filter_map(|dependency| dependency["name"].as_str())
        .filter(|name| all.contains(*name))
        .map(str::to_owned)
        .collect()
}

#[test]
fn crates_use_each_other_only_as_the_architecture_says() {
    let (allowed, metadata) = (allowed(), metadata());
    let packages = metadata["packages"].as_array().expect("a list");
    let name = |package: &Value| package["name"].as_str().expect("a name").to_owned();
    let all: BTreeSet<String> = packages.iter().map(name).collect();
    let described: BTreeSet<String> = allowed.keys().cloned().collect();
    assert_eq!(all, described, "the crates and the table of ARCHITECTURE.md differ");
    for package in packages {
        let may = &allowed[&name(package)];
        if may.contains("all") {
            continue;
        }
        let extra: Vec<String> = uses(package, &all).difference(may).cloned().collect();
        assert!(extra.is_empty(), "{} may not use {}", name(package), extra.join(", "));
    }
}
