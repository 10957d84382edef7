"""Runs with a peer on a second machine; here it is a thread, and the network is the loopback."""

import platform
import socket
import struct
import sys
import threading
import time
from contextlib import ExitStack, suppress
from types import SimpleNamespace

import numpy as np
import pytest

from netcalc import experiments
from netcalc.compare import overlay
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments import far_transfer, transfer
from netcalc.experiments.peers import bulk_peer, channel, far_echo, far_trains, remote, service
from netcalc.experiments.peers.remote import FarEnd, FarPeer
from netcalc.experiments.peers.responder import TAG_BYTES
from netcalc.experiments.running.stopping import Stopping
from netcalc.path import Path
from netcalc.samples import load
from tests.experiments.conftest import serving

bulk_module = sys.modules[experiments.bulk.__module__]  # the package has the function so named
probing_module = sys.modules[experiments.packet_trains.__module__]


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_echo(far, protocol):
    sizes = (8, 1400) if protocol == "tcp" else (0, 4, 8, 1400)
    samples = experiments.echo(sizes, count=5, protocol=protocol, peer=far.peer)
    assert samples.payload_bytes.tolist() == [size for size in sizes for _ in range(5)]
    assert not samples.lost.any()
    assert (samples.rtt_s > 0).all()
    # Five probes and five of warm-up for each size.
    assert samples.meta.instrument.peer_echoed_count == 10 * len(sizes)
    assert samples.meta.target == f"127.0.0.1, {protocol.upper()}"


UDP_LINE = {
    "protocol": "udp", "count": 1, "buffer_bytes": 0, "congestion_control": "", "one_port": 1,
}  # fmt: skip
"""An order for a line of datagrams."""


def test_datagrams_of_strangers_are_no_part_of_a_run(far):
    """They come before the line knows its client, and from then on not at all."""
    with (
        Stopping(None, limit_s=30) as stopping,
        FarEnd(far.peer, stopping=stopping) as end,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger,
    ):
        number = end.order("open", **UDP_LINE)
        (ticket,) = end.answer(number)["tickets"]
        for sock in (stranger, own):
            sock.connect(end.address)
        stranger.send(b"before" * 10)
        own.send(ticket)
        stranger.send(b"after" * 10)
        end.answer(number)
        own.send(ticket)  # as where the first one seemed lost
        job = end.order(
            "receive", line=number, write_bytes=100, read_bytes=65_536, wake_bytes=1, merged=0,
            reply_bytes=0,
        )  # fmt: skip
        own.send(bytes(100))
        end.order("end", job=job, now=0, sent_bytes=100, linger_ms=200, drain_ms=0)
        report = end.answer(job)
    assert (report["received_bytes"], report["damaged_count"]) == (100, 0)


def test_a_line_of_datagrams_serves_a_second_job_after_one_that_was_ended(far):
    with (
        Stopping(None, limit_s=30) as stopping,
        FarEnd(far.peer, stopping=stopping) as end,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own,
    ):
        line = end.open([own])
        own.settimeout(5.0)
        for _ in range(2):
            number = end.echo(line, 100)
            own.send(b"1234" + line.session[:4])
            assert own.recv(100) == b"1234" + line.session[:4]
            assert end.end(number)["echoed"] == 1


def test_an_echo_of_one_port_answers_no_other(far):
    """Datagrams of 8 bytes and more are told apart by their tags, so one socket has them all."""
    with (
        Stopping(None, limit_s=30) as stopping,
        FarEnd(far.peer, stopping=stopping) as end,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other,
    ):
        line = end.open([own])
        number = end.echo(line, 100)
        tagged = b"1234" + line.session[:4]
        other.connect(end.address)
        own.settimeout(5.0)
        other.settimeout(0.2)
        own.send(tagged)
        assert own.recv(100) == tagged
        other.send(tagged)
        own.send(b"5678abcd")  # of another session
        own.send(tagged + b"more")
        assert own.recv(100) == tagged + b"more"
        with pytest.raises((TimeoutError, ConnectionRefusedError)):
            other.recv(100)
        report = end.end(number)
    assert (report["echoed"], report["refused"], report["unsent"]) == (2, 1, 0)
    assert report["received_bytes"] == 8 + 8 + 12


