//! Why somebody cannot go on, in words: `waits for forks[1], held by T2 since step 4`.
//!
//! Only a lock has a holder to blame. For everything else the object is named, and the reader finds
//! in the lanes who could have changed it.

use super::calls::begun;
use super::operations::NAMELESS;
use std::borrow::Cow;
use trace::{AwaitedPeer, ThreadRef, WaitReason, Waiting};

/// Why somebody cannot go on; follows its name.
#[must_use]
pub fn waiting_text(waiting: &Waiting) -> Cow<'_, str> {
    let words = match &waiting.reason {
        WaitReason::Stated => return Cow::Borrowed(&waiting.text),
        WaitReason::Statement(text) => format!("waits for `{text}`"),
        WaitReason::Statements(count) => format!("waits for one of {count} statements"),
        WaitReason::YoungerProcesses => "waits until younger processes have ended".to_owned(),
        WaitReason::NotStarted => "is never started: what it depends on does not happen".to_owned(),
        WaitReason::Joins(thread) => format!("waits for the end of {}", thread.as_deref().unwrap_or(NAMELESS)),
        WaitReason::Barrier(name) => format!("waits at barrier {name}; not all have come"),
        WaitReason::Condition(name) => format!("waits on condition {name}; nobody is left to signal it"),
        WaitReason::Object(name) => format!("waits for {name}"),
        WaitReason::Lock { name, holder, since } => lock(waiting.actor, name, holder, *since),
        WaitReason::Call(call) => format!("waits in {}", begun(call)),
        WaitReason::Peers { call, peers } => {
            let peers: Vec<String> = peers.iter().map(peer).collect();
            format!("waits in {} for {}", begun(call), peers.join(" and "))
        }
        WaitReason::Races { is_write, other } => {
            format!(
                "{} it; no lock or other synchronisation orders this with {other}",
                if *is_write { "writes" } else { "reads" }
            )
        }
    };
    Cow::Owned(words)
}

fn peer(peer: &AwaitedPeer) -> String {
    let does = if peer.has_ended { "has ended" } else { "waits for input" };
    format!("peer `{}`, which {does}", peer.name)
}

fn lock(actor: u32, name: &str, holder: &ThreadRef, since: Option<usize>) -> String {
    let who = if holder.actor == actor { "itself" } else { &holder.name };
    let since = since.map(|step| format!(" since step {step}")).unwrap_or_default();
    format!("waits for {name}, held by {who}{since}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_told_with_its_holder() {
        let told = |actor, since| {
            let holder = ThreadRef { actor: 2, name: "T2".to_owned() };
            let reason = WaitReason::Lock { name: "m".to_owned(), holder, since };
            waiting_text(&Waiting { actor, reason, text: String::new(), location: None }).into_owned()
        };
        assert_eq!(told(1, Some(4)), "waits for m, held by T2 since step 4");
        assert_eq!(told(2, None), "waits for m, held by itself");
    }

    #[test]
    fn peers_are_named_with_what_they_do() {
        let peer = |name: &str, has_ended| AwaitedPeer { name: name.to_owned(), has_ended };
        let reason = WaitReason::Peers {
            call: trace::Call::named("poll".to_owned()),
            peers: vec![peer("db", false), peer("log", true)],
        };
        let waiting = Waiting { actor: 1, reason, text: String::new(), location: None };
        assert_eq!(
            waiting_text(&waiting),
            "waits in poll for peer `db`, which waits for input and peer `log`, which has ended"
        );
    }

    #[test]
    fn where_no_reason_is_known_the_text_of_the_file_is_shown() {
        let waiting =
            Waiting { actor: 1, reason: WaitReason::Stated, text: "waits for room in ch".to_owned(), location: None };
        assert_eq!(waiting_text(&waiting), "waits for room in ch");
    }
}
