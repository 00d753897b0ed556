//! Every set of faults against every property of programs: one search for each set.
//!
//! Sets grow one by one. In the search of a set each of its faults happens at most as often as it is in the set, and all smaller
//! sets were exhausted before: so what is violated then needs the whole set, which is minimal. Where a search was cut off,
//! the row says so, and nothing is claimed about larger sets.
//!
//! Models are searched once for all sets of a size ([`crate::campaign`]); the states of programs take so much longer than the
//! bookkeeping that common beginnings do not matter, and most sets are not searched at all: those that contain a
//! set which breaks all that is asked for.

use super::request::Wanted;
use super::setup::Setup;
use super::{budget, conduct, evidence, memory_limit, start, trial};
use crate::campaign::{Campaign, cells, is_part, with_faults};
use crate::checked::Checked;
use crate::options::{FaultOptions, Options};
use crate::output::Output;
use crate::saved::Saved;
use explore::{Budget, Spent};
use memory::Limit;
use report::{CutSet, FaultRow, Layout, Property, PropertyRow, PropertyVerdict, Robustness, Sources};
use std::sync::Arc;
use std::time::Instant;
use trace::Counterexample;
use world::host::DeclaredRoots;

/// A campaign under way.
struct Attack<'a> {
    setup: &'a Setup,
    options: &'a Options,
    host: Arc<DeclaredRoots>,
    limit: Limit,
    budget: Budget,
    no_save: bool,
    output: &'a Output,
    campaign: Campaign,
}

/// What one search showed.
struct Shown {
    checked: Checked,
    sources: Sources,
    /// Faults that it never reached.
    unreached: Vec<String>,
}

/// Lets every set of faults up to the budget of the options happen, and looks what becomes of every property.
pub fn campaign(mut setup: Setup, options: &Options, no_save: bool, output: &Output) -> Result<Campaign, String> {
    let started = Instant::now();
    setup.set_default("LD_BIND_NOW", "1");
    let wanted = Wanted::new(options, no_save);
    let (budget, limit, host) = (budget(&wanted.request), memory_limit(&wanted.request), setup.host());
    let _folder = (!no_save).then(|| Saved::here().prepare());
    trial::find_services(&mut setup, &host, limit, &budget);
    let programs = start(&setup, &host, (&wanted, limit), &budget)?;
    let faults = programs.faults().into_iter().map(row).collect();
    let most = options.view.faults.as_ref().map_or(0, |faults| faults.budget);
    let told = Robustness { system: setup.command_lines().join(" + "), budget: most, faults, ..Robustness::default() };
    let campaign = Campaign { told, counterexamples: Vec::new(), unconfirmed: Vec::new() };
    drop(programs);
    let mut attack = Attack { setup: &setup, options, host, limit, budget, no_save, output, campaign };
    for level in 0..=most {
        attack.level(level)?;
    }
    Ok(attack.finish(started))
}

/// A fault; whether it happens is seen later.
fn row(name: &str) -> FaultRow {
    let class = name.split(':').next().unwrap_or_default();
    FaultRow { name: name.to_owned(), class: class.to_owned(), reached: false }
}

/// All sets of so many faults, each ascending; one that happens twice is there twice.
fn sets(faults: usize, count: u32) -> Vec<Vec<usize>> {
    let larger = |set: Vec<usize>| {
        let from = set.last().copied().unwrap_or(0);
        (from..faults).map(move |fault| [&set[..], &[fault]].concat())
    };
    (0..count).fold(vec![Vec::new()], |sets, _| sets.into_iter().flat_map(larger).collect())
}

