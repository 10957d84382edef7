"""False peers: what is not the awaited reply is counted, ignored, and never taken for it."""

from __future__ import annotations

import os
import socket
import struct
from contextlib import suppress

import numpy as np
import pytest

from netcalc.errors import ExperimentError
from netcalc.experiments import exchange
from netcalc.experiments.echo import echo
from netcalc.experiments.peers.process import Peer
from netcalc.experiments.running.stopping import Stopping
from netcalc.messages import Notice

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("nothing_left")]

QUICK_S = 0.03
"""Time limit of probes that a test leaves without a reply. [s]"""


def flip(data):
    """Damage the last byte."""
    return data[:-1] + bytes([data[-1] ^ 1])


def sequence_of(data):
    return int.from_bytes(data[:4], "little")


def with_sequence(data, sequence):
    return sequence.to_bytes(4, "little") + data[4:]


@pytest.mark.parametrize(
    ("before_the_reply", "count_name"),
    [
        (lambda data: b"", "foreign_count"),
        (lambda data: b"garbage", "foreign_count"),
        (lambda data: bytes(60_000), "foreign_count"),
        (lambda data: data[:4] + b"\0old" + data[8:], "foreign_count"),  # another session
        (flip, "damaged_count"),
        (lambda data: data[:-1], "damaged_count"),  # cut
        (lambda data: data + b"!", "damaged_count"),  # longer
        (lambda data: with_sequence(data, 999), "damaged_count"),  # never sent
    ],
)
def test_what_is_no_reply_is_counted_and_ignored(before_the_reply, count_name, bench):
    def answer_badly_then_well(peer, data, sender):
        peer.answer(before_the_reply(data), sender)
        peer.answer(data, sender)

    with bench.FalsePeer(answer_badly_then_well) as peer:
        result = bench.measured_at(peer.address, [100], count=4)
    assert (result.sent, result.received, result.duplicates) == (4, 4, 0)
    assert getattr(result.meta.instrument, count_name) == 4
    code = {"foreign_count": "stray-datagrams", "damaged_count": "damaged-replies"}[count_name]
    assert Notice(code, {"count": 4}) in result.meta.warnings


def test_only_garbage_is_not_a_reply(bench):
    with bench.FalsePeer(lambda peer, data, sender: peer.answer(flip(data), sender)) as peer:
        result = bench.measured_at(peer.address, [100], count=3, timeout_s=QUICK_S)
    assert (result.sent, result.received, result.loss_ratio) == (3, 0, 1.0)
    assert result.lost.all()
    assert np.isnan(result.rtt_s).all(), "no reply is not 0 ms"


def test_endless_data_ends_with_the_time_limit(bench):
    def flood(peer, data, sender):
        for _ in range(3000):
            peer.answer(b"more and more", sender)

    with bench.FalsePeer(flood) as peer:
        result = bench.measured_at(peer.address, [100], count=2, timeout_s=QUICK_S)
    assert (result.sent, result.received) == (2, 0)
    assert result.meta.instrument.foreign_count > 0


@pytest.mark.parametrize("size", [0, 5, 100])
def test_a_reply_from_another_address_is_not_heard(size, bench):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        seen = []

        def answered_by_another(peer, data, sender):
            seen.append(data)
            if len(data) < 8 and len(seen) <= 5:
                peer.answer(data, sender)  # warm-up without a number
            else:
                other.sendto(data, sender)

        with bench.FalsePeer(answered_by_another) as peer:
            result = bench.measured_at(peer.address, [size], count=2, timeout_s=QUICK_S)
    assert (result.sent, result.received) == (2, 0)


def test_duplicates_are_rows_of_their_own(bench):
    def twice(peer, data, sender):
        peer.answer(data, sender)
        if peer.number(data) == 2:
            peer.answer(data, sender)
            peer.answer(data, sender)

    with bench.FalsePeer(twice) as peer:
        result = bench.measured_at(peer.address, [100, 8], count=2)
    assert result.sequence.tolist() == [1, 2, 2, 2, 3, 4]
    assert result.duplicate.tolist() == [False, False, True, True, False, False]
    assert result.payload_bytes.tolist() == [100, 100, 100, 100, 8, 8]
    assert (result.sent, result.received, result.duplicates) == (4, 4, 2)
    assert len(result.best_s) == 4, "a duplicate enters no statistic"
    assert result.sent_s[1] == result.sent_s[2] == result.sent_s[3]
    assert (result.rtt_s[2:4] >= result.rtt_s[1]).all()


