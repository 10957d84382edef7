"""Small writes, live: what is counted is exact, times are compared with the kernel's timer only.

Where a number comes from: the article's writes, modes and rounds are published; the 40 ms are the
least delay of an acknowledgement in Linux (TCP_DELACK_MIN, HZ/25), a lower bound that a busy
machine cannot break; everything else is counted by hand.
"""

from __future__ import annotations

import dataclasses
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from netcalc import compare, samples
from netcalc.emulation.wire.emulated_path import EmulatedPath
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments import small_writes
from netcalc.experiments.endpoints import LadderRow, TappedPacket, ladder_rows
from netcalc.experiments.peers.process import Namespace
from netcalc.experiments.running.stopping import Stopping
from netcalc.experiments.small_writes import MODES, Rounds, WritePlan
from netcalc.messages import Notice
from netcalc.models.hosts.small_writes import LINUX_ATO_MIN_S, write_timeline

pytestmark = [
    pytest.mark.live, pytest.mark.namespace, pytest.mark.usefixtures("every_row_is_told"),
]  # fmt: skip

TIMER_S = 0.9 * LINUX_ATO_MIN_S
"""A timer of 40 ms may start up to a tick (4 ms at 250 Hz) into the wait of the client."""


def after(count, act):
    def progress(done, total, response_s):
        if done == count:
            act()

    return progress


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def test_the_article_on_this_machine(nothing_left):
    result = small_writes(count=4)
    assert isinstance(result, samples.TransactionSamples)
    assert result.modes == ("nagle", "nodelay", "flush", "single"), "published: the four runs"
    assert result.payload_bytes.tolist() == [13] * 16, 'published: "hello " and "world\\r\\n"'
    assert result.sequence.tolist() == [1, 2, 3, 4] * 4
    assert result.warm_up.tolist() == [True, False, False, False] * 4
    assert (result.failed.sum(), result.meta.partial) == (0, False)
    facts = result.meta.instrument
    assert (facts.namespace, facts.peer_echoed_count) == ("its own", 16)
    assert facts.nodelay == {"nagle": False, "nodelay": True, "flush": False, "single": False}
    assert facts.rtt_s == 0.0
    for mode in ("nagle", "flush"):
        # The kernel says it itself: every round but the first waited for a delayed ACK. (The
        # client may delay one, too, where a busy machine lets 40 ms pass between two rounds.)
        assert facts.counters[mode]["DelayedACKs"] >= 3
        assert (result.response_s[result.in_mode(mode)] > TIMER_S).all()
    for mode in ("nodelay", "single"):
        assert facts.counters[mode]["DelayedACKs"] < 3


def test_quickack_of_the_server_takes_the_wait_away():
    result = small_writes(modes=["nagle"], count=6, quickack=True)
    assert result.meta.instrument.counters["nagle"]["DelayedACKs"] < 5
    assert result.meta.instrument.quickack is True


def test_cork_and_more_make_one_segment_of_several_writes():
    result = small_writes([1] * 5, modes=["cork", "more", "single"], count=4)
    counters = result.meta.instrument.counters
    assert all(counters[mode]["DelayedACKs"] < 3 for mode in result.modes)


def test_one_write_never_waits():
    result = small_writes(100, modes=["nagle"], count=4)
    assert result.meta.instrument.counters["nagle"]["DelayedACKs"] < 3


def test_a_short_write_behind_full_segments_is_not_held_back(nothing_left):
    # derived: Minshall's form of the rule, which is Linux's; Nagle's own would hold the tail.
    result = small_writes([100_000, 1], modes=["nagle"], count=3, reply_bytes=70_000)
    assert result.response_s.size == 3
    assert result.reply_bytes.tolist() == [70_000] * 3


@pytest.mark.parametrize("mode", MODES)
def test_the_bytes_of_every_way_of_writing_arrive(mode):
    result = small_writes([3, 1, 20], modes=[mode], count=2)
    facts = result.meta.instrument
    assert (facts.peer_echoed_count, facts.peer_refused_count) == (2, 0)


