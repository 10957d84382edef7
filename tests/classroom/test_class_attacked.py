"""A class with somebody in it who wants to stop it, and one that is killed and started again."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("voila")
sys.path.insert(0, str(Path(__file__).parent))

from click.testing import CliRunner
from running import RunningClass
from students import Student, cut

from netcalc.cli.classroom.command import classroom
from netcalc.cli.mistakes import CommandError
from tests.classroom.coroutines import run

pytestmark = pytest.mark.live
SHORT = "00_start_here.ipynb"


@pytest.fixture
def folder():
    """Return a folder whose name is short, for sockets."""
    with tempfile.TemporaryDirectory(prefix="netcalc-", dir="/tmp") as name:
        yield Path(name)


def told(a_class: RunningClass) -> tuple[str, str, str]:
    return a_class.base, a_class.code, a_class.key


async def state(teacher: Student) -> dict:
    return json.loads((await teacher.ask("teacher/state")).body)


async def leave(student: Student) -> None:
    """Close the page, and wait until its connection is closed."""
    student.leave()
    while await student.receive():
        continue


async def answer(student: Student, text: str) -> None:
    """Type an answer into the exercise of the lesson that is open, and wait for what is said."""
    await student.connect()
    field = await answer_field(student)
    heard = {"method": "custom", "content": {"kind": "answer", "text": text}}
    await student.send("comm_msg", {"comm_id": field["_own_id"], "data": heard})
    while (await answer_field(student))["text"] != text:
        continue


async def answer_field(student: Student) -> dict:
    states = [one["state"] for one in (await student.widgets()).values()]
    (field,) = [state for state in states if state.get("exercise") == "TR1"]
    return field


async def many_names_fill_no_class(a_class: RunningClass, ann: Student, teacher: Student) -> None:
    """35 logins by one script, each with cookies of its own; then one more honest student."""
    for number in range(35):
        eve = Student(a_class.base)
        assert (await eve.enter(a_class.code, f"Eve {number}")).code == 302
        eve.leave()
    bob = Student(a_class.base)
    assert (await bob.enter(a_class.code, "Bob")).code == 302
    assert (await bob.open(SHORT)).code == 200
    assert bob.kernel_id
    seen = await state(teacher)
    assert seen["crowds"] == [{"address": "127.0.0.1", "names": 37, "wrong": 0}]
    form = {"what": "idle of address", "which": "127.0.0.1"}
    assert (await teacher.ask("teacher/end", form)).code == 204
    seen = await state(teacher)
    assert [one["name"] for one in seen["rows"]] == ["Ann", "Bob"]
    assert seen["crowds"] == []
    bob.leave()


async def first_lessons_take_the_places_of_second_ones(a_class: RunningClass, ann: Student) -> None:
    """Two students are expected, so four lessons have a place; four open their first one."""
    eve = Student(a_class.base)
    await eve.enter(a_class.code, "Eve")
    for _ in range(2):
        assert (await eve.open(SHORT)).code == 200
    for name in ("Cid", "Dan"):
        student = Student(a_class.base)
        await student.enter(a_class.code, name)
        assert (await student.open(SHORT)).code == 200, name
        student.leave()
    assert (await ann.ask(f"api/kernels/{ann.kernel_id}")).code == 200, "the only lesson of Ann"
    eve.leave()


async def wrong_codes_lock_nobody_out(a_class: RunningClass, teacher: Student) -> None:
    eve = Student(a_class.base)
    codes = [(await eve.enter("AAAA-AAAA", "Eve")).code for _ in range(12)]
    assert codes == [401] * 10 + [429] * 2
    for code, place in ((a_class.code, "/"), (a_class.key, "/teacher")):
        student = Student(a_class.base)
        answer = await student.enter(code, "Fay")
        assert (answer.code, answer.headers["Location"]) == (302, place)
        student.leave()
    seen = await state(teacher)
    assert [(one["address"], one["wrong"]) for one in seen["crowds"]] == [("127.0.0.1", 12)]
    form = {"what": "all of address", "which": "127.0.0.1"}
    assert (await teacher.ask("teacher/end", form)).code == 204
    assert (await state(teacher))["rows"] == []
    eve.leave()


async def many_sockets_to_one_kernel(ann: Student) -> None:
    """Each is in place of the oldest; the last works, as that of a page that was cut off."""
    opened = [ann.socket]
    for _ in range(12):
        ann.socket = None  # the connection before stays open
        opened.append(await ann.connect())
    assert await ann.widgets()
    for socket in opened[:-4]:
        while await socket.read_message() is not None:
            pass
    assert [socket.close_code for socket in opened[-4:]] == [None] * 4
    assert (await ann.ask(f"api/kernels/{ann.kernel_id}")).code == 200
    for socket in opened[:-1]:
        cut(socket)


async def mute_sockets_to_one_kernel(ann: Student, sessions: Iterable[object]) -> None:
    """They read nothing, not even that they are closed."""
    parts = urlsplit(f"{ann.base}api/kernels/{ann.kernel_id}/channels")
    request = (
        f"GET {parts.path}?session_id={{}} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
        f"Origin: {ann.base.rstrip('/')}\r\nCookie: {ann.cookie}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n"
        "Sec-WebSocket-Version: 13\r\n\r\n"
    )
    writers = []
    for session in sessions:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writers.append(writer)
        writer.write(request.format(session).encode())
        assert b" 101 " in await reader.readline()
    for _ in range(20):
        answer = await ann.ask(f"api/kernels/{ann.kernel_id}")
        if json.loads(answer.body)["connections"] <= 4:
            break
        await asyncio.sleep(0.1)
    assert 1 <= json.loads(answer.body)["connections"] <= 4
    for writer in writers:
        writer.close()
    await ann.connect()
    assert await ann.widgets()


def test_one_student_keeps_no_other_one_out(folder):
    async def attacked() -> None:
        ann, teacher = Student(a_class.base), Student(a_class.base)
        await teacher.enter(a_class.key)
        await ann.enter(a_class.code, "Ann")
        assert (await ann.open(SHORT)).code == 200
        await ann.connect()
        await many_sockets_to_one_kernel(ann)
        await mute_sockets_to_one_kernel(ann, range(12))
        await mute_sockets_to_one_kernel(ann, ["again"] * 12)
        await many_names_fill_no_class(a_class, ann, teacher)
        await first_lessons_take_the_places_of_second_ones(a_class, ann)
        await wrong_codes_lock_nobody_out(a_class, teacher)
        await leave(ann)
        teacher.leave()

    with RunningClass(folder, "--students", "2") as a_class:
        run(asyncio.wait_for(attacked(), 300))
        assert a_class.stop() == 0


def test_a_class_that_is_killed_goes_on_and_no_answer_is_lost(folder, monkeypatch):
    """Its server, then its command, then the terminal that it was started in."""
    people = {}

    async def begin() -> None:
        ann, teacher = Student(a_class.base), Student(a_class.base)
        people.update(ann=ann.cookies, teacher=teacher.cookies)
        await teacher.enter(a_class.key)
        await ann.enter(a_class.code, "Ann")
        await ann.open(SHORT)
        await answer(ann, "42 s")
        await leave(ann)
        teacher.leave()

    async def go_on(before: str, then: str) -> None:
        ann, teacher = Student(a_class.base), Student(a_class.base)
        ann.cookies, teacher.cookies = people["ann"], people["teacher"]
        assert [one["name"] for one in (await state(teacher))["rows"]] == ["Ann"]
        assert (await ann.open(SHORT)).code == 200
        await ann.connect()
        assert (await answer_field(ann))["text"] == before
        await answer(ann, then)
        await leave(ann)
        teacher.leave()

    with RunningClass(folder) as a_class:
        first = told(a_class)
        run(asyncio.wait_for(begin(), 120))
        assert a_class.end_server(signal.SIGKILL) == 2
        assert a_class.log.read_text().splitlines()[-1].endswith("netcalc classroom --resume")
    with RunningClass(folder, "--resume") as a_class:
        assert told(a_class) == first
        assert a_class.end_server(signal.SIGTERM) == 2
    with RunningClass(folder, "--resume") as a_class:
        assert told(a_class) == first
        run(asyncio.wait_for(go_on("42 s", "43 s"), 120))
        a_class.process.kill()
    with RunningClass(folder, "--resume") as a_class:
        assert told(a_class) == first
        run(asyncio.wait_for(go_on("43 s", "44 s"), 120))
        a_class.stop(signal.SIGHUP)
    with RunningClass(folder) as a_class:  # a new one, which is ended as soon as it has begun
        assert told(a_class) != first
        assert "netcalc classroom --resume continues it" in a_class.log.read_text()
        assert a_class.stop() == 0
    with RunningClass(folder, "--resume") as a_class:
        assert told(a_class) == first
        run(asyncio.wait_for(go_on("44 s", "45 s"), 120))
        assert a_class.stop() == 0
    left = [path for path in folder.rglob("*") if path.is_file() and path != a_class.log]
    assert left == []
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    error = CliRunner().invoke(classroom, ["--allow-root", "--resume"]).exception
    assert isinstance(error, CommandError)
    assert error.code == "class-not-kept"