def test_both_hosts_are_in_the_facts_and_the_token_is_not(far, tmp_path):
    file = tmp_path / "far.json"
    samples = experiments.echo([100], count=2, peer=far.peer, save=file)
    there = samples.meta.instrument.peer_machine
    assert there["host"] == samples.meta.host  # the same machine here
    assert there["python"] == platform.python_version()
    assert 0 < samples.meta.instrument.peer_processor_ratio <= 1
    assert "the peer's timers" in experiments.measurement_error(samples)
    assert "peer=FarPeer(host='127.0.0.1'" in samples.meta.command
    assert far.service.token not in file.read_text()
    assert load(file).meta.instrument.peer_machine == there


def test_an_echo_to_a_peer_is_overlaid_like_any_other(far):
    samples = experiments.echo([8, 500, 1400], count=20, peer=far.peer)
    drawn = overlay(samples, path=Path.parse("1 Gbit/s 10 us"))
    assert drawn.x.tolist() == [8.0, 500.0, 1400.0]
    assert drawn.residual.size == 3


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
@pytest.mark.parametrize(
    ("direction", "ways"),
    [
        ("forward", ["forward"]),
        ("back", ["back"]),
        ("both", ["forward of both", "back of both"]),
    ],
)
def test_bulk(far, protocol, direction, ways):
    samples = experiments.bulk(
        1000, peer=far.peer, protocol=protocol, direction=direction,
        write_count=30, run_count=2, buffer_bytes=None,
    )  # fmt: skip
    assert samples.direction.tolist() == ways * 2
    assert samples.sent_bytes.tolist() == [30_000.0] * len(ways) * 2
    lost = samples.lost_count if protocol == "udp" else np.zeros(len(samples))
    assert (samples.received_bytes == 30_000 - 1000 * lost).all()
    # The clock of the peer is that of this process here; what it is taken to be may be off by
    # what the run says of it.
    assert (samples.delivery_s > -samples.meta.instrument.clock_error_s).all()


def test_datagrams_of_many_runs_take_no_more_of_the_peer(far):
    samples = experiments.line_rate([64, 500], duration_s=0.01, run_count=5, peer=far.peer)
    assert len(samples) == 10
    assert samples.meta.partial is False


def test_requested_buffers_are_those_of_both_ends(far):
    samples = experiments.bulk(
        1000, peer=far.peer, direction="back", write_count=10, run_count=1, buffer_bytes=30_000
    )
    # Linux grants twice the requested buffer.
    assert samples.send_buffer_bytes.tolist() == [60_000.0]
    assert samples.receive_buffer_bytes.tolist() == [60_000.0]


def test_frames_become_datagrams_of_the_address_family():
    with serving(host="::1") as served:
        samples = experiments.line_rate([128, 1518], duration_s=0.02, run_count=1, peer=served.peer)
    # Ethernet header and FCS 18, IPv6 40, UDP 8.
    assert samples.write_bytes.tolist() == [128 - 66, 1518 - 66]


def test_a_run_has_more_transfers_than_a_peer_does_at_once():
    with serving(connections=1) as served:
        samples = experiments.line_rate(
            [64, 128, 256, 512, 1024, 1518], duration_s=0.01, run_count=1, peer=served.peer
        )
    # Ethernet header and FCS 18, IPv4 20, UDP 8.
    assert samples.write_bytes.tolist() == [size - 46 for size in (64, 128, 256, 512, 1024, 1518)]


@pytest.mark.parametrize("direction", ["forward", "back"])
def test_lockstep(far, direction):
    samples = experiments.lockstep(
        [1, 3], duration_s=0.5, run_count=1, peer=far.peer, direction=direction
    )
    assert samples.pair_count.tolist() == [1.0, 3.0]
    assert (samples.received_bytes % 1460 == 0).all()
    assert (samples.received_bytes > 0).all()
    assert (samples.cycle_s > 0).all()


def test_small_writes(far):
    samples = experiments.small_writes(modes=["nodelay", "single"], count=4, peer=far.peer)
    assert samples.modes == ("nodelay", "single")
    assert not samples.failed.any()
    assert samples.payload_bytes.tolist() == [13.0] * 8