def test_theory_of_every_round(nothing_left):
    result = small_writes(modes=["nagle", "single"], count=3)
    found = compare.overlay(result)
    # derived: RTT 0 on the loopback; 2 RTT acknowledged at once, then 2 RTT and the timer, which
    # is up to a tick late, a whole one in step with it; RTT.
    tick_s = result.meta.instrument.tick_s
    expected = [0, LINUX_ATO_MIN_S + tick_s / 2, LINUX_ATO_MIN_S + tick_s, 0, 0, 0]
    assert found.predicted.tolist() == pytest.approx(expected)
    band = found.curve_high - found.curve_low
    assert np.unique(np.round(band, 9)).tolist() == pytest.approx([0, tick_s], abs=1e-9)
    assert found.x.tolist() == [1, 2, 3, 4, 5, 6]
    assert found.fit is None
    assert re.search(r"nagle: predicted 4[0-9.]+ ms", found.sentence)
    delayed = result.meta.instrument.counters["nagle"]["DelayedACKs"]
    assert 2 <= delayed <= 9
    assert f", delayed acknowledgements: {delayed}; single: " in found.sentence


def rounds(mode, times, warm_up=None, **facts):
    """Samples as a run makes them."""
    return samples.TransactionSamples(
        mode=[mode] * len(times),
        sequence=np.arange(1, len(times) + 1),
        payload_bytes=[13] * len(times),
        reply_bytes=[13] * len(times),
        response_s=times,
        warm_up=[True] + [False] * (len(times) - 1) if warm_up is None else warm_up,
        meta=samples.Meta(instrument={"write_bytes": [6, 7], **facts}),
    )


@pytest.mark.parametrize(
    ("mode", "facts", "predicted", "source"),
    [
        ("nagle", {}, [0.06, 0.1, 0.1], "published: 62 ms, then 100 ms, over 30 ms"),
        ("flush", {}, [0.06, 0.1, 0.1], "published: 68 ms, then 100 ms"),
        ("nagle", {"quickack": True}, [0.06] * 3, "derived: two round trips"),
        ("nagle", {"write_bytes": [13]}, [0.03] * 3, "derived: one round trip"),
        ("nodelay", {}, [0.03] * 3, "derived: one round trip"),
        ("cork", {}, [0.03] * 3, "derived: one round trip"),
    ],
)
def test_theory_over_thirty_milliseconds(mode, facts, predicted, source):
    found = compare.small_writes(rounds(mode, [0.1, 0.1, 0.1], rtt_s=0.03, **facts))
    assert found.predicted.tolist() == pytest.approx(predicted)


def test_theory_of_a_path_that_is_given():
    path = samples_path("1 Gbit/s 15 ms")
    found = compare.overlay(rounds("single", [0.03, 0.03]), path=path)
    # derived: 30 ms and 2 x (13 or fewer + 52 bytes) at 1 Gbit/s
    assert found.predicted.tolist() == pytest.approx([0.03, 0.03], abs=2e-6)


def samples_path(text):
    from netcalc.path import Path as NetworkPath

    return NetworkPath.parse(text)


def test_no_rounds_no_theory():
    empty = samples.TransactionSamples(mode=[], sequence=[], payload_bytes=[], response_s=[])
    found = compare.small_writes(empty)
    assert "no rounds" in found.sentence
    assert not found.x.size


REFUSED = [
    ({"write_bytes": []}, "write_bytes", "not-one-dimensional"),
    ({"write_bytes": [6, 0]}, "write_bytes[1]", "not-whole"),
    ({"write_bytes": [6.5]}, "write_bytes[0]", "not-whole"),
    ({"write_bytes": [1] * 1001}, "write_bytes", "too-many-writes"),
    ({"write_bytes": [1 << 20, 1]}, "write_bytes", "sum-too-large"),
    ({"modes": []}, "modes", "empty-choice"),
    ({"modes": ["nagel"]}, "modes", "not-a-choice"),
    ({"modes": ["nagle", "nagle"]}, "modes", "repeated-choice"),
    ({"count": 0}, "count", "not-whole"),
    ({"reply_bytes": 0}, "reply_bytes", "not-whole"),
    ({"interval_s": -1}, "interval_s", "out-of-range"),
    ({"write_gap_s": -1}, "write_gap_s", "out-of-range"),
    ({"timeout_s": 0}, "timeout_s", "out-of-range"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "name", "code"), REFUSED)