def test_a_duplicate_of_the_last_probe_is_still_heard(bench):
    def twice(peer, data, sender):
        peer.answer(data, sender)
        peer.answer(data, sender)

    with bench.FalsePeer(twice) as peer:
        result = bench.measured_at(peer.address, [100], count=1)
    assert (result.received, result.duplicates) == (1, 1)


def test_duplicates_beyond_the_cap_are_counted_only(bench, monkeypatch):
    monkeypatch.setattr(exchange, "MAX_DUPLICATES", 3)

    def often(peer, data, sender):
        for _ in range(6):
            peer.answer(data, sender)

    with bench.FalsePeer(often) as peer:
        result = bench.measured_at(peer.address, [100], count=1)
    assert (result.received, result.duplicates) == (1, 3)
    assert result.meta.instrument.duplicate_count == 5
    assert Notice("duplicates-not-kept", {"count": 5, "kept": 3}) in result.meta.warnings


@pytest.mark.parametrize("held", [1, 15])
def test_late_replies_are_counted_and_taken_for_no_other(held, bench):
    """Probe 1 to ``held`` are answered when the next one comes, before its own reply."""

    def late(peer, data, sender):
        if peer.number(data) <= held:
            peer.held.append(data)
            return
        for old in peer.held:
            peer.answer(old, sender)
        peer.held.clear()
        peer.answer(data, sender)

    with bench.FalsePeer(late) as peer:
        result = bench.measured_at(peer.address, [100], count=held + 2, timeout_s=QUICK_S)
    assert result.lost.tolist() == [True] * held + [False] * 2
    assert result.meta.instrument.late_count == held
    assert result.duplicates == 0
    late = Notice("late-replies", {"count": held, "timeout_s": QUICK_S})
    assert late in result.meta.warnings


@pytest.mark.parametrize("size", [0, 4, 7])
def test_a_late_reply_to_a_probe_too_short_for_a_number(size, bench):
    """Its reply goes to the port of the old probe; the next one has another."""
    seen = []

    def late(peer, data, sender):
        seen.append(sender)
        if len(seen) == 6:  # the first after the warm-up
            peer.held.append((data, sender))
            return
        for old, to in peer.held:
            peer.answer(old, to)
        if len(seen) != 7:
            peer.answer(data, sender)

    with bench.FalsePeer(late, echo_warm_up=False) as peer:
        result = bench.measured_at(peer.address, [size], count=3, timeout_s=QUICK_S)
    assert result.lost.tolist() == [True, True, False]
    assert len(set(seen)) == len(seen), "each has a port of its own"


def test_half_of_the_probes_lost(bench):
    def even_only(peer, data, sender):
        if peer.number(data) % 2 == 0:
            peer.answer(data, sender)

    with bench.FalsePeer(even_only) as peer:
        result = bench.measured_at(peer.address, [8, 100], count=4, timeout_s=QUICK_S)
    assert result.lost.tolist() == [True, False] * 4
    assert (result.sent, result.received, result.loss_ratio) == (8, 4, 0.5)
    assert np.isnan(result.rtt_s[result.lost]).all()
    assert (result.rtt_s[~result.lost] > 0).all()


def test_silence_from_the_start(bench):
    run = bench.planned_run([8], timeout_s=0.005)
    with (
        bench.FalsePeer(lambda *_: None, echo_warm_up=False) as peer,
        run.stopping,
        pytest.raises(ExperimentError) as caught,
    ):
        bench.probe_at(run, peer.address)
    assert (caught.value.phase, caught.value.port) == ("warm-up", peer.address[1])
    assert (caught.value.code, caught.value.values["count"]) == ("no-replies", 5)
    assert "firewall" in caught.value.hint


def test_silence_after_the_start(bench):
    run = bench.planned_run([8], count=50, timeout_s=0.005)
    with (
        bench.FalsePeer(lambda *_: None) as peer,
        run.stopping,
        pytest.raises(ExperimentError) as caught,
    ):
        bench.probe_at(run, peer.address)
    assert (caught.value.phase, caught.value.code) == ("echo", "no-replies")
    assert caught.value.values["count"] == 20
    assert (run.samples().sent, run.samples().received) == (20, 0)


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_nothing_listens(protocol, bench):
    kind = socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM
    with socket.socket(socket.AF_INET, kind) as holder:
        holder.bind(("127.0.0.1", 0))
        address = holder.getsockname()
        if protocol == "udp":
            holder.close()
        run = bench.planned_run([8], protocol=protocol)
        with run.stopping, pytest.raises(ExperimentError) as caught:
            bench.probe_at(run, address)
    assert caught.value.code == "peer-refused"
    assert caught.value.phase == ("connect" if protocol == "tcp" else "warm-up")
    assert (caught.value.host, caught.value.port) == address