@pytest.mark.skipif(sys.platform != "linux", reason="another system delays by another time")
def test_this_machine_delays_its_acknowledgements_of_what_the_peer_writes(far):
    """Linux acknowledges at once at first, then waits 40 ms for more."""
    samples = experiments.small_writes(
        [6, 7], modes=["nagle", "single"], count=20, peer=far.peer, direction="back"
    )
    nagle_s, single_s = (samples.response_s[samples.mode == mode] for mode in samples.modes)
    assert nagle_s.size == single_s.size == 20
    assert np.median(nagle_s) > 0.035
    assert np.median(single_s) < np.median(nagle_s) / 2


@pytest.mark.parametrize(("count", "interval_s"), [(10_000, 0.0), (3, 30.0)])
def test_what_the_peer_has_written_until_a_stop_is_kept(far, count, interval_s):
    """The times are the peer's, and it may be in a pause between two rounds."""
    stop, begin_s, thread_count = threading.Event(), time.monotonic(), threading.active_count()
    samples = experiments.small_writes(
        [6, 7], modes=["nagle"], count=count, interval_s=interval_s, peer=far.peer,
        direction="back", stop=stop, progress=lambda done, *_: done > 0 and stop.set(),
    )  # fmt: skip
    assert time.monotonic() - begin_s < 10
    assert 0 < len(samples) < count
    assert samples.meta.instrument.ended_by == "stop"
    while threading.active_count() > thread_count:
        assert time.monotonic() - begin_s < 10, "the job of the peer has not ended"
        time.sleep(0.01)


def test_what_a_peer_wrote_before_it_ended_is_kept():
    """Its rounds come ten times a second, not only with the report that it can no more send."""
    with serving() as served, pytest.raises(ExperimentError) as caught:
        experiments.small_writes(
            [5], modes=["single"], count=2000, interval_s=0.01, peer=served.peer,
            direction="back", progress=lambda done, *_: done > 5 and served.service.end(),
        )  # fmt: skip
    assert caught.value.code == "peer-ends"
    kept = caught.value.partial
    assert kept.sequence.tolist() == list(range(1, len(kept) + 1))
    assert 5 < len(kept) < 2000


def test_transactions(far):
    samples = experiments.transactions([20, 3000], count=2, peer=far.peer, timeout_s=5.0)
    assert samples.modes == ("udp", "tfo", "tcp", "tls")
    assert not samples.failed.any()
    assert "left-out-with-peer" in [notice.code for notice in samples.meta.warnings]
    assert samples.meta.partial is False


def test_the_session_of_transactions_outlives_the_progress_after_it(far, monkeypatch):
    """A client that was busy meanwhile reads both at once."""
    monkeypatch.setattr(service, "REPORT_S", 0.01)
    with Stopping(None, limit_s=30) as stopping, FarEnd(far.peer, stopping=stopping) as end:
        number = end.order("transactions", message_bytes=100, tls=0, fast_open=0)
        deadline_s = time.monotonic() + 10
        while not end.so_far(number) and time.monotonic() < deadline_s:
            end.poll()
            time.sleep(0.01)
        assert "at_ns" in end.so_far(number)
        assert len(end.answer(number)["session"]) == TAG_BYTES
        end.end(number)


@pytest.mark.parametrize("direction", ["forward", "back"])
def test_trains(far, direction):
    samples = experiments.packet_trains(
        1200, packet_count=3, count=4, peer=far.peer, direction=direction
    )
    assert samples.index.tolist() == [1.0, 2.0, 3.0] * 4
    assert samples.packet_bytes.tolist() == [1228.0] * 12
    waited_s = samples.received_s - samples.sent_s
    assert (waited_s > -samples.meta.instrument.clock_error_s).all()
    assert (waited_s < 2.0).all()


def test_the_clock_of_a_peer_is_measured_again_in_a_long_run(far, monkeypatch):
    """Else the times of one way would drift by as much as the two clocks do, in ten minutes."""
    measure, errors_ns = FarEnd.measure_clock, []

    def noted(end):
        errors_ns.append(measure(end).error_ns)
        return end.clock

    monkeypatch.setattr(FarEnd, "measure_clock", noted)
    monkeypatch.setattr(probing_module, "CLOCK_AGAIN_S", 0.0)
    samples = experiments.packet_trains(200, count=3, peer=far.peer)
    assert len(errors_ns) == 4  # with the train of the warm-up
    assert samples.meta.instrument.clock_error_s == pytest.approx(max(errors_ns) * 1e-9)


