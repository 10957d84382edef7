"""Live transfers from a source to a sink: counts are exact, times are only plausible.

Where a number comes from: sizes, counts and buffers of the book's experiment are published (Snader,
Effective TCP/IP Programming, tables 2.2 and 2.3, listing 2.18); twice the buffer is what socket(7)
says that Linux grants; segments are derived (MTU less 40 of headers and 12 of timestamps).
"""

from __future__ import annotations

import math
import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from netcalc import samples
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments import bulk
from netcalc.experiments import transfer as transfers
from netcalc.experiments.peers import process
from netcalc.experiments.running import record
from netcalc.experiments.transfer import TransferEnds
from netcalc.messages import Notice
from netcalc.path import Path as NetPath
from netcalc.samples import BulkSamples

pytestmark = pytest.mark.live


def test_the_books_experiment(nothing_left):
    result = bulk(run_count=2)
    assert result.write_bytes.tolist() == [1440, 300, 1440, 300], "the sizes take turns"
    assert set(result.write_count) == {5000}
    assert result.sent_bytes.tolist() == [7_200_000, 1_500_000] * 2
    assert result.received_bytes.tolist() == result.sent_bytes.tolist()
    assert set(result.asked_buffer_bytes) == {32_768}
    assert np.isnan(result.lost_count).all(), "a stream loses no datagrams"
    assert (result.wall_s > 0).all()
    assert (result.delivery_s > 0).all()
    assert (result.sent_rate_bps > 0).all()
    assert not result.meta.partial


def test_datagrams_are_counted_where_they_arrive(nothing_left):
    result = bulk(protocol="udp", write_count=2000, run_count=2)
    assert set(result.write_count) == {2000}
    arrived = result.received_bytes / result.write_bytes
    assert (arrived == np.round(arrived)).all(), "datagrams arrive whole or not at all"
    assert result.lost_count.tolist() == (2000 - arrived).tolist()
    np.testing.assert_allclose(result.loss_ratio, result.lost_count / 2000)
    assert (result.received_bytes <= result.sent_bytes).all()


@pytest.mark.parametrize("write_count", [1, 40, 1000, 1001])
def test_datagrams_handed_over_together(write_count, nothing_left):
    result = bulk(
        64, protocol="udp", write_count=write_count, run_count=1, datagrams_per_call=40,
        buffer_bytes=1_000_000,
    )  # fmt: skip
    assert result.sent_bytes.tolist() == [64 * write_count]
    assert result.received_bytes[0] % 64 == 0
    assert result.received_bytes[0] + 64 * result.lost_count[0] == 64 * write_count
    assert result.meta.instrument.damaged_count == 0


def test_extreme_writes(nothing_left):
    assert bulk([1, 1 << 24], write_count=2, run_count=1).received_bytes.tolist() == [2, 1 << 25]
    largest = bulk(65_507, protocol="udp", write_count=2, run_count=1, buffer_bytes=None)
    assert largest.sent_bytes.tolist() == [131_014]


def test_buffers_are_set_and_read_back():
    result = bulk(1000, write_count=10, run_count=1, buffer_bytes=[8192, 32_768])
    assert result.asked_buffer_bytes.tolist() == [8192, 32_768]
    assert result.send_buffer_bytes.tolist() == [16_384, 65_536], "socket(7): doubled"
    assert result.receive_buffer_bytes.tolist() == [16_384, 65_536]
    free = bulk(1000, write_count=10, run_count=1, buffer_bytes=None)
    assert np.isnan(free.asked_buffer_bytes).all()


def test_a_buffer_of_the_receiver_alone_leaves_the_other_to_the_kernel():
    """identity: the sender has that of a run without any; it is smaller, without a warning."""
    free = bulk(1000, write_count=10, run_count=1, buffer_bytes=None)
    alone = bulk(1000, write_count=10, run_count=1, buffer_bytes=100_000, buffer_end="receiver")
    assert alone.receive_buffer_bytes.tolist() == [200_000], "socket(7): doubled"
    assert alone.send_buffer_bytes.tolist() == free.send_buffer_bytes.tolist()
    assert [one.code for one in alone.meta.warnings if "buffer" in one.code] == []


