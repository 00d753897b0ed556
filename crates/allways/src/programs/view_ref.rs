//! How programs were looked at, in the words of a counterexample's file.
//!
//! An option is kept under its own key. Those that the format knew before options had keys keep the names that they have
//! in files that people have saved.

use crate::options::{Given, Libc, ViewOptions, given, keys};
use serde_json::Value;
use trace::ProgramsRef;

/// Options that have fields of their own in the file.
const FIELDS: [&str; 7] = ["libc", "timeouts", "never", "peer", "checkpoint", "strict", "connections"];
/// Lists: key of the option, name in the file.
const LISTS: [(&str, &str); 3] = [("break", "breaks"), ("match", "matched"), ("watch", "watched")];
/// Words: key of the option, word, name in the file of what is true then.
const WORDS: [(&str, &str, &str); 3] = [
    ("reads", "short", "short_reads"),
    ("wakes", "longest", "longest_sleeper"),
    ("wakes", "spurious", "spurious_wakes"),
];
/// What the engine wants, which is no option.
const AWAITS: &str = "awaits";

/// What is not as usual, for the file.
pub fn view_ref(view: &ViewOptions, awaits: bool) -> Given {
    let mut given = given(view);
    given.retain(|key, _| !FIELDS.contains(&key.as_str()));
    for (key, name) in LISTS {
        rename(&mut given, key, name);
    }
    let said: Vec<(&str, Value)> =
        ["reads", "wakes"].into_iter().filter_map(|key| Some((key, given.remove(key)?))).collect();
    for (_, _, name) in WORDS.iter().filter(|(key, word, _)| said.contains(&(*key, Value::from(*word)))) {
        given.insert((*name).to_owned(), Value::Bool(true));
    }
    if awaits {
        given.insert(AWAITS.to_owned(), Value::Bool(true));
    }
    given
}

/// How programs were looked at, and whether the engine took loops that only wait as operations.
pub fn view_of(record: &ProgramsRef) -> Result<(ViewOptions, bool), String> {
    let mut given = record.view.clone();
    let awaits = given.remove(AWAITS) == Some(Value::Bool(true));
    for (key, name) in LISTS {
        rename(&mut given, name, key);
    }
    for (key, word, name) in WORDS {
        if given.remove(name) == Some(Value::Bool(true)) {
            given.insert(key.to_owned(), Value::from(word));
        }
    }
    let known = keys::<ViewOptions>();
    if let Some(key) = given.keys().find(|key| !known.contains(key)) {
        return Err(format!("the counterexample was found with `{key}`, which this version of allways does not know"));
    }
    let view: ViewOptions = serde_json::from_value(Value::Object(given))
        .map_err(|error| format!("the counterexample does not say how to look at its programs: {error}"))?;
    let libc = Some(if record.libc == "real" { Libc::Real } else { Libc::Summary });
    Ok((ViewOptions { libc, timeouts: Some(record.timeouts), never: record.never.clone(), ..view }, awaits))
}

fn rename(given: &mut Given, from: &str, to: &str) {
    if let Some(value) = given.remove(from) {
        given.insert(to.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record that keeps how programs are looked at.
    fn record(view: &ViewOptions, awaits: bool) -> ProgramsRef {
        let libc = if view.libc == Some(Libc::Real) { "real" } else { "summary" }.to_owned();
        let (timeouts, never) = (view.timeouts(), view.never.clone());
        ProgramsRef { libc, timeouts, never, view: view_ref(view, awaits), ..ProgramsRef::default() }
    }

    #[test]
    fn what_was_asked_for_comes_back_from_the_file() {
        let table = [
            "",
            "libc = \"real\"\ntimeouts = 2\nnever = [\"a == 1\"]\n",
            "reads = \"short\"\nwakes = \"longest\"\nfine = true\n",
            "reads = \"whole\"\nwakes = \"spurious\"\n",
            "break = [\"f\", \"a.c:3\"]\nonly_breaks = true\nmatch = [\"x\"]\nwatch = [\"y\", \"z\"]\n",
        ];
        for text in table {
            for awaits in [false, true] {
                let view: ViewOptions = toml::from_str(text).expect("it is right");
                let (again, awaited) = view_of(&record(&view, awaits)).expect("it was kept");
                assert_eq!(awaited, awaits);
                assert_eq!(again.checker_options(&[], awaits), view.checker_options(&[], awaits), "{text}");
                let lists =
                    |view: &ViewOptions| [&view.never, &view.breaks, &view.watch, &view.matched].map(Clone::clone);
                assert_eq!(lists(&again), lists(&view), "{text}");
            }
        }
    }

    #[test]
    fn files_of_the_first_version_keep_their_names() {
        let file = serde_json::json!({
            "awaits": true, "short_reads": true, "longest_sleeper": false, "spurious_wakes": true, "fine": false,
            "only_breaks": true, "breaks": ["f"], "matched": ["x"], "watched": ["y"],
        });
        let view: Given = serde_json::from_value(file).expect("an object");
        let (view, awaits) = view_of(&ProgramsRef { view, ..ProgramsRef::default() }).expect("it can be read");
        assert!(awaits && view.short_reads() && view.spurious_wakes() && view.only_breaks && !view.fine);
        assert_eq!(
            (&view.breaks[..], &view.matched[..], &view.watch[..]),
            (&["f".to_owned()][..], &["x".to_owned()][..], &["y".to_owned()][..])
        );
        let again = view_ref(&view, awaits);
        let names: Vec<&str> = again.keys().map(String::as_str).collect();
        assert_eq!(names, ["awaits", "breaks", "matched", "only_breaks", "short_reads", "spurious_wakes", "watched"]);
    }

    #[test]
    fn what_is_as_usual_is_not_kept_and_what_is_unknown_is_refused() {
        assert!(view_ref(&ViewOptions::default(), false).is_empty());
        let view = Given::from_iter([("telepathy".to_owned(), Value::Bool(true))]);
        let told = view_of(&ProgramsRef { view, ..ProgramsRef::default() }).expect_err("nobody knows it");
        assert!(told.contains("`telepathy`"), "{told}");
    }
}
