"""The address of the lessons: kept, private, and one server over a folder."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import socket
from pathlib import Path
from unittest import mock
from urllib.parse import unquote, urlsplit

import pytest
from click.testing import CliRunner

from netcalc.cli import lab as lab_module
from netcalc.cli import serving
from netcalc.cli.lab import lab, site
from netcalc.cli.serving import Address, Running, end_by_signals, free_port, held, keep, last

TOKEN = "a" * 32
ROOT = ["--allow-root", "--no-browser"]


@pytest.fixture
def prompt(monkeypatch):
    """Try a lock twice, and do not wait."""
    monkeypatch.setattr(serving, "_TRIES", 2)
    monkeypatch.setattr(serving, "_PAUSE_S", 0)


def refused(*options, command=lab):
    """Return the error of a command line."""
    return CliRunner().invoke(command, [*options]).exception


def started(monkeypatch, folder: Path, *options: str) -> Address:
    """Return the address that a start keeps; no server is run."""
    monkeypatch.setattr(lab_module, "_server", mock.Mock(side_effect=KeyboardInterrupt))
    CliRunner().invoke(lab, ["--dir", str(folder), *ROOT, *options])
    found = last(folder / ".settings")
    assert found is not None
    return found


def test_the_address_stays_from_start_to_start_and_changes_when_asked(monkeypatch, tmp_path):
    first = started(monkeypatch, tmp_path)
    assert started(monkeypatch, tmp_path) == first
    changed = started(monkeypatch, tmp_path, "--new-token")
    assert (changed.port, changed.token == first.token) == (first.port, False)
    assert started(monkeypatch, tmp_path, "--app").token == changed.token


def test_the_token_is_in_a_file_for_this_user_alone(tmp_path):
    keep(Address(8888, TOKEN), tmp_path)
    file = tmp_path / "server.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert last(tmp_path) == Address(8888, TOKEN)
    file.chmod(0o644)
    assert last(tmp_path) is None, "a token that others could read is used again"


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", '{"port": 0, "token": "%s"}', '{"port": "8888", "token": "%s"}',
        '{"port": 8888, "token": ""}', '{"port": 8888, "token": 7}',
        '{"port": true, "token": "%s"}',
        '{"port": 8888, "token": "%s", "more": 1}', '{"port": 8888, "token": "%s", "opened": 1}',
    ],
)  # fmt: skip
def test_a_damaged_record_is_no_address(tmp_path, text):
    file = tmp_path / "server.json"
    file.write_text(text.replace("%s", TOKEN))
    file.chmod(0o600)
    assert last(tmp_path) is None


def test_a_second_start_finds_the_first_and_a_killed_one_leaves_nothing(tmp_path, prompt):
    with socket.create_server(("127.0.0.1", 0)) as server:
        keep(Address(server.getsockname()[1], TOKEN), tmp_path)
        with held(tmp_path), pytest.raises(Running) as found, held(tmp_path):
            pass
        assert found.value.address.token == TOKEN
    with held(tmp_path) as inherited:  # the record is there, and nobody has the lock
        assert len(inherited) == 1


def test_the_server_of_a_killed_command_is_waited_for(tmp_path, prompt):
    with (tmp_path / "server.lock").open("w") as server:
        fcntl.flock(server, fcntl.LOCK_EX)
        with pytest.raises(lab_module.CommandError) as busy, held(tmp_path):
            pass
    assert busy.value.code == "lab-folder-busy"


def test_a_second_start_shows_the_address_and_refuses_what_the_server_does_not_do(
    tmp_path, prompt, monkeypatch
):
    opened = []
    monkeypatch.setattr(lab_module.webbrowser, "open", opened.append)
    settings = tmp_path / ".settings"
    settings.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server, held(settings):
        port = server.getsockname()[1]
        keep(Address(port, TOKEN, language="en"), settings)
        again = CliRunner().invoke(lab, ["--dir", str(tmp_path), "--allow-root"])
        assert again.exit_code == 0
        assert f"http://127.0.0.1:{port}/?token={TOKEN}" in again.stdout
        [page] = opened
        assert TOKEN not in page, "who lists processes reads it"
        file = Path(unquote(urlsplit(page).path))
        assert f"url=http://127.0.0.1:{port}/?token={TOKEN}" in file.read_text()
        assert file.stat().st_mode & 0o777 == 0o600
        for options in (
            ["--app"], ["--new-token"], ["--port", "1"], ["--fresh"], ["--language", "de"],
        ):  # fmt: skip
            error = refused("--dir", str(tmp_path), *ROOT, *options)
            assert error.code == "lab-running-otherwise"
            assert error.values["options"] == [options[0]]
    assert not (tmp_path / "00_start_here.ipynb").exists(), "a second start wrote lessons"


def test_a_signal_that_nohup_ignores_stays_ignored():
    before = {one: signal.getsignal(one) for one in (signal.SIGHUP, signal.SIGTERM)}
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        end_by_signals()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def test_another_port_than_that_of_before_is_taken_where_it_is_in_use():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert free_port(None, port) != port
    assert free_port(None, port) == port


def test_a_port_that_needs_a_privilege_is_named(monkeypatch):
    class Refusing(socket.socket):
        def bind(self, address):
            raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(serving.socket, "socket", Refusing)
    with pytest.raises(lab_module.CommandError) as error:
        free_port(80)
    assert (error.value.code, error.value.values["port"]) == ("server-port-not-permitted", 80)


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.EACCES, "lab-folder-refused"),
        (errno.EROFS, "lab-folder-refused"),
        (errno.ENOSPC, "lab-folder-full"),
        (errno.EDQUOT, "lab-folder-full"),
    ],
)
def test_a_folder_that_cannot_be_written_is_one_sentence(monkeypatch, tmp_path, number, code):
    refusal = OSError(number, os.strerror(number), "any")
    monkeypatch.setattr(lab_module, "write_atomically", mock.Mock(side_effect=refusal))
    error = refused("--dir", str(tmp_path), *ROOT)
    assert (error.code, error.values["errno"], error.values["file"]) == (
        code,
        number,
        str(tmp_path),
    )
    assert "--dir" in str(error)
    assert "\n" not in str(error)


def test_folders_that_mean_nothing_are_refused(tmp_path):
    (tmp_path / "file").write_text("")
    assert refused("--dir", str(tmp_path / "file" / "x"), *ROOT).code == "lab-folder-refused"
    assert refused("--dir", "", *ROOT).code == "folder-name-empty"
    assert refused(" ", command=site).code == "folder-name-empty"
    assert refused("~nobody-has-this-name/x", command=site).code == "home-unknown"
    assert refused("--dir", "~nobody-has-this-name/x", *ROOT).code == "home-unknown"


def test_lessons_of_a_site_are_chosen_by_number():
    from netcalc.cli.lab import _chosen

    lessons = [Path(f"{name}.ipynb") for name in ("00_a", "02_b", "02b_c")]
    assert _chosen(lessons, ()) == lessons
    assert _chosen(lessons, ("02B", "0")) == [lessons[0], lessons[2]]
    with pytest.raises(lab_module.CommandError) as error:
        _chosen(lessons, ("7",))
    assert error.value.code == "lesson-unknown"
    assert error.value.values["known"] == ["00", "02", "02b"]


def test_jupyter_keeps_its_files_beside_the_lessons_where_no_home_takes_them(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert lab_module._home_is_writable()
    (tmp_path / ".ipython").write_text("a file, in which there are none")
    assert not lab_module._home_is_writable()


@pytest.mark.parametrize("home", ["given", "without"])
def test_a_home_that_cannot_be_searched_is_one_sentence_or_not_needed(monkeypatch, tmp_path, home):
    """Before Python 3.14 a closed folder raises where it is asked whether something is in it."""
    closed, exists = tmp_path / "closed", Path.exists

    def searched(path, *more, **named):
        if closed in path.parents:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return exists(path, *more, **named)

    closed.mkdir()
    monkeypatch.setenv("HOME", str(closed))
    monkeypatch.setattr(Path, "exists", searched)
    monkeypatch.setattr(lab_module.os, "access", lambda path, mode: closed != Path(path))
    if home == "without":
        error = refused(*ROOT)
        assert error.code == "lab-folder-refused"
        assert "--dir" in str(error)
    else:
        assert not lab_module._home_is_writable()
        assert started(monkeypatch, tmp_path / "lessons").language == "en"


def test_pages_list_lessons_in_words_and_the_ways_between_them(tmp_path):
    import nbformat

    from netcalc.cli import lesson_pages  # late: the packages of an extra

    texts = {
        "00_a.ipynb": "# Start *here*\n\n**What now,\nthen?**\n\nMore.",
        "02_b.ipynb": "# 2. Second",
        "mine.ipynb": "No title. <!-- cells -->Press Shift+Enter.<!-- /cells -->",
    }
    for name, text in texts.items():
        cells = [{"cell_type": "markdown", "metadata": {}, "source": text, "id": "a"}]
        content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        (tmp_path / name).write_text(json.dumps(content))
    (tmp_path / "damaged.ipynb").write_text("[")
    lessons, others = lesson_pages.listed(tmp_path)
    assert [(one["title"], one["sentence"]) for one in lessons] == [
        ("Start here", "What now, then?"),
        ("2. Second", ""),
    ]
    assert [one["title"] for one in others] == ["damaged", "mine"]

    def prepared(name):
        notebook = nbformat.read(tmp_path / name, as_version=4)
        lesson_pages.prepare(notebook, tmp_path / name, tmp_path)
        return notebook

    first, mine = prepared("00_a.ipynb"), prepared("mine.ipynb")
    assert first.metadata["title"] == "Start here"
    assert {way: one["name"] for way, one in first.metadata["netcalc_ways"].items()} == {
        "next": "02_b.ipynb"
    }
    assert mine.metadata["netcalc_ways"] == {}
    assert mine.cells[0].source == "No title. "
