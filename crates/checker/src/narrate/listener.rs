//! What is heard while steps are executed: operations, calls and accesses, in words, with the source lines they come from.

use super::calls;
use super::files::{self, Named, Use};
use super::heard::HeardEvent;
use super::place::place_of;
use debuginfo::DebugInfo;
use kernel::table::narration::ResultWords;
use kernel::{Id, Tid, table};
use memory::SpaceId;
use std::collections::{BTreeMap, HashMap};
use trace::EventKind;
use world::World;
use world::step::Observer;

/// Hears what happens, if it is told to listen.
#[derive(Default)]
pub struct Listener {
    /// What binaries say about themselves; deaf without.
    pub info: Option<Box<DebugInfo>>,
    /// Paths below this folder are told without it.
    pub folder: String,
    /// What was heard since the step began.
    pub heard: Vec<HeardEvent>,
    /// What is known at this point of the schedule.
    pub context: Context,
}

/// What narration knows at a point of a schedule: what things are called, which calls are under way, who holds what.
#[derive(Clone, Default)]
pub struct Context {
    /// Calls that have not returned.
    pub begun: BTreeMap<Tid, (u64, [u64; 6], HeardEvent)>,
    /// How locks and their kin are called, by object.
    pub objects: HashMap<u64, String>,
    /// The functions that threads were made for.
    pub routines: BTreeMap<Tid, String>,
    /// The function that the thread which is being made is for.
    pub routine: Option<String>,
    /// How threads are called, by the base of their local storage, which is what `pthread_join(3)` names them by.
    pub bases: HashMap<(SpaceId, u64), String>,
    /// How threads are called.
    pub threads: BTreeMap<Tid, String>,
    /// How files are called.
    pub files: HashMap<Id, String>,
    /// Since which step locks are held, by object.
    pub held: HashMap<u64, usize>,
}

impl Listener {
    /// How a thread is called.
    pub fn thread(&self, tid: Tid) -> String {
        self.context.threads.get(&tid).cloned().unwrap_or_else(|| format!("thread {}", tid.0))
    }

    /// Forgets calls of threads that have ended.
    pub fn forget(&mut self, lives: impl Fn(Tid) -> bool) {
        self.context.begun.retain(|tid, _| lives(*tid));
    }

    /// The call that a thread is in.
    pub fn waits_in(&self, tid: Tid) -> Option<&HeardEvent> {
        self.context.begun.get(&tid).map(|(_, _, heard)| heard)
    }

    /// Remembers how files are called.
    fn learn_names(&mut self, uses: &[Use]) {
        for used in uses {
            if let Use::Name(Named { path, after: Some(inode), .. }) = used {
                let name = path.rsplit('/').next().unwrap_or(path);
                self.context.files.insert(*inode, name.to_owned());
            }
        }
    }

    /// Calls an open file by its name.
    fn name_file(&self, heard: &mut HeardEvent) {
        if let Some(Use::Content { inode, .. }) = heard.uses.first()
            && let Some(name) = self.context.files.get(inode)
        {
            heard.text = heard.text.replacen("(file)", &format!("({name})"), 1);
        }
    }

    pub(super) fn hear(&mut self, world: &World, tid: Tid, (kind, text): (EventKind, String)) -> HeardEvent {
        let Some(info) = &mut self.info else {
            return HeardEvent::new(tid, kind, text);
        };
        let (location, stack) = place_of(info, world, tid, &self.folder);
        HeardEvent { location, stack, ..HeardEvent::new(tid, kind, text) }
    }
}

impl Observer for Listener {
    fn begin(&mut self, world: &mut World, tid: Tid, number: u64, args: &[u64; 6]) {
        if self.info.is_some() {
            let begun = (calls::kind(world, tid, number, args), calls::begun(world, tid, number, args));
            let mut heard = self.hear(world, tid, begun);
            heard.uses = table::row(number).map_or_else(Vec::new, |row| files::begun(world, tid, row, args));
            heard.is_private = calls::is_alone(world, tid, args[0] as i32);
            self.name_file(&mut heard);
            self.context.begun.insert(tid, (number, *args, heard));
        }
    }

    fn end(&mut self, world: &mut World, tid: Tid, result: u64) {
        let Some((number, args, mut heard)) = self.context.begun.remove(&tid) else { return };
        let Some(row) = table::row(number) else { return };
        files::returned(world, row, &mut heard.uses);
        self.learn_names(&heard.uses);
        if calls::is_told(world, tid, (row, &args), &heard, result) {
            if heard.kind == EventKind::Sleep {
                heard.text = "wake up".to_owned();
            }
            if row.narration.result == ResultWords::Child && (result as i64) > 0 {
                heard.text = format!("wait for {}", self.thread(Tid(result as u32)));
                return self.heard.push(heard);
            }
            heard.text += &calls::returned(world, tid, (row, &args), result, &heard.uses);
            if let EventKind::Call(call) = &mut heard.kind {
                calls::note_result(world, tid, (row, &args), result, call);
            }
            self.heard.push(heard);
        }
    }

    fn signal(&mut self, world: &World, tid: Tid, number: u8) {
        if self.info.is_some() {
            let text = format!("gets {}", world::strace::signal_name(u64::from(number)));
            let heard = self.hear(world, tid, (EventKind::Signal, text));
            self.heard.push(heard);
        }
    }
}
