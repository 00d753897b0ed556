#!/usr/bin/env python3
"""The experiments of the papers on I/O caches: clients and servers with a peer, for each checkpoint strategy; and bytes passed through.

    python3 benches/peers.py [--allways PATH] [--limit SECONDS] [--megabytes N] [--quick] [--only NAME]

Needs gcc, lighttpd, redis-server, scp, dropbear and dbclient. A check that is not done within the limit is shown as `-`, and so are larger ones.
All times are CPU seconds of the whole check with one worker, the peer in a world of its own and its start included, unless it says otherwise.

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
# At most so many times the wall time of two native programs.
GOALS = {100: 2.0, 1_000: 1.5, 10_000: 1.3}
TRIES = 3
# The line that JNuke's figures were taken on, in bits a second.
LINE = 92e6
# A line of so many bits a second to a server that it starts: a token bucket with room for 10 ms.
RELAY = """
import socket, subprocess, sys, time
rate, block = float(sys.argv[1]) / 8, sys.argv[2]
server = subprocess.Popen(["./blocks", "serve", block, "7001"])
while True:
    try:
        far = socket.create_connection(("127.0.0.1", 7001))
        break
    except OSError:
        time.sleep(0.01)
front = socket.create_server(("127.0.0.1", 7000))
near, _ = front.accept()
near.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
begun, passed = time.monotonic(), 0
while piece := near.recv(1 << 14):
    passed += len(piece)
    ahead = passed / rate - (time.monotonic() - begun)
    if ahead > 0.01:
        time.sleep(ahead)
    far.sendall(piece)
far.shutdown(socket.SHUT_WR)
near.sendall(far.recv(1))
near.close()
server.wait()
"""
REDIS_GOAL = 0.5
# dropbear as its own user, in a home of its world; what scp starts instead of ssh.
SSHD = """home=$(echo ~root)
mkdir -p $home/.ssh
chmod 700 $home $home/.ssh
cat authorized_keys > $home/.ssh/authorized_keys
chmod 600 $home/.ssh/authorized_keys
exec dropbear -F -E -r server.key -p 127.0.0.1:2222
"""
SSH = """#!/bin/dash
for last; do :; done
exec dbclient -y -y -i user.key -p 2222 root@127.0.0.1 "$last"
"""
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
        self.compile("counter", "peers/counter.c")
        self.compile("counter_fixed", "peers/counter.c", "-DFIXED")
        (folder / "page.txt").write_text("A page.\n")
        (folder / "lighttpd.conf").write_text(LIGHTTPD)
        (folder / "line.py").write_text(RELAY)

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


def redis(bench):
    """Two threads that add one to a number in Redis: CPU seconds of everything that is started, the peer's start included."""
    print(f"\nTwo threads and redis-server: CPU seconds, least of {TRIES}, all processes; the goal is at most {REDIS_GOAL}\n")
    table("program", "verdict", "in a world of its own", "native peer")
    for program, code in (("./counter", 1), ("./counter_fixed", 0)):
        cells = []
        for where in ([], ["--outside", "native"]):
            command = [bench.allways, "check", "--no-save", "-j1", *where, "--peer", "db:6379=redis-server --port 6379", "--", program]
            cells.append(min(measured(lambda: checked(command, code, bench.folder))[1] for _ in range(TRIES)))
        line(program, "violated" if code else "holds", *(f"{cpu:.2f}" for cpu in cells))


