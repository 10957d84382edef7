"""Functions that are called at one end of a wire: their result, their exception, their end."""

from __future__ import annotations

import operator
import os
import signal
import socket
import threading
import time
from functools import partial
from pathlib import Path as File

import pytest

from netcalc.emulation import EmulatedPath
from netcalc.errors import DomainError, ExperimentError
from netcalc.path import Path

pytestmark = [pytest.mark.namespace, pytest.mark.usefixtures("nothing_left")]

PATH = Path.parse("10 Mbit/s 1 ms")
MODULE = """
import os, socket, sys

class Two(Exception):
    def __init__(self, one, two):
        super().__init__(one)

def namespace():
    return os.stat("/proc/self/ns/net").st_ino

def answer(address, received=16):
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        sock.bind((address, 7))
        data, sender = sock.recvfrom(received)
        sock.sendto(data.upper(), sender)
        return sender[0], data

def fail(text):
    raise ValueError(text)

def fail_in_a_way_that_cannot_be_read():
    raise Two(1, 2)

def leave():
    sys.exit(3)

def leave_without_a_word():
    os._exit(0)

def give_a_function():
    return lambda: 1
"""


@pytest.fixture
def functions(tmp_path, monkeypatch):
    """A module that only this test's process knows, in a folder of its own."""
    name = f"functions_of_{os.getpid()}_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    return __import__(name)


@pytest.mark.parametrize("user_namespace", [False, True])
def test_a_function_runs_at_its_end_and_returns(functions, user_namespace):
    with EmulatedPath(PATH, user_namespace=user_namespace) as wire:
        found = [wire.run(functions.namespace, side) for side in "AB"]
        command = ["stat", "-L", "-c", "%i", "/proc/self/ns/net"]
        assert found == [int(wire.run(command, side).stdout) for side in "AB"]
    assert len({*found, File("/proc/self/ns/net").stat().st_ino}) == 3


def test_arguments_go_in_order_and_partial_has_keywords():
    with EmulatedPath(PATH) as wire:
        assert wire.run(operator.sub, "B", args=(7, 4)) == 3
        assert wire.run(partial(int, "ff", base=16)) == 255
        assert len(wire.run(operator.mul, args=(b"x", 3_000_000))) == 3_000_000


def test_two_functions_at_once_and_a_socket_between_them(functions):
    with EmulatedPath(PATH) as wire, wire.socket("A", kind=socket.SOCK_DGRAM) as sock:
        call = wire.start(functions.answer, "B", args=(wire.address("B"),))
        assert not call.done()
        sock.settimeout(0.05)
        data, end_s = b"", time.monotonic() + 20.0
        while not data and time.monotonic() < end_s:  # until the function listens
            sock.sendto(b"hello", (wire.address("B"), 7))
            try:
                data = sock.recv(16)
            except OSError:
                continue
        assert data == b"HELLO"
        assert call.result(20.0) == (wire.address("A"), b"hello")
        assert call.done()
    assert call.result() == (wire.address("A"), b"hello")  # kept when the wire is gone


def test_an_exception_comes_back_with_its_traceback(functions):
    with EmulatedPath(PATH) as wire:
        with pytest.raises(ValueError, match="over there") as caught:
            wire.run(functions.fail, args=("over there",))
        with pytest.raises(ExperimentError, match="raised Two: 1"):
            wire.run(functions.fail_in_a_way_that_cannot_be_read)
    assert "in fail\n" in caught.value.__notes__[0]


def test_what_ends_without_a_result_is_said(functions):
    with EmulatedPath(PATH) as wire:
        with pytest.raises(ExperimentError, match="leave raised SystemExit: 3"):
            wire.run(functions.leave)
        with pytest.raises(ExperimentError, match=r"ended without an outcome \(status 0\)"):
            wire.run(functions.leave_without_a_word)
        with pytest.raises(ExperimentError, match="returned what cannot be handed over"):
            wire.run(functions.give_a_function)
        with pytest.raises(ExperimentError, match=r"sleep did not end within 0\.5 s"):
            wire.run(time.sleep, args=(1000,), timeout_s=0.5)
        killed = wire.start(time.sleep, args=(1000,))
        os.kill(killed.pid, signal.SIGTERM)
        with pytest.raises(ExperimentError, match=r"ended without an outcome \(signal 15\)"):
            killed.result(20.0)


def test_a_function_that_still_runs_ends_with_the_wire():
    with EmulatedPath(PATH) as wire:
        call = wire.start(time.sleep, "B", args=(1000,))
    assert call.done()
    with pytest.raises(ExperimentError, match=r"\(signal 9\)"):
        call.result()


def test_a_function_that_cannot_be_found_there_is_refused(functions):
    with EmulatedPath(PATH) as wire:
        with pytest.raises(DomainError, match="pickled"):
            wire.run(lambda: 1)
        with pytest.raises(DomainError, match="pickled"):
            wire.run(len, args=(threading.Lock(),))
        functions.namespace.__module__ = "__main__"
        with pytest.raises(DomainError, match=r"namespace of __main__, .* into a module beside it"):
            wire.run(functions.namespace)
        with pytest.raises(DomainError, match="into a module beside it"):
            wire.run(partial(functions.namespace))


def test_a_module_that_the_other_process_cannot_import_is_named(functions):
    (File(functions.__file__)).write_text("raise OSError('no such device')")
    with (
        EmulatedPath(PATH) as wire,
        pytest.raises(ExperimentError, match=r"imported .*no such device"),
    ):
        wire.run(functions.namespace)
