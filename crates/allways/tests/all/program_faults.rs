//! Faults of programs: `check --faults K --only ...`.

use crate::folder::{Folder, Told, says};
use std::fs;

/// A check for failed assertions and the like: a program may end with an error code when something failed.
fn checked(folder: &Folder, flags: &[&str], program: &str) -> Told {
    folder.run(&[&["check", "--check", "assert,crash,deadlock"], flags, &["--", program]].concat())
}

fn save(name: &str, flags: &[&str]) -> Folder {
    let folder = Folder::new(&format!("program-faults-{name}"));
    folder.compile("save", flags, "programs/faults/save.c");
    folder
}

#[test]
fn a_call_that_fails_is_a_fault() {
    let folder = save("careless", &[]);
    says(&checked(&folder, &[], "./save"), 0, &["exhaustive", "holds: 3 of 3"]);
    for (fault, shown) in [("write:error=ENOSPC", "-> ENOSPC (fault)"), ("write:short", "(fault)")] {
        let told = checked(&folder, &["--faults", "1", "--only", fault], "./save");
        says(&told, 1, &["error[assert]", shown, "save.c:", "confirmed by replay"]);
        says(&folder.run(&["replay"]), 1, &["error[assert]", shown]);
    }
}

#[test]
fn a_program_that_looks_at_what_calls_return_survives() {
    let folder = save("careful", &["-DCHECKED"]);
    for fault in ["write:error=ENOSPC", "write:error=ENOSPC:when=1+", "write:error=EINTR", "write:short"] {
        let told = checked(&folder, &["--faults", "2", "--only", fault], "./save");
        says(&told, 0, &["exhaustive", "holds: 3 of 3", &format!("up to 2 of {fault}")]);
        assert!(!told.out.contains("was never reached"), "{}", told.out);
    }
}

/// A program alone, with flags of its compiler; the faults; what is told of it.
fn alone(name: &str, flags: &[&str], faults: &[&str]) -> (Folder, Told) {
    let folder = Folder::new(&format!("program-faults-{name}{}", flags.concat()));
    folder.compile(name, flags, &format!("programs/faults/{name}.c"));
    let told = checked(&folder, faults, &format!("./{name}"));
    (folder, told)
}

#[test]
fn a_signal_comes_between_any_two_instructions() {
    let sent = ["--faults", "1", "--only", "signal:CHLD"];
    let (folder, told) = alone("handler", &[], &sent);
    says(
        &told,
        1,
        &["error[assert]", "SIGCHLD is sent to handler", "gets SIGCHLD", "writes errno", "confirmed by replay"],
    );
    says(&folder.run(&["replay"]), 1, &["error[assert]", "SIGCHLD is sent to handler"]);
    let (_, told) = alone("handler", &["-DSAVES"], &sent);
    says(&told, 0, &["exhaustive", "holds: 3 of 3", "up to 1 of signal:CHLD"]);
}

#[test]
fn a_signal_that_a_fault_sends_may_end_the_program() {
    let (_, told) = alone("handler", &["-DSAVES"], &["--faults", "1", "--only", "signal:TERM:handler"]);
    says(&told, 0, &["exhaustive", "holds: 3 of 3"]);
    assert!(!told.out.contains("was never reached"), "{}", told.out);
}

/// A program with a handler of `SIGUSR1`, and one such signal from outside; what is told of it.
fn interrupted(name: &str, source: &str, flags: &[&str]) -> Told {
    let folder = Folder::new(&format!("program-faults-{name}"));
    folder.compile(name, &[], source);
    let program = format!("./{name}");
    folder.run(&[&["check", "--faults", "1", "--only", "signal:USR1"], flags, &["--", &program]].concat())
}

#[test]
fn a_signal_does_not_split_an_instruction() {
    // Between the load and the store of `incl` the handler's addition would be lost.
    let source = "#include <assert.h>\n#include <signal.h>\nstatic volatile int x, handled;\nstatic void on(int s) { (void)s; handled = 1; x += 2; }\nint main(void) {\n    sigset_t all;\n    sigfillset(&all);\n    signal(SIGUSR1, on);\n    __asm__ volatile(\"incl %0\" : \"+m\"(x));\n    sigprocmask(SIG_BLOCK, &all, 0);\n    assert(x == 1 + 2 * handled);\n    return x == 3;\n}\n";
    says(&interrupted("whole", source, &["--check", "assert"]), 0, &["exhaustive", "holds: 1 of 1"]);
    says(&interrupted("reached", source, &["--check", "exit"]), 1, &["ends with exit code 1", "SIGUSR1 is sent to"]);
}

