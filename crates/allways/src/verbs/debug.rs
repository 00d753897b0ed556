//! `allways debug`: gdb on a counterexample, or on one run of a program, forwards and backwards.

use crate::args::DebugArgs;
use crate::exit::Exit;
use crate::output::Output;
use crate::programs;
use crate::saved::Saved;
use crate::{careful, interrupt};
use debugger::{Target, serve};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// gdb does not know that `monitor step` changes registers and memory.
const COMMANDS: &str = "define hookpost-monitor\n  maintenance flush register-cache\n  maintenance flush dcache\nend\n";

/// Debugs a counterexample.
pub fn debug(args: &DebugArgs, output: &Output) -> Exit {
    let mut serve = |target: &mut Target<'_>| match args.listen {
        Some(address) => listen(address, target, output),
        None => with_gdb(&args.gdb, target, output),
    };
    if let Some(command) = &args.run {
        return programs::debug_run(command, args, output, &mut serve);
    }
    let counterexample = match Saved::here().find(args.counterexample.as_deref()) {
        Ok(counterexample) => counterexample,
        Err(why) => {
            output.error(&why);
            return Exit::Usage;
        }
    };
    let Some(record) = &counterexample.programs else {
        let (file, id) = (&counterexample.system.file, &counterexample.id);
        output.error(&format!(
            "`{file}` is a model: there is no program to debug\n  = help: look at its states: allways replay {id} --to STEP"
        ));
        return Exit::Usage;
    };
    programs::debug(&counterexample, record, args, output, &mut serve)
}

/// Waits for a debugger and serves it until it leaves.
///
/// One client, as gdbserver does it; the command that connects goes to stdout, so that scripts find the port.
fn listen(address: SocketAddr, target: &mut Target<'_>, output: &Output) -> Exit {
    let connection = TcpListener::bind(address).and_then(|listener| {
        let address = listener.local_addr()?;
        output.data(&format!("gdb -ex 'target remote {address}'\n"));
        output.note(&format!("waiting for a debugger on {address}; Ctrl-C ends"));
        Ok(listener.accept()?.0)
    });
    match connection {
        Ok(stream) => served(stream, target, output),
        Err(error) => {
            output
                .error(&format!("cannot listen on {address}: {error}\n  = help: --listen 0 takes a port that is free"));
            Exit::Usage
        }
    }
}

fn served(stream: TcpStream, target: &mut Target<'_>, output: &Output) -> Exit {
    // Answers are short, and each is awaited.
    let _ = stream.set_nodelay(true);
    if let Err(error) = serve(stream, target) {
        output.note(&format!("the debugger has gone: {error}"));
    }
    Exit::Fine
}

/// Starts gdb and serves it until it ends.
fn with_gdb(arguments: &[OsString], target: &mut Target<'_>, output: &Output) -> Exit {
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| Ok((listener.local_addr()?, listener)));
    let (address, listener) = match listener {
        Ok(listener) => listener,
        Err(error) => {
            output.error(&format!("cannot listen on this machine: {error}"));
            return Exit::Usage;
        }
    };
    // Ctrl-C is meant for gdb, which shares our terminal.
    interrupt::leave_to_others();
    let commands = CommandFile::write();
    match gdb(address, &commands, arguments).spawn() {
        Ok(child) => serve_child(child, (address, &listener), target, output),
        Err(error) => {
            output.error(&not_started(&error, &target.script.command));
            Exit::Usage
        }
    }
}

fn gdb(address: SocketAddr, commands: &CommandFile, arguments: &[OsString]) -> Command {
    let mut gdb = Command::new("gdb");
    // Files are those of the host: they were compared with what was checked.
    gdb.args(["-q", "-iex", "set sysroot /"]);
    // gdb says it in words; what we answer it shows as a number.
    gdb.args(["-iex", "set may-write-memory off"]);
    if let Some(path) = &commands.0 {
        gdb.args(["-iex", &format!("source {}", path.display())]);
    }
    gdb.args(["-ex", &format!("target remote {address}"), "-ex", "monitor where"]).args(arguments);
    gdb
}

fn not_started(error: &std::io::Error, command: &str) -> String {
    let what = match error.kind() {
        ErrorKind::NotFound => "gdb is not installed".to_owned(),
        _ => format!("cannot start gdb: {error}"),
    };
    format!(
        "{what}\n  = help: sudo apt install gdb (or your system's equivalent)\n  \
         = help: or connect any debugger that speaks gdb's protocol: {command} --listen 1234"
    )
}

/// Serves gdb, as often as it connects, until it ends.
///
/// A thread waits for its end: `accept(2)` would wait for ever for a gdb that was told to do something else than to
/// connect, such as `--version`.
fn serve_child(
    mut child: Child,
    (address, listener): (SocketAddr, &TcpListener),
    target: &mut Target<'_>,
    output: &Output,
) -> Exit {
    let has_ended = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&has_ended);
    let waits = std::thread::spawn(move || {
        let status = child.wait();
        ended.store(true, Ordering::SeqCst);
        // Wakes whoever waits for a connection.
        drop(TcpStream::connect(address));
        status
    });
    while let Ok((stream, _)) = listener.accept() {
        if has_ended.load(Ordering::SeqCst) {
            break;
        }
        served(stream, target, output);
    }
    let _ = waits.join();
    Exit::Fine
}

/// Commands for gdb in a file, for as long as it runs.
struct CommandFile(Option<PathBuf>);

impl CommandFile {
    fn write() -> Self {
        let path = std::env::temp_dir().join(format!("allways-debug-{}.gdb", std::process::id()));
        let is_written = careful::replace(&path, COMMANDS.as_bytes()).is_ok();
        Self(is_written.then_some(path))
    }
}

impl Drop for CommandFile {
    fn drop(&mut self) {
        let _ = self.0.take().map(std::fs::remove_file);
    }
}
