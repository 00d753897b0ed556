//! The ways to search the schedules of programs, and the points that users place, as the command line offers them.

use crate::folder::{Folder, says};

/// A bundled program, or a text, compiled into a folder of its own.
fn built(name: &str, flags: &[&str], source: &str) -> Folder {
    let folder = Folder::new(&format!("engines-{name}"));
    folder.compile(name, flags, source);
    folder
}

const COUNTER: &str = "#include <assert.h>\n#include <pthread.h>\nint count;\n\
    void *add(void *p) {\n  int seen = count;\n  count = seen + 1;\n  return p;\n}\n\
    int main(void) { pthread_t s, t; pthread_create(&s, 0, add, 0); pthread_create(&t, 0, add, 0);\n\
    pthread_join(s, 0); pthread_join(t, 0); assert(count == 2); return 0; }\n";

#[test]
fn dpor_executes_one_schedule_of_each_class() {
    let folder = built("bbuf", &["-DNP=2", "-DNC=2", "-DITEMS=1", "-DBUG_IF"], "programs/bbuf.c");
    let told = folder.run(&["check", "--engine", "dpor", "--keep-going", "--", "./bbuf"]);
    says(&told, 1, &["64 classes of schedules", "8 of them fail", "every class of schedules", "confirmed by replay"]);
}

#[test]
fn dpor_finds_the_deadlock_and_the_race_that_the_graph_finds_and_they_replay() {
    let folder = built("phil", &["-DN=2"], "programs/phil.c");
    says(&folder.run(&["check", "--engine", "dpor", "--", "./phil"]), 1, &["error[deadlock]", "lock fork_mx[0]"]);
    says(&folder.run(&["replay"]), 1, &["the same failure in the same state"]);
    let folder = built("counter", &[], COUNTER);
    says(
        &folder.run(&["check", "--engine", "dpor", "--check", "race", "--", "./counter"]),
        1,
        &["error[race]", "count"],
    );
    says(&folder.run(&["replay"]), 1, &["error[race]"]);
}

/// Programs that only execute others have nothing to do with each other: each schedule of one with each of the other.
#[test]
fn programs_that_execute_others_are_independent() {
    let source = "#include <sys/wait.h>\n#include <unistd.h>\n\
        int main(void) { if (!vfork()) { execl(\"/bin/true\", \"true\", (char *)0); _exit(1); } wait(0); return 0; }\n";
    let folder = built("spawns", &[], source);
    let classes = |programs: &[&str]| {
        let told = folder.run(&[&["check", "--engine", "dpor", "--"], programs].concat());
        says(&told, 0, &["exhaustive"]);
        let words: Vec<&str> = told.out.split_whitespace().collect();
        let at = words.iter().position(|word| *word == "classes").expect("they are counted");
        words[at - 1].parse::<u32>().expect("a number")
    };
    let alone = classes(&["./spawns"]);
    assert_eq!(classes(&["./spawns", "+", "./spawns"]), alone * alone);
}

/// The search chooses among threads: what Go's runtime decides inside of them is not covered.
#[test]
fn a_runtime_that_schedules_inside_of_threads_is_a_bound() {
    let source = "#include <pthread.h>\n__attribute__((section(\".go.buildinfo\"))) int mark = 1;\n\
        void *start(void *p) { return p; }\n\
        int main(int count, char **words) { pthread_t t; if (count > 1) pthread_create(&t, 0, start, 0); return 0; }\n";
    let folder = built("goes", &[], source);
    let bound = "the order in which Go's runtime runs goroutines on a thread";
    says(&folder.run(&["check", "--", "./goes", "x"]), 0, &["holds", bound]);
    for flags in [&["--libc", "real"][..], &["-j", "2"]] {
        says(&folder.run(&[&["check"], flags, &["--", "./goes", "x"]].concat()), 0, &[bound]);
    }
    // Without threads it decides nothing.
    says(&folder.run(&["check", "--", "./goes"]), 0, &["exhaustive"]);
}

#[test]
fn a_schedule_that_is_too_long_for_dpor_is_a_bound() {
    let folder = built("long", &["-DN=3", "-DFIXED"], "programs/phil.c");
    says(&folder.run(&["check", "--engine", "dpor", "--depth", "5", "--", "./long"]), 0, &["within depth 5"]);
}

#[test]
fn samples_find_failures_shorten_them_and_never_say_that_something_holds() {
    let folder = built("sampled", &[], COUNTER);
    let told =
        folder.run(&["check", "--sample", "--runs", "200", "--seed", "3", "--check", "assert", "--", "./sampled"]);
    says(&told, 1, &["assertion `count == 2` failed", "schedules at random", "seed 3"]);
    let folder = built("sampled2", &["-DN=2", "-DFIXED"], "programs/phil.c");
    let told = folder.run(&["check", "--engine", "sample", "--runs", "50", "--", "./sampled2"]);
    says(&told, 0, &["no violation found in 50 runs; not exhaustive", "different classes of schedules"]);
    assert!(!told.out.contains("holds"), "{}", told.out);
}

#[test]
fn bounds_of_preemptions_and_delays_find_what_lies_within_them() {
    let folder = built("bounded", &["-DN=2"], "programs/phil.c");
    says(&folder.run(&["check", "--preemptions", "0", "--", "./bounded"]), 0, &["within 0 preemptions"]);
    says(&folder.run(&["check", "--preemptions", "1", "--", "./bounded"]), 1, &["error[deadlock]"]);
    says(&folder.run(&["check", "--delays", "1", "--", "./bounded"]), 1, &["error[deadlock]"]);
}