#[test]
fn a_signal_comes_between_calls_that_only_its_handler_can_notice() {
    let source = "#include <fcntl.h>\n#include <signal.h>\n#include <unistd.h>\nstatic int fd;\nstatic volatile int at = -1;\nstatic void on(int s) { (void)s; at = lseek(fd, 0, SEEK_CUR); }\nint main(void) {\n    fd = open(\"f\", O_CREAT | O_RDWR, 0600);\n    signal(SIGUSR1, on);\n    write(fd, \"a\", 1);\n    write(fd, \"b\", 1);\n    return at == 1 ? 7 : 0;\n}\n";
    says(&interrupted("between", source, &["--check", "exit"]), 1, &["ends with exit code 7", "confirmed by replay"]);
}

#[test]
fn what_a_handler_jumps_to_sees_each_moment_of_what_it_has_interrupted() {
    // A pair in memory that all share, one in the frame that is jumped to, and one in frames that are left.
    let source = "#include <assert.h>\n#include <setjmp.h>\n#include <signal.h>\nstatic sigjmp_buf back;\nstatic volatile int a, b;\nstatic void on(int s) { (void)s; siglongjmp(back, 1); }\nstatic __attribute__((noinline)) int deep(int n) { volatile int here[4] = {n, n, n, n}; return here[n & 3]; }\nint main(void) {\n    volatile int c = 0, d = 0;\n    if (sigsetjmp(back, 1)) {\n#ifdef STATIC\n        assert(a == b);\n#else\n        assert(c == d);\n#endif\n        return deep(0);\n    }\n    signal(SIGUSR1, on);\n#ifdef STATIC\n    a = 1;\n    b = 1;\n#else\n    c = 1;\n    d = 1;\n#endif\n    signal(SIGUSR1, SIG_IGN);\n    return deep(3) - 3;\n}\n";
    let told = [("local", ""), ("static", "#define STATIC\n")].map(|(name, define)| {
        interrupted(&format!("jump-{name}"), &format!("{define}{source}"), &["--check", "assert"])
    });
    for told in told {
        says(&told, 1, &["error[assert]", "SIGUSR1 is sent to", "confirmed by replay"]);
    }
    let blocks = source.replace(
        "    a = 1;",
        "    sigset_t all;\n    sigfillset(&all);\n    sigprocmask(SIG_BLOCK, &all, 0);\n    a = 1;",
    );
    let told = interrupted("jump-blocked", &format!("#define STATIC\n{blocks}"), &["--check", "assert"]);
    says(&told, 0, &["exhaustive", "holds: 1 of 1"]);
}

#[test]
fn who_handles_a_signal_and_goes_on_is_not_taken_for_dead() {
    let folder = Folder::new("program-faults-alive");
    folder.compile("alive", &[], "#include <signal.h>\nstatic volatile int handled;\nstatic void on(int s) { (void)s; handled = 1; }\nint main(void) {\n    signal(SIGUSR1, on);\n    return handled ? 3 : 0;\n}\n");
    let file = "[check.alive]\ncheck = [\"deadlock\"]\n[check.alive.faults]\nprocess = [\"signal:USR1:first\"]\n[check.alive.service.first]\ncommand = \"./alive\"\nexpected_final_state = \"any\"\n[check.alive.service.second]\ncommand = \"./alive\"\ndepends_on = { first = { condition = \"service_completed_successfully\" } }\n";
    fs::write(folder.0.join("allways.toml"), file).expect("can write a file");
    // The second one waits for a success that a handled signal has prevented: nobody has killed the first one.
    says(&folder.run(&["check", "alive"]), 1, &["error[deadlock]", "SIGUSR1 is sent to first", "second"]);
}

#[test]
fn signals_of_children_that_end_together_are_one() {
    says(&alone("children", &[], &[]).1, 1, &["error[deadlock]", "main waits for ever", "rt_sigsuspend"]);
    says(&alone("children", &["-DALL"], &[]).1, 0, &["exhaustive", "holds: 3 of 3"]);
}

