//! One instance of a program, from its start to its end.

use crate::address::Address;
use crate::datagram::Datagram;
use crate::host::channel::Channel;
use crate::host::connection::Connection;
use crate::host::diag::Diagnosis;
use crate::host::flow::Flow;
use crate::host::limit::{Limit, Stop};
use crate::host::link::Link;
use crate::host::output::Output;
use crate::host::passing::{Next, Passing, Sleeper};
use crate::host::ports::{is_approached, listens};
use crate::host::rest::{Group, Look, Rest, told};
use crate::host::supervisor::{self, ANSWERS, OWN_FOLDER, OWN_NETWORK};
use crate::host::sys;
use crate::host::threads::{Site, collect};
use crate::host::unix::UnixConnection;
use crate::host::wire::{self, Message, Tag};
use crate::problem::{Problem, Status};
use crate::spec::{Clock, Network, Role, Spec, in_words};
use crate::stream::{End, Stream};
use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Child, Command};
use std::time::Duration;

/// The first port that connections come from, on a network of its own.
const FIRST_PORT: u16 = 20_000;

/// One instance of a program.
pub struct Instance {
    spec: Spec,
    supervisor: Supervisor,
    diagnosis: Diagnosis,
    output: Output,
    connections: Vec<Box<dyn Channel>>,
    /// Where connections of a client come in.
    listener: Option<OwnedFd>,
    /// Where threads slept when it first came to rest.
    idle: Option<BTreeSet<Site>>,
    status: Option<Status>,
}

/// Our side of a supervisor. It ends when this is dropped, and all that it started.
struct Supervisor {
    process: Child,
    /// Taken when it is to end.
    wire: Option<OwnedFd>,
    /// The process that looks after the program.
    pid: u32,
    /// What the program is kept by.
    kept: i32,
    /// What was heard while something else was awaited.
    later: VecDeque<Message>,
    /// Where connections of a client come in.
    listener: Option<OwnedFd>,
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.wire = None;
        let _ = self.process.wait();
    }
}

impl Instance {
    /// Starts a program, and lets it run until it listens, or has connected, and has come to rest.
    ///
    /// # Errors
    /// If it cannot be started, ends, does not listen or connect, or does not come to rest in time, or `stop` says so.
    pub fn start(spec: &Spec, stop: Stop<'_>) -> Result<Self, Problem> {
        let (process, wire, output) = spawn(spec)?;
        let mut supervisor =
            Supervisor { process, wire: Some(wire), pid: 0, kept: 0, later: VecDeque::new(), listener: None };
        let diagnosis = supervisor.await_ready(spec, stop)?;
        let (connections, spec, listener) = (Vec::new(), spec.clone(), supervisor.listener.take());
        let mut instance =
            Self { spec, supervisor, diagnosis, output, connections, listener, idle: None, status: None };
        match instance.spec.role {
            Role::Server => instance.await_listening(stop)?,
            Role::Client => instance.await_connected(stop)?,
        }
        Ok(instance)
    }

    /// What a program would be kept by here: tries it with one that does nothing.
    pub(crate) fn kept_here() -> Result<i32, Problem> {
        let (command, patience) = (vec![b"/bin/true".to_vec()], Duration::from_secs(10));
        let (directory, environment, address) = ("/".into(), Vec::new(), Address::Tcp(0));
        let (clock, network, role) = (Clock::Virtual, Network::Own, Role::Server);
        let spec = Spec { command, environment, directory, address, role, clock, network, patience };
        let (process, wire, _output) = spawn(&spec)?;
        let mut supervisor =
            Supervisor { process, wire: Some(wire), pid: 0, kept: 0, later: VecDeque::new(), listener: None };
        supervisor.await_ready(&spec, &|| false)?;
        Ok(supervisor.kept)
    }

    /// Whether it has a network of its own.
    #[must_use]
    pub fn has_own_network(&self) -> bool {
        self.supervisor.kept & OWN_NETWORK != 0
    }

