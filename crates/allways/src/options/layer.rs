//! Options by their keys: which are set, and what the command line says over the file.
//!
//! Layers are merged by key and not field by field, so an option that is added is merged without
//! another line of code. "Unset" is what serde writes for a default: null, false, or an empty list.
//! So a file cannot be overridden by `false` on the command line; options that need that are enums.

use super::Options;
use super::peer::Spec;
use serde::Serialize;
use serde_json::{Map, Value};

/// The options that are set, by their keys.
pub type Given = Map<String, Value>;

/// Whoever sets an option on the command line does not want what the file says about those beside it.
///
/// Otherwise `--engine dpor` over a file with `preemptions = 2` would be refused as a contradiction
/// that the user never wrote.
const RIVALS: [(&str, &[&str]); 6] = [
    ("engine", &["sample", "preemptions", "delays", "reduction", "depth", "runs"]),
    ("sample", &["engine", "preemptions", "delays", "reduction", "depth", "runs"]),
    ("preemptions", &["delays"]),
    ("delays", &["preemptions"]),
    ("fine", &["only_breaks"]),
    ("only_breaks", &["fine"]),
];

impl Options {
    /// These options where they are set, and those of the file where not. What must never be true adds up,
    /// and so do peers; a peer of the file gives way to one of the same name.
    #[must_use]
    pub fn over(&self, file: &Self) -> Self {
        let (own, mut all) = (given(self), given(file));
        for (_, rivals) in RIVALS.iter().filter(|(key, _)| own.contains_key(*key)) {
            all.retain(|key, _| !rivals.contains(&key.as_str()));
        }
        all.extend(own);
        let mut merged: Self = serde_json::from_value(Value::Object(all)).expect("they were options before");
        merged.view.never = [&self.view.never[..], &file.view.never].concat();
        merged.view.finally = [&self.view.finally[..], &file.view.finally].concat();
        merged.view.formulas = [&self.view.formulas[..], &file.view.formulas].concat();
        let is_other = |peer: &&Spec| self.view.peer.iter().all(|own| own.name != peer.name);
        merged.view.peer = self.view.peer.iter().chain(file.view.peer.iter().filter(is_other)).cloned().collect();
        merged
    }
}

/// The options that are set.
pub fn given(options: &impl Serialize) -> Given {
    let mut all = all(options);
    all.retain(|_, value| !is_unset(value));
    all
}

/// The keys of all options of a part.
pub fn keys<T: Serialize + Default>() -> Vec<String> {
    all(&T::default()).into_iter().map(|(key, _)| key).collect()
}

fn all(options: &impl Serialize) -> Given {
    match serde_json::to_value(options) {
        Ok(Value::Object(all)) => all,
        other => unreachable!("options are a struct: {other:?}"),
    }
}

fn is_unset(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(on) => !on,
        Value::Array(list) => list.is_empty(),
        Value::Object(all) => all.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Options {
        toml::from_str(text).expect("it is right")
    }

    #[test]
    fn what_is_set_is_known_by_its_key() {
        let all = given(&options("only_breaks = true\nbreak = [\"f\"]\ntime = \"1m30s\"\nfine = false\nwatch = []\n"));
        assert_eq!(all.keys().collect::<Vec<_>>(), ["break", "only_breaks", "time"]);
        assert!(given(&Options::default()).is_empty());
    }

    #[test]
    fn the_command_line_wins_and_the_file_fills_in() {
        let file = options("time = \"10m\"\nmem = \"2G\"\nreads = \"short\"\ncheck = [\"race\"]\nkeep_going = true\n");
        let line = options("time = \"500ms\"\ncheck = [\"exit\", \"crash\"]\n");
        let meant =
            "time = \"500ms\"\nmem = \"2G\"\nreads = \"short\"\ncheck = [\"exit\", \"crash\"]\nkeep_going = true\n";
        assert_eq!(line.over(&file), options(meant));
        assert_eq!(Options::default().over(&file), file);
        assert_eq!(file.over(&Options::default()), file);
    }

    #[test]
    fn another_engine_does_not_inherit_what_the_file_says_about_its_own() {
        let file = options("preemptions = 2\nreduction = \"off\"\ntimeouts = 1\n");
        assert_eq!(options("engine = \"dpor\"").over(&file), options("engine = \"dpor\"\ntimeouts = 1\n"));
        assert_eq!(options("sample = true").over(&options("engine = \"dpor\"\ndepth = 9")), options("sample = true"));
        assert_eq!(options("delays = 1").over(&options("preemptions = 2")), options("delays = 1"));
        assert!(!options("fine = true").over(&options("only_breaks = true\nbreak = [\"f\"]")).view.only_breaks);
    }

    #[test]
    fn what_must_never_be_true_adds_up() {
        let merged = options("never = [\"a\"]").over(&options("never = [\"b\"]"));
        assert_eq!(merged.view.never, ["a", "b"]);
    }

    #[test]
    fn peers_add_up_and_the_command_line_wins() {
        let file = options("[peer.a]\nlistens = 1\ncommand = \"x\"\n[peer.b]\nlistens = 2\ncommand = \"y\"\n");
        let merged = options("peer = [\"b:3=z\"]").over(&file);
        let told: Vec<String> =
            merged.view.peer.iter().map(|peer| format!("{} {}", peer.name, peer.command[0])).collect();
        assert_eq!(told, ["b z", "a x"]);
    }

    #[test]
    fn a_number_that_a_flag_refuses_is_refused_in_the_file() {
        for wrong in ["jobs = 0", "depth = 0", "runs = 0", "audit = 0", "time = \"soon\"", "mem = \"much\""] {
            assert!(toml::from_str::<Options>(wrong).is_err(), "{wrong}");
        }
    }
}
