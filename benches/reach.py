#!/usr/bin/env python3
"""How far checks of everyday programs get: C, C++, Rust, Go, Python, Perl, shells, servers with two clients.

    python3 benches/reach.py                      # all rows, about a quarter of an hour
    python3 benches/reach.py --only c,rust        # rows whose names contain these
    python3 benches/reach.py --allways PATH       # measure this binary instead of building one

For each row: whether the cured program prints the same inside as natively, whether the bug is found and after how many seconds
of CPU, how long starting and reporting took beside the search, and how far the search of the cured version gets (exhaustive,
or within which bound), with states, CPU seconds and megabytes. Rows whose programs are not
installed are left out and named. Standard library only. Last results: docs/reach.md.
"""

import argparse
import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "programs"
GCC, GXX = ["gcc", "-g", "-O1", "-pthread"], ["g++", "-g", "-O1", "-pthread"]


@dataclass
class Row:
    """A program with a bug, and one without; either may be missing. Commands are words, `+` stands between programs."""

    name: str
    bug: str = ""
    cured: str = ""
    build: tuple = ()
    needs: tuple = ()
    flags: str = ""
    time: int = 60
    native: bool = True


def compiled(name, source, *flags, compiler=GCC):
    return [*compiler, *flags, "-o", name, str(PROGRAMS / source)]


def rust(name, program=None, *flags):
    """A bundled Rust program under a name of its own."""
    source = str(PROGRAMS / f"languages/{program or name}.rs")
    return ["rustc", "--edition=2021", "-g", "--check-cfg", "cfg(cured)", *flags, "-o", name, source]


def both(program):
    """A row of a Rust program that has a cured version."""
    name = f"Rust, {program}"
    build = (rust(f"{program}-bug", program), rust(f"{program}-cured", program, "--cfg", "cured"))
    return Row(name, f"./{program}-bug", f"./{program}-cured", build, ("rustc",))


def parking_lot(folder):
    return ["cargo", "build", "--quiet", "--manifest-path", str(PROGRAMS / "languages/parking_lot/Cargo.toml"),
            "--target-dir", str(folder / "parking_lot")]


def rows(folder):
    """The table. The names of programs are looked up in the folder where they are built."""
    server = (compiled("server", "server.c"), compiled("client", "client.c"))
    crossed = compiled("crossed", "server.c", "-DTHREADS", "-DCROSSED")
    kv, get = compiled("kv", "reach/kv.c"), compiled("get", "reach/get.c")
    lots = str(folder / "parking_lot/debug")
    redis = "redis-server --port 7000 --save '' --appendonly no"
    memcached = "memcached -u root -p 7000 -U 0 -t 2"
    two = lambda client: f"+ {client} + {client}"
    return [
        Row("C, pthreads", "./phil", "./fixed", (compiled("phil", "phil.c"), compiled("fixed", "phil.c", "-DFIXED"))),
        Row("C++, std::thread", "./race", "./locked",
            (compiled("race", "reach/counter.cpp", compiler=GXX), compiled("locked", "reach/counter.cpp", "-DCURED", compiler=GXX)),
            ("g++",)),
        Row("Rust, std Mutex", "./transfer", "./ordered", (rust("transfer"), rust("ordered")), ("rustc",)),
        Row("Rust, atomics", "./hits", "./counter", (rust("hits"), rust("counter")), ("rustc",)),
        *(both(program) for program in ("barrier", "channel", "condvar", "guard", "once", "park", "rwlock")),
        Row("Rust, parking_lot", f"{lots}/transfer", f"{lots}/ordered", (parking_lot(folder),), ("cargo",)),
        Row("Go, goroutines", "./go-counter", "./go-counter cured",
            (["go", "build", "-o", "go-counter", str(PROGRAMS / "reach/counter.go")],), ("go",), "--env GOMAXPROCS=1"),
        Row("Python, threads", "/usr/bin/python3 counter.py", "/usr/bin/python3 counter.py cured", (), ("/usr/bin/python3",)),
        Row("Perl, fork", "perl counter.pl", "perl counter.pl cured", (), ("perl",)),
        Row("sh, flock", "", "sh add.sh flock + sh add.sh flock", (), ("flock",)),
        Row("sh, mkdir", "", "sh add.sh mkdir + sh add.sh mkdir"),
        Row("epoll server in C", f"./crossed 7000 {two('./client 7000')}", f"./server 7000 {two('./client 7000')}",
            (*server, crossed), native=False),
        Row("lighttpd", "", f"lighttpd -D -f lighttpd.conf {two('./get 7000 /index.html hello')}", (get,), ("lighttpd",), native=False),
        Row("memcached -t 2", f"{memcached} {two('./kv 7000 memcached')}", f"{memcached} {two('./kv 7000 memcached cured')}",
            (kv,), ("memcached",), "--preemptions 1", 120, native=False),
        Row("redis", f"{redis} {two('./kv 7000 redis')}", f"{redis} {two('./kv 7000 redis cured')}", (kv,), ("redis-server",),
            "--preemptions 1", 120, native=False),
        Row("python http.server", "", f"/usr/bin/python3 -m http.server 7000 {two('./get 7000 /index.html hello')}", (get,),
            ("/usr/bin/python3",), native=False),
    ]


