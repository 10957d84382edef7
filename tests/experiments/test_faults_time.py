"""Faults E9 and E10: a clock that is set, a run that stands still, a processor that is crowded."""

from __future__ import annotations

import mmap
import os
import re
import socket
import struct
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pytest

from netcalc.emulation.wire.kernel import _HEAD, HEAD_BYTES, Arrivals
from netcalc.experiments import bulk, echo, line_rate, lockstep, small_writes, transactions
from netcalc.experiments.endpoints import TappedPacket, exchange_s
from netcalc.experiments.peers.helper import SO_TIMESTAMPNS, arrival_ns
from netcalc.experiments.probing import TrainPlan, TrainRun
from netcalc.experiments.running import instrument
from netcalc.experiments.running import record as _run
from netcalc.experiments.running import stopping as _stopping
from netcalc.experiments.running.stopping import GAP_S, MAX_GAPS, Clock, Ended, Stopping
from netcalc.experiments.working_latency import TimedProbes

pytestmark = [pytest.mark.live, pytest.mark.namespace]

EXPERIMENTS = {
    "echo": (lambda: echo(8, count=3), "rtt_s"),
    "bulk": (lambda: bulk(100, write_count=10, run_count=2), "wall_s"),
    "line_rate": (lambda: line_rate(64, duration_s=0.01, run_count=2), "wall_s"),
    "lockstep": (lambda: lockstep(1, duration_s=0.01, run_count=2), "cycle_s"),
    "small_writes": (lambda: small_writes(modes=["single"], count=3), "response_s"),
    "transactions": (lambda: transactions(8, protocols=["tcp"], count=3), "response_s"),
}


@pytest.mark.parametrize("step_s", [-3600, 3600])
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_clock_that_is_set_touches_no_interval(name, step_s, monkeypatch):
    """E9: an hour back, an hour ahead, in the middle of a run."""
    begin_ns, readings = time.time_ns(), []

    def stepping_ns():
        readings.append(1)
        return begin_ns + (len(readings) > 1) * step_s * 10**9

    monkeypatch.setattr(Clock, "wall_ns", lambda _: stepping_ns())
    run, column = EXPERIMENTS[name]
    result = run()
    times = np.asarray(getattr(result, column))
    assert ((times > 0) & (times < 60)).all()
    assert not result.meta.partial
    (stepped,) = [one for one in result.meta.warnings if one.code == "clock-stepped"]
    assert stepped.values["step_s"] == pytest.approx(step_s, abs=60)


def test_a_tap_whose_clock_is_set_gives_no_time():
    """E9: its stamps are of the wall clock; by hand: 5 ms, then set an hour back, and ahead."""
    server = bytes([127, 0, 0, 2])
    first = TappedPacket(10**18, bytes([127, 0, 0, 1]), 52, b"")

    def after_s(seconds):
        reply = TappedPacket(10**18 + int(seconds * 1e9), server, 52, b"")
        return exchange_s([first, reply], "127.0.0.2", longest_s=61.0)

    assert after_s(0.005) == pytest.approx(0.005)
    assert np.isnan(after_s(0.005 - 3600))
    assert np.isnan(after_s(0.005 + 3600))


class VirtualClock(Clock):
    """A clock whose time passes in sleep only."""

    def __init__(self):
        self.now_s = 100.0

    def now_ns(self):
        return round(self.now_s * 1e9)

    def since_boot_s(self):
        return self.now_s

    def sleep(self, duration_s):
        self.now_s += duration_s


def test_a_long_sleep_looks_for_a_reason_to_end():
    """Ten minutes of virtual time: a stop after 300 s ends the sleep within a slice."""
    clock = VirtualClock()
    begin_s = clock.now_s
    stopping = Stopping(lambda: clock.now_s - begin_s > 300, limit_s=600.0, clock=clock)
    with pytest.raises(Ended, match="stop"):
        stopping.sleep(600.0)
    assert clock.now_s - begin_s == pytest.approx(300, abs=2 * _stopping.SLICE_S)


