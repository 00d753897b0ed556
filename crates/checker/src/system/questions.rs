//! What users ask about programs: propositions, breakpoints, variables to match by and to watch, which libraries were
//! recognised.

use crate::libc::Flavour;
use crate::system::never::named;
use crate::system::programs::Programs;
use crate::system::schedulers::Scheduler;
use kernel::descriptor::Console;
use proposition::{Problem, Proposition, Stream};
use std::collections::BTreeSet;

/// Propositions that a check may have: as many as a valuation has bits.
const PROPOSITIONS_MAX: usize = 64;

impl Programs {
    /// The C libraries whose functions were recognised, by name; none where their instructions are executed as they
    /// stand.
    #[must_use]
    pub fn libraries(&self) -> Vec<&'static str> {
        self.executor.hooks.flavours().into_iter().map(Flavour::name).collect()
    }

    /// Runtimes that schedule inside of threads, in programs that have started some.
    #[must_use]
    pub fn schedulers(&self) -> BTreeSet<Scheduler> {
        self.executor.schedulers()
    }

    /// Propositions that became true in a step of which another failure was told: whether they are ever true alone is not known.
    #[must_use]
    pub fn masked(&self) -> Vec<String> {
        self.workload.forbidden.masked()
    }

    /// Adds a proposition that must never be true; `NAME := PROPOSITION` gives it a name.
    ///
    /// # Errors
    /// If it cannot be read, or names what is not there.
    pub fn forbid(&mut self, text: &str) -> Result<(), Problem> {
        let (name, text) = named(text);
        let proposition = Proposition::parse(text)?;
        self.workload.facts(&self.state, |_, facts| proposition.verify(facts))?;
        assert_eq!(self.workload.forbidden.atoms, 0, "formulas come behind what must never be true");
        self.add_proposition(name, proposition)
    }

    /// Adds a proposition that must be true at the end of each run; `NAME := PROPOSITION` gives it a name.
    ///
    /// # Errors
    /// If it cannot be read, or names what is not there.
    pub fn demand(&mut self, text: &str) -> Result<(), Problem> {
        let (name, text) = named(text);
        let proposition = Proposition::parse(text)?;
        self.workload.facts(&self.state, |_, facts| proposition.verify(facts))?;
        self.workload.forbidden.reads_output |= proposition.reads_output();
        self.workload.forbidden.demanded.push((name.to_owned(), proposition));
        // The first round begins with this refinement.
        self.promote(&[]);
        Ok(())
    }

    /// Adds a proposition that is evaluated in each state.
    pub(crate) fn add_proposition(&mut self, name: &str, proposition: Proposition) -> Result<(), Problem> {
        let all = &mut self.workload.forbidden.all;
        if all.len() == PROPOSITIONS_MAX {
            let message = format!("there are more than {PROPOSITIONS_MAX} propositions");
            return Err(Problem { column: 1, message });
        }
        all.push((name.to_owned(), proposition.clone()));
        self.workload.forbidden.reads_output |= proposition.reads_output();
        self.watch_variables();
        // The first round begins with this refinement.
        self.promote(&[]);
        Ok(())
    }

    /// Makes the words of all global variables that propositions read watchpoints: a value that is overwritten soon is seen, too.
    pub(crate) fn watch_variables(&mut self) {
        let forbidden = &self.workload.forbidden;
        let variables: Vec<String> =
            forbidden.all.iter().flat_map(|(_, one)| one.variables()).map(|(_, path)| path).collect();
        let mut words = Vec::new();
        for space in self.workload.spaces(&self.state) {
            for variable in &variables {
                let memory = &self.state.world.memory;
                let place = self.workload.forbidden.info.global(memory, space, variable).ok().flatten();
                let range = place.map_or(0..0, |place| place.address & !3..place.address + place.size);
                words.extend(range.step_by(4).map(|address| (space, address)));
            }
        }
        self.executor.refinement.promote(words);
    }

    /// A forbidden proposition that holds in the initial state.
    pub fn forbidden_from_the_start(&mut self) -> Option<String> {
        let initial = explore::graph::FootprintSystem::initial(self);
        drop(initial);
        let true_now = self.workload.valuation(&self.state).trailing_zeros() as usize;
        self.workload.forbidden.forbidden().get(true_now).map(|(text, _)| text.clone())
    }

    /// Takes what programs have written since the last step.
    pub(crate) fn take_output(&mut self) {
        self.printed.clear();
        if self.state.world.kernel.output.is_empty() {
            return;
        }
        self.printed = std::mem::take(&mut self.state.world.kernel.output);
        if !self.workload.forbidden.reads_output {
            return;
        }
        for output in &self.printed {
            let stream = if output.stream == Console::Error { Stream::Error } else { Stream::Output };
            let key = (self.view().service(output.pid), stream as u8);
            let mut text = self.state.history.output.get(&key).cloned().unwrap_or_default();
            text.extend_from_slice(&output.bytes);
            self.state.history.output.insert(key, text);
        }
    }
}

impl Programs {
    /// Sets a breakpoint: `file.c:42`, or the beginning of a function.
    ///
    /// # Errors
    /// If there is no such code.
    pub fn break_at(&mut self, point: &str) -> Result<(), String> {
        let mut is_somewhere = false;
        for space in self.workload.spaces(&self.state) {
            for address in self.workload.addresses_of(&self.state, space, point) {
                self.executor.hooks.add_break(&self.state.world.memory, space, address);
                is_somewhere = true;
            }
        }
        self.executor.refresh_stops();
        match is_somewhere {
            true => Ok(()),
            false => Err(format!(
                "no code at `{point}`\n  = help: name a function, or a line as FILE:LINE; lines need a program that was compiled with -g"
            )),
        }
    }

    /// Identifies states that agree in the named variables and in the positions of all threads.
    ///
    /// # Errors
    /// If there is no such variable.
    pub fn match_by(&mut self, variable: &str) -> Result<(), String> {
        self.workload.known(&self.state, variable)?;
        self.workload.points.matched.push(variable.to_owned());
        Ok(())
    }

    /// Shows the value of a variable wherever it changes.
    ///
    /// # Errors
    /// If there is no such variable.
    pub fn watch(&mut self, variable: &str) -> Result<(), String> {
        self.workload.known(&self.state, variable)?;
        self.workload.points.watched.push(variable.to_owned());
        Ok(())
    }
}
