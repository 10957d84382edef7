"""``netcalc lab``: a copy that keeps what the user changed, and a server that leaves nothing."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from unittest import mock

import pytest
from click.testing import CliRunner

from netcalc.cli import lab as lab_module
from netcalc.cli import main
from netcalc.cli.lab import Copied, copy_lessons, find_lessons, lab
from netcalc.errors import DatasetError, MissingPackageError
from netcalc.version import requirement


@pytest.fixture
def originals(tmp_path):
    """Two lessons and a picture in a folder."""
    folder = tmp_path / "originals"
    (folder / "pictures").mkdir(parents=True)
    (folder / "00_first.ipynb").write_text("first")
    (folder / "01_second.ipynb").write_text("second")
    (folder / "pictures" / "hose.svg").write_text("<svg/>")
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "00_first-checkpoint.ipynb").write_text("old")
    return folder


def test_the_first_time_everything_is_copied(originals, tmp_path):
    copied = copy_lessons(originals, tmp_path / "copy")
    assert copied == Copied(new=("00_first.ipynb", "01_second.ipynb", "pictures/hose.svg"))
    assert (tmp_path / "copy" / "pictures" / "hose.svg").read_text() == "<svg/>"
    assert not (tmp_path / "copy" / ".ipynb_checkpoints").exists()


def test_the_second_time_nothing_happens(originals, tmp_path):
    copy_lessons(originals, tmp_path / "copy")
    assert copy_lessons(originals, tmp_path / "copy") == Copied()


def test_a_changed_lesson_stays_and_an_untouched_one_is_updated(originals, tmp_path):
    copy = tmp_path / "copy"
    copy_lessons(originals, copy)
    (copy / "00_first.ipynb").write_text("mine")
    (originals / "00_first.ipynb").write_text("first, newer")
    (originals / "01_second.ipynb").write_text("second, newer")
    (originals / "02_third.ipynb").write_text("third")
    assert copy_lessons(originals, copy) == Copied(
        new=("02_third.ipynb",), updated=("01_second.ipynb",), kept=("00_first.ipynb",)
    )
    assert (copy / "00_first.ipynb").read_text() == "mine"
    assert (copy / "01_second.ipynb").read_text() == "second, newer"


def test_the_original_comes_beside_a_changed_lesson_when_asked(originals, tmp_path):
    copy = tmp_path / "copy"
    copy_lessons(originals, copy)
    (copy / "00_first.ipynb").write_text("mine")
    copied = copy_lessons(originals, copy, fresh=True)
    assert copied.beside == ("00_first-original.ipynb",)
    assert (copy / "00_first.ipynb").read_text() == "mine"
    assert (copy / "00_first-original.ipynb").read_text() == "first"


def test_a_file_of_the_same_name_that_was_there_before_stays(originals, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "00_first.ipynb").write_text("somebody's own")
    assert copy_lessons(originals, copy).kept == ("00_first.ipynb",)
    assert (copy / "00_first.ipynb").read_text() == "somebody's own"


def test_a_damaged_record_loses_nothing(originals, tmp_path):
    copy = tmp_path / "copy"
    copy_lessons(originals, copy)
    (copy / ".settings" / "copied.json").write_text("{")
    (copy / "00_first.ipynb").write_text("mine")
    assert copy_lessons(originals, copy).kept == ("00_first.ipynb",)


def test_the_lessons_are_found():
    names = sorted(path.name for path in find_lessons().glob("*.ipynb"))
    assert names[0] == "00_start_here.ipynb"


def test_missing_lessons_are_named(monkeypatch, tmp_path):
    monkeypatch.setattr(lab_module, "_BUNDLED", tmp_path / "nowhere")
    monkeypatch.setattr(lab_module, "_CHECKOUT", tmp_path / "nowhere")
    with pytest.raises(DatasetError, match="no lessons"):
        find_lessons()


def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(lab_module, "find_spec", lambda name: None)
    result = CliRunner().invoke(lab, ["--dir", str(tmp_path / "copy")])
    assert isinstance(result.exception, MissingPackageError)
    assert f"pip install {requirement('lab')}" in str(result.exception)
    assert not (tmp_path / "copy").exists()


def test_a_port_in_use_is_refused_by_number(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        options = ["--dir", str(tmp_path / "copy"), "--port", str(port), "--allow-root"]
        result = CliRunner().invoke(lab, options)
    error = result.exception
    assert (error.code, error.values["port"]) == ("server-port-in-use", port)


@pytest.mark.parametrize("pages", [[], ["--app"]], ids=["lab", "app"])
def test_root_is_asked_for_its_consent_in_one_sentence(monkeypatch, capsys, tmp_path, pages):
    monkeypatch.setattr(lab_module.os, "geteuid", lambda: 0)
    with pytest.raises(SystemExit) as ended:
        main(["lab", "--dir", str(tmp_path / "copy"), "--no-browser", *pages])
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "root terminal" in said.err
    assert "--allow-root" in said.err
    assert not (tmp_path / "copy").exists()


def test_other_users_and_a_root_that_consents_are_not_asked(monkeypatch, tmp_path):
    """Both come as far as the port, which is in use."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        for user, consent in ((1000, []), (0, ["--allow-root"])):
            monkeypatch.setattr(lab_module.os, "geteuid", lambda user=user: user)
            options = ["--dir", str(tmp_path / "copy"), "--port", port, *consent]
            error = CliRunner().invoke(lab, options).exception
            assert (error.code, error.values["port"]) == ("server-port-in-use", int(port))


