"""A peer whose answers are wrong: the run says so in a sentence, whatever it is that comes."""

from __future__ import annotations

import random
import socket
import threading
import time
from contextlib import suppress

import pytest

from netcalc import experiments
from netcalc.errors import ExperimentError
from netcalc.experiments.peers import answers, channel, remote, service
from netcalc.experiments.peers.remote import FarEnd, FarPeer
from netcalc.experiments.running.stopping import Ended, Stopping
from netcalc.samples import load
from tests.experiments.conftest import serving

TOKEN = "abcd-efgh-ijkm-npqr"
CLOSE_WAIT = 8
"""State of a connection that the other end has closed (Linux)."""
VALUES = [
    None, True, -1, 0, 1 << 61, 1 << 63, 10**400, -(10**30), 0.5, float("nan"), float("inf"), "",
    "\x1b[2J", "ab" * 8, "\ud800", [], [[]], [1, 2], {}, {"a": {}},
    [[1, 2]], [[1, 2, 3]], [[1, -5, -5]], ["zz"] * 3,
]  # fmt: skip
NAMES = ["id", "so_far", "refusal", "failure", "error", "text", "truth", "times", "at_ns"]
RUNS = {
    "echo": lambda peer, save: experiments.echo([20], count=3, peer=peer, save=save),
    "bulk": lambda peer, save: experiments.bulk(
        1000, peer=peer, direction="both", write_count=30, run_count=1, buffer_bytes=None, save=save
    ),
    "datagrams": lambda peer, save: experiments.bulk(
        1000, peer=peer, direction="back", protocol="udp", write_count=30, run_count=1, save=save
    ),
    "lockstep": lambda peer, save: experiments.lockstep(
        [2], duration_s=0.02, run_count=1, peer=peer, direction="back", save=save
    ),
    "small_writes": lambda peer, save: experiments.small_writes(
        [5], modes=["single"], count=3, peer=peer, direction="back", save=save
    ),
    "transactions": lambda peer, save: experiments.transactions(
        [20], count=1, protocols=["udp", "tcp"], peer=peer, save=save
    ),
    "trains": lambda peer, save: experiments.packet_trains(
        200, count=2, peer=peer, direction="back", timeout_s=0.1, save=save
    ),
    "trains forward": lambda peer, save: experiments.packet_trains(
        200, count=2, peer=peer, timeout_s=0.1, save=save
    ),
    "working_latency": lambda peer, save: experiments.working_latency(
        ["back"], peer=peer, duration_s=0.1, warm_s=0.2, timeout_s=0.1, save=save
    ),
}  # fmt: skip


def changed(message, chance):
    """Return a message of which one field is another, is missing, or was not there."""
    message = dict(message)
    name = chance.choice([*message, *message, chance.choice(NAMES)])
    if isinstance(message.get(name), dict) and message[name] and chance.random() < 0.7:
        message[name] = changed(message[name], chance)
    elif chance.random() < 0.2:
        message.pop(name, None)
    else:
        message[name] = chance.choice(VALUES)
    return message


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(number, marks=pytest.mark.slow) for number in range(1, 40))]
)
@pytest.mark.parametrize("name", RUNS)
def test_no_answer_of_a_peer_is_a_fault_of_the_run(name, seed, monkeypatch, tmp_path):
    chance = random.Random(f"{name} {seed}")
    send, count, at = channel.Channel.send, [0], chance.choice([0, *range(1, 30)])

    def sent(self, message):
        if self._own == channel._PEER and "refusal" not in message:
            count[0] += 1
            if count[0] > at:
                count[0] = -(10**6) * (chance.random() < 0.5)
                message = changed(message, chance)
        send(self, message)

    monkeypatch.setattr(channel.Channel, "send", sent)
    monkeypatch.setattr(remote, "ANSWER_S", 0.5)
    monkeypatch.setattr(remote, "OPEN_S", 0.5)
    file = tmp_path / "far.json"
    told = ""
    with serving() as served:
        try:
            samples = RUNS[name](served.peer, file)
        except ExperimentError as error:
            told, samples = str(error), error.partial
    assert told.isprintable()
    if samples is not None and len(samples):
        load(file)