def test_the_rates_of_its_own_calls(far):
    with Stopping(None, limit_s=30) as stopping, FarEnd(far.peer, stopping=stopping) as end:
        send_pps, receive_pps = end.own_rates(100, limit_s=0.05)
    # A call of the system takes between 0.1 us and, on a crowded machine, some ms.
    assert 100 < send_pps < 1e7
    assert 100 < receive_pps < 1e7


def test_a_clock_that_is_ahead_by_an_hour(far, monkeypatch):
    ahead_ns = 3_600 * 10**9
    in_thread = threading.main_thread()

    def late():
        own_ns = time.monotonic_ns()
        return own_ns if threading.current_thread() is in_thread else own_ns + ahead_ns

    monkeypatch.setattr(far_trains, "_clock", late)
    monkeypatch.setattr(bulk_peer, "_clock", late)
    monkeypatch.setattr(time, "perf_counter_ns", late)
    samples = experiments.bulk(1000, peer=far.peer, write_count=10, run_count=1, buffer_bytes=None)
    assert 0 < samples.delivery_s[0] + samples.meta.instrument.clock_error_s < 10


def test_a_second_client_is_told_that_the_peer_is_busy(far):
    with (
        Stopping(None, limit_s=30) as stopping,
        FarEnd(far.peer, stopping=stopping),
        pytest.raises(ExperimentError) as caught,
    ):
        experiments.echo([100], count=1, peer=far.peer)
    assert caught.value.code == "peer-busy"
    assert experiments.echo([100], count=1, peer=far.peer).lost.tolist() == [False]


def test_another_token(far):
    other = FarPeer("127.0.0.1", token="aaaa-aaaa-aaaa-aaaa", port=far.peer.port)
    with pytest.raises(ExperimentError) as caught:
        experiments.echo([100], count=1, peer=other)
    assert caught.value.code == "far-peer-wrong-token"
    assert far.log.count("peer-wrong-token") == 1


def test_a_limit_of_bytes_keeps_what_was_measured():
    with serving(carried_bytes=100_000) as served, pytest.raises(ExperimentError) as caught:
        experiments.bulk(1000, peer=served.peer, write_count=20, run_count=1000, buffer_bytes=None)
    assert caught.value.code == "peer-limit-bytes"
    assert caught.value.partial.sent_bytes[:4].tolist() == [20_000.0] * 4


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
@pytest.mark.parametrize("direction", ["forward", "back"])
def test_a_limit_of_bytes_holds_within_a_transfer(direction, protocol):
    """Of 14 MB only the last read is beyond it, or the last write."""
    with serving(carried_bytes=10**6) as served:
        with pytest.raises(ExperimentError) as caught:
            experiments.bulk(
                1400, peer=served.peer, direction=direction, protocol=protocol,
                write_count=10_000, run_count=1, buffer_bytes=None,
            )  # fmt: skip
        assert caught.value.code == "peer-limit-bytes"
    most_bytes = far_transfer.READ_BYTES if (direction, protocol) == ("forward", "tcp") else 2000
    assert 10**6 < served.service._carried_bytes <= 10**6 + most_bytes


def test_a_peer_that_says_late_why_it_closes(monkeypatch):
    """Its connections close at once, and its machine is busy with other things before it tells."""
    reached = service.Run._reached

    def late(run, now_s):
        code = reached(run, now_s)
        time.sleep(0.5 * bool(code))
        return code

    monkeypatch.setattr(service.Run, "_reached", late)
    with serving(carried_bytes=10**6) as served, pytest.raises(ExperimentError) as caught:
        experiments.bulk(1400, peer=served.peer, write_count=10_000, run_count=1,
                         buffer_bytes=None)  # fmt: skip
    assert caught.value.code == "peer-limit-bytes"


def test_an_error_that_the_peer_does_not_explain_is_asked_about_once(far, monkeypatch):
    """Several layers ask; each would wait for a reason that does not come."""
    monkeypatch.setattr(remote, "ANSWER_S", 0.2)
    error = ExperimentError("peer-closed", phase="transfer", host="127.0.0.1", port=1)
    with Stopping(None, limit_s=30) as stopping, FarEnd(far.peer, stopping=stopping) as end:
        assert end.explain(error) is error
        monkeypatch.setattr(end, "wait", lambda _: pytest.fail("waits again"))
        assert end.explain(error) is error


