//! A file that was not what somebody took it for, in words.
//!
//! The class of errors is known as time of check to time of use (CWE-367).

use trace::{FileDeed, FileVerb, MistakenFile};

/// What to do about it.
const HELP: &str = "help: what a name stands for can change between two calls; only a single call can look and act at once \
                    (link, rename, open with O_EXCL), or a lock that everybody takes";

/// Who acted upon another file than it had looked at, why, and what to do about it.
#[must_use]
pub fn mistaken_notes(mistaken: &MistakenFile) -> Vec<String> {
    let MistakenFile { name, look, deed, between } = mistaken;
    let text = format!(
        "{} {} \"{name}\" in step {} and {} it in step {}, when it was another file: {}",
        look.who.name,
        verb(look.verb),
        look.step,
        verb(deed.verb),
        deed.step,
        deeds(between)
    );
    vec![text, HELP.to_owned()]
}

/// Who did what, each actor once as long as it is the same.
fn deeds(all: &[FileDeed]) -> String {
    let mut told = String::new();
    let mut last = None;
    for deed in all {
        match last.replace(deed.who.actor) {
            Some(actor) if actor == deed.who.actor => told += " and",
            Some(_) => told += &format!(", {}", deed.who.name),
            None => told += &deed.who.name,
        }
        told += &format!(" {} it in step {}", verb(deed.verb), deed.step);
    }
    told
}

fn verb(verb: FileVerb) -> &'static str {
    match verb {
        FileVerb::LookedAt => "looked at",
        FileVerb::LookedFor => "looked for",
        FileVerb::Opened => "opened",
        FileVerb::Found => "found",
        FileVerb::Made => "made",
        FileVerb::Removed => "removed",
        FileVerb::Replaced => "replaced",
        FileVerb::Changed => "changed",
        FileVerb::Used => "used",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::ThreadRef;

    #[test]
    fn what_others_did_between_look_and_deed_is_told_in_order() {
        let deed = |name: &str, verb, step| {
            let who = ThreadRef { actor: u32::from(name.as_bytes()[0]), name: name.to_owned() };
            FileDeed { who, verb, step }
        };
        let mistaken = MistakenFile {
            name: "lock".to_owned(),
            look: deed("a", FileVerb::LookedAt, 2),
            deed: deed("a", FileVerb::Removed, 7),
            between: vec![
                deed("b", FileVerb::Removed, 3),
                deed("b", FileVerb::Made, 4),
                deed("c", FileVerb::Replaced, 5),
            ],
        };
        let expected = "a looked at \"lock\" in step 2 and removed it in step 7, when it was another file: \
                        b removed it in step 3 and made it in step 4, c replaced it in step 5";
        assert_eq!(mistaken_notes(&mistaken)[0], expected);
    }
}