#[test]
fn flags_that_mean_nothing_to_an_engine_are_refused() {
    let folder = built("refused", &["-DN=2"], "programs/phil.c");
    let check = |flags: &[&str]| folder.run(&[&["check"], flags, &["--", "./refused"]].concat());
    says(&check(&["--depth", "9"]), 2, &["`--depth` goes with `--engine dpor or sample`"]);
    says(&check(&["--engine", "dpor", "--runs", "9"]), 2, &["`--runs` goes with `--engine sample`"]);
    says(&check(&["--engine", "dpor", "--reduction", "off"]), 2, &["`--reduction off` goes with"]);
    says(&check(&["--sample", "--preemptions", "1"]), 2, &["`--preemptions` goes with"]);
}

#[test]
fn flags_for_programs_are_refused_for_models() {
    let folder = Folder::with("engines-model", "m.pml", "active proctype P() { skip }");
    for flags in [&["--engine", "dpor"][..], &["--preemptions", "1"], &["--reads", "short"], &["--break", "main"]] {
        let told = folder.run(&[&["check", "m.pml"], flags].concat());
        says(&told, 2, &[flags[0], "is for programs, not for models"]);
    }
}

#[test]
fn every_access_is_a_step_if_that_is_wanted() {
    let folder = built("fine", &[], COUNTER);
    let told = folder.run(&["check", "--fine", "--check", "assert", "--", "./fine"]);
    says(&told, 1, &["assertion `count == 2` failed", "of memory interleaved"]);
}

#[test]
fn threads_take_turns_only_at_the_users_points() {
    let folder = built("points", &["-O0"], COUNTER);
    let only = |point: &str| folder.run(&["check", "--break", point, "--only-breaks", "--", "./points"]);
    says(&only("add"), 0, &["turns only at add"]);
    says(&only("points.c:6"), 1, &["assertion `count == 2` failed"]);
    says(&folder.run(&["replay"]), 1, &["the same failure in the same state"]);
    says(&only("nowhere.c:6"), 2, &["no code at `nowhere.c:6`", "compiled with -g"]);
    says(&folder.run(&["check", "--only-breaks", "--", "./points"]), 2, &["--break"]);
}

#[test]
fn watched_variables_are_told_and_unknown_ones_refused() {
    let folder = built("watched", &["-O0"], COUNTER);
    let told = folder.run(&["check", "--check", "assert", "--watch", "count", "--", "./watched"]);
    says(&told, 1, &["count: 0 -> 1"]);
    says(&folder.run(&["check", "--watch", "cuont", "--", "./watched"]), 2, &["cuont", "count"]);
}

#[test]
fn states_that_named_variables_do_not_tell_apart_are_one() {
    const LOOP: &str = "#include <pthread.h>\nint turns, round;\nvoid *f(void *p) { for (;;) { turns++; round = (round + 1) % 3; } return p; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }\n";
    let folder = built("matched", &["-O0"], LOOP);
    let told = folder.run(&["check", "--check", "deadlock", "--fine", "--match", "round", "--", "./matched"]);
    says(&told, 0, &["states told apart by round alone"]);
}

#[test]
fn a_read_may_return_less_than_there_is_if_that_is_wanted() {
    const PIPE: &str = "#include <assert.h>\n#include <unistd.h>\n#include <sys/wait.h>\n\
        int main(void) { int p[2]; char buffer[8]; if (pipe(p)) return 2;\n\
        if (fork() == 0) { return write(p[1], \"hello\", 5) != 5; }\n\
        wait(0); assert(read(p[0], buffer, 8) == 5); return 0; }\n";
    let folder = built("short", &[], PIPE);
    says(&folder.run(&["check", "--", "./short"]), 0, &["reads and writes are never partial"]);
    let told = folder.run(&["check", "--reads", "short", "--", "./short"]);
    says(&told, 1, &["assertion", "== 5", "how much a read returns"]);
    says(&folder.run(&["replay"]), 1, &["the same failure in the same state"]);
}

#[test]
fn the_number_of_workers_changes_nothing_but_the_time() {
    let folder = built("crew", &["-DNP=2", "-DNC=2", "-DITEMS=1"], "programs/bbuf.c");
    let states = |jobs: &str| {
        let told = folder.run(&["check", "-j", jobs, "--check", "deadlock,assert", "--", "./crew"]);
        says(&told, 0, &["exhaustive", if jobs == "1" { "1 worker" } else { "2 workers" }]);
        let line = told.out.lines().find(|line| line.contains(" states . ")).expect("it is told").to_owned();
        line.split(" states").next().map(str::to_owned)
    };
    assert_eq!(states("1"), states("2"));
}

#[test]
fn a_search_that_runs_out_of_time_estimates_how_much_there_is() {
    let folder = built("endless", &["-DNP=3", "-DNC=2", "-DITEMS=2"], "programs/bbuf.c");
    let estimate = "interleavings (90 %: 10^";
    let check = |time: &str| {
        let told =
            folder.run(&["check", "--time", time, "--reduction", "off", "--check", "deadlock", "--", "./endless"]);
        says(&told, 0, &[&format!("no violation found in {} s; not exhaustive", time.trim_end_matches('s'))]);
        told.out.contains(estimate)
    };
    // A part of the time is for the estimate: on a busy machine too little of four seconds.
    assert!(check("4s") || check("30s"), "nothing is estimated");
}

#[test]
fn dpor_covers_forks_among_threads() {
    const FORK: &str = "#include <pthread.h>\n#include <sys/wait.h>\n#include <unistd.h>\n\
        void *f(void *p) { if (fork() == 0) _exit(0); wait(0); return p; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }\n";
    let folder = built("forks", &[], FORK);
    says(&folder.run(&["check", "--", "./forks"]), 0, &["exhaustive"]);
    says(&folder.run(&["check", "--engine", "dpor", "--", "./forks"]), 0, &["exhaustive", "every class of schedules"]);
}
