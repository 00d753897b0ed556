//! How processes and threads are called in a story.

use super::narrator::Narrator;
use crate::system::choice::TIME;
use crate::system::state::State;
use kernel::process;
use kernel::{Pid, Tid};
use trace::{ActorName, Ending, Trace};

impl State {
    fn pid_of(&self, tid: Tid) -> Option<Pid> {
        self.world.kernel.threads.get(&tid).map(|thread| thread.pid)
    }
}

impl Narrator<'_> {
    /// Names whoever is new; gives those.
    pub(super) fn name_threads(&mut self, trace: &mut Trace) -> Vec<Tid> {
        if trace.actors.is_empty() {
            trace.actors.push(ActorName { actor: TIME, name: "time".to_owned() });
        }
        let tids: Vec<Tid> = self.view.state.world.kernel.threads.keys().copied().collect();
        let new: Vec<Tid> = tids.into_iter().filter(|tid| !self.listener.context.threads.contains_key(tid)).collect();
        let routine = self.listener.context.routine.take();
        for tid in &new {
            if let Some(routine) = routine.as_ref().filter(|_| self.view.state.pid_of(*tid) != Some(Pid(tid.0))) {
                self.listener.context.routines.insert(*tid, routine.clone());
            }
            let (short, long) = self.new_name(*tid);
            let base = self.view.state.world.cpus.get(tid).map_or(0, |cpu| cpu.fs_base);
            self.listener.context.bases.insert((self.view.state.world.space(*tid), base), short.clone());
            self.listener.context.threads.insert(*tid, short);
            trace.actors.push(ActorName { actor: tid.0, name: long });
        }
        new
    }

    /// A short name for texts and a long one for lanes.
    fn new_name(&mut self, tid: Tid) -> (String, String) {
        let pid = self.view.state.world.kernel.threads.get(&tid).map_or(Pid(tid.0), |thread| thread.pid);
        let process = self.process_name(pid);
        let is_only =
            self.view.workload.started.len() == 1 && self.view.state.world.kernel.processes.values().count() <= 1;
        if pid.0 == tid.0 {
            let name = if is_only && self.view.workload.started.len() == 1 && self.view.workload.started[0].0 == pid {
                "main".to_owned()
            } else {
                process
            };
            return (name.clone(), name);
        }
        let of_process = |known: &&Tid| known.0 != pid.0 && self.view.state.pid_of(**known) == Some(pid);
        let number = self.listener.context.threads.keys().filter(of_process).count() + 1;
        let prefix = if is_only { String::new() } else { format!("{process} ") };
        let short = format!("{prefix}T{number}");
        let routine = self.first_function(tid);
        let long = if routine.is_empty() { short.clone() } else { format!("{short} {routine}") };
        (short, long)
    }

    /// A program's name, or its parent's with a number.
    fn process_name(&self, pid: Pid) -> String {
        if let Some((_, name)) = self.view.workload.started.iter().find(|(started, _)| *started == pid) {
            return name.clone();
        }
        let Some(process) = self.view.state.world.kernel.processes.get(&pid) else {
            return format!("process {}", pid.0);
        };
        let parent = self.listener.context.threads.get(&Tid(process.parent.0)).cloned();
        let parent = parent.filter(|name| name != "main").unwrap_or_else(|| process.name.clone());
        // Children that have ended keep their numbers, too.
        let is_sibling = |name: &&String| name.strip_prefix(&parent).is_some_and(|rest| rest.starts_with('>'));
        let is_child =
            |name: &&String| is_sibling(name) && name[parent.len() + 1..].bytes().all(|b| b.is_ascii_digit());
        let number = self.listener.context.threads.values().filter(is_child).count() + 1;
        format!("{parent}>{number}")
    }

    /// The function that a thread was made for: the C libraries leave it where the thread starts.
    fn first_function(&mut self, tid: Tid) -> String {
        let made = self.listener.context.routines.get(&tid);
        // Every thread of a Rust program begins in the same function of its library.
        let is_own = |name: &&String| !name.trim_start_matches('<').starts_with("std::");
        made.filter(is_own).cloned().unwrap_or_default()
    }

    /// How somebody who is no longer there has ended.
    pub(super) fn ending(&self, tid: Tid) -> Ending {
        let process = self.view.state.world.kernel.processes.get(&Pid(tid.0));
        match process.map(|process| process.state) {
            Some(process::State::Zombie(status)) if status & 0x7f == 0 => Ending::Exited(status >> 8 & 0xff),
            Some(process::State::Zombie(status)) => Ending::Killed(world::strace::signal_name((status & 0x7f) as u64)),
            _ => Ending::Ended,
        }
    }
}