    /// Whether another instance would meet it where it listens: then there can be only one at a time.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        let own = if matches!(self.spec.address, Address::Unix(_)) { OWN_FOLDER } else { OWN_NETWORK };
        self.supervisor.kept & own == 0
    }

    /// Whether its clock and its randomness are ours.
    #[must_use]
    pub fn has_own_clock(&self) -> bool {
        self.supervisor.kept & ANSWERS != 0
    }

    /// Opens a connection; its number, from 0.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn open(&mut self) -> Result<usize, Problem> {
        let number = self.connections.len();
        let connection = self.channel(FIRST_PORT + number as u16);
        self.connections.push(connection.map_err(|error| Problem::system("opening a connection", &error))?);
        Ok(number)
    }

    /// Our end of a new connection, or of a flow of datagrams, from a port.
    fn channel(&mut self, port: u16) -> io::Result<Box<dyn Channel>> {
        let socket = self.supervisor.socket()?;
        Ok(match self.spec.address {
            Address::Tcp(to) => Box::new(Connection::open(socket, self.has_own_network().then_some(port), to)?),
            Address::Udp(to) => Box::new(Flow::open(socket, port, to)?),
            Address::Unix(_) => Box::new(UnixConnection::open(socket, self.supervisor.target()?)),
        })
    }

    /// Opens a connection over which bytes only pass. When the program has answered is not observed any more.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn link(&mut self) -> Result<Link, Problem> {
        let link = self.supervisor.socket().and_then(|socket| match self.spec.address {
            Address::Tcp(to) => Link::tcp(socket, to),
            Address::Unix(_) => Ok(Link::unix(socket, self.supervisor.target()?)),
            Address::Udp(_) => Err(io::ErrorKind::Unsupported.into()),
        });
        link.map_err(|error| Problem::system("opening a connection", &error))
    }

    /// Sends bytes on a connection.
    pub fn send(&mut self, connection: usize, bytes: &[u8]) {
        self.connections[connection].send(bytes);
    }

    /// Says that no more will be sent on a connection.
    pub fn finish(&mut self, connection: usize) {
        self.connections[connection].finish();
    }

    /// Says that no more will be sent or received on a connection.
    pub fn close(&mut self, connection: usize) {
        self.connections[connection].close();
    }

    /// Breaks a connection off.
    pub fn reset(&mut self, connection: usize) {
        self.connections[connection].reset();
    }

    /// All that was received on a connection.
    #[must_use]
    pub fn stream(&self, connection: usize) -> &Stream {
        self.connections[connection].stream()
    }

    /// All datagrams that were received in a flow.
    #[must_use]
    pub fn datagrams(&self, flow: usize) -> &[Datagram] {
        self.connections[flow].datagrams()
    }

    /// How its first process ended, if it did.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        self.status
    }

    /// The end of what it printed.
    #[must_use]
    pub fn last_words(&self) -> String {
        self.output.words.lines()
    }

    /// Whether it has said something since it last was at rest, or connected again.
    #[must_use]
    pub fn has_spoken(&mut self) -> bool {
        self.accept() | self.has_received()
    }

    fn has_received(&mut self) -> bool {
        self.connections.iter_mut().filter_map(|connection| connection.pump().then_some(())).count() > 0
    }

    /// Waits until it is at rest: it has answered all that it will.
    ///
    /// # Errors
    /// If it does not come to rest in time, or `stop` says so.
    pub fn rest(&mut self, stop: Stop<'_>) -> Result<(), Problem> {
        let (mut limit, mut passing) = (self.limit(stop), Passing::new(self.spec.patience));
        let mut heard = self.extent();
        loop {
            let look = self.look()?;
            if std::mem::replace(&mut heard, self.extent()) != heard {
                passing.note_output();
            }
            let why = match look {
                Look::Moves(why) => Some(why),
                Look::Rest(rest) => match self.next(&rest, &mut passing)? {
                    Next::Rest => break,
                    next => self.go_on(next)?,
                },
            };
            let restless = |why: String| move |patience: String| Problem::Restless { patience, why };
            match why {
                Some(why) => limit.wait(restless(why))?,
                None => limit.check(restless("it sleeps again and again".to_owned()))?,
            }
        }
        self.connections.iter_mut().for_each(|connection| connection.note_rest());
        Ok(())
    }

    fn limit<'a>(&self, stop: Stop<'a>) -> Limit<'a> {
        self.supervisor.limit(&self.spec, stop)
    }

    /// How much was received on all connections.
    fn extent(&self) -> Vec<(usize, Option<End>)> {
        self.connections.iter().map(|connection| connection.extent()).collect()
    }

    /// What is to be done when nothing moves but time.
    fn next(&mut self, rest: &Rest, passing: &mut Passing) -> Result<Next, Problem> {
        if rest.sleeps.is_empty() {
            return Ok(Next::Rest);
        }
        let sleepers = if self.hides_time() { self.supervisor.sleepers()? } else { Vec::new() };
        let supervisor = self.supervisor.pid;
        Ok(passing.next(rest, &sleepers, self.idle.as_ref(), |sleep| sleep.thread.number_to(supervisor)))
    }

    /// Lets time pass as was said; who is to be waited for, if anybody is.
    fn go_on(&mut self, next: Next) -> Result<Option<String>, Problem> {
        match next {
            Next::Rest => Ok(None),
            Next::Wake(thread, passes) => self.supervisor.wake(thread, passes).map(|()| None),
            Next::Await(index) => Ok(Some(told(index, "sleeps"))),
            Next::TooLong(index) => {
                let patience = in_words(self.spec.patience);
                Err(Problem::Restless { patience, why: told(index, "sleeps") })
            }
        }
    }

    /// Whether its time is ours.
    fn hides_time(&self) -> bool {
        self.spec.clock == Clock::Virtual && self.has_own_clock()
    }

    /// Lets it run until it listens and is at rest.
    fn await_listening(&mut self, stop: Stop<'_>) -> Result<(), Problem> {
        let (mut limit, mut passing) = (self.limit(stop), Passing::new(self.spec.patience));
        loop {
            let look = self.look()?;
            match (look, self.listens()?) {
                (Look::Rest(rest), true) => {
                    self.idle = Some(rest.sites());
                    return Ok(());
                }
                (Look::Moves(why), true) => limit.wait(|patience| Problem::Restless { patience, why })?,
                (look, false) => {
                    if let Some(status) = self.status.filter(|_| self.is_deserted()) {
                        return Err(self.not_listening(format!("and {status}")));
                    }
                    self.sleep_further(&look, &mut passing)?;
                    limit.wait(|patience| self.not_listening(format!("in {patience}")))?;
                }
            }
        }
    }

    /// Whether somebody listens at its address.
    fn listens(&self) -> Result<bool, Problem> {
        match self.spec.address {
            Address::Tcp(port) => {
                self.diagnosis.listens(port).map_err(|error| Problem::system("asking for who listens", &error))
            }
            _ => Ok(listens(&self.supervisor.pid.to_string(), &self.spec.address)),
        }
    }

    /// Lets a client run until it has connected and is at rest.
    fn await_connected(&mut self, stop: Stop<'_>) -> Result<(), Problem> {
        let (mut limit, mut passing) = (self.limit(stop), Passing::new(self.spec.patience));
        loop {
            if let Look::Rest(rest) = self.look()? {
                match self.next(&rest, &mut passing)? {
                    Next::Rest if !self.connections.is_empty() => break,
                    Next::TooLong(_) => return Err(self.not_connected(format!("in {}", in_words(self.spec.patience)))),
                    next => drop(self.go_on(next)?),
                }
                if let Some(status) = self.status.filter(|_| self.is_deserted()) {
                    return Err(self.not_connected(format!("and {status}")));
                }
            }
            limit.wait(|patience| self.not_connected(format!("in {patience}")))?;
        }
        self.connections.iter_mut().for_each(|connection| connection.note_rest());
        Ok(())
    }

    fn not_connected(&self, how: String) -> Problem {
        Problem::NotConnected { address: self.spec.address.clone(), how, last_words: self.last_words() }
    }

    /// Takes connections that a client has opened; whether there were any.
    fn accept(&mut self) -> bool {
        let before = self.connections.len();
        let Address::Tcp(port) = self.spec.address else { return false };
        while let Some((socket, from)) = self.listener.as_ref().and_then(sys::accept) {
            self.connections.push(Box::new(Connection::accepted(socket, from, port)));
        }
        self.connections.len() > before
    }

    /// Whether nothing can happen on any connection any more.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.connections.iter().all(|connection| connection.is_over())
    }

    /// Whether it opens connections itself.
    #[must_use]
    pub fn is_client(&self) -> bool {
        self.spec.role == Role::Client
    }

    /// Connections so far: those that a client has opened, or that we have.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Lets time pass while it does not listen yet.
    fn sleep_further(&mut self, look: &Look, passing: &mut Passing) -> Result<(), Problem> {
        let Look::Rest(rest) = look else { return Ok(()) };
        let next = self.next(rest, passing)?;
        match self.go_on(next) {
            Err(Problem::Restless { patience, .. }) => Err(self.not_listening(format!("in {patience}"))),
            other => other.map(drop),
        }
    }

    /// Whether nothing that was started is left.
    fn is_deserted(&self) -> bool {
        collect(self.supervisor.pid).is_some_and(|threads| threads.len() == 1)
    }

    fn not_listening(&self, how: String) -> Problem {
        Problem::NotListening { address: self.spec.address.clone(), how, last_words: self.last_words() }
    }

    /// Looks whether it is at rest: nothing is received before or after.
    fn look(&mut self) -> Result<Look, Problem> {
        self.pump()?;
        let Self { supervisor, spec, connections, diagnosis, idle, .. } = self;
        let group =
            Group { supervisor: supervisor.pid, address: &spec.address, connections, diagnosis, idle: idle.as_ref() };
        let mut look = group.look()?;
        if self.is_approached() {
            look = Look::Moves("a connection of it is on its way".to_owned());
        }
        Ok(if self.pump()? { Look::Moves("it still speaks".to_owned()) } else { look })
    }

    /// Whether a client is about to connect.
    fn is_approached(&self) -> bool {
        match self.spec.address {
            Address::Tcp(port) => self.listener.is_some() && is_approached(&self.supervisor.pid.to_string(), port),
            Address::Udp(_) | Address::Unix(_) => false,
        }
    }

    /// Receives what there is; whether there was anything.
    fn pump(&mut self) -> Result<bool, Problem> {
        let (spoken, printed) = (self.has_spoken(), self.output.drain());
        let mut is_news = false;
        while let Some(message) = self.supervisor.heard()? {
            is_news = true;
            match message.tag {
                Tag::Ended => self.status = Some(Status::of(message.number)),
                Tag::Failed => return Err(Problem::NotStarted(message.text)),
                _ => {}
            }
        }
        Ok(spoken || printed || is_news)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.connections.iter_mut().for_each(|connection| connection.abandon());
    }
}

