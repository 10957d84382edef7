"""Small writes, live: what is counted is exact, times are compared with the kernel's timer only.

Where a number comes from: the article's writes, modes and rounds are published; the 40 ms are the
least delay of an acknowledgement in Linux (TCP_DELACK_MIN, HZ/25), a lower bound that a busy
machine cannot break; everything else is counted by hand.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from netcalc import compare, samples
from netcalc.emulation.wire import Wire
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments import _run, small_writes
from netcalc.experiments._process import Peer
from netcalc.experiments._room import Room
from netcalc.experiments._stopping import Stopping
from netcalc.experiments._tap import Packet, ladder_rows
from netcalc.experiments.small_writes import MODES
from netcalc.models.delayed_ack import LINUX_ATO_MIN_S
from netcalc.models.write_timeline import write_timeline

pytestmark = [pytest.mark.live, pytest.mark.namespace]

TIMER_S = 0.9 * LINUX_ATO_MIN_S
"""A timer of 40 ms may start up to a tick (4 ms at 250 Hz) into the wait of the client."""


def after(count, act):
    def progress(done, total, response_s):
        if done == count:
            act()

    return progress


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture(autouse=True)
def every_round_is_told(monkeypatch):
    monkeypatch.setattr(_run, "PROGRESS_S", 0.0)


def test_the_article_on_this_machine(nothing_left):
    result = small_writes(count=4)
    assert isinstance(result, samples.TransactionSamples)
    assert result.modes == ("nagle", "nodelay", "flush", "single"), "published: the four runs"
    assert result.payload_bytes.tolist() == [13] * 16, 'published: "hello " and "world\\r\\n"'
    assert result.sequence.tolist() == [1, 2, 3, 4] * 4
    assert result.warm_up.tolist() == [True, False, False, False] * 4
    assert (result.failed.sum(), result.meta.partial) == (0, False)
    facts = result.meta.instrument
    assert (facts["namespace"], facts["peer_echoed_count"]) == ("its own", 16)
    assert facts["nodelay"] == {"nagle": False, "nodelay": True, "flush": False, "single": False}
    assert facts["rtt_s"] == 0.0
    for mode in ("nagle", "flush"):
        # The kernel says it itself: every round but the first waited for a delayed ACK. (The
        # client may delay one, too, where a busy machine lets 40 ms pass between two rounds.)
        assert facts["counters"][mode]["DelayedACKs"] >= 3
        assert (result.response_s[result.of_mode(mode)] > TIMER_S).all()
    for mode in ("nodelay", "single"):
        assert facts["counters"][mode]["DelayedACKs"] < 3


def test_quickack_of_the_server_takes_the_wait_away():
    result = small_writes(modes=["nagle"], count=6, quickack=True)
    assert result.meta.instrument["counters"]["nagle"]["DelayedACKs"] < 5
    assert result.meta.instrument["quickack"] is True


def test_cork_and_more_make_one_segment_of_several_writes():
    result = small_writes([1] * 5, modes=["cork", "more", "single"], count=4)
    counters = result.meta.instrument["counters"]
    assert all(counters[mode]["DelayedACKs"] < 3 for mode in result.modes)


def test_one_write_never_waits():
    result = small_writes(100, modes=["nagle"], count=4)
    assert result.meta.instrument["counters"]["nagle"]["DelayedACKs"] < 3


def test_a_short_write_behind_full_segments_is_not_held_back(nothing_left):
    # derived: Minshall's form of the rule, which is Linux's; Nagle's own would hold the tail.
    result = small_writes([100_000, 1], modes=["nagle"], count=3, reply_bytes=70_000)
    assert result.response_s.size == 3
    assert result.reply_bytes.tolist() == [70_000] * 3


@pytest.mark.parametrize("mode", MODES)
def test_the_bytes_of_every_way_of_writing_arrive(mode):
    result = small_writes([3, 1, 20], modes=[mode], count=2)
    facts = result.meta.instrument
    assert (facts["peer_echoed_count"], facts["peer_refused_count"]) == (2, 0)


def test_theory_of_every_round(nothing_left):
    result = small_writes(modes=["nagle", "single"], count=3)
    found = compare.overlay(result)
    # derived: RTT 0 on the loopback; 2 RTT acknowledged at once, then 2 RTT + 40 ms; RTT.
    assert found.predicted.tolist() == pytest.approx([0, 0.04, 0.04, 0, 0, 0])
    assert found.x.tolist() == [1, 2, 3, 4, 5, 6]
    assert found.fit is None
    assert "nagle: predicted 40 ms" in found.sentence
    assert re.search(r"nagle: .* acknowledgements delayed: [2-9]", found.sentence)


def rounds(mode, times, warm_up=None, **facts):
    """Samples as a run makes them."""
    return samples.TransactionSamples(
        mode=[mode] * len(times),
        sequence=np.arange(1, len(times) + 1),
        payload_bytes=[13] * len(times),
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
    ({"write_bytes": []}, r"write_bytes is of shape \(0,\)"),
    ({"write_bytes": [6, 0]}, r"write_bytes\[1\] is 0, allowed is a whole number"),
    ({"write_bytes": [6.5]}, r"write_bytes\[0\] is 6\.5"),
    ({"write_bytes": [1] * 1001}, "write_bytes is 1001 writes, allowed is at most 1000"),
    ({"write_bytes": [1 << 20, 1]}, "write_bytes is 1048577 in all, allowed is at most 1048576"),
    ({"modes": []}, "modes is empty"),
    ({"modes": ["nagel"]}, "modes is 'nagel', allowed is one of nagle, nodelay"),
    ({"modes": ["nagle", "nagle"]}, "each mode once"),
    ({"count": 0}, "count is 0"),
    ({"reply_bytes": 0}, "reply_bytes is 0"),
    ({"interval_s": -1}, "interval_s is -1"),
    ({"timeout_s": 0}, "timeout_s is 0"),
]


@pytest.fixture
def no_process(monkeypatch):
    def never(*_, **__):
        raise AssertionError("refused too late: a process was made")

    monkeypatch.setattr(subprocess, "Popen", never)


@pytest.mark.parametrize(("arguments", "text"), REFUSED)
def test_impossible_numbers_are_refused(arguments, text, no_process):
    with pytest.raises(DomainError, match=text):
        small_writes(**arguments)


def test_a_run_beyond_a_limit_is_refused(no_process):
    # derived: 4 modes x 40,000 rounds
    with pytest.raises(ExperimentError, match="160,000 probes, at most 100,000"):
        small_writes(count=40_000)


def test_stop_keeps_what_was_measured(nothing_left, tmp_path):
    stop = threading.Event()
    result = small_writes(
        modes=["single", "nodelay"], count=20, stop=stop, progress=after(5, stop.set),
        save=tmp_path / "run.json",
    )  # fmt: skip
    assert (len(result), result.meta.partial) == (5, True)
    assert result.meta.warnings[0] == "ended by stop after 5 of 40 rounds"
    kept = samples.TransactionSamples.load(tmp_path / "run.json")
    assert kept.response_s.tolist() == pytest.approx(result.response_s.tolist())
    assert kept.modes == ("single",)


def test_first_ctrl_c_gives_back_what_was_measured(nothing_left):
    result = small_writes(modes=["single"], count=20, progress=after(5, interrupt))
    assert (len(result), result.meta.instrument["ended_by"]) == (5, "interrupt")


def test_stop_before_the_start(nothing_left):
    stop = threading.Event()
    stop.set()
    assert len(small_writes(stop=stop)) == 0


def test_an_error_of_the_progress_function_leaves_nothing(nothing_left):
    def fail():
        raise RuntimeError("the figure could not be drawn")

    with pytest.raises(RuntimeError, match="the figure"):
        small_writes(modes=["single"], count=20, progress=after(5, fail))


def test_a_peer_that_is_killed_is_told(nothing_left, bench, monkeypatch):
    started = []
    ready = Peer._ready

    def noted(peer, stopping):
        started.append(peer.pid)
        return ready(peer, stopping)

    monkeypatch.setattr(Peer, "_ready", noted)

    def kill():
        os.kill(started[-1], signal.SIGKILL)

    with pytest.raises(ExperimentError, match=r"the peer process ended \(SIGKILL\)") as caught:
        small_writes(modes=["single"], count=2000, progress=after(5, kill))
    assert len(caught.value.partial) >= 5


def test_a_namespace_whose_keeper_is_killed_is_told(nothing_left, monkeypatch):
    with Stopping(None, limit_s=30.0) as stopping, Room(stopping=stopping) as room:
        os.kill(room._keeper.pid, signal.SIGKILL)
        with pytest.raises(ExperimentError, match="the namespace of this run is gone"):
            room.socket(socket.AF_INET, socket.SOCK_STREAM)


def test_without_namespaces_the_host_is_used_and_told(nothing_left, monkeypatch):
    started = Room.__init__

    def refused(room, **options):
        started(room, **{**options, "own": False})
        room.refused, room.own = "Operation not permitted", False

    monkeypatch.setattr(Room, "__init__", refused)
    result = small_writes(modes=["single"], count=2)
    assert len(result) == 2
    assert result.meta.instrument["namespace"] == "the host's"
    assert re.search("no namespace of its own .*all its programs", result.meta.warnings[0])
    assert compare.ladder(result, mode="single").what == (), "no tap on the host's loopback"


def test_settings_of_the_host_are_never_written(nothing_left):
    place = Path("/proc/sys/net/ipv4/tcp_fastopen")
    before = place.read_text()
    with Stopping(None, limit_s=30.0) as stopping:
        with (
            Room(stopping=stopping, own=False) as room,
            pytest.raises(ExperimentError, match="not changed"),
        ):
            room.write(str(place), "3")
        with Room(stopping=stopping, mtu_bytes=1536) as room:
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
print(len(result), facts["namespace"], facts["counters"]["nagle"]["DelayedACKs"])
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
    assert found.predicted.tolist() == pytest.approx(
        [0.04, 0.08, 0.08, 0.08] + [0.02] * 4, rel=0.01
    )
    # Nothing arrives early; the timer of the kernel may start a tick before the packet.
    assert (found.residual > -4.1e-3).all()
    assert result.meta.instrument["counters"]["nagle"]["DelayedACKs"] >= 3
    assert result.meta.target == "emulated path, TCP"
    # The taps of both ends saw the same ladder as theory draws.
    seen = compare.ladder(result, mode="nagle")
    theory = write_timeline([0, 0], write_bytes=[6, 7], rtt_s=0.02)
    kept = [place for place, what in enumerate(seen.what) if what != "acknowledgement"]
    assert {seen.what[place] for place in kept} == set(theory.what) - {"acknowledgement"}
    parts = [place for place, what in enumerate(seen.what) if what == "segment"]
    assert seen.payload_bytes[parts].tolist() == [6, 7]
    assert (seen.end_s[parts] - seen.start_s[parts] > 0.00999).all(), "derived: 10 ms on the way"
    held = seen.what.index("holds acknowledgement")
    assert seen.end_s[held] - seen.start_s[held] > TIMER_S
    assert seen.done_s == pytest.approx(float(result.response_s[1]), abs=0.01)
    assert compare.ladder(result, mode="single").what == ("segment", "response")
    assert result.meta.instrument["truth"]["latencies_s"] == [0.01]


def test_a_path_that_the_system_refuses_is_told(nothing_left, monkeypatch):
    def refuse(wire, undo):
        raise ExperimentError("the system refuses: Operation not permitted", phase="wire")

    monkeypatch.setattr(Wire, "_set_up", refuse)
    with pytest.raises(ExperimentError, match="Operation not permitted") as caught:
        small_writes(count=1, path=samples_path("1 Gbit/s"))
    assert caught.value.phase == "wire"


def segment(at_ns, source, number, size):
    """A packet as a tap keeps it: 20 bytes of IPv4, 20 of TCP."""
    head = bytes([0x45, 0]) + (40 + size).to_bytes(2, "big") + number.to_bytes(2, "big")
    head += bytes(6) + socket.inet_aton(source) + bytes(4) + bytes(12) + b"\x50" + bytes(7)
    return Packet(at_ns, socket.inet_aton(source), 40 + size, head)


def test_rows_of_a_ladder_from_two_taps():
    client, server = "198.18.0.1", "198.18.0.254"
    ms = 1_000_000
    near = [segment(0, client, 1, 6), segment(70 * ms, server, 9, 0),
            segment(70 * ms, client, 2, 7), segment(100 * ms, server, 10, 13),
            segment(100 * ms, client, 3, 0)]  # fmt: skip
    far = [segment(15 * ms, client, 1, 6), segment(55 * ms, server, 9, 0),
           segment(85 * ms, client, 2, 7), segment(85 * ms, server, 10, 13)]  # fmt: skip
    rows = ladder_rows(near, far, server=server, begin_ns=0)
    # counted by hand; the last packet never came to the server's tap, so it is no row
    assert [(row["who"], row["what"]) for row in rows] == [
        ("to server", "segment"),
        ("client", "waits for acknowledgement"),
        ("server", "holds acknowledgement"),
        ("to client", "acknowledgement"),
        ("to server", "segment"),
        ("to client", "response"),
    ]
    assert [round(row["end_s"], 6) for row in rows] == [0.015, 0.07, 0.055, 0.07, 0.085, 0.1]
    assert rows[2]["start_s"] == pytest.approx(0.015)
    assert ladder_rows(near[2:], far[2:], server=server, begin_ns=0)[0]["what"] == "segment"
