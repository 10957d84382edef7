"""A class of three: its limits, what a student tries against it, and that nothing is left."""

from __future__ import annotations

import asyncio
import json
import signal
import struct
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("voila")
sys.path.insert(0, str(Path(__file__).parent))

import psutil
from click.testing import CliRunner
from running import RunningClass
from students import Student
from tornado.httpclient import HTTPClientError
from tornado.websocket import WebSocketClosedError

from netcalc.cli.classroom.command import classroom
from netcalc.cli.mistakes import CommandError
from tests.classroom.coroutines import run

pytestmark = pytest.mark.live
V1 = "v1.kernel.websocket.jupyter.org"
LESSON, SHORT = "01_latency_and_bandwidth.ipynb", "00_start_here.ipynb"


@pytest.fixture
def a_class():
    """Return a class that ends after the tests; the name of its folder is short, for sockets."""
    with tempfile.TemporaryDirectory(prefix="netcalc-", dir="/tmp") as folder:
        running = RunningClass(Path(folder), "--students", "6")
        yield running
        running.process.kill()
        running.process.wait()
        running.process.stdout.close()


async def rows(teacher: Student) -> list[dict]:
    return json.loads((await teacher.ask("teacher/state")).body)["rows"]


async def refused(student: Student, kernel_id: str, **headers: str) -> int:
    """Return why a web socket is refused."""
    with pytest.raises(HTTPClientError) as found:
        await student.connect(kernel_id, **headers)
    return found.value.code


@pytest.mark.core
def test_a_class_from_the_door_to_its_end(a_class):
    """One test: each class costs seconds, and each step needs those before it."""
    run(asyncio.wait_for(a_lesson(a_class), 300))
    before = a_class.processes()
    assert len(before) >= 3
    assert a_class.key.replace("-", "") not in a_class.log.read_text()
    assert a_class.stop(signal.SIGINT) == 0
    assert [pid for pid in before if Path(f"/proc/{pid}").exists()] == []
    assert list(a_class.folder.glob("netcalc-class-*")) == []


async def a_lesson(a_class: RunningClass) -> None:
    ann, bob, eve = (Student(a_class.base) for _ in range(3))
    await nobody_comes_in_without_the_code(a_class, eve)
    teacher = Student(a_class.base)
    assert (await teacher.enter(a_class.key)).headers["Location"] == "/teacher"
    # Of this class alone: another one at another port of this machine has its own.
    port = urlsplit(a_class.base).port
    assert [name for name in teacher.cookies if name.endswith(f"-{port}")]
    for student, name in ((ann, "Ann"), (bob, "<b>Bob</b>"), (eve, "Ann")):
        assert (await student.enter(a_class.code.lower(), name)).headers["Location"] == "/"
    pages = await asyncio.gather(ann.open(LESSON), bob.open(SHORT))
    assert [page.code for page in pages] == [200, 200]
    assert ann.kernel_id
    assert bob.kernel_id
    await ann.connect()
    widgets = await ann.widgets()
    assert {"AnyModel", "IntSliderModel"} <= {one["model_name"] for one in widgets.values()}
    assert "Laufzeit" not in json.dumps(widgets), "German beside the English of the notebook"
    the_page_is_that_of_netcalc_lab(ann.page)
    # A page asks for this before it connects; without it there are no widgets.
    assert (await ann.ask(f"api/kernels/{ann.kernel_id}")).code == 200
    await strangers_are_refused(a_class, eve, ann.kernel_id)
    await code_is_not_run(ann)
    await a_long_message_ends_the_connection(ann)
    await a_message_that_states_many_parts_ends_the_connection(ann, eve)
    await only_lessons_are_there(eve)
    await a_kernel_is_behind_walls(a_class)
    await the_teacher_sees_and_ends(teacher, ann, bob)
    for student in (ann, bob, eve, teacher):
        student.leave()


def the_page_is_that_of_netcalc_lab(page: str) -> None:
    """It has the ways to the lessons beside it, and nothing that a student cannot do."""
    assert 'rel="prev"' in page
    assert 'rel="next"' in page
    assert "tell your teacher" in page
    assert "netcalc lab" not in page


