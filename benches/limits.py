#!/usr/bin/env python3
"""Are limits kept? Time, Ctrl-C and memory on guests that try to use up all there is.

    python3 benches/limits.py                    # everything, about half an hour
    python3 benches/limits.py --only loop,pipes  # these guests
    python3 benches/limits.py --quick            # a few of them

For each guest (the modes of programs/limits/exhaust.c, loops before `main`, programs whose reports are long) it prints the
time that was asked for and taken, how long a check went on after Ctrl-C, and the memory that was asked for and the peak.
What is promised: time within two seconds or a twentieth, a second after Ctrl-C, 1.2 times the memory and 100 MB. A row
that breaks a promise is marked, and the exit code is 1. Needs gcc; rustc and a gcc with -fsanitize=thread for two rows.
Standard library only. Last results: docs/limits.md.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "programs/limits"
QUICK = ("loop", "pipes", "mmap", "sem", "startup loop", "endless threads")
MB = 1 << 20


@dataclass
class Guest:
    """Something to be checked."""

    name: str
    command: list
    flags: tuple = ()


@dataclass
class Ended:
    """How a process ended."""

    seconds: float
    after_signal: float
    code: int
    peak: int


def build(folder):
    """Compiles the guests; those that cannot be built here are left out."""
    def compiled(name, *words):
        path = folder / name
        done = subprocess.run([*words, "-o", str(path)], cwd=SOURCES, capture_output=True, check=False)
        return str(path) if done.returncode == 0 else None

    exhaust = compiled("exhaust", "gcc", "-w", "-g", "-O1", "-pthread", "exhaust.c", "-lrt")
    modes = re.findall(r'IS\("(\w+)"\)', (SOURCES / "exhaust.c").read_text())
    guests = [Guest(mode, [exhaust, mode]) for mode in dict.fromkeys(modes)]
    more = [
        ("startup loop", compiled("startup_loop", "gcc", "-nostdlib", "-static", "startup_loop.c"), ()),
        ("constructor loop", compiled("ctor_loop", "gcc", "-g", "ctor_loop.c"), ()),
        ("endless threads", compiled("endless", "gcc", "-g", "-O1", "-pthread", "endless_after_time.c"), ()),
        ("endless threads, dpor", str(folder / "endless"), ("--engine", "dpor")),
        ("endless threads, sample", str(folder / "endless"), ("--sample",)),
        ("endless threads, preemptions", str(folder / "endless"), ("--preemptions", "4294967295")),
        ("thread sanitizer", compiled("tsan", "gcc", "-g", "-O1", "-fsanitize=thread", "-pthread", "many_reports.c"), ()),
        ("races, long report", compiled("many", "gcc", "-g", "-O1", "-pthread", "many_reports.c"), ("--keep-going",)),
    ]
    if shutil.which("rustc"):
        rust = compiled("rust", "rustc", "-g", "threads.rs")
        more.append(("rust threads", rust, ()))
    guests += [Guest(name, [path], flags) for name, path, flags in more if path and os.path.exists(path)]
    return guests


def run(tool, words, folder, interrupt_after=None, limit=120):
    """Runs a command; with a signal after a while if that is wanted."""
    started = time.monotonic()
    # Nothing is read: what this process holds would count as the peak of its children.
    process = subprocess.Popen([tool, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    signalled = None
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        now = time.monotonic()
        if pid:
            break
        if interrupt_after is not None and signalled is None and now - started >= interrupt_after:
            os.kill(process.pid, signal.SIGINT)
            signalled = time.monotonic()
        if now - started > limit:
            os.kill(process.pid, signal.SIGKILL)
        time.sleep(0.005)
    process.returncode = 0
    ended = time.monotonic()
    after = ended - signalled if signalled else 0.0
    return Ended(ended - started, after, os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024)


def measure(tool, guest, folder, options):
    """One row: time, Ctrl-C, memory."""
    check = ["check", "--no-save", *guest.flags]
    timed = run(tool, [*check, "--time", f"{options.time}s", "--", *guest.command], folder)
    stopped = run(tool, [*check, "--", *guest.command], folder, interrupt_after=options.time)
    memory = ["--mem", f"{options.mem}M", "--time", f"{options.patience}s"]
    full = run(tool, [*check, *memory, "--", *guest.command], folder)
    alone = run(tool, ["run", *memory, "--", *guest.command], folder)
    return timed, stopped, full, alone


def verdict(options, timed, stopped, full, alone):
    """Which promises were broken."""
    most = options.mem * MB * 1.2 + 100 * MB
    broken = []
    if timed.seconds > options.time + max(2.0, options.time / 20):
        broken.append("time")
    if stopped.after_signal > 1.0:
        broken.append("Ctrl-C")
    if max(full.peak, alone.peak) > most:
        broken.append("memory")
    codes = {timed.code, stopped.code, full.code, alone.code}
    if any(code < 0 or code in (70, 101, 134) for code in codes):
        broken.append(f"exit {sorted(codes)}")
    return ", ".join(broken)


HEADS = ["guest", "time asked", "taken", "exit", "Ctrl-C", "exit", "memory asked", "check peak", "exit", "run peak", "exit", "broken"]


def row(options, guest, ended):
    """One line of the table."""
    timed, stopped, full, alone = ended
    latency = f"{stopped.after_signal:.2f} s" if stopped.after_signal else f"done in {stopped.seconds:.1f} s"
    return [
        guest.name, f"{options.time} s", f"{timed.seconds:.1f} s", str(timed.code), latency, str(stopped.code),
        f"{options.mem} MB", f"{full.peak // MB} MB", str(full.code), f"{alone.peak // MB} MB", str(alone.code),
        verdict(options, *ended) or "-",
    ]


def main():
    """Builds, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=str(ROOT / "target/release/allways"))
    parser.add_argument("--only", default="", help="names of guests, separated by commas")
    parser.add_argument("--quick", action="store_true", help="a few guests only")
    parser.add_argument("--time", type=int, default=3, help="seconds that are asked for")
    parser.add_argument("--mem", type=int, default=512, help="megabytes that are asked for")
    parser.add_argument("--patience", type=int, default=12, help="seconds to use up the memory")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="allways-limits-") as name:
        folder = Path(name)
        guests = build(folder)
        wanted = options.only.split(",") if options.only else QUICK if options.quick else [g.name for g in guests]
        failed = 0
        print("| " + " | ".join(HEADS) + " |\n|" + "---|" * len(HEADS), flush=True)
        for guest in (guest for guest in guests if guest.name in wanted):
            ended = measure(options.tool, guest, folder, options)
            cells = row(options, guest, ended)
            failed += cells[-1] != "-"
            print("| " + " | ".join(cells) + " |", flush=True)
    print(f"\n{failed} guests with a broken promise", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
