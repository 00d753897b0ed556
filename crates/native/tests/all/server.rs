//! Servers, compiled from C into a folder of their own.

use native::{Address, Clock, Instance, Network, Problem, Role, Spec};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// What all servers begin with: `serve` is called for each line that comes in on a connection.
const FRAME: &str = r#"
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static int answer(int fd, const char *text) { return write(fd, text, strlen(text)); }
static int hear(int port) {
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    int one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (void *)&at, sizeof at) || listen(listener, 8)) { perror("listen"); exit(1); }
    return listener;
}
static void serve(int fd, char *line);
static void loop(int listener) {
    struct pollfd all[64] = {{.fd = listener, .events = POLLIN}};
    int count = 1;
    for (;;) {
        poll(all, count, -1);
        if (all[0].revents) all[count++] = (struct pollfd){.fd = accept(listener, 0, 0), .events = POLLIN};
        for (int i = 1; i < count; i++) {
            static char line[1 << 16];
            if (!all[i].revents) continue;
            ssize_t length = read(all[i].fd, line, sizeof line - 1);
            if (length <= 0) { close(all[i].fd); all[i].fd = -1; continue; }
            line[length] = 0;
            serve(all[i].fd, line);
        }
    }
}
"#;

/// The usual `main`.
pub const MAIN: &str = "int main(void) { loop(hear(7000)); }";

/// A folder with a server in it.
pub struct Server(pub PathBuf);

impl Server {
    /// Compiles a server from functions that the frame needs.
    pub fn new(name: &str, code: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("allways-native-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("can make a folder");
        std::fs::write(folder.join("server.c"), format!("{FRAME}{code}")).expect("can write a file");
        let mut gcc = Command::new("gcc");
        gcc.args(["-O1", "-w", "-pthread", "-o", "server", "server.c"]).current_dir(&folder);
        let output = gcc.output().expect("gcc runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self(folder)
    }

    pub fn spec(&self) -> Spec {
        Spec {
            command: vec![b"./server".to_vec()],
            environment: vec![b"PATH=/usr/bin:/bin".to_vec()],
            directory: self.0.clone(),
            address: Address::Tcp(7000),
            role: Role::Server,
            clock: Clock::Virtual,
            network: Network::Own,
            patience: Duration::from_secs(60),
        }
    }

    pub fn start(&self) -> Instance {
        start(&self.spec()).unwrap_or_else(|problem| panic!("it {problem}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn start(spec: &Spec) -> Result<Instance, Problem> {
    Instance::start(spec, &|| false)
}

/// Opens a connection and waits.
pub fn open(instance: &mut Instance) -> usize {
    let connection = instance.open().expect("a socket");
    rest(instance);
    connection
}

/// Sends something and waits; all that was answered on that connection.
pub fn ask(instance: &mut Instance, connection: usize, text: &str) -> String {
    instance.send(connection, text.as_bytes());
    rest(instance);
    String::from_utf8_lossy(&instance.stream(connection).bytes).into_owned()
}

pub fn rest(instance: &mut Instance) {
    instance.rest(&|| false).unwrap_or_else(|problem| panic!("it {problem}"));
}
