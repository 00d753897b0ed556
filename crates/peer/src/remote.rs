//! A peer that somebody else has started, on this machine or another one: nothing is known of it but what comes over its
//! connections.
//!
//! So when it has answered is decided by messages: each whole message is answered by one on the same connection, and the end of
//! what we say by its end. What comes besides has no cause that is known, and nothing follows from it. To go back, all
//! connections are closed and opened again; what the peer remembers of them shows as a difference.
#![allow(clippy::disallowed_methods, reason = "its point is a program elsewhere, and how long it takes")]

use crate::Stop;
use crate::endpoint::Endpoint;
use crate::framing::Framing;
use ::native::{Datagram, End, Problem, Status, Stream, in_words};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often is looked whether something has come, or somebody wants to stop.
const MOMENT: Duration = Duration::from_millis(1);

/// Where a remote peer is, and how it is asked.
#[derive(Clone)]
pub(crate) struct Target {
    pub address: SocketAddr,
    /// How messages are told apart, in both directions.
    pub framing: Framing,
    /// How long an answer may take.
    pub patience: Duration,
    pub stop: Stop,
}

/// All connections to a remote peer since it was last gone back.
pub(crate) struct Remote {
    target: Target,
    /// A connection that nobody uses yet: the one that has shown that the peer is there.
    spare: Option<TcpStream>,
    connections: Vec<Connection>,
}

/// A connection to a remote peer.
struct Connection {
    /// None if it is refused, or over.
    socket: Option<TcpStream>,
    unsent: Vec<u8>,
    /// Whether no more is to be sent, once all is.
    is_finishing: bool,
    stream: Stream,
    /// What of the stream was there when the peer had answered.
    answered: (usize, Option<End>),
    wanted: Wanted,
}

/// What a connection waits for.
///
/// Silence decides nothing: a slow peer would be taken for one that has answered, and a program would be told that there is
/// nothing where there is something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wanted {
    Nothing,
    /// One whole message.
    Message,
    /// The end of the stream.
    End,
}

impl Target {
    /// Finds a peer by the name of its machine, and connects to it.
    pub fn find(
        machine: &(String, u16),
        (framing, patience): (Framing, Duration),
        stop: Stop,
    ) -> Result<Remote, Problem> {
        let (name, port) = machine.clone();
        let unreachable = |why: String| Problem::Remote(format!("cannot be reached at {name}:{port}: {why}"));
        let asked = machine.clone();
        let addresses = waited(&*stop, move || asked.to_socket_addrs().map(Iterator::collect::<Vec<_>>))?;
        let addresses = addresses.map_err(|error| unreachable(error.to_string()))?;
        let address = addresses.into_iter().find(SocketAddr::is_ipv4);
        let address = address.ok_or_else(|| unreachable("it has no IPv4 address".to_owned()))?;
        let target = Self { address, framing, patience, stop };
        let spare = target.connect()?.map_err(|error| unreachable(error.to_string()))?;
        Ok(Remote { target, spare: Some(spare), connections: Vec::new() })
    }

    /// A connection; patience and whoever wants to stop end the attempt.
    fn connect(&self) -> Result<io::Result<TcpStream>, Problem> {
        let (address, patience) = (self.address, self.patience);
        waited(&*self.stop, move || TcpStream::connect_timeout(&address, patience))
    }
}

impl Remote {
    /// The same peer, to which nothing was said.
    pub fn again(target: &Target) -> Self {
        Self { target: target.clone(), spare: None, connections: Vec::new() }
    }

    /// Where the peer is.
    pub fn target(&self) -> Target {
        self.target.clone()
    }

    /// Receives and sends what can be without waiting.
    fn pump(&mut self) {
        self.connections.iter_mut().for_each(Connection::pump);
    }

    /// Whether all has come that is waited for.
    fn has_answered(&self) -> bool {
        self.connections.iter().all(|connection| connection.has_answered(self.target.framing))
    }

    /// What has come besides, if anything.
    fn surplus(&self) -> Option<String> {
        let framing = self.target.framing;
        let index = self.connections.iter().position(|connection| connection.has_surplus(framing))?;
        let number = index + 1;
        Some(format!(
            "said more on connection {number} than one message for each that it was told: when it has answered is not known\n  = help: a remote peer answers each message with one; run others in a world of their own, or with outside = \"native\""
        ))
    }
}

/// Does something that blocks, unless somebody wants to stop before it is done.
///
/// The standard library resolves names and connects only so. A thread that is given up ends by itself, at the latest when the
/// system's own limits are over.
fn waited<T: Send + 'static>(stop: &dyn Fn() -> bool, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    let (sender, receiver) = channel();
    // Nobody may be left to hear it.
    std::thread::spawn(move || drop(sender.send(work())));
    loop {
        match receiver.recv_timeout(MOMENT) {
            Ok(done) => return Ok(done),
            Err(_) if stop() => return Err(Problem::Stopped),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Problem::System("a thread has ended".to_owned())),
        }
    }
}

