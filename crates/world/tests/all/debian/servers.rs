//! Servers with their clients, and programs that work with many processes: one script each, in `scripts/`.

use super::{demand, prepare};
use crate::inside;
use std::net::TcpListener;
use std::path::Path;

/// The text of a script, after the programs in its `# needs:` line were found.
fn script(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/debian/scripts").join(name).with_extension("sh");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let needs = text.lines().find_map(|line| line.strip_prefix("# needs: ")).expect("a script says what it needs");
    demand(&needs.split(' ').collect::<Vec<_>>());
    text
}

/// A port that nobody listens on now.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.local_addr().expect("it is bound").port()
}

fn check(name: &str) {
    let script = format!("PORT={}\n{}", free_port(), script(name));
    inside::same(&["/bin/dash", "-c", &script], &prepare(name));
}

#[test]
fn redis_saves_and_comes_back() {
    check("redis");
}

#[test]
fn memcached_answers_its_clients() {
    check("memcached");
}

#[test]
fn lighttpd_serves_curl() {
    check("lighttpd");
}

#[test]
fn mini_httpd_serves_curl_and_runs_scripts() {
    check("mini_httpd");
}

#[test]
fn procmail_delivers_to_mailboxes() {
    check("procmail");
}

#[test]
fn git_keeps_a_small_repository() {
    check("git");
}

#[test]
fn gcc_compiles_links_and_complains() {
    check("gcc");
}

#[test]
fn sqlite_shares_a_write_ahead_log() {
    check("sqlite");
}

#[test]
fn dropbear_runs_a_command_for_dbclient() {
    const COMMAND: &str = "echo hello; sort; echo to the other side >&2; exit 7";
    let folder = prepare("dropbear");
    let script = format!("PORT={}\nCOMMAND='{COMMAND}'\n{}", free_port(), script("dropbear"));
    let over_ssh = inside::inside(&["/bin/dash", "-c", &script], &folder);
    let direct = inside::native(&["/bin/dash", "-c", &format!("({COMMAND}) < words 2> errors")], &folder);
    assert_eq!(over_ssh, direct, "over ssh inside (left) and without ssh on the host (right) differ");
}
