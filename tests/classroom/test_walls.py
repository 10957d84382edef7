"""What a kernel of a class cannot do, should code run in it: tried by a process so confined."""

from __future__ import annotations

import errno
import json
import os
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("voila")

from netcalc.cli.classroom.confinement import (
    FOLDER_BYTES,
    FOLDER_FILES,
    TURNS_BYTES,
    TURNS_FILES,
    Walls,
    counts_alone,
)
from netcalc.cli.classroom.kernels import PYTHON

HERE = Path(__file__).parent


@pytest.fixture
def folder():
    """Return a folder as a class has it, with a name short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="netcalc-", dir="/tmp") as name:
        folder = Path(name)
        for kernel in ("own", "other"):
            (folder / "k" / kernel).mkdir(parents=True)
            (folder / "k" / kernel / "kernel.json").write_text("{}")
        (folder / "turns").mkdir()
        yield folder


def confined(folder: Path, **asked: list[str]) -> dict:
    searched = [str(HERE.parents[1]), str(HERE), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [*PYTHON, "-m", "confined", str(folder / "k/own"), str(folder / "turns")],
        cwd=folder, text=True, capture_output=True, timeout=60,
        input=json.dumps({"read": [], "write": [], "connect": [], "link": [], "make": [],
                          "fill": [], **asked}),
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, searched))},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_kernel_opens_no_files_but_its_own(folder):
    """Every refusal that docs/classroom.md promises, and what lessons need."""
    own, other = str(folder / "k/own/kernel.json"), str(folder / "k/other/kernel.json")
    refused = [
        other, str(folder), str(folder / "k/other"), "/etc/passwd", str(Path.home()), "/dev/shm",
        "/dev/pts",
    ]  # fmt: skip
    turns = [str(folder / "turns" / name) for name in ("own/1.turn", "other/1.turn", "1.turn")]
    allowed = [own, "/dev/null", "/dev/urandom", os.__file__, turns[1]]
    shared = f"/dev/shm/{folder.name}"
    done = confined(folder, read=[*allowed, *refused], write=[own, *turns, other, shared])
    Path(shared).unlink(missing_ok=True)
    if not done["walls"]["files"]:
        pytest.skip("Linux has no Landlock here")
    if not done["walls"]["processes"]:
        allowed.remove(turns[1])  # nobody has made it
    assert done["read"] == allowed
    assert done["written"] == [own, turns[0]]
    assert Path(own).read_text() == ("{}" if done["walls"]["processes"] else "here")
    assert Path(other).read_text() == "{}"


def test_what_a_kernel_writes_in_all_is_limited_in_bytes_and_files(folder):
    """The limit is Linux's: an ordinary error, at once, and nothing reaches the machine's disk."""
    own, turn = str(folder / "k/own"), str(folder / "turns/own")
    done = confined(folder, fill=[own, turn])
    if not done["walls"]["processes"]:
        pytest.skip("no namespaces of mounts here")
    limits = {own: (FOLDER_BYTES, FOLDER_FILES), turn: (TURNS_BYTES, TURNS_FILES)}
    for place, (most_bytes, most_files) in limits.items():
        filled = done["filled"][place]
        assert filled["refused"] == [errno.ENOSPC] * 2, place
        assert most_bytes - (2 << 20) < filled["bytes"] <= most_bytes, place
        assert filled["files"] <= most_files + most_bytes / (1 << 20), place
    assert [path.name for path in (folder / "k/own").iterdir()] == ["kernel.json"]
    assert list((folder / "turns").iterdir()) == []


def test_turns_are_files_and_nothing_else_and_no_folder_has_links(folder):
    places = [
        str(folder / name / "made") for name in ("k/own", "turns/own", "turns", "turns/other")
    ]
    done = confined(folder, link=places, make=places)
    if not done["walls"]["files"]:
        pytest.skip("Linux has no Landlock here")
    assert done["linked"] == []
    assert done["made"] == places[:1]


def test_a_kernel_connects_to_no_socket_but_its_own(folder):
    """Landlock lets it connect to every name that it knows: those of others are not there."""
    names = [str(folder / "k" / kernel / "s-1") for kernel in ("own", "other")]
    listening = [socket.socket(socket.AF_UNIX) for _ in names]
    run = Path(tempfile.mkdtemp(prefix="netcalc-", dir="/run")) if os.geteuid() == 0 else None
    if run:
        names.append(str(run / "s"))
        listening.append(socket.socket(socket.AF_UNIX))
    try:
        for one, name in zip(listening, names, strict=True):
            one.bind(name)
            one.listen()
        done = confined(folder, connect=names)
    finally:
        for one in listening:
            one.close()
        if run:
            (run / "s").unlink(missing_ok=True)
            run.rmdir()
    if not done["walls"]["processes"]:
        pytest.skip("no namespaces of processes here")
    assert done["connected"] == names[:1]


@pytest.mark.parametrize(
    ("network", "release", "alone"),
    [
        (True, "6.1.0-13-amd64", True), (True, "5.14.0", True), (True, "5.10.0-26", False),
        (False, "6.1.0-13-amd64", False),
    ],
)  # fmt: skip
def test_processes_are_limited_only_where_linux_counts_those_of_a_kernel(network, release, alone):
    """Else the threads of the teacher's own programs would count: no kernel could start one."""
    walls = Walls(network=network, processes=True, files=True)
    assert counts_alone(walls, release) is alone