#[test]
fn a_server_without_memory_keeps_its_descriptors() {
    let fault = ["--faults", "1", "--only", "mmap:error=ENOMEM"];
    says(&alone("leak", &[], &fault).1, 1, &["error[assert]", "leak.c:27", "-> ENOMEM (fault)"]);
    says(&alone("leak", &["-DCLOSES"], &fault).1, 0, &["exhaustive", "holds: 3 of 3"]);
}

#[test]
fn faults_may_be_of_one_file_and_begin_late() {
    let folder = save("scoped", &[]);
    let check = |more: &[&str]| checked(&folder, &[&["--faults", "1"], more].concat(), "./save");
    says(&check(&["--only", "write:error=ENOSPC:path=record.*"]), 1, &["error[assert]", "-> ENOSPC (fault)"]);
    let other = "write:error=ENOSPC:path=other";
    says(&check(&["--only", other]), 0, &["holds: 3 of 3", &format!("the fault {other} was never reached")]);
    says(&check(&["--only", "write:error=ENOSPC:on=file"]), 1, &["error[assert]", "-> ENOSPC (fault)"]);
    let socket = "write:error=ENOSPC:on=socket";
    says(&check(&["--only", socket]), 0, &["holds: 3 of 3", &format!("the fault {socket} was never reached")]);
    // When the record has its name, all was written.
    let late = ["--only", "write:error=ENOSPC,write:short", "--after", "exists(\"record\")"];
    says(&check(&late), 0, &["exhaustive", "holds: 3 of 3", "after exists(\"record\")", "was never reached"]);
    let early = ["--only", "write:short", "--after", "exists(\"record.new\")"];
    says(&check(&early), 1, &["error[assert]", "confirmed by replay"]);
    says(&folder.run(&["replay"]), 1, &["error[assert]", "(fault)"]);
    says(&check(&["--only", "write:short", "--after", "exists(record"]), 2, &["--after"]);
    says(&checked(&folder, &["--after", "exists(\"record\")"], "./save"), 2, &["--faults 1"]);
}

#[test]
fn a_fault_that_cannot_happen_is_told() {
    let told = checked(&save("never", &[]), &["--faults", "1", "--only", "fsync:error=EIO"], "./save");
    says(&told, 0, &["the fault fsync:error=EIO was never reached"]);
}

#[test]
fn faults_can_be_said_in_the_file() {
    let folder = save("file", &[]);
    fs::write(folder.0.join("allways.toml"), "[check.save]\ncheck = [\"assert\"]\n[check.save.faults]\nbudget = 1\nsyscall = [\"write:error=ENOSPC\"]\n[check.save.service.save]\ncommand = \"./save\"\n").expect("can write a file");
    says(&folder.run(&["check", "save"]), 1, &["error[assert]", "-> ENOSPC (fault)"]);
    fs::write(
        folder.0.join("allways.toml"),
        "[check.save.faults]\nsyscal = [\"write:error=ENOSPC\"]\n[check.save.service.save]\ncommand = \"./save\"\n",
    )
    .expect("can write a file");
    says(&folder.run(&["check", "save"]), 2, &["did you mean `syscall`?"]);
}

#[test]
fn slips_lead_to_what_was_meant() {
    let folder = save("slips", &[]);
    let peer = "db:7000=./save";
    let table: [(&[&str], &str); 7] = [
        (&["--faults", "1", "--only", "partition", "--peer", peer], "cannot be cut off yet"),
        (&["--faults", "1"], "name them with --only"),
        (&["--only", "write:error=EIO"], "--faults 1"),
        (&["--faults", "1", "--only", "wirte:error=EIO"], "did you mean `write`?"),
        (&["--faults", "1", "--only", "write:error=EIO:in=saev"], "did you mean `save`?"),
        (&["--faults", "1,stop=1", "--only", "write:error=EIO"], "is one number"),
        (&["--faults", "1", "--only", "write:error=EIO", "--heals"], "`--heals` is for models"),
    ];
    for (flags, meant) in table {
        says(&checked(&folder, flags, "./save"), 2, &[meant]);
    }
}

