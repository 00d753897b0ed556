//! The page and the explorer, in Debian's chromium: `tests/page/*.mjs` says what is looked at.
#![allow(clippy::print_stdout, reason = "how long it takes to draw is printed, and no test fails for it")]

use crate::folder::{Folder, says};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a script in the browser, with the folder that `scripts/test` installs the driver into, and says what it printed.
fn browse(script: &str, arguments: &[&str]) {
    let modules = std::env::var_os("BROWSER_MODULES").map_or_else(|| root().join("target/browser"), PathBuf::from);
    assert!(modules.join("node_modules/playwright-core").is_dir(), "scripts/test installs playwright-core");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page").join(script);
    let told = Command::new("node").arg(script).arg(&modules).args(arguments).output().expect("node is there");
    let text = String::from_utf8_lossy(&told.stdout).into_owned() + &String::from_utf8_lossy(&told.stderr);
    println!("{text}");
    assert!(told.status.success(), "{text}");
}

/// The saved counterexample that was found last, as data.
fn latest(folder: &Folder) -> Value {
    let told = folder.run(&["report", "--format", "json"]);
    serde_json::from_str(&told.out).expect("JSON")
}

/// Writes a counterexample that somebody has changed, and its page.
fn page_of(folder: &Folder, data: &Value, name: &str) {
    let file = format!("{name}.json");
    fs::write(folder.0.join(&file), data.to_string()).expect("can write");
    says(&folder.run(&["report", &file, "--format", "html", "-o", &format!("{name}.html")]), 0, &[]);
}

/// All that a program can say says that it is markup.
fn hostile(data: &Value) -> Value {
    let markup = "</script><img src=x onerror='globalThis.hacked=1'>";
    let mut data = data.clone();
    data["message"] = json!(markup);
    data["property"]["kind"] = json!("assert");
    data["notes"] = json!(["<iframe src='http://example.org'></iframe> step 2"]);
    for actor in data["trace"]["actors"].as_array_mut().expect("a list") {
        actor["name"] = json!(format!("<script>alert(1)</script>{}", actor["actor"]));
    }
    for step in data["trace"]["steps"].as_array_mut().expect("a list") {
        for event in step["events"].as_array_mut().expect("a list") {
            event.as_object_mut().expect("an object").remove("kind");
            event["text"] = json!(markup);
            event["changes"] = json!([{ "name": "<b>", "before": markup, "after": markup }]);
        }
    }
    data
}

/// The same steps again and again, ten thousand of them, by two actors in turn.
fn long(data: &Value) -> Value {
    let mut data = data.clone();
    let steps = data["trace"]["steps"].as_array().expect("a list").clone();
    let step = |index: usize| {
        let mut step = steps[index % steps.len()].clone();
        let actor = json!(index % 7 / 4);
        step["choice"]["actor"] = actor.clone();
        step["events"].as_array_mut().expect("a list").truncate(1);
        step["events"][0]["actor"] = actor;
        step
    };
    let steps: Vec<Value> = (0..10_000).map(step).collect();
    data["schedule"]["choices"] = steps.iter().map(|step| step["choice"].clone()).collect();
    data["trace"]["steps"] = Value::Array(steps);
    data
}