def checked(command, code, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != code:
        sys.exit(f"{' '.join(command)}: {done.returncode}, not {code}\n{done.stdout}{done.stderr}")


def scp(bench):
    """scp, with dbclient below it, copies a file to dropbear."""
    if any(shutil.which(name) is None for name in ("scp", "dbclient", "dropbear", "dropbearkey")):
        sys.exit("scp, dbclient, dropbear and dropbearkey are needed")
    folder = bench.folder
    key = ["dropbearkey", "-t", "ed25519", "-f"]
    subprocess.run([*key, "server.key"], cwd=folder, check=True, capture_output=True)
    public = subprocess.run([*key, "user.key"], cwd=folder, check=True, capture_output=True, text=True).stdout
    (folder / "authorized_keys").write_text("".join(word + "\n" for word in public.splitlines() if word.startswith("ssh-")))
    for name, text in (("sshd.sh", SSHD), ("ssh.sh", SSH)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    head("scp (legacy protocol) over dbclient, dropbear is the peer", "program", "peer")
    peer = ("server", "listens", 2222, "dash sshd.sh")
    line("scp page.txt", "dropbear", *row(bench, "scp -O -q -S ./ssh.sh page.txt root@127.0.0.1:copy", [peer])[0])


def pass_through(bench, megabytes):
    """`allways run` with a peer against the same two programs on loopback, in the same run."""
    for title, line_rate in (("loopback", None), (f"a line of {LINE / 1e6:.0f} Mbit/s", LINE)):
        print(f"\n{megabytes} MB through a connection over {title}, nothing searched: wall (CPU) seconds, least of {TRIES}; JNuke's total over Sun's VM\n")
        print("`start` is the same with one block; `bytes alone` is the ratio without it. Ratios are of wall (CPU) seconds; on a busy machine only the latter count\n")
        columns = ["ratio", "start", "bytes alone"]
        table("bytes a call", "two native programs", "native peer", *columns, "peer inside", *columns, "goal", "JNuke's ratio")
        for block, (sun, jnuke) in JNUKE.items():
            pass_row(bench, megabytes * 1_000_000, block, line_rate, f"{jnuke / sun:.1f}")


def pass_row(bench, total, block, line_rate, published):
    """One size of blocks; the three ways in turn, so that all meet the same machine."""
    ways = ["native", "outside"] + ([] if line_rate else ["inside"])
    whole, start = ({name: (math.inf, math.inf) for name in ways} for _ in range(2))
    for _ in range(1 if line_rate else TRIES):
        for name in ways:
            for best, size in ((whole, total), (start, block)):
                seconds = measured(lambda: pass_once(bench, name, size, block, line_rate))
                best[name] = tuple(map(min, best[name], seconds))
    both = lambda numbers: "{:.2f} ({:.2f})".format(*numbers)
    cells = []
    for name in ("outside", "inside"):
        if name in ways:
            ratio = [ours / theirs for ours, theirs in zip(whole[name], whole["native"])]
            bytes_alone = lambda way: [max(all_of - one, 1e-3) for all_of, one in zip(whole[way], start[way])]
            alone = [ours / theirs for ours, theirs in zip(bytes_alone(name), bytes_alone("native"))]
            cells += map(both, (whole[name], ratio, start[name], alone))
        else:
            cells += ["-"] * 4
    line(f"{block:,}", both(whole["native"]), *cells, f"{GOALS[block]}", published)


def pass_once(bench, way, total, block, line_rate):
    send = ["./blocks", "send", str(total), str(block), "7000"]
    if way == "native":
        native_blocks(bench.folder, send, block, line_rate)
    else:
        run_with(bench, ["--outside", "native"] if way == "outside" else [], send, block, line_rate)


def run_with(bench, where, send, block, line_rate):
    """`allways run`; over a slow line the peer is that line, with the server at its end."""
    serve = f"{sys.executable} line.py {line_rate} {block}" if line_rate else f"./blocks serve {block} 7000"
    subprocess.run([bench.allways, "run", *where, "--peer", f"s:7000={serve}", "--", *send], cwd=bench.folder, check=True)


def native_blocks(folder, send, block, line_rate):
    serve = [sys.executable, "line.py", str(line_rate), str(block)] if line_rate else ["./blocks", "serve", str(block), "7000"]
    server = subprocess.Popen(serve, cwd=folder)
    while not re.search(r":1B58 00000000:0000 0A ", Path("/proc/net/tcp").read_text()):
        if server.poll() is not None:
            sys.exit("port 7000 is in use")
        time.sleep(0.001)
    subprocess.run(send, cwd=folder, check=True)
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
    names = ["client", "server", "servers", "scp", "redis", "bytes"]
    parser.add_argument("--only", choices=names, help="one of the experiments")
    options = parser.parse_args()
    options.allways = str(Path(options.allways).resolve())
    return options


def main():
    options = arguments()
    most = 2 if options.quick else 4
    with tempfile.TemporaryDirectory(prefix="allways-bench-") as folder:
        bench = Bench(Path(folder).resolve(), options)
        parts = {
            "client": lambda: alphabet_client(bench, Sizes(most)),
            "server": lambda: alphabet_server(bench, Sizes(most)),
            "servers": lambda: servers(bench),
            "scp": lambda: scp(bench),
            "redis": lambda: redis(bench),
            "bytes": lambda: pass_through(bench, options.megabytes // (10 if options.quick else 1)),
        }
        wanted = [options.only] if options.only else list(parts)
        is_right = all([parts[name]() is not False for name in wanted])
    if not is_right:
        print("*** ORDERS ARE MISSING: the alphabet server was not shown what the multinomial says ***", file=sys.stderr)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
