#!/usr/bin/env python3
"""The experiments of the papers on I/O caches: clients and servers with a peer, for each checkpoint strategy; and bytes passed through.

    python3 benches/peers.py [--allways PATH] [--limit SECONDS] [--megabytes N] [--quick]

Needs gcc and lighttpd. A check that is not done within the limit is shown as `-`, and so are larger ones. All times are CPU seconds of the
whole check with one worker, the peer in a world of its own and its start included.

The alphabet client has an oracle: all connections share one order, so the server can be shown as many orders as there are ways to arrange the
openings, messages and ends of all connections. A server that ends with the number of the order that it saw counts them. A number
that differs from the multinomial ends the program with exit code 1.
"""

import argparse
import json
import math
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STRATEGIES = ["always", "after-io", "after-nondeterminism", "adaptive"]
NOTHING = ["-"] * (2 + len(STRATEGIES))
# An exit code has room for so many orders (programs/peers/alphabet_order.c).
PART = 250
PARTS_MOST = 8
# Bytes for each call, and total seconds of Sun's VM and of JNuke for 100 MB: Table 1 of Artho et al., "Efficient Model Checking of
# Applications with Input/Output".
JNUKE = {100: (8.7, 58.1), 1_000: (8.7, 19.2), 10_000: (8.7, 13.9)}
LIGHTTPD = 'server.document-root = var.CWD\nserver.port = 8000\nserver.bind = "127.0.0.1"\n'