fn commit(name: &str, flags: &[&str]) -> Folder {
    let folder = Folder::new(&format!("program-faults-commit-{name}"));
    folder.compile("commit", flags, "programs/faults/commit.c");
    let program = |name: &str, more: &str| {
        format!(
            "[check.commit.service.{name}]\ncommand = \"./commit {name} 7000\"\nexpected_final_state = \"any\"\n{more}"
        )
    };
    let coordinator = program("coordinator", "healthcheck = { test = \"listening:7000\" }\n");
    let after = "depends_on = { coordinator = { condition = \"service_healthy\" } }\nreplicas = 2\n";
    let file = format!("{coordinator}{}", program("participant", after));
    fs::write(folder.0.join("allways.toml"), file).expect("can write a file");
    folder
}

#[test]
fn participants_that_have_voted_wait_for_a_coordinator_that_was_killed() {
    let folder = commit("blocks", &[]);
    says(&folder.run(&["check", "commit"]), 0, &["exhaustive", "deadlock"]);
    let told = folder.run(&["check", "commit", "--faults", "1", "--only", "kill:coordinator"]);
    says(&told, 1, &["error[deadlock]", "kill coordinator", "participant.1", "confirmed by replay"]);
    says(&folder.run(&["replay"]), 1, &["error[deadlock]", "kill coordinator"]);
    let dpor = folder.run(&["check", "commit", "--faults", "1", "--only", "kill:coordinator", "--engine", "dpor"]);
    says(&dpor, 1, &["error[deadlock]", "kill coordinator"]);
}

#[test]
fn participants_that_give_up_wait_for_nobody() {
    let folder = commit("gives-up", &["-DTIMID"]);
    let check = |only: &str, more: &[&str]| {
        let flags = ["check", "commit", "--check", "deadlock,assert,crash", "--faults", "1", "--only", only];
        folder.run(&[&flags[..], more].concat())
    };
    for reduction in ["on", "off"] {
        let told = check("kill:coordinator", &["--reduction", reduction]);
        says(&told, 0, &["exhaustive", "holds: 3 of 3", "up to 1 of kill:coordinator"]);
    }
    // The coordinator waits for participants that never ask.
    let told = check("kill:participant", &[]);
    says(&told, 1, &["error[deadlock]", "kill participant.", "coordinator, participant."]);
    says(&check("kill:cordinator", &[]), 2, &["there is no process `cordinator`", "did you mean `coordinator`?"]);
}

#[test]
fn a_program_is_killed_between_any_two_of_its_operations() {
    let folder = Folder::new("program-faults-between");
    folder.compile("writer", &[], "#include <fcntl.h>\n#include <unistd.h>\nint main(void) {\n    close(creat(\"a\", 0600));\n    close(creat(\"b\", 0600));\n    unlink(\"a\");\n    return 0;\n}\n");
    let check =
        |never: &str| folder.run(&["check", "--never", never, "--faults", "1", "--only", "kill", "--", "./writer"]);
    says(&check("exited(writer) == 0 && exists(\"a\")"), 0, &["holds"]);
    says(&check("both := crashed(writer) == 9 && exists(\"a\") && exists(\"b\")"), 1, &["kill writer", "both"]);
}

#[test]
fn a_close_that_fails_has_closed_as_on_linux() {
    let folder = Folder::new("program-faults-close");
    let source = "#include <assert.h>\n#include <fcntl.h>\n#include <unistd.h>\nint main(void) {\n    int first = creat(\"a\", 0600), failed = close(first);\n    assert(creat(\"a\", 0600) == first);\n    return failed ? 7 : 0;\n}\n";
    folder.compile("closer", &[], source);
    let check = |kinds: &str| {
        folder.run(&["check", "--check", kinds, "--faults", "1", "--only", "close:error=EIO", "--", "./closer"])
    };
    says(&check("assert"), 0, &["holds: 1 of 1"]);
    says(&check("exit"), 1, &["ends with exit code 7", "-> EIO (fault)"]);
}

/// Two programs and more of one source, with its flags; the faults; what is told.
fn together(name: &str, (source, flags): (&str, &[&str]), programs: &[&str], table: &[(&str, i32, &[&str])]) {
    let folder = Folder::new(&format!("program-faults-{name}"));
    folder.compile(name, flags, source);
    let commands: Vec<String> = programs.iter().map(|words| format!("./{name} {words}")).collect();
    let commands = commands.join(" + ");
    for (faults, exit, told) in table {
        let flags = faults.split(' ').filter(|word| !word.is_empty());
        let words: Vec<&str> = ["check"].into_iter().chain(flags).chain(["--"]).chain(commands.split(' ')).collect();
        let checked = folder.run(&words);
        says(&checked, *exit, told);
        if *exit == 1 {
            says(&checked, 1, &["confirmed by replay"]);
            says(&folder.run(&["replay"]), 1, &told[..1]);
        }
    }
}

