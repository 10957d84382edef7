"""Live blasts by frame size and senders in lockstep: counts are exact, rates only bounded.

Where a number comes from: 46 bytes of a frame are headers and FCS (14 + 4, 20, 8); over an
emulated path the truth is set, and its bounds are derived from it. What was dropped is counted by
the kernel or the queue that dropped it, what arrived by the sink: their sum is what was sent.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

from netcalc import path as path_module
from netcalc.emulation import Routed
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments import TESTER_FRAMES, bulk, line_rate, lockstep, transfer
from netcalc.messages import Notice
from netcalc.models.rates import line_rate as formulas
from netcalc.models.tcp import window
from netcalc.path import Path
from netcalc.samples import DROP_PLACES

BOX = Path.parse("1 Gbit/s, 10 Mbit/s", processing_s=1 / 2000)
"""A box that passes 2000 packets a second onto a line of 10 Mbit/s."""
RUN = {"line_rate": line_rate, "lockstep": lockstep, **vars(path_module)}

pytestmark = pytest.mark.live


def dropped(result):
    """Return the sum of what was dropped on the way of each row, where it is known."""
    return np.nansum([getattr(result, name) for name in DROP_PLACES.values()], axis=0)


def test_the_sizes_of_testers():
    assert TESTER_FRAMES == (64, 128, 256, 512, 1024, 1280, 1518), "RFC 2544, section 9.1"


def test_a_blast_by_frame_size(nothing_left):
    result = line_rate([64, 1518], duration_s=0.02, run_count=2)
    assert result.write_bytes.tolist() == [18, 1472, 18, 1472]
    np.testing.assert_array_equal(result.sent_bytes, result.write_bytes * result.write_count)
    np.testing.assert_array_equal(
        result.received_bytes, result.write_bytes * (result.write_count - result.lost_count)
    )
    assert (result.wall_s >= 0.02).all()
    assert result.meta.tool == "netcalc line-rate"
    assert "cut-transfers" not in {warning.code for warning in result.meta.warnings}
    assert eval(result.meta.command, {"line_rate": line_rate}).write_bytes.tolist() == [
        18, 1472, 18, 1472,
    ]  # fmt: skip


def test_on_loopback_the_socket_of_the_sink_is_all_that_drops(nothing_left):
    result = line_rate(64, duration_s=0.1, run_count=2, buffer_bytes=4096)
    np.testing.assert_array_equal(result.receiver_drop_count, result.lost_count)
    assert np.isnan(result.input_drop_count).all(), "there is no box"
    assert set(result.limit) <= {"receiver", "sender", ""}


def test_a_blast_with_many_datagrams_a_call(nothing_left):
    result = line_rate(64, duration_s=0.02, run_count=1, datagrams_per_call=64)
    assert result.write_count[0] % 64 == 0
    assert result.write_count[0] > 0
    assert np.isnan(result.receiver_drop_count).all(), "the kernel counts many as one"


@pytest.mark.namespace
def test_a_box_of_known_limits_passes_the_smaller_one(nothing_left):
    result = line_rate(duration_s=0.1, run_count=3, path=BOX)
    frame_bytes = result.write_bytes + 46
    # Derived: a packet each 1/2000 s, and 20 bytes beyond each frame on the line (RFC 2544).
    limit_pps = np.minimum(2000.0, 10e6 / 8 / (frame_bytes + 20))
    received = result.received_bytes / result.write_bytes
    assert (received <= limit_pps * result.delivery_s + 1).all(), "nothing comes early"
    best = result.rate_pps.reshape(3, 7).max(axis=0)
    assert (best >= 0.8 * cpu_share(result) * limit_pps[:7]).all(), "other programs had the rest"
    np.testing.assert_array_equal(result.lost_count, dropped(result))
    held = result.line_drop_count[frame_bytes <= 512]
    assert (held == 0).all(), "up to 512 bytes the line takes 2000 a second"


@pytest.mark.namespace
@pytest.mark.parametrize(
    ("path", "place"),
    [("1 Gbit/s, 100 Mbit/s", "input of the box"), ("1 Gbit/s, 1 Mbit/s", "buffer of the line")],
)
def test_the_place_that_limits_is_named(path, place, nothing_left):
    box = Path.parse(path, processing_s=1 / 1000)
    # So large a buffer holds what comes in 0.15 s: the sink is not the limit where it has to wait.
    result = line_rate(1024, duration_s=0.3, run_count=1, path=box, buffer_bytes=200_000)
    assert result.limit.tolist() == [place], "derived: 1000 a second, the lines take 11,973 and 119"
    late = [w for w in result.meta.warnings if w.code in ("packets-unread", "packets-late")]
    assert late == [] or result.sender_drop_count[0] == 0, "a full queue is the sender's own"
    assert result.meta.instrument.truth["links"]["overhead_bytes"] == 38


@pytest.mark.namespace
def test_a_wire_that_is_itself_the_limit_says_so(nothing_left):
    result = line_rate(64, duration_s=0.3, run_count=1, path=Path.parse("10 Gbit/s"))
    np.testing.assert_array_equal(result.lost_count, dropped(result))
    if result.limit.tolist() == ["sender's queue"]:
        assert Notice("limited-by-emulator", {"count": 1}) in result.meta.warnings
    assert result.input_drop_count.tolist() == [0]


@pytest.mark.namespace
@pytest.mark.parametrize("user_namespace", [False, True])
def test_a_third_kernel_routes(user_namespace, nothing_left, monkeypatch):
    monkeypatch.setattr(transfer, "Routed", partial(Routed, user_namespace=user_namespace))
    result = line_rate([64, 1518, 9018], duration_s=0.1, run_count=1, routed=True)
    np.testing.assert_array_equal(result.lost_count, dropped(result))
    assert (result.received_bytes > 0).all()
    assert (result.sender_drop_count == 0).all()
    assert result.meta.target == "routed by a third namespace, UDP"
    assert result.meta.instrument.routed["mtu_bytes"] == 9000, "so that nothing is cut"
    way = result.meta.instrument.routed["way"]
    assert way == "user namespace" or not user_namespace
    assert result.meta.instrument.truth is None


@pytest.mark.namespace
def test_a_command_asks_for_the_same_again(nothing_left):
    for options in ({"routed": True}, {"path": BOX, "input_packets": 7}):
        result = line_rate(64, duration_s=0.02, run_count=1, **options)
        again = eval(result.meta.command, dict(RUN))
        assert again.meta.command == result.meta.command
        assert again.meta.target == result.meta.target


@pytest.mark.namespace
def test_lockstep_through_a_third_kernel(nothing_left):
    result = lockstep([1, 4], duration_s=0.5, run_count=1, routed=True)
    assert (result.goodput_bps > 0).all()
    assert result.meta.target == "routed by a third namespace, TCP"


def test_lockstep_counts_what_was_answered(nothing_left):
    result = lockstep([1, 8], duration_s=0.3, run_count=2, write_bytes=1000, reply_bytes=60)
    assert result.pair_count.tolist() == [1, 8, 1, 8]
    assert (result.received_bytes % 1000 == 0).all()
    # Each connection has one message under way at the end, which is not answered.
    assert (result.sent_bytes - result.received_bytes == 1000 * result.pair_count).all()
    assert (result.cycle_s > 0).all()
    # A pair sends at most once in a cycle; the shortest possible cycle bounds the rate.
    assert (result.goodput_bps > 0).all()


def test_one_pair_in_lockstep_obeys_its_cycle():
    result = lockstep(1, duration_s=0.05, run_count=1)
    mean_s = float(result.delivery_s[0] * 1460 / result.received_bytes[0])
    theory = formulas.stop_and_wait_goodput_bps(
        1, payload_bytes=1460, cycle_s=mean_s, capacity_bps=1e12
    )
    assert float(result.goodput_bps[0]) == pytest.approx(float(theory), rel=1e-9), "identity"


@pytest.mark.namespace
def test_lockstep_counts_its_time_to_the_last_answer(nothing_left):
    """identity: where one answer came, the time that counts is its cycle, not the whole run."""
    path = Path.parse("10 Mbit/s 20 ms")
    result = lockstep(1, duration_s=0.06, run_count=3, path=path)
    once = result.received_bytes == result.write_bytes
    assert once.any()
    np.testing.assert_allclose(result.delivery_s[once], result.cycle_s[once], rtol=0.02)
    assert (result.delivery_s[once] < result.wall_s[once]).all()


REFUSED = [
    (line_rate, {"frame_bytes": 63}, "frame_bytes", "not-whole"),
    (line_rate, {"frame_bytes": 9019}, "frame_bytes", "whole-out-of-range"),
    (line_rate, {"frame_bytes": 64.5}, "frame_bytes", "not-whole"),
    (line_rate, {"duration_s": 0}, "duration_s", "out-of-range"),
    (line_rate, {"duration_s": 86_400}, "duration_s", "out-of-range"),
    (line_rate, {"run_count": 0}, "run_count", "not-whole"),
    (line_rate, {"datagrams_per_call": 65}, "datagrams_per_call", "whole-out-of-range"),
    (line_rate, {"datagrams_per_call": 45}, "datagrams_per_call", "too-large-together"),
    (line_rate, {"buffer_bytes": math.nan}, "buffer_bytes", "whole-out-of-range"),
    (line_rate, {"link_buffer_bytes": 0}, "link_buffer_bytes", "not-whole"),
    (line_rate, {"input_packets": 0, "path": BOX}, "input_packets", "not-whole"),
    (line_rate, {"routed": True, "path": BOX}, "routed", "not-with-path"),
    (lockstep, {"routed": True, "path": BOX}, "routed", "not-with-path"),
    (lockstep, {"pair_count": 0}, "pair_count", "not-whole"),
    (lockstep, {"pair_count": [1, 33]}, "pair_count", "whole-out-of-range"),
    (lockstep, {"write_bytes": 0}, "write_bytes", "not-whole"),
    (lockstep, {"reply_bytes": 0}, "reply_bytes", "not-whole"),
    (lockstep, {"link_buffer_bytes": -1}, "link_buffer_bytes", "not-whole"),
]


@pytest.mark.parametrize(("experiment", "arguments", "name", "code"), REFUSED)
def test_impossible_numbers_are_refused(experiment, arguments, name, code, no_process):
    with pytest.raises(DomainError) as caught:
        experiment(**arguments)
    assert (caught.value.name, caught.value.code) == (name, code)


@pytest.mark.parametrize("experiment", [line_rate, lockstep])
def test_a_day_of_runs_is_refused(experiment):
    with pytest.raises(ExperimentError) as caught:
        experiment(duration_s=10, run_count=100)
    assert (caught.value.code, caught.value.values["limit_s"]) == ("transfers-too-long", 600)


@pytest.mark.namespace
@pytest.mark.parametrize("between", [{"routed": True}, {"path": BOX}])
def test_a_stop_on_the_way_keeps_its_part(between, nothing_left):
    asked = iter([False] * 12)
    result = line_rate(64, duration_s=10, run_count=2, stop=lambda: next(asked, True), **between)
    assert len(result) <= 1
    assert result.meta.partial


@pytest.mark.parametrize("experiment", [line_rate, lockstep])
def test_a_stop_within_a_run_keeps_its_part(experiment, nothing_left):
    told = []
    result = experiment(
        duration_s=10, run_count=2, stop=lambda: bool(told), progress=lambda *now: told.append(now)
    )
    assert len(result) == 1
    assert result.sent_bytes[0] > 0
    assert result.meta.partial


def cpu_share(result):
    """Return the share of its CPU that a run got, where it warns of contention; otherwise 1."""
    contended = any(warning.code == "cpu-contention" for warning in result.meta.warnings)
    return result.meta.instrument.processor_ratio if contended else 1.0


def late_s(result):
    """Return by how much both programs and the emulator of a run were late, there and back. [s]"""
    facts = result.meta.instrument
    return 2 * (facts.scheduling_delay_p99_s + facts.wire_lateness_p99_s)


@pytest.mark.namespace
def test_lockstep_over_a_path(nothing_left):
    path = Path.parse("100 Mbit/s 5 ms")
    result = lockstep([1, 4], duration_s=0.2, run_count=1, path=path)
    # Derived: a cycle is no shorter than the path's round trip, so n pairs send n writes in it.
    ceiling = formulas.stop_and_wait_goodput_bps(
        [1, 4], payload_bytes=1460, cycle_s=0.010, capacity_bps=100e6
    )
    assert (result.cycle_s > 0.010).all()
    assert (result.goodput_bps <= ceiling).all()
    # and no longer than that, the line (0.5 ms for four), the hosts' work and what they were late;
    # of 20 cycles the last is cut.
    longest_s = 0.0105 + 5e-4 + late_s(result)
    least_bps = 0.9 * cpu_share(result) * ceiling * 0.010 / longest_s
    assert (result.goodput_bps >= least_bps).all()


@pytest.mark.namespace
def test_a_slow_node_limits_the_packets(nothing_left):
    path = Path.parse("100 Mbit/s 1 ms, 100 Mbit/s 1 ms", processing_s=0.001)
    result = bulk(18, protocol="udp", write_count=200, run_count=3, path=path)
    # Derived: a node of 1 ms a packet passes 1000 a second, whatever is offered.
    assert (result.rate_pps <= 1000).all()
    # Those that the node's input takes leave it 1 ms apart; 2 ms is the path.
    count = result.received_bytes / 18
    least_pps = (count - 1) / (count * 1e-3 + 2e-3 + late_s(result))
    assert (result.rate_pps >= least_pps).any(), "and no less, where the machine did not pause"
    assert (result.sent_rate_pps > 1000).any()


@pytest.mark.namespace
def test_what_a_slow_line_cannot_take_is_lost(nothing_left):
    path = Path.parse("1 Mbit/s 1 ms")
    result = line_rate(1518, duration_s=0.1, run_count=1, path=path, link_buffer_bytes=6000)
    # Derived: packets of 1500 bytes at 1 Mbit/s, 12 ms each, one behind the other; and four at
    # least, however little the machine lets others run: one on the line, and 6000 bytes behind it.
    arrived, took_s = result.received_bytes[0] / 1472, result.delivery_s[0]
    assert 4 <= arrived <= took_s / 0.012 + 1
    assert result.lost_count[0] > 0


@pytest.mark.namespace
@pytest.mark.parametrize("buffer_bytes", [4096, 16_384])
def test_a_small_buffer_limits_a_long_path(buffer_bytes, nothing_left):
    path = Path.parse("50 Mbit/s 20 ms")
    result = bulk(1440, write_count=40, run_count=1, path=path, buffer_bytes=buffer_bytes)
    assert result.received_bytes.tolist() == [57_600]
    # Derived: what is under way fits the granted send buffer, and a round trip is 40 ms at least.
    ceiling = window.throughput_bps(result.send_buffer_bytes, rtt_s=0.040, bandwidth_bps=50e6)
    assert (result.goodput_bps <= ceiling).all()
    # and at least a segment in a round trip and the delay of its acknowledgement, 40 ms
    assert (result.goodput_bps >= 8 * 1440 / (0.080 + 1e-3 + late_s(result))).all()
    assert result.meta.instrument.truth["latencies_s"] == [0.02]
    assert result.meta.target == "emulated path, TCP"


@pytest.mark.namespace
def test_datagrams_on_a_slow_path_are_waited_for(nothing_left):
    path = Path.parse("1 Mbit/s 50 ms")
    result = bulk(1000, protocol="udp", write_count=20, run_count=1, path=path)
    assert result.lost_count.tolist() == [0], "20 kB fit the buffer of the link, 64 KiB"
    # Derived: 20 packets of 1028 bytes at 1 Mbit/s and 50 ms on the way.
    assert result.delivery_s[0] >= 20 * 8 * 1028 / 1e6 + 0.05