def test_a_buffer_that_is_not_granted_is_told():
    result = bulk(1000, write_count=10, run_count=1, buffer_bytes=1 << 30)
    limit = 2 * int(Path("/proc/sys/net/core/wmem_max").read_text())
    assert result.send_buffer_bytes.tolist() == [limit], "socket(7): twice wmem_max at most"
    assert any(
        one.code == "buffer-not-granted" and one.values["requested_bytes"] == 1 << 30
        for one in result.meta.warnings
    )


def test_congestion_control_is_set_and_read_back():
    result = bulk(1000, write_count=10, run_count=1, congestion_control="reno")
    assert result.meta.instrument.congestion_control == "reno"


def test_a_congestion_control_that_is_not_granted_is_refused_with_the_list(nothing_left):
    with pytest.raises(ExperimentError) as caught:
        bulk(congestion_control="nosuch")
    assert caught.value.code == "congestion-control-refused"
    assert caught.value.values["wanted"] == "nosuch"
    allowed = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control").read_text().split()
    assert ", ".join(allowed) in caught.value.hint
    assert caught.value.phase == "congestion control"


REFUSED = [
    ({"write_bytes": 0}, "write_bytes", "not-whole"),
    ({"write_bytes": 1.5}, "write_bytes", "not-whole"),
    ({"write_bytes": math.nan}, "write_bytes", "whole-out-of-range"),
    ({"write_bytes": []}, "write_bytes", "not-one-dimensional"),
    ({"write_bytes": (1 << 24) + 1}, "write_bytes", "whole-out-of-range"),
    ({"write_bytes": 65_508, "protocol": "udp"}, "write_bytes", "whole-out-of-range"),
    ({"protocol": "sctp"}, "protocol", "not-a-choice"),
    ({"write_count": 0}, "write_count", "not-whole"),
    ({"run_count": 0}, "run_count", "not-whole"),
    ({"buffer_bytes": 0}, "buffer_bytes", "not-whole"),
    ({"buffer_end": "sender"}, "buffer_end", "not-a-choice"),
    ({"buffer_bytes": -5}, "buffer_bytes", "not-whole"),
    ({"limit_s": 0}, "limit_s", "out-of-range"),
    ({"limit_s": 86_400}, "limit_s", "out-of-range"),
    ({"mtu_bytes": 67}, "mtu_bytes", "not-whole"),
    ({"mtu_bytes": 65_537}, "mtu_bytes", "whole-out-of-range"),
    ({"mtu_bytes": 1279, "host": "::1"}, "mtu_bytes", "not-whole"),
    ({"mtu_bytes": 1500.5}, "mtu_bytes", "not-whole"),
    (
        {"write_bytes": 65_528, "protocol": "udp", "host": "::1"},
        "write_bytes", "whole-out-of-range",
    ),
    ({"link_buffer_bytes": 0}, "link_buffer_bytes", "not-whole"),
    ({"loss_ratio": 0.1}, "loss_ratio", "loss-needs-path"),
    ({"loss_ratio": 1.5}, "loss_ratio", "out-of-range"),
    ({"loss_ratio": math.nan}, "loss_ratio", "out-of-range"),
    ({"seed": -1}, "seed", "not-whole"),
    ({"datagrams_per_call": 2}, "datagrams_per_call", "not-with-tcp"),
    ({"datagrams_per_call": 65, "protocol": "udp"}, "datagrams_per_call", "whole-out-of-range"),
    ({"congestion_control": "reno", "protocol": "udp"}, "congestion_control", "not-with-udp"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "name", "code"), REFUSED)
def test_impossible_numbers_are_refused(arguments, name, code, no_packet):
    with pytest.raises(DomainError) as caught:
        bulk(**arguments)
    assert (caught.value.name, caught.value.code) == (name, code)


MTU = ("write_bytes", "larger-than-mtu")


@pytest.mark.parametrize(
    ("arguments", "name", "code", "high"),
    [
        # derived: 1487 less 40 of IPv6 and 8 of UDP; 1467 less 20 of IPv4 and 8; 65,507 / 1440
        ({"datagrams_per_call": 2, "host": "::1", "mtu_bytes": 1487}, *MTU, 1439),
        ({"datagrams_per_call": 2, "mtu_bytes": 1467}, *MTU, 1439),
        ({"datagrams_per_call": 46}, "datagrams_per_call", "too-large-together", 45),
    ],
)
def test_datagrams_that_do_not_fit_one_call(arguments, name, code, high, no_packet):
    with pytest.raises(DomainError) as caught:
        bulk(protocol="udp", **arguments)
    error = caught.value
    assert (error.name, error.code, error.values["high"]) == (name, code, high)


