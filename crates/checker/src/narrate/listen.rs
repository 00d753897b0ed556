//! What is heard while steps are executed: operations, calls and accesses, in words, with the source lines they come from.

use super::calls;
use super::files::{self, Named, Use};
use super::place::{self, place_of};
use crate::libc::{Function, Hook, Member, Whole};
use crate::system::programs::Programs;
use debuginfo::DebugInfo;
use kernel::table::narration::ResultWords;
use kernel::{Id, Tid, table};
use memory::{AccessKind, SpaceId};
use std::collections::{BTreeMap, HashMap};
use trace::Location;
use world::World;
use world::step::Observer;

/// Something that a thread did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeardEvent {
    /// Who.
    pub tid: Tid,
    /// What, in words.
    pub text: String,
    /// The source line, if it is known.
    pub location: Option<Location>,
    /// Functions at work, innermost first.
    pub stack: Vec<String>,
    /// A signal was delivered.
    pub is_signal: bool,
    /// Files that it used.
    pub uses: Vec<Use>,
    /// It is about something that nobody else can know of.
    pub is_private: bool,
}

impl HeardEvent {
    fn new(tid: Tid, text: String) -> Self {
        let (stack, uses) = (Vec::new(), Vec::new());
        Self { tid, text, location: None, stack, is_signal: false, uses, is_private: false }
    }
}

/// Hears what happens, if it is told to listen.
#[derive(Default)]
pub struct Listener {
    /// What binaries say about themselves; deaf without.
    pub info: Option<Box<DebugInfo>>,
    /// Paths below this folder are told without it.
    pub folder: String,
    /// What was heard since the step began.
    pub heard: Vec<HeardEvent>,
    /// Calls that have not returned.
    pub(super) begun: BTreeMap<Tid, (u64, [u64; 6], HeardEvent)>,
    /// How locks and their kin are called, by object.
    pub names: HashMap<u64, String>,
    /// The functions that threads were made for.
    pub heard_routines: BTreeMap<Tid, String>,
    /// The function that the thread which is being made is for.
    pub routine: Option<String>,
    /// How threads are called, by the base of their local storage, which is what `pthread_join(3)` names them by.
    pub bases: HashMap<(SpaceId, u64), String>,
    /// How threads are called.
    pub threads: BTreeMap<Tid, String>,
    /// How files are called.
    pub files: HashMap<Id, String>,
}

impl Listener {
    /// How a thread is called.
    pub fn thread(&self, tid: Tid) -> String {
        self.threads.get(&tid).cloned().unwrap_or_else(|| format!("thread {}", tid.0))
    }

    /// Forgets calls of threads that have ended.
    pub fn forget(&mut self, lives: impl Fn(Tid) -> bool) {
        self.begun.retain(|tid, _| lives(*tid));
    }

    /// The call that a thread is in.
    pub fn waits_in(&self, tid: Tid) -> Option<&HeardEvent> {
        self.begun.get(&tid).map(|(_, _, heard)| heard)
    }

    /// Remembers how files are called.
    fn learn_names(&mut self, uses: &[Use]) {
        for used in uses {
            if let Use::Name(Named { path, after: Some(inode), .. }) = used {
                let name = path.rsplit('/').next().unwrap_or(path);
                self.files.insert(*inode, name.to_owned());
            }
        }
    }

    /// Calls an open file by its name.
    fn name_file(&self, heard: &mut HeardEvent) {
        if let Some(Use::Content { inode, .. }) = heard.uses.first()
            && let Some(name) = self.files.get(inode)
        {
            heard.text = heard.text.replacen("(file)", &format!("({name})"), 1);
        }
    }

    fn hear(&mut self, world: &World, tid: Tid, text: String) -> HeardEvent {
        let Some(info) = &mut self.info else {
            return HeardEvent::new(tid, text);
        };
        let (location, stack) = place_of(info, world, tid, &self.folder);
        HeardEvent { location, stack, ..HeardEvent::new(tid, text) }
    }
}

