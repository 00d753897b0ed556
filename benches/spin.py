#!/usr/bin/env python3
"""Allways against SPIN's pan on models of a million states and more.

    python3 benches/spin.py                      # everything, about ten minutes
    python3 benches/spin.py --quick              # small sizes, one run each: is the benchmark itself in order?
    python3 benches/spin.py --models leader,bakery --json out.json

The models and sizes are the `size=bench` lines of models/scalable. Both checkers run in turn on the same machine in
the same session; times are CPU seconds of the process (user and system), the best of --repeat runs. What is measured
how, and last results: docs/benchmarks.md. Needs spin, gcc and cargo. Standard library only.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import expectations
import pan
import tables

ROOT = Path(__file__).resolve().parent.parent
STARTUP_MODEL = ROOT / "models/examples/peterson.pml"
OFF = ("-DSAFETY", "-DNOREDUCE", "-DNOCLAIM")
ON = ("-DSAFETY", "-DNOCLAIM")

# name: (reductions, options of spin -a, options of gcc, level)
PAN_BUILDS = {
    "pan -O2": ("off", pan.PLAIN, OFF, "-O2"),
    "pan -O3": ("off", pan.PLAIN, OFF, "-O3"),
    "pan collapse": ("off", pan.PLAIN, (*OFF, "-DCOLLAPSE"), "-O2"),
    "pan -O2 reduced": ("on", (), ON, "-O2"),
    "pan -O3 reduced": ("on", (), ON, "-O3"),
}
# name: (reductions, workers)
ALLWAYS_RUNS = {
    "allways": ("off", 1),
    "allways -j2": ("off", 2),
    "allways reduced": ("on", 1),
    "allways -j2 reduced": ("on", 2),
}


@dataclass
class Measurement:
    """One checker on one model: `why` is set, and nothing else, when there is no result."""

    states: int = 0
    transitions: int = 0
    cpu: float = 0.0
    wall: float = 0.0
    store_bytes: float = 0.0
    table_bytes: float = 0.0
    peak_bytes: int = 0
    why: str = ""

    @property
    def rate(self):
        """States for each CPU second."""
        return self.states / max(self.cpu, 1e-3) if not self.why else 0.0

    @property
    def bytes_per_state(self):
        return self.store_bytes / self.states if self.states and self.store_bytes else 0.0


@dataclass
class Result:
    """All measurements of one model."""

    model: str
    defines: list
    expected_states: int
    runs: dict = field(default_factory=dict)


def main():
    arguments = parse_arguments()
    binary = arguments.allways or build_allways()
    results = []
    for path, expectation in chosen(arguments):
        results.append(measure_model(path, expectation, binary, arguments.repeat))
        tables.progress(results[-1])
    startup = measure_startup(binary, 2 if arguments.quick else 5)
    tables.show(results, startup)
    if arguments.json:
        save(arguments.json, results, startup)
    sys.exit(1 if tables.disagreements(results) else 0)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="default sizes of the models, one run each")
    parser.add_argument("--models", help="comma-separated names (default: all of models/scalable)")
    parser.add_argument("--json", metavar="OUT", help="write all measurements to this file")
    parser.add_argument("--allways", metavar="PATH", help="binary to measure (default: cargo build --release)")
    parser.add_argument("--repeat", type=int, help="runs of each checker, the best counts (default 3, --quick 1)")
    arguments = parser.parse_args()
    arguments.repeat = arguments.repeat or (1 if arguments.quick else 3)
    if arguments.allways:
        arguments.allways = str(Path(arguments.allways).resolve())
    return arguments


def build_allways():
    """Builds the release binary; returns its path, or None when it does not build."""
    command = ["cargo", "build", "--release", "-p", "allways", "--message-format=json-render-diagnostics"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    artifacts = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    binaries = [artifact["executable"] for artifact in artifacts if artifact.get("executable")]
    return binaries[-1] if done.returncode == 0 and binaries else None


def chosen(arguments):
    """Models with the size to run."""
    names = arguments.models.split(",") if arguments.models else None
    for path in sorted((ROOT / "models/scalable").glob("*.pml")):
        if names and path.stem not in names:
            continue
        for expectation in expectations.read_model(path):
            if expectation.bench if not arguments.quick else not expectation.defines and "states" in expectation.keys:
                yield path, expectation


def measure_model(path, expectation, binary, repeat):
    """pan and Allways in turn."""
    result = Result(path.stem, expectation.defines, int(expectation.keys["states"]))
    for name, build in PAN_BUILDS.items():
        result.runs[name] = measure_pan(path, expectation.defines, build, result.expected_states, repeat)
    for name, (reductions, workers) in ALLWAYS_RUNS.items():
        result.runs[name] = measure_allways(path, expectation.defines, binary, reductions, workers, repeat)
    return result


def measure_pan(path, defines, build, states, repeat):
    """Builds pan and takes its best run."""
    _, spin_opts, cc_opts, level = build
    model = pan.generate(pan.copy_to_scratch(path), spin_opts, defines)
    try:
        complaint = pan.compile_pan(model, (*cc_opts, "-DMEMLIM=16000"), level=level)
        if complaint:
            return Measurement(why=complaint)
        return best(lambda depths: pan_once(model, states, depths), repeat)
    finally:
        shutil.rmtree(model.scratch, ignore_errors=True)


def best(once, repeat):
    """The run with the least CPU time; the first one also finds out how deep a stack pan needs."""
    depths = (100_000, 2_000_000, 50_000_000)
    runs = []
    for _ in range(repeat):
        run, depth = once(depths)
        runs.append(run)
        if run.why:
            break
        depths = (depth + 1000,)
    return min(runs, key=lambda run: (bool(run.why), run.cpu))


def pan_once(model, states, depths):
    """One run with a hash table of at least one slot for each state, as SPIN's manual advises."""
    slots = max(18, math.ceil(math.log2(states)) + 1)
    run = pan.run_pan(model, ("-c0", f"-w{slots}"), cpu_seconds=600, depths=depths)
    if run.status != "complete":
        return Measurement(why=f"{run.status} {run.note}"), 0
    megabytes = {name: size * 2**20 for name, size in run.megabytes.items()}
    store = megabytes.get("actual memory usage for states") or megabytes.get("equivalent memory usage for states", 0)
    measurement = Measurement(
        int(run.stored), int(run.transitions), run.cpu, run.wall, store, 8 * 2**slots, run.peak_bytes)
    return measurement, int(run.depth)