@pytest.mark.parametrize("user", [0, 1000])
def test_root_that_consents_is_told_once_more_what_that_means(monkeypatch, tmp_path, user):
    monkeypatch.setattr(lab_module.os, "geteuid", lambda: user)
    monkeypatch.setattr(lab_module, "_server", mock.Mock(side_effect=KeyboardInterrupt))
    result = CliRunner().invoke(lab, ["--dir", str(tmp_path / "copy"), "--allow-root"])
    said = [line for line in result.stderr.splitlines() if "root terminal" in line]
    assert len(said) == (user == 0)


def test_the_page_that_leads_to_the_lessons_is_for_this_user(tmp_path):
    page = lab_module._page_that_leads_to("http://127.0.0.1:1/lab?token=abc", tmp_path)
    assert page.stat().st_mode & 0o777 == 0o600
    assert "url=http://127.0.0.1:1/lab?token=abc" in page.read_text()


class RunningLab:
    """``netcalc lab`` as a user starts it, in a home of its own."""

    def __init__(self, home: Path, *options: str, before: str = "") -> None:
        self.home = home
        program = ["-c", f"{before}; netcalc.cli.main()"] if before else ["-m", "netcalc"]
        self.log = home / "stderr.txt"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, *program, "lab", "--no-browser", "--allow-root", *options],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=os.environ | {"HOME": str(home), "BROWSER": "false"},
                start_new_session=True,
            )
        told = ""
        for line in self.process.stdout:
            told += line
            if "Ctrl-C" in line:
                break
        found = re.search(r"http://\S+", told)
        assert found, told + self.log.read_text()
        self.url = found[0]
        self.base, self.token = self.url.split("?token=")
        self.port = int(self.base.split(":")[2].split("/")[0])
        cookies = urllib.request.HTTPCookieProcessor(CookieJar())
        self.opener = urllib.request.build_opener(cookies)

    def get(self, address: str) -> str:
        """Fetch a page with the cookies of those before it."""
        with self.opener.open(address, timeout=60) as answer:
            return answer.read().decode()

    def status(self, path: str, host: str) -> int:
        """Ask for a page by another name of this machine; return what the answer begins with."""
        url = f"http://127.0.0.1:{self.port}/{path}?token={self.token}"
        request = urllib.request.Request(url, headers={"Host": f"{host}:{self.port}"})
        try:
            with self.opener.open(request, timeout=60) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def stop(self, by: signal.Signals) -> int:
        """Send a signal, and return the exit code."""
        self.process.send_signal(by)
        code = self.process.wait(30)
        self.process.stdout.close()
        return code

    def children(self) -> list[str]:
        """Return the commands of the processes that have this home."""
        mine = f"HOME={self.home}\0".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if mine in (folder / "environ").read_bytes():
                    found.append((folder / "cmdline").read_text().replace("\0", " "))
            except OSError:
                continue
        return found