impl Attack<'_> {
    /// Searches all sets of so many faults.
    fn level(&mut self, level: u32) -> Result<(), String> {
        for set in sets(self.campaign.told.faults.len(), level) {
            if level == 0 || self.campaign.told.properties.iter().any(|row| is_open(row, &set)) {
                let shown = self.search(&set)?;
                self.learn(&set, shown);
            }
        }
        for row in self.campaign.told.properties.iter_mut().filter(|row| row.note.is_empty()) {
            row.exhausted = Some(level);
        }
        Ok(())
    }

    /// One search in which the faults of a set may happen.
    fn search(&mut self, set: &[usize]) -> Result<Shown, String> {
        let names: Vec<&str> = set.iter().map(|fault| self.campaign.told.faults[*fault].name.as_str()).collect();
        let mut options = self.options.clone();
        let after = self.options.view.faults.as_ref().and_then(|faults| faults.after.clone());
        options.view.faults = (!set.is_empty()).then(|| FaultOptions { after, ..FaultOptions::listed(&names) });
        // Every property is asked for its own violation, and one is enough.
        options.search.keep_going = true;
        let mut wanted = Wanted::new(&options, self.no_save);
        wanted.request.each_part = true;
        let (programs, mut checked) =
            conduct(self.setup, &self.host, (&wanted, self.limit), &self.budget, self.output)?;
        let sources = evidence::sources(&mut checked);
        let unreached = programs.unreached_faults().into_iter().map(str::to_owned).collect();
        programs.peers().iter().for_each(|peer| peer.close());
        Ok(Shown { checked, sources, unreached })
    }

    fn learn(&mut self, set: &[usize], shown: Shown) {
        let Shown { checked, sources, unreached } = shown;
        let Campaign { told, counterexamples, unconfirmed } = &mut self.campaign;
        told.covered.searches += 1;
        told.covered.states += checked.summary.covered.states;
        told.covered.steps += checked.summary.covered.steps;
        for fault in set {
            let fault = &mut told.faults[*fault];
            fault.reached |= !unreached.contains(&fault.name);
        }
        if told.properties.is_empty() {
            told.properties = checked.summary.properties.iter().map(row_of).collect();
        }
        unconfirmed.extend(checked.unconfirmed.iter().cloned());
        for (number, property) in checked.summary.properties.iter().enumerate() {
            let row = &mut told.properties[number];
            if !is_open(row, set) {
                continue;
            }
            let found = checked.counterexamples.iter().find(|(about, _)| *about == number).map(|(_, found)| found);
            match (property.verdict, found) {
                (PropertyVerdict::Violated, Some(found)) => {
                    counterexamples.push(((number, row.cut_sets.len()), found.clone()));
                    row.cut_sets.push(cut_set(set, found, &sources));
                }
                (PropertyVerdict::Holds, _) => note_bound(&mut told.notes, property),
                _ => row.note = ended(set.len(), property),
            }
        }
    }

    /// What each fault does alone, and what was covered.
    fn finish(mut self, started: Instant) -> Campaign {
        let told = &mut self.campaign.told;
        for row in &mut told.properties {
            row.cells = cells(row.cut_sets.iter().map(|set| &set.faults[..]), row.exhausted, &told.faults);
        }
        told.notes.extend(super::found_services::services(self.setup));
        told.covered.seconds = started.elapsed().as_secs_f64();
        told.covered.interrupted = self.budget.spent() == Some(Spent::Interrupted);
        self.campaign
    }
}

/// A property of which nothing is known yet.
fn row_of(property: &Property) -> PropertyRow {
    let Property { name, kind, .. } = property;
    let (cut_sets, cells) = (Vec::new(), Vec::new());
    PropertyRow { name: name.clone(), kind: *kind, cut_sets, exhausted: None, note: String::new(), cells }
}

/// Whether a set may still tell something about a property: no part of it breaks it, and smaller ones were exhausted.
fn is_open(row: &PropertyRow, set: &[usize]) -> bool {
    row.note.is_empty() && !row.cut_sets.iter().any(|known| is_part(&known.faults, set))
}

fn cut_set(set: &[usize], found: &Counterexample, sources: &Sources) -> CutSet {
    CutSet {
        faults: set.to_vec(),
        message: found.message.clone(),
        counterexample: None,
        told: report::counterexample_text(found, sources, &Layout::PLAIN),
        steps: found.schedule.choices.len(),
    }
}

/// Why nothing more is searched for.
fn ended(faults: usize, property: &Property) -> String {
    let with = with_faults(faults as u32);
    match property.note.as_str() {
        "" => format!("not exhausted {with}"),
        note => format!("{note} {with}"),
    }
}

/// A bound within which a property holds is told once.
fn note_bound(notes: &mut Vec<String>, property: &Property) {
    let note = format!("properties hold {}", property.note);
    if !property.note.is_empty() && !notes.contains(&note) {
        notes.push(note);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_all_those_of_a_size() {
        assert_eq!(sets(2, 0), vec![Vec::<usize>::new()]);
        assert_eq!(sets(2, 1), vec![vec![0], vec![1]]);
        assert_eq!(sets(2, 2), vec![vec![0, 0], vec![0, 1], vec![1, 1]]);
        assert_eq!(sets(0, 1), Vec::<Vec<usize>>::new());
    }
}