#[test]
fn a_counterexample_is_a_page_that_can_be_read_and_driven_by_keys() {
    let folder = Folder::new("page");
    let models = root().join("models/examples");
    let model = |name: &str| models.join(name).display().to_string();
    let page = |name: &str| says(&folder.run(&["report", "--format", "html", "-o", name]), 0, &[]);
    folder.compile("phil", &["-pthread"], "programs/phil.c");
    says(&folder.run(&["check", "--", "./phil"]), 1, &[]);
    page("threads.html");
    page_of(&folder, &hostile(&latest(&folder)), "hostile");
    folder.compile("bit", &[], "programs/faults/bit.c");
    let faulty = [
        "check", "--faults", "1", "--only", "delay", "--", "./bit", "receiver", "7000", "+", "./bit", "sender", "7000",
    ];
    says(&folder.run(&faulty), 1, &[]);
    page("messages.html");
    says(&folder.run(&["check", &model("starvation.pml")]), 1, &[]);
    page("lasso.html");
    says(&folder.run(&["check", &model("mutex_naive.pml")]), 1, &[]);
    page_of(&folder, &long(&latest(&folder)), "long");
    says(&folder.run(&["check", &model("needham_schroeder.pml")]), 1, &[]);
    page("model.html");
    says(&folder.run(&["check", "--report", "html=holds.html", &model("philosophers_fixed.pml")]), 0, &[]);
    says(&folder.run(&["check", "--report", "html=both.html", &model("mutex_naive.pml")]), 1, &[]);
    browse("page.mjs", &[&folder.0.display().to_string()]);
}

/// Explores something, lets a script look at it, and ends it with an interrupt.
fn explored(folder: &Folder, words: &[&str], script: &str) {
    let mut explorer = folder.command(words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut address = String::new();
    BufReader::new(explorer.stdout.take().expect("it is piped")).read_line(&mut address).expect("it prints");
    let looked = std::panic::catch_unwind(|| browse("live.mjs", &[script, address.trim()]));
    let interrupted = Command::new("kill").args(["-INT", &explorer.id().to_string()]).status().expect("kill is there");
    assert!(interrupted.success());
    let ended = explorer.wait().expect("it ends");
    if let Err(panic) = looked {
        std::panic::resume_unwind(panic);
    }
    assert_eq!(ended.code(), Some(0));
}

#[test]
fn choices_are_driven_in_the_explorer_and_replayed() {
    let folder = Folder::new("explorer");
    let model = root().join("models/examples/mutex_naive.pml").display().to_string();
    explored(&folder, &["explore", &model], "model");
    says(&folder.run(&["replay"]), 0, &["schedule: taken by hand", "inside++"]);
    folder.compile("phil", &["-pthread"], "programs/phil.c");
    explored(&folder, &["explore", "--time", "20s", "--", "./phil"], "programs");
    says(&folder.run(&["replay"]), 0, &["schedule: taken by hand", "create a thread"]);
    says(&folder.run(&["check", "--", "./phil"]), 1, &[]);
    explored(&folder, &["explore", latest(&folder)["id"].as_str().expect("an id")], "end");
    folder.compile("answers", &[], ANSWERS);
    explored(&folder, &["explore", "--", "./answers", "server", "+", "./answers", "client"], "sockets");
    fs::write(folder.0.join("large.pml"), LARGE).expect("can write");
    explored(&folder, &["explore", "large.pml"], "large");
}

/// A model of more than a hundred thousand states.
const LARGE: &str = "byte x[6];\nactive [6] proctype P() {\n    do\n    :: x[_pid] < 6 -> x[_pid]++\n    :: x[_pid] == 6 -> x[_pid] = 0\n    od\n}\n";

/// A client asks over TCP, and a server answers and writes down what it was asked.
const ANSWERS: &str = r#"
#include <arpa/inet.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words) {
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(7000), .sin_addr = { htonl(INADDR_LOOPBACK) } };
    int end = socket(AF_INET, SOCK_STREAM, 0), is_server = !strcmp(words[1], "server");
    char text[8] = "ping";
    if (is_server) {
        bind(end, (void *)&at, sizeof at);
        listen(end, 1);
        int other = accept(end, 0, 0);
        ssize_t got = read(other, text, sizeof text);
        int log = open("log", O_CREAT | O_WRONLY, 0600);
        return write(log, text, got) != got || write(other, text, got) != got;
    }
    if (connect(end, (void *)&at, sizeof at)) return 1;
    return write(end, text, 4) != 4 || read(end, text, sizeof text) != 4;
}
"#;
