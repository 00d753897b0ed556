//! What is heard while steps are executed: operations, calls and accesses, with the source lines they come from.

use super::calls;
use super::files::{self, Named, Use};
use super::heard::HeardEvent;
use super::origins::Origins;
use super::passages;
use super::place::{PlaceInSource, place_of};
use debuginfo::DebugInfo;
use kernel::table::narration::ResultWords;
use kernel::{Id, Tid, table};
use memory::SpaceId;
use std::collections::{BTreeMap, HashMap};
use trace::{EventKind, Progress, Returned, ThreadRef};
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
    /// A fault happens to the next call that returns.
    pub fault: Option<String>,
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
    /// Where changes of files come from that are not durable.
    pub origins: Origins,
    /// Since which step locks are held, by object.
    pub held: HashMap<u64, usize>,
    /// Who holds locks that programs acquire by an instruction of their own, by object.
    pub inline_holders: HashMap<u64, Tid>,
}

impl Listener {
    /// How a thread is called.
    pub fn thread(&self, tid: Tid) -> String {
        self.context.threads.get(&tid).cloned().unwrap_or_else(|| format!("thread {}", tid.0))
    }

    /// A thread, with how it is called.
    pub fn thread_ref(&self, tid: Tid) -> ThreadRef {
        ThreadRef { actor: tid.0, name: self.thread(tid) }
    }

    /// Forgets calls of threads that have ended.
    pub fn forget(&mut self, lives: impl Fn(Tid) -> bool) {
        self.context.begun.retain(|tid, _| lives(*tid));
    }

    /// The call that a thread is in, as an event: [`EventKind::Call`].
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
            && let EventKind::Call(call) = &mut heard.kind
        {
            call.name_file(name);
        }
    }

    pub(super) fn hear(&mut self, world: &World, tid: Tid, kind: EventKind) -> HeardEvent {
        let Some(info) = &mut self.info else { return HeardEvent::new(tid, kind) };
        let PlaceInSource { location, stack, is_runtime } = place_of(info, world, tid, &self.folder);
        HeardEvent { location, stack, is_runtime, ..HeardEvent::new(tid, kind) }
    }
}

impl Observer for Listener {
    fn begin(&mut self, world: &mut World, tid: Tid, number: u64, args: &[u64; 6]) {
        if self.info.is_some() {
            let mut heard = self.hear(world, tid, EventKind::Call(calls::begun(world, tid, number, args)));
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
        self.context.origins.note(&world.kernel, row.name, heard.location.as_ref());
        let is_own = !heard.is_runtime || heard.kind.prints();
        let fault = self.fault.take();
        if fault.is_some() || is_own && calls::is_told(world, tid, (row, &args), &heard, result) {
            let returned = match row.narration.result {
                ResultWords::Child if result as i64 > 0 => Returned::Child(self.thread_ref(Tid(result as u32))),
                _ => calls::returned(world, tid, (row, &args), result, &heard.uses),
            };
            heard.kind = heard.kind.at(Progress::Returned(returned));
            if let EventKind::Call(call) = &mut heard.kind {
                call.passage = passages::passage(world, tid, (row, &args), result);
                call.fault = fault;
            }
            self.heard.push(heard);
        }
    }

    fn signal(&mut self, world: &World, tid: Tid, number: u8) {
        if self.info.is_some() {
            let signal = world::strace::signal_name(u64::from(number));
            let heard = self.hear(world, tid, EventKind::Signal { signal });
            self.heard.push(heard);
        }
    }
}
