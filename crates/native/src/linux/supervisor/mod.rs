//! The supervisor of an instance: a process of its own that starts the program, answers its questions, and ends with us.
//!
//! It is this very executable, started again: a large process is not copied, and nothing of it is held. Our side of its
//! standard input is the wire; when that is closed, however we ended, it ends, and all that it started.

mod answers;
mod devices;
mod endpoint;
mod exec;
mod filter;
mod launch;
mod namespaces;
mod processes;
mod random;
mod sleepers;
mod time;

use crate::address::Address;
use crate::host::sys::{self, checked};
use crate::host::wire::{self, Tag};
use crate::spec::{Clock, Network, Role, Spec};
use answers::Answers;
use launch::launch;
use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStringExt;

/// The first argument of a supervisor.
const SUPERVISOR: &str = "--keep-a-peer";
/// It has a network of its own.
pub(crate) const OWN_NETWORK: i32 = 1;
/// It is the first process of its pid namespace.
pub(crate) const OWN_PIDS: i32 = 2;
/// Questions of the program come to it.
pub(crate) const ANSWERS: i32 = 4;
/// The folder of its Unix socket is its own.
pub(crate) const OWN_FOLDER: i32 = 8;

/// What a supervisor starts.
struct Order {
    clock: Clock,
    network: Network,
    role: Role,
    address: Address,
    program: CString,
    environment: Vec<CString>,
    arguments: Vec<CString>,
}

/// The arguments of a supervisor.
pub(crate) fn arguments(spec: &Spec, program: Vec<u8>) -> Vec<OsString> {
    let clock = if spec.clock == Clock::Virtual { "virtual" } else { "real" };
    let network = if spec.network == Network::Own { "own" } else { "host" };
    let role = if spec.role == Role::Server { "server" } else { "client" };
    let (address, count) = (spec.address.word(), spec.environment.len().to_string());
    let program = OsString::from_vec(program);
    let head = [SUPERVISOR.into(), clock.into(), network.into(), role.into(), address, program, count.into()];
    let tail = spec.environment.iter().chain(&spec.command).map(|word| OsString::from_vec(word.clone()));
    head.into_iter().chain(tail).collect()
}

/// Becomes a supervisor, if this process was started as one. To be called first of all, before there are threads.
///
/// `fork(2)` in a process with threads leaves locks held by threads that do not exist in the child;
/// a supervisor forks, so it must be alone.
pub fn supervise_if_asked() {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if arguments.first().is_none_or(|first| first != SUPERVISOR) {
        return;
    }
    let is_kept = order(arguments).is_some_and(|order| keep(&order).is_ok());
    std::process::exit(i32::from(!is_kept));
}

fn order(arguments: Vec<OsString>) -> Option<Order> {
    let mut words = arguments.into_iter().skip(1).map(|word| CString::new(word.into_vec()).unwrap_or_default());
    let clock = if words.next()?.as_bytes() == b"virtual" { Clock::Virtual } else { Clock::Real };
    let network = if words.next()?.as_bytes() == b"own" { Network::Own } else { Network::Host };
    let role = if words.next()?.as_bytes() == b"server" { Role::Server } else { Role::Client };
    let address = Address::read(words.next()?.as_bytes())?;
    let program = words.next()?;
    let count = words.next()?.to_str().ok()?.parse().ok()?;
    let environment = words.by_ref().take(count).collect();
    Some(Order { clock, network, role, address, program, environment, arguments: words.collect() })
}

/// unshare(2) of `CLONE_NEWPID` moves the children of the caller, not the caller itself: the first
/// process of the namespace has to be forked. When that one ends, the kernel kills all others in it
/// (pid_namespaces(7)), which is how nothing outlives a check. Without a namespace, a subreaper
/// (prctl(2)) at least hears of all of them.
fn keep(order: &Order) -> io::Result<()> {
    let wire = take_wire()?;
    // SAFETY: numbers only; signals of our terminal are for us, not for peers.
    unsafe { libc::setsid() };
    let kept = if order.network == Network::Own { namespaces::enter() } else { 0 };
    if kept & OWN_PIDS == 0 {
        // SAFETY: numbers only; processes whose parents end become children of the supervisor.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
        return Supervisor::start(order, wire, kept)?.run();
    }
    // The first process of the namespace is a child.
    match fork()? {
        0 => {
            die_with_parent();
            namespaces::set_up();
            Supervisor::start(order, wire, kept | endpoint::isolate_folder(&order.address))?.run()
        }
        child => {
            drop(wire);
            (0..3).for_each(close);
            await_end(child);
            Ok(())
        }
    }
}

/// The wire, which is the standard input; nothing is read there from now on.
fn take_wire() -> io::Result<OwnedFd> {
    // SAFETY: numbers and a constant path.
    unsafe {
        let wire = checked(i64::from(libc::fcntl(0, libc::F_DUPFD_CLOEXEC, 3)))? as RawFd;
        libc::dup2(
            checked(i64::from(libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC)))? as RawFd,
            0,
        );
        Ok(OwnedFd::from_raw_fd(wire))
    }
}

fn fork() -> io::Result<libc::pid_t> {
    // SAFETY: a supervisor has one thread, so that its child may do all that it may do itself.
    checked(i64::from(unsafe { libc::fork() })).map(|pid| pid as libc::pid_t)
}

