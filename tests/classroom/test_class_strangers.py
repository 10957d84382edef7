"""What a class refuses: names that are not its own, messages of no widget, malformed frames."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("voila")
sys.path.insert(0, str(Path(__file__).parent))

from click.testing import CliRunner
from raw_frames import MALFORMED, send
from running import RunningClass
from students import Student
from tornado.httpclient import HTTPClientError

from netcalc.cli.classroom import log
from netcalc.cli.classroom.command import classroom
from netcalc.cli.classroom.hosts import own_names, plain_name
from netcalc.cli.mistakes import CommandError
from tests.classroom.coroutines import run

SHORT, NAME, OTHER = "00_start_here.ipynb", "class.example.org", "evil.example"
OF_SHELL = (
    "execute_request", "inspect_request", "complete_request", "history_request",
    "is_complete_request", "connect_request", "comm_info_request", "kernel_info_request",
    "comm_open", "comm_msg", "comm_close", "apply_request", "clear_request", "abort_request",
)  # fmt: skip
OF_CONTROL = (
    "shutdown_request", "interrupt_request", "debug_request", "usage_request",
    "create_subshell_request", "delete_subshell_request", "list_subshell_request",
)  # fmt: skip
OTHERS = ("input_reply", "status", "stream", "iopub_welcome", "", "comm_msg ", "nothing")
"""All messages of Jupyter's protocol 5.5 that a front end sends, and some that a kernel sends."""
ANSWERED = {"comm_info_request", "kernel_info_request"}
DROPPED = len((*OF_SHELL, *OF_CONTROL, *OTHERS)) * 3 - 5


@pytest.mark.live
@pytest.mark.core
def test_a_class_refuses_what_no_browser_of_a_student_sends():
    """One test: a class costs seconds to start."""
    with tempfile.TemporaryDirectory(prefix="netcalc-", dir="/tmp") as folder:
        running = RunningClass(Path(folder), "--name", NAME)
        try:
            run(asyncio.wait_for(strange_things(running), 300))
        finally:
            running.stop()


async def strange_things(a_class: RunningClass) -> None:
    ann = Student(a_class.base)
    await names_of_others_are_refused(ann)
    await ann.enter(a_class.code, "Ann")
    await ann.open(SHORT)
    await web_sockets_by_other_names_are_refused(ann)
    await messages_of_widgets_alone_reach_the_kernel(ann, a_class.log)
    await malformed_frames_are_few_lines(ann, a_class.log)
    ann.leave()


async def names_of_others_are_refused(ann: Student) -> None:
    port = urlsplit(ann.base).port
    for host in (OTHER, f"{OTHER}:{port}", f"127.0.0.1.{OTHER}", "192.0.2.1", "127.0.0.2"):
        for path in ("login", "", "voila/static/voila.js", "teacher/script.js", "nothing"):
            answer = await ann.ask(path, headers={"Host": host})
            assert answer.code == 421, (host, path)
            assert b"<" not in answer.body
            assert b"--name" in answer.body, "what to do"
            assert not answer.headers.get_list("Set-Cookie")
    for host in (f"127.0.0.1:{port}", "127.0.0.1", "LocalHost", NAME, f"{NAME.upper()}.:443"):
        assert (await ann.ask("login", headers={"Host": host})).code == 200, host


async def web_sockets_by_other_names_are_refused(ann: Student) -> None:
    with pytest.raises(HTTPClientError) as found:
        await ann.connect(Host=OTHER, Origin=f"http://{OTHER}")
    assert found.value.code == 421
    assert await ann.connect(Host=NAME, Origin=f"https://{NAME}")


