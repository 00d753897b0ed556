//! Where a thread is in its source.

use debuginfo::DebugInfo;
use debuginfo::lines::Frame;
use debuginfo::unwind::Call;
use kernel::Tid;
use trace::Location;
use world::World;

/// Frames of a stack that are told.
const STACK_MAX: usize = 12;
/// Where libraries of the system are: what happens inside them is told by what the program called them for.
const SYSTEM: [&str; 3] = ["/usr/lib", "/lib", "/usr/libexec"];

/// Parts of paths of sources that came with a compiler or from elsewhere: what a template or a generic function of a library
/// does is told by the author's line that led there.
const OF_LIBRARIES: [&str; 5] = ["/rustc/", "/rustlib/src/", "/.cargo/registry/", "/usr/include/", "/usr/lib/"];

/// Where a thread is.
#[derive(Default)]
pub struct PlaceInSource {
    /// The line of the program's own code.
    pub location: Option<Location>,
    /// The call stack.
    pub stack: Vec<String>,
    /// It is in what a library does before or behind the author's own code, such as a language's runtime.
    pub is_runtime: bool,
}

/// The line of the program's own code that a thread is at, and its call stack there.
pub fn place_of(info: &mut DebugInfo, world: &World, tid: Tid, folder: &str) -> PlaceInSource {
    let all = info.stack(world, tid);
    let own: Vec<&Call> = all.iter().filter(|call| is_own(call)).collect();
    let frames = || own.iter().flat_map(|call| &call.source);
    let authored = frames().filter(|frame| is_authored(frame)).find_map(|frame| located(frame, folder));
    let any = frames().find_map(|frame| located(frame, folder));
    let is_runtime = authored.is_none() && any.is_some();
    let calls = if own.is_empty() { all.iter().filter(|call| !is_frame(call)).collect() } else { own };
    let is_of_author = |call: &&&Call| call.source.iter().any(is_authored);
    // Frames of libraries are told only where there are no others.
    let has_author = calls.iter().any(|call| is_of_author(&call));
    let stack = calls.iter().filter(|call| !is_interpreter(call) && (!has_author || is_of_author(call)));
    let stack = stack.flat_map(|call| told(call, folder)).take(STACK_MAX).collect();
    PlaceInSource { location: authored.or(any), stack, is_runtime }
}

/// Whether a thread is in a function of Rust's atomics: what it accesses there is one, whatever the word is known as. Words on the
/// heap are often not known: what leads there is in a variant of an enumeration.
pub fn is_in_atomic(info: &mut DebugInfo, world: &World, tid: Tid) -> bool {
    const ATOMICS: &str = "/core/src/sync/atomic.rs";
    let stack = info.stack(world, tid);
    let innermost = stack.first().and_then(|call| call.source.first());
    innermost.and_then(|frame| frame.file.as_ref()).is_some_and(|file| file.ends_with(ATOMICS))
}

/// The author's function that a thread is in, and the line: `main:17`.
pub fn author(info: &mut DebugInfo, world: &World, tid: Tid) -> Option<String> {
    let all = info.stack(world, tid);
    let mut frames = all.iter().filter(|call| is_own(call)).flat_map(|call| &call.source);
    let frame = frames.find(|frame| is_authored(frame) && frame.line.is_some())?;
    let path = frame.function.as_deref()?;
    // Without the name of the program.
    let name = path.split_once("::").map_or(path, |(_, name)| name);
    Some(format!("{name}:{}", frame.line?))
}

/// Whether a call is of the program itself or of a library that came with it. What starts `main` is of no interest.
fn is_own(call: &Call) -> bool {
    let is_start = call.symbol.as_ref().is_some_and(|symbol| symbol.name == "_start");
    !is_start && !call.place.as_ref().is_none_or(|(file, _)| is_of_system(file))
}

/// Whether a call is of a stock program without debug information: where an interpreter is says nothing about the script.
fn is_interpreter(call: &Call) -> bool {
    let is_stock = |(file, _): &(String, u64)| file.starts_with("/usr/bin/") || file.starts_with("/bin/");
    call.source.iter().all(|frame| frame.line.is_none()) && call.place.as_ref().is_some_and(is_stock)
}

/// Whether the source of a frame is the author's own, as far as its path tells.
fn is_authored(frame: &Frame) -> bool {
    frame.file.as_ref().is_some_and(|file| !OF_LIBRARIES.iter().any(|part| file.contains(part)))
}

/// Whether a call only starts or ends a program.
fn is_frame(call: &Call) -> bool {
    const FRAME: [&str; 6] = ["_start", "__libc_start", "exit", "_exit", "__run_exit_handlers", "__GI_exit"];
    let symbol = call.symbol.as_ref().map(|symbol| symbol.name.as_str());
    symbol.is_some_and(|name| FRAME.iter().any(|frame| name == *frame || name.starts_with("__libc_start")))
}

/// Whether a binary is one of the system's libraries.
pub fn is_of_system(file: &str) -> bool {
    SYSTEM.iter().any(|folder| file.starts_with(folder))
}

fn located(frame: &Frame, folder: &str) -> Option<Location> {
    let (file, line) = (frame.file.as_ref()?, frame.line?);
    Some(Location { file: below(file, folder), line, column: frame.column.unwrap_or(1), width: 0 })
}

/// A path as its user would write it.
fn below(file: &str, folder: &str) -> String {
    file.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')).unwrap_or(file).to_owned()
}

/// The functions of one call, inlined ones first.
fn told(call: &Call, folder: &str) -> Vec<String> {
    let sourced = call.source.iter().map(|frame| {
        let name = frame.function.as_deref().unwrap_or("?");
        match (&frame.file, frame.line) {
            (Some(file), Some(line)) => format!("{name} at {}:{line}", below(file, folder)),
            _ => match &call.symbol {
                Some(symbol) => format!("{}+{:#x} in {}", symbol.name, symbol.offset, symbol.module),
                None => name.to_owned(),
            },
        }
    });
    let told: Vec<String> = sourced.collect();
    match (told.is_empty(), &call.place) {
        (true, Some((file, offset))) => vec![format!("{file}+{offset:#x}")],
        _ => told,
    }
}