class Bench:
    """A folder with all programs, and the binary that checks them."""

    def __init__(self, folder, options):
        self.folder, self.allways, self.limit = folder, options.allways, options.limit
        for name in ["alphabet_client", "alphabet_server", "alphabet_order", "http_client", "blocks"]:
            self.compile(name, f"peers/{name}.c")
        for name in ["daytime", "echo", "chat"]:
            self.compile(f"{name}_server", f"{name}.c", "-DSERVER")
            for client in range(2):
                self.compile(f"{name}_client{client}", f"{name}.c", f"-DCLIENT={client}")
        (folder / "page.txt").write_text("A page.\n")
        (folder / "lighttpd.conf").write_text(LIGHTTPD)

    def compile(self, program, source, *flags):
        where = ROOT / "programs"
        command = ["gcc", "-g", "-O1", "-w", "-pthread", f"-I{where}", *flags, "-o", program, str(where / source)]
        subprocess.run(command, cwd=self.folder, check=True)

    def check(self, program, peers, strategy="adaptive"):
        """The report of a check that was done in time, or None. Peers: (name, key, port, command)."""
        text = f'[check.bench.service.program]\ncommand = "{program}"\n'
        for name, key, port, command in peers:
            text += f'[check.bench.peer.{name}]\ncommand = "{command}"\n{key} = {port}\ncheckpoint = "{strategy}"\n'
        (self.folder / "allways.toml").write_text(text)
        command = [self.allways, "check", "--no-save", "-j1", "--format", "json", "--time", f"{self.limit}s", "bench"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        report = json.loads(done.stdout) if done.stdout else {}
        if not report.get("complete"):
            return None if report.get("verdict") == "not-found" else sys.exit(f"{program}: {done.stdout}{done.stderr}")
        if report["verdict"] != "holds":
            sys.exit(f"{program}: {report['verdict']}")
        return report


def traffic(report, word):
    """A number in the lines about peers, of all of them: `48 messages`, `3 checkpoints`, `0 said again`."""
    lines = ". ".join(part for peer in report["coverage"]["programs"]["traffic"] for part in peer)
    return sum(int(number.replace(" ", "")) for number in re.findall(rf"([\d ]+) {word}", lines))


def row(bench, program, peers):
    """States, messages, and for each strategy CPU seconds, checkpoints and what was said again."""
    first = bench.check(program, peers)
    if first is None:
        return NOTHING, None
    cells = [count(first["states"]), count(traffic(first, "messages"))]
    for strategy in STRATEGIES:
        report = first if strategy == "adaptive" else bench.check(program, peers, strategy)
        cells.append(cost(report) if report else "-")
        if report and (report["states"], traffic(report, "messages")) != (first["states"], traffic(first, "messages")):
            sys.exit(f"{program}: {strategy} changes what was covered")
    return cells, first


class Sizes:
    """Connections and messages, without those that are larger than what was not done in time."""

    def __init__(self, most):
        self.most, self.too_large = most, []

    def __iter__(self):
        for connections in range(1, self.most + 1):
            for messages in range(1, self.most + 1):
                yield connections, messages

    def are_in_reach(self, size):
        return not any(all(one >= bound for one, bound in zip(size, other)) for other in self.too_large)

    def row(self, bench, size, program, peers):
        """As `row`; not tried if something smaller took too long."""
        cells, report = row(bench, program, peers) if self.are_in_reach(size) else (NOTHING, None)
        if report is None:
            self.too_large.append(size)
        return cells, report


def cost(report):
    seconds, kept, again = report["cpu_seconds"], traffic(report, "checkpoints"), traffic(report, "said again")
    return f"{seconds:.2f} s, {kept}, {again}"


def orders(connections, messages):
    """Ways to arrange the opening, the messages and the end of each connection."""
    each = messages + 2
    return math.factorial(connections * each) // math.factorial(each) ** connections


def orders_seen(bench, connections, messages):
    """How many orders the server was shown, or None."""
    parts = -(-orders(connections, messages) // PART)
    if parts > PARTS_MOST:
        return None
    seen = set()
    for part in range(parts):
        server = f"./alphabet_order {connections} {messages} {part}"
        report = bench.check(f"./alphabet_client {connections} {messages} order", [("server", "listens", 7000, server)])
        if report is None:
            return None
        codes = re.findall(r"exit code (\d+)", " ".join(report["coverage"]["programs"]["peers"]))
        seen |= {part * PART + int(code) for code in codes if code != "255"}
    return len(seen)


def alphabet_client(bench, sizes):
    """The client is checked; False if orders are missing."""
    head("Alphabet client, the server is the peer", "connections", "messages each", "orders", "of")
    is_right = True
    server = ("server", "listens", 7000, "./alphabet_server")
    for connections, messages in sizes:
        program = f"./alphabet_client {connections} {messages}"
        cells, report = sizes.row(bench, (connections, messages), program, [server])
        seen, expected = orders_seen(bench, connections, messages) if report else None, orders(connections, messages)
        is_right &= seen in (None, expected)
        line(connections, messages, count(seen) if seen else "-", count(expected), *cells)
    return is_right


def alphabet_server(bench, sizes):
    head("Alphabet server, the client is the peer", "connections", "messages each")
    for connections, messages in sizes:
        client = ("client", "connects", 7000, f"./alphabet_client {connections} {messages}")
        cells, _ = sizes.row(bench, (connections, messages), f"./alphabet_server {connections}", [client])
        line(connections, messages, *cells)


def servers(bench):
    head("Servers with two clients as peers; an HTTP client and lighttpd", "program", "peers")
    for name in ["daytime", "echo", "chat"]:
        peers = [(f"client{i}", "connects", 7000, f"./{name}_client{i}") for i in range(2)]
        line(f"{name} server", "2 clients", *row(bench, f"./{name}_server", peers)[0])
    for threads in (1, 2, 3):
        peer = ("server", "listens", 8000, "lighttpd -D -f lighttpd.conf")
        line(f"HTTP client, threads: {threads}", "lighttpd", *row(bench, f"./http_client {threads}", [peer])[0])


def pass_through(bench, megabytes):
    """`allways run` with a peer against two processes on loopback."""
    print(f"\n{megabytes} MB through a connection, nothing searched: wall (CPU) seconds; JNuke's total seconds over those of Sun's VM\n")
    table("bytes a call", "native loopback", "allways run --peer", "wall ratio", "CPU ratio", "JNuke's ratio")
    total = megabytes * 1_000_000
    for block, (sun, jnuke) in JNUKE.items():
        native = measured(lambda: native_blocks(bench.folder, total, block))
        peer = ["--peer", f"s:7000=./blocks serve {block}", "--", "./blocks", "send", str(total), str(block)]
        inside = measured(lambda: subprocess.run([bench.allways, "run", *peer], cwd=bench.folder, check=True))
        ratios = [f"{ours / theirs:.1f}" for ours, theirs in zip(inside, native)]
        line(f"{block:,}", *(f"{wall:.2f} ({cpu:.2f})" for wall, cpu in (native, inside)), *ratios, f"{jnuke / sun:.1f}")


def native_blocks(folder, total, block):
    server = subprocess.Popen(["./blocks", "serve", str(block)], cwd=folder)
    while not re.search(r":1B58 00000000:0000 0A ", Path("/proc/net/tcp").read_text()):
        if server.poll() is not None:
            sys.exit("port 7000 is in use")
    subprocess.run(["./blocks", "send", str(total), str(block)], cwd=folder, check=True)
    server.wait()


def measured(action):
    """Wall and CPU seconds of what is started."""
    cpu, wall = children(), time.monotonic()
    action()
    return time.monotonic() - wall, children() - cpu


def children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def head(title, *columns):
    print(f"\n{title}: for each strategy CPU seconds, checkpoints, messages said again\n")
    table(*columns, "states", "messages", *STRATEGIES)


def table(*columns):
    line(*columns)
    line(*["---"] * len(columns))


def line(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def count(number):
    return f"{number:,}"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--allways", default=shutil.which("allways") or str(ROOT / "target/release/allways"))
    parser.add_argument("--limit", type=int, default=30, help="wall seconds of a check (default 30)")
    parser.add_argument("--megabytes", type=int, default=100, help="bytes passed through (default 100)")
    parser.add_argument("--quick", action="store_true", help="at most two connections and messages, a tenth of the bytes")
    options = parser.parse_args()
    options.allways = str(Path(options.allways).resolve())
    return options


def main():
    options = arguments()
    most = 2 if options.quick else 4
    with tempfile.TemporaryDirectory(prefix="allways-bench-") as folder:
        bench = Bench(Path(folder).resolve(), options)
        is_right = alphabet_client(bench, Sizes(most))
        alphabet_server(bench, Sizes(most))
        servers(bench)
        pass_through(bench, options.megabytes // (10 if options.quick else 1))
    if not is_right:
        print("*** ORDERS ARE MISSING: the alphabet server was not shown what the multinomial says ***", file=sys.stderr)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