def test_another_host_is_refused(no_packet):
    with pytest.raises(ExperimentError) as caught:
        bulk(host="192.0.2.1")
    assert (caught.value.code, caught.value.phase) == ("target-not-loopback", "target")


@pytest.mark.parametrize(
    ("arguments", "code", "estimate"),
    [
        ({"run_count": 5001}, "too-many-transfers", {"count": 10_002, "limit": 10_000}),
        # derived: (1440 + 300) x 5,000,000 x 5
        (
            {"write_count": 5_000_000},
            "too-many-transfer-bytes",
            {"carried_bytes": 43_500_000_000, "limit_bytes": 20_000_000_000},
        ),
    ],
)
def test_a_run_beyond_a_limit_is_refused_with_its_estimate(arguments, code, estimate, no_packet):
    with pytest.raises(ExperimentError) as caught:
        bulk(**arguments)
    assert (caught.value.phase, caught.value.code) == ("plan", code)
    assert estimate.items() <= caught.value.values.items()


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_a_transfer_ends_at_its_limit_of_time(protocol, nothing_left):
    result = bulk(64, protocol=protocol, write_count=10**7, run_count=1, limit_s=0.02)
    assert 0 < result.sent_bytes[0] < 64 * 10**7
    assert Notice("cut-transfers", {"count": 1}) in result.meta.warnings
    assert not result.meta.partial


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_a_stop_within_a_transfer_keeps_its_part(protocol, nothing_left, tmp_path):
    received = [0]
    result = bulk(
        1440, protocol=protocol, write_count=10**6, run_count=3, limit_s=30,
        stop=lambda: received[-1] > 0, progress=lambda *now: received.append(now[2]),
        save=tmp_path / "run.json",
    )  # fmt: skip
    assert len(result) == 1
    assert 0 < result.sent_bytes[0] < 1440 * 10**6
    assert result.received_bytes[0] > 0
    assert result.meta.partial
    assert str(result.meta.warnings[0]) == "the run was ended by stop after 0 of 3 transfers"
    assert BulkSamples.load(tmp_path / "run.json").sent_bytes.tolist() == result.sent_bytes.tolist()


