#!/usr/bin/env python3
"""All schedules of the example programs: time to the first bug, time to exhaust, steps and states a second, bytes a state.

Usage: python3 benches/check.py [--quick] [--repeat N] [--json FILE]

Builds programs/*.c with gcc -g -O1 and searches each with Allways (one core), the best of N times. Beside it, as the yardstick that stress
testing has: how often a second the same binary can be started and run to its end natively (one core; a deadlocked run is
killed after 50 ms). Figures of other tools are quoted from programs/README.md, not measured here.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# name, source, macros, whether a bug is expected; --quick leaves out those marked slow
CASES = [
    ("phil 3", "phil.c", ["-DN=3"], True, False),
    ("phil 5", "phil.c", ["-DN=5"], True, False),
    ("phil 5 fixed", "phil.c", ["-DN=5", "-DFIXED"], False, False),
    ("phil 8", "phil.c", ["-DN=8"], True, False),
    ("bbuf 2P2C x1", "bbuf.c", ["-DNP=2", "-DNC=2", "-DITEMS=1"], False, False),
    ("bbuf 2P2C x2", "bbuf.c", ["-DNP=2", "-DNC=2", "-DITEMS=2"], False, False),
    ("bbuf 2P2C x2 if", "bbuf.c", ["-DNP=2", "-DNC=2", "-DITEMS=2", "-DBUG_IF"], True, False),
    ("bbuf 2P2C x2 signal", "bbuf.c", ["-DNP=2", "-DNC=2", "-DITEMS=2", "-DBUG_SIGNAL"], True, False),
    ("bbuf 2P2C x2 broadcast", "bbuf.c", ["-DNP=2", "-DNC=2", "-DITEMS=2", "-DONE_CV_BROADCAST"], False, False),
    ("bbuf 2P2C x3", "bbuf.c", ["-DNP=2", "-DNC=2", "-DITEMS=3"], False, False),
    ("rax 4 rounds", "rax.c", ["-DROUNDS=4"], False, False),
    ("rax 300 rounds", "rax.c", ["-DROUNDS=300"], False, False),
    ("rax endless", "rax.c", ["-DROUNDS=0"], False, False),
    ("rax endless, outer", "rax.c", ["-DROUNDS=0", "-DCOND_OUTER"], True, False),
    ("rax System V endless", "rax_sysv.c", ["-DROUNDS=0"], False, False),
    ("rax System V, outer", "rax_sysv.c", ["-DROUNDS=0", "-DCOND_OUTER"], True, False),
    ("treiber 2x2", "treiber.c", ["-DT=2", "-DK=2"], False, False),
    ("treiber 2x2 bug", "treiber.c", ["-DT=2", "-DK=2", "-DBUG"], True, False),
    ("peterson 2", "peterson.c", ["-DK=2"], False, False),
    ("peterson bug", "peterson.c", ["-DK=1", "-DBUG"], True, False),
    ("daytime", "daytime.c", [], False, False),
    ("echo", "echo.c", [], False, False),
    ("chat", "chat.c", [], False, False),
    ("chat, init bug", "chat.c", ["-DBUG_INIT"], True, False),
    ("chat, sync bug, -O0", "chat.c", ["-DBUG_SYNC", "-O0"], True, True),
]


def build(folder):
    command = ["cargo", "build", "--release", "-q", "-p", "checker", "--example", "check"]
    subprocess.run(command, cwd=ROOT, check=True)
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    for number, (_, source, macros, _, _) in enumerate(CASES):
        path = os.path.join(ROOT, "programs", source)
        out = os.path.join(folder, f"p{number}")
        subprocess.run(["gcc", "-g", "-O1", "-pthread", *macros, path, "-o", out], check=True)
    return os.path.join(target, "release", "examples", "check")


def search(tool, folder, number, first):
    """Seconds of processor time, peak bytes, and what was printed."""
    flags = ["--first"] if first else []
    child = subprocess.Popen([tool, *flags, f"./p{number}"], cwd=folder, stdout=subprocess.PIPE, text=True)
    text = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, text


def native_rate(folder, number):
    count, start, ipc = 0, time.monotonic(), system_v()
    while time.monotonic() - start < 1.0:
        child = subprocess.Popen([f"./p{number}"], cwd=folder, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            child.wait(timeout=0.05)
        except subprocess.TimeoutExpired:
            pass
        # Its children, too: an endless one would take time from all that is measured later.
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
        count += 1
    rate = count / (time.monotonic() - start)
    for kind, number in system_v() - ipc:
        subprocess.run(["ipcrm", f"--{kind}-id", number], check=False, stderr=subprocess.DEVNULL)
    return rate


def system_v():
    """System V objects that exist: whoever is killed leaves its own behind."""
    found = set()
    for kind, name in (("shmem", "shm"), ("semaphore", "sem"), ("queue", "msg")):
        with open(f"/proc/sysvipc/{name}") as table:
            found |= {(kind, line.split()[1]) for line in table.readlines()[1:]}
    return found


def best(tool, folder, number, first, repeat):
    return min((search(tool, folder, number, first) for _ in range(repeat)), key=lambda found: found[0])


def measure(tool, folder, number, case, repeat):
    name, _, _, has_bug, _ = case
    row = {"name": name, "native_runs_per_second": round(native_rate(folder, number))}
    if has_bug:
        row["first_bug_seconds"] = round(best(tool, folder, number, True, repeat)[0], 3)
    seconds, peak, text = best(tool, folder, number, False, repeat)
    numbers = re.search(r"(\d+) states, (\d+) steps, .*complete (\w+)", text)
    executed = re.search(r"(\d+) executed in all", text)
    row["states"], row["complete"] = int(numbers[1]), numbers[3] == "true"
    row["seconds"] = round(seconds, 3)
    row["steps_per_second"] = round(int(executed[1]) / seconds)
    row["bytes_per_state"] = round(peak / int(numbers[1]))
    row["found"] = re.findall(r"^(deadlock|assert|crash|exit|misuse)", text, re.M)
    if bool(row["found"]) != has_bug:
        sys.exit(f"{name}: found {row['found']}, expected {'a' if has_bug else 'no'} bug")
    return row


def tell_goals(rows):
    """Which of the goals are met. Rates are those of sizes that take longer than the start of the program."""
    by_name = {row["name"]: row for row in rows}
    rated = [name for name in ("phil 8", "bbuf 2P2C x3", "rax 300 rounds") if name in by_name]
    goals = [(f"{name}: 100,000 steps/s", by_name[name]["steps_per_second"] >= 100_000) for name in rated]
    if "chat" in by_name:
        goals.append(("chat: exhausted in five minutes", by_name["chat"]["complete"] and by_name["chat"]["seconds"] < 300))
    bugs = [row["first_bug_seconds"] for row in rows if "first_bug_seconds" in row]
    goals.append(("every bug: found in one second", max(bugs, default=0) < 1))
    for goal, is_met in goals:
        print(f"{goal:40} {'met' if is_met else 'NOT met'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="leave out what takes long")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="take the best of N runs (default 3)")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        tool = build(folder)
        head = f"{'program':24} {'first bug s':>11} {'exhaust s':>9} {'states':>8} {'steps/s':>8} {'B/state':>8} {'native/s':>8}"
        print(head)
        for number, case in enumerate(CASES):
            if options.quick and case[4]:
                continue
            row = measure(tool, folder, number, case, options.repeat)
            rows.append(row)
            exhaust = f"{row['seconds']:9.2f}" if row["complete"] else f">{row['seconds']:8.1f}"
            first = row.get("first_bug_seconds", "")
            print(
                f"{row['name']:24} {first:>11} {exhaust} {row['states']:>8} {row['steps_per_second']:>8}"
                f" {row['bytes_per_state']:>8} {row['native_runs_per_second']:>8}",
                flush=True,
            )
    tell_goals(rows)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
