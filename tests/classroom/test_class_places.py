"""Places of a class and its kernels, without a server: who gets one, and when one is free."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from tornado.web import HTTPError

pytest.importorskip("voila")

from netcalc.cli.classroom import application, kernels, pages
from netcalc.cli.classroom.kernels import Child, ClassKernels, Parent, ParentEnded, Seat
from tests.classroom.coroutines import run


class Places(ClassKernels):
    """The kernels of a class as names alone."""

    def __init__(self, *, connected: str = "", **seats: str) -> None:
        self.seats = {key: Seat(student, "", None) for key, student in seats.items()}
        self.started = set(seats)
        self.preparing = Counter()
        self._kernel_connections = dict.fromkeys(connected, 1)

    def __contains__(self, kernel_id):
        return kernel_id in self.started

    async def end(self, kernel_id):
        await asyncio.sleep(0)
        self.seats.pop(kernel_id, None)
        self.started.discard(kernel_id)


def test_a_third_lesson_ends_the_oldest_one(monkeypatch):
    monkeypatch.setattr(Places, "each", 2, raising=False)
    monkeypatch.setattr(Places, "most", 4, raising=False)
    places = Places(a="ann", b="ann", c="bob", d="bob")
    assert run(places.make_room("ann"))
    assert sorted(places.seats) == ["b", "c", "d"]


@pytest.mark.parametrize(
    ("student", "connected", "gone", "left"),
    [
        ("ann", "abcd", "", "bcde"),  # the oldest of those who have two
        ("ann", "acd", "", "acde"),  # one without a page comes before it
        ("ann", "abc", "e", "abcd"),  # one whose page is gone comes before all
        ("eve", "abcd", "", "abcd"),  # a second lesson takes nobody else's
        ("bob", "abcd", "e", "bcde"),  # a third one takes the student's own
    ],
)
def test_a_first_lesson_takes_the_place_of_a_second_one(
    monkeypatch, student, connected, gone, left
):
    monkeypatch.setattr(Places, "each", 2, raising=False)
    monkeypatch.setattr(Places, "most", 5, raising=False)
    places = Places(connected=connected, a="bob", b="bob", c="cid", d="cid", e="eve")
    for key in gone:
        places.seats[key].left_s = 1.0
    assert run(places.make_room(student))
    assert sorted(places.seats) == list(left)


def test_a_lesson_is_refused_where_each_of_others_is_their_only_one(monkeypatch):
    monkeypatch.setattr(Places, "each", 2, raising=False)
    monkeypatch.setattr(Places, "most", 2, raising=False)
    places = Places(connected="ab", a="bob", b="cid")
    assert not run(places.make_room("ann"))
    places.seats["a"].left_s = 1.0
    places.started.clear()
    assert not run(places.make_room("ann")), "kernels that are starting are not ended"


def test_pages_loaded_at_once_take_no_more_than_a_student_has(monkeypatch):
    """Each would have ended the same kernel, and started one more."""
    monkeypatch.setattr(Places, "each", 2, raising=False)
    monkeypatch.setattr(Places, "most", 60, raising=False)
    places = Places(a="ann", b="ann")

    async def load(number: int) -> None:
        if await places.make_room("ann"):
            places.seats[f"new-{number}"] = Seat("ann", "", None)
            await asyncio.sleep(0)  # it starts

    async def all_at_once() -> None:
        await asyncio.gather(*map(load, range(20)))

    run(all_at_once())
    assert len(places.seats) == 2


def test_a_whole_page_is_that_of_its_own_kernel():
    """Of the same student and lesson, too: a page that is loaded twice."""
    places = Places(a="ann", b="ann")
    kernels.ClassKernels.note_delivered(places, "a")
    kernels.ClassKernels.note_delivered(places, "")  # it got none
    assert [places.seats[key].is_delivered for key in "ab"] == [True, False]


def test_the_page_of_a_kernel_that_has_ended_comes_to_an_end():
    """Voila sends signs of life for ever."""
    places, written = Places(), []
    places.each = 2
    places.make_room = lambda student: asyncio.sleep(0, True)
    places.note_delivered = written.append

    async def generator(path):
        kernels.lesson_request.get().kernel_id = "a"
        places.seats["a"] = Seat("ann", path, None)
        yield "begun"
        for _ in range(5):
            yield "alive"
        await places.end("a")
        while True:
            yield "alive"

    lesson = SimpleNamespace(
        settings={"class_lessons": ["one.ipynb"], "kernel_manager": places},
        current_user=SimpleNamespace(username="ann"), xsrf_token="", flush=lambda: None,
        get_generator=generator, write=written.append,
    )  # fmt: skip
    run(pages.Lesson.get.__wrapped__(lesson, "one.ipynb"))
    assert written == ["begun", *["alive"] * 5, "<script>window.netcalc_ended()</script>\n", "a"]
    assert places.preparing["ann"] == 0
    places.preparing["ann"] = 3
    with pytest.raises(HTTPError, match="503"):
        run(pages.Lesson.get.__wrapped__(lesson, "one.ipynb"))


def test_every_student_of_a_class_may_open_two_lessons(monkeypatch, tmp_path):
    class Prepared:
        walls = kernels.Walls(network=False, processes=False, files=False)

        def __init__(self, folder, turns):
            pass

        def end(self):
            pass

    given = {
        "folder": str(tmp_path), "memory_bytes": 1, "processor_s": 1, "students": 30, "each": 2,
        "address": "127.0.0.1", "port": 1, "lessons": str(tmp_path),
        "record": str(tmp_path / "record"), "cookie_secret": "00",
    }  # fmt: skip
    for name in (
        "folder", "turns", "answers", "memory_bytes", "processor_s", "each", "most", "process",
    ):  # fmt: skip
        monkeypatch.setattr(ClassKernels, name, None, raising=False)
    monkeypatch.setattr(application, "Parent", Prepared)
    monkeypatch.setattr(application.sys, "stdin", Line(json.dumps(given)))
    monkeypatch.setattr(application, "Classroom", Ended)
    with pytest.raises(SystemExit) as ended:
        application.main()
    assert ClassKernels.most == 60
    assert ended.value.code == 1, "its parent process was lost"


class Line:
    def __init__(self, text: str) -> None:
        self.readline = lambda: text


class Ended:
    """A server whose parent process was lost."""

    is_over = False

    def __init__(self, config):
        manager = kernels.AsyncMappingKernelManager(config=config)
        made = manager.kernel_manager_factory(parent=manager, kernel_name="python3")
        assert made.autorestart is False

    def initialize(self, arguments):
        pass

    def start(self):
        pass


def test_the_client_of_a_page_that_was_left_waits_for_no_kernel_that_is_gone(tmp_path):
    """A context of its own would wait at its end for what nobody takes; the server's goes on."""

    async def left() -> None:
        manager = kernels.ClassKernels()
        made = manager.kernel_manager_factory(
            parent=manager, kernel_name="python3", context=manager.context
        )
        made.transport, made.ip = "ipc", str(tmp_path / "s")
        made.connection_file = str(tmp_path / "kernel.json")
        client = made.client()
        client.start_channels(hb=False)
        client.kernel_info()
        client.stop_channels()
        assert client.context is manager.context
        assert not manager.context.closed
        manager.context.destroy(linger=0)

    try:
        run(left())
    finally:
        kernels.Factory.clear_instance()  # of this process, which other tests use


