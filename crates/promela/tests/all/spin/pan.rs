//! SPIN at work: a folder of its own, the verifier built in it, and what it says.

use std::path::PathBuf;
use std::process::Command;

/// A folder in which SPIN may leave its files.
pub struct Workshop(PathBuf);

/// What pan said in its closing lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// Distinct states.
    pub states: u64,
    /// Transitions, the one to the initial state included.
    pub transitions: u64,
    /// The errors in pan's words, separated by ` ; `.
    pub kinds: String,
    /// Whether pan looked at everything.
    pub complete: bool,
}

impl Workshop {
    /// A folder with a model in it, which is called `m.pml`.
    pub fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("allways-spin-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("can make a folder");
        let workshop = Self(path);
        workshop.write("m.pml", text);
        workshop
    }

    /// A file in the folder.
    pub fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    /// Writes a file.
    pub fn write(&self, file: &str, text: &str) {
        std::fs::write(self.path(file), text).expect("can write a file");
    }

    /// Runs a program; what it said, on both outputs.
    pub fn run(&self, program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program).args(arguments).current_dir(&self.0).output();
        let output =
            output.unwrap_or_else(|error| panic!("{program}: {error}; install Debian's packages spin and gcc"));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        text(&output.stdout) + &text(&output.stderr)
    }

    /// Generates and compiles the verifier.
    ///
    /// # Errors
    /// What SPIN has against the model.
    pub fn build(&self, spin: &[&str], gcc: &[&str]) -> Result<(), String> {
        let said = self.run("spin", &[spin, &["-a", "m.pml"]].concat());
        if !self.path("pan.c").exists() {
            return Err(said);
        }
        let said = self.run("gcc", &[&["-w", "-O0", "-DMEMLIM=2000", "-o", "pan", "pan.c"], gcc].concat());
        assert!(self.path("pan").exists(), "gcc: {said}");
        Ok(())
    }

    /// Runs the verifier; nothing if it takes too long, as it does on endless loops inside `atomic`.
    pub fn verify(&self, arguments: &[&str]) -> Option<Report> {
        let said = self.run("timeout", &[&["20", "./pan"], arguments].concat());
        said.contains("transitions (=").then(|| report(&said))
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn report(said: &str) -> Report {
    let before = |words: &str| {
        let line = said.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("no `{words}` in: {said}"));
        line.split_whitespace().next().and_then(|word| word.parse().ok()).expect("a number")
    };
    Report {
        states: before("states, stored"),
        transitions: before("transitions (="),
        kinds: said.lines().filter_map(error).collect::<Vec<_>>().join(" ; "),
        complete: !said.contains("Search not completed") && !said.contains("max search depth too small"),
    }
}

/// The error in a line such as `pan:1: assertion violated (x==1) (at depth 3)`.
fn error(line: &str) -> Option<&str> {
    let (number, words) = line.strip_prefix("pan:")?.split_once(": ")?;
    number.parse::<u32>().ok()?;
    Some(words.split(" (at depth").next().unwrap_or(words))
}

#[test]
fn the_closing_lines_of_pan_are_understood() {
    let said = "pan:1: invalid end state (at depth 3)\npan: wrote m.pml.trail\nState-vector 20 byte, errors: 1\n       \
                10 states, stored\n       11 transitions (= stored+matched)\n";
    let expected = Report { states: 10, transitions: 11, kinds: "invalid end state".to_owned(), complete: true };
    assert_eq!(report(said), expected);
}