# --- False peers over TCP -----------------------------------------------------------------------


def read(connection, size):
    data = b""
    while len(data) < size and (more := connection.recv(size - len(data))):
        data += more
    return data


def greet(connection):
    connection.sendall(read(connection, 8))


def echo_stream(connection, count, size):
    for _ in range(count):
        connection.sendall(read(connection, size))


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def broken(bench, serve, *, sizes=(16,), code, **options):
    """Measure over TCP at a false peer; return the error and what was measured before."""
    run = bench.planned_run(list(sizes), protocol="tcp", **options)
    with (
        bench.listener(serve) as address,
        run.stopping,
        pytest.raises(ExperimentError) as caught,
    ):
        bench.probe_at(run, address)
    assert caught.value.code == code
    assert (caught.value.host, caught.value.port) == address
    return caught.value, run.samples()


def test_tcp_closed_at_once(bench):
    error, _ = broken(bench, lambda connection: None, code="peer-closed")
    assert error.phase == "connect"


def test_tcp_another_service_answers(bench):
    def web(connection):
        read(connection, 8)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    error, _ = broken(bench, web, code="wrong-greeting")
    assert error.phase == "greeting"


def test_tcp_nobody_greets(bench, monkeypatch):
    monkeypatch.setattr(bench.echo_module.limits, "CONNECT_S", 0.05)
    error, _ = broken(bench, lambda connection: read(connection, 99), code="connection-timed-out")
    assert error.phase == "connect"


@pytest.mark.parametrize("end", [reset, socket.socket.close])
def test_tcp_closed_in_the_middle(end, bench):
    def half(connection):
        greet(connection)
        echo_stream(connection, 5 + 3, 16)
        end(connection)

    error, before = broken(bench, half, count=9, code="peer-closed")
    assert (error.phase, before.received, before.meta.partial) == ("echo", 3, True)


@pytest.mark.parametrize("length", [0, 7, 0xFFFFFFFF])
def test_tcp_another_protocol(length, bench):
    def nonsense(connection):
        greet(connection)
        echo_stream(connection, 5 + 3, 16)
        read(connection, 16)
        connection.sendall(struct.pack("!I", length) + b"....")
        read(connection, 1)

    error, before = broken(bench, nonsense, count=9, code="wrong-length")
    assert error.values["message_bytes"] == length
    assert (error.phase, before.received) == ("echo", 3)


def test_tcp_peer_that_stops_reading(bench, monkeypatch):
    done = bench.Event()
    open_tcp = bench.echo_module.open_tcp

    def open_small(address, *rest):
        sock = open_tcp(address, *rest)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        return sock

    def full(connection):
        greet(connection)
        done.wait(10)

    run = bench.planned_run([1 << 20], protocol="tcp", timeout_s=QUICK_S)
    monkeypatch.setattr(bench.echo_module, "open_tcp", open_small)
    with bench.listener(full) as address, run.stopping:
        try:
            with pytest.raises(ExperimentError) as caught:
                bench.probe_at(run, address)
        finally:
            done.set()
    assert caught.value.code == "peer-stopped-reading"
    assert 0 < caught.value.values["done_bytes"] < caught.value.values["message_bytes"] == 1 << 20
    assert len(run.samples()) == 0


def test_tcp_late_damaged_and_double_replies(bench):
    def serve(connection):
        greet(connection)
        echo_stream(connection, 5, 16)
        first = read(connection, 16)  # answered too late
        second = read(connection, 16)
        connection.sendall(first + second)
        third = read(connection, 16)
        connection.sendall(flip(third) + third[:5])  # damaged, then in two pieces
        connection.sendall(third[5:])
        fourth = read(connection, 16)
        connection.sendall(fourth + fourth)
        read(connection, 1)

    run = bench.planned_run([16], count=4, protocol="tcp", timeout_s=0.4)
    with bench.listener(serve) as address, run.stopping:
        bench.probe_at(run, address)
    result = run.samples()
    assert result.lost.tolist() == [True, False, False, False, False]
    assert result.duplicate.tolist() == [False, False, False, False, True]
    facts = result.meta.instrument
    assert (facts.late_count, facts.damaged_count, facts.duplicate_count) == (1, 1, 1)