/// Starts a supervisor: this very executable, whose standard input is the wire, and whose output is read.
fn spawn(spec: &Spec) -> Result<(Child, OwnedFd, Output), Problem> {
    let name = || String::from_utf8_lossy(spec.command.first().map_or(&[][..], |name| name)).into_owned();
    let program = spec.program().ok_or_else(|| Problem::NotStarted(format!("no program `{}` in PATH", name())))?;
    let failed = |error: io::Error| Problem::NotStarted(error.to_string());
    let (ours, theirs) = sys::socket_pair(libc::SOCK_SEQPACKET).map_err(failed)?;
    sys::set_option(&ours, libc::SOL_SOCKET, libc::SO_PASSCRED, &1).map_err(failed)?;
    let (output, writer) = Output::new().map_err(failed)?;
    let program = std::os::unix::ffi::OsStringExt::into_vec(program.into_os_string());
    let arguments = supervisor::arguments(spec, program);
    let mut command = Command::new("/proc/self/exe");
    command.args(arguments).env_clear().current_dir(&spec.directory).stdin(theirs);
    command.stdout(writer.try_clone().map_err(failed)?).stderr(writer);
    Ok((command.spawn().map_err(failed)?, ours, output))
}

impl Supervisor {
    /// How long what it keeps may take.
    fn limit<'a>(&self, spec: &Spec, stop: Stop<'a>) -> Limit<'a> {
        Limit::new(spec.patience, self.process.id(), stop)
    }

    /// Waits until the program is about to be executed.
    fn await_ready(&mut self, spec: &Spec, stop: Stop<'_>) -> Result<Diagnosis, Problem> {
        let mut limit = self.limit(spec, stop);
        loop {
            match self.heard()? {
                Some(Message { tag: Tag::Failed, text, .. }) => return Err(Problem::NotStarted(text)),
                Some(Message { tag: Tag::Port, fd, .. }) => self.listener = fd,
                Some(Message { tag: Tag::Ready, number, fd: Some(fd), sender, .. }) => {
                    (self.pid, self.kept) = (sender as u32, number);
                    return Ok(Diagnosis::new(fd));
                }
                _ => {
                    limit
                        .wait(|patience| Problem::NotStarted(format!("its supervisor was not ready in {patience}")))?;
                }
            }
        }
    }

    /// What it says, if anything.
    fn heard(&mut self) -> Result<Option<Message>, Problem> {
        if let Some(message) = self.later.pop_front() {
            return Ok(Some(message));
        }
        let Some(wire) = &self.wire else { return Ok(None) };
        match wire::hear(wire, libc::MSG_DONTWAIT) {
            Ok(Some(message)) => Ok(Some(message)),
            Ok(None) => Err(Problem::System("its supervisor has ended".to_owned())),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(None),
            Err(error) => Err(Problem::system("hearing its supervisor", &error)),
        }
    }

    /// A socket on the program's network.
    fn socket(&mut self) -> io::Result<OwnedFd> {
        self.ask(Tag::Socket, 0)?.fd.ok_or_else(|| io::Error::other("its supervisor has no sockets"))
    }

    /// A descriptor that leads to the program's Unix socket, if that is there.
    fn target(&mut self) -> io::Result<Option<OwnedFd>> {
        Ok(self.ask(Tag::Target, 0)?.fd)
    }

    /// The threads that it lets sleep.
    fn sleepers(&mut self) -> Result<Vec<Sleeper>, Problem> {
        let told = self.ask(Tag::Sleepers, 0).map_err(|error| Problem::system("asking who sleeps", &error))?;
        Ok(Sleeper::all(&told.text))
    }

    /// Ends a sleep; whether its clocks have passed meanwhile.
    fn wake(&mut self, thread: i32, passes: bool) -> Result<(), Problem> {
        let tag = if passes { Tag::WakeLater } else { Tag::Wake };
        self.ask(tag, thread).map(drop).map_err(|error| Problem::system("waking it", &error))
    }

    /// Says something, and waits for what is said in return. What the supervisor says meanwhile is kept for later.
    fn ask(&mut self, tag: Tag, number: i32) -> io::Result<Message> {
        let gone = || io::Error::other("its supervisor has ended");
        let wire = self.wire.as_ref().ok_or_else(gone)?;
        wire::say(wire.as_raw_fd(), tag, number, "", None)?;
        loop {
            let message = wire::hear(wire, 0)?.ok_or_else(gone)?;
            match message.tag {
                said if said == tag => return Ok(message),
                _ => self.later.push_back(message),
            }
        }
    }
}
