//! Facts that a test tells.

use debuginfo::{Kind, Value};
use proposition::{Datum, Facts, Stream};
use std::collections::BTreeMap;

/// A server that leads, a client that has ended well, one that was killed, and one that waits.
pub struct Told;

impl Facts for Told {
    fn processes(&self) -> Vec<String> {
        ["server", "client.1", "client.2", "client.3", "my-proxy"].map(str::to_owned).to_vec()
    }

    fn exited(&self, process: &str) -> Option<i32> {
        (process == "client.1").then_some(0)
    }

    fn crashed(&self, process: &str) -> Option<u8> {
        (process == "client.2").then_some(11)
    }

    fn is_blocked(&self, process: &str) -> bool {
        process == "client.3"
    }

    fn is_running(&self, process: &str) -> bool {
        ["server", "client.3", "my-proxy"].contains(&process)
    }

    fn output(&self, process: &str, stream: Stream) -> Vec<u8> {
        match (process, stream) {
            ("client.1", Stream::Output) => b"hello\nACK 1\nACK 2\n".to_vec(),
            ("server", Stream::Error) => b"say \"no\"\n".to_vec(),
            _ => Vec::new(),
        }
    }

    fn exists(&self, path: &str) -> bool {
        path == "x.lock"
    }

    fn content(&self, path: &str) -> Option<Vec<u8>> {
        (path == "mbox").then(|| b"From a\nFrom b".to_vec())
    }

    fn variable(&mut self, process: &str, path: &str) -> Result<Option<Datum>, String> {
        let role = || Kind::Enum(vec![("FOLLOWER".into(), 3), ("LEADER".into(), 4)]);
        let number = |number: i128| Value::Number(number, number.to_string());
        let known = BTreeMap::from([
            ("count", Some(Datum { value: number(5), kind: Kind::Signed })),
            ("low", Some(Datum { value: number(-5), kind: Kind::Signed })),
            ("state.role", Some(Datum { value: number(4), kind: role() })),
            ("on", Some(Datum { value: number(1), kind: Kind::Bool })),
            ("half", Some(Datum { value: Value::Float(0.5), kind: Kind::Float })),
            ("name", Some(Datum { value: Value::Text("bob".into()), kind: Kind::Text })),
            ("net::slots[1].id", Some(Datum { value: number(7), kind: Kind::Unsigned })),
            ("head->count", Some(Datum { value: number(9), kind: Kind::Unsigned })),
            ("null->count", None),
        ]);
        let no = || format!("`{process}` has no global variable `{path}`");
        known.into_iter().find(|(name, _)| *name == path).map(|(_, datum)| datum).ok_or_else(no)
    }

    fn called(&self, process: &str, call: &str) -> Result<bool, String> {
        Ok(process == "client.3" && call == "write")
    }
}
