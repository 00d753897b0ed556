//! Memory that nobody declared, named by the pointers that lead there.

use crate::standing::{Standing, c};
use debuginfo::Storage;

const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>
struct node { struct node *next; struct { long hits; _Atomic int ready; } state; };
struct job { int id; double cost; };
struct node *head; struct job *jobs; int *single; struct { struct node *list[3]; void *raw; } table;
struct job *shared, *segment;
#define TELL(f) printf(#f " %p\n", (void *)(f))
__attribute__((noinline)) void use(struct job **p) { asm volatile("" : : "r"(p) : "memory"); }
int main(void) {
    struct job *mine = malloc(3 * sizeof *mine);
    use(&mine);
    head = calloc(1, sizeof *head); head->next = calloc(1, sizeof *head); head->next->next = head;
    jobs = calloc(10, sizeof *jobs); single = malloc(sizeof *single);
    table.list[2] = calloc(1, sizeof *head); table.raw = malloc(40);
    shared = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    segment = shmat(shmget(IPC_PRIVATE, 4096, 0600), 0, 0);
    TELL(&head->state.hits); TELL(&head->next->state.ready); TELL(&jobs[7].cost); TELL(&jobs->id); TELL(single);
    TELL(&table.list[2]->state.hits); TELL(&shared->cost); TELL(&segment->id); TELL(&mine[2].id); TELL(table.raw);
    fflush(stdout);
    for (;;) pause();
}
"#;

fn names_what_pointers_lead_to(mut standing: Standing) {
    let told = std::mem::take(&mut standing.told);
    for (expression, path, type_name, is_atomic) in [
        ("&head->state.hits", "head->state.hits", "long int", false),
        ("&head->next->state.ready", "head->next->state.ready", "_Atomic int", true),
        ("&jobs[7].cost", "jobs[7].cost", "double", false),
        ("&jobs->id", "jobs->id", "int", false),
        ("single", "*single", "int", false),
        ("&table.list[2]->state.hits", "table.list[2]->state.hits", "long int", false),
        ("&shared->cost", "shared->cost", "double", false),
        ("&segment->id", "segment->id", "int", false),
        ("&mine[2].id", "mine[2].id", "int", false),
        ("table.raw", "heap", "", false),
    ] {
        let found = standing.info.variable_at(&standing.world, standing.space, told[expression]).expect("it is mapped");
        assert_eq!(
            (found.path.as_str(), found.type_name.as_str(), found.is_atomic),
            (path, type_name, is_atomic),
            "{expression}"
        );
        let is_shared = expression.starts_with("&s");
        assert_eq!(found.storage, if is_shared { Storage::Shared } else { Storage::Heap }, "{expression}");
    }
}

#[test]
fn memory_from_the_heap_is_named_by_the_pointers_that_lead_there() {
    names_what_pointers_lead_to(c("reached", SOURCE, &[]));
    names_what_pointers_lead_to(c("reached-static", SOURCE, &["-static"]));
}