#[test]
fn the_alternating_bit_survives_loss_and_duplication_but_not_delay() {
    let programs = ["receiver 7000", "sender 7000"];
    together(
        "bit",
        ("programs/faults/bit.c", &[]),
        &programs,
        &[
            ("--faults 2 --only loss,duplicate", 0, &["exhaustive", "up to 2 of loss, duplicate", "holds: 6 of 6"]),
            ("--faults 2 --only loss,duplicate --reduction off", 0, &["exhaustive", "holds: 6 of 6"]),
            ("--faults 1 --only delay", 1, &["bit.c:43", "(delay) sendto", "a delayed datagram arrives: 2 bytes"]),
            ("--faults 1 --only delay:bit.1", 0, &["exhaustive", "holds: 6 of 6"]),
        ],
    );
    together(
        "nobit",
        ("programs/faults/bit.c", &["-DNOBIT"]),
        &programs,
        &[
            ("", 0, &["exhaustive", "holds: 6 of 6"]),
            ("--faults 1 --only loss", 1, &["nobit.c:43", "(loss) sendto"]),
            ("--faults 1 --only duplicate", 1, &["nobit.c:43", "(duplicate) sendto"]),
        ],
    );
}

#[test]
fn with_leases_a_client_may_die_but_not_stand_still() {
    let programs = ["server 7000", "client 7000", "client 7000"];
    together(
        "lease",
        ("programs/faults/lease.c", &[]),
        &programs,
        &[
            ("", 0, &["exhaustive", "holds: 6 of 6", "lease.1 is a service", "UDP port 7000"]),
            ("--faults 1 --only kill:lease.2", 0, &["exhaustive", "holds: 6 of 6"]),
            ("--faults 1 --only pause:lease.2", 1, &["lease.c:60", "pause lease.2", "time passes: 1 s"]),
            ("--faults 1 --only pause:lease.2 --reduction off", 1, &["lease.c:60", "pause lease.2"]),
            ("--faults 1 --only loss:lease.3", 1, &["error[deadlock]", "(loss) sendto"]),
            ("--faults 1 --only early", 1, &["lease.c:60", "time passes early: 1 s"]),
            ("--faults 1 --only clock:+1h", 0, &["exhaustive", "holds: 6 of 6"]),
        ],
    );
    together(
        "forever",
        ("programs/faults/lease.c", &["-DFOREVER"]),
        &programs,
        &[
            ("--faults 1 --only kill:forever.2", 1, &["error[deadlock]", "kill forever.2"]),
            ("--faults 1 --only pause:forever.2", 0, &["exhaustive", "holds: 6 of 6"]),
        ],
    );
}

#[test]
fn who_is_cut_off_leads_beside_who_took_over() {
    let programs = ["primary 7000", "backup 7000"];
    let never =
        |name: &str, faults: &str| format!("--check assert --never {name}.1:leads==1&&{name}.2:leads==1 {faults}");
    let cut_off = ["error[never]", "cut trusting.2 off from the network", "time passes: 2 s"];
    together(
        "trusting",
        ("programs/faults/failover.c", &[]),
        &programs,
        &[
            (&never("trusting", ""), 0, &["exhaustive", "holds"]),
            (
                &never("trusting", "--faults 1 --only partition"),
                1,
                &["error[never]", "from the network", "time passes"],
            ),
            (&never("trusting", "--faults 1 --only partition:trusting.2"), 1, &cut_off),
            // A request for a connection is given up after a while; the primary waits for another one.
            ("--faults 1 --only partition", 1, &["error[deadlock]", "time passes: 127 s", "is up again"]),
            (
                &never("trusting", "--faults 1 --only partition --reduction off"),
                1,
                &["error[never]", "from the network"],
            ),
        ],
    );
    together(
        "lease",
        ("programs/faults/failover.c", &["-DLEASE"]),
        &programs,
        &[
            (&never("lease", "--faults 1 --only partition"), 0, &["exhaustive", "up to 1 of partition", "holds"]),
            (&never("lease", "--faults 1 --only pause:lease.1"), 1, &["error[never]", "pause lease.1"]),
            (&never("lease", "--faults 1 --only early"), 1, &["error[never]", "time passes early"]),
        ],
    );
}