def prepare(folder):
    """Files that the programs read."""
    for name in ("counter.py", "counter.pl", "add.sh"):
        shutil.copy(PROGRAMS / "reach" / name, folder)
    (folder / "index.html").write_text("hello\n")
    (folder / "lighttpd.conf").write_text(f'server.document-root = "{folder}"\nserver.port = 7000\n')


def words(text):
    return shlex.split(text)


def measured(allways, row, command, folder):
    """One check: its report, CPU seconds, and seconds outside of the search."""
    flags = ["--no-save", "--format", "json", "--time", f"{row.time}s", "--mem", "6G", *words(row.flags)]
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([allways, "check", *flags, "--", *words(command)], cwd=folder, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu, wall = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - begun
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return {"error": (done.stderr.decode().splitlines() or ["no report"])[0]}, cpu, 0.0
    return report, cpu, wall - report["seconds"]


def bug(allways, row, folder):
    """Which failure was found, after how many seconds of CPU, and how many seconds the report took."""
    if not row.bug:
        return ["-", "-"]
    report, cpu, rest = measured(allways, row, row.bug, folder)
    found = [one["kind"] for one in report.get("properties", []) if one["verdict"] == "violated"]
    return [f"{', '.join(found)} ({cpu:.1f} s)", f"{rest:.1f}"] if found else [f"not found ({cpu:.0f} s)", "-"]


def cured(allways, row, folder):
    """How far the search of the cured version gets, and what that takes."""
    report, cpu, _ = measured(allways, row, row.cured, folder)
    if "error" in report:
        return [report["error"], "-", f"{cpu:.1f}", "-"]
    violated = [one["kind"] for one in report["properties"] if one["verdict"] == "violated"]
    how = f"VIOLATED: {', '.join(violated)}" if violated else far(report)
    return [how, f"{report['states']:,}".replace(",", " "), f"{cpu:.1f}", f"{report['memory_bytes'] / 1e6:.0f}"]


def far(report):
    """How far a search got that found nothing."""
    bound = report["coverage"]["bound"]
    if report["complete"] and not bound:
        return "exhaustive"
    return f"holds within {bound}" if report["verdict"] == "holds" else str(report["coverage"]["end"])


def same(allways, row, folder):
    """Whether the cured program ends and prints natively as it does inside."""
    if not row.native or "+" in words(row.cured):
        return "-"
    native = subprocess.run(words(row.cured), cwd=folder, capture_output=True, check=False)
    for file in ("number", "lock"):
        (folder / file).unlink(missing_ok=True)
    inside = subprocess.run([allways, "run", "--", *words(row.cured)], cwd=folder, capture_output=True, check=False)
    return "yes" if (native.returncode, native.stdout) == (inside.returncode, inside.stdout) else "NO"


def build(row, folder):
    """Builds a row's programs; why that is not possible, if it is not."""
    missing = [need for need in row.needs if not shutil.which(need)]
    if missing:
        return f"{missing[0]} is not installed"
    for command in row.build:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return (done.stderr.splitlines() or ["it cannot be built"])[0]
    return None


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="rows whose names contain one of these, separated by commas")
    parser.add_argument("--allways", help="measure this binary instead of building one")
    return parser.parse_args()


def release():
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "allways"], cwd=ROOT, check=True)
    return str(Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "allways")


def main():
    options = arguments()
    allways = os.path.abspath(options.allways) if options.allways else release()
    only = [part.lower() for part in options.only.split(",")] if options.only else [""]
    print("| program | same output | bug found (CPU) | its report, s | cured version | states | CPU s | MB |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="allways-reach-") as folder:
        folder = Path(folder).resolve()
        prepare(folder)
        for row in (row for row in rows(folder) if any(part in row.name.lower() for part in only)):
            why = build(row, folder)
            if why:
                print(f"left out: {row.name}: {why}", file=sys.stderr)
                continue
            bound = f" `{row.flags}`" if row.flags else ""
            cells = [row.name + bound, same(allways, row, folder), *bug(allways, row, folder), *cured(allways, row, folder)]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