fn die_with_parent() {
    // SAFETY: numbers only.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

fn close(fd: RawFd) {
    // SAFETY: numbers only; nobody uses the standard streams of a process that only waits.
    unsafe { libc::close(fd) };
}

fn await_end(child: libc::pid_t) {
    // SAFETY: nothing is written.
    while unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) } < 0
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
}

/// A supervisor at work.
struct Supervisor {
    wire: OwnedFd,
    /// Says that a child has stopped or ended.
    children: OwnedFd,
    kept: i32,
    address: Address,
    program: libc::pid_t,
    /// Questions of the program; none once nobody can ask.
    answers: Option<Answers>,
}

impl Supervisor {
    fn start(order: &Order, wire: OwnedFd, kept: i32) -> io::Result<Self> {
        if let Some(why) = endpoint::refused(&order.address, kept) {
            wire::say(wire.as_raw_fd(), Tag::Failed, 0, &why, None)?;
            return Err(io::ErrorKind::AddrInUse.into());
        }
        let children = sys::signal_fd(libc::SIGCHLD)?;
        if let (Role::Client, Address::Tcp(port)) = (order.role, &order.address) {
            wire::say(wire.as_raw_fd(), Tag::Port, 0, "", Some(sys::listener(*port)?.as_raw_fd()))?;
        }
        let diagnosis = sys::socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_SOCK_DIAG)?;
        let (program, listener) = launch(order, &wire)?;
        let answers = listener.map(|listener| Answers::new(listener, order.clock));
        let kept = kept | if answers.is_some() { ANSWERS } else { 0 };
        wire::say(wire.as_raw_fd(), Tag::Ready, kept, "", Some(diagnosis.as_raw_fd()))?;
        Ok(Self { wire, children, kept, address: order.address.clone(), program, answers })
    }

    /// Serves until the other side of the wire is gone.
    fn run(mut self) -> io::Result<()> {
        loop {
            let (listener, devices) =
                self.answers.as_ref().map_or((-1, -1), |answers| (answers.fd(), answers.devices_fd()));
            let all = [self.wire.as_raw_fd(), self.children.as_raw_fd(), listener, devices];
            let [wire, children, questions, devices] = match sys::poll(all, libc::POLLIN, -1) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                ready => ready?,
            };
            if children != 0 {
                self.look_at_children();
            }
            if devices != 0 {
                self.answers.iter_mut().for_each(Answers::refill);
            }
            if questions & libc::POLLIN != 0 {
                self.answers.iter_mut().for_each(Answers::answer);
            } else if questions != 0 {
                self.answers = None;
            }
            if wire != 0 && !self.serve()? {
                return self.end();
            }
        }
    }

    /// Serves one request; false if there will be no more.
    fn serve(&mut self) -> io::Result<bool> {
        let Ok(Some(message)) = wire::hear(&self.wire, 0) else { return Ok(false) };
        let wire = self.wire.as_raw_fd();
        match message.tag {
            Tag::Socket => wire::say(wire, Tag::Socket, 0, "", Some(endpoint::socket(&self.address)?.as_raw_fd()))?,
            Tag::Target => {
                let leads = endpoint::lead(&self.address);
                wire::say(wire, Tag::Target, 0, "", leads.as_ref().map(OwnedFd::as_raw_fd))?;
            }
            Tag::Sleepers => {
                let sleepers = self.answers.as_mut().map(Answers::sleepers).unwrap_or_default();
                wire::say(wire, Tag::Sleepers, 0, &sleepers, None)?;
            }
            Tag::Wake | Tag::WakeLater => {
                let passes = message.tag == Tag::WakeLater;
                self.answers.iter_mut().for_each(|answers| answers.wake(message.number, passes));
                wire::say(wire, message.tag, 0, "", None)?;
            }
            _ => {}
        }
        Ok(true)
    }

    /// Whether the time is ours.
    fn hides_time(&self) -> bool {
        self.answers.as_ref().is_some_and(Answers::is_virtual)
    }

    fn look_at_children(&self) {
        let mut news = [0u8; 128];
        // SAFETY: room for one record. What it says is asked below.
        unsafe { libc::read(self.children.as_raw_fd(), news.as_mut_ptr().cast(), news.len()) };
        loop {
            let mut status = 0;
            // SAFETY: room for a status.
            let child = unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG | libc::__WALL) };
            match child {
                ..=0 => return,
                _ if libc::WIFSTOPPED(status) => exec::stopped(child, status, self.hides_time()),
                _ if child == self.program => {
                    let _ = wire::say(self.wire.as_raw_fd(), Tag::Ended, status, "", None);
                }
                _ => {}
            }
        }
    }

    /// Ends, and with it all that it started: the end of the first process of a pid namespace ends all others.
    fn end(&self) -> io::Result<()> {
        if self.kept & OWN_PIDS == 0 {
            end_children();
        }
        Ok(())
    }
}

/// Ends all children, and theirs, which become ours when their parents end.
fn end_children() {
    let mut is_anybody_left = true;
    while is_anybody_left {
        for child in children() {
            // SAFETY: numbers only; a child's number stays its own until it is waited for.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
        // SAFETY: nothing is written.
        is_anybody_left = unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::__WALL) } >= 0;
    }
}

/// Own children.
fn children() -> Vec<libc::pid_t> {
    let text = std::fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}
