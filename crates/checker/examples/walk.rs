//! Walks one schedule and tells what every step touches: `cargo run -p checker --example walk -- CMD ARGS...`.
#![allow(clippy::disallowed_methods, reason = "examples use the host")]
#![allow(clippy::print_stdout)]

use checker::footprint::access;
use checker::{Options, Programs};
use explore::graph::FootprintSystem;
use kernel::host::Host;
use memory::Limit;
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;
use trace::Choice;
use world::Command;
use world::host::{DeclaredRoots, SYSTEM_ROOTS};

fn main() {
    let arguments: Vec<Vec<u8>> = std::env::args_os().skip(1).map(OsStringExt::into_vec).collect();
    let here = std::env::current_dir().expect("a working directory");
    let mut roots: Vec<_> = SYSTEM_ROOTS.iter().map(Into::into).collect();
    roots.push(here.clone());
    let host = Host(Arc::new(DeclaredRoots::new(roots)));
    let command = Command {
        arguments,
        environment: vec![b"PATH=/usr/bin:/bin".to_vec(), b"LD_BIND_NOW=1".to_vec()],
        directory: here.into_os_string().into_vec(),
        user: None,
    };
    let mut programs = Programs::start(host, Limit::default(), &[command], Options::default()).expect("it starts");
    let mut reached = programs.initial();
    for number in 0..400 {
        let Some(actor) = reached.actors.iter().find(|actor| actor.choices > 0) else { break };
        let choice = Choice { actor: actor.number, index: 0 };
        let Some(taken) = programs.step(&reached.state, choice) else { break };
        let told: Vec<String> = taken
            .accesses
            .iter()
            .map(|access| {
                let place = programs.words().get(&access.object).map_or(access.object, |places| places[0].1);
                format!(
                    "{:?}{}{}{place:x}",
                    access::kind(access.object),
                    if access.write { "!" } else { "?" },
                    if access.plain { "" } else { "=" }
                )
            })
            .collect();
        println!("{number} {} {}", choice.actor, told.join(" "));
        reached = taken.reached;
    }
}
