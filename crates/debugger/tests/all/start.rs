//! A program with a schedule.

use checker::{Options, Programs};
use debugger::{Past, Script, Target};
use explore::graph::FootprintSystem;
use kernel::Pid;
use kernel::host::Host;
use memory::Limit;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use trace::Choice;
use world::host::{DeclaredRoots, SYSTEM_ROOTS};

/// Two threads that add, lock, allocate, print and read from a pipe.
const SOURCE: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int total, pipes[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *add(void *amount) {
    char *text = malloc(100), got[8] = "";
    sprintf(text, "%d;", *(int *)amount);
    write(pipes[1], text, 2);
    read(pipes[0], got, 2);
    pthread_mutex_lock(&lock);
    total += atoi(got);
    pthread_mutex_unlock(&lock);
    free(text);
    return 0;
}
int main(void) {
    pthread_t one, two;
    int a = 3, b = 4;
    if (pipe(pipes)) return 1;
    pthread_create(&one, 0, add, &a);
    pthread_create(&two, 0, add, &b);
    pthread_join(one, 0);
    pthread_join(two, 0);
    printf("%d\n", total);
    return 0;
}
"#;

/// Compiles the program and loads it.
pub fn programs(name: &str) -> Programs {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("can make a folder");
    fs::write(folder.join("add.c"), SOURCE).expect("can write a file");
    let built = Command::new("gcc").args(["-g", "-pthread", "-o", "add", "add.c"]).current_dir(&folder).status();
    assert!(built.expect("gcc runs").success());
    let roots = SYSTEM_ROOTS.iter().map(PathBuf::from).chain([folder.clone()]).collect();
    let text = |path: PathBuf| path.into_os_string().into_encoded_bytes();
    let (arguments, directory) = (vec![text(folder.join("add"))], text(folder));
    let command = world::Command { arguments, environment: Vec::new(), directory, user: None };
    let host = Host(Arc::new(DeclaredRoots::new(roots)));
    Programs::start(host, Limit::default(), &[command], Options::default()).expect("it starts")
}

/// One of many schedules, from the first step to the end. Steps must have shown all they can about which words matter:
/// until then they begin and end elsewhere the next time.
pub fn schedule(programs: &mut Programs, seed: u32) -> Vec<Choice> {
    loop {
        let choices = attempt(programs, seed);
        if !programs.promote(&[]) {
            return choices;
        }
    }
}

fn attempt(programs: &mut Programs, mut seed: u32) -> Vec<Choice> {
    let mut choices = Vec::new();
    let mut reached = programs.initial();
    loop {
        let able: Vec<u32> =
            reached.actors.iter().filter(|actor| actor.choices > 0).map(|actor| actor.number).collect();
        if able.is_empty() {
            return choices;
        }
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let choice = Choice { actor: able[(seed >> 16) as usize % able.len()], index: 0 };
        reached = programs.step(&reached.state, choice).expect("it is enabled").reached;
        choices.push(choice);
    }
}

/// The program's process, at its end.
pub fn target<'p>(programs: &'p mut Programs, choices: &[Choice]) -> (Target<'p>, Pid) {
    let past = Past::record(programs, choices).expect("the schedule is its own");
    let pid = past.processes()[0];
    (Target::new(past, pid, Script::default()).expect("it lives"), pid)
}