impl Endpoint for Remote {
    fn open(&mut self) -> Result<usize, Problem> {
        let socket = match self.spare.take() {
            Some(spare) => Ok(spare),
            None => self.target.connect()?,
        };
        let socket = socket.and_then(|socket| {
            socket.set_nodelay(true)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        });
        self.connections.push(Connection::new(socket.ok()));
        Ok(self.connections.len() - 1)
    }

    fn send(&mut self, connection: usize, bytes: &[u8]) {
        // What is left behind the last whole message is not answered before the end.
        let is_whole = self.target.framing.first(bytes) == Some(bytes.len());
        let connection = &mut self.connections[connection];
        connection.unsent.extend_from_slice(bytes);
        if is_whole {
            connection.wanted = Wanted::Message;
        }
    }

    fn finish(&mut self, connection: usize) {
        // A peer that reads the end closes its side. Not to wait for that would let a program wait for an end that comes later.
        let connection = &mut self.connections[connection];
        (connection.is_finishing, connection.wanted) = (true, Wanted::End);
    }

    fn close(&mut self, connection: usize) {
        self.finish(connection);
    }

    fn reset(&mut self, connection: usize) {
        let connection = &mut self.connections[connection];
        connection.socket.take().into_iter().for_each(::native::break_off);
        connection.wanted = Wanted::Nothing;
    }

    fn stream(&self, connection: usize) -> &Stream {
        &self.connections[connection].stream
    }

    /// A remote peer has no UDP port.
    fn datagrams(&self, _: usize) -> &[Datagram] {
        &[]
    }

    fn rest(&mut self, stop: &dyn Fn() -> bool) -> Result<(), Problem> {
        let begun = Instant::now();
        loop {
            self.pump();
            if let Some(why) = self.surplus() {
                return Err(Problem::Remote(why));
            }
            if self.has_answered() {
                self.connections.iter_mut().for_each(Connection::note_answer);
                return Ok(());
            }
            if stop() {
                return Err(Problem::Stopped);
            }
            if begun.elapsed() > self.target.patience {
                let patience = in_words(self.target.patience);
                return Err(Problem::Remote(format!("did not answer in {patience} with a whole message, or its end")));
            }
            std::thread::sleep(MOMENT / 10);
        }
    }

    fn has_spoken(&mut self) -> bool {
        self.pump();
        self.connections.iter().any(|connection| connection.extent() != connection.answered)
    }

    fn status(&self) -> Option<Status> {
        None
    }

    fn connections(&self) -> usize {
        self.connections.len()
    }

    fn is_client(&self) -> bool {
        false
    }

    fn is_free(&self) -> bool {
        false
    }

    fn is_alone(&self) -> bool {
        true
    }
}

impl Connection {
    fn new(socket: Option<TcpStream>) -> Self {
        let end = if socket.is_none() { Some(End::Reset) } else { None };
        let stream = Stream { end, ..Stream::default() };
        let (unsent, answered) = (Vec::new(), (0, end));
        Self { socket, unsent, is_finishing: false, stream, answered, wanted: Wanted::Nothing }
    }

    fn extent(&self) -> (usize, Option<End>) {
        (self.stream.bytes.len(), self.stream.end)
    }

    fn pump(&mut self) {
        self.send_further();
        self.receive();
    }

    fn send_further(&mut self) {
        let Some(socket) = &mut self.socket else { return };
        while !self.unsent.is_empty() {
            match socket.write(&self.unsent) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // That it is broken off is told when something is received.
                Err(_) => self.unsent.clear(),
            }
        }
        if std::mem::take(&mut self.is_finishing) {
            let _ = socket.shutdown(Shutdown::Write);
        }
    }

    fn receive(&mut self) {
        let mut room = [0; 1 << 16];
        while let Some(socket) = self.socket.as_mut().filter(|_| self.stream.end.is_none()) {
            match socket.read(&mut room) {
                Ok(0) => self.stream.end = Some(End::Finished),
                Ok(count) => self.stream.bytes.extend_from_slice(&room[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.stream.end = Some(End::Reset),
            }
        }
    }

    /// What has come since the peer had last answered.
    fn news(&self) -> &[u8] {
        &self.stream.bytes[self.answered.0..]
    }

    fn has_answered(&self, framing: Framing) -> bool {
        let is_over = self.socket.is_none() || self.stream.end.is_some();
        match self.wanted {
            Wanted::Nothing => true,
            Wanted::End => is_over,
            Wanted::Message => {
                is_over
                    || framing.first(self.news()).is_some_and(|length| !framing.ends_connection(&self.news()[..length]))
            }
        }
    }

    /// Whether more has come than was waited for: it may be only a part of what is still on its way.
    fn has_surplus(&self, framing: Framing) -> bool {
        match self.wanted {
            Wanted::Nothing => self.extent() != self.answered,
            Wanted::Message => framing.first(self.news()).is_some_and(|length| length < self.news().len()),
            Wanted::End => false,
        }
    }

    fn note_answer(&mut self) {
        (self.answered, self.wanted) = (self.extent(), Wanted::Nothing);
    }
}