def test_a_limit_of_bytes_counts_responses():
    with (
        serving(carried_bytes=10**6) as served,
        Stopping(None, limit_s=30) as stopping,
        FarEnd(served.peer, stopping=stopping) as end,
        socket.socket() as sock,
    ):
        line = end.open([sock])
        job = end.order("respond", line=line.number, write_bytes=1, reply_bytes=100_000)
        sock.settimeout(5.0)
        replied_bytes = 0
        with suppress(ConnectionError):
            while replied_bytes < 5 * 10**6:
                sock.send(b"?")
                left_bytes = 100_000
                while left_bytes:
                    got = len(sock.recv(left_bytes)) or left_bytes
                    left_bytes, replied_bytes = left_bytes - got, replied_bytes + got
        with pytest.raises(ExperimentError) as caught:
            end.answer(job) and end.answer(job)
        assert caught.value.code == "peer-limit-bytes"
    assert 10**6 < served.service._carried_bytes < 1.2 * 10**6


def test_what_was_carried_never_falls():
    """A connection of a transaction has its own count; those before it still count."""
    counts = far_echo.AnswerCounts()
    counts.carry(3000)
    counts.before_bytes += 3000
    counts.carry(18)
    assert counts.sent_bytes + counts.received_bytes == 3018


def test_a_socket_of_the_client_may_have_the_port_of_the_one_before(far):
    with Stopping(None, limit_s=30) as stopping, FarEnd(far.peer, stopping=stopping) as end:
        port = 0
        for _ in range(2):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
                sock.bind(("127.0.0.1", port))
                port = sock.getsockname()[1]
                sock.settimeout(5.0)
                line = end.open([sock])
                number = end.echo(line, 100)
                sock.send(b"1234" + line.session[:4])
                assert sock.recv(100) == b"1234" + line.session[:4]
                end.end(number)


def test_a_line_of_many_ports_is_for_echoes_only(far):
    with (
        Stopping(None, limit_s=30) as stopping,
        FarEnd(far.peer, stopping=stopping) as end,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock,
    ):
        line = end.open([sock], one_port=False)
        job = end.order("catch_train", line=line.number, train=1, packet_count=2, limit_ms=100)
        with pytest.raises(ExperimentError) as caught:
            end.answer(job)
    assert caught.value.code == "far-peer-refuses"


def test_rounds_that_nobody_ordered_are_not_kept(far):
    with Stopping(None, limit_s=30) as stopping, FarEnd(far.peer, stopping=stopping) as end:
        number = end.order("clock")
        told = {"id": number, "so_far": True, "at_ns": 1, "times": [(1, 1, 1)] * 9}
        end._sort(told)
        assert list(end.new_rounds(number)) == []
        assert end.answer(number)["now_ns"]


def test_transactions_that_wait_are_bounded_by_the_limit_of_connections():
    with (
        serving(connections=2) as served,
        Stopping(None, limit_s=30) as stopping,
        FarEnd(served.peer, stopping=stopping) as end,
    ):
        end.answer(end.order("transactions", message_bytes=100, tls=0, fast_open=0))
        assert served.service._door.guest._most == 2


def test_a_limit_of_rate_is_kept_and_told():
    with serving(rate_bps=8e6) as served:
        samples = experiments.bulk(
            1000, peer=served.peer, direction="back", write_count=400, run_count=1,
            buffer_bytes=None,
        )  # fmt: skip
    # 400,000 bytes at 8 Mbit/s take 0.4 s, but for the last 20 ms and what a buffer holds.
    assert samples.wall_s[0] > 0.2
    assert "peer-limits-rate" in [notice.code for notice in samples.meta.warnings]