def listening_addresses(port: int) -> set[str]:
    """Return the addresses that take connections at a port, as the kernel prints them."""
    lines = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    rows = [line.split() for line in lines.splitlines()]
    listen = "0A"
    ends = [row[1].split(":") for row in rows if row[3] == listen]
    return {address for address, number in ends if int(number, 16) == port}


@pytest.mark.live
@pytest.mark.parametrize(
    ("options", "by"),
    [((), signal.SIGINT), (("--app", "--language", "de"), signal.SIGTERM)],
    ids=["lab", "app"],
)
def test_lessons_are_served_behind_a_token_and_nothing_is_left(tmp_path, options, by):
    running = RunningLab(tmp_path, *options)
    try:
        without = urllib.request.build_opener().open(running.base, timeout=60)
        with without as answer:
            assert "/login" in answer.url, "served without a token"
        assert "login" not in running.get(running.url).partition("</title>")[0].lower()
        assert (tmp_path / "netcalc-lessons" / "00_start_here.ipynb").exists()
        commands = running.children()
        assert len(commands) >= 2
        assert running.token not in " ".join(commands), "the token shows in a command"
        assert running.token not in running.log.read_text()
        assert listening_addresses(running.port) == {"0100007F"}, "not on 127.0.0.1 alone"
        kernel = "api/kernels/00000000-0000-0000-0000-000000000000/channels"
        for path in ("", "login", "voila/render/00_start_here.ipynb", kernel):
            asked = {host: running.status(path, host) for host in ("evil.example", "localhost")}
            assert asked["evil.example"] == 403, path
            assert asked["localhost"] != 403 or path == kernel, path
        if options:
            page = running.get(f"{running.base}voila/render/00_start_here.ipynb")
            assert '<html lang="de">' in page
            assert ">Alle Lektionen</a>" in page
            assert ">netcalc-Lektionen</h1>" in running.get(running.url)
            assert not re.search(
                r"(?:src|href)=\"https?://(?!127\.0\.0\.1)[^\"]*\.(?:js|css)", page
            )
        code = running.stop(by)
    finally:
        running.process.kill()
        running.process.wait()
    assert code == 0
    assert running.children() == []
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", running.port))
    assert not (tmp_path / "netcalc-lessons" / "open_lessons.html").exists()


@pytest.mark.live
def test_a_kernel_without_a_page_is_ended_after_a_while(tmp_path):
    """The second net: nobody said that the page was left, as after a crash of the browser."""
    soon = "import netcalc.cli.lab as lab; lab._CULL_AFTER_S = lab._CULL_EVERY_S = 1"
    running = RunningLab(tmp_path, "--app", before=f"{soon}; import netcalc.cli")
    try:
        running.get(running.url)
        # No page connects. It may stay unfinished: the kernel may end while it is written.
        with running.opener.open(f"{running.base}voila/render/00_start_here.ipynb", timeout=60):
            seen = False
            for _ in range(600):  # a busy machine is no wrong answer
                has_kernel = any("ipykernel" in command for command in running.children())
                if seen and not has_kernel:
                    break
                seen = seen or has_kernel
                time.sleep(0.1)
        left = [command for command in running.children() if "ipykernel" in command]
    finally:
        running.stop(signal.SIGTERM)
    assert seen
    assert left == []


@pytest.mark.parametrize("as_pages", [False, True], ids=["lab", "app"])
def test_messages_of_a_page_are_judged_before_the_server_reads_them(as_pages):
    """What that judges is tested with the server of a class, in test_socket_messages."""
    from netcalc.cli.lesson_pages import PromptConnection  # late: the package of an extra

    command = lab_module._command(as_pages, 1, Path("folder"), allow_root=False)
    judging = f"{PromptConnection.__module__}.{PromptConnection.__name__}"
    assert sum(word.endswith(f"_connection_class={judging}") for word in command) == 1


def test_a_kernel_of_a_page_that_somebody_reads_is_not_ended_soon():
    command = lab_module._command(True, 1, Path("folder"), allow_root=False)
    found = dict(option.removeprefix("--").split("=", 1) for option in command if "=" in option)
    # A page that is open is connected, and its kernel stays; one that lost its line has a while.
    assert int(found["MappingKernelManager.cull_idle_timeout"]) >= 600
    assert int(found["MappingKernelManager.cull_interval"]) <= 60
    assert "MappingKernelManager.cull_connected" not in found
