"""A census of what live runs may leave behind, and runs that end in every way at random times.

Run as ``python tests/experiments/census.py runs --help``; it prints one document of JSON. Each run
is a process of its own with a mark in its environment, which its children inherit. Where that is
possible all of them are in a network and a mount namespace of the census, so that sockets, links,
queueing disciplines and temporary files are compared as a whole; what others do at the same time is
not seen there.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import math
import os
import random
import resource
import secrets
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace

MARK = "NETCALC_CENSUS"
ROOT = Path(__file__).resolve().parents[2]
WAYS = ("normal", "exception", "SIGINT", "SIGTERM", "SIGKILL")
MORE_WAYS = ("SIGINT twice", "SIGINT by a thread", "SIGHUP", "SIGTERM twice", "SIGPIPE")
AT_ONCE = 4
"""Runs at the same time. [1]"""
RUN_S = 0.6
"""A run is ended at a random time before this, if it is ended and nothing else is said. [s]"""
WHOLE_SHARE = 0.2
"""How long a run is that ends by itself, as a part of one that is ended. [1]"""
ALONE = f"{MARK}_ALONE"
"""Set where the namespaces are those of the census."""
GONE_LIMIT_S = 30.0
"""How long a killed process is waited for. [s]"""
GONE_S = float(os.environ.get("NETCALC_CENSUS_GONE_S", "5"))
"""How long what belongs to a run that has ended may take to be gone. [s]"""


# --- What there is ------------------------------------------------------------------------------


def marked(value):
    """Return the processes whose environment has a mark, by number with their command."""
    found, wanted = {}, f"{MARK}={value}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(entry.name)] = command.decode("utf-8", "replace")[:100]
        except OSError:  # it ended, or is not ours
            continue
    return found


def kill_marked(pid, mark):
    """Kill a process by its handle, if it still has the mark: its number may be another's now.

    Waits until it has ended, as it has its sockets until then.
    """
    with suppress(OSError):
        handle = os.pidfd_open(pid)
        if pid in marked(mark):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            select.select([handle], [], [], GONE_LIMIT_S)
        os.close(handle)


def children(of):
    """Return the children of a process, dead but not reaped ones too."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == of:
            found.append(int(entry.parent.name))
    return found


def descriptors():
    """Return what the descriptors of this process point to, without numbers that change."""
    found = []
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - names, not paths
        try:
            target = os.readlink(f"/proc/self/fd/{name}")  # noqa: PTH115
        except OSError:
            continue
        if "/fd" not in target:
            kind = target.partition(":[")[0]
            found.append(kind if kind in ("socket", "pipe") else target)
    return sorted(found)


def of_process():
    """Return what a run may change in its own process."""
    handlers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGALRM)
    umask = os.umask(0)
    os.umask(umask)
    return {
        "children": children(os.getpid()),
        "descriptors": descriptors(),
        "threads": threading.active_count(),
        "namespaces": namespaces(),
        "mounts": Path("/proc/self/mounts").read_text(),
        "processors": sorted(os.sched_getaffinity(0)),
        "scheduling": os.sched_getscheduler(0),
        "handlers": [str(signal.getsignal(number)).partition(" at ")[0] for number in handlers],
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
        "collector": gc.isenabled(),
        "umask": umask,
        "files limit": resource.getrlimit(resource.RLIMIT_NOFILE),
    }


def namespaces():
    """Return the namespaces of this process, by kind."""
    return {
        name: os.readlink(f"/proc/self/ns/{name}")  # noqa: PTH115
        for name in ("net", "user", "mnt", "pid", "ipc", "uts")
    }


def of_namespace():
    """Return what a run may leave in the network namespace of this process."""
    return {
        "links": links(),
        "queueing disciplines": queueing_disciplines(),
        "routes": [Path(f"/proc/net/{name}").read_text() for name in ("route", "if_inet6")],
        "sysctls": sysctls(),
    }


