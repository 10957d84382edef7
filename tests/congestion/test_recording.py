"""The rows of a live run as means: each expected value is computed by hand from a few rows."""

import struct
from dataclasses import replace

import numpy as np
import pytest

from netcalc.congestion.recording import Recording, parse_rows
from netcalc.congestion.result import LEAST_COUNT
from netcalc.emulation.queue import DELIVERED, FULL, Log
from netcalc.experiments.peers.flows_peer import BYTES, INFO, INFO_BYTES, REQUEST, ROW
from netcalc.scenario import Bottleneck, Flow, Requests, Scenario

MS = 1_000_000


def info(*, rtt_us, cwnd, resent):
    """A ``struct tcp_info``; offsets from Linux's include/uapi/linux/tcp.h, counted by hand."""
    data = bytearray(INFO_BYTES)
    struct.pack_into("=I", data, 16, 1448)  # tcpi_snd_mss: 8 bytes, then rto and ato
    struct.pack_into("=I", data, 68, rtt_us)
    struct.pack_into("=I", data, 80, cwnd)
    struct.pack_into("=I", data, 100, resent)
    return bytes(data)


def state(index, at_s, **members):
    return ROW.pack(INFO, index, int(at_s * 1e9), INFO_BYTES) + info(**members)


def row(kind, index, at_s, value):
    return ROW.pack(kind, index, int(at_s * 1e9), int(value))


def scenario(**more):
    shared = Bottleneck(rate_bps=12e6, rtt_s=0.02, buffer_bytes=30_000)
    given = {"flows": [Flow(algorithm="reno", stop_s=4.0)], "end_s": 4.0, "warm_s": 1.0, **more}
    return Scenario(bottleneck=shared, **given)


def recording(*, sent=b"", received=b"", log=None, of=None, ended_s=4.0):
    states, _, requests = parse_rows(sent)
    return Recording(scenario=of or scenario(), states=states, received=parse_rows(received)[1],
                     requests=requests, queue=(log or Log()).events(), ended_s=ended_s)  # fmt: skip


def test_goodput_is_what_came_between_warm_up_and_stop():
    rows = [row(BYTES, 0, at_s, count) for at_s, count in
            [(0.0, 0), (1.0, 1e6), (2.0, 1.5e6), (4.0, 4e6), (4.5, 9e6)]]  # fmt: skip
    found = recording(received=b"".join(rows)).result()
    # derived: 3 MB from 1 to 4 s; a full packet has 1448 of 1500 bytes
    assert found.goodput_bps.tolist() == pytest.approx([8e6])
    assert found.utilization == pytest.approx(8e6 * 1500 / 1448 / 12e6)


def test_bytes_between_two_rows_are_a_line():
    """derived: half of what came in two seconds had come after one."""
    rows = row(BYTES, 0, 0.0, 0) + row(BYTES, 0, 2.0, 1e6)
    assert recording(received=rows).received_bytes(0, np.array([1.0, 3.0])).tolist() == [5e5, 1e6]


def test_a_sized_flow_ends_with_its_last_byte():
    of = scenario(flows=[Flow(algorithm="cubic", start_s=0.5, size_bytes=1e6)], warm_s=0.0)
    rows = row(BYTES, 0, 0.5, 0) + row(BYTES, 0, 2.0, 9e5) + row(BYTES, 0, 2.5, 1e6)
    found = recording(of=of, received=rows).result()
    assert found.finish_s.tolist() == [2.5]
    assert found.goodput_bps.tolist() == pytest.approx([8e6 / 2.0])
    missing = recording(of=of, received=rows[: 2 * ROW.size]).finish_s()
    assert np.isnan(missing).all()


def test_the_queue_holds_packets_from_arrival_to_departure():
    log = Log()
    log.add(1.0, 1.5, 1500, 0, DELIVERED)
    log.add(1.2, 2.0, 1500, 1500, DELIVERED)
    log.add(1.3, float("nan"), 1500, 3000, FULL)
    found = recording(log=log)
    at_s = np.array([0.9, 1.1, 1.3, 1.6, 2.1])
    assert found.queue_bytes(at_s).tolist() == [0, 1500, 3000, 1500, 0]
    # derived: 1500 B for 0.5 s and for 0.8 s, of the three seconds that count
    assert found.result().queue_mean_bytes == pytest.approx(1500 * 1.3 / 3.0, rel=2e-3)
    assert found.result().drop_count == 1
    course = found.result().trajectory
    since = course.time_s >= 1.3 - 1e-9
    assert course.drop_count.tolist() == since.astype(float).tolist(), "definition: since the start"