def test_impossible_numbers_are_refused(arguments, name, code, no_process):
    with pytest.raises(DomainError) as caught:
        small_writes(**arguments)
    assert (caught.value.name, caught.value.code) == (name, code)


def test_a_run_beyond_a_limit_is_refused(no_process):
    # derived: 4 modes x 40,000 rounds
    with pytest.raises(ExperimentError) as caught:
        small_writes(count=40_000)
    assert caught.value.code == "too-many-probes"
    assert (caught.value.values["count"], caught.value.values["limit"]) == (160_000, 100_000)


def test_stop_keeps_what_was_measured(nothing_left, tmp_path):
    stop = threading.Event()
    result = small_writes(
        modes=["single", "nodelay"], count=20, stop=stop, progress=after(5, stop.set),
        save=tmp_path / "run.json",
    )  # fmt: skip
    assert (len(result), result.meta.partial) == (5, True)
    assert str(result.meta.warnings[0]) == "the run was ended by stop after 5 of 40 rounds"
    kept = samples.TransactionSamples.load(tmp_path / "run.json")
    assert kept.response_s.tolist() == pytest.approx(result.response_s.tolist())
    assert kept.modes == ("single",)


def test_first_ctrl_c_gives_back_what_was_measured(nothing_left):
    result = small_writes(modes=["single"], count=20, progress=after(5, interrupt))
    assert (len(result), result.meta.instrument.ended_by) == (5, "interrupt")


def test_stop_before_the_start(nothing_left):
    stop = threading.Event()
    stop.set()
    assert len(small_writes(stop=stop)) == 0


def test_an_error_of_the_progress_function_leaves_nothing(nothing_left):
    def fail():
        raise RuntimeError("the figure could not be drawn")

    with pytest.raises(RuntimeError, match="the figure"):
        small_writes(modes=["single"], count=20, progress=after(5, fail))


def test_a_peer_that_is_killed_is_told(nothing_left, peers):
    def kill():
        os.kill(peers[-1], signal.SIGKILL)

    with pytest.raises(ExperimentError) as caught:
        small_writes(modes=["single"], count=2000, progress=after(5, kill))
    assert (caught.value.code, caught.value.values["status"]) == ("peer-ended", "SIGKILL")
    assert len(caught.value.partial) >= 5


def test_a_namespace_whose_keeper_is_killed_is_told(nothing_left, monkeypatch):
    with Stopping(None, limit_s=30.0) as stopping, Namespace(stopping=stopping) as room:
        os.kill(room.pid, signal.SIGKILL)
        with pytest.raises(ExperimentError) as caught:
            room.socket(socket.AF_INET, socket.SOCK_STREAM)
    assert (caught.value.code, caught.value.values["status"]) == ("namespace-ended", "SIGKILL")


def test_without_namespaces_the_host_is_used_and_told(nothing_left, monkeypatch):
    started = Namespace.__init__

    def refused(room, **options):
        started(room, **{**options, "own": False})
        room.refused, room.own = "Operation not permitted", False

    monkeypatch.setattr(Namespace, "__init__", refused)
    result = small_writes(modes=["single"], count=2)
    assert len(result) == 2
    assert result.meta.instrument.namespace == "the host's"
    assert result.meta.warnings[0] == Notice("host-loopback", {"reason": "Operation not permitted"})
    assert compare.ladder(result, mode="single").what == (), "no tap on the host's loopback"


def test_settings_of_the_host_are_never_written(nothing_left):
    place = Path("/proc/sys/net/ipv4/tcp_fastopen")
    before = place.read_text()
    with Stopping(None, limit_s=30.0) as stopping:
        with (
            Namespace(stopping=stopping, own=False) as room,
            pytest.raises(ExperimentError) as caught,
        ):
            room.write(str(place), "3")
        assert caught.value.code == "host-settings-kept"
        with Namespace(stopping=stopping, mtu_bytes=1536) as room:
            room.write(str(place), "3")
            assert room.read(str(place)).strip() == "3"
            with pytest.raises(OSError, match="No such file"):
                room.read("/proc/nothing")
    assert place.read_text() == before