#[test]
fn a_ticket_is_too_old_or_too_young_where_somebody_sets_the_clock() {
    for by in ["clock:+1h", "clock:-90s"] {
        let (folder, told) = alone("ticket", &[], &["--faults", "1", "--only", by]);
        says(&told, 1, &["error[assert]", "ticket.c:", "the real-time clock is set", "confirmed by replay"]);
        says(&folder.run(&["replay"]), 1, &["error[assert]", "the real-time clock is set"]);
        let (_, told) = alone("ticket", &["-DMONOTONIC"], &["--faults", "1", "--only", by]);
        says(&told, 0, &["exhaustive", "holds: 3 of 3", by]);
    }
}

#[test]
fn who_takes_a_reset_for_the_end_counts_too_few_bytes() {
    let programs = ["server 7000", "client 7000"];
    let reset = "--faults 1 --only reset";
    together("talk", ("programs/faults/talk.c", &[]), &programs, &[(reset, 0, &["exhaustive", "holds: 6 of 6"])]);
    together(
        "blind",
        ("programs/faults/talk.c", &["-DBLIND"]),
        &programs,
        &[
            ("", 0, &["exhaustive", "holds: 6 of 6"]),
            (reset, 1, &["blind.c:28", "reset the connection of", "ECONNRESET", "a run ends at its first failed"]),
            ("--faults 1 --only refuse", 1, &["error[deadlock]", "ECONNREFUSED", "up to 1 of refuse"]),
            ("--faults 1 --only reset --engine dpor", 1, &["blind.c:28"]),
        ],
    );
}

#[test]
fn a_worker_that_is_started_again_loses_no_job_and_may_do_one_twice() {
    let check = |name: &str, flags: &[&str]| {
        let folder = Folder::new(&format!("program-faults-{name}"));
        folder.compile("jobs", flags, "programs/faults/jobs.c");
        let program = |name: &str, on: &str| {
            let on = match on {
                "" => String::new(),
                on => format!("depends_on = {{ {on} = {{ condition = \"service_completed_successfully\" }} }}\n"),
            };
            format!("[check.jobs.service.{name}]\ncommand = \"./jobs {name}\"\n{on}")
        };
        let faults = "[check.jobs.faults]\nprocess = [\"restart:work\"]\n";
        let file = format!("{faults}{}{}{}", program("put", ""), program("work", "put"), program("audit", "work"));
        fs::write(folder.0.join("allways.toml"), file).expect("can write a file");
        folder
    };
    says(&check("jobs", &[]).run(&["check"]), 0, &["exhaustive", "up to 1 of restart:work", "holds: 6 of 6"]);
    let once = check("jobs-once", &["-DONCE"]);
    says(&once.run(&["check"]), 1, &["jobs.c:24", "kill work and start it again", "confirmed by replay"]);
    says(&once.run(&["replay"]), 1, &["jobs.c:24"]);
    says(&once.run(&["check", "--engine", "dpor"]), 1, &["jobs.c:24"]);
}

/// A lock server and two clients, with and without leases, as checks of a file.
fn lock_servers(name: &str) -> Folder {
    let folder = Folder::new(&format!("program-faults-campaign-{name}"));
    folder.compile("lease", &[], "programs/faults/lease.c");
    folder.compile("forever", &["-DFOREVER"], "programs/faults/lease.c");
    let check = |name: &str| {
        let faults = "process = [\"kill:client\", \"pause:client\"]";
        let server = "healthcheck = { test = \"bound:7000\" }\nexpected_final_state = \"idle\"";
        let client = "replicas = 2\ndepends_on = { server = { condition = \"service_healthy\" } }";
        format!(
            "[check.{name}]\ncheck = [\"deadlock\", \"assert\"]\n[check.{name}.faults]\n{faults}\n\
             [check.{name}.service.server]\ncommand = \"./{name} server 7000\"\n{server}\n\
             [check.{name}.service.client]\ncommand = \"./{name} client 7000\"\n{client}\n"
        )
    };
    fs::write(folder.0.join("allways.toml"), check("forever") + &check("lease")).expect("can write a file");
    folder
}