class TalkingPeer:
    """A peer that has the token, and says what a test gives it."""

    def __init__(self, talk):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.peer = FarPeer("127.0.0.1", token=TOKEN, port=self._listener.getsockname()[1])
        self._talk = talk
        self.ended = threading.Event()
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self):
        self._thread.start()
        return self.peer

    def __exit__(self, *_):
        self.ended.set()
        self._thread.join()
        self._listener.close()

    def _serve(self):
        sock, _ = self._listener.accept()
        with sock, suppress(OSError):
            client = channel.hello_of(sock.recv(channel.HELLO_BYTES, socket.MSG_WAITALL))
            own = channel.new_hello()
            sock.sendall(own.packed)
            handshake = channel.Handshake(channel.secret_of(TOKEN), client, own)
            sock.recv(channel.PROOF_BYTES, socket.MSG_WAITALL)
            sock.sendall(handshake.proof_of_peer)
            self._talk(channel.Channel(sock, handshake.key, is_client=False), self.ended)


WELCOME = {
    "welcome": {"host": "a", "python": "3", "cpu_count": 2},
    "limits": {"duration_s": 1, "carried_bytes": 1, "rate_bps": 1, "connections": 1},
}


def flood(own, ended):
    """Welcome, take an order, then say that it goes on, without end."""
    own.send(WELCOME)
    while own.receive() is None and not ended.wait(0.01):
        pass
    while not ended.is_set():
        if own.flush():
            own.send({"id": 0, "so_far": True, "at_ns": 1})


def hold(own, ended):
    """Welcome, give the tickets of a line, and say no more."""
    own.send(WELCOME)
    while (order := own.receive()) is None and not ended.wait(0.01):
        pass
    own.send({"id": order["id"], "tickets": ["00" * 16]})
    ended.wait(20)


@pytest.mark.each("rate_bps", [0, 1e-320, -1, float("nan")])
def test_a_limit_of_rate_is_one(rate_bps):
    limits = {"duration_s": 1, "carried_bytes": 1, "connections": 1, "rate_bps": rate_bps}
    with pytest.raises(answers.MalformedError):
        answers.checked({"limits": limits})


def test_a_peer_that_never_pauses_does_not_hold_up_the_run(monkeypatch):
    monkeypatch.setattr(remote, "ANSWER_S", 0.3)
    with (
        TalkingPeer(flood) as peer,
        Stopping(None, limit_s=30) as stopping,
        FarEnd(peer, stopping=stopping) as end,
    ):
        begin_s = time.monotonic()
        with pytest.raises(ExperimentError) as caught:
            end.answer(end.order("clock"))
    assert caught.value.code == "far-peer-silent"
    assert time.monotonic() - begin_s < 5


def test_a_line_that_does_not_open_ends_the_run(monkeypatch):
    monkeypatch.setattr(remote, "OPEN_S", 0.3)
    with (
        TalkingPeer(hold) as peer,
        Stopping(None, limit_s=30) as stopping,
        FarEnd(peer, stopping=stopping) as end,
        socket.socket(type=socket.SOCK_DGRAM) as sock,
        pytest.raises(ExperimentError) as caught,
    ):
        end.open([sock])
    assert caught.value.code == "far-peer-silent"


def test_a_stop_ends_the_wait_for_a_program_that_says_nothing():
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        peer = FarPeer("127.0.0.1", token=TOKEN, port=listener.getsockname()[1])
        timer = threading.Timer(0.2, stop.set)
        timer.start()
        begin_s = time.monotonic()
        with Stopping(stop, limit_s=30) as stopping, pytest.raises(Ended):
            FarEnd(peer, stopping=stopping)
        assert time.monotonic() - begin_s < 2
        timer.join()


@pytest.mark.each("error", [OSError(24, "Too many open files"), ValueError("a fault")])
def test_a_job_that_fails_there_is_told(error, monkeypatch):
    def fail(*_):
        raise error

    monkeypatch.setitem(service._OF_ITSELF, "own_error", fail)
    with serving() as served, pytest.raises(ExperimentError) as caught:
        experiments.echo([20], count=1, peer=served.peer)
    assert caught.value.code == "far-peer-failed"
    assert str(error.args[-1]) in str(caught.value)


def test_what_a_peer_said_before_it_closed_is_told(far):
    """The second order finds the connection closed, and the reason is in it still."""
    with Stopping(None, limit_s=30) as stopping, FarEnd(far.peer, stopping=stopping) as end:
        end._channel.send({"do": "nonesuch", "id": 0})
        wait_until_closed(end._channel.sock)
        with suppress(BrokenPipeError, ConnectionResetError):
            while not time.sleep(0.01):
                end._channel.sock.send(b"\0")
        with pytest.raises(ExperimentError) as caught:
            end.order("clock")
    assert caught.value.code == "far-peer-refuses"


def wait_until_closed(sock):
    """Wait until the other end has closed, whatever it has sent before."""
    end_s = time.monotonic() + 10
    while sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != CLOSE_WAIT:
        assert time.monotonic() < end_s
        time.sleep(0.01)
