//! Servers and their clients in the quick form, `check -- ./server 7000 + ./client`: a trial run shows who listens.

use crate::folder::{Folder, Told, says};
use std::fs;

/// A server built with these flags, and its client.
fn built(name: &str, flags: &[&str]) -> Folder {
    let folder = Folder::new(&format!("services-{name}"));
    folder.compile("server", flags, "programs/server.c");
    let unix: Vec<&str> = flags.iter().copied().filter(|flag| *flag == "-DUNIX").collect();
    folder.compile("client", &unix, "programs/client.c");
    folder
}

/// Checks a server with so many clients.
fn checked(folder: &Folder, flags: &[&str], clients: usize) -> Told {
    let client = ["+", "./client", "7000"].repeat(clients);
    folder.run(&[&["check"], flags, &["--", "./server", "7000"], &client].concat())
}

/// Checks what a report says to write into `allways.toml`.
fn written(folder: &Folder, told: &Told) -> Told {
    let (_, lines) = told.err.split_once("in allways.toml:\n").expect("the report says how to write it");
    let file: Vec<&str> = lines.lines().map(str::trim_start).collect();
    fs::write(folder.0.join("allways.toml"), file.join("\n")).expect("can write a file");
    folder.run(&["check", "main"])
}

/// The line that counts states.
fn states(told: &Told) -> String {
    told.out.lines().find(|line| line.contains(" states . ")).expect("states are counted").to_owned()
}

#[test]
fn clients_start_when_their_server_listens_and_it_may_wait_at_the_end() {
    let folder = built("idle", &[]);
    let told = checked(&folder, &[], 2);
    says(&told, 0, &["exhaustive", "holds: 6 of 6", "server is a service: listens on 7000"]);
    let written = written(&folder, &told);
    says(&written, 0, &["exhaustive", "holds: 6 of 6"]);
    assert_eq!(states(&written), states(&told));
    assert!(!written.out.contains("is a service"), "nothing was guessed: {}", written.out);
}

#[test]
fn timers_of_a_server_make_no_endless_chain_once_its_clients_have_ended() {
    says(&checked(&built("tick", &["-DTICK"]), &[], 1), 0, &["exhaustive", "holds: 6 of 6", "is a service"]);
}

#[test]
fn threads_of_a_service_that_wait_for_each_other_are_a_deadlock() {
    says(&checked(&built("threads", &["-DTHREADS"]), &[], 2), 0, &["holds: 6 of 6", "is a service"]);
    let crossed = checked(&built("crossed", &["-DTHREADS", "-DCROSSED"]), &[], 2);
    says(&crossed, 1, &["error[deadlock]", "lock first", "lock second", "held by"]);
}

#[test]
fn a_service_that_waits_for_no_request_is_a_deadlock() {
    let told = checked(&built("stuck", &["-DSTUCK"]), &[], 1);
    says(&told, 1, &["error[deadlock]", "server waits", "server is a service"]);
}

#[test]
fn a_server_that_ends_in_the_trial_must_always_end() {
    let told = checked(&built("ends", &["-DCLIENTS=1"]), &[], 1);
    says(&told, 0, &["holds: 6 of 6", "server listens on 7000; programs after it start then"]);
    let folder = Folder::new("services-sometimes");
    folder.compile("server", &["-DCLIENTS=2"], "programs/server.c");
    // The second client comes only if it is fast: in the trial it does.
    let client = include_str!("../../../../programs/client.c").replace(
        "    char heard",
        "    if (argc > 2 && access(\"late\", F_OK) == 0) return 0;\n    if (argc == 2) close(creat(\"late\", 0600));\n    char heard",
    );
    folder.compile("client", &[], &client.replace("#include <unistd.h>", "#include <unistd.h>\n#include <fcntl.h>"));
    let command = ["check", "--", "./server", "7000", "+", "./client", "7000", "fast", "+", "./client", "7000"];
    says(&folder.run(&command), 1, &["error[deadlock]", "server", "programs after it start then"]);
}

#[test]
fn clients_start_when_their_server_listens_at_all_addresses() {
    let folder = built("both", &["-DBOTH"]);
    let told = checked(&folder, &[], 1);
    says(&told, 0, &["exhaustive", "holds: 6 of 6", "server is a service: listens on [::]:7000 and 127.0.0.1:7000"]);
    says(&written(&folder, &told), 0, &["exhaustive", "holds: 6 of 6"]);
}

#[test]
fn a_unix_socket_is_listened_on_as_a_port_is() {
    let told = checked(&built("unix", &["-DUNIX"]), &[], 2);
    says(&told, 0, &["exhaustive", "holds: 6 of 6", "server is a service: listens on ./server.socket"]);
}

#[test]
fn programs_that_do_not_listen_start_at_once_and_a_client_alone_is_refused() {
    let folder = built("refused", &[]);
    says(&folder.run(&["check", "--", "./client", "7000", "+", "./server", "7000"]), 1, &["ECONNREFUSED"]);
}

#[test]
fn what_waits_at_the_horizon_is_not_said_to_be_free_of_deadlocks() {
    let folder = built("mute", &["-DTICK", "-DMUTE"]);
    let told = checked(&folder, &["--horizon", "10s"], 1);
    says(&told, 3, &["at the horizon (--horizon) client waits in read", "10 s of virtual time (--horizon)"]);
    let deadlock = checked(&built("mute-still", &["-DMUTE"]), &[], 1);
    says(&deadlock, 1, &["error[deadlock]", "client"]);
}

#[test]
fn a_program_that_sleeps_again_and_again_is_searched_up_to_the_horizon() {
    let folder = Folder::new("services-horizon");
    folder.compile("tick", &[], "#include <unistd.h>\nint main(void) { for (;;) sleep(60); }\n");
    says(
        &folder.run(&["check", "--", "./tick"]),
        0,
        &["holds", "within 1 h of virtual time (--horizon)", "122 states"],
    );
    says(&folder.run(&["check", "--horizon", "5m", "--", "./tick"]), 0, &["within 5 min of virtual time", "12 states"]);
    fs::write(
        folder.0.join("allways.toml"),
        "[check.t]\nhorizon = \"2m\"\n[check.t.service.t]\ncommand = [\"./tick\"]\n",
    )
    .expect("can write a file");
    says(&folder.run(&["check", "t"]), 0, &["within 2 min of virtual time"]);
}

#[test]
fn standard_input_without_end_is_refused() {
    let folder = Folder::new("services-input");
    let told = folder.run(&["check", "--stdin", "/dev/zero", "--", "/bin/cat"]);
    says(&told, 2, &["cannot read `/dev/zero`: longer than 16 MiB"]);
}