/// The minimal sets of a property, and what a fault does alone.
fn cut_sets(told: &str, property: &str) -> Vec<String> {
    let told: serde_json::Value = serde_json::from_str(told).unwrap_or_else(|error| panic!("{error}: {told}"));
    assert_eq!(told["complete"], true, "{told}");
    let rows = told["properties"].as_array().expect("a list");
    let row = rows.iter().find(|row| row["name"] == property).expect("it is there");
    let name = |name: &serde_json::Value| name.as_str().expect("a name").to_owned();
    let set = |set: &serde_json::Value| set["faults"].as_array().expect("a list").iter().map(name).collect::<Vec<_>>();
    row["cut_sets"].as_array().expect("a list").iter().map(|found| set(found).join(" + ")).collect()
}

#[test]
fn a_campaign_finds_the_faults_that_break_a_lock_server() {
    let folder = lock_servers("finds");
    let (kills, pauses) = (["kill:client.1", "kill:client.2"], ["pause:client.1", "pause:client.2"]);
    let json = |name: &str| folder.run(&["faults", name, "--format", "json"]);
    for (name, of_deadlock, of_assert) in [("forever", &kills[..], &[][..]), ("lease", &[][..], &pauses[..])] {
        let told = json(name);
        assert_eq!(told.code, Some(1), "{} {}", told.out, told.err);
        assert_eq!(cut_sets(&told.out, "deadlock"), of_deadlock, "{name}");
        assert_eq!(cut_sets(&told.out, "assert"), of_assert, "{name}");
    }
    let told = folder.run(&["faults", "lease"]);
    says(&told, 1, &["pause:client.1", "single points of failure", "violated: 1 of 2 properties"]);
    says(&folder.run(&["replay"]), 1, &["lease.c:60", "pause client.", "confirmed"]);
    says(&folder.run(&["faults", "forever", "lease"]), 1, &["deadlock", "better", "assert", "worse"]);
    says(&folder.run(&["faults", "lease", "--format", "psa"]), 1, &["<basic-event name=\"pause-client-1\""]);
    says(&folder.run(&["faults", "lease", "--format", "dot"]), 1, &["digraph", "pause:client.1"]);
}

#[test]
fn sets_of_two_faults_are_minimal_if_neither_breaks_it_alone() {
    let folder = Folder::new("program-faults-pairs");
    let source = "#include <assert.h>\n#include <fcntl.h>\n#include <unistd.h>\nint main(void) {\n    int failed = 0;\n    for (int i = 0; i < 3; i++) failed += close(creat(\"a\", 0600)) != 0;\n    assert(failed < 2);\n    return 0;\n}\n";
    folder.compile("twice", &[], source);
    let told = folder.run(&[
        "faults",
        "--check",
        "assert",
        "--faults",
        "2",
        "--only",
        "close:error=EIO,creat:error=EMFILE,kill",
        "--format",
        "json",
        "--",
        "./twice",
    ]);
    assert_eq!(told.code, Some(1), "{} {}", told.out, told.err);
    let (close, create) = ("close:error=EIO", "creat:error=EMFILE");
    let pairs = [format!("{close} + {close}"), format!("{close} + {create}"), format!("{create} + {create}")];
    assert_eq!(cut_sets(&told.out, "assert"), pairs);
    let replayed = folder.run(&["replay"]);
    says(&replayed, 1, &["twice.c:7", "(fault)"]);
    assert_eq!(replayed.out.matches("(fault)").count(), 2, "{}", replayed.out);
}

#[test]
fn campaigns_refuse_what_they_do_not_mean() {
    let folder = lock_servers("refuses");
    let table: [(&[&str], &str); 5] = [
        (&["faults", "lease", "--runs", "9"], "`--runs` is not for `faults`"),
        (&["faults", "lease", "--only", "kil:client"], "did you mean `kill`?"),
        (&["faults", "lease", "--heals"], "`--heals` is for models"),
        (&["faults", "leas"], "did you mean `lease`?"),
        (&["faults", "lease", "--only", "kill:clent"], "no process `clent`"),
    ];
    for (words, meant) in table {
        says(&folder.run(words), 2, &[meant]);
    }
}
