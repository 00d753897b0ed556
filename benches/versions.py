#!/usr/bin/env python3
"""Two versions of Allways in turn: CPU seconds of the old one divided by those of the new one, row by row.

    python3 benches/versions.py --old REVISION           # builds that revision and this one, then measures
    python3 benches/versions.py --old PATH --new PATH    # two binaries

Programs of benches/check.py, models of models/scalable and workloads of benches/programs are run by both binaries alternately, the best of
--repeat runs each. A ratio above 1 means that the new version is faster. Exit code 1 if a row is below --least.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import check

ROOT = Path(__file__).resolve().parent.parent
# Rows of check.py that take longer than the start of the program.
PROGRAMS = ["phil 5 fixed", "phil 8", "bbuf 2P2C x2", "bbuf 2P2C x3", "rax 300 rounds", "treiber 2x2", "peterson 2", "chat"]
DPOR = ["bbuf 2P2C x1", "phil 5 fixed"]
MODELS = [("leader.pml", "-DN=5"), ("elevator.pml", "-DFLOORS=5"), ("coherence.pml", "-DN=4"), ("philosophers.pml", "-DN=7")]
WORKLOADS = {"integer": 1000, "memory": 1000, "sse": 8000, "branchy": 20000}


def build(revision, folder):
    """The binary of a revision, or of this checkout if there is none."""
    source, target = ROOT, os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    if revision:
        source, target = Path(folder) / "source", str(Path(folder) / "target")
        subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(source)], check=True)
        subprocess.run(["git", "checkout", "--quiet", revision], cwd=source, check=True)
    environment = {**os.environ, "CARGO_TARGET_DIR": target}
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "allways"], cwd=source, env=environment, check=True)
    return str(Path(target) / "release" / "allways")


def rows(folder):
    """Name and arguments of each measurement."""
    found, cases = [], {case[0]: case for case in check.CASES}
    for name in PROGRAMS:
        program = compile_program(cases[name], folder)
        found.append((name, ["check", "--no-save", "-j1", "--keep-going", "--", program]))
    for name in DPOR:
        program = compile_program(cases[name], folder)
        found.append((f"{name}, dpor", ["check", "--no-save", "--engine", "dpor", "--keep-going", "--", program]))
    for model, size in MODELS:
        path = ROOT / "models" / "scalable" / model
        flags = ["--no-save", "-j1", "--reduction", "off", "--check", "deadlock,assert", size]
        found.append((f"{model} {size}", ["check", str(path), *flags]))
    for name, rounds in WORKLOADS.items():
        program = str(Path(folder) / name)
        source = ROOT / "benches" / "programs" / f"{name}.c"
        subprocess.run(["gcc", "-O2", "-fno-tree-vectorize", "-static", "-o", program, source], check=True)
        found.append((f"run {name}", ["run", "--", program, str(rounds)]))
    return found


def compile_program(case, folder):
    name, source, macros, _, _ = case
    program = str(Path(folder) / name.replace(" ", "-").replace(",", ""))
    command = ["gcc", "-g", "-O1", "-pthread", *macros, str(ROOT / "programs" / source), "-o", program]
    subprocess.run(command, check=True)
    return program


def seconds(binary, arguments, folder):
    """CPU seconds, and the exit code."""
    child = subprocess.Popen([binary, *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, child.returncode


def compare(old, new, arguments, folder, repeat):
    """The best time of each version, in turn; both must come to the same exit code."""
    best, codes = [float("inf")] * 2, set()
    for _ in range(repeat):
        for index, binary in enumerate((old, new)):
            time, code = seconds(binary, arguments, folder)
            best[index] = min(best[index], time)
            codes.add(code)
    if len(codes) > 1:
        sys.exit(f"the versions differ: exit codes {sorted(codes)} of {' '.join(arguments)}")
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", required=True, help="a revision, or the path of a binary")
    parser.add_argument("--new", help="the path of a binary; without it, this checkout is built")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="take the best of N runs (default 5)")
    parser.add_argument("--least", type=float, default=0.95, help="the least ratio that is accepted (default 0.95)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="allways-versions-") as folder:
        old = options.old if os.path.isfile(options.old) else build(options.old, folder)
        new = options.new or build(None, folder)
        slower = []
        print(f"{'':28} {'old s':>8} {'new s':>8} {'old/new':>8}")
        for name, arguments in rows(folder):
            before, after = compare(os.path.abspath(old), os.path.abspath(new), arguments, folder, options.repeat)
            ratio = before / after
            print(f"{name:28} {before:8.3f} {after:8.3f} {ratio:8.2f}", flush=True)
            if ratio < options.least:
                slower.append(name)
    if slower:
        sys.exit(f"slower than {options.least}: {', '.join(slower)}")


if __name__ == "__main__":
    main()