def links():
    """Return the interfaces with their MTU and state."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        import fcntl

        def asked(name, call):
            answer = fcntl.ioctl(sock, call, struct.pack("16s24x", name.encode()))
            return struct.unpack_from("i" if call == 0x8921 else "H", answer, 16)[0]

        return [(name, asked(name, 0x8921), asked(name, 0x8913)) for _, name in names()]


def names():
    """Return the interfaces that are still there when they are asked."""
    return [pair for pair in socket.if_nameindex() if pair[1]]


def queueing_disciplines():
    """Return interface, handle, parent and kind of each queueing discipline, as ``tc`` shows."""
    request = struct.pack("=IHHII", 36, 38, 0x301, 1, 0) + bytes(20)  # RTM_GETQDISC, all of them
    found = []
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as sock:
        sock.bind((0, 0))
        sock.send(request)
        while True:
            data = sock.recv(1 << 20)
            while data:
                size, kind = struct.unpack_from("=IH", data)
                if kind == 3:  # NLMSG_DONE
                    return sorted(found)
                _, index, handle, parent = struct.unpack_from("=B3xiII", data, 16)
                name = data[36 + 4 : 36 + struct.unpack_from("=H", data, 36)[0]]
                found.append((index, handle, parent, name.decode("ascii", "replace")))
                data = data[(size + 3) & ~3 :]


def sysctls():
    """Return all values of net.* that can be read."""
    values = {}
    for path in Path("/proc/sys/net").rglob("*"):
        try:
            values[str(path)] = path.read_bytes().decode("ascii", "replace")
        except OSError:
            continue
    return values


def sockets():
    """Return how many sockets of each kind the namespace has, and those that wait to be forgotten.

    A closed TCP connection is kept by the kernel for a minute (TIME_WAIT): nobody's socket any
    more.
    """
    counts, waiting = {}, 0
    for name in ("tcp", "tcp6", "udp", "udp6", "udplite", "raw", "raw6", "icmp", "packet"):
        try:
            lines = Path(f"/proc/net/{name}").read_text().splitlines()[1:]
        except OSError:
            continue
        over = [line for line in lines if name[:3] == "tcp" and line.split()[3] == "06"]
        waiting += len(over)
        counts[name] = len(lines) - len(over)
    return counts, waiting


def files(places):
    """Return the files below some folders."""
    return sorted(str(path) for place in places for path in Path(place).rglob("*"))


def difference(before, after):
    """Return what is not the same, by name."""
    return {name: [before[name], after[name]] for name in before if before[name] != after[name]}


# --- Runs that end in every way -----------------------------------------------------------------


def experiments(share=1.0):
    """Return short runs of every experiment, some over a path; each takes the same arguments.

    Each one does this part of what takes longer than any run goes on that is ended.
    """
    from netcalc import experiments as lab
    from netcalc.congestion import live, recording
    from netcalc.path import Path as Route
    from netcalc.scenario import Bottleneck, Flow, Requests, Scenario

    one, two = Route.parse("100 Mbit/s 1 ms"), Route.parse("100 Mbit/s 1 ms, 100 Mbit/s 1 ms")

    def part(count):
        return round(count * share)

    def congestion(save=None, **options):
        end_s = max(0.1, 2.0 * share)
        link = Bottleneck.of(rate_bps=20e6, rtt_s=0.01, buffer_bdp=1)
        loads = {
            "flows": [Flow(algorithm="reno", stop_s=end_s)] * 2,
            "requests": [Requests(request_bytes=1e4, algorithm="reno", stop_s=end_s)],
        }
        found = live.record(Scenario(bottleneck=link, end_s=end_s, **loads), **options)
        if save is not None:
            recording.as_table(found).save(save)
        return found

    runs = {
        "leaks": leaks,
        "echo udp": lambda **k: lab.echo([4, 8, 1400], count=part(2000), **k),
        "echo tcp": lambda **k: lab.echo([8, 1400], protocol="tcp", count=part(3000), **k),
        "echo icmp, path": lambda **k: lab.echo(
            56, protocol="icmp", count=part(100), path=two, **k
        ),
        "bulk tcp": lambda **k: lab.bulk([1440, 300], write_count=part(20_000), run_count=6, **k),
        "bulk udp, path": lambda **k: lab.bulk(
            1000, protocol="udp", write_count=part(400), run_count=6, path=one, **k
        ),
        "bulk tcp, own loopback": lambda **k: lab.bulk(
            1440, write_count=part(20_000), run_count=6, mtu_bytes=1500, **k
        ),
        "line_rate": lambda **k: lab.line_rate([64, 1518], duration_s=0.05, run_count=5, **k),
        "line_rate, routed": lambda **k: lab.line_rate(
            [64, 1518], duration_s=0.05, run_count=5, routed=True, **k
        ),
        "probing, path": lambda **k: lab.probing([520, 1472], path=two, count=part(30), **k),
        "packet_trains, path": lambda **k: lab.packet_trains(path=one, count=part(30), **k),
        "router_queue, path": lambda **k: lab.router_queue(path=one, count=part(12_000), **k),
        "lockstep, path": lambda **k: lab.lockstep(
            [1, 8], duration_s=0.05, run_count=5, path=one, **k
        ),
        "congestion": congestion,
        "lockstep": lambda **k: lab.lockstep([1, 8], duration_s=0.05, run_count=5, **k),
        "small_writes": lambda **k: lab.small_writes(count=4, **k),
        "small_writes, path": lambda **k: lab.small_writes(
            modes=["nagle", "single"], count=4, path=two, **k
        ),
        "transactions": lambda **k: lab.transactions([8, 1400], count=part(10), **k),
        "transactions, path": lambda **k: lab.transactions(
            [8, 1400], protocols=["ping", "tfo", "tls"], count=5, path=one, **k
        ),
    }
    judged = {kind.replace(",", " ").split()[0] for kind in runs}
    others = {name: lab.EXPERIMENTS[name] for name in lab.EXPERIMENTS if name not in judged}
    return runs | {name: partial(run.measure, **run.shortest) for name, run in others.items()}


def leaks(**_):
    """Leave behind and change whatever the census looks for."""
    import fcntl

    kept = socket.create_server(("127.0.0.1", 0))
    subprocess.Popen(["sleep", "60"], pass_fds=[kept.fileno()])
    gc.disable()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    Path("left.part").write_text("half")
    Path("left").touch()
    Path("/dev/shm/left").touch()
    Path("/proc/sys/net/ipv4/tcp_fin_timeout").write_text("17")
    fcntl.ioctl(kept, 0x8922, struct.pack("16si20x", b"lo", 1500))  # SIOCSIFMTU
    if shutil.which("tc"):
        subprocess.run(["tc", "qdisc", "add", "dev", "lo", "root", "pfifo"], check=True)
    LEFT_OPEN.append(kept.detach())
    return SimpleNamespace(
        meta=SimpleNamespace(partial=False, instrument=SimpleNamespace(ended_by=""))
    )


LEFT_OPEN = []


class Failed(Exception):  # noqa: N818 - no error
    """Raised by the progress function of a run that is to end by an exception."""


def hushed():
    """Block Ctrl-C; one that came before is forgotten."""
    while True:
        try:
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
            return
        except KeyboardInterrupt:
            continue


class Running:
    """One run that is under way in a child of this process."""

    def __init__(self, number, kind, way, end_s, place):
        self.kind, self.way, self.end_s, self.place = kind, way, end_s, place
        self.mark = f"{secrets.token_hex(8)}.{number}"  # nobody else has it, in no container
        self.signals, self.said, self.last_s = [], b"", None
        place.mkdir()
        self.output, theirs = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.output)
            try:
                os.environ[MARK] = self.mark  # of all that it starts
                self._run(theirs)
            except BaseException:
                os.write(theirs, json.dumps({"error": traceback.format_exc()}).encode())
            finally:
                os._exit(0)
        os.close(theirs)

    def _run(self, report):
        """Do the run and tell how it ended, and what it left or changed in this process."""
        from netcalc import samples
        from netcalc.experiments.running import record as _run

        _run.PROGRESS_S = _run.SAVE_S = 0.0
        tempfile.tempdir = str(self.place)
        os.chdir(self.place)
        run = experiments(WHOLE_SHARE if self.way == "normal" else 1.0)[self.kind]
        hushed()
        before, begin_s = of_process(), time.monotonic()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])

        def progress(done, total, value):
            if self.way == "exception" and time.monotonic() - begin_s > self.end_s:
                raise Failed

        helper = threading.Timer(self.end_s, signal.raise_signal, (signal.SIGINT,))
        try:
            try:
                if self.way == "SIGINT by a thread":
                    before["threads"] += 1
                    helper.start()
                os.write(report, b"+")  # from now on it may be ended
                result = run(progress=progress, save="run.json")
                ended = f"partial: {result.meta.instrument.ended_by}"
                ended = ended if result.meta.partial else "whole"
            finally:
                hushed()  # what comes now comes too late for the run
        except (KeyboardInterrupt, Failed) as error:
            ended = type(error).__name__
        if self.way == "SIGINT by a thread":
            while helper.is_alive():
                with suppress(KeyboardInterrupt):
                    helper.join()
            before["threads"] -= 1
        saved = len(samples.load("run.json")) if Path("run.json").exists() else None
        said = {"ended": ended, "saved": saved, "left": difference(before, of_process())}
        os.write(report, json.dumps(said).encode())

    def read(self):
        """Take what the run says; return False when it has ended."""
        data = os.read(self.output, 65_536)
        if data.startswith(b"+"):
            name = self.way.partition(" ")[0]
            if name.startswith("SIG") and "thread" not in self.way:
                number, at_s = signal.Signals[name], time.monotonic() + self.end_s
                again = [(at_s + random.random() * 0.2, number)] if "twice" in self.way else []
                self.signals = [(at_s, number), *again]
        self.said += data.removeprefix(b"+")
        return bool(data)

    def send_what_is_due(self):
        """Send the signals whose time has come."""
        while self.signals and time.monotonic() >= self.signals[0][0]:
            self.last_s, number = time.monotonic(), self.signals.pop(0)[1]
            os.kill(self.pid, number)

    def close(self):
        """Reap the run; return a row of what became of it."""
        _, status = os.waitpid(self.pid, 0)
        ended_s = time.monotonic()
        os.close(self.output)
        while (left := marked(self.mark)) and time.monotonic() - ended_s < GONE_S:
            time.sleep(0.005)
        for pid in left:
            kill_marked(pid, self.mark)
        row = {"kind": self.kind, "way": self.way, "end_s": round(self.end_s, 3)}
        code = os.waitstatus_to_exitcode(status)
        if code:
            row["ended"] = signal.Signals(-code).name if code < 0 else f"status {code}"
        row |= json.loads(self.said or "{}")
        if self.last_s is not None and self.way != "SIGPIPE":
            row["ending_s"] = round(ended_s - self.last_s, 3)
        return row | {"processes": left, "gone_s": round(time.monotonic() - ended_s, 3)}


def runs_that_end(count, *, ways, seed, place, kinds=None, within_s=RUN_S):
    """Do runs that end at random times, several at once; return a row of each.

    Kinds and ways take their turns, so that each kind ends in each way before one comes again.
    """
    wanted = kinds or [kind for kind in experiments() if kind != "leaks"]
    moment = random.Random(seed)
    random.seed(seed)
    again = math.lcm(len(wanted), len(ways))
    plan = [(wanted[n % len(wanted)], ways[(n + n // again) % len(ways)]) for n in range(count)]
    running, rows, number = {}, [], 0
    while number < count or running:
        while number < count and len(running) < AT_ONCE:
            kind, way = plan[number]
            end_s = moment.random() * within_s
            run = Running(number, kind, way, end_s, place / f"run {number}")
            running[run.output] = run
            number += 1
        due_s = min((run.signals[0][0] for run in running.values() if run.signals), default=None)
        wait_s = 1.0 if due_s is None else max(0.0, due_s - time.monotonic())
        ready = select.select([*running], [], [], wait_s)[0]
        for run in running.values():
            run.send_what_is_due()
        for output in ready:
            if not running[output].read():
                rows.append(running.pop(output).close())
    return rows


def census_of_runs(count, **options):
    """Do runs and return their rows, and what is not as it was before them."""
    from netcalc import samples

    experiments()  # loads what is loaded late
    places = os.environ.get(ALONE, "").split(":")[1:]

    def everything():
        here = {**of_process(), **of_namespace()}
        if os.environ.get(ALONE):
            here["sockets"] = sockets()[0]
        return {**here, "files": files(places)}

    with tempfile.TemporaryDirectory(prefix="census ") as folder:
        place = Path(folder)
        before = everything()
        rows = runs_that_end(count, place=place, **options)
        parts = list(place.rglob("*.netcalc-*.part"))
        for part in parts:  # the next start with the same file
            samples.write_atomically(part.with_name("run.json"), b"{}")
        others = sorted(str(path) for path in place.glob("*/*") if path.name != "run.json")
        shutil.rmtree(place)
        place.mkdir()
        after = everything()
    return {
        "runs": rows,
        "difference": difference(before, after),
        "parts of killed runs": len(parts),
        "other files": others,
        "waiting connections": sockets()[1],
    }


# --- Alone in namespaces, as root or as a user without any right --------------------------------


def start(arguments, *, user=None, **environment):
    """Start ``runs`` of this file with namespaces of its own; return the process.

    With ``user`` it has that number and no right at all.
    """
    own = ["unshare", "--net", "--mount", *([] if os.geteuid() == 0 else ["-Ur"])]
    here = [sys.executable, "-B", str(Path(__file__).resolve()), "alone", str(user or 0)]
    return subprocess.Popen(
        [*own, *here, *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, cwd="/", env={**os.environ, **environment},
    )  # fmt: skip


def be_alone(user, arguments):
    """Prepare new namespaces, give all rights away if that is asked, and become ``runs``."""
    needed = [Path(sys.base_prefix), Path(sys.prefix), ROOT]
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    # Of a user namespace that an ordinary user made, no other number can be taken in it.
    may_change = Path("/proc/self/setgroups").read_text() == "allow\n"
    if user and may_change:
        show_to_everybody(needed)
    # What others write is not seen there; a checkout in one of them stays where it is.
    free = [
        name
        for name in ("/tmp", "/dev/shm", "/var/tmp")
        if not any(path.is_relative_to(name) for path in needed)
    ]
    for name in free:
        mount("none", name, "tmpfs", 0, "mode=1777,size=64m")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        import fcntl

        fcntl.ioctl(sock, 0x8914, struct.pack("16sH22x", b"lo", 0x1))  # SIOCSIFFLAGS, IFF_UP
    os.environ.update({ALONE: ":".join(["alone", *free]), "HOME": "/nonexistent"})
    command = [sys.executable, "-B", str(Path(__file__).resolve()), "runs", *arguments]
    if user:
        ids = ["--reuid", str(user), "--regid", str(user), "--clear-groups", "--no-new-privs"]
        drop = ["setpriv", *ids, "--inh-caps=-all", "--bounding-set=-all"]
        if not may_change:  # the kernel takes all rights from a program that is not root in its own
            drop = ["unshare", "--user", f"--map-user={user}", f"--map-group={user}"]
        command = [*drop, *command]
    os.execvp(command[0], command)


def show_to_everybody(needed):
    """Let every user read some folders, though a folder above them is for its owner alone."""
    hidden = {}
    for path in needed:
        above = [*reversed(path.parents)]
        closed = [folder for folder in above if not folder.stat().st_mode & stat.S_IXOTH]
        if closed:
            hidden.setdefault(closed[0], {})[path] = os.open(path, os.O_PATH)
    for folder, paths in hidden.items():
        mount("none", str(folder), "tmpfs", 0, "mode=755")
        for path, descriptor in paths.items():
            path.mkdir(parents=True, exist_ok=True)
            mount(f"/proc/self/fd/{descriptor}", str(path), None, MS_BIND | MS_REC)
            os.close(descriptor)


MS_BIND, MS_REC, MS_PRIVATE = 4096, 16_384, 1 << 18


def mount(source, target, kind, flags, data=""):
    """Call mount(2)."""
    library = ctypes.CDLL(None, use_errno=True)
    texts = [None if text is None else text.encode() for text in (source, target, kind, data)]
    if library.mount(*texts[:3], ctypes.c_ulong(flags), texts[3]) != 0:
        raise OSError(ctypes.get_errno(), f"mount {target}: {os.strerror(ctypes.get_errno())}")


def main():
    """Do what the command line says."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job has none
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if sys.argv[1] == "alone":
        be_alone(int(sys.argv[2]), sys.argv[3:])
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["runs"])
    parser.add_argument("--count", type=int, default=65)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--kinds", default="")
    parser.add_argument("--within", type=float, default=RUN_S)
    asked = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    ways = asked.ways.split(",")
    kinds = asked.kinds.split(";") if asked.kinds else None
    found = census_of_runs(
        asked.count, ways=ways, seed=asked.seed, kinds=kinds, within_s=asked.within
    )
    json.dump(found, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
