//! Variables of programs: those that states are matched by, and those that are watched.

use crate::system::state::State;
use crate::system::workload::Workload;
use kernel::map::Wide;
use kernel::process;
use memory::SpaceId;
use trace::Change;

impl Workload {
    /// Checks that some program has a variable.
    pub(super) fn known(&mut self, state: &State, variable: &str) -> Result<(), String> {
        let mut why = format!("no program has a variable `{variable}`");
        for space in self.spaces(state) {
            match self.forbidden.info.global(&state.world.memory, space, variable) {
                Ok(_) => return Ok(()),
                Err(problem) => why = problem.0,
            }
        }
        Err(why)
    }

    pub(super) fn addresses_of(&mut self, state: &State, space: SpaceId, point: &str) -> Vec<u64> {
        let (info, memory) = (&mut self.forbidden.info, &state.world.memory);
        let line = point.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
        match line {
            Some((file, line)) => info.addresses_of_line(memory, space, file, line),
            None => info.functions(memory, space, &[point]).iter().map(|function| function.address).collect(),
        }
    }

    /// Fingerprint of the matched variables and of the positions of all threads, if variables are matched.
    pub(crate) fn abstraction(&mut self, state: &State) -> Option<u128> {
        if self.points.matched.is_empty() {
            return None;
        }
        let kernel = &state.world.kernel;
        let place = |tid| state.world.cpus.get(tid).map(|cpu: &x86::Cpu| (cpu.rip, cpu.gpr[x86::cpu::RSP]));
        let threads: Vec<_> =
            kernel.threads.iter().map(|(tid, thread)| (*tid, place(tid), thread.wait.is_some())).collect();
        let ended = |state: &process::State| match state {
            process::State::Zombie(status) => Some(*status),
            _ => None,
        };
        let processes: Vec<_> =
            kernel.processes.values().map(|process| (process.pid, ended(&process.state), process.space)).collect();
        let names = self.points.matched.clone();
        let mut values = Vec::new();
        for (pid, status, space) in processes {
            values.push(format!("{} {status:?}", pid.0));
            if state.world.memory.space_exists(space) {
                values.extend(names.iter().map(|name| self.value_in(state, space, name).unwrap_or_default()));
            }
        }
        Some(Wide::hash_of((threads, values)))
    }

    /// The value of a variable, as text.
    fn value_in(&mut self, state: &State, space: SpaceId, name: &str) -> Option<String> {
        let place = self.forbidden.info.global(&state.world.memory, space, name).ok()??;
        Some(place.read(&state.world.memory, space)?.to_string())
    }

    /// Values of the watched variables: one list for each program.
    pub(crate) fn watched(&mut self, state: &State) -> Vec<(String, Option<String>)> {
        let names = self.points.watched.clone();
        let spaces = if names.is_empty() { Vec::new() } else { self.spaces(state) };
        let mut values = Vec::new();
        for space in spaces {
            for name in &names {
                values.push((name.clone(), self.value_in(state, space, name)));
            }
        }
        values
    }

    /// Watched variables whose values have changed.
    pub(crate) fn watched_changes(&mut self, state: &State, before: Vec<(String, Option<String>)>) -> Vec<Change> {
        let after = self.watched(state);
        let text = |value: Option<String>| value.unwrap_or_else(|| "nothing".to_owned());
        let pairs = before.into_iter().zip(after).filter(|(before, after)| before != after);
        pairs.map(|((name, before), (_, after))| Change { name, before: text(before), after: text(after) }).collect()
    }

    /// Address spaces of the programs that were started.
    pub(crate) fn spaces(&self, state: &State) -> Vec<SpaceId> {
        let processes = self.started.iter().filter_map(|(pid, _)| state.world.kernel.processes.get(pid));
        processes.map(|process| process.space).filter(|space| state.world.memory.space_exists(*space)).collect()
    }
}
