//! A process without a program: its calls are made by the test.

#![allow(dead_code, reason = "every test file uses a part of it")]

use kernel::host::{Host, NoHost};
use kernel::lifecycle::{self, Start};
use kernel::{Kernel, Outcome, Pid, Tid, wait};
use memory::{Backing, Limit, Mapping, Memory, Name, Protection, Sharing};
use std::sync::Arc;

/// Where a process has its memory.
const BASE: u64 = 0x10_0000;
/// How much of it.
const LENGTH: u64 = 4 << 20;

/// A kernel with processes whose calls the test makes.
pub struct Guest {
    pub kernel: Kernel,
    pub memory: Memory,
    pub pid: Pid,
    pub tid: Tid,
    next: u64,
}

impl Guest {
    /// One process.
    pub fn new() -> Self {
        let mut kernel = Kernel::new(Host(Arc::new(NoHost)), 1);
        let mut memory = Memory::new(Limit::default());
        let (pid, tid) = Self::start(&mut kernel, &mut memory);
        Self { kernel, memory, pid, tid, next: BASE }
    }

    /// One more process, which makes the calls from now on; gives back the one that did.
    pub fn another(&mut self) -> (Pid, Tid) {
        let now = Self::start(&mut self.kernel, &mut self.memory);
        self.switch(now)
    }

    /// Lets another process make the calls; gives back the one that did.
    pub fn switch(&mut self, (pid, tid): (Pid, Tid)) -> (Pid, Tid) {
        (std::mem::replace(&mut self.pid, pid), std::mem::replace(&mut self.tid, tid))
    }

    fn start(kernel: &mut Kernel, memory: &mut Memory) -> (Pid, Tid) {
        let (pid, tid) = lifecycle::start(kernel, memory, Start { name: "test".to_string() });
        let space = kernel.processes.get(&pid).expect("it was just started").space;
        let mapping = Mapping {
            start: BASE,
            len: LENGTH,
            protection: Protection::READ.union(Protection::WRITE),
            backing: Backing::Anonymous,
            sharing: Sharing::Private,
            grows_down: false,
            name: Name::None,
        };
        memory.map(space, mapping).expect("there is room");
        (pid, tid)
    }

    /// Memory of the process with these bytes in it.
    pub fn put(&mut self, bytes: &[u8]) -> u64 {
        let address = self.next;
        self.next += (bytes.len() as u64).next_multiple_of(16).max(16);
        assert!(self.next <= BASE + LENGTH, "the test needs more memory");
        let space = self.kernel.processes.get(&self.pid).expect("it runs").space;
        self.memory.write(space, address, bytes).expect("it is mapped");
        address
    }

    /// That many zero bytes.
    pub fn room(&mut self, length: usize) -> u64 {
        self.put(&vec![0; length])
    }

    /// Bytes of the process.
    pub fn get(&mut self, address: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        let space = self.kernel.processes.get(&self.pid).expect("it runs").space;
        self.memory.read(space, address, &mut bytes).expect("it is mapped");
        bytes
    }

    /// A 32-bit number of the process.
    pub fn get_u32(&mut self, address: u64) -> u32 {
        u32::from_le_bytes(self.get(address, 4).try_into().expect("four bytes"))
    }

    /// A call, whatever becomes of it.
    pub fn attempt(&mut self, name: &str, args: &[u64]) -> Outcome {
        let row = kernel::table::rows().find(|row| row.name == name).unwrap_or_else(|| panic!("no call {name}"));
        let mut all = [0; 6];
        all[..args.len()].copy_from_slice(args);
        self.kernel.call(&mut self.memory, self.tid, row.number, all)
    }

    /// A call that must return at once; errors are negative.
    pub fn call(&mut self, name: &str, args: &[u64]) -> i64 {
        match self.attempt(name, args) {
            Outcome::Returned(value) => value as i64,
            other => panic!("{name}: {other:?}"),
        }
    }

    /// A call that must wait.
    pub fn wait(&mut self, name: &str, args: &[u64]) {
        assert_eq!(self.attempt(name, args), Outcome::Waiting, "{name} should wait");
        assert!(!self.may_go_on(), "{name} would spin");
    }