def measure_allways(path, defines, binary, reductions, workers, repeat):
    """The best of several runs; wall time when there are several workers, CPU time otherwise."""
    if not binary:
        return Measurement(why="allways does not build")
    command = [binary, "check", str(path), *allways_defines(defines), "--check", "deadlock,assert", "-j", str(workers)]
    command += ["--format", "json", *(["--reduction", "off"] if reductions == "off" else [])]
    runs = [allways_once(command) for _ in range(repeat)]
    return min(runs, key=lambda run: (bool(run.why), run.wall if workers > 1 else run.cpu))


def allways_defines(defines):
    """-DN=5 as `-D N=5`."""
    return [word for define in defines for word in ("-D", define.removeprefix("-D"))]


def allways_once(command):
    """One run; a missing feature gives a measurement that says why there is none."""
    with tempfile.TemporaryDirectory() as scratch:
        code, out, err, wall, cpu, peak = pan.measured(command, scratch, 600)
    try:
        answer = json.loads(out)
    except json.JSONDecodeError:
        said = (err or out).strip().splitlines()
        return Measurement(why=f"exit {code}: {said[0] if said else 'no output'}")
    if answer.get("verdict") != "holds" or not answer.get("complete"):
        return Measurement(why=f"verdict {answer.get('verdict')}, complete {answer.get('complete')}")
    store = answer.get("store_bytes") or 0
    return Measurement(answer.get("states", 0), answer.get("steps", 0), cpu, wall, store, 0, peak)


def measure_startup(binary, repeat):
    """Wall seconds from the command line to the verdict on a small model, the best of several."""
    spin = min(spin_startup() for _ in range(repeat))
    ours = [allways_startup(binary) for _ in range(repeat)] if binary else []
    measured = [seconds for seconds in ours if seconds is not None]
    return {"model": STARTUP_MODEL.name, "spin": spin, "allways": min(measured) if measured else None}


def spin_startup():
    """spin -a, gcc -O2, pan."""
    scratch = pan.copy_to_scratch(STARTUP_MODEL)
    start = time.monotonic()
    pan.generate(scratch)
    pan.compile_pan(scratch, ON)
    pan.measured(["./pan"], scratch.scratch)
    seconds = time.monotonic() - start
    shutil.rmtree(scratch.scratch, ignore_errors=True)
    return seconds


def allways_startup(binary):
    """One check of the same properties; None when it gives no verdict."""
    run = allways_once([binary, "check", str(STARTUP_MODEL), "--check", "deadlock,assert", "--format", "json"])
    return None if run.why else run.wall


def save(path, results, startup):
    """All measurements and the machine, as JSON."""
    machine = {"cpus": os.cpu_count(), "cpu": tables.cpu_name(), "load": os.getloadavg()[0]}
    rows = [asdict(result) for result in results]
    Path(path).write_text(json.dumps({"machine": machine, "startup": startup, "results": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
