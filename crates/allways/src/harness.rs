//! Programs that hold many tests: how they are asked for them, and run with one of them alone.
//!
//! Tests of one program that run one after the other have schedules that multiply, and threads of the harness beside their own.
//! So each test is a check of its own, and what the harness itself does in parallel is switched off.

use std::ffi::{OsStr, OsString};

/// Who runs the tests of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Harness {
    /// Rust's: `cargo test`, `cargo nextest`.
    Libtest,
    /// Go's package `testing`: `go test`.
    Go,
    /// Nobody that we know: the program is one test.
    Other,
}

/// What every program with Rust's harness looks for in its environment, and so has among its strings.
const OF_LIBTEST: &[u8] = b"RUST_TEST_THREADS";

/// Flags by which runners ask programs for the names of their tests: libtest and Catch2, GoogleTest, doctest, Boost.
const LISTS: [&str; 7] =
    ["--list", "--list-tests", "--gtest_list_tests", "--list-test-cases", "-ltc", "--list_content", "-test.list"];

/// Flags of libtest that say which ignored tests run.
const IGNORED: [&str; 2] = ["--ignored", "--include-ignored"];

impl Harness {
    /// The harness in a program that was called like this.
    pub fn find(program: &[u8], arguments: &[OsString]) -> Self {
        if texts(arguments).any(|text| text.starts_with("-test.")) {
            Self::Go
        } else if program.windows(OF_LIBTEST.len()).any(|part| part == OF_LIBTEST) {
            Self::Libtest
        } else {
            Self::Other
        }
    }

    /// Whether this harness has threads of its own, which take part in every schedule.
    pub fn has_threads(self) -> bool {
        self != Self::Other
    }

    /// Arguments that list the tests which these would run, and those of them that would be ignored.
    ///
    /// Nothing if it is one test: nobody knows how to ask, or a Go test is named together with one of its parts.
    pub fn lists(self, arguments: &[OsString]) -> Option<(Vec<OsString>, Option<Vec<OsString>>)> {
        let with = |flags: &[&str]| arguments.iter().cloned().chain(flags.iter().map(OsString::from)).collect();
        match self {
            Self::Libtest => {
                let knows_ignored = texts(arguments).any(|text| IGNORED.contains(&text));
                Some((with(&["--list"]), (!knows_ignored).then(|| with(&["--list", "--ignored"]))))
            }
            Self::Go => {
                let chosen = texts(arguments).filter_map(|text| text.strip_prefix("-test.run=")).last().unwrap_or(".");
                (!chosen.contains('/')).then(|| (vec![format!("-test.list={chosen}").into()], None))
            }
            Self::Other => None,
        }
    }

    /// The names in such a list.
    pub fn names(self, list: &str) -> Vec<String> {
        let name = |line: &str| match self {
            Self::Libtest => line.strip_suffix(": test").map(str::to_owned),
            Self::Go => line.starts_with("Test").then(|| line.to_owned()),
            Self::Other => None,
        };
        list.lines().filter_map(name).collect()
    }

    /// Arguments that run one test alone, and nothing beside it.
    pub fn alone(self, name: &str, arguments: &[OsString]) -> Vec<OsString> {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        match self {
            Self::Libtest => {
                // The message of a panic titles its report; the harness would keep it to itself.
                words(&[name, "--exact", "--include-ignored", "--test-threads=1", "--nocapture"])
            }
            Self::Go => {
                let mut own = self.unparallel(arguments);
                own.push(format!("-test.run=^{name}$").into());
                own
            }
            Self::Other => arguments.to_vec(),
        }
    }

    /// The arguments of a program that is one test, without what would only add schedules.
    ///
    /// Go's limit of time is a timer, which fires as soon as all goroutines wait: what would be told as a deadlock is a panic then.
    pub fn unparallel(self, arguments: &[OsString]) -> Vec<OsString> {
        if self != Self::Go {
            return arguments.to_vec();
        }
        let is_ours = |text: &str| ["-test.timeout=", "-test.parallel="].iter().any(|flag| text.starts_with(flag));
        let kept = arguments.iter().filter(|word| !word.to_str().is_some_and(is_ours)).cloned();
        kept.chain(["-test.timeout=0", "-test.parallel=1"].map(OsString::from)).collect()
    }
}

/// Whether a program is asked for its tests, and not to run them.
pub fn asks_for_list(arguments: &[OsString]) -> bool {
    texts(arguments).any(|text| LISTS.contains(&text.split('=').next().unwrap_or(text)))
}

fn texts(arguments: &[OsString]) -> impl Iterator<Item = &str> {
    arguments.iter().map(OsString::as_os_str).filter_map(OsStr::to_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn harnesses_are_known_by_their_marks() {
        assert_eq!(Harness::find(b"..RUST_TEST_THREADS..", &[]), Harness::Libtest);
        assert_eq!(Harness::find(b"....", &words("-test.paniconexit0 -test.timeout=10m0s")), Harness::Go);
        assert_eq!(Harness::find(b"....", &words("--test")), Harness::Other);
    }

    #[test]
    fn runners_ask_for_lists_in_many_words() {
        for text in ["--list --format terse", "--gtest_list_tests", "-test.list=.", "--list-tests --reporter xml"] {
            assert!(asks_for_list(&words(text)), "{text}");
        }
        assert!(!asks_for_list(&words("listing --exact --nocapture --help")));
    }

    #[test]
    fn each_test_of_libtest_runs_alone() {
        let given = words("transfer --skip slow --nocapture -q");
        let (all, ignored) = Harness::Libtest.lists(&given).expect("it can be asked");
        assert_eq!(all, words("transfer --skip slow --nocapture -q --list"));
        assert_eq!(ignored, Some(words("transfer --skip slow --nocapture -q --list --ignored")));
        assert_eq!(Harness::Libtest.lists(&words("--ignored")).expect("it can be asked").1, None);
        let list = "a::b: test\nc: benchmark\n\n1 test, 1 benchmark\n";
        assert_eq!(Harness::Libtest.names(list), ["a::b"]);
        let alone = Harness::Libtest.alone("a::b", &given);
        assert_eq!(alone, words("a::b --exact --include-ignored --test-threads=1 --nocapture"));
    }

    #[test]
    fn each_test_of_go_runs_alone() {
        let given = words("-test.paniconexit0 -test.timeout=10m0s -test.run=Pay");
        assert_eq!(Harness::Go.lists(&given), Some((words("-test.list=Pay"), None)));
        assert_eq!(Harness::Go.lists(&words("-test.run=Pay/twice")), None);
        assert_eq!(Harness::Go.names("TestPay\nExampleX\nok bank 0.1s\n"), ["TestPay"]);
        let alone = "-test.paniconexit0 -test.run=Pay -test.timeout=0 -test.parallel=1 -test.run=^TestPay$";
        assert_eq!(Harness::Go.alone("TestPay", &given), words(alone));
    }
}
