"""Traceroute with sizes and packet trains: live, through the wire, and every way of ending."""

from __future__ import annotations

import os
import random
import signal
import socket
import struct
import threading
import time

import numpy as np
import pytest

from netcalc import compare, fit, samples
from netcalc.emulation import capabilities
from netcalc.emulation.wire import control
from netcalc.emulation.wire.emulated_path import EmulatedPath
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments import PROBE_SIZES, PROBE_SIZES_V6, packet_trains, probing
from netcalc.experiments.peers.helper import SO_TIMESTAMPNS, stamp_ns
from netcalc.experiments.probing import MAX_TRAIN, PORT, PROTOCOLS, HopExchange, TrainRun
from netcalc.experiments.running.stopping import Stopping
from netcalc.path import Path
from netcalc.samples import HopSamples, TrainSamples

pytestmark = pytest.mark.usefixtures("every_row_is_told")

PATH = Path.parse("10 Mbit/s 1 ms, T1 2 ms")
SHORT = Path.parse("10 Mbit/s 1 ms")
LATE_S = 3e-3
"""A busy machine is late by so much, now and then; a smallest of several hardly ever. [s]"""


@pytest.fixture(scope="module")
def wires():
    found = capabilities()
    if not found.wire:
        pytest.skip(f"no wire here: {found.why_not}")
    return found


def after(count, act):
    """Return a progress function that acts once, after ``count`` rows."""

    def progress(done, total, value_s):
        if done == count:
            act()

    return progress


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


RUNS = [
    pytest.param(lambda **more: probing([600, 1000], path=PATH, count=5, **more), HopSamples,
                 20, "probes", id="probing"),
    pytest.param(lambda **more: packet_trains(100, path=SHORT, count=20, **more), TrainSamples,
                 20, "trains", id="trains"),
]  # fmt: skip


