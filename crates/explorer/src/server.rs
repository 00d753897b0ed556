//! The server: one user, one machine.
//!
//! Connections are read by threads of their own, so that one that stays silent delays nobody; what they ask is answered one after
//! the other, because there is one position.

use crate::http::{Answer, Method, Request, read_request};
use crate::position::Position;
use crate::session::Session;
use crate::view;
use explore::Failure;
use replay::Replayable;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;
use trace::{Choice, Schedule, Trace};

/// How long a connection may be silent.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is asked whether to stop.
const MOMENT: Duration = Duration::from_millis(100);
/// Connections at the same time.
const CONNECTIONS_MAX: usize = 32;
/// States that one request may add.
const GROWTH_MAX: usize = 100_000;

/// States that one request looks at for a text: those of programs take milliseconds.
const FIND_MAX: usize = 200;

const STYLE: &str = include_str!("live.css");
const SCRIPT: &str = include_str!("live.js");

/// Saves a schedule that was driven, with what happened on it and what went wrong at its end; gives the command that replays it.
pub type Save<'a, R> = dyn FnMut(&mut R, &Schedule, Trace, Option<&Failure>) -> Result<String, String> + 'a;

/// What the server needs of the one who starts it.
pub struct Surroundings<'a, R> {
    /// What is explored, as the user named it.
    pub system: String,
    /// What a client must know.
    pub token: String,
    /// The text of a source file that a trace names.
    pub source: &'a dyn Fn(&str) -> Option<String>,
    /// Saves a schedule.
    pub save: &'a mut Save<'a, R>,
    /// Whether to stop.
    pub stops: &'a dyn Fn() -> bool,
}

/// A request, and where its answer goes.
type Asked = (Request, Sender<Answer>);

