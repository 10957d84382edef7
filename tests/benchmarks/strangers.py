"""What strangers at the port of a run cost it: silent, slow, half-open and flooding connections.

Each round makes each run alone, beside each kind of stranger, and beside a flood of another port,
which takes processors and nothing else. Printed is the median over the rounds of what each adds to
the time of the run alone in the same round. The strangers begin before the client of the run
connects, and go on to its end. A run in a namespace of its own has no strangers, so all is on the
loopback of one namespace.

With ``known`` the strangers know the address of the run's client, by which its server drops all
others before it accepts them; so they are accepted, and refused by their first bytes.

Run: python tests/benchmarks/strangers.py [ROUNDS] [COUNT] [known]
"""

from __future__ import annotations

import ctypes
import os
import random
import signal
import socket
import statistics
import struct
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial

KINDS = ("silent", "slow", "half-open", "flood", "elsewhere")
_PR_SET_PDEATHSIG = 1
NOBODY = "198.51.100."
"""Where half-open connections come from: documentation addresses (RFC 5737), no host of any."""


# --- The strangers, in a process of their own ----------------------------------------------------


def call(address):
    """Begin a connection, which the other end may never answer."""
    sock = socket.socket()
    sock.setblocking(False)
    sock.connect_ex(address)
    return sock


def silent(address, count):
    """Connect and say nothing."""
    kept = [call(address) for _ in range(count)]
    time.sleep(0.05)
    ready()
    time.sleep(600)
    return kept


def slow(address, count):
    """Connect and send a byte now and then, without an end."""
    kept = [call(address) for _ in range(count)]
    time.sleep(0.05)
    ready()
    while True:
        for place, sock in enumerate(kept):
            try:
                sock.send(b"\0")
            except BlockingIOError:  # not connected so far
                pass
            except OSError:  # closed: come again
                sock.close()
                kept[place] = call(address)
        time.sleep(0.05)


def half_open(address, count):
    """Send a SYN from an address where nobody answers the other end's, again and again."""
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    said = False
    while True:
        for _ in range(count):
            source = NOBODY + str(random.randrange(1, 255))
            raw.sendto(syn(source, *address), address)
        if not said:
            said = ready()
        time.sleep(0.05)


def syn(source, host, port):
    """Return an IPv4 packet with a SYN."""
    addresses = socket.inet_aton(source) + socket.inet_aton(host)
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 40, 0, 0, 64, socket.IPPROTO_TCP, 0) + addresses
    first, number = random.randrange(1024, 65_536), random.getrandbits(32)
    tcp = struct.pack("!HHIIBBHHH", first, port, number, 0, 0x50, 2, 65_535, 0, 0)
    pseudo = addresses + struct.pack("!HH", socket.IPPROTO_TCP, len(tcp)) + tcp
    total = sum(struct.unpack(f"!{len(pseudo) // 2}H", pseudo))
    total = (total & 0xFFFF) + (total >> 16)
    total = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    return ip + tcp[:16] + struct.pack("!H", total) + tcp[18:]


def flood(address, count):
    """Connect as often as possible: say nothing, or nonsense; stay, or close."""
    kept, said = [], 0
    while True:
        sock = call(address)
        if random.random() < 0.5:
            with suppress(OSError):
                sock.send(random.randbytes(16))
        kept.append(sock)
        if len(kept) > count:
            kept.pop(random.randrange(len(kept))).close()
            said = said or ready()


def elsewhere(address, count):
    """Flood a port of another program, which accepts and closes as fast as it can."""
    other = socket.create_server((address[0], 0), backlog=128)
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # it ends with its parent
        while True:
            other.accept()[0].close()
    flood(other.getsockname(), count)


def ready():
    """Say that the strangers are there."""
    print(flush=True)
    return 1


# --- The runs ------------------------------------------------------------------------------------


