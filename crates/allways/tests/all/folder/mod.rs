//! A folder for a test, and the program run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of its own for each test.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("allways-cli-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("can make a folder");
        Self(path)
    }

    #[allow(dead_code, reason = "not every file of tests needs a file")]
    pub fn with(name: &str, file: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = Self::new(name);
        fs::write(folder.0.join(file), content).expect("can write a file");
        folder
    }

    /// Compiles a bundled program (`programs/...`), or a text, into this folder.
    #[allow(dead_code, reason = "not every file of tests compiles programs")]
    pub fn compile(&self, name: &str, flags: &[&str], source: &str) {
        let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
        let text = self.0.join(format!("{name}.c"));
        match source.strip_prefix("programs/") {
            Some(file) => drop(fs::copy(bundled.join(file), &text).expect("the program is there")),
            None => fs::write(&text, source).expect("the folder takes files"),
        }
        let mut gcc = Command::new("gcc");
        let include = format!("-I{}", bundled.display());
        gcc.args(["-g", "-O1", "-pthread", &include, "-o", name, &format!("{name}.c")]).args(flags);
        let output = gcc.current_dir(&self.0).output().expect("gcc runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    #[allow(dead_code, reason = "not every file of tests waits for the end")]
    pub fn run(&self, arguments: &[&str]) -> Told {
        Told::new(self.command(arguments).output().expect("the binary runs"))
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_allways"));
        command.args(arguments).current_dir(&self.0);
        command.env("COLUMNS", "100").env("LC_ALL", "C.UTF-8").env_remove("NO_COLOR");
        command
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a run said.
pub struct Told {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Told {
    #[allow(dead_code, reason = "not every file of tests waits for the end")]
    pub fn new(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Expects an exit code, nothing on stdout, and words on stderr.
    #[allow(dead_code, reason = "not every file of tests is about refusals")]
    pub fn refused(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{}", self.err);
        assert_eq!(self.out, "", "data goes to stdout, messages do not");
        for word in words {
            assert!(self.err.contains(word), "`{word}` is missing in: {}", self.err);
        }
    }
}

/// One blank for several: how wide a column is depends on what stands below and above.
#[allow(dead_code, reason = "not every file of tests is about reports")]
fn unaligned(text: &str) -> String {
    let mut unaligned = String::new();
    text.chars().for_each(|c| {
        if c != ' ' || !unaligned.ends_with(' ') {
            unaligned.push(c);
        }
    });
    unaligned
}

/// Expects an exit code, and words on stdout or stderr, however wide the columns are.
#[allow(dead_code, reason = "not every file of tests is about reports")]
pub fn says(told: &Told, code: i32, words: &[&str]) {
    assert_eq!(told.code, Some(code), "{}{}", told.out, told.err);
    let (out, err) = (unaligned(&told.out), unaligned(&told.err));
    for word in words {
        let wanted = unaligned(word);
        assert!(out.contains(&wanted) || err.contains(&wanted), "`{word}` is missing in: {}{}", told.out, told.err);
    }
}
