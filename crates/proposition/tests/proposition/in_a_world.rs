//! Propositions about programs that run inside.

use crate::inside;
use debuginfo::DebugInfo;
use kernel::Pid;
use proposition::{Proposition, Stream, WorldFacts};
use std::os::unix::ffi::OsStrExt;
use world::run::End;

const SOURCE: &str = r#"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum role { FOLLOWER, LEADER };
struct { enum role role; int term; } state = { LEADER, 7 };
int main(int count, char **words) {
    if (!strcmp(words[1], "file")) { int fd = open("x.lock", O_CREAT | O_WRONLY, 0600); return write(fd, "one\ntwo\n", 8) != 8; }
    if (!strcmp(words[1], "fail")) return 3;
    if (!strcmp(words[1], "abort")) abort();
    for (;;) pause();
}
"#;

#[test]
fn a_world_answers() {
    let folder = inside::folder("proposition");
    std::fs::write(folder.join("program.c"), SOURCE).expect("the folder takes files");
    let mut gcc = std::process::Command::new("gcc");
    let built = gcc.args(["-g", "-O1", "-o", "program", "program.c"]).current_dir(&folder).status();
    assert!(built.expect("gcc runs").success());
    let mut world = inside::world(&folder);
    let program = "./program";
    let all = [program, "file", "+", program, "fail", "+", program, "abort", "+", program, "wait"];
    let (end, _) = inside::run_in(&mut world, &all, &folder);
    assert!(matches!(end, End::Deadlock(_)), "{end:?}");
    let pid = |word: &str| {
        let mut all = world.kernel.processes.values();
        all.find(|process| process.image.arguments[1] == word.as_bytes()).expect("it was started").pid
    };
    let names = [("writer", "file"), ("client.1", "fail"), ("client.2", "abort"), ("server", "wait")];
    let processes = names.map(|(name, word)| (name.to_owned(), pid(word)));
    let mut info = DebugInfo::new(world.kernel.host.clone());
    let writer = processes[0].1;
    let output = |pid: Pid, stream: Stream| -> Vec<u8> {
        if pid == writer && stream == Stream::Output { b"done\n".to_vec() } else { Vec::new() }
    };
    let mut facts = WorldFacts {
        world: &world,
        info: &mut info,
        processes: &processes,
        output: &output,
        called: Some((processes[3].1, "pause")),
        directory: folder.as_os_str().as_bytes(),
    };
    for text in [
        "exited(writer) == 0 && exited(client.1) == 3 && crashed(client.2) == 6",
        "!crashed(client.1) && !exited(client.2) && !running(client)",
        "running(server) && blocked(server) && !blocked(writer)",
        "exists(\"x.lock\") && !exists(\"y.lock\") && exists(\"/usr\") && !exists(\"x.lock/z\")",
        "content(\"x.lock\") =~ \"^two$\" && lines(content(\"x.lock\")) == 2",
        "content(\"program.c\") =~ \"enum role\" && !(content(\"/usr\") =~ \"\")",
        "server:state.role == LEADER && server:state.term == 7",
        "!(writer:state.term == 7)",
        "stdout(*) =~ \"done\" && !(stdout(server) =~ \"done\")",
        "syscall(server, \"pause\") && !syscall(writer, \"pause\") && !syscall(server, \"write\")",
    ] {
        let proposition = Proposition::parse(text).expect(text);
        assert_eq!(proposition.holds(&mut facts), Ok(true), "{text}");
        assert_eq!(proposition.verify(&mut facts), Ok(()), "{text}");
    }
    for (text, message) in [
        ("server:stat.role == 1", "`program` has no global variable `stat`: did you mean `state`?"),
        ("syscall(server, \"wriet\")", "there is no syscall `wriet`: did you mean `write`?"),
    ] {
        let problem = Proposition::parse(text).expect(text).holds(&mut facts).expect_err(text);
        assert_eq!(problem.message, message);
    }
}