    /// Whether the wait of the present thread is over.
    pub fn may_go_on(&self) -> bool {
        let thread = self.kernel.threads.get(&self.tid).expect("it exists");
        let waits = thread.wait.as_ref().expect("it waits");
        wait::is_over(waits, self.tid, &self.kernel, &self.memory)
    }

    /// Redoes the call of the present thread, which must return.
    pub fn redo(&mut self) -> i64 {
        assert!(self.may_go_on(), "it still waits");
        match self.kernel.redo(&mut self.memory, self.tid) {
            Outcome::Returned(value) => value as i64,
            other => panic!("redone: {other:?}"),
        }
    }

    /// A second thread of the same process; gives back the number of the first.
    pub fn spawn(&mut self) -> Tid {
        const THREAD: u64 = 0x1_0000 | 0x100 | 0x200 | 0x400 | 0x800 | 0x4_0000;
        let first = self.tid;
        match self.attempt("clone", &[THREAD, BASE]) {
            Outcome::Control(kernel::Control::Spawned { child, .. }) => self.tid = child,
            other => panic!("clone: {other:?}"),
        }
        first
    }

    /// Reads until an error or the end.
    pub fn read(&mut self, fd: i64, length: usize) -> Result<Vec<u8>, i64> {
        let buffer = self.room(length);
        match self.call("read", &[fd as u64, buffer, length as u64]) {
            count if count < 0 => Err(count),
            count => Ok(self.get(buffer, count as usize)),
        }
    }

    /// Writes.
    pub fn write(&mut self, fd: i64, bytes: &[u8]) -> i64 {
        let buffer = self.put(bytes);
        self.call("write", &[fd as u64, buffer, bytes.len() as u64])
    }

    /// `poll(2)` of one descriptor without waiting: the events.
    pub fn poll(&mut self, fd: i64) -> u16 {
        let entry = self.put(&[&(fd as i32).to_le_bytes()[..], &0x3fff_u16.to_le_bytes(), &[0; 2]].concat());
        self.call("poll", &[entry, 1, 0]);
        let bytes = self.get(entry + 6, 2);
        u16::from_le_bytes([bytes[0], bytes[1]])
    }

    /// Two connected sockets of a family and kind.
    pub fn pair(&mut self, kind: u64) -> (i64, i64) {
        let result = self.room(8);
        assert_eq!(self.call("socketpair", &[1, kind, 0, result]), 0);
        (i64::from(self.get_u32(result)), i64::from(self.get_u32(result + 4)))
    }

    /// `127.0.0.1` and a port.
    pub fn loopback(&mut self, port: u16) -> u64 {
        self.put(&[&[2, 0][..], &port.to_be_bytes(), &[127, 0, 0, 1], &[0; 8]].concat())
    }

    /// The port of a bound socket.
    pub fn port(&mut self, fd: i64) -> u16 {
        let (name, length) = (self.room(16), self.put(&16u32.to_le_bytes()));
        assert_eq!(self.call("getsockname", &[fd as u64, name, length]), 0);
        let bytes = self.get(name + 2, 2);
        u16::from_be_bytes([bytes[0], bytes[1]])
    }

    /// A listening TCP socket and its port.
    pub fn listener(&mut self, backlog: u64) -> (i64, u16) {
        let fd = self.call("socket", &[2, 1, 0]);
        let name = self.loopback(0);
        assert_eq!(self.call("bind", &[fd as u64, name, 16]), 0);
        assert_eq!(self.call("listen", &[fd as u64, backlog]), 0);
        let port = self.port(fd);
        (fd, port)
    }

    /// A TCP connection: the connecting and the accepted end.
    pub fn connection(&mut self) -> (i64, i64) {
        let (listener, port) = self.listener(1);
        let client = self.call("socket", &[2, 1, 0]);
        let name = self.loopback(port);
        assert_eq!(self.call("connect", &[client as u64, name, 16]), 0);
        let server = self.call("accept", &[listener as u64, 0, 0]);
        self.call("close", &[listener as u64]);
        (client, server)
    }
}