async def nobody_comes_in_without_the_code(a_class: RunningClass, eve: Student) -> None:
    for path in ("", f"voila/render/{LESSON}", "teacher", "teacher/state"):
        answer = await eve.ask(path)
        assert answer.code == 302, path
        assert answer.headers["Location"].startswith("/login"), path
    forged = Student(a_class.base)
    name = f"netcalc-classroom-{urlsplit(a_class.base).port}"
    forged.cookies[name] = f"2|1:0|10:1700000000|{len(name)}:{name}|4:QW5u|0"
    assert (await forged.ask("")).code == 302
    for code in ("", "AAAA-AAAA", a_class.code[:-1], a_class.code + "A", "é" * 8):
        assert (await eve.enter(code)).code == 401, code
    # A form of another site has no token.
    without = await eve.ask("login", {"code": a_class.code, "_xsrf": "guess"})
    assert without.code == 403


async def strangers_are_refused(a_class: RunningClass, eve: Student, kernel_id: str) -> None:
    assert await refused(eve, kernel_id) == 403
    assert await refused(Student(a_class.base), kernel_id) == 403
    assert await refused(eve, "00000000-0000-0000-0000-000000000000") in (403, 404)
    assert (await eve.ask(f"api/kernels/{kernel_id}")).code == 403
    delete = {"method": "DELETE", "headers": {"X-XSRFToken": eve.xsrf}}
    assert (await eve.ask(f"api/kernels/{kernel_id}", **delete)).code == 403
    end = await eve.ask(f"voila/api/shutdown/{kernel_id}", {})
    assert end.code in (403, 404)
    assert (await eve.ask("teacher")).code == 404
    assert (await eve.ask("teacher/state")).code == 404
    assert (await eve.ask("teacher/end", {"what": "all"})).code == 404


async def code_is_not_run(ann: Student) -> None:
    """The server drops the message; the kernel answers the next one, and has run nothing."""
    mark = "netcalc-was-here"
    for kind in ("execute_request", "complete_request", "inspect_request", "debug_request"):
        code = {"code": f"print('{mark}')", "silent": False, "cursor_pos": 3, "detail_level": 0}
        for channel in ("shell", "control"):
            await ann.send(kind, code, channel)
    asked = await ann.send("kernel_info_request", {})
    seen = []
    while message := await ann.receive():
        seen.append(message["msg_type"])
        assert mark not in json.dumps(message)
        if message["parent_header"].get("msg_id") == asked and "reply" in seen[-1]:
            break
    assert "execute_reply" not in seen
    assert "complete_reply" not in seen


async def only_lessons_are_there(eve: Student) -> None:
    for path in (
        "api/contents", "api/kernels", "api/kernelspecs", "api/sessions", "api/terminals",
        "terminals/websocket/1", "api/status", "lab", "tree", "files/00_start_here.ipynb",
        "voila/api/contents/", "voila/files/00_start_here.ipynb", "metrics", "api/shutdown",
        "voila/execution/x", "voila/render/../setup.py", "voila/render/%2e%2e/README.md",
        "voila/render/", "voila/render/nothing.ipynb", "voila/static/../../../../etc/hostname",
        "voila/static/%2e%2e/%2e%2e/%2e%2e/etc/hostname", "voila/static//etc/hostname",
        "voila/templates/lab/static/../../../../../../etc/hostname",
        "voila/templates/..%2f..%2f/static/hostname", "voila/labextensions/../../../etc/hostname",
        "voila/api/themes/../../../etc/hostname",
    ):  # fmt: skip
        answer = await eve.ask(path)
        assert answer.code in (400, 403, 404), path
        assert Path("/etc/hostname").read_bytes() not in (answer.body or b""), path
    large = await eve.ask("login", {"code": "A" * 200_000})
    assert large.code in (400, 413, 599)


async def a_long_message_ends_the_connection(ann: Student) -> None:
    with suppress(WebSocketClosedError):
        await ann.socket.write_message("x" * (5 << 20))
    while await ann.receive():
        continue  # until the server has closed it
    assert (await ann.ask(f"api/kernels/{ann.kernel_id}")).code == 200, "the kernel is there still"