@pytest.mark.namespace
@pytest.mark.usefixtures("wires")
class TestLive:
    def test_probes_to_every_node(self, nothing_left):
        """identity: the time of a probe by theory; later by some milliseconds at most."""
        found = probing(path=PATH, count=4)
        assert len(found) == 2 * len(PROBE_SIZES) * 4
        assert found.measured.all()
        assert found.hops == (1, 2)
        for hop in found.hops:
            sizes, times = found.minima(hop)
            assert sizes.tolist() == [size + 28 for size in PROBE_SIZES]
            true_s = fit.to_node_s(sizes, path=PATH, hop=hop)
            assert np.all(times >= true_s - 1e-6)
            assert np.all(times <= true_s + LATE_S)
        assert set(np.asarray(found.answer_bytes)) == {576.0}
        nodes = [set(np.asarray(found.node)[np.asarray(found.hop) == hop]) for hop in (1, 2)]
        assert [len(names) for names in nodes] == [1, 1]
        assert nodes[0] != nodes[1]
        facts = found.meta.instrument
        assert facts.truth["bandwidths_bps"] == [10e6, 1.544e6]
        assert facts.foreign_count == facts.duplicate_count == 0
        assert "path=Path(" in found.meta.command
        # derived: a T1 takes 5.18 us for a byte. Both slopes may be off by what the run was late,
        # over the bytes from the smallest probe to the largest.
        late_s = 2 * (facts.scheduling_delay_p99_s + facts.wire_lateness_p99_s) + 1e-4
        span = PROBE_SIZES[-1] - PROBE_SIZES[0]
        link = fit.links(found).links[1]
        slope_s = 8 / link.bandwidth_bps
        assert abs(slope_s - 8 / 1.544e6) <= 2 * late_s / span, link.why_not

    def test_probes_over_ipv6(self, nothing_left):
        """identity: the time of a probe by theory; later by some milliseconds at most."""
        found = probing(path=PATH, count=4, ip_version=6)
        assert len(found) == 2 * len(PROBE_SIZES_V6) * 4
        assert found.measured.all()
        for hop in (1, 2):
            sizes, times = found.minima(hop)
            assert sizes.tolist() == [size + 48 for size in PROBE_SIZES_V6]
            true_s = fit.to_node_s(sizes, path=PATH, hop=hop, ip_version=6)
            assert np.all(times >= true_s - 1e-6)
            assert np.all(times <= true_s + LATE_S)
        # published: an error message of ICMPv6 fits into 1280 bytes (RFC 4443, 2.4)
        assert set(np.asarray(found.answer_bytes)) == {1280.0}
        assert all(":" in node for node in np.asarray(found.node))
        assert found.meta.instrument.address_family == "IPv6"
        assert "ip_version=6" in found.meta.command
        drawn = compare.probes(found)
        assert drawn.residual == pytest.approx(drawn.measured - drawn.predicted)
        assert np.all(np.abs(drawn.residual) <= LATE_S)

    def test_sizes_take_their_turns(self):
        """A run that is stopped has some of each: no size of a hop is behind by more than one."""
        stop = threading.Event()
        found = probing([600, 700, 800], path=PATH, count=50, stop=stop,
                        progress=after(20, stop.set))  # fmt: skip
        pairs = list(zip(found.hop, found.packet_bytes, strict=True))
        counts = [pairs.count(pair) for pair in set(pairs)]
        assert len(found) == 20
        assert len(counts) == 6
        assert max(counts) - min(counts) <= 1

    def test_an_answer_quotes_the_whole_of_a_small_probe(self):
        found = probing([8, 100], path=SHORT, count=2)
        both = zip(found.packet_bytes, found.answer_bytes, strict=True)
        # published: RFC 1812, as much as possible; 20 bytes of IP and 8 of ICMP before it
        assert all(answer == packet + 28 for packet, answer in both)
        [link] = fit.links(found).links
        assert (link.reason.code, link.reason.values["count"]) == ("too-few-sizes", 1)

    def test_late_answers_are_lost_and_counted(self):
        found = probing([600], path=Path.parse("10 Mbit/s 20 ms"), count=4, timeout_s=0.03)
        assert found.measured.sum() == 0
        assert np.asarray(found.lost).all()
        assert found.meta.instrument.late_count >= 3
        assert "late-replies" in {one.code for one in found.meta.warnings}
        assert fit.links(found).links == ()

    def test_nobody_answers_in_time(self, nothing_left):
        with pytest.raises(ExperimentError) as caught:
            probing([600], path=Path.parse("10 Mbit/s 20 ms"), count=50, timeout_s=0.002)
        assert (caught.value.code, caught.value.values["count"]) == ("no-answers", 20)
        assert "timeout_s" in caught.value.hint
        assert caught.value.partial.hops == ()

    @pytest.mark.parametrize(
        "text", ["T1 1 ms, 10 Mbit/s 1 ms", "10 Mbit/s 1 ms, T1 1 ms", "T3, T1 1 ms, T3"]
    )
    def test_pairs_show_the_narrowest_link(self, text, nothing_left):
        """derived: 1500 bytes at 1.544 Mbit/s are 7.77 ms apart; a fifth for a busy machine."""
        found = packet_trains(path=Path.parse(text), count=12)
        assert found.lost_count == 0
        assert fit.bottleneck(found).bandwidth_bps == pytest.approx(1.544e6, rel=0.2)
        assert np.all(np.asarray(found.received_s) > np.asarray(found.sent_s))

    def test_a_train_takes_what_the_pipeline_says(self):
        """identity: Path.one_way_s of ten packets; later by some milliseconds at most."""
        found = packet_trains(path=PATH, packet_count=10, count=3).trains()
        true_s = float(PATH.one_way_s(1500, packet_count=10))
        assert found["packet_count"].tolist() == [10] * 3
        assert found["one_way_s"].min() >= true_s - 1e-4
        assert found["one_way_s"].min() <= true_s + 10 * LATE_S

    def test_packets_of_somebody_else_spread_the_pairs(self):
        found = packet_trains(path=PATH, count=30, cross_ratio=0.4, seed=3)
        rows = found.trains()
        crossed = rows["crossed_count"] > 0
        assert 3 <= crossed.sum() <= 22  # derived: 12 ± 2.7, at 3.5 standard deviations
        clean_s = np.median(rows["dispersion_s"][~crossed])
        assert np.median(rows["dispersion_s"][crossed]) > 1.1 * clean_s
        estimate = fit.bottleneck(found)
        assert estimate.bandwidth_bps == pytest.approx(1.544e6, rel=0.2)
        assert estimate.mean_bps < estimate.bandwidth_bps

    def test_the_same_seed_has_the_same_crossings(self):
        first, again = (
            packet_trains(100, path=SHORT, count=10, cross_ratio=0.5, seed=5) for _ in range(2)
        )
        assert first.crossed.tolist() == again.crossed.tolist()
        assert 0 < np.asarray(first.crossed).sum() < 10
        assert not np.asarray(first.crossed)[::2].any(), "never before the first of a pair"

    def test_trains_that_come_too_late(self, nothing_left):
        slow = Path.parse("10 Mbit/s 30 ms")
        with pytest.raises(ExperimentError) as caught:
            packet_trains(100, path=slow, count=30, timeout_s=0.001)
        assert (caught.value.code, caught.value.values["count"]) == ("no-packets", 20)

    @pytest.mark.parametrize(("run", "kind", "total", "unit"), RUNS)
    def test_progress_and_save(self, run, kind, total, unit, nothing_left, tmp_path):
        told = []
        found = run(progress=lambda done, all_, _: told.append((done, all_)),
                    save=tmp_path / "run.json")  # fmt: skip
        assert told[-1] == (total, total)
        assert not found.meta.partial
        again = kind.load(tmp_path / "run.json")
        np.testing.assert_array_equal(again.packet_bytes, found.packet_bytes)
        assert again.meta.instrument.truth == found.meta.instrument.truth

    @pytest.mark.parametrize(("run", "kind", "total", "unit"), RUNS)
    @pytest.mark.parametrize("how", ["stop", "interrupt"])
    def test_stopped_runs_keep_what_they_have(
        self, run, kind, total, unit, how, nothing_left, tmp_path
    ):
        stop = threading.Event()
        found = run(stop=stop, progress=after(7, stop.set if how == "stop" else interrupt),
                    save=tmp_path / "run.json")  # fmt: skip
        assert found.meta.partial
        assert found.meta.instrument.ended_by == how
        assert (
            str(found.meta.warnings[0]) == f"the run was ended by {how} after 7 of {total} {unit}"
        )
        assert (
            len(kind.load(tmp_path / "run.json"))
            == len(found)
            == (7 if total > 7 else 14) * (1 if kind is HopSamples else 2)
        )

    @pytest.mark.parametrize(("run", "kind", "total", "unit"), RUNS)
    def test_the_disk_is_full(self, run, kind, total, unit, nothing_left, tmp_path, monkeypatch):
        def full(path, data, **_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(samples.saved, "write_atomically", full)
        with pytest.raises(ExperimentError) as caught:
            run(save=tmp_path / "run.json")
        assert (caught.value.code, caught.value.phase) == ("samples-not-saved", "save")
        assert caught.value.values["reason"] == "No space left on device"
        assert not caught.value.partial.meta.partial
        assert len(caught.value.partial) >= total

    @pytest.mark.parametrize(("run", "kind", "total", "unit"), RUNS)
    @pytest.mark.parametrize(
        ("broken", "code"),
        [
            ("kernel.unshare = lambda *_: kernel.enter(-1, 0, 'broken')", "namespaces-refused"),
            ("os.kill(os.getpid(), 9)", "emulator-ended"),
        ],
    )
    def test_a_wire_that_cannot_be_made(
        self, run, kind, total, unit, broken, code, nothing_left, monkeypatch
    ):
        begin, end = control._START.split("; ", 1)
        kernel = "import os; from netcalc.emulation.wire import kernel"
        path, end = end.split("; ", 1)
        monkeypatch.setattr(control, "_START", f"{begin}; {path}; {kernel}; {broken}; {end}")
        with pytest.raises(ExperimentError) as caught:
            run()
        assert caught.value.code == code
        assert caught.value.partial is None


def test_all_of_the_longest_train_waits_for_its_reader(wires, monkeypatch):
    """With a large packet of somebody else's before each: 92 of them fill a buffer of Linux."""
    opened, enter, wait = [], EmulatedPath.__enter__, TrainRun._await

    def remembered(wire):
        opened.append(enter(wire))
        return wire

    def late(run, receiver, packets, plan):
        end_s, sent_count = time.monotonic() + 5, (2 * MAX_TRAIN - 1) * (packets[0].train + 1)
        while opened[0].statistics().carried_count < sent_count and time.monotonic() < end_s:
            continue
        wait(run, receiver, packets, plan)

    monkeypatch.setattr(EmulatedPath, "__enter__", remembered)
    monkeypatch.setattr(TrainRun, "_await", late)
    monkeypatch.setattr(random.Random, "randint", lambda draw, least, most: most)
    found = packet_trains(
        path=Path.parse("1 Gbit/s"), packet_count=MAX_TRAIN, count=2, cross_ratio=1
    )
    assert len(found) == 2 * MAX_TRAIN
    assert found.meta.instrument.lost_count == 0


@pytest.mark.parametrize("run", [run.values[0] for run in RUNS])
def test_no_namespaces_on_this_system(run, monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(ExperimentError) as caught:
        run()
    assert caught.value.code == "namespaces-not-linux"


@pytest.mark.each(
    ("arguments", "name", "code"),
    [
        ({"payload_bytes": 7}, "payload_bytes", "size-for-probe"),
        ({"payload_bytes": [600, 1473]}, "payload_bytes[1]", "size-for-probe"),
        ({"payload_bytes": []}, "payload_bytes", "not-one-dimensional"),
        ({"payload_bytes": 8.5}, "payload_bytes", "size-for-probe"),
        ({"count": 0}, "count", "not-whole"),
        ({"timeout_s": 0}, "timeout_s", "out-of-range"),
        ({"ip_version": 5}, "ip_version", "not-a-choice"),
        ({"payload_bytes": 1453, "ip_version": 6}, "payload_bytes", "size-for-probe"),
    ],
)
def test_impossible_probes_are_refused(arguments, name, code):
    with pytest.raises(DomainError) as caught:
        probing(**{"path": PATH, **arguments})
    assert (caught.value.name, caught.value.code) == (name, code)
    if code == "size-for-probe":
        # derived: a tag of 8 bytes; 1500 less 20 of IP (40 of IPv6) and 8 of UDP
        most = 1452 if "ip_version" in arguments else 1472
        assert (caught.value.values["low"], caught.value.values["high"]) == (8, most)


@pytest.mark.each(
    ("arguments", "name", "code"),
    [
        ({"payload_bytes": 11}, "payload_bytes", "size-for-train"),
        ({"packet_count": 1}, "packet_count", "not-whole"),
        ({"packet_count": MAX_TRAIN + 1}, "packet_count", "whole-out-of-range"),
        ({"cross_ratio": 1.5}, "cross_ratio", "percent-for-ratio"),
        ({"cross_ratio": 30}, "cross_ratio", "percent-for-ratio"),
        ({"count": 0.5}, "count", "not-whole"),
        ({"timeout_s": 61}, "timeout_s", "out-of-range"),
    ],
)
def test_impossible_trains_are_refused(arguments, name, code):
    with pytest.raises(DomainError) as caught:
        packet_trains(**{"path": PATH, **arguments})
    assert (caught.value.name, caught.value.code) == (name, code)
    if code == "size-for-train":  # derived: a tag of 12 bytes; 1500 less 28 of headers
        assert (caught.value.values["low"], caught.value.values["high"]) == (12, 1472)


def test_runs_that_take_too_long_are_refused():
    slow = Path.parse("1 kbit/s")
    for run in (probing, packet_trains):
        with pytest.raises(ExperimentError) as caught:
            run(path=slow)
        assert (caught.value.code, caught.value.values["limit_s"]) == ("run-too-long", 600)
    with pytest.raises(ExperimentError) as caught:
        probing(path=PATH, count=90_000)
    assert (caught.value.code, caught.value.values["limit"]) == ("too-many-probes", 100_000)


def test_a_file_that_cannot_be_written_is_refused_before_the_run(tmp_path):
    for run in (probing, packet_trains):
        with pytest.raises(ExperimentError) as caught:
            run(path=PATH, save=tmp_path)
        assert caught.value.code == "file-is-directory"


class Answers:
    """A pair of sockets in place of the raw one: what is put into it is what the kernel says."""

    version = 4

    def __init__(self):
        self.receiver, self.sender = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sent = []

    def setsockopt(self, *option):
        self.ttl = option[-1]

    def sendto(self, data, address):
        self.sent.append((bytes(data), address))
        for answer in self.behave(bytes(data)):
            self.sender.send(answer)

    def exchange(self, behave, *, sequence=1):
        """Send one probe to somebody who answers as told; return the answer and the counts."""
        self.behave = behave
        with Stopping(None, limit_s=10.0) as stopping, self.receiver, self.sender:
            probes = HopExchange(self, self.receiver, "192.0.2.9", PROTOCOLS[self.version],
                                 timeout_s=0.05, stopping=stopping)  # fmt: skip
            for number in range(1, sequence):
                probes.exchange(bytearray(600), 3, number)
            return probes.exchange(bytearray(600), 3, sequence), probes.counts


def quoted(data, *, kind=11, code=0):
    """An answer by hand: IP, ICMP, and in it IP, UDP and the beginning of the data."""
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 0, 0, 0, 64, 1, 0, b"\xc0\0\2\1", b"\xc0\0\2\2")
    udp = struct.pack("!HHHH", 40_000, PORT, len(data) + 8, 0)
    return ip + struct.pack("!BBHI", kind, code, 0, 0) + (ip + udp + data)[:548]


@pytest.mark.each(("kind", "code"), [(11, 0), (3, 3)])
def test_an_answer_of_a_router_or_of_the_far_end(kind, code):
    answers = Answers()
    answer, counts = answers.exchange(lambda data: [quoted(data, kind=kind, code=code)])
    assert answer.rtt_ns > 0
    assert (answer.answer_bytes, answer.node) == (576, "192.0.2.1")
    assert answers.ttl == 3
    assert answers.sent[0][1] == ("192.0.2.9", PORT)
    assert set(counts.values()) == {0}


class AnswersV6(Answers):
    """The same over IPv6: the kernel hands out ICMPv6 without its IP header, and the sender."""

    version = 6

    def __init__(self):
        super().__init__()
        for end in (self.receiver, self.sender):
            end.close()
        self.receiver, self.sender = (
            socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) for _ in range(2)
        )
        self.receiver.bind(("::1", 0))
        self.sender.connect(self.receiver.getsockname())


