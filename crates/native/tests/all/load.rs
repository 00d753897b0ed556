//! No answer is incomplete, however busy the machine is.

use crate::server::{Server, ask, open};
use std::sync::atomic::{AtomicBool, Ordering};

/// Hands each line to one of four threads over a pipe; that one answers in three pieces, the last after another thread's turn.
const POOL: &str = "static int job[2], done[2]; struct job { int fd, n; };
    static void *worker(void *t) { struct job j; char text[64], c;
        while (read(job[0], &j, sizeof j) == sizeof j) {
            sprintf(text, \"%d:\", j.n); answer(j.fd, text); sched_yield(); answer(j.fd, \"ok\"); write(done[1], \"x\", 1); read(done[0], &c, 1);
            sched_yield(); answer(j.fd, \";\"); } return 0; }
    static int n; static void serve(int fd, char *line) { struct job j = {fd, ++n}; write(job[1], &j, sizeof j); }
    int main(void) { pthread_t t; pipe(job); pipe(done); for (int i = 0; i < 4; i++) pthread_create(&t, 0, worker, 0); loop(hear(7000)); }";

#[test]
fn every_answer_is_whole_on_busy_processors() {
    let count = std::env::var("ALLWAYS_NATIVE_REQUESTS").ok().and_then(|text| text.parse().ok()).unwrap_or(300);
    let server = Server::new("load", &format!("#include <sched.h>\n{POOL}"));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let wrong = ask_often(&server, count);
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(wrong, Vec::<String>::new());
    });
}

/// Asks over three connections in turn; answers that were not what they should be.
fn ask_often(server: &Server, count: usize) -> Vec<String> {
    let mut instance = server.start();
    let connections: Vec<usize> = (0..3).map(|_| open(&mut instance)).collect();
    let mut expected = vec![String::new(); connections.len()];
    let mut wrong = Vec::new();
    for number in 1..=count {
        let connection = connections[number % connections.len()];
        expected[connection] += &format!("{number}:ok;");
        let told = ask(&mut instance, connection, "x");
        if told != expected[connection] {
            wrong.push(format!("{number}: {told}"));
            expected[connection] = told;
        }
    }
    wrong
}