/// Serves a system until it is to stop.
pub fn serve<R: Replayable>(
    mut session: Session<'_, R>,
    given: &[Choice],
    listener: TcpListener,
    surroundings: Surroundings<'_, R>,
) {
    let host = listener.local_addr().map(|address| address.to_string()).unwrap_or_default();
    let asked = listen(listener);
    let mut position = Position::new(session.nodes[0].state.clone());
    // A schedule of another version may lead less far: the page shows how far it got.
    let _ = position.follow(&mut session, given);
    let mut live = Live { session, position, surroundings, host };
    while !(live.surroundings.stops)() {
        match asked.recv_timeout(MOMENT) {
            Ok((request, answers)) => {
                // Whoever has gone away needs no answer.
                let _ = answers.send(live.answer(&request));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
}

/// Accepts connections for as long as the process lives: its end closes them.
fn listen(listener: TcpListener) -> Receiver<Asked> {
    let (asks, asked) = channel();
    let open = Arc::new(AtomicUsize::new(0));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            if open.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS_MAX {
                open.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let (asks, open) = (asks.clone(), Arc::clone(&open));
            std::thread::spawn(move || {
                // A connection that breaks concerns nobody else.
                let _ = attend(stream, &asks);
                open.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
    asked
}

/// Reads one request and writes its answer. Browsers keep connections open that they may need: these time out.
fn attend(mut stream: TcpStream, asks: &Sender<Asked>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let answer = match read_request(&mut BufReader::new(stream.try_clone()?))? {
        None => Answer::refusal("400 Bad Request", "not understood"),
        Some(request) => {
            let (answers, answered) = channel();
            let is_asked = asks.send((request, answers)).is_ok();
            let gone = || Answer::refusal("503 Service Unavailable", "allways has ended");
            if is_asked { answered.recv().unwrap_or_else(|_| gone()) } else { gone() }
        }
    };
    stream.write_all(&answer.to_bytes())
}

/// What is served.
///
/// **Invariant:** a request that fails changes nothing, but for how far a schedule was followed.
struct Live<'s, 'a, R: Replayable> {
    session: Session<'s, R>,
    position: Position<R::State>,
    surroundings: Surroundings<'a, R>,
    host: String,
}

/// What a request brings.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Wish {
    actor: u32,
    index: u32,
    steps: usize,
    node: usize,
    states: usize,
    file: String,
    text: String,
}

impl<R: Replayable> Live<'_, '_, R> {
    /// Answers those who know the token and believe to talk to this machine: a name that leads here is somebody else's page.
    fn answer(&mut self, request: &Request) -> Answer {
        let port = self.host.rsplit(':').next().unwrap_or_default();
        let is_here = request.host == self.host || request.host == format!("localhost:{port}");
        let route = request.path.strip_prefix('/').and_then(|path| path.strip_prefix(self.surroundings.token.as_str()));
        match route.filter(|_| is_here).and_then(|route| route.strip_prefix('/')) {
            Some(route) => self.route(request, route),
            None => Answer::refusal("403 Forbidden", "the address that `allways explore` printed has a token"),
        }
    }

    fn route(&mut self, request: &Request, route: &str) -> Answer {
        let wish: Wish = match (request.method, request.body.is_empty()) {
            (Method::Post, false) => match serde_json::from_slice(&request.body) {
                Ok(wish) => wish,
                Err(error) => return Answer::refusal("400 Bad Request", &error.to_string()),
            },
            _ => Wish::default(),
        };
        let done = match (request.method, route) {
            (Method::Get, "") => return Answer::html(report::live_html(&self.surroundings.system, STYLE, SCRIPT)),
            (Method::Get, "at") => Ok(self.here()),
            (Method::Get, "graph") => Ok(view::graph(&self.session)),
            (Method::Post, "take") => self.take(Choice { actor: wish.actor, index: wish.index }),
            (Method::Post, "back") => {
                self.position.go_back(wish.steps);
                Ok(self.here())
            }
            (Method::Post, "go") => self.go(wish.node),
            (Method::Post, "grow") => {
                self.session.expand_more(wish.states.min(GROWTH_MAX), self.surroundings.stops);
                Ok(view::graph(&self.session))
            }
            (Method::Post, "find") => Ok(self.find(&wish.text, wish.node)),
            (Method::Post, "source") => self.source(&wish.file),
            (Method::Post, "save") => self.save(),
            _ => return Answer::refusal("404 Not Found", "nothing is here"),
        };
        match done {
            Ok(value) => Answer::json(value.to_string()),
            Err(why) => Answer::refusal("400 Bad Request", &why),
        }
    }

    fn here(&mut self) -> Value {
        view::position(&mut self.session, &self.position)
    }

    fn take(&mut self, choice: Choice) -> Result<Value, String> {
        match self.position.take(&mut self.session, choice) {
            true => Ok(self.here()),
            false => Err("this choice does not exist here".to_owned()),
        }
    }

    /// Goes to a state by the steps by which it was reached first.
    fn go(&mut self, node: usize) -> Result<Value, String> {
        if node >= self.session.len() {
            return Err(format!("there is no state {node}"));
        }
        let way = self.session.way_to(node);
        self.position.follow(&mut self.session, &way).map_err(|mismatch| mismatch.to_string())?;
        Ok(self.here())
    }

    /// Looks at some states for a text. The page asks again from where this ends, so that nobody waits for long, and whoever has
    /// found enough stops asking.
    fn find(&mut self, text: &str, from: usize) -> Value {
        let found = if text.is_empty() { None } else { self.session.find(text, from, FIND_MAX) };
        let next = from.saturating_add(FIND_MAX);
        json!({ "found": found, "next": (next < self.session.len()).then_some(next) })
    }

    /// A file, if the trace that is shown names it. Debug information may name any file; what the user does not look at is not
    /// read.
    fn source(&self, file: &str) -> Result<Value, String> {
        let named: BTreeSet<String> = report::files_of_trace(&self.position.trace());
        let text = named.contains(file).then(|| (self.surroundings.source)(file)).flatten();
        Ok(json!({ "text": text }))
    }

    fn save(&mut self) -> Result<Value, String> {
        let failure = self.position.failure().or(self.session.nodes[self.position.node()].failure.as_ref());
        let (schedule, trace) = (self.position.schedule(), self.position.trace());
        let command = (self.surroundings.save)(self.session.system, &schedule, trace, failure)?;
        Ok(json!({ "command": command }))
    }
}
