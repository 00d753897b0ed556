//! Programs that are cut off from the others, call by call.

use crate::guest::Guest;
use kernel::{Pid, Tid, net};

const EAGAIN: i64 = -11;
const ECONNRESET: i64 = -104;
const ECONNREFUSED: i64 = -111;
const ETIMEDOUT: i64 = -110;
const DATAGRAM: u64 = 2;
const NONBLOCK: u64 = 0o4000;
const NOSIGNAL: u64 = 0x4000;
const DONTWAIT: u64 = 0x40;

type Process = (Pid, Tid);

/// A server, a client and the listener between them.
struct Two {
    guest: Guest,
    server: Process,
    client: Process,
    listener: i64,
    port: u16,
}

impl Two {
    fn new() -> Self {
        let mut guest = Guest::new();
        let server = guest.another();
        let client = (guest.pid, guest.tid);
        guest.switch(server);
        let (listener, port) = guest.listener(4);
        Self { guest, server, client, listener, port }
    }

    /// A connection: the client's end and the server's.
    fn connect(&mut self) -> (i64, i64) {
        let end = self.ask(0);
        self.guest.switch(self.server);
        (end, self.guest.call("accept", &[self.listener as u64, 0, 0]))
    }

    /// The client asks for a connection; its socket.
    fn ask(&mut self, flags: u64) -> i64 {
        self.guest.switch(self.client);
        let end = self.guest.call("socket", &[2, 1 | flags, 0]);
        let name = self.guest.loopback(self.port);
        self.guest.call("connect", &[end as u64, name, 16]);
        end
    }

    fn client(&mut self) -> &mut Guest {
        self.guest.switch(self.client);
        &mut self.guest
    }

    fn server(&mut self) -> &mut Guest {
        self.guest.switch(self.server);
        &mut self.guest
    }

    fn cut_off(&mut self, program: Process) {
        net::cut_off(&mut self.guest.kernel, program.0);
    }

    fn reconnect(&mut self, program: Process) {
        net::reconnect(&mut self.guest.kernel, program.0);
    }
}

/// What a socket has received, without waiting.
fn received(guest: &mut Guest, fd: i64) -> Result<Vec<u8>, i64> {
    let buffer = guest.room(100);
    match guest.call("recvfrom", &[fd as u64, buffer, 100, DONTWAIT, 0, 0]) {
        error @ ..0 => Err(error),
        count => Ok(guest.get(buffer, count as usize)),
    }
}

/// The error of a socket.
fn error(guest: &mut Guest, fd: i64) -> i64 {
    let (value, length) = (guest.room(4), guest.put(&4u32.to_le_bytes()));
    assert_eq!(guest.call("getsockopt", &[fd as u64, 1, 4, value, length]), 0);
    -i64::from(guest.get_u32(value))
}

fn send(guest: &mut Guest, fd: i64, bytes: &[u8]) -> i64 {
    let buffer = guest.put(bytes);
    guest.call("sendto", &[fd as u64, buffer, bytes.len() as u64, NOSIGNAL | DONTWAIT, 0, 0])
}

#[test]
fn what_is_sent_meanwhile_comes_late_and_in_order() {
    for is_server in [false, true] {
        let mut two = Two::new();
        let (near, far) = two.connect();
        let program = if is_server { two.server } else { two.client };
        assert_eq!(send(two.client(), near, b"before "), 7);
        two.cut_off(program);
        assert_eq!(send(two.client(), near, b"meanwhile "), 10);
        assert_eq!(received(two.server(), far), Ok(b"before ".to_vec()));
        assert_eq!(received(two.server(), far), Err(EAGAIN));
        assert_eq!(two.server().poll(far) & 1, 0, "it is not readable");
        two.client().call("close", &[near as u64]);
        assert_eq!(received(two.server(), far), Err(EAGAIN), "the end is late, too");
        two.reconnect(program);
        assert_eq!(received(two.server(), far), Ok(b"meanwhile ".to_vec()));
        assert_eq!(received(two.server(), far), Ok(Vec::new()));
    }
}

#[test]
fn the_network_is_up_again_when_nobody_is_cut_off() {
    let mut two = Two::new();
    let (near, far) = two.connect();
    let (client, server) = (two.client, two.server);
    two.cut_off(client);
    two.cut_off(server);
    send(two.client(), near, b"x");
    two.reconnect(client);
    assert_eq!(received(two.server(), far), Err(EAGAIN));
    two.reconnect(server);
    assert_eq!(received(two.server(), far), Ok(b"x".to_vec()));
}