def test_a_plain_user_gets_a_namespace_too():
    script = """
from netcalc.experiments import small_writes
result = small_writes(modes=["nagle"], count=3)
facts = result.meta.instrument
print(len(result), facts.namespace, facts.counters["nagle"]["DelayedACKs"])
"""
    command = [sys.executable, "-c", script]
    if os.geteuid() == 0:
        command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    # Where the system refuses a namespace, the counters are the host's, and nothing is exact.
    assert re.match(r"3 (its own [2-9]|the host's \d+)$", done.stdout)


def test_the_command_runs_as_it_stands():
    result = small_writes([2, 3], modes=["more"], count=2)
    assert len(eval(result.meta.command, {"small_writes": small_writes})) == 2


def test_two_runs_at_once_do_not_meet(nothing_left):
    results = {}

    def one(mode):
        results[mode] = small_writes(modes=[mode], count=10)

    threads = [threading.Thread(target=one, args=(mode,)) for mode in ("single", "nodelay")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {mode: len(result) for mode, result in results.items()} == {"single": 10, "nodelay": 10}


def test_the_article_over_a_path(nothing_left):
    path = samples_path("100 Mbit/s 10 ms")
    result = small_writes(modes=["nagle", "single"], count=4, path=path)
    found = compare.overlay(result)
    # derived: RTT 20 ms; 2 RTT acknowledged at once, then 2 RTT + 40 ms; one write RTT
    facts = result.meta.instrument
    tick_s = facts.tick_s
    # and the timer: in the middle of its tick, then in step with it, as a round is whole ticks
    step_s = tick_s * np.ceil(0.0801 / tick_s + (0.0401 % tick_s == 0))
    assert found.predicted[:2].tolist() == pytest.approx([0.04, 0.08 + tick_s / 2], rel=0.01)
    assert found.predicted[2:4] == pytest.approx(step_s, abs=1.01 * tick_s)
    assert found.predicted[4:].tolist() == pytest.approx([0.02] * 4, rel=0.01)
    # Nothing arrives early; in step a round may be the time between response and request shorter.
    assert (found.residual > -tick_s - 1e-4).all()
    assert (result.response_s[1:4] > 0.0799).all()
    assert facts.counters["nagle"]["DelayedACKs"] >= 3
    assert facts.counters["nagle"]["server"]["DelayedACKs"] >= 3
    assert facts.waits["nagle"]["held_count"] >= 2
    assert facts.waits["nagle"]["waited_count"] >= 2
    assert facts.waits["nagle"]["held_median_s"] > TIMER_S
    assert result.meta.target == "emulated path, TCP"
    # The taps of both ends saw the same ladder as theory draws.
    seen = compare.ladder(result, mode="nagle")
    theory = write_timeline([0, 0], write_bytes=[6, 7], rtt_s=0.02)
    kept = [place for place, what in enumerate(seen.what) if what != "acknowledgement"]
    assert {seen.what[place] for place in kept} == set(theory.what) - {"acknowledgement"}
    parts = [index for index, what in enumerate(seen.what) if what == "segment"]
    assert seen.payload_bytes[parts].tolist() == [6, 7]
    assert (seen.end_s[parts] - seen.start_s[parts] > 0.00999).all(), "derived: 10 ms on the way"
    held = seen.what.index("holds acknowledgement")
    assert seen.end_s[held] - seen.start_s[held] > TIMER_S
    assert seen.done_s == pytest.approx(float(result.response_s[1]), abs=0.01)
    assert compare.ladder(result, mode="single").what[:2] == ("segment", "response")
    assert result.meta.instrument.truth["latencies_s"] == [0.01]


def test_a_path_that_the_system_refuses_is_told(nothing_left, monkeypatch):
    def refuse(wire, undo):
        raise ExperimentError(
            "namespaces-not-permitted", phase="emulated path",
            errno=1, reason="Operation not permitted", step="create user namespace",
        )  # fmt: skip

    monkeypatch.setattr(EmulatedPath, "_set_up", refuse)
    with pytest.raises(ExperimentError) as caught:
        small_writes(count=1, path=samples_path("1 Gbit/s"))
    assert caught.value.code == "namespaces-not-permitted"


def segment(at_ns, source, sent, acked, size):
    """A packet as a tap keeps it: 20 bytes of IPv4, 20 of TCP; sent and acked are its numbers."""
    head = bytes([0x45, 0]) + (40 + size).to_bytes(2, "big") + sent.to_bytes(2, "big") + bytes(2)
    head += b"\x40\x06\0\0" + socket.inet_aton(source) + bytes(4)
    head += bytes(4) + sent.to_bytes(4, "big") + acked.to_bytes(4, "big") + b"\x50" + bytes(7)
    return TappedPacket(at_ns, socket.inet_aton(source), 40 + size, head)


CLIENT, SERVER, MS = "198.18.0.1", "198.18.0.254", 1_000_000


def both(rows):
    """What two taps see: (sent, received, from, numbers, size) of each packet, in milliseconds."""
    near, far = [], []
    for sent, received, source, number, acked, size in rows:
        here, there = (sent, received) if source == CLIENT else (received, sent)
        near.append(segment(here * MS, source, number, acked, size))
        far.append(segment(there * MS, source, number, acked, size))
    return sorted(near), sorted(far)


def test_rows_of_a_ladder_from_two_taps():
    near, far = both(
        [
            (0, 15, CLIENT, 100, 500, 6),
            (55, 70, SERVER, 500, 106, 0),
            (70, 85, CLIENT, 106, 500, 7),
            (85, 100, SERVER, 500, 113, 13),
        ]
    )
    near.append(segment(140 * MS, CLIENT, 113, 513, 0))  # its arrival was never seen
    rows = ladder_rows(near, far, server=SERVER, begin_ns=0, writes=[(0, 6), (10 * MS, 7)])
    # counted by hand; the last packet never came to the server's tap, so it is no row
    assert [(row.who, row.what) for row in rows] == [
        ("to server", "segment"),
        ("client", "waits for acknowledgement"),
        ("server", "holds acknowledgement"),
        ("to client", "acknowledgement"),
        ("to server", "segment"),
        ("to client", "response"),
    ]
    assert [round(row.end_s, 6) for row in rows] == [0.015, 0.07, 0.055, 0.07, 0.085, 0.1]
    assert rows[1].start_s == pytest.approx(0.01), "the second write came 10 ms later"
    assert rows[2].start_s == pytest.approx(0.015)


def test_the_clients_delayed_acknowledgement_is_named_too():
    near, far = both(
        [
            (0, 15, CLIENT, 100, 500, 13),
            (15, 30, SERVER, 500, 113, 13),
            (70, 85, CLIENT, 113, 513, 0),
        ]
    )
    rows = ladder_rows(near, far, server=SERVER, begin_ns=0)
    held = [row for row in rows if row.what == "holds acknowledgement"]
    # counted by hand: from 30 to 70 ms
    assert [(row.who, row.start_s, row.end_s) for row in held] == [
        ("client", pytest.approx(0.03), pytest.approx(0.07))
    ]


def test_parts_that_left_together_wait_from_the_write_of_their_first_byte():
    near, far = both(
        [
            (0, 15, CLIENT, 100, 500, 1),
            (15, 30, SERVER, 500, 101, 0),
            (30, 45, CLIENT, 101, 500, 3),
            (45, 60, SERVER, 500, 104, 1),
        ]
    )
    writes = [(0, 1), (5 * MS, 1), (20 * MS, 1), (25 * MS, 1)]
    rows = ladder_rows(near, far, server=SERVER, begin_ns=0, writes=writes)
    waits = [row for row in rows if row.who == "client"]
    assert [(row.start_s, row.end_s) for row in waits] == [
        (pytest.approx(0.005), pytest.approx(0.03))
    ]


@pytest.mark.parametrize("path", [None, "100 Mbit/s 5 ms"])
def test_over_ipv6(path, nothing_left):
    path = path and samples_path(path)
    result = small_writes(modes=["nagle", "nodelay"], count=3, host="::1", path=path)
    facts = result.meta.instrument
    assert facts.address_family == "IPv6"
    # On a starved machine a round may pass without the timer; most do not.
    assert facts.waits["nagle"]["held_count"] >= 1
    assert facts.counters["nagle"]["DelayedACKs"] >= 1
    assert result.response_s[result.in_mode("nagle")].max() > TIMER_S
    seen = compare.ladder(result, mode="nagle")
    parts = [index for index, what in enumerate(seen.what) if what == "segment"]
    assert seen.payload_bytes[parts].tolist() == [6, 7], "published: the article's two writes"
    assert len(eval(result.meta.command.replace(f", path={path}", ""),
                    {"small_writes": small_writes})) == 6  # fmt: skip


def test_a_gap_between_the_writes():
    path = samples_path("100 Mbit/s 5 ms")
    result = small_writes(
        [1] * 3, modes=["nagle", "nodelay", "single"], count=3, write_gap_s=0.02, path=path
    )
    found = compare.overlay(result)
    # derived: two gaps and the round trip; in a single write nothing is slept
    assert found.predicted[3:6] == pytest.approx(0.05, rel=0.01)
    assert found.predicted[6:] == pytest.approx(0.01, rel=0.02)
    assert (result.response_s[3:6] > 0.0499).all()
    # The second part waits for the acknowledgement of the first, the third goes with it.
    seen = compare.ladder(result, mode="nagle")
    parts = [index for index, what in enumerate(seen.what) if what == "segment"]
    assert seen.payload_bytes[parts].tolist() == [1, 2]
    waits = seen.what.index("waits for acknowledgement")
    assert seen.start_s[waits] > 0.0199, "it was written 20 ms after the first"


def test_a_gap_that_outlasts_the_wait_is_told(nothing_left):
    path = samples_path("100 Mbit/s 1 ms")
    result = small_writes(modes=["nagle"], count=3, write_gap_s=0.15, path=path)
    facts = result.meta.instrument
    assert facts.waits["nagle"]["waited_count"] == 0
    assert facts.waits["nagle"]["held_count"] >= 1, "the server held it back all the same"
    (notice,) = [one for one in result.meta.warnings if one.code == "nothing-held-back"]
    assert (notice.values["free"], notice.values["rounds"]) == (2, 2)
    assert notice.values["write_gap_s"] == 0.15
    # derived: the gap and a round trip
    assert compare.overlay(result).predicted.tolist() == pytest.approx([0.152] * 3, rel=0.01)


def test_quick_acknowledgements_on_a_loopback_leave_nothing_to_wait_for():
    result = small_writes(modes=["nagle"], count=4, quickack=True)
    assert result.warm_up.tolist() == [True, False, False, False]
    if not result.meta.instrument.waits["nagle"]["waited_count"]:
        assert any(one.values.get("quickack") == "on" for one in result.meta.warnings)


def test_rounds_are_warm_up_until_the_kernel_delays_an_acknowledgement(monkeypatch):
    held = LadderRow("server", "holds acknowledgement", 0.01, 0.05, 0)
    waits = LadderRow("client", "waits for acknowledgement", 0.0, 0.06, 0)
    data = LadderRow("to server", "segment", 0.0, 0.01, 6)
    seen = iter([[data], [data], [data, held, waits], [data]])
    monkeypatch.setattr(Rounds, "_rows", lambda rounds, packets: next(seen))
    plan = WritePlan(
        sizes=(6, 7), modes=("nagle",), count=4, reply_bytes=13, interval_s=0.0, write_gap_s=0.0,
        quickack=False, autocorking=False, host="127.0.0.1", timeout_s=1.0,
    )  # fmt: skip
    run = SimpleNamespace(facts={"rtt_s": 0.02, "waits": {}}, warnings=[])
    rounds = Rounds(run, plan, "nagle", [])
    # some kernels are in quick mode for three exchanges: Linux 5.1 to 5.19
    assert [rounds._is_warm_up(n, []) for n in (1, 2, 3, 4)] == [True, True, False, False]
    rounds._conclude()
    assert run.facts["waits"]["nagle"] == {
        "round_count": 2, "held_count": 1, "held_median_s": pytest.approx(0.04),
        "waited_count": 1, "waited_median_s": pytest.approx(0.06),
    }  # fmt: skip
    assert not run.warnings


def test_a_pause_shows_how_the_client_acknowledges(monkeypatch):
    held = LadderRow("client", "holds acknowledgement", 0.05, 0.09, 0)
    waits = LadderRow("client", "waits for acknowledgement", 0.0, 0.06, 0)
    data = LadderRow("to server", "segment", 0.0, 0.01, 6)
    plan = WritePlan(
        sizes=(6, 7), modes=("nagle",), count=4, reply_bytes=13, interval_s=0.1, write_gap_s=0.0,
        quickack=False, autocorking=False, host="127.0.0.1", timeout_s=1.0,
    )  # fmt: skip
    run = SimpleNamespace(facts={"rtt_s": 0.02, "waits": {}}, warnings=[])
    rounds = Rounds(run, plan, "nagle", [])
    rounds._held_s, rounds._waited_s = [0.04], [0.06]
    for sequence, rows in enumerate(([data, held], [data, waits, held], [data, waits]), start=1):
        monkeypatch.setattr(rounds, "_rows", lambda packets, rows=rows: rows)
        rounds._window = (sequence, 0, [])
        rounds._note_client([])
    rounds._conclude()
    found = run.facts["waits"]["nagle"]
    # The first round is warm-up; to wait for an acknowledgement is not to hold one.
    assert (found["client_round_count"], found["client_held_count"]) == (2, 1)
    assert found["client_held_median_s"] == pytest.approx(0.04)


def test_a_live_run_with_a_pause_says_how_its_client_acknowledged():
    result = small_writes(modes=["single"], count=3, interval_s=0.1)
    found = result.meta.instrument.waits["single"]
    assert found["client_round_count"] == 1  # of three, the first is warm-up, the last has no pause
    said = compare.small_writes(result).sentence
    assert "the client acknowledged the response" in said, said
    assert (
        "client_round_count"
        not in small_writes(modes=["single"], count=3).meta.instrument.waits["single"]
    )


def test_autocorking_is_off_but_where_it_is_asked_for():
    host = Path("/proc/sys/net/ipv4/tcp_autocorking")
    before = host.read_text()
    off, on = (
        small_writes(modes=["nodelay"], count=2, autocorking=asked).meta.instrument.autocorking
        for asked in (False, True)
    )
    assert (off, on) == (0, 1)
    assert host.read_text() == before


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_capture_that_other_tools_read(host, tmp_path, nothing_left):
    file = tmp_path / "run.json"
    small_writes([2, 3], modes=["nodelay"], count=2, host=host, pcap=file)
    data = file.read_bytes()
    # published: libpcap's file format; nanoseconds, version 2.4, raw IP of either version
    assert struct.unpack_from("<IHH", data) == (0xA1B23C4D, 2, 4)
    assert struct.unpack_from("<I", data, 20) == (101,)
    at, sizes, flags, stamps = 24, [], [], []
    while at < len(data):
        seconds, rest_ns, kept, size = struct.unpack_from("<IIII", data, at)
        packet = data[at + 16 : at + 16 + kept]
        header = 40 if host == "::1" else 20
        assert packet[0] >> 4 == (6 if host == "::1" else 4)
        assert packet[6 if host == "::1" else 9] == socket.IPPROTO_TCP
        flags.append(packet[header + 13])
        sizes.append(size - header - 4 * (packet[header + 12] >> 4))
        stamps.append(seconds * 10**9 + rest_ns)
        at += 16 + kept
    assert at == len(data)
    assert flags[:2] == [0x02, 0x12], "published: RFC 9293, SYN and its answer"
    assert [size for size in sizes if size][:3] == [2, 3, 13]
    assert stamps == sorted(stamps)


def test_without_a_namespace_there_is_no_tap_and_it_is_told(nothing_left, monkeypatch, tmp_path):
    started = Namespace.__init__

    def refused(room, **options):
        started(room, **{**options, "own": False})
        room.refused, room.own = "Operation not permitted", False

    monkeypatch.setattr(Namespace, "__init__", refused)
    for host in ("127.0.0.1", "::1"):
        file = tmp_path / f"{len(host)}.json"
        result = small_writes(modes=["nagle"], count=3, host=host, pcap=file)
        facts = result.meta.instrument
        assert (facts.namespace, facts.ladder, facts.waits) == ("the host's", {}, {})
        assert Notice("no-capture") in result.meta.warnings
        assert not file.exists()
        assert not compare.ladder(result, mode="nagle").what


USERS = {
    "a plain user": ["unshare", "--user", "--map-user=1000", "--map-group=1000"],
    "root without capabilities": ["setpriv", "--bounding-set=-all", "--inh-caps=-all"],
}
"""How root becomes somebody without rights who still may read the interpreter's files."""


@pytest.mark.parametrize("user", USERS)
def test_over_a_path_without_privileges(user):
    script = """
from netcalc.experiments import small_writes, transactions
from netcalc.path import Path
path = Path.parse("100 Mbit/s 1 ms")
print(len(small_writes(modes=["nagle"], count=2, path=path)))
print(len(transactions([8], count=1, path=path)))
print(len(transactions([8], count=1, host="::1")))
"""
    as_user = USERS[user] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*as_user, sys.executable, "-c", script],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.split() == ["2", "5", "5"]