# --- The peer process under false clients -------------------------------------------------------


@pytest.fixture
def peer():
    settings = {
        "protocol": "udp", "host": "127.0.0.1", "port": 0, "session": "00112233445566ff",
        "duration_s": 30, "bytes": 1_000_000, "message_bytes": 64,
    }  # fmt: skip

    def started(protocol, **more):
        asked = {**settings, "protocol": protocol, **more}
        return Peer(asked, stopping=Stopping(None, limit_s=30.0))

    return started


def test_peer_answers_its_own_session_only_and_counts(peer):
    with peer("udp") as own, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(10)
        client.connect(("127.0.0.1", own.port))
        client.send(b"0000" + bytes.fromhex("deadbeef") + b"another session")
        client.send(b"0000" + bytes.fromhex("00112233") + b"this session")
        assert client.recv(99).endswith(b"this session")
        counts = own.close()
    assert counts == {"echoed": 1, "refused": 1, "unsent": 0}


def test_peer_of_one_port_answers_that_one_alone(peer):
    session = bytes.fromhex("00112233")
    with (
        peer("udp", one_port=True) as own,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other,
    ):
        for sock in (client, other):
            sock.settimeout(10)
            sock.connect(("127.0.0.1", own.port))
        client.send(b"0000" + bytes(4) + b"another session")
        for text in (b"first", b"of another length", b"", b"of another length"):
            client.send(b"0000" + session + text)
            assert client.recv(99) == b"0000" + session + text
        other.send(b"0000" + session + b"from another port")
        with pytest.raises(ConnectionRefusedError):
            other.recv(99)
        client.send(b"0000" + bytes(4) + b"another session")
        client.send(b"short")
        client.send(b"0000" + session + b"last")
        assert client.recv(99).endswith(b"last")
        counts = own.close()
    assert counts == {"echoed": 5, "refused": 3, "unsent": 0}


def test_peer_of_one_port_survives_that_it_closes(peer):
    session = bytes.fromhex("00112233")
    with peer("udp", one_port=True) as own:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(10)
            client.connect(("127.0.0.1", own.port))
            address = client.getsockname()
            client.send(b"0000" + session)
            assert client.recv(99)
            for _ in range(20):  # the replies to some of them come to a closed port
                client.send(b"0000" + session)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.bind(address)
            client.settimeout(0.05)
            client.connect(("127.0.0.1", own.port))
            answers = 0
            for _ in range(100):  # a reply is lost where the news of the closed port is told first
                client.send(b"0000" + session)
                with suppress(TimeoutError):
                    answers += client.recv(99) == b"0000" + session
                if answers > 2:
                    break
        counts = own.close()
    assert answers > 2
    assert counts["echoed"] + counts["unsent"] >= 1 + answers
    assert counts["refused"] == 0


def test_tcp_peer_survives_false_clients(peer):
    session = bytes.fromhex("00112233445566ff")
    with peer("tcp") as own:
        address = ("127.0.0.1", own.port)
        with socket.create_connection(address, 10) as scanner:
            scanner.sendall(b"GET / HT")
            assert scanner.recv(99) == b"", "closed without a word"
        for length in (0, 7, 65, 0xFFFFFFFF):
            with socket.create_connection(address, 10) as client:
                client.sendall(session)
                assert read(client, 8) == session
                client.sendall(struct.pack("!II", length, 1))
                assert client.recv(99) == b"", f"a length of {length} is refused"
        with socket.create_connection(address, 10) as client:
            client.sendall(session)
            assert read(client, 8) == session
            message = struct.pack("!II", 64, 1) + bytes(56)
            client.sendall(message + message[:10])
            assert read(client, 64) == message
            client.sendall(message[10:])
            assert read(client, 64) == message
        counts = own.close()
    assert (counts["echoed"], counts["refused"]) == (2, 5)


def test_peer_command_tells_nothing(peer):
    with peer("udp") as own:
        with open(f"/proc/{own.pid}/cmdline", "rb") as file:  # noqa: PTH123
            command = file.read()
        assert b"00112233" not in command, "the session is not for everybody to see"
        assert os.getpgid(own.pid) == own.pid, "Ctrl-C of the terminal does not reach it"
        # The kernel schedules each session as a group of its own: that costs at every change.
        assert os.getsid(own.pid) == os.getsid(0)


def test_echo_still_works_beside_all_this():
    assert echo(8, count=1).received == 1
