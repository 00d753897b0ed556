//! Shells, coreutils and interpreters, each for one line or two.

use super::{demand, prepare};
use crate::inside;

/// One shell script, run by `dash -c` inside and natively, in a folder of its own with `words` and `data` in it.
struct Case {
    name: &'static str,
    /// Programs it needs.
    needs: &'static [&'static str],
    script: &'static str,
}

const fn case(name: &'static str, needs: &'static [&'static str], script: &'static str) -> Case {
    Case { name, needs, script }
}

fn check(cases: &[Case]) {
    for case in cases {
        demand(case.needs);
        inside::same(&["/bin/dash", "-c", case.script], &prepare(case.name));
    }
}

#[test]
fn shells_do_what_they_do_on_the_host() {
    check(&[
        case("dash", &["dash"], "echo hello; for i in 1 2 3; do echo $((i * i)); done; exit 7"),
        case("pipe", &["dash"], "cat words | sort | uniq -c | sort -rn | head -n 2"),
        case("subshell", &["dash"], "x=$(cat words | wc -l); echo $x; (cd /; pwd); pwd | wc -c"),
        case("heredoc", &["dash"], "cat <<END\n$((6 * 7)) lines\nEND\n"),
        case("trap", &["dash"], "trap 'echo bye' EXIT; trap 'echo usr1' USR1; kill -USR1 $$; echo on; false"),
        case("jobs", &["dash"], "sleep 0.1 & wait $!; echo $?; (exit 3) & wait $!; echo $?"),
        case("signal", &["dash"], "sh -c 'kill -9 $$'; echo $?"),
        case("notfound", &["dash"], "no-such-program; echo $?; cat no-such-file; echo $?"),
        case(
            "bash",
            &["bash"],
            "bash -c 'a=(1 2 3); echo ${a[@]} ${#a[@]}; [[ abc =~ b ]] && echo yes; printf \"%05d\\n\" 42'",
        ),
        case(
            "bash-pipes",
            &["bash"],
            "bash -c 'echo a | tr a b | cat - words | while read x; do echo \"<$x>\"; done; echo ${PIPESTATUS[@]}'",
        ),
        case(
            "bash-trap",
            &["bash"],
            "bash -c 'trap \"echo term\" TERM; kill -TERM $$; trap \"echo out\" EXIT; echo in'",
        ),
        case("bash-jobs", &["bash"], "bash -c 'sleep 0.2 & sleep 0.1 & wait; echo done; cat <(echo sub) <<< here'"),
        case("bash-heredoc", &["bash"], "bash -c 'cat <<EOF\n$((1+1))\nEOF\ncat <<< word'"),
    ]);
}

#[test]
fn coreutils_do_what_they_do_on_the_host() {
    check(&[
        case(
            "ls",
            &["ls"],
            "mkdir d; touch d/b d/a; ln -s a d/l; ls d; ls -1 /usr/lib/os-release; stat -c '%s %a' words",
        ),
        case(
            "files",
            &["cp"],
            "cp words w2; mv w2 w3; ln w3 w4; rm w3; cat w4; mkdir -p a/b/c; rmdir a/b/c; ls a; test -d a/b; echo $?",
        ),
        case(
            "text",
            &["sort"],
            "sort words; sort -u words; tac words; nl words; wc words; cut -c1-2 words; tr a-z A-Z < words; paste words words; rev words",
        ),
        case(
            "sums",
            &["sha256sum"],
            "sha256sum data; md5sum data; cksum data; b2sum data; base64 data | tail -n 1; od -An -tx1 -N16 data",
        ),
        case(
            "numbers",
            &["seq"],
            "seq 1 5; factor 1234567; expr 6 '*' 7; printf '%x %o %e\\n' 255 8 1.5; seq 0.5 0.25 1.5",
        ),
        case("time", &["date"], "date -u -d @0; date -u -d '2024-02-29 12:34:56' +%s; env | sort; id -u; uname -sm"),
        case(
            "find",
            &["find"],
            "mkdir -p t/u; touch t/x t/u/y; find t | sort; find t -name y; du -s t > /dev/null; echo $?; ls | xargs echo",
        ),
        case(
            "dd",
            &["dd"],
            "dd if=data bs=1000 count=3 status=none | wc -c; head -c 10 /dev/zero | od -c; split -n 2 words; cat xaa xab",
        ),
        case(
            "grep",
            &["grep", "sed", "gawk"],
            "grep -n ap words; grep -c '^.e' words; sed -n '2,3p;s/a/A/gp' words; gawk '{n[$1]++} END {for (w in n) print w, n[w]}' words | sort; gawk 'BEGIN {printf \"%.10f\\n\", sin(1)}'",
        ),
        case("diff", &["diff"], "sort words > s; diff words s; echo $?; cmp data data; diff -u words s | tail -n +3"),
        case(
            "tar",
            &["tar", "gzip"],
            "tar -cf a.tar --mtime=@0 --owner=0 --group=0 words data; tar -tf a.tar; gzip -n -c data | sha256sum; gzip -c words | gunzip; xz -c words 2>/dev/null | xz -d",
        ),
        case("bc", &["bc"], "echo '2^100; scale=20; 4*a(1)' | bc -l"),
    ]);
}

#[test]
fn busybox_does_what_it_does_on_the_host() {
    check(&[case(
        "busybox",
        &["busybox"],
        "busybox sh -c 'echo hi | busybox tr h H'; busybox sha256sum data; busybox sort words; busybox awk 'BEGIN{print 1/3}'; busybox vi --help 2>&1 | head -n 1; busybox ls | wc -l",
    )]);
}

#[test]
fn perl_does_what_it_does_on_the_host() {
    check(&[
        case(
            "perl",
            &["perl"],
            "perl -e 'print join(\",\", map { $_ ** 2 } 1..10), \"\\n\"; printf \"%.15g\\n\", atan2(1,1)*4'",
        ),
        case("perl-regex", &["perl"], "perl -ne 'print if /an/; $n += length; END { print \"$n\\n\" }' words"),
        case(
            "perl-fork",
            &["perl"],
            "perl -e 'pipe(R,W); if (fork) { close W; print scalar <R>; wait; print $? >> 8, \"\\n\" } else { close R; print W \"child\\n\"; exit 5 }'",
        ),
        case(
            "perl-sort",
            &["perl"],
            "perl -e 'my %h; $h{$_ % 97} += $_ for 1..10000; print \"$_ $h{$_}\\n\" for sort { $a <=> $b } keys %h' | sha256sum",
        ),
    ]);
}

#[test]
fn python_does_what_it_does_on_the_host() {
    check(&[
        case("python", &["python3"], "/usr/bin/python3 -c 'print(sum(range(1000)), 1.5/7, 2**100, \"x\".join(\"abc\"))'"),
        case("python-json", &["python3"], "/usr/bin/python3 -c 'import json; print(json.dumps({\"a\": [1, 2.5, None, True]}, indent=1), json.loads(\"[1e3]\"))'"),
        case("python-threads", &["python3"], "/usr/bin/python3 -c '
import threading
lock = threading.Lock(); total = 0
def work():
    global total
    for i in range(100):
        with lock: total += i
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
print(total)'"),
        case("python-subprocess", &["python3"], "/usr/bin/python3 -c '
import subprocess
print(subprocess.run([\"cat\", \"words\"], capture_output=True).stdout)
print(subprocess.run(\"exit 3\", shell=True).returncode)
p = subprocess.Popen([\"sort\"], stdin=subprocess.PIPE, stdout=subprocess.PIPE); print(p.communicate(b\"b\\na\\n\"))'"),
        case("python-sockets", &["python3"], "/usr/bin/python3 -c '
import socket, threading
s = socket.socket(); s.bind((\"127.0.0.1\", 0)); s.listen()
def serve():
    c, _ = s.accept(); d = c.recv(100); c.sendall(d.upper()); c.close()
t = threading.Thread(target=serve); t.start()
c = socket.create_connection(s.getsockname()); c.sendall(b\"hello\"); print(c.recv(100), c.recv(1)); t.join()'"),
        case("python-sqlite", &["python3"], "/usr/bin/python3 -c '
import sqlite3
d = sqlite3.connect(\"t.db\"); d.execute(\"create table t (a, b)\"); d.executemany(\"insert into t values (?, ?)\", [(i, i * 0.5) for i in range(50)]); d.commit()
print(d.execute(\"select sum(a), avg(b) from t where a % 3 = 0\").fetchall())'"),
    ]);
}
