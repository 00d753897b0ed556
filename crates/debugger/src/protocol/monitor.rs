//! `monitor COMMAND`: what gdb has no command for.

use super::session::{Reply, Session};
use super::text::{bytes, hex};
use crate::script::ScriptStep;
use kernel::Tid;

/// Steps that `monitor schedule` shows before and behind us.
const AROUND: usize = 8;

/// A row of the table below.
struct Command {
    name: &'static str,
    help: &'static str,
    answer: fn(&mut Session<'_, '_>, &str) -> String,
}

/// All commands. A newcomer types `monitor help`.
const COMMANDS: &[Command] = &[
    Command { name: "step", help: "step N       go to where step N is about to be taken", answer: step },
    Command { name: "where", help: "where        where we are", answer: |session, _| place(session) },
    Command { name: "schedule", help: "schedule [N] the steps around here, N before and behind", answer: schedule },
    Command { name: "who", help: "who          who moves next; all processes, and how to debug them", answer: who },
    Command { name: "stores", help: "stores       stores that wait in store buffers, oldest first", answer: stores },
    Command { name: "help", help: "help         this text", answer: |_, _| help() },
];

/// `qRcmd,text`.
pub fn command(session: &mut Session<'_, '_>, rest: &[u8]) -> Reply {
    let text = bytes(rest).map(|text| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default();
    let (name, argument) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    // gdb's own commands can be shortened, too.
    let found = COMMANDS.iter().find(|command| !name.is_empty() && command.name.starts_with(name));
    let answer = match found {
        Some(command) => (command.answer)(session, argument.trim()),
        None => format!("no such command: `{name}`\n{}", help()),
    };
    Reply::Data(hex(answer.as_bytes()))
}

/// A line for each command, and how to go back in time.
fn help() -> String {
    let lines = COMMANDS.iter().map(|command| format!("monitor {}\n", command.help));
    let how = "reverse-continue, reverse-step, reverse-next, reverse-finish go back; watch -l VARIABLE, then \
               reverse-continue, finds who wrote it\nnothing can be written: the past cannot be changed\n";
    lines.collect::<String>() + how
}

/// Goes to the beginning of a step.
fn step(session: &mut Session<'_, '_>, argument: &str) -> String {
    let Ok(step) = argument.parse() else { return "which step? monitor step N\n".to_owned() };
    match session.target.go_to_step(step) {
        Ok(()) => place(session),
        Err(why) => format!("{why}\n"),
    }
}

/// Steps are numbered from 1, as in reports.
fn place(session: &Session<'_, '_>) -> String {
    let (target, script) = (&session.target, &session.target.script);
    let (here, len) = (target.past().here(), target.past().len());
    let Some(step) = script.steps.get(here.step) else {
        return format!("`{}` behind step {len} of {len}, the end: {}\n", script.process, script.failure);
    };
    let ticks = target.past().ticks(here.step);
    let within = match here.tick {
        0 => "before".to_owned(),
        tick => format!("at instruction {tick} of {ticks} in"),
    };
    let text = format!("`{}` {within} step {} of {len}", script.process, here.step + 1);
    format!("{text}: {}: {}  {}", step.actor, step.text, step.place).trim_end().to_owned() + "\n"
}

/// The steps around us, with their numbers as reports have them.
fn schedule(session: &mut Session<'_, '_>, argument: &str) -> String {
    let around: usize = argument.parse().unwrap_or(AROUND);
    let (here, script) = (session.target.past().here().step, &session.target.script);
    let shown = script.steps.iter().enumerate().skip(here.saturating_sub(around)).take(around.saturating_mul(2) + 1);
    let line = |(number, step): (usize, &ScriptStep)| {
        let sign = if number == here { '>' } else { ' ' };
        let line = format!("{sign}{:5}  {:16} {:40} {}", number + 1, step.actor, step.text, step.place);
        line.trim_end().to_owned() + "\n"
    };
    let end = if here == script.steps.len() { format!(">  end  {}\n", script.failure) } else { String::new() };
    shown.map(line).collect::<String>() + &end
}

/// What memory does not show yet, of all threads. gdb knows the names: `info symbol ADDRESS`.
fn stores(session: &mut Session<'_, '_>, _: &str) -> String {
    let target = &session.target;
    let line = |(tid, address, size, value): (Tid, u64, u32, u64)| {
        format!("{:16} {address:#x} <- {value} ({size} bytes)\n", target.script.thread(tid.0))
    };
    let text: String = target.past().buffered_stores().map(line).collect();
    if text.is_empty() { "no store waits\n".to_owned() } else { text }
}

/// Who is about to move, and how each of the other processes is debugged.
fn who(session: &mut Session<'_, '_>, _: &str) -> String {
    let mut text = place(session);
    let script = &session.target.script;
    for process in &script.processes {
        let how = match process.pid == session.target.pid().0 {
            true => "this one".to_owned(),
            false => format!("{} -p '{}'", script.command, process.name),
        };
        text += &format!("  {:16} process {:5}  {how}\n", process.name, process.pid);
    }
    text
}