def test_states_are_the_members_of_tcp_info():
    sent = state(0, 0.05, rtt_us=21_000, cwnd=10, resent=0)
    sent += state(0, 0.15, rtt_us=25_000, cwnd=12, resent=3)
    found = recording(sent=sent)
    assert found.states["cwnd"].tolist() == [10, 12]
    assert found.states["mss_bytes"].tolist() == [1448, 1448]
    assert found.states["retransmits"].tolist() == [0, 3]
    course = found.trajectory(step_s=0.1)
    assert course.window_packets[:3, 0].tolist()[:2] == [10, 12]
    assert np.isnan(course.window_packets[2, 0]), "identity: no sample in the third step"
    assert course.rtt_s[:2].tolist() == pytest.approx([0.021, 0.025])


def test_requests_that_began_after_the_warm_up_count():
    of = scenario(flows=(), requests=[Requests(request_bytes=10_000, stop_s=4.0)])
    rows = [row(REQUEST, 0, 0.5, 0.9e9)]
    rows += [row(REQUEST, 0, 1.0 + at / 100, (1.0 + at / 100) * 1e9 + (at + 1) * MS)
             for at in range(LEAST_COUNT[0.99])]  # fmt: skip
    found = recording(of=of, sent=b"".join(rows)).result()
    # derived: latencies of 1 to 100 ms; the median of them is 50.5 ms, the 99th percentile 99.01
    assert found.request_p50_s.tolist() == pytest.approx([0.0505])
    assert found.request_p99_s.tolist() == pytest.approx([0.09901])
    few = recording(of=of, sent=b"".join(rows[: LEAST_COUNT[0.99]])).result()
    assert np.isnan(few.request_p99_s).all(), "identity: 99 requests carry no 99th percentile"


def test_a_run_that_was_stopped_counts_until_then():
    """derived: 1 MB in the second after the warm-up; nothing is known of the rest."""
    rows = row(BYTES, 0, 1.0, 0) + row(BYTES, 0, 2.0, 1e6)
    found = recording(received=rows, ended_s=2.0).result()
    assert found.goodput_bps.tolist() == pytest.approx([8e6])
    early = recording(received=rows, ended_s=0.5).result()
    assert np.isnan([*early.goodput_bps, early.utilization, early.queue_mean_bytes]).all()


def test_a_log_that_was_cut_gives_its_whole_rows():
    """identity: a host that died in the middle of a row."""
    sent = state(0, 0.1, rtt_us=1, cwnd=1, resent=0) * 2
    assert parse_rows(sent[:-1])[0].size == 1
    assert parse_rows(row(BYTES, 0, 0.0, 1)[:-1])[1].size == 0


def test_a_round_trip_that_is_not_known_yet_is_none():
    """identity: the kernel writes 0 before the first."""
    sent = state(0, 0.05, rtt_us=0, cwnd=10, resent=0)
    sent += state(0, 0.15, rtt_us=25_000, cwnd=12, resent=0)
    rtt_s = recording(sent=sent, ended_s=0.2).trajectory().rtt_s
    assert np.isnan(rtt_s[0])
    assert rtt_s[1] == pytest.approx(0.025)


def test_the_last_step_of_a_course_may_be_shorter():
    """derived: 1 MB/s all the time, also in the last 50 ms."""
    rows = row(BYTES, 0, 0.0, 0) + row(BYTES, 0, 0.25, 250_000)
    course = recording(received=rows, ended_s=0.25).trajectory()
    assert course.time_s.tolist() == pytest.approx([0.1, 0.2, 0.25])
    assert course.goodput_bps[:, 0].tolist() == pytest.approx([8e6] * 3)


def test_without_the_log_of_the_bottleneck_its_queue_is_unknown():
    """identity: unknown is not zero."""
    rows = row(BYTES, 0, 0.0, 0) + row(BYTES, 0, 4.0, 4e6)
    found = replace(recording(received=rows), queue=None)
    means = found.result()
    unknown = [means.queue_mean_bytes, means.queue_median_bytes, means.queue_p95_bytes,
               means.drop_count, *means.trajectory.queue_bytes]  # fmt: skip
    assert np.isnan(unknown).all()
    assert means.goodput_bps.tolist() == pytest.approx([8e6]), "derived: 3 MB in 3 s"
    assert means.as_dict()["drop_count"] is None


def test_the_logs_of_several_senders_are_read_one_by_one():
    """identity: a row that one host had not finished ends that log alone."""
    one = state(0, 0.05, rtt_us=21_000, cwnd=10, resent=0)
    other = state(1, 0.05, rtt_us=22_000, cwnd=20, resent=0)
    states, _, _ = parse_rows(one + other[:-1], other)
    assert states["index"].tolist() == [0, 1]
    assert states["cwnd"].tolist() == [10, 20]
