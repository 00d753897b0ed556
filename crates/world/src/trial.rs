//! One run to see which programs listen.

use crate::run::{Audience, Round, Run};
use crate::step::Observer;
use crate::world::{Command, World};
use kernel::descriptor::File;
use kernel::kernel::Output;
use kernel::net::address::Name;
use kernel::net::socket::Stage;
use kernel::process::State;
use kernel::{Kernel, Pid, Tid};
use x86::Code;

/// Turns of a trial at most. Turns, not time: the same programs listen on any machine.
const TURNS: u32 = 20_000;

/// The syscalls `bind(2)` and `listen(2)`.
const BIND: u64 = 49;
const LISTEN: u64 = 50;

/// Where a program can be reached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// A socket of this name listens.
    Listening(Name),
    /// A UDP socket has this port.
    Bound(u16),
}

/// A program that listens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listener {
    /// Which of the programs.
    pub index: usize,
    /// Where it listens, or can be sent to.
    pub at: Vec<Place>,
    /// Whether it ended by itself.
    pub ends: bool,
}

/// The programs that listen in one run of all. Each program starts when those before it wait; the run ends when all but
/// listeners have ended. Whatever ends it earlier, what was seen counts.
pub fn listeners(world: &mut World, commands: &[Command], stops: &mut dyn FnMut() -> bool) -> Vec<Listener> {
    let mut trial = Trial { world, watcher: Watcher { stops, turns: 0, begun: Vec::new(), heard: Vec::new() } };
    let pids = trial.run(commands);
    pids.iter().enumerate().filter_map(|(index, pid)| trial.listener(index, *pid)).collect()
}

/// The world of a trial.
struct Trial<'a> {
    world: &'a mut World,
    watcher: Watcher<'a>,
}

/// Sees who listens.
struct Watcher<'a> {
    stops: &'a mut dyn FnMut() -> bool,
    turns: u32,
    /// Threads that are in `bind(2)` or `listen(2)`, and their descriptors.
    begun: Vec<(Tid, i32)>,
    /// Processes that listen, and where.
    heard: Vec<(Pid, Place)>,
}

impl Trial<'_> {
    /// Runs programs; their processes.
    fn run(&mut self, commands: &[Command]) -> Vec<Pid> {
        let mut code = Code::default();
        let mut pids = Vec::new();
        for command in commands {
            while let Ok(Round::Moved) = Run::new(self.world, &mut code, &mut self.watcher).round() {}
            let Ok(tid) = self.world.start(command) else { break };
            pids.extend(self.world.kernel.threads.get(&tid).map(|thread| thread.pid));
        }
        while self.awaits(&pids) {
            let mut run = Run::new(self.world, &mut code, &mut self.watcher);
            match run.round() {
                Ok(Round::Moved) => {}
                Ok(Round::Quiet) if run.pass_time() && !self.watcher.wants_to_stop() => {}
                _ => break,
            }
        }
        // What listeners do about the end of the others is part of the trial.
        while let Ok(Round::Moved) = Run::new(self.world, &mut code, &mut self.watcher).round() {}
        pids
    }

    /// Whether a program that does not listen has not ended.
    fn awaits(&self, pids: &[Pid]) -> bool {
        let listens = |pid: &Pid| self.watcher.heard.iter().any(|(heard, _)| heard == pid);
        pids.iter().any(|pid| !self.has_ended(*pid) && !listens(pid))
    }

    fn has_ended(&self, pid: Pid) -> bool {
        let process = self.world.kernel.processes.get(&pid);
        process.is_none_or(|process| matches!(process.state, State::Zombie(_)))
    }

    fn listener(&self, index: usize, pid: Pid) -> Option<Listener> {
        let mut at: Vec<Place> = Vec::new();
        for (_, place) in self.watcher.heard.iter().filter(|(by, _)| *by == pid) {
            if !at.contains(place) {
                at.push(place.clone());
            }
        }
        (!at.is_empty()).then(|| Listener { index, at, ends: self.has_ended(pid) })
    }
}

impl Observer for Watcher<'_> {
    fn begin(&mut self, _: &mut World, tid: Tid, number: u64, args: &[u64; 6]) {
        if [BIND, LISTEN].contains(&number) {
            self.begun.push((tid, args[0] as i32));
        }
    }

    fn end(&mut self, world: &mut World, tid: Tid, _: u64) {
        if let Some(at) = self.begun.iter().position(|(begun, _)| *begun == tid) {
            let (_, descriptor) = self.begun.swap_remove(at);
            self.heard.extend(listening(&world.kernel, tid, descriptor));
        }
    }

    fn signal(&mut self, _: &World, _: Tid, _: u8) {}
}

impl Audience for Watcher<'_> {
    fn output(&mut self, _: &Output) {}

    fn wants_to_stop(&mut self) -> bool {
        self.turns += 1;
        self.turns > TURNS || (self.stops)()
    }
}

/// Where a thread listens at a descriptor: for its process, and for those that it descends from.
fn listening(kernel: &Kernel, tid: Tid, descriptor: i32) -> Vec<(Pid, Place)> {
    let Some((thread, place)) = kernel.threads.get(&tid).zip(place(kernel, tid, descriptor)) else {
        return Vec::new();
    };
    kernel.ancestors(thread.pid).map(|pid| (pid, place.clone())).collect()
}

/// Where the socket at a descriptor can be reached: it listens, or has a port that its program chose.
fn place(kernel: &Kernel, tid: Tid, descriptor: i32) -> Option<Place> {
    let File::Socket(id) = kernel.descriptions.get(&kernel.description_for(tid, descriptor)?)?.file else {
        return None;
    };
    let socket = kernel.net.sockets.get(&id)?;
    match socket.stage {
        Stage::Listening => socket.local.clone().map(Place::Listening),
        _ if socket.is_udp() && !socket.port_chosen => socket.port().map(Place::Bound),
        _ => None,
    }
}