def test_a_run_ends_at_its_limit_of_time():
    clock = VirtualClock()
    stopping = Stopping(None, limit_s=600.0, clock=clock)
    with pytest.raises(Ended, match="limit of 600 s"):
        stopping.sleep(3600.0)
    assert clock.now_s == pytest.approx(700, abs=2 * _stopping.SLICE_S)
    assert stopping.gaps == [], "sleep in slices is no suspension"


def test_a_gap_is_noted_where_the_run_stood_still():
    """E9: a clock that goes on while the machine sleeps; its readings are those of the test."""
    clock = VirtualClock()
    stopping = Stopping(None, limit_s=1e6, clock=clock)

    def checked_after(seconds):
        clock.now_s += seconds
        stopping.check()

    checked_after(0.5)
    checked_after(GAP_S)
    assert stopping.gaps == [], "a second is no gap"
    checked_after(3600.0)
    assert stopping.gaps == [(1.5, 3600.0)]
    clock.now_s += 5.0
    stopping.resume()  # that was the run's own work
    checked_after(0.1)
    with stopping.caller():
        clock.now_s += 5.0  # and that the caller's
    checked_after(0.1)
    assert len(stopping.gaps) == 1
    clock.now_s += 5.0
    with stopping.caller():
        pass  # what was before it is not the caller's
    assert len(stopping.gaps) == 2
    for _ in range(2 * MAX_GAPS):
        checked_after(2.0)
    assert len(stopping.gaps) == MAX_GAPS


def test_a_suspension_is_described_by_the_longest_gap():
    assert instrument.suspension([]) is None
    once = instrument.suspension([(2.0, 3600.0)])
    assert once.values == {"count": 1, "at_s": 2.0, "longest_s": 3600.0}
    twice = instrument.suspension([(2.0, 1.5), (9.0, 4.0)])
    assert twice.values == {"count": 2, "at_s": 9.0, "longest_s": 4.0}
    assert str(twice).startswith("the run was suspended for 4 s, 9 s after its start (2 gaps")


PAUSE_S = 0.9
"""A program is stopped for so long, with a shorter limit of what is a gap. [s]"""
STOPPED = """
import os, signal, subprocess
from netcalc import experiments as lab
from netcalc.experiments.running import stopping as _stopping
_stopping.GAP_S = 0.5
check, helpers = _stopping.Stopping.check, []
def stopped(stopping):
    if not helpers:  # it goes on again, also if it is stopped later than that
        line = "sleep {pause_s}; while kill -CONT $0 2>&-; do sleep 0.5; done"
        helpers.append(subprocess.Popen(["sh", "-c", line, str(os.getpid())]))
        os.kill(os.getpid(), signal.SIGSTOP)
    check(stopping)
_stopping.Stopping.check = stopped
result = {call}
codes = [one.code for one in result.meta.warnings]
print(result.meta.instrument.gaps, *codes, sep="\\n", flush=True)
helpers[0].kill()
"""
CALLS = (
    "lab.echo(8, count=20)",
    "lab.line_rate(64, duration_s=0.05, run_count=2)",
    "lab.small_writes(modes=['single'], count=20)",
)


def test_a_program_that_is_stopped_and_goes_on_marks_the_gap():
    """E9: SIGSTOP and SIGCONT, as of a laptop that is closed; three kinds of run at once."""
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", STOPPED.format(call=call, pause_s=PAUSE_S)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for call in CALLS
    ]  # fmt: skip
    said = [program.communicate(timeout=60) for program in programs]
    for program, call, (out, err) in zip(programs, CALLS, said, strict=True):
        assert (program.returncode, err) == (0, ""), call
        gaps, *codes = out.splitlines()
        assert max(length_s for _, length_s in eval(gaps)) >= PAUSE_S, call
        assert "run-suspended" in codes, call