async def messages_of_widgets_alone_reach_the_kernel(ann: Student, log_file: Path) -> None:
    await ann.connect()
    sent = {}
    for kind in (*OF_SHELL, *OF_CONTROL, *OTHERS):
        for channel in ("shell", "control", "stdin"):
            sent[await ann.send(kind, {"comm_id": "none"}, channel)] = (kind, channel)
    # The shell answers in order: what went to it before has been answered then.
    last = await ann.send("kernel_info_request", {})
    answered = set()
    while (message := await ann.receive()) is not None:
        number = message["parent_header"].get("msg_id")
        if message["msg_type"].endswith("_reply"):
            answered.add(sent.get(number, ("kernel_info_request", "shell")))
        if number == last and message["msg_type"].endswith("_reply"):
            break
    assert answered <= {(kind, "shell") for kind in ANSWERED}
    assert await ann.widgets(), "the widgets of the page are there, after all of it"
    dropped = re.findall(r"Message '.*' to \w+ dropped, from 'Ann'", log_file.read_text())
    assert len(dropped) == log.MOST < DROPPED


async def malformed_frames_are_few_lines(ann: Student, log_file: Path) -> None:
    before = len(log_file.read_text())
    for _ in range(4):
        for malformed in MALFORMED:
            await send(ann, malformed)
    assert (await ann.ask("")).code == 200
    lines = log_file.read_text()[before:].splitlines()
    assert not [line for line in lines if not line.startswith(("ERROR: ", "WARNING: "))]
    assert not [line for line in lines if not line.isprintable()]
    refused = [line for line in lines if "refused, from 'Ann'" in line]
    assert len(refused) == log.MOST, "of 4 rounds of 4 messages"
    assert len(lines) <= 4 * log.MOST, "of 72 connections"


def test_a_minute_of_the_log_has_a_few_lines_and_the_number_of_the_others(capsys):
    due = []
    written = log.ShortLog()
    written.later = lambda delay_s, call: due.append((delay_s, call))
    logger = logging.Logger("of this test")
    logger.addHandler(written)
    for number in range(log.MOST + 7):
        try:
            raise ValueError(f"\x1b[2J{number}\nsecond line")
        except ValueError:
            logger.exception("Uncaught\n%s", "request")
    logger.warning("another place")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == log.MOST + 1
    assert re.fullmatch(
        r"ERROR: Uncaught: ValueError\('\\x1b\[2J0\\nsecond line'\) at .*:\d+", lines[0]
    )
    assert lines[-1] == "WARNING: another place"
    assert [delay_s for delay_s, _ in due] == [log.WINDOW_S] * 2
    for _, call in due:
        call()
    assert capsys.readouterr().err == "and 7 more of the last kind\n"
    logger.warning("the next minute")
    assert capsys.readouterr().err == "WARNING: the next minute\n"


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Class.Example.org.", "class.example.org"), ("[::1]", "::1"), ("192.0.2.5", "192.0.2.5"),
        ("münchen.example", "xn--mnchen-3ya.example"), ("https://a.example", None), ("a:80", None),
        ("", None), ("a/b", None), ("a b", None), ("-a", None), ("a" * 70 + ".example", None),
    ],
)  # fmt: skip
def test_a_name_is_read_as_browsers_send_it(typed, name):
    """IDNA of the third: Python's own codec and RFC 3492."""
    assert plain_name(typed) == name


def test_a_name_that_is_an_address_of_a_page_is_refused_before_the_class_starts():
    asked = ["--allow-root", "--name", NAME, "--name", f"https://{NAME}/"]
    error = CliRunner().invoke(classroom, asked).exception
    assert isinstance(error, CommandError)
    assert (error.code, error.values["name"]) == ("class-name", f"https://{NAME}/")


def test_a_class_has_the_names_of_its_address(monkeypatch):
    monkeypatch.setattr("socket.gethostname", lambda: "PC17.school.example")
    of_machine = {"pc17.school.example", "pc17.local"}
    assert own_names("127.0.0.1", ["A.example"]) == {"localhost", "a.example"}
    assert own_names("192.0.2.5", []) == of_machine
    assert own_names("0.0.0.0", []) == own_names("::", []) == of_machine | {"localhost"}
