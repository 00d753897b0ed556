#!/usr/bin/env python3
"""What a budget of one fault costs, against none: states and CPU seconds.

    python3 benches/adversity.py [--allways PATH] [--repeat N]

Small programs of programs/faults, each checked exhaustively without faults, and with one fault of a kind in each run. The times are the
best of N runs. That a fault breaks a program does not shorten its search (--keep-going).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Source, flags of the compiler, commands, faults.
CASES = [
    ("bit.c", [], ["receiver 7000", "sender 7000"], ["loss", "duplicate", "delay"]),
    ("lease.c", [], ["server 7000", "client 7000", "client 7000"], ["loss", "kill", "pause", "restart", "early"]),
    ("talk.c", [], ["server 7000", "client 7000"], ["reset", "kill", "read:short"]),
    ("commit.c", ["-DTIMID"], ["coordinator 7000", "participant 7000", "participant 7000"], ["kill", "reset"]),
    ("failover.c", [], ["primary 7000", "backup 7000"], ["partition", "early"]),
    ("save.c", [], [""], ["write:error=ENOSPC", "write:short", "kill"]),
    ("jobs.c", [], ["put", "work"], ["kill", "restart", "write:error=EIO"]),
]


def searched(binary, faults, commands, folder):
    """States and CPU seconds of a search that must be complete."""
    words = [binary, "check", "--no-save", "--keep-going", "-j1", "--format", "json", *faults, "--"]
    for command in commands:
        words += command + ["+"]
    child = subprocess.Popen(words[:-1], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    text = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    told = json.loads(text)
    if not told["complete"]:
        sys.exit(f"not exhausted: {' '.join(words[:-1])}")
    return told["states"], usage.ru_utime + usage.ru_stime


def best(binary, faults, commands, folder, repeat):
    runs = [searched(binary, faults, commands, folder) for _ in range(repeat)]
    if len({states for states, _ in runs}) > 1:
        sys.exit(f"states differ from run to run: {runs}")
    return min(runs, key=lambda run: run[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    parser.add_argument("--allways", default=str(Path(target) / "release" / "allways"), help="the binary")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="take the best of N runs (default 3)")
    options = parser.parse_args()
    binary = os.path.abspath(options.allways)
    print("| program | fault | states without | with one | ratio | CPU s without | with one | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="allways-adversity-") as folder:
        for source, flags, arguments, faults in CASES:
            program = str(Path(folder) / source.removesuffix(".c"))
            subprocess.run(["gcc", "-g", "-O1", *flags, "-o", program, ROOT / "programs" / "faults" / source], check=True)
            commands = [[program, *words.split()] for words in arguments]
            states, seconds = best(binary, [], commands, folder, options.repeat)
            for fault in faults:
                allowed = ["--faults", "1", "--only", fault]
                more, longer = best(binary, allowed, commands, folder, options.repeat)
                ratios = f"{more / states:.1f} | {seconds:.2f} | {longer:.2f} | {longer / seconds:.1f}"
                print(f"| {source} | `{fault}` | {states} | {more} | {ratios} |", flush=True)


if __name__ == "__main__":
    main()