def quoted_v6(data, *, kind=3, code=0):
    """An answer by hand (RFC 4443, 3): ICMPv6, and in it IPv6, UDP and the data's beginning."""
    ip = struct.pack("!IHBB16s16s", 6 << 28, len(data) + 8, 17, 1, bytes(16), bytes(16))
    udp = struct.pack("!HHHH", 40_000, PORT, len(data) + 8, 0)
    return struct.pack("!BBHI", kind, code, 0, 0) + (ip + udp + data)[:1232]


@pytest.mark.live
@pytest.mark.each(("kind", "code"), [(3, 0), (1, 4)])
def test_an_answer_over_ipv6(kind, code):
    """published: RFC 4443: 3 time exceeded, 1 and 4 port unreachable; derived: 648 + 48 bytes."""
    answers = AnswersV6()
    answer, counts = answers.exchange(lambda data: [quoted_v6(data, kind=kind, code=code)])
    assert answer.rtt_ns > 0
    assert (answer.answer_bytes, answer.node) == (696, "::1")
    assert answers.ttl == 3
    assert set(counts.values()) == {0}


@pytest.mark.live
def test_what_is_no_answer_over_ipv6_is_counted():
    def others(data):
        return [quoted_v6(data[:4] + b"XXXX" + data[8:]), quoted_v6(data, kind=129), bytes(9),
                quoted_v6(data)]  # fmt: skip

    answer, counts = AnswersV6().exchange(others)
    assert answer.rtt_ns is not None
    assert counts == {"late_count": 0, "foreign_count": 3, "duplicate_count": 0}