async def a_message_that_states_many_parts_ends_the_connection(ann: Student, eve: Student) -> None:
    """Of 8 to 16 bytes: believed, the first stops the server for all, the second takes 1.4 GB."""
    for subprotocols, message in (
        ([V1], struct.pack("<QQ", 1 << 40, 0)),
        (None, struct.pack("!II", 40_000_000, 0)),
        (None, b"{"),
    ):
        socket = await ann.connect(subprotocols=subprotocols)
        assert socket.selected_subprotocol == (V1 if subprotocols else None)
        await socket.write_message(message, binary=True)
        while await socket.read_message() is not None:
            continue  # until the server has closed it
        assert socket.close_code == 1007
        assert (await eve.ask("")).code == 200, "the server answers another student"


async def a_kernel_is_behind_walls(a_class: RunningClass) -> None:
    """What Linux says of each kernel's process."""
    tree = psutil.Process(a_class.process.pid).children(recursive=True)
    depth = {one.pid: len(one.parents()) for one in tree}
    kernels = [pid for pid, steps in depth.items() if steps == max(depth.values())]
    assert len(kernels) == 2
    for pid in kernels:
        limits = Path(f"/proc/{pid}/limits").read_text()
        assert limits.split("Max data size")[1].split()[:2] == ["800000000", "800000000"]
        assert limits.split("Max cpu time")[1].split()[:2] == ["600", "600"]
        status = Path(f"/proc/{pid}/status").read_text()
        assert "NoNewPrivs:\t1" in status
        assert "CapEff:\t0000000000000000" in status
        for name in ("environ", "cmdline"):
            told = Path(f"/proc/{pid}/{name}").read_text()
            assert a_class.code not in told
            assert a_class.key not in told
        if "a network of its own" in a_class.told:
            own = Path(f"/proc/{pid}/ns/net").readlink()
            assert own != Path("/proc/self/ns/net").readlink()
            assert len(Path(f"/proc/{pid}/net/dev").read_text().splitlines()) == 3  # lo alone


async def the_teacher_sees_and_ends(teacher: Student, ann: Student, bob: Student) -> None:
    seen = await rows(teacher)
    assert [(one["name"], bool(one["kernel"])) for one in seen] == [
        ("<b>Bob</b>", True), ("Ann", True), ("Ann (2)", False),
    ]  # fmt: skip
    assert seen[1]["lesson"] == "01 latency and bandwidth"
    without = await teacher.ask("teacher/end", {"what": "all", "_xsrf": "guess"})
    assert without.code == 403
    form = {"what": "kernel", "which": bob.kernel_id}
    assert (await teacher.ask("teacher/end", form)).code == 204
    assert [one["name"] for one in await rows(teacher) if one["kernel"]] == ["Ann"]
    form = {"what": "student", "which": seen[1]["student"]}
    assert (await teacher.ask("teacher/end", form)).code == 204
    assert (await ann.ask("")).code == 302, "sent away, and still inside"
    assert [one["name"] for one in await rows(teacher) if one["kernel"]] == []


@pytest.mark.parametrize("key", [None, "not one\n"], ids=["without its key", "no key"])
def test_a_certificate_that_cannot_be_used_is_refused_before_the_class_starts(tmp_path, key):
    certificate = tmp_path / "class.pem"
    certificate.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    given = ["--allow-root", "--certfile", str(certificate)]
    if key:
        (tmp_path / "class.key").write_text(key)
        given += ["--keyfile", str(tmp_path / "class.key")]
    error = CliRunner().invoke(classroom, given).exception
    assert isinstance(error, CommandError)
    assert error.code == "class-certificate"
    assert str(certificate) in error.what


def test_a_kernel_without_a_page_ends():
    from netcalc.cli.classroom.kernels import LEFT_S, Watch

    class Seat:
        is_delivered, left_s = False, None

    class Kernels:
        def connected(self, kernel_id):
            return kernel_id == "read"

    watch, seat = Watch(Kernels()), Seat()
    now_s = time.monotonic()
    assert not watch._is_left("left", seat, now_s)
    assert not watch._is_left("left", seat, now_s + 10 * LEFT_S), "its page is being written"
    seat.is_delivered = True
    assert not watch._is_left("left", seat, now_s)
    assert watch._is_left("left", seat, now_s + LEFT_S + 1)
    assert not watch._is_left("read", seat, now_s + 10 * LEFT_S)
