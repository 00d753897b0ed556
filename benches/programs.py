#!/usr/bin/env python3
"""How fast programs run inside: instructions a second, start-up, and snapshots, as ratios to native and to qemu-user.

    python3 benches/programs.py [--quick] [--repeat N] [--allways PATH] [--json OUT]

Needs gcc, cargo and qemu-user (apt install qemu-user). All ratios are of CPU times measured in this run, one after the other.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Rounds of about half a billion instructions.
WORKLOADS = {"integer": 4000, "memory": 5000, "sse": 40000, "branchy": 120000}
STARTS = 20
GOAL_QEMU_INTEGER, GOAL_QEMU_SSE, GOAL_MIPS, GOAL_START_MS = 4.0, 1.0, 400.0, 30.0


def main():
    options = arguments()
    if not shutil.which("qemu-x86_64"):
        sys.exit("qemu-x86_64 is missing: apt install qemu-user")
    allways = options.allways or build()
    with tempfile.TemporaryDirectory(prefix="allways-bench-") as folder:
        folder = Path(folder).resolve()
        rows = [workload(name, rounds // (10 if options.quick else 1), folder, allways, options.repeat)
                for name, rounds in WORKLOADS.items()]
        start = start_up(folder, allways, options.repeat)
    memory = snapshot() if not options.quick else None
    show(rows, start, memory)
    if options.json:
        Path(options.json).write_text(json.dumps({"workloads": rows, "start": start, "snapshot": memory}, indent=1))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds, no snapshots")
    parser.add_argument("--repeat", type=int, default=3, help="take the best of so many runs (default 3)")
    parser.add_argument("--allways", help="measure this binary instead of building one")
    parser.add_argument("--json", help="keep the measurements here")
    return parser.parse_args()


def build():
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "allways"], cwd=ROOT, check=True)
    target = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    return str(Path(target) / "release" / "allways")


def runners(program, allways):
    """The three ways to run a program."""
    return {"native": [program], "qemu": ["qemu-x86_64", program], "allways": [allways, "run", "--", program]}


def workload(name, rounds, folder, allways, repeat):
    """CPU seconds of each runner without its start-up, and how many instructions the guest executed."""
    program = str(folder / name)
    source = ROOT / "benches" / "programs" / f"{name}.c"
    subprocess.run(["gcc", "-O2", "-fno-tree-vectorize", "-static", "-o", program, source], check=True)
    row, answers = {"name": name}, set()
    for runner, command in runners(program, allways).items():
        idle = min(measure([*command, "0"])[0] for _ in range(repeat))
        runs = [measure([*command, str(rounds)]) for _ in range(repeat)]
        row[runner] = max(min(run[0] for run in runs) - idle, 1e-6)
        answers.add(runs[0][1])
        if runner == "allways":
            row["instructions"] = int(runs[0][2].split()[-1])
    if len(answers) != 1:
        sys.exit(f"{name}: the runners disagree about the answer: {answers}")
    return row


def start_up(folder, allways, repeat):
    """Milliseconds of CPU time for a dynamically linked hello world."""
    source, program = folder / "hello.c", str(folder / "hello")
    source.write_text('#include <stdio.h>\nint main(void) { puts("hello"); }\n')
    subprocess.run(["gcc", "-O2", "-o", program, source], check=True)
    best = lambda command: 1000 * min(measure(command)[0] for _ in range(STARTS * repeat))
    return {runner: best(command) for runner, command in runners(program, allways).items()}


def measure(command):
    """CPU seconds of a command and its children, what it printed, what it said on stderr."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        told = out.read().decode(), err.read().decode()
        if process.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {process.returncode}: {told[1]}")
        return usage.ru_utime + usage.ru_stime, *told


def snapshot():
    """What the memory's own benchmark prints."""
    command = ["cargo", "run", "--release", "--quiet", "-p", "memory", "--example", "snapshot"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def geometric(values):
    values = list(values)
    return math.exp(sum(math.log(value) for value in values) / len(values))


def show(rows, start, memory):
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}; CPU seconds without start-up, best of the runs\n")
    print(f"{'workload':10} {'Minstr':>8} {'native s':>9} {'qemu s':>8} {'allways s':>10} {'MIPS':>7} {'/native':>8} {'/qemu':>7}")
    for row in rows:
        mips = row["instructions"] / row["allways"] / 1e6
        print(f"{row['name']:10} {row['instructions'] / 1e6:8.0f} {row['native']:9.3f} {row['qemu']:8.3f} {row['allways']:10.3f} "
              f"{mips:7.0f} {row['allways'] / row['native']:7.1f}x {row['allways'] / row['qemu']:6.2f}x")
    mips = geometric(row["instructions"] / row["allways"] / 1e6 for row in rows)
    print(f"{'mean':10} {'':8} {'':9} {'':8} {'':10} {mips:7.0f} {geometric(r['allways'] / r['native'] for r in rows):7.1f}x "
          f"{geometric(r['allways'] / r['qemu'] for r in rows):6.2f}x")
    print(f"\nhello world through ld.so: native {start['native']:.1f} ms, qemu {start['qemu']:.1f} ms, allways {start['allways']:.1f} ms")
    if memory:
        print(f"\nsnapshots (memory's own benchmark)\n{memory}")
    by_name = {row["name"]: row for row in rows}
    goal("integer within 4x of qemu-user", by_name["integer"]["allways"] / by_name["integer"]["qemu"] <= GOAL_QEMU_INTEGER)
    goal("SSE ahead of qemu-user", by_name["sse"]["allways"] / by_name["sse"]["qemu"] < GOAL_QEMU_SSE)
    goal(f"geometric mean of {GOAL_MIPS:.0f} MIPS", mips >= GOAL_MIPS)
    goal(f"hello world under {GOAL_START_MS:.0f} ms", start["allways"] < GOAL_START_MS)


def goal(what, met):
    print(f"{'met' if met else 'NOT MET':8} {what}")


if __name__ == "__main__":
    main()