@pytest.mark.parametrize("count", [1, 3])
def test_a_limit_of_rate_is_one_for_all_that_a_run_sends(count):
    """Also where one write is many times what may be sent, and where several jobs send at once."""
    with (
        serving(rate_bps=1e6) as served,
        Stopping(None, limit_s=30) as stopping,
        FarEnd(served.peer, stopping=stopping) as end,
        ExitStack() as opened,
    ):
        numbers = []
        for _ in range(count):
            sock = opened.enter_context(socket.socket())
            line = end.open([sock]).number
            numbers.append(end.order(
                "send", line=line, write_bytes=1 << 20, write_count=20, datagrams_per_call=1,
                limit_ms=400, reply_bytes=0, gap_ns=0,
            ))  # fmt: skip
        reports = [end.answer(number) for number in numbers]
    begin_ns, end_ns = (pick(report[name] for report in reports)
                        for pick, name in ((min, "begin_ns"), (max, "end_ns")))  # fmt: skip
    allowed_bytes = 1e6 / 8 * (end_ns - begin_ns) * 1e-9
    sent_bytes = sum(report["sent_bytes"] for report in reports)
    # A call sends what is allowed in 20 ms, 2500 bytes: one of each job, and one after a pause.
    assert allowed_bytes / 3 < sent_bytes < allowed_bytes + 2500 * (count + 2)


FLOODS = {
    "receive": ("tcp", {"write_bytes": 65_536, "read_bytes": 1 << 20, "wake_bytes": 1, "merged": 0,
                        "reply_bytes": 0}),
    "receive datagrams": ("udp", {"write_bytes": 8000, "read_bytes": 65_536, "wake_bytes": 1,
                                  "merged": 0, "reply_bytes": 0}),
    "respond": ("tcp", {"write_bytes": 1000, "reply_bytes": 1}),
    "rounds": ("tcp", {"message_bytes": 1000, "reply_bytes": 1, "quickack": 0}),
    "flows": ("tcp", {}),
    "echo": ("tcp", {"message_bytes": 1000}),
    "echo datagrams": ("udp", {"message_bytes": 8000}),
    "echo datagrams of many ports": ("udp", {"message_bytes": 8000}),
}  # fmt: skip
"""Jobs that receive: protocol and fields of the order."""


@pytest.mark.parametrize("name", FLOODS)
def test_a_limit_of_rate_holds_for_what_a_client_sends(name):
    """Also for a client that sends as fast as it can, after a message that costs it no pause."""
    protocol, fields = FLOODS[name]
    kind = socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM
    with (
        serving(rate_bps=8e6) as served,
        Stopping(None, limit_s=30) as stopping,
        FarEnd(served.peer, stopping=stopping) as end,
        socket.socket(socket.AF_INET, kind) as sock,
    ):
        line = end.open([sock], one_port="many" not in name)
        messages = {
            "echo": struct.pack("!I", 1000) + bytes(996),
            "rounds": (line.session * 1000)[:1000],
            "echo datagrams": b"1234" + line.session[:4] + bytes(7992),
            "receive datagrams": bytes(8000),
        }
        message = messages.get(name.removesuffix(" of many ports"), bytes(1000))
        begin_s = time.monotonic()
        job = end.order(name.split()[0], line=line.number, **fields)
        sock.setblocking(False)
        together = message if protocol == "udp" else message * 200
        sock.send((line.session if name == "echo" else b"") + message)
        time.sleep(0.005)
        sent_bytes, part = 0, together
        while time.monotonic() < begin_s + 0.3:
            with suppress(BlockingIOError):
                sent = sock.send(part)
                sent_bytes, part = sent_bytes + sent, part[sent:] or together
            with suppress(BlockingIOError):
                sock.recv(65_536)
        report = end.end(job)
        took_s = time.monotonic() - begin_s
    # Beyond what is allowed, 20 ms are a credit, and two reads of it come before a pause.
    assert 1000 < report["received_bytes"] < 1e6 * (took_s + 0.06) < sent_bytes


def test_a_sender_here_keeps_the_limit_of_a_peer():
    with serving(rate_bps=8e6) as served:
        samples = experiments.bulk(
            1000, peer=served.peer, protocol="udp", write_count=200, run_count=1, buffer_bytes=None
        )
    # 200,000 bytes at 8 Mbit/s take 0.2 s; those of 1 ms are sent at once.
    assert samples.wall_s[0] > 0.19
    assert samples.receiver_drop_count[0] == 0