THROUGH_56K = [
    # derived by hand, of packets with 52 bytes of headers: each at 56 kbit/s and 5 ms;
    ("single", [65, 65], "one there, one back"),
    # the second follows the first on the line; what acknowledges it goes in front of the response;
    ("nodelay", [58, 59, 52, 65], "two there, two back"),
]


@pytest.mark.parametrize(("mode", "packets", "source"), THROUGH_56K)
def test_theory_on_a_slow_line(mode, packets, source):
    found = compare.small_writes(rounds(mode, [0.1] * 3), path=samples_path("56 kbit/s 5 ms"))
    expected = sum(packets) * 8 / 56e3 + 0.01
    assert found.predicted[1:] == pytest.approx(expected), source


def test_theory_of_nagles_rule_on_a_slow_line():
    path = samples_path("56 kbit/s 5 ms")
    found = compare.small_writes(rounds("nagle", [0.2] * 3), path=path)
    # derived by hand: 6 + 52 bytes, 40 ms, 52 back, 7 + 52, then 52 and 13 + 52 back
    assert found.predicted[1:] == pytest.approx((58 + 52 + 59 + 52 + 65) / 7000 + 0.02 + 0.04)
    sixth = compare.small_writes(rounds("nagle", [0.2] * 3, address_family="IPv6"), path=path)
    # derived: 20 bytes more in each of these five packets
    assert sixth.predicted[1:] - found.predicted[1:] == pytest.approx(100 / 7000)


