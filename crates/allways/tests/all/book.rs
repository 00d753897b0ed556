//! The manual is a book: every page is in its table of contents, every link leads somewhere, and the tool's own pages are complete.

use crate::folder::{Folder, says};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where files of the repository are that are no part of the book.
const REPOSITORY: &str = "https://github.com/allways/allways/blob/main/";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

/// All pages below a folder of the repository.
fn pages(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join(folder)).expect("it can be read").flatten() {
        let path = entry.path();
        let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
        match path.is_dir() {
            true => found.extend(pages(&name)),
            false if name.ends_with(".md") => found.push(path),
            false => {}
        }
    }
    found
}

/// What a page links to: the words in `](...)` outside of code.
fn links(text: &str) -> Vec<String> {
    let mut is_code = false;
    let prose = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    let of_line = |line: &str| -> Vec<String> {
        let outside: String = line.split('`').step_by(2).collect();
        outside.split("](").skip(1).filter_map(|rest| Some(rest.split(')').next()?.to_owned())).collect()
    };
    prose.flat_map(of_line).collect()
}

/// The anchor of a heading, as GitHub and mdbook make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = kept.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// Why a link of a page leads nowhere.
fn dead(page: &Path, link: &str) -> Option<String> {
    let (file, section) = link.split_once('#').unwrap_or((link, ""));
    let target = match file.strip_prefix(REPOSITORY) {
        Some(path) => root().join(path),
        None if file.contains("://") => return None,
        None if file.is_empty() => page.to_owned(),
        None => page.parent().expect("it is in a folder").join(file),
    };
    let has_section = || {
        let text = fs::read_to_string(&target).unwrap_or_default();
        text.lines().any(|line| line.starts_with('#') && anchor(line) == section)
    };
    let is_there =
        target.exists() && (section.is_empty() || target.extension().is_none_or(|kind| kind != "md") || has_section());
    (!is_there).then(|| format!("{}: {link}", page.display()))
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).expect("it is there");
    let listed: BTreeSet<PathBuf> = links(&summary).iter().map(|link| root().join("docs").join(link)).collect();
    let mut all: BTreeSet<PathBuf> = pages("docs").into_iter().collect();
    all.remove(&root().join("docs/SUMMARY.md"));
    assert_eq!(listed, all);
    let book = fs::read_to_string(root().join("book.toml")).expect("it is there");
    assert!(book.contains("src = \"docs\""), "{book}");
}

#[test]
fn no_link_is_dead() {
    let own = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root().join(name));
    let all: Vec<PathBuf> =
        own.into_iter().chain(pages("docs")).chain(pages("programs")).chain(pages("models")).collect();
    let of_page = |page: &PathBuf| {
        let text = fs::read_to_string(page).expect("a text");
        let found: Vec<String> = links(&text).iter().filter_map(|link| dead(page, link)).collect();
        found
    };
    let found: Vec<String> = all.iter().flat_map(of_page).collect();
    assert!(all.len() > 30 && found.is_empty(), "dead links:\n{}", found.join("\n"));
}

/// In a book, a page outside of it cannot be reached by a path.
#[test]
fn pages_of_the_book_stay_in_it() {
    for page in pages("docs") {
        let text = fs::read_to_string(&page).expect("a text");
        for link in links(&text).iter().filter(|link| !link.contains("://") && !link.starts_with('#')) {
            let target = page.parent().expect("a folder").join(link.split('#').next().expect("a part"));
            let inside = target.canonicalize().is_ok_and(|target| target.starts_with(root().join("docs")));
            assert!(inside, "{}: {link}", page.display());
        }
    }
}

#[test]
fn what_is_installed_beside_the_binary_is_complete() {
    let folder = Folder::new("manual");
    says(&folder.run(&["man", "--all", "."]), 0, &[]);
    let help = folder.run(&["--help"]).out;
    let verbs = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let verbs: Vec<&str> = verbs
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(verbs.contains(&"test") && verbs.len() > 12, "{help}");
    let main = fs::read_to_string(folder.0.join("allways.1")).expect("it is written");
    for verb in verbs.into_iter().filter(|verb| *verb != "help") {
        assert!(main.contains(&format!("allways\\-{verb}(1)")), "allways(1) does not name {verb}");
        let page = fs::read_to_string(folder.0.join(format!("allways-{verb}.1"))).expect("a page for each verb");
        assert!(page.contains(".SH SYNOPSIS") && page.contains("Examples:"), "{page}");
    }
    folder.run(&["man", "--all", "nowhere/at/all"]).refused(2, &["nowhere/at/all"]);
    let script = root().join("scripts/package");
    let written =
        std::process::Command::new(script).arg("--files").arg(env!("CARGO_BIN_EXE_allways")).arg(&folder.0).status();
    assert!(written.expect("it runs").success());
    for name in ["man/allways-check.1", "allways.bash", "_allways", "allways.fish"] {
        let text = fs::read_to_string(folder.0.join(name)).expect("it is written");
        assert!(text.contains("preemptions"), "{name}");
    }
}