def test_a_stopped_transfer_has_what_a_distant_peer_sent(monkeypatch):
    """Its report comes a long round trip after the order to end."""
    do, stop = service.Run._do, threading.Event()

    def late(run, name, number, order):
        if name == "end":
            time.sleep(0.2)
        do(run, name, number, order)

    def progress(done, total, received_bytes):
        if received_bytes:
            stop.set()

    monkeypatch.setattr(service.Run, "_do", late)
    with serving(carried_bytes=10**12) as served:
        samples = experiments.bulk(
            1000, peer=served.peer, write_count=10**7, run_count=1, buffer_bytes=None, limit_s=20,
            stop=stop, progress=progress, direction="back",
        )  # fmt: skip
    assert samples.meta.instrument.ended_by == "stop"
    assert samples.received_bytes[0] > 0
    assert samples.delivery_s[0] > 0


def test_a_congestion_control_that_the_peer_does_not_have(far):
    with pytest.raises(ExperimentError) as caught:
        experiments.bulk(
            1000, peer=far.peer, direction="back", write_count=1, run_count=1,
            congestion_control="nonesuch",
        )  # fmt: skip
    assert caught.value.code == "far-congestion-control-refused"
    assert caught.value.values["wanted"] == "nonesuch"


def test_the_connections_of_jobs_count_until_they_end():
    with serving(connections=1) as served:
        samples = experiments.small_writes(modes=["nodelay", "single"], count=2, peer=served.peer)
        assert samples.modes == ("nodelay", "single")
        with (
            Stopping(None, limit_s=30) as stopping,
            FarEnd(served.peer, stopping=stopping) as end,
            socket.socket() as first,
            socket.socket() as second,
        ):
            line = end.open([first])
            end.echo(line, 100)
            with pytest.raises(ExperimentError) as caught:
                end.open([second])
    assert caught.value.code == "peer-limit-connections"


def test_nobody_there():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    peer = FarPeer("127.0.0.1", token="abcd-efgh-ijkm-npqr", port=port)
    with pytest.raises(ExperimentError) as caught:
        experiments.echo([100], count=1, peer=peer)
    assert caught.value.code == "far-peer-unreachable"


@pytest.mark.parametrize(
    ("measure", "options", "name"),
    [
        (experiments.echo, {"host": "127.0.0.2"}, "host"),
        (experiments.echo, {"path": Path.parse("T1 5 ms")}, "path"),
        (experiments.echo, {"port": 7}, "port"),
        (experiments.bulk, {"mtu_bytes": 1500}, "mtu_bytes"),
        (experiments.line_rate, {"routed": True}, "routed"),
        (experiments.small_writes, {"pcap": "a.pcap"}, "pcap"),
        (experiments.packet_trains, {"cross_ratio": 0.5}, "cross_ratio"),
    ],
)
def test_what_does_not_go_with_a_peer(no_packet, measure, options, name):
    peer = FarPeer("192.0.2.7", token="abcd-efgh-ijkm-npqr")
    with pytest.raises(DomainError) as caught:
        measure(peer=peer, **options)
    assert (caught.value.code, caught.value.values["name"]) == ("not-with-peer", name)


@pytest.mark.parametrize("direction", ["back", "both", "sideways"])
def test_a_direction_needs_a_peer(no_packet, direction):
    with pytest.raises(DomainError) as caught:
        experiments.bulk(direction=direction)
    assert caught.value.values["name"] == "direction"


@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("example.com", "target-not-an-address"),
        ("224.0.0.1", "target-is-multicast"),
        ("0.0.0.0", "target-is-broadcast"),
        ("::", "target-is-broadcast"),
        ("255.255.255.255", "target-is-broadcast"),
        ("fe80::1", "target-needs-zone"),
        ("::ffff:255.255.255.255", "target-is-broadcast"),
        (2130706433, "target-not-an-address"),
        (b"\x7f\0\0\1", "target-not-an-address"),
    ],
)
def test_a_peer_is_a_machine(host, code):
    with pytest.raises(ExperimentError) as caught:
        FarPeer(host, token="abcd-efgh-ijkm-npqr")
    assert caught.value.code == code


def test_an_address_of_ipv4_within_ipv6_is_one_of_ipv4():
    """The headers of its packets are those of IPv4, and so are the sizes of the samples."""
    assert FarPeer("::ffff:192.0.2.7", token="abcd-efgh-ijkm-npqr").host == "192.0.2.7"


