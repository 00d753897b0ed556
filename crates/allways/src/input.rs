//! What can be said about a file before anybody parses it.
//!
//! A wrong file is the commonest mistake at a first attempt, and a parser's "unexpected character"
//! the least helpful answer to it.

use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// The largest model that is read, in bytes.
const SIZE_MAX: u64 = 16 << 20;

/// Checks that a path names a file that may be a model.
///
/// # Errors
/// With the cause and a way out.
pub fn look_at(path: &Path) -> Result<(), String> {
    let shown = path.display();
    let data = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if data.is_dir() {
        return Err(format!("`{shown}` is a directory\n  = help: name a file in it, such as {}", example_in(path)));
    }
    if data.len() > SIZE_MAX {
        let (size, limit) = (report::bytes(data.len()), SIZE_MAX >> 20);
        return Err(format!(
            "`{shown}` is too large for a model: {size}\n  = help: models of up to {limit} MB are read; is it another file?"
        ));
    }
    if !data.is_file() {
        // What a pipe gives can be read once only, by whoever parses it; a device may never end.
        let pipe = !data.file_type().is_char_device() && !data.file_type().is_block_device();
        let help = "  = help: name a file that holds a model";
        return if pipe { Ok(()) } else { Err(format!("`{shown}` is a device, not a file\n{help}")) };
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| unreadable(path, &error))?;
    // Some file systems make files up while they are read, without a length.
    file.take(SIZE_MAX + 1).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    look_at_bytes(path, &bytes)
}

fn look_at_bytes(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let shown = path.display();
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(format!(
            "`{shown}` is empty\n  = help: a model needs at least one process: active proctype main() {{ skip }}"
        ));
    }
    if bytes.starts_with(b"\x7fELF") {
        let program = started(path);
        return Err(format!(
            "`{shown}` is a program, not a model\n  = help: allways check -- {program}, or allways run -- {program}"
        ));
    }
    if let Some((language, compiler)) = language(path) {
        let program = path.with_extension("");
        return Err(format!(
            "`{shown}` is a program in {language}, not a model\n  = help: build it first: {compiler} -o {} {shown} && allways check -- {}",
            program.display(),
            started(&program)
        ));
    }
    if bytes.contains(&0) {
        return Err(format!("`{shown}` is not text\n  = help: a model is a text file; this one has zero bytes in it"));
    }
    // Other encodings are let through: old models have Latin-1 comments, and only comments and strings can be affected.
    Ok(())
}

/// The language of a source file, by its name, and what builds it.
fn language(path: &Path) -> Option<(&'static str, &'static str)> {
    const LANGUAGES: [(&str, &str, &str); 6] = [
        ("c", "C", "gcc -g -pthread"),
        ("cc", "C++", "g++ -g -pthread"),
        ("cpp", "C++", "g++ -g -pthread"),
        ("cxx", "C++", "g++ -g -pthread"),
        ("rs", "Rust", "rustc -g"),
        ("go", "Go", "go build"),
    ];
    let extension = path.extension()?;
    LANGUAGES.iter().find(|(known, ..)| extension == *known).map(|(_, language, compiler)| (*language, *compiler))
}

/// A program as a shell starts it: in this folder only with a path.
fn started(program: &Path) -> String {
    let here = if program.components().count() == 1 { "./" } else { "" };
    format!("{here}{}", program.display())
}

fn unreadable(path: &Path, error: &std::io::Error) -> String {
    let shown = path.display();
    let help = match error.kind() {
        std::io::ErrorKind::NotFound => neighbours(path),
        std::io::ErrorKind::PermissionDenied => format!("  = help: allow reading it: chmod +r {shown}"),
        _ => return format!("cannot read `{shown}`: {error}"),
    };
    format!("cannot read `{shown}`: {error}\n{help}").trim_end().to_owned()
}

/// The models beside a file that does not exist.
fn neighbours(path: &Path) -> String {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut found = models_in(parent);
    let wanted = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let stem = |name: &String| Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    found.sort_by_key(|name| std::cmp::Reverse(likeness(&wanted, &stem(name))));
    match found.as_slice() {
        [] if !parent.exists() => format!("  = help: there is no folder `{}` either", parent.display()),
        [] => {
            let folder =
                if parent == Path::new(".") { "this folder".to_owned() } else { format!("`{}`", parent.display()) };
            format!(
                "  = help: no model is in {folder}: give the path of one, such as models/bank.pml, or go where it is"
            )
        }
        some => format!("  = help: there is {}", some.iter().take(5).cloned().collect::<Vec<_>>().join(", ")),
    }
}

/// How many characters two names share at their beginnings and ends.
fn likeness(one: &str, other: &str) -> usize {
    let same = |pair: &(char, char)| pair.0 == pair.1;
    let front = one.chars().zip(other.chars()).take_while(same).count();
    front + one.chars().rev().zip(other.chars().rev()).take_while(same).count()
}

fn example_in(directory: &Path) -> String {
    models_in(directory).into_iter().next().unwrap_or_else(|| directory.join("model.pml").display().to_string())
}

fn models_in(directory: &Path) -> Vec<String> {
    let is_model =
        |path: &Path| path.extension().is_some_and(|ending| ["pml", "prom", "spin"].iter().any(|e| ending == *e));
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path()).filter(|path| is_model(path));
    let shown = |path: &Path| path.strip_prefix(".").unwrap_or(path).display().to_string();
    let mut names: Vec<String> = paths.map(|path| shown(&path)).collect();
    names.sort();
    names
}