impl Observer for Listener {
    fn begin(&mut self, world: &mut World, tid: Tid, number: u64, args: &[u64; 6]) {
        if self.info.is_some() {
            let text = calls::begun(world, tid, number, args);
            let mut heard = self.hear(world, tid, text);
            heard.uses = table::row(number).map_or_else(Vec::new, |row| files::begun(world, tid, row, args));
            heard.is_private = calls::is_alone(world, tid, args[0] as i32);
            self.name_file(&mut heard);
            self.begun.insert(tid, (number, *args, heard));
        }
    }

    fn end(&mut self, world: &mut World, tid: Tid, result: u64) {
        let Some((number, args, mut heard)) = self.begun.remove(&tid) else { return };
        let Some(row) = table::row(number) else { return };
        files::returned(world, row, &mut heard.uses);
        self.learn_names(&heard.uses);
        if calls::is_told(world, tid, (row, &args), &heard, result) {
            if heard.text.starts_with("sleep ") {
                heard.text = "wake up".to_owned();
            }
            if row.narration.result == ResultWords::Child && (result as i64) > 0 {
                heard.text = format!("wait for {}", self.thread(Tid(result as u32)));
                return self.heard.push(heard);
            }
            heard.text += &calls::returned(world, tid, (row, &args), result, &heard.uses);
            self.heard.push(heard);
        }
    }

    fn signal(&mut self, world: &World, tid: Tid, number: u8) {
        if self.info.is_some() {
            let text = format!("gets {}", world::strace::signal_name(u64::from(number)));
            let heard = HeardEvent { is_signal: true, ..self.hear(world, tid, text) };
            self.heard.push(heard);
        }
    }
}

impl Programs {
    /// Hears an operation of the C library that is about to be carried out.
    pub(crate) fn hear_operation(&mut self, tid: Tid, hook: Hook) {
        // What the library does inside is not what the program does, nor is what it does with locks of its own.
        let is_own = !self.library.member(tid).is_some_and(Member::is_in_library) && !self.is_of_system(tid, hook);
        if self.listener.info.is_some()
            && is_own
            && let Some(text) = self.operation_words(tid, hook)
        {
            if hook.function == Function::Whole(Whole::Create) {
                self.listener.routine = Some(self.routine(tid));
            }
            let heard = self.listener.hear(&self.world, tid, text);
            self.listener.heard.push(heard);
        }
    }

    /// Whether an operation is about a variable of a library of the system.
    fn is_of_system(&mut self, tid: Tid, hook: Hook) -> bool {
        let operation = self.operation(tid, hook);
        let world = &self.world;
        let info = self.listener.info.as_mut();
        let variable = info.and_then(|info| info.variable_at(world, operation.space, operation.args[0]));
        let is_lock = hook.function.synchronises() && hook.function != Function::Join;
        is_lock && variable.is_some_and(|variable| place::is_of_system(&variable.module))
    }

    /// Hears an access to a word that threads stop at.
    pub(crate) fn hear_access(&mut self, tid: Tid, space: SpaceId, access: memory::VisibleAccess) {
        if self.listener.info.is_some() {
            let does = if access.access == AccessKind::Read { "reads" } else { "writes" };
            let text = format!("{does} {}", self.name_at(space, access.addr));
            let heard = self.listener.hear(&self.world, tid, text);
            self.listener.heard.push(heard);
        }
    }

    /// How the program calls what is at an address.
    pub(super) fn name_at(&mut self, space: SpaceId, address: u64) -> String {
        let world = &self.world;
        let variable = self.listener.info.as_mut().and_then(|info| info.variable_at(world, space, address));
        match variable.filter(|variable| !variable.module.is_empty()) {
            Some(variable) => variable.path,
            None => format!("{address:#x}"),
        }
    }
}