@pytest.mark.parametrize("token", [None, 5, b"abcd-efgh-ijkm-npqr", "abcd"])
def test_what_is_no_token(token):
    with pytest.raises(DomainError) as caught:
        FarPeer("192.0.2.7", token=token)
    assert caught.value.code == "no-token"


def test_many_orders_do_not_hold_up_the_limits_of_a_run(monkeypatch):
    """A client that sends as fast as the peer reads: the limits are checked in between."""
    report, counts, order = service.Run._report, [0], b'{"do": "clock", "id": 1}'

    def noted(run):
        counts.append(run.order_count)
        report(run)

    monkeypatch.setattr(service.Run, "_report", noted)
    with (
        serving() as served,
        Stopping(None, limit_s=30) as stopping,
        FarEnd(served.peer, stopping=stopping) as end,
    ):
        own = end._channel
        parts = [struct.pack("!I16s", len(order), own._tag(b"client", number, order)) + order
                 for number in range(2000)]  # fmt: skip
        own.sock.setblocking(True)
        own.sock.sendall(b"".join(parts))
        own.sock.shutdown(socket.SHUT_WR)
        read_all(own.sock)
    assert counts[-1] >= 1900
    assert max(np.diff(counts)) <= 64


def read_all(sock):
    """Read to the end of a connection."""
    with suppress(OSError):
        while sock.recv(1 << 16):
            pass


def test_a_report_longer_than_a_buffer_comes_at_once(monkeypatch):
    """A client that reads slowly has it in parts: here the kernel takes 4 kB at a time."""
    flush = channel.Channel.flush

    def few(self):
        rest = self._unsent[4096:]
        del self._unsent[4096:]
        is_done = flush(self)
        self._unsent += rest
        return is_done and not rest

    monkeypatch.setattr(channel.Channel, "flush", few)
    with serving() as served:
        begin_s = time.monotonic()
        samples = experiments.small_writes(
            [5], modes=["single"], count=3000, peer=served.peer, direction="back"
        )
    assert len(samples) == 3000
    # At one part a second it would take half a minute.
    assert time.monotonic() - begin_s < 8


def test_a_job_on_a_line_that_is_not_open_is_refused(far):
    with Stopping(None, limit_s=30) as stopping, FarEnd(far.peer, stopping=stopping) as end:
        number = end.order("open", **UDP_LINE)
        end.answer(number)
        job = end.order("echo", line=number, message_bytes=8)
        with pytest.raises(ExperimentError) as caught:
            end.answer(job)
    assert caught.value.code == "far-peer-refuses"
    assert far.log.count("peer-run-failed") == 0


def test_large_packets_that_do_not_pass_are_told(monkeypatch):
    """As where a device drops packets above its MTU in silence: the peer reads nothing."""

    def deaf(socks, order, job, counts):
        while not job.look(time.monotonic_ns()):
            time.sleep(0.01)
        return {}

    monkeypatch.setitem(service._WORKS, "receive", deaf)
    monkeypatch.setattr(transfer, "GRACE_S", 0.1)
    monkeypatch.setattr(bulk_module, "FAR_DRAIN_S", 0.0)
    with serving() as served, pytest.raises(ExperimentError) as caught:
        experiments.bulk(
            1000, peer=served.peer, write_count=3, run_count=1, limit_s=0.1, buffer_bytes=None
        )
    assert caught.value.code == "far-large-packets-lost"
    assert caught.value.partial.sent_bytes.tolist() == [3000.0]


def test_an_interface_that_this_machine_does_not_have():
    peer = FarPeer("fe80::1%no-such-wire", token="abcd-efgh-ijkm-npqr")
    with pytest.raises(ExperimentError) as caught:
        experiments.echo([100], count=1, peer=peer)
    assert (caught.value.code, caught.value.values["zone"]) == (
        "far-peer-no-interface",
        "no-such-wire",
    )


@pytest.mark.parametrize(
    ("progress", "report"),
    [({"received_bytes": 700, "at_ns": 5}, {"received_bytes": 700, "end_ns": 5}), ({}, {})],
)
def test_the_last_progress_of_a_sink_that_is_gone_is_kept(progress, report):
    assert transfer._so_far(SimpleNamespace(so_far=progress)) == report
