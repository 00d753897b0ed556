//! Modules of a crate that import each other in a circle: a ratchet. The numbers may only fall.
//!
//! A module is a file. It imports another one where its code says `crate::`, `super::` or `self::` and a path into that
//! file. What a folder's `mod.rs` or a `lib.rs` only hands on (`pub use`) is no import.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The largest knot of each crate that has one, in modules.
const KNOTS: &[(&str, usize)] = &[("checker", 2), ("debuginfo", 3), ("replay", 2), ("world", 2), ("x86", 2)];

/// A module's path in its crate: `["system", "step"]`.
type Module = Vec<String>;

fn sources(crate_name: &str) -> BTreeMap<Module, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(crate_name).join("src");
    let mut found = BTreeMap::new();
    collect(&root, &root, &mut found);
    found
}

fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<Module, String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(root, &path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.insert(module_of(root, &path), fs::read_to_string(&path).expect("a text"));
        }
    }
}

fn module_of(root: &Path, path: &Path) -> Module {
    let relative: PathBuf = path.strip_prefix(root).expect("it lies there").with_extension("");
    let mut names: Module = relative.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    names.pop_if(|last| matches!(last.as_str(), "mod" | "lib" | "main"));
    names
}

/// The code of a module, without comments, its tests, and what it only hands on.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut kept = String::new();
    let mut hands_on = false;
    for line in text.lines().map(|line| line.split("//").next().unwrap_or_default()) {
        hands_on |= line.trim_start().starts_with("pub use ");
        if !hands_on {
            kept += line;
            kept.push('\n');
        }
        hands_on &= !line.contains(';');
    }
    kept
}

/// The paths that a module names, from the root of its crate; `use a::{b, c::d}` names two.
fn paths(own: &Module, text: &str) -> BTreeSet<Module> {
    let mut found = BTreeSet::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in text.match_indices(start) {
            let is_inner =
                text[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == ':');
            if !is_inner {
                let (base, rest) = based(own, &text[at..]);
                names(&base, rest, &mut found);
            }
        }
    }
    found
}

/// Where a path begins, and what follows.
fn based<'a>(own: &Module, mut text: &'a str) -> (Module, &'a str) {
    let mut base = own.clone();
    if let Some(rest) = text.strip_prefix("crate::") {
        return (Module::new(), rest);
    }
    if let Some(rest) = text.strip_prefix("self::") {
        return (base, rest);
    }
    while let Some(rest) = text.strip_prefix("super::") {
        base.pop();
        text = rest;
    }
    (base, text)
}

/// Adds the paths that a tree of names stands for.
fn names(base: &Module, text: &str, found: &mut BTreeSet<Module>) {
    let mut path = base.clone();
    let mut rest = text;
    loop {
        if let Some(inside) = rest.strip_prefix('{') {
            return branches(inside).into_iter().for_each(|branch| names(&path, branch, found));
        }
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
        path.push(rest[..end].to_owned());
        match rest[end..].strip_prefix("::") {
            Some(more) => rest = more,
            None => break,
        }
    }
    found.insert(path);
}

/// The parts of `a, b::{c, d}, e} ...` up to the closing brace.
fn branches(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => {
                found.push(text[start..at].trim());
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.retain(|branch| !branch.is_empty());
    found
}

/// Which modules each module imports.
fn imports(sources: &BTreeMap<Module, String>) -> BTreeMap<&Module, BTreeSet<&Module>> {
    let target = |mut path: Module| loop {
        if let Some((known, _)) = sources.get_key_value(&path) {
            return Some(known);
        }
        path.pop()?;
    };
    let of = |own: &Module, text: &str| {
        let targets = paths(own, &code(text)).into_iter().filter_map(target);
        targets.filter(|other| *other != own).collect()
    };
    sources.iter().map(|(own, text)| (own, of(own, text))).collect()
}

/// Everything that a module leads to.
fn reachable<'a>(from: &'a Module, imports: &BTreeMap<&'a Module, BTreeSet<&'a Module>>) -> BTreeSet<&'a Module> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&Module> = imports[from].iter().copied().collect();
    while let Some(next) = open.pop() {
        if seen.insert(next) {
            open.extend(imports[next].iter().copied());
        }
    }
    seen
}

/// The modules of the largest circle.
fn largest_knot(crate_name: &str) -> Vec<String> {
    let sources = sources(crate_name);
    let imports = imports(&sources);
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        imports.keys().map(|module| (*module, reachable(module, &imports))).collect();
    let knot = |module: &&Module| -> Vec<String> {
        let others = reached[module].iter().filter(|other| reached[**other].contains(module));
        others.map(|other| other.join("::")).collect()
    };
    imports.keys().map(knot).max_by_key(Vec::len).unwrap_or_default()
}

#[test]
fn modules_that_import_each_other_become_fewer() {
    let crates = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).expect("there are crates");
    let mut names: Vec<String> =
        crates.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let mut found = Vec::new();
    for name in &names {
        let knot = largest_knot(name);
        if !knot.is_empty() {
            found.push((name.as_str(), knot));
        }
    }
    let sizes: Vec<(&str, usize)> = found.iter().map(|(name, knot)| (*name, knot.len())).collect();
    let grown = found.iter().filter(|(name, knot)| {
        KNOTS.iter().find(|(known, _)| known == name).is_none_or(|(_, most)| knot.len() > *most)
    });
    let grown: Vec<String> = grown.map(|(name, knot)| format!("{name}: {}", knot.join(", "))).collect();
    assert!(grown.is_empty(), "these import each other in a circle:\n{}", grown.join("\n"));
    assert_eq!(sizes, KNOTS, "a knot is smaller than the table says: lower the number");
}

#[test]
fn a_circle_of_imports_is_found() {
    let own = vec!["a".to_owned(), "b".to_owned()];
    let text = "use crate::x::{self, Y, z::{W, V}};\nuse super::c::D; // crate::not\npub use crate::gone::E;\nfn f() { self::g(); }";
    let found: Vec<String> = paths(&own, &code(text)).into_iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["a::b::g", "a::c::D", "x::Y", "x::self", "x::z::V", "x::z::W"]);
}