def after(count, act):
    def progress(done, total, received_bytes):
        if done == count:
            act()

    return progress


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_progress_is_told_within_a_transfer(protocol, nothing_left, tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(record, "SAVE_S", 0.0)
    result = bulk(
        1440, protocol=protocol, write_count=10**7, run_count=1, limit_s=1.0, buffer_bytes=None,
        progress=lambda *what: told.append(what), save=tmp_path / "run.json",
    )  # fmt: skip
    done, total, moved = zip(*told, strict=True)
    assert set(total) == {1}
    assert len(told) >= 2, "ten in a second, on a busy machine fewer"
    assert 0 < done[0] < 1
    assert done[-1] == 1
    assert list(done) == sorted(done)
    assert list(moved) == sorted(moved)
    assert moved[-1] == result.received_bytes[0]
    kept = BulkSamples.load(tmp_path / "run.json").meta.instrument.intervals
    assert set(kept["row"]) == {0}
    assert kept["at_s"] == sorted(kept["at_s"])
    assert 0 <= kept["received_bytes"][0] <= kept["received_bytes"][-1] <= moved[-1]


def test_a_long_transfer_is_saved_while_it_goes_on(nothing_left, tmp_path, monkeypatch):
    monkeypatch.setattr(record, "SAVE_S", 0.0)
    seen = []

    def look(done, total, moved):
        if done < 1 and (tmp_path / "run.json").exists():
            seen.append(BulkSamples.load(tmp_path / "run.json"))

    result = bulk(
        1440, write_count=10**7, run_count=1, limit_s=1.0, progress=look,
        save=tmp_path / "run.json",
    )  # fmt: skip
    assert seen[-1].meta.partial
    row = seen[-1].columns()
    assert len(seen[-1]) == 1, "the transfer that is in progress"
    assert 0 < row["received_bytes"][0] < result.received_bytes[0]
    # derived: its rate so far is near that of all of it; the two ends report at other times
    assert row["received_bytes"][0] / row["wall_s"][0] == pytest.approx(
        result.received_bytes[0] / result.wall_s[0], rel=0.9
    )
    assert seen[-1].meta.instrument.intervals["at_s"][0] > 0


def test_short_transfers_tell_at_their_ends_alone():
    told = []
    result = bulk(1440, write_count=10, run_count=3, progress=lambda *what: told.append(what))
    assert result.meta.instrument.intervals is None
    assert told[-1] == (3, 3, 43_200)
    assert all(done == int(done) for done, _, _ in told)


def test_first_ctrl_c_gives_back_what_was_measured(nothing_left, monkeypatch):
    monkeypatch.setattr(record, "PROGRESS_S", 0.0)
    act = after(3, lambda: os.kill(os.getpid(), signal.SIGINT))
    result = bulk(1440, write_count=50, run_count=20, progress=act)
    assert (len(result), result.meta.partial) == (3, True)
    assert result.meta.instrument.ended_by == "interrupt"


def test_second_ctrl_c_forces(nothing_left, monkeypatch):
    def twice():
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(record, "PROGRESS_S", 0.0)
    with pytest.raises(KeyboardInterrupt):
        bulk(1440, write_count=50, run_count=20, progress=after(3, twice))


@pytest.mark.parametrize("which", ["source", "sink"])
@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_a_killed_end_is_named_and_the_rows_before_are_kept(
    which, protocol, nothing_left, monkeypatch
):
    move, done = TransferEnds.move, []

    def killing(ends, transfer):
        done.append(1)
        if len(done) == 3:
            os.kill(getattr(ends, which).pid, signal.SIGKILL)
        move(ends, transfer)

    monkeypatch.setattr(TransferEnds, "move", killing)
    with pytest.raises(ExperimentError) as caught:
        bulk(1440, protocol=protocol, write_count=1000, run_count=5)
    assert caught.value.code in ("peer-ended", "peer-closed")
    assert caught.value.values.get("status", "SIGKILL") == "SIGKILL"
    assert len(caught.value.partial) == 2


def test_an_end_that_hangs_is_given_up(nothing_left, monkeypatch):
    move = TransferEnds.move

    def hanging(ends, transfer):
        os.kill(ends.sink.pid, signal.SIGSTOP)
        move(ends, transfer)

    monkeypatch.setattr(TransferEnds, "move", hanging)
    monkeypatch.setattr(transfers, "GRACE_S", 0.1)
    with pytest.raises(ExperimentError) as caught:
        bulk(1440, write_count=5000, run_count=1, limit_s=0.05)
    assert (caught.value.code, caught.value.values["grace_s"]) == ("transfer-overdue", 0.1)


def test_both_ends_die_with_a_parent_that_is_killed():
    script = """
import os, signal
from netcalc.experiments import bulk
from netcalc.experiments.transfer import TransferEnds
move = TransferEnds.move
def told(ends, transfer):
    print(ends.source.pid, ends.sink.pid, flush=True)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    move(ends, transfer)
TransferEnds.move = told
signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
bulk(1440, write_count=10**6, run_count=2, limit_s=60)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as program:
        numbers = program.stdout.readline().split()
        handles = [os.pidfd_open(int(number)) for number in numbers]
        assert program.wait(30) == -signal.SIGKILL
    for handle in handles:
        assert select.select([handle], [], [], 1.0)[0], "it ends within a second"
        os.close(handle)


def test_two_runs_at_once_do_not_meet(nothing_left):
    results = {}

    def one(protocol):
        results[protocol] = bulk(1440, protocol=protocol, write_count=500, run_count=3)

    threads = [threading.Thread(target=one, args=(protocol,)) for protocol in ("udp", "tcp")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results["tcp"].received_bytes.tolist() == [720_000] * 3
    assert (results["udp"].received_bytes <= 720_000).all()


def test_the_run_describes_itself_and_its_command_runs_again(tmp_path):
    result = bulk(1440, write_count=10, run_count=1, save=tmp_path / "run.json")
    meta = result.meta
    assert (meta.tool, meta.target) == ("netcalc bulk", "loopback, TCP")
    again = eval(meta.command, {"bulk": bulk})
    assert again.sent_bytes.tolist() == result.sent_bytes.tolist()
    for name in ("timer_resolution_s", "scheduling_delay_p99_s", "timer_slack_s"):
        assert getattr(meta.instrument, name) > 0
    kept = BulkSamples.load(tmp_path / "run.json")
    for name, column in result.columns().items():
        np.testing.assert_array_equal(kept.columns()[name], column, err_msg=name)


def test_a_file_that_cannot_be_written_is_refused_before_the_run(tmp_path, no_packet):
    with pytest.raises(ExperimentError) as caught:
        bulk(save=tmp_path)
    assert caught.value.code == "file-is-directory"


@pytest.mark.namespace
@pytest.mark.parametrize(
    ("mtu_bytes", "host", "headers_bytes"),
    [(1500, "127.0.0.1", 52), (16_384, "127.0.0.1", 52), (65_536, "127.0.0.1", 52),
     (1500.0, "::1", 72)],
)  # fmt: skip
def test_a_loopback_of_another_mtu(mtu_bytes, host, headers_bytes, nothing_left):
    host_mtu = Path("/sys/class/net/lo/mtu").read_text()
    result = bulk(1440, write_count=200, run_count=1, mtu_bytes=mtu_bytes, host=host)
    assert result.received_bytes.tolist() == [288_000]
    # tcp(7) has no segment above 32 KiB in flight where the window is smaller than two of them.
    segment = result.meta.instrument.mss_bytes
    assert segment == mtu_bytes - headers_bytes or segment < mtu_bytes == 65_536
    assert result.meta.instrument.loopback_mtu_bytes == mtu_bytes
    assert Path("/sys/class/net/lo/mtu").read_text() == host_mtu


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_ipv6_loopback(protocol, nothing_left):
    if not Path("/proc/net/if_inet6").read_text():
        with pytest.raises(ExperimentError) as caught:
            bulk(1440, protocol=protocol, write_count=10, run_count=1, host="::1")
        assert caught.value.host == "::1"
        return
    result = bulk(1440, protocol=protocol, write_count=10, run_count=1, host="::1")
    assert result.sent_bytes.tolist() == [14_400]
    assert result.meta.instrument.address_family == "IPv6"
    assert eval(result.meta.command, {"bulk": bulk}).sent_bytes.tolist() == [14_400]


@pytest.mark.namespace
@pytest.mark.parametrize(("host", "family"), [("127.0.0.1", "IPv4"), ("::1", "IPv6")])
def test_what_is_in_flight_over_a_path(host, family, nothing_left):
    # Long enough that a sender that is not scheduled for a while sees the window all the same.
    result = bulk(
        1440, write_count=300, run_count=1, buffer_bytes=[8192, 32_768], host=host,
        path=NetPath.parse("10 Mbit/s 10 ms"), link_buffer_bytes=100_000,
    )  # fmt: skip
    assert result.received_bytes.tolist() == [432_000] * 2
    assert result.meta.instrument.address_family == family
    # socket(7): the kernel grants twice what is asked for, so more than that is never in flight.
    assert (result.window_bytes <= 2 * result.asked_buffer_bytes).all()
    assert (result.window_bytes >= 1440).all()
    # Derived: at most a window each round trip; the 20 ms are the propagation alone.
    assert (result.goodput_bps <= 8 * result.window_bytes / 0.020 + 8 * 1440 / 0.020).all()
    # and at least two segments in a round trip and the 40 ms of a delayed acknowledgement
    facts = result.meta.instrument
    late_s = 2 * (facts.scheduling_delay_p99_s + facts.wire_lateness_p99_s)
    assert (result.goodput_bps >= 8 * 2880 / (0.060 + 2 * 1.2e-3 + late_s)).all()


@pytest.mark.namespace
def test_a_path_loses_what_it_is_told_to(nothing_left):
    result = bulk(
        100, protocol="udp", write_count=200, run_count=1, buffer_bytes=None,
        path=NetPath.parse("10 Mbit/s 1 ms"), loss_ratio=0.25, seed=3,
    )  # fmt: skip
    # Derived: 50 of 200 with a deviation of 6.1; within six of them.
    assert 14 <= result.lost_count[0] <= 86
    assert result.meta.instrument.truth["links"]["loss_ratio"] == 0.25
    assert "loss_ratio=0.25, seed=3)" in result.meta.command


@pytest.mark.namespace
def test_a_stream_loses_nothing_of_what_the_path_loses(nothing_left):
    result = bulk(
        1440, write_count=200, run_count=1, buffer_bytes=None, congestion_control="reno",
        path=NetPath.parse("10 Mbit/s 1 ms"), loss_ratio=0.02, limit_s=30.0,
    )  # fmt: skip
    assert result.received_bytes.tolist() == [288_000]


def test_nothing_is_in_flight_of_datagrams():
    result = bulk(1440, protocol="udp", write_count=10, run_count=1)
    assert np.isnan(result.window_bytes).all()


def test_a_namespace_that_is_refused_is_told(monkeypatch, nothing_left):
    class NoRoom(process.Namespace):
        def __init__(self, **options):
            super().__init__(**{**options, "own": False})
            self.refused = "Operation not permitted"

    monkeypatch.setattr(process, "Namespace", NoRoom)
    with pytest.raises(ExperimentError) as caught:
        bulk(mtu_bytes=1500)
    error = caught.value
    assert (error.code, error.values["reason"]) == ("namespace-refused", "Operation not permitted")


def made(**columns):
    """Return samples of one row with given columns, all others known."""
    row = {
        "write_bytes": 1440, "write_count": 5000, "sent_bytes": 7.2e6, "received_bytes": 7.2e6,
        "wall_s": 1.0, "delivery_s": 1.0,
    }  # fmt: skip
    return BulkSamples(**{name: [value] for name, value in (row | columns).items()})


def test_rates_of_the_book():
    # published: UDP to the sparc, 440 of 5000 lost in 5.8284 s; 1.235 MB/s sent, 1.127 delivered.
    run = made(wall_s=5.8284, delivery_s=5.8284, received_bytes=4560 * 1440, lost_count=440)
    assert float(run.sent_rate_bps[0]) / 8e6 == pytest.approx(1.235, abs=5e-4)
    assert float(run.goodput_bps[0]) / 8e6 == pytest.approx(1.127, abs=5e-4)
    assert float(run.loss_ratio[0]) == 0.088
    assert float(run.sent_rate_pps[0]) == pytest.approx(5000 / 5.8284)
    assert float(run.rate_pps[0]) == pytest.approx(4560 / 5.8284)


@pytest.mark.parametrize(
    ("user_s", "system_s", "wait_count", "saturated"),
    [(0.1, 0.6, 5, True), (0.1, 0.6, 500, False), (0.05, 0.1, 5, False), (np.nan, 1, 5, False)],
)
def test_a_sender_that_works_and_never_waits_is_the_limit(user_s, system_s, wait_count, saturated):
    run = made(user_s=user_s, system_s=system_s, wait_count=wait_count)
    assert run.saturated.tolist() == [saturated]


def test_medians_by_size():
    run = BulkSamples(
        write_bytes=[300, 1440, 300, 300], write_count=[1] * 4, sent_bytes=[300, 1440, 300, 300],
        received_bytes=[300, 1440, 300, 0], wall_s=[1, 2, 3, np.nan], delivery_s=[1.0] * 4,
    )  # fmt: skip
    found = run.medians("wall_s", "goodput_bps")
    assert found["write_bytes"].tolist() == [300, 1440]
    assert found["wall_s"].tolist() == [2, 2], "by hand: of 1 and 3, of 2"
    assert found["goodput_bps"].tolist() == [2400, 11520], "by hand: of 2400, 2400 and 0"


def test_no_time_and_nothing_sent_warn_of_nothing():
    run = made(wall_s=0.0, delivery_s=0.0, sent_bytes=0, received_bytes=0, write_count=0)
    assert np.isnan(run.sent_rate_bps[0])
    assert np.isnan(run.loss_ratio[0])
    assert samples.KINDS["BulkSamples"] is BulkSamples