def test_theory_of_a_response_of_several_segments():
    path = samples_path("1 Mbit/s 10 ms")
    result = rounds("single", [0.1] * 2, mss_bytes=1448)
    result = dataclasses.replace(result, reply_bytes=[3000.0] * 2)
    # derived by hand: 13 + 52 bytes there; 1500, 1500 and 104 + 52 back, at 8 us a byte
    found = compare.small_writes(result, path=path)
    assert found.predicted[1] == pytest.approx(0.02 + (65 + 3000 + 156) * 8e-6)


def test_theory_keeps_step_with_the_tick():
    facts = {"rtt_s": 0.025, "tick_s": 0.004}
    found = compare.small_writes(rounds("nagle", [0.1] * 4, **facts))
    # derived: 50 ms of round trips and 40 to 44 of the timer; in step 96 = 24 x 4 ms; but no tick
    # where rounds are apart
    assert found.predicted.tolist() == pytest.approx([0.05, 0.092, 0.092, 0.092])
    assert "a tick of 4 ms" in found.sentence
    facts["rtt_s"] = 0.03
    found = compare.small_writes(rounds("nagle", [0.1] * 4, **facts))
    assert found.predicted[2:] == pytest.approx(0.104), "60 ms are 15 ticks, and 11 more: 26"
    apart = compare.small_writes(rounds("nagle", [0.1] * 4, interval_s=1.0, **facts))
    assert apart.predicted[2:] == pytest.approx(0.102)
    assert (found.curve_high - found.curve_low)[-1] == pytest.approx(0.004)
