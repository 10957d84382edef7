"""The hosts of flows that share a bottleneck, at the end of a run: both close all at one time."""

import io
import socket
import struct

import pytest

from netcalc.experiments.peers import flows_peer

END_S = 1.0
PLAN = {
    "zero_ns": 0,
    "end_s": END_S,
    "sample_s": 0.1,
    "unsent_bytes": 16_384,
    "connections": [{"index": 0, "start_s": 0.0, "request_bytes": 100, "reply_bytes": 100}],
}


@pytest.fixture
def connected():
    """Two ends of a connection over loopback, and one of a control socket."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ours = socket.create_connection(listener.getsockname())
        theirs, _ = listener.accept()
    control, parent = socket.socketpair()
    with ours, theirs, control, parent:
        yield ours, theirs, control


def reset(sock):
    """Close a connection as both hosts do at the end of a run."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def source_at(monkeypatch, connected, *, late_s):
    """Run a source whose receiver has closed, and whose clock then stands at the end and later."""
    ours, theirs, control = connected
    now_ns = [int(0.99 * END_S * 1e9)]
    monkeypatch.setattr(flows_peer, "_clock", lambda: now_ns[0])
    source = flows_peer.FlowSource(control, PLAN, io.BytesIO())

    def begin(connection):
        source.connections[ours.fileno()] = connection
        source.poll.register(ours)
        reset(theirs)
        now_ns[0] = int((END_S + late_s) * 1e9)

    monkeypatch.setattr(source, "open", begin)
    return source.run([ours])


@pytest.mark.parametrize("late_s", [0.0, 0.5])
def test_a_source_that_is_late_at_the_end_has_ended(monkeypatch, connected, late_s):
    assert source_at(monkeypatch, connected, late_s=late_s) == {"count": 1}


def test_a_connection_that_breaks_before_the_end_is_a_fault(monkeypatch, connected):
    with pytest.raises(ConnectionError):
        source_at(monkeypatch, connected, late_s=-0.005)


@pytest.mark.parametrize("late_s", [0.0, 0.5])
def test_a_sink_that_is_late_at_the_end_has_ended(monkeypatch, late_s):
    """The source is gone when the sink reads."""
    control, parent = socket.socketpair()
    now_ns = [int(0.99 * END_S * 1e9)]
    monkeypatch.setattr(flows_peer, "_clock", lambda: now_ns[0])
    with socket.create_server(("127.0.0.1", 0)) as listener, control, parent:
        source = socket.create_connection(listener.getsockname())
        sink = flows_peer.Sink(control, PLAN, io.BytesIO())
        read = sink.read

        def read_and_be_late(connection):
            assert read(connection) == 0, "the only byte"
            reset(source)
            now_ns[0] = int((END_S + late_s) * 1e9)
            with connection.sock:
                return read(connection)

        monkeypatch.setattr(sink, "read", read_and_be_late)
        source.send(b"x")
        assert sink.run([listener]) == {"count": 1}