def test_what_is_no_answer_to_this_probe_is_counted():
    def others(data):
        other_run = data[:4] + b"XXXX" + data[8:]
        earlier = (7).to_bytes(4, "little") + data[4:]
        return [quoted(other_run), quoted(earlier), b"E" + bytes(30), quoted(data[:4]),
                quoted(data, kind=8), quoted(data)]  # fmt: skip

    answer, counts = Answers().exchange(others)
    assert answer.rtt_ns is not None
    assert counts == {"late_count": 1, "foreign_count": 4, "duplicate_count": 0}


def test_a_round_trip_begins_before_the_probe_is_sent():
    """derived: sending takes 5 ms here; a clock that is read after it would miss them."""

    def slowly(data):
        time.sleep(5e-3)
        return [quoted(data)]

    answer, _ = Answers().exchange(slowly)
    assert answer.rtt_ns >= 5_000_000


def test_a_second_answer_is_counted_before_the_next_probe():
    answer, counts = Answers().exchange(lambda data: [quoted(data)] * 2, sequence=3)
    assert answer.rtt_ns is not None
    assert counts == {"late_count": 0, "foreign_count": 0, "duplicate_count": 2}


def test_no_answer_is_a_lost_probe():
    answer, _ = Answers().exchange(lambda data: [])
    assert answer.rtt_ns is None
    assert (np.isnan(answer.answer_bytes), answer.node) == (True, "")


def test_the_stamp_of_the_kernel():
    # derived: 3 s and 5 ns as two 64-bit integers; another kind of data is passed over
    data = (3).to_bytes(8, "little") + (5).to_bytes(8, "little")
    assert stamp_ns([(1, 999, b""), (socket.SOL_SOCKET, SO_TIMESTAMPNS, data)]) == 3_000_000_005
    assert stamp_ns([]) == 0