def main(rounds: int, count: int) -> None:
    """Print what each kind of stranger costs each run."""
    runs = runs_of_all()
    print(f"{count} strangers of each kind, medians of {rounds} rounds; times of whole runs in s")
    print(f"{'run':24}{'alone':>8}" + "".join(f"{'+ ' + kind:>13}" for kind in KINDS))
    worst_s = over_s = 0.0
    for name, run in runs.items():
        alone, costs, failed = [], {kind: [] for kind in KINDS}, {}
        for _ in range(rounds):
            alone.append(timed(run, None, count)[0])
            for kind in KINDS:
                time_s, error = timed(run, kind, count)
                costs[kind].append(time_s - alone[-1])
                failed |= {kind: error} if error else {}
        cost_s = {kind: statistics.median(found) for kind, found in costs.items()}
        worst_s = max(worst_s, max(cost_s.values()))
        over_s = max(over_s, cost_s["flood"] - cost_s["elsewhere"])
        shown = "".join(f"{failed.get(kind, f'{cost_s[kind]:+.3f}'):>13}" for kind in KINDS)
        print(f"{name:24}{statistics.median(alone):8.3f}{shown}", flush=True)
    print(f"largest cost: {worst_s:.3f} s; of a flood beyond that of one elsewhere: {over_s:.3f} s")


def runs_of_all():
    """Return the runs that have a peer behind a port, on the loopback that all share."""
    from netcalc import experiments as lab
    from netcalc.experiments.peers import helper, process

    process.Namespace = partial(process.Namespace, own=False)
    if "known" in sys.argv:
        for module in (helper, sys.modules[lab.echo.__module__]):
            module.own_source = lambda _: None
    return {
        "echo, TCP": lambda: lab.echo([8, 1400], protocol="tcp", count=50),
        "small writes": lambda: lab.small_writes(modes=["nodelay", "single"], count=50),
        "transactions, TCP": lambda: lab.transactions([8, 1400], protocols=["tcp"], count=50),
        "transactions, TLS": lambda: lab.transactions([8], protocols=["tls"], count=20),
        "bulk, TCP": lambda: lab.bulk(1440, write_count=500, run_count=5),
    }


def timed(run, kind, count):
    """Return how long a run takes beside strangers, and the code of its error if it fails. [s]"""
    from netcalc.errors import ExperimentError
    from netcalc.experiments import transfer
    from netcalc.experiments.peers.process import Peer

    strangers, spent_s = [], 0.0
    begun, connect = Peer._ready, transfer.connect_within

    def come(host, port):
        nonlocal spent_s
        begin_s = time.monotonic()
        command = [sys.executable, "-S", __file__, "--be", kind, host, str(port), str(count)]
        strangers.append(subprocess.Popen(command, stdout=subprocess.PIPE))
        strangers[0].stdout.readline()
        spent_s += time.monotonic() - begin_s

    def noted(peer, stopping):
        report = begun(peer, stopping)
        if kind and not strangers and "port" in report:
            come(peer._host, report["port"])
        return report

    def connected(sock, address, **options):
        if kind and not strangers:  # its port is that of one connection: they come to that
            come(*address[:2])
        connect(sock, address, **options)

    Peer._ready, transfer.connect_within = noted, connected
    begin_s, error = time.monotonic(), ""
    try:
        run()
    except ExperimentError as failure:
        error = failure.code
    finally:
        took_s = time.monotonic() - begin_s - spent_s
        Peer._ready, transfer.connect_within = begun, connect
        for one in strangers:
            one.kill()
            one.wait()
            one.stdout.close()
    return took_s, error


if __name__ == "__main__":
    if sys.argv[1:2] == ["--be"]:
        kind, host, port, count = sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
        random.seed(1)
        kinds = (silent, slow, half_open, flood, elsewhere)
        dict(zip(KINDS, kinds, strict=True))[kind]((host, port), count)
    elif "--inside" not in sys.argv:
        user = [] if os.geteuid() == 0 else ["-Ur"]
        up = 'ip link set lo up && exec "$@"'
        inside = ["unshare", *user, "--net", "sh", "-c", up, "sh", sys.executable, *sys.argv]
        sys.exit(subprocess.run([*inside, "--inside"], check=False).returncode)
    else:
        given = [int(text) for text in sys.argv[1:] if text.isdecimal()]
        main(*[*given, 5, 20][len(given) :] if not given else [*given, 20][:2])
