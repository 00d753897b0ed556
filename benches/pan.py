"""Builds and runs SPIN's verifier (pan) and reads what it prints.

Shared by spin.py (the benchmark) and spin_reference.py (verdicts and counts). Standard library only.
"""

import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

# SPIN's dataflow (-o1, -o2) and statement merging (-o3) change which states exist; without them a state is what the
# language defines, and counts can be compared.
PLAIN = ("-o1", "-o2", "-o3")


@dataclass
class Model:
    """A model copied to a scratch directory, with what `spin -a` said about it."""

    scratch: Path
    name: str
    parsed: bool = False
    message: str = ""
    claims: list = field(default_factory=list)
    spin_seconds: float = 0.0


@dataclass
class Run:
    """One run of pan: `status` says whether the numbers are about the whole state space."""

    status: str = "refused"
    errors: str = ""
    kinds: list = field(default_factory=list)
    stored: str = ""
    transitions: str = ""
    atomic: str = ""
    depth: str = ""
    note: str = ""
    wall: float = 0.0
    cpu: float = 0.0
    peak_bytes: int = 0
    vector: int = 0
    megabytes: dict = field(default_factory=dict)


def copy_to_scratch(source):
    """Copies the model and its neighbours that it may include: pan writes trails beside the model."""
    source = Path(source)
    scratch = Path(tempfile.mkdtemp(prefix="pan-"))
    for neighbour in source.parent.iterdir():
        if neighbour.is_file() and neighbour.suffix in (".pml", ".h"):
            shutil.copy(neighbour, scratch)
    shutil.copy(source, scratch)
    return Model(scratch, source.name)


def generate(model, options=(), defines=()):
    """Runs `spin -a`, filling in whether the model parsed and which claims it has."""
    command = ["spin", "-a", *options, *defines, model.name]
    for stale in model.scratch.glob("pan.?"):
        stale.unlink()
    start = time.monotonic()
    done = subprocess.run(command, cwd=model.scratch, capture_output=True, text=True, timeout=60, errors="replace")
    model.spin_seconds = time.monotonic() - start
    said = done.stdout + done.stderr
    model.parsed = done.returncode == 0 and (model.scratch / "pan.c").exists()
    model.message = first_complaint(said)
    model.claims = claims_of(model, said) if model.parsed else []
    return model


def first_complaint(said):
    """The first line in which spin complains, or nothing."""
    for line in said.splitlines():
        if re.search(r"error|warning|expected", line, re.IGNORECASE):
            return line.strip()
    return ""


def claims_of(model, said):
    """Names of the ltl and never claims, in the order of the file."""
    several = re.search(r"contains \d+ never claims: (.*)", said)
    if several:
        return list(reversed([name.strip() for name in several.group(1).split(",")]))
    one = re.search(r"^ltl (\w+):", said, re.MULTILINE)
    if one:
        return [one.group(1)]
    return ["never"] if re.search(r"^\s*never\b", preprocessed(model), re.MULTILINE) else []


def preprocessed(model):
    """The text that SPIN's parser sees: comments gone, includes and macros expanded."""
    command = ["gcc", "-std=gnu99", "-E", "-P", "-w", "-x", "c", model.name]
    return subprocess.run(command, cwd=model.scratch, capture_output=True, text=True, errors="replace").stdout


def compile_pan(model, options, binary="pan", level="-O2"):
    """Compiles pan.c; returns the compiler's complaint, empty when it worked."""
    command = ["gcc", level, "-w", *options, "pan.c", "-o", binary]
    done = subprocess.run(command, cwd=model.scratch, capture_output=True, text=True, errors="replace")
    return "" if done.returncode == 0 else first_complaint(done.stderr) or "gcc failed"


def measured(command, cwd, cpu_seconds=None, environment=None):
    """Runs a command; returns (exit code, stdout, stderr, wall seconds, CPU seconds, peak bytes)."""

    def limit():
        if cpu_seconds:
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        child = subprocess.Popen(command, cwd=cwd, stdout=out, stderr=err, preexec_fn=limit, env=environment)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        texts = [stream.read().decode(errors="replace") for stream in (out, err)]
    cpu = usage.ru_utime + usage.ru_stime
    return child.returncode, *texts, wall, cpu, usage.ru_maxrss * 1024


def run_pan(model, options, binary="pan", cpu_seconds=60, depths=(1_000_000, 20_000_000)):
    """Runs pan, with a deeper stack each time it says that the search was cut off at its depth bound."""
    for depth in depths:
        command = [f"./{binary}", *options, f"-m{depth}"]
        code, out, err, wall, cpu, peak = measured(command, model.scratch, cpu_seconds)
        run = read_report(out + err, code)
        run.wall, run.cpu, run.peak_bytes = wall, cpu, peak
        if run.status != "truncated":
            break
    return run


def read_report(said, code):
    """Reads pan's closing report."""
    run = Run(kinds=error_kinds(said))
    run.errors = number(r"errors:\s*(\d+)", said)
    run.stored = whole(number(r"^\s*([\d.e+]+) states, stored", said))
    run.transitions = whole(number(r"^\s*([\d.e+]+) transitions", said))
    run.atomic = whole(number(r"^\s*([\d.e+]+) atomic steps", said))
    run.depth = number(r"depth reached (\d+)", said)
    run.vector = int(number(r"State-vector (\d+) byte", said) or 0)
    run.megabytes = {name.strip(): float(size) for size, name in re.findall(r"^\s*([\d.]+)\t(.*?)(?: \(|$)", said, re.M)}
    run.status, run.note = judge(run, said, code)
    return run


def number(pattern, said):
    """The number that the pattern captures, as text; empty when it is not there."""
    found = re.search(pattern, said, re.MULTILINE)
    return found.group(1) if found else ""


def whole(count):
    """pan prints counts above 10^8 as 2.1069159e+08: eight digits are right, the rest is lost."""
    return str(int(float(count))) if "e" in count else count


def error_kinds(said):
    """Kinds of error without their depth, each once, in the order found."""
    kinds = []
    for found in re.finditer(r"^pan:\d+: (.*?) \(at depth -?\d+\)", said, re.MULTILINE):
        if found.group(1) not in kinds:
            kinds.append(found.group(1))
    return kinds


def judge(run, said, code):
    """Whether the search was complete, and if not why not."""
    if code == -signal.SIGXCPU or code == -signal.SIGKILL:
        return "capped", "time"
    if "memory exhausted" in said or "reached -DMEMLIM" in said or "out of memory" in said:
        return "capped", "memory"
    if code < 0:
        return "crashed", signal.Signals(-code).name
    if run.stored == "":
        return "refused", refusal(said)
    if "max search depth too small" in said:
        return "truncated", "depth"
    if "Search not completed" in said:
        return "stopped", ""
    return "complete", ""


def refusal(said):
    """Why pan gave no result, in its own words."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return first_complaint(said) or (lines[0] if lines else "no output")