CROWDED = """
import os
os.sched_setaffinity(0, {{{processor}}})
from netcalc import experiments as lab
for result in (
    lab.echo(8, count=200), lab.lockstep(1, duration_s=0.05, run_count=1),
    lab.small_writes(modes=["single"], count=20),
):
    ratio = result.meta.instrument.processor_ratio
    print(ratio, *[one for one in result.meta.warnings if one.code == "cpu-contention"])
"""


def test_a_crowded_processor_is_told_with_the_number():
    """E10: three programs that never sleep, on the one processor that the run may use."""
    processor = min(os.sched_getaffinity(0))
    hog = f"import os; os.sched_setaffinity(0, {{{processor}}})\nwhile True: pass"
    hogs = [subprocess.Popen([sys.executable, "-S", "-c", hog]) for _ in range(3)]
    try:
        done = subprocess.run(
            [sys.executable, "-c", CROWDED.format(processor=processor)],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    finally:
        for each in hogs:
            each.kill()
            each.wait()
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    for line in lines:
        ratio, _, warning = line.partition(" ")
        assert float(ratio) < instrument.STARVED_RATIO
        found = re.search(r"left (\d+)% of the CPU", warning)
        assert found, line
        assert float(found[1]) == pytest.approx(100 * float(ratio), abs=0.5)


def test_the_own_error_is_measured_in_a_long_run_too(monkeypatch):
    """E10: a crowd that comes and goes within a run is seen, not only at its ends."""
    seen = []

    def ratio():
        seen.append(1)
        return 0.01 if len(seen) == 2 else 1.0

    monkeypatch.setattr(instrument, "processor_ratio", ratio)
    monkeypatch.setattr(_run, "OWN_ERROR_S", 0.0)
    result = echo(8, count=5)
    assert len(seen) > 2
    assert result.meta.instrument.processor_ratio == 0.01
    assert any(one.values.get("cpu_ratio") == 0.01 for one in result.meta.warnings)


def test_a_limit_of_time_is_of_the_monotonic_clock(monkeypatch):
    """E9: a wall clock that is a day ahead ends no run."""
    monkeypatch.setattr(time, "time", lambda: 2e9)
    stopping = Stopping(None, limit_s=60.0)
    monkeypatch.setattr(time, "time", lambda: 3e9)
    stopping.check()
    short = Stopping(None, limit_s=-1.0)
    with pytest.raises(Ended, match="limit of -1 s"):
        short.check()


class SetClock:
    """A wall clock that is set in the middle of a run, and the stamps that a kernel takes by it."""

    def __init__(self, monkeypatch, *, by_s, at_reading):
        probing = sys.modules[TrainRun.__module__]
        self._true_ns, self._stamp_ns = time.time_ns, probing.stamp_ns
        self._by_ns, self._at, self._count = int(by_s * 1e9), at_reading, 0
        monkeypatch.setattr(time, "time_ns", self.read)
        monkeypatch.setattr(probing, "stamp_ns", self.stamped)

    def read(self):
        self._count += 1
        return self._true_ns() + self._step_ns()

    def stamped(self, control):
        return self._stamp_ns(control) + self._step_ns()

    def _step_ns(self):
        return self._by_ns if self._count >= self._at else 0


@contextmanager
def trains_on_loopback(count):
    """A run of trains of four packets, its plan, and its two sockets."""
    with (
        Stopping(None, limit_s=60.0) as stopping,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
    ):
        receiver.bind(("127.0.0.1", 0))
        receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        receiver.settimeout(5.0)
        sender.connect(receiver.getsockname())
        run = TrainRun(experiment="packet_trains", protocol="udp", target="", total_count=count,
                       unit="trains", host="127.0.0.1", stopping=stopping)  # fmt: skip
        plan = TrainPlan(payload_bytes=100, packet_count=4, count=count, cross_ratio=0.0,
                         timeout_s=5.0, seed=1)  # fmt: skip
        yield run, plan, sender, receiver


@pytest.mark.parametrize("at_reading", [11, 36], ids=["in a train", "between trains"])
@pytest.mark.parametrize("by_s", [-3600, 3600, -30 * 86400, 0.3])
def test_trains_are_timed_as_if_the_clock_had_not_been_set(by_s, at_reading, monkeypatch):
    """E9: a train in which the clock was set is sent again; no time of another steps."""
    with trains_on_loopback(count=5) as (run, plan, sender, receiver):
        SetClock(monkeypatch, by_s=by_s, at_reading=at_reading)
        run._send_all(sender, receiver, plan)
        found = run.samples()
    assert (len(found), found.lost_count) == (5 * 4, 0)
    times = np.concatenate([found.sent_s, found.received_s])
    assert ((times >= 0) & (times < 60)).all()
    assert (np.diff(found.sent_s) > 0).all()
    (stepped,) = [one for one in found.meta.warnings if one.code == "clock-stepped"]
    assert stepped.values["step_s"] == pytest.approx(by_s, abs=0.1)


def test_trains_have_no_arrivals_where_the_clock_is_set_all_the_time(monkeypatch):
    """E9: five tries each; then their packets count as lost, which nobody fits a rate to."""
    with trains_on_loopback(count=2) as (run, plan, sender, receiver):
        wall = SetClock(monkeypatch, by_s=3600, at_reading=0)
        monkeypatch.setattr(wall, "_step_ns", lambda: -wall._by_ns * wall._count)
        run._send_all(sender, receiver, plan)
        found = run.samples()
    assert found.lost_count == len(found) == 2 * 4
    assert np.isnan(found.received_s).all()


def test_an_arrival_is_not_before_its_probe_was_sent(monkeypatch):
    """E9, derived: read 40 us after its stamp; set 0.3 s ahead between, it would be 0.3 s early."""
    stamp = struct.pack("=qq", 10**9, 0)
    monkeypatch.setattr(time, "time_ns", lambda: 10**18 + 40_000)
    control = [(socket.SOL_SOCKET, SO_TIMESTAMPNS, stamp)]
    assert arrival_ns(control, lambda: 7 * 10**9, 6 * 10**9) == 7 * 10**9 - 40_000
    monkeypatch.setattr(time, "time_ns", lambda: 10**18 + 300_040_000)
    assert arrival_ns(control, lambda: 7 * 10**9, 7 * 10**9 - 10**6) == 7 * 10**9


def test_a_reply_of_before_its_probe_has_the_time_of_its_reading():
    """E9: no round trip below 0 where the clock is set between the stamp and the reading."""
    sock, other = socket.socketpair()
    with Stopping(None, limit_s=10) as stopping, sock, other:
        probes = TimedProbes(lambda: sock, b"sessions", timeout_s=0.2, stopping=stopping)
        probes.send(bytearray(20), 1, sent_ns := time.perf_counter_ns())
        probes._buffer[:12] = b"\1\0\0\0sessions"
        probes._take(12, sent_ns - 300_000_000)
    assert 0 < probes.rtt_ns[1] < 10 * 10**9


@pytest.mark.parametrize(("set_by_s", "taken"), [(0, True), (-3600, False), (3600, False)])
def test_a_stamp_of_the_future_holds_up_no_packet_on_an_emulated_path(set_by_s, taken, monkeypatch):
    """E9, by hand: stamped 2 ms ago; set back an hour since, it would enter the path in an hour."""
    head, now_s = b"\x45" * HEAD_BYTES, 1e9
    ring = mmap.mmap(-1, 512)
    _HEAD.pack_into(ring, 0, 1, HEAD_BYTES, HEAD_BYTES, 0, 64, int(now_s) - 1, 998_000_000)
    ring[64 : 64 + HEAD_BYTES] = head
    monkeypatch.setattr(time, "time", lambda: now_s + set_by_s)
    monkeypatch.setattr(time, "monotonic", lambda: 50.0)
    arrivals = Arrivals.__new__(Arrivals)
    arrivals._ring, arrivals._at = ring, 0
    found = arrivals.take(49.0)
    assert found == ({head: pytest.approx(49.998)} if taken else {})
