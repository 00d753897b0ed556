//! A system that is explored: its graph, and what the server answers to whom.
#![allow(clippy::disallowed_methods, reason = "tests use the host")]

use explorer::{Describe, Session, Surroundings, serve};
use replay::{ModelReplay, run};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use testkit::{Counters, Philosophers};
use trace::{Schedule, Variable};

fn plain<R: replay::Replayable>() -> Describe<R> {
    Describe { variables: |_, _| Vec::new(), waiting: |_, _| Vec::new(), inventory: |_, _| trace::Inventory::default() }
}

#[test]
fn the_graph_that_grows_has_every_state_once() {
    let counters = Counters::new(3, 4);
    let mut system = ModelReplay::new(&counters);
    let mut session = Session::new(&mut system, plain());
    session.expand_more(10, &|| false);
    assert!((11..40).contains(&session.len()) && !session.is_complete(), "{}", session.len());
    session.expand_more(usize::MAX / 2, &|| false);
    assert_eq!(session.len() as u64, counters.state_count());
    assert!(session.is_complete());
}

#[test]
fn the_way_to_a_state_leads_there() {
    let philosophers = Philosophers { count: 3, polite: false };
    let mut system = ModelReplay::new(&philosophers);
    let mut session = Session::new(&mut system, plain());
    session.expand_more(1_000, &|| false);
    for node in [1, session.len() / 2, session.len() - 1] {
        let choices = session.way_to(node);
        run(&mut ModelReplay::new(&philosophers), &Schedule { choices, cycle_start: None }).expect("it can be taken");
    }
}

fn counter((index, value): (usize, &u8)) -> Variable {
    Variable { name: format!("c{index}"), value: value.to_string() }
}

#[test]
fn a_state_is_found_by_a_value() {
    let counters = Counters::new(2, 4);
    let mut system = ModelReplay::new(&counters);
    let describe =
        Describe { variables: |_, state: &Vec<u8>| state.iter().enumerate().map(counter).collect(), ..plain() };
    let mut session = Session::new(&mut system, describe);
    session.expand_more(1_000, &|| false);
    let found = session.find("c1 = 3", 0, 1_000).expect("there is one");
    assert_eq!(session.find("c1 = 3", 0, found), None, "it is the first");
    assert_eq!(session.way_to(found).len(), 3, "reached by the fewest steps");
    let other = session.find("c1 = 3", found + 1, 1_000).expect("there are others");
    assert!(other > found);
    assert_eq!((session.find("c1 = 9", 0, 1_000), session.find("c1", 5_000, 1)), (None, None));
}

/// What a client sends, and what it hears.
struct Client(SocketAddr);

impl Client {
    fn say(&self, text: &str) -> String {
        let mut stream = TcpStream::connect(self.0).expect("it listens");
        stream.write_all(text.as_bytes()).expect("it reads");
        let mut heard = String::new();
        stream.read_to_string(&mut heard).expect("it answers");
        heard
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> String {
        let (host, length) = (self.0, body.len());
        self.say(&format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n{body}"))
    }

    fn json(&self, method: &str, path: &str, body: &Value) -> Value {
        let heard = self.ask(method, path, &body.to_string());
        assert!(heard.starts_with("HTTP/1.1 200"), "{path}: {heard}");
        serde_json::from_str(heard.split_once("\r\n\r\n").expect("a body").1).expect("JSON")
    }
}

/// Serves philosophers to a client.
fn with_server(then: impl FnOnce(&Client) + Send) {
    let philosophers = Philosophers { count: 3, polite: false };
    let mut system = ModelReplay::new(&philosophers);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let client = Client(listener.local_addr().expect("an address"));
    let ended = AtomicBool::new(false);
    let mut saved = Vec::new();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| then(&client)));
            ended.store(true, Ordering::Relaxed);
            done
        });
        let mut save = |_: &mut ModelReplay<'_, Philosophers>, schedule: &Schedule, _, _: Option<&_>| {
            saved.push(schedule.choices.len());
            Ok("allways replay x".to_owned())
        };
        let surroundings = Surroundings {
            system: "</script><b>philosophers</b>".to_owned(),
            token: "secret".to_owned(),
            source: &|_| Some("text".to_owned()),
            save: &mut save,
            stops: &|| ended.load(Ordering::Relaxed),
        };
        serve(Session::new(&mut system, plain()), &[], listener, surroundings);
        if let Err(panic) = asking.join().expect("it was caught") {
            std::panic::resume_unwind(panic);
        }
    });
    assert!(saved.iter().all(|steps| *steps == 2), "{saved:?}");
}

#[test]
fn choices_are_taken_and_taken_back() {
    with_server(|client| {
        let at = client.json("GET", "/secret/at", &Value::Null);
        let first = &at["offers"][0];
        assert_eq!(at["nodes"], json!([0]));
        let wish = json!({ "actor": first["actor"], "index": first["index"] });
        let after = client.json("POST", "/secret/take", &wish);
        assert_eq!(after["told"]["diagram"]["steps"], 1);
        let second = &after["offers"][0];
        let wish = json!({ "actor": second["actor"], "index": second["index"] });
        assert_eq!(client.json("POST", "/secret/take", &wish)["told"]["diagram"]["steps"], 2);
        assert_eq!(client.json("POST", "/secret/save", &json!({}))["command"], "allways replay x");
        assert_eq!(client.json("POST", "/secret/back", &json!({ "steps": 0 }))["nodes"], json!([0]));
        let wrong = client.ask("POST", "/secret/take", r#"{"actor": 77, "index": 0}"#);
        assert!(wrong.starts_with("HTTP/1.1 400"), "{wrong}");
        let graph = client.json("POST", "/secret/grow", &json!({ "states": 10_000 }));
        assert_eq!(graph["is_complete"], true);
        let nodes = graph["nodes"].as_array().expect("a list");
        let stuck = nodes.iter().position(|node| node[1] == 1).expect("philosophers starve");
        let there = client.json("POST", "/secret/go", &json!({ "node": stuck }));
        assert_eq!((&there["told"]["is_violation"], &there["offers"]), (&json!(true), &json!([])));
    });
}

#[test]
fn nobody_without_the_token_is_answered() {
    with_server(|client| {
        for path in ["/", "/at", "/wrong/at", "/secre/at", "/secret", "//secret/at", "/secretx/at"] {
            assert!(client.ask("GET", path, "").starts_with("HTTP/1.1 403"), "{path}");
        }
        let elsewhere = client.say("GET /secret/at HTTP/1.1\r\nHost: evil.example\r\n\r\n");
        assert!(elsewhere.starts_with("HTTP/1.1 403"), "a name of somebody else that leads here");
        for bad in ["nonsense\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n"] {
            assert!(client.say(bad).starts_with("HTTP/1.1 400"), "{bad}");
        }
        assert!(client.ask("POST", "/secret/take", "{").starts_with("HTTP/1.1 400"));
        assert!(client.ask("GET", "/secret/../../etc/passwd", "").starts_with("HTTP/1.1 404"));
    });
}

#[test]
fn the_page_has_no_markup_from_outside_and_may_only_ask_its_server() {
    with_server(|client| {
        let page = client.ask("GET", "/secret/", "");
        assert!(page.contains("connect-src 'self'") && page.contains("default-src 'none'"));
        assert!(!page.contains("<b>philosophers"));
        let source = client.json("POST", "/secret/source", &json!({ "file": "/etc/passwd" }));
        assert_eq!(source["text"], Value::Null, "no trace names it");
    });
}