#[test]
fn what_comes_to_a_closed_socket_is_answered_when_the_network_is_up() {
    let mut two = Two::new();
    let (near, far) = two.connect();
    let client = two.client;
    two.cut_off(client);
    two.server().call("close", &[far as u64]);
    assert_eq!(send(two.client(), near, b"x"), 1);
    assert_eq!(send(two.client(), near, b"y"), 1, "nobody has answered");
    two.reconnect(client);
    assert_eq!(error(two.client(), near), -32, "a reset behind the end is EPIPE");
    assert_eq!(received(two.client(), near), Ok(Vec::new()));
}

#[test]
fn unread_bytes_reset_the_connection_when_the_network_is_up() {
    let mut two = Two::new();
    let (near, far) = two.connect();
    send(two.client(), near, b"unread");
    let client = two.client;
    two.cut_off(client);
    two.server().call("close", &[far as u64]);
    assert_eq!(received(two.client(), near), Err(EAGAIN));
    two.reconnect(client);
    assert_eq!(received(two.client(), near), Err(ECONNRESET));
}

#[test]
fn late_bytes_take_up_room() {
    let mut two = Two::new();
    let (near, _) = two.connect();
    let client = two.client;
    let piece = [0; 4096];
    let count = |two: &mut Two| (0..10_000).take_while(|_| send(two.client(), near, &piece) == 4096).count();
    two.cut_off(client);
    let late = count(&mut two);
    assert!((10..10_000).contains(&late), "{late}");
    assert_eq!(two.client().poll(near) & 4, 0, "it is not writable");
    two.reconnect(client);
    assert_eq!(count(&mut two), 0);
}

#[test]
fn requests_wait_until_the_network_is_up() {
    let mut two = Two::new();
    let client = two.client;
    two.cut_off(client);
    let end = two.ask(NONBLOCK);
    let listener = two.listener;
    two.server().call("fcntl", &[listener as u64, 4, NONBLOCK]);
    assert_eq!(two.server().call("accept", &[listener as u64, 0, 0]), EAGAIN);
    two.reconnect(client);
    let far = two.server().call("accept", &[listener as u64, 0, 0]);
    assert!(far > 0, "{far}");
    assert_eq!(send(two.client(), end, b"x"), 1);
    assert_eq!(received(two.server(), far), Ok(b"x".to_vec()));
}

#[test]
fn who_asks_where_nobody_listens_any_more_is_refused_later() {
    for closes_first in [true, false] {
        let mut two = Two::new();
        let client = two.client;
        two.cut_off(client);
        let listener = two.listener;
        if closes_first {
            two.server().call("close", &[listener as u64]);
        }
        let end = two.ask(NONBLOCK);
        if !closes_first {
            two.server().call("close", &[listener as u64]);
        }
        assert_eq!(error(two.client(), end), 0, "nobody has answered");
        two.reconnect(client);
        assert_eq!(error(two.client(), end), ECONNREFUSED);
    }
}

#[test]
fn a_request_is_given_up_as_if_nobody_answered() {
    let mut two = Two::new();
    let client = two.client;
    two.cut_off(client);
    let end = two.ask(NONBLOCK);
    let deadline = net::next_deadline(&two.guest.kernel).expect("the request has one");
    two.guest.kernel.clock.advance_to(deadline);
    net::expire(&mut two.guest.kernel);
    assert_eq!(error(two.client(), end), ETIMEDOUT);
    two.reconnect(client);
    let listener = two.listener;
    two.server().call("fcntl", &[listener as u64, 4, NONBLOCK]);
    assert_eq!(two.server().call("accept", &[listener as u64, 0, 0]), EAGAIN, "it is forgotten");
}

#[test]
fn a_program_that_is_cut_off_still_talks_to_itself() {
    let mut two = Two::new();
    let server = two.server;
    two.cut_off(server);
    let (one, other) = two.server().connection();
    assert_eq!(send(two.server(), one, b"x"), 1);
    assert_eq!(received(two.server(), other), Ok(b"x".to_vec()));
}

#[test]
fn datagrams_are_lost_meanwhile() {
    let mut two = Two::new();
    let server = two.server;
    let name = two.server().loopback(0);
    let mailbox = two.server().call("socket", &[2, DATAGRAM, 0]);
    two.server().call("bind", &[mailbox as u64, name, 16]);
    let port = two.server().port(mailbox);
    let sender = two.client().call("socket", &[2, DATAGRAM, 0]);
    let name = two.client().loopback(port);
    assert_eq!(two.client().call("connect", &[sender as u64, name, 16]), 0);
    two.cut_off(server);
    assert_eq!(send(two.client(), sender, b"lost"), 4);
    two.reconnect(server);
    assert_eq!(send(two.client(), sender, b"kept"), 4);
    assert_eq!(received(two.server(), mailbox), Ok(b"kept".to_vec()));
    assert_eq!(received(two.server(), mailbox), Err(EAGAIN));
}