def test_requests_of_one_address_let_those_of_others_between():
    """A hundred at once of one, and then one of another."""
    turnstile, passed = pages.Turnstile(), []

    async def ask(address: str, student: str = "") -> None:
        await turnstile.pass_through(address, student)
        passed.append((address, student))

    async def all_at_once() -> None:
        unknown = [ask("192.0.2.9") for _ in range(100)]
        await asyncio.gather(*unknown, ask("192.0.2.9", "Ada"), ask("192.0.2.1"))

    run(all_at_once())
    assert passed.index(("192.0.2.1", "")) < 3
    assert passed.index(("192.0.2.9", "Ada")) < 4, "who has entered waits for no stranger"
    assert len(passed) == 102
    assert len(turnstile._locks) == 0, "an address that waits for nothing costs nothing"


def test_who_is_refused_waits_for_a_turn_too(monkeypatch):
    passed = []

    class Noting:
        async def pass_through(self, *whose: str) -> None:
            passed.append(whose)

    async def refuse(_: object) -> None:
        raise pages.HTTPError(403)

    monkeypatch.setattr(pages.JupyterHandler, "prepare", refuse)
    page = object.__new__(pages.ClassPage)
    page.application = SimpleNamespace(settings={"class_turnstile": Noting()})
    page.request = SimpleNamespace(remote_ip="192.0.2.9")
    with pytest.raises(pages.HTTPError):
        run(page.prepare())
    assert passed == [("192.0.2.9", "")]


def test_messages_that_arrive_together_let_those_of_others_between(monkeypatch):
    handed = []
    base = pages.VoilaKernelWebsocketHandler
    monkeypatch.setattr(base, "on_message", lambda _, message: handed.append(message))
    busy, other = (object.__new__(pages.KernelSocket) for _ in range(2))

    async def read(socket: pages.KernelSocket, *messages: str) -> None:
        for message in messages:  # as Tornado does with what is in its buffer
            await socket.on_message(message)

    async def both() -> None:
        await asyncio.gather(read(busy, *["hers"] * 1000), read(other, "his"))

    run(both())
    assert handed.index("his") == 1
    assert len(handed) == 1001


def test_a_form_that_is_sent_twice_takes_one_place():
    went = []

    class Door(pages.Door):
        current_user = object()

        def __init__(self):
            pass

        def _inside(self):
            return "/"

        redirect = went.append

    run(maybe(Door().post()))
    assert went == ["/"]


async def maybe(answer):
    return await answer if answer is not None else None


def test_children_of_a_kernel_end_with_it():
    """Where there is no namespace, nothing else would end them."""
    code = (
        "import subprocess, sys; print(subprocess.Popen(['sleep', '60']).pid, flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as kernel:
        child = psutil.Process(int(kernel.stdout.readline()))
        places = Places()
        places.seats["a"] = Seat("ann", "", None, process=psutil.Process(kernel.pid))
        places.clear = lambda kernel_id: places.seats.pop(kernel_id)
        places.started.clear()
        run(ClassKernels.end(places, "a"))
    assert places.seats == {}
    with contextlib.suppress(psutil.NoSuchProcess):
        child.wait(20)
    assert not child.is_running()


def test_a_class_whose_parent_process_is_gone_says_so():
    """An answer of nothing, and a request that nobody takes."""
    parent = Parent.__new__(Parent)
    parent._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with parent._control, Path(os.devnull).open("r+b") as nothing:
        theirs.close()
        with pytest.raises(ParentEnded):
            parent.fork({}, nothing.fileno())


def test_a_kernel_is_looked_at_by_any_descriptor():
    """A class of hundreds of pages has descriptors that select.select does not take."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    sleeping = subprocess.Popen(["sleep", "60"])
    try:
        first = os.pidfd_open(sleeping.pid)
        high = 2000
        os.dup2(first, high)
        os.close(first)
        child = Child(sleeping.pid, high)
        assert child.poll() is None
        child.kill()
        assert child.wait(20) == 0
    finally:
        sleeping.kill()
        sleeping.wait()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
