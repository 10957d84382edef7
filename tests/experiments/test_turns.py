"""Live runs of several kernels, one at a time."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from netcalc.experiments.running import stopping
from netcalc.experiments.running.stopping import Turn, turn, waiting


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv(stopping.FOLDER, str(tmp_path))
    monkeypatch.setenv(stopping.OWNER, "ann")
    return tmp_path


def test_without_the_variable_nobody_waits(monkeypatch, tmp_path):
    monkeypatch.delenv(stopping.FOLDER, raising=False)
    with turn(threading.Event(), pytest.fail) as first, turn(threading.Event(), pytest.fail) as two:
        first(1, 2)
        two(1, 2)


def test_of_many_one_runs_at_a_time_in_the_order_of_their_places(folder):
    at_work, most, order, told = [0], [0], [], []

    def work(name: int) -> None:
        with turn(threading.Event(), lambda *said: told.append((name, *said))) as tell:
            at_work[0] += 1
            most[0] = max(most[0], at_work[0])
            order.append(name)
            tell(1, 2)
            time.sleep(0.05)
            at_work[0] -= 1

    threads = []
    for name in range(4):
        threads.append(threading.Thread(target=work, args=(name,)))
        threads[-1].start()
        while len(waiting(folder)) + len(order) <= name:  # its place is taken before the next
            time.sleep(0.001)
    for thread in threads:
        thread.join()
    assert most == [1]
    assert order == [0, 1, 2, 3]
    assert max(before for _, before, _ in told) <= 3
    assert waiting(folder) == []
    assert list(folder.glob("*.turn")) == []


def test_the_wait_is_that_of_the_run_and_of_those_before(folder, monkeypatch):
    now_s = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now_s[0])
    first = Turn(folder)
    first.begin()
    now_s[0] += 3.0
    first.advance(1, 4)  # a quarter in 3 s: 9 s are left
    second, third = Turn(folder), Turn(folder)
    left = [one.left_s for one in third.before()]
    assert left == [pytest.approx(9.0), stopping.TYPICAL_S]
    assert [one.is_running for one in waiting(folder)] == [True, False, False]
    assert {one.owner for one in waiting(folder)} == {"ann"}
    for one in (first, second, third):
        one.leave()


def test_who_stops_while_waiting_has_no_turn_and_leaves(folder):
    with turn(threading.Event(), pytest.fail):
        stop = threading.Event()
        said = []

        def say(before: int, wait_s: float) -> None:
            said.append(before)
            stop.set()

        with turn(stop, say) as tell:
            assert tell is None
        assert said == [1]
        assert len(waiting(folder)) == 1


def test_nobody_waits_for_a_kernel_that_has_crashed(folder):
    crash = (
        "import os; from pathlib import Path\n"
        "from netcalc.experiments.running.stopping import Turn\n"
        f"one = Turn(Path({str(folder)!r})); one.begin(); os._exit(1)"
    )
    root = str(Path(stopping.__file__).parents[3])
    environment = os.environ | {"PYTHONPATH": root}
    subprocess.run([sys.executable, "-c", crash], check=False, env=environment)
    assert len(list(folder.glob("*.turn"))) == 1
    with turn(threading.Event(), pytest.fail):
        assert len(waiting(folder)) == 1


def test_what_is_no_place_is_left_out(folder):
    """The server of a class reads what every kernel may write: nothing there may stop it."""
    (folder / "outside").write_text('{"owner": "x", "is_running": true, "end_s": 1e12}')
    (folder / "02.turn").symlink_to(folder / "outside")
    os.mkfifo(folder / "01.turn")
    (folder / "03.turn").mkdir()
    texts = (
        "[]", "1", "", "nothing", '{"owner": "x"}', "[" * 900, "{" * 5000,
        '{"owner": "x", "is_running": true, "end_s": "soon"}',
        '{"owner": "x", "is_running": true, "end_s": null}',
        '{"owner": "x", "is_running": true, "end_s": NaN}',
        '{"owner": "x", "is_running": true, "end_s": 1' + "0" * 400 + "}",
        '{"owner": [], "is_running": true, "end_s": 1}',
        '{"owner": "x", "is_running": "yes", "end_s": 1}',
    )  # fmt: skip
    held = []
    for number, text in enumerate(texts, start=10):
        held.append((folder / f"{number}.turn").open("w"))
        fcntl.flock(held[-1], fcntl.LOCK_EX)  # as those of processes that run
        held[-1].write(text)
        held[-1].flush()
    own = Turn(folder)
    try:
        assert [one.owner for one in waiting(folder)] == ["ann"]
        assert own.before() == []
    finally:
        own.leave()
        for file in held:
            file.close()


def test_the_file_that_is_locked_may_be_of_another_account(folder, monkeypatch):
    """Who did not make it may read it, and no more."""
    (folder / "running").touch()
    opened = os.open

    def refusing(path, flags, *more, **named):
        if Path(path).name == "running" and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, flags, *more, **named)

    monkeypatch.setattr(stopping.os, "open", refusing)
    with turn(threading.Event(), pytest.fail) as tell:
        assert tell is not None


def test_who_has_a_folder_of_their_own_waits_for_those_in_others(folder, monkeypatch):
    """As in a class, where each kernel writes in its folder alone and reads all."""
    for name in ("ann", "bob"):
        (folder / name).mkdir()
    outside = folder / "ann" / "outside"
    outside.mkdir()
    (outside / "1.turn").write_text("{}")
    (folder / "link").symlink_to(outside)
    first = Turn(folder)
    monkeypatch.setenv(stopping.OWNER, "bob")
    second = Turn(folder)
    try:
        assert [len(list((folder / name).glob("*.turn"))) for name in ("ann", "bob")] == [1, 1]
        assert list(folder.glob("*.turn")) == []
        assert [one.owner for one in second.before()] == ["ann"]
        assert first.before() == []
        assert [one.owner for one in waiting(folder)] == ["ann", "bob"]
    finally:
        first.leave()
        second.leave()
    assert waiting(folder) == []
    assert (outside / "1.turn").exists(), "found by a link, it is none of the turns"


def test_a_link_in_the_place_of_the_lock_is_refused(folder):
    (folder / "outside").touch()
    (folder / "running").symlink_to(folder / "outside")
    with pytest.raises(OSError, match="running"), turn(threading.Event(), pytest.fail):
        pass
    assert waiting(folder) == []


def test_what_one_puts_there_stops_no_run_of_others(folder, monkeypatch):
    """On a server: a link to a home, a folder that others may not read, one that has just gone."""
    listed = os.scandir

    def refusing(path):
        if Path(path).name in ("private", "link"):
            raise PermissionError(13, "Permission denied", str(path))
        if Path(path).name == "gone":
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return listed(path)

    monkeypatch.setattr(stopping.os, "scandir", refusing)
    for name in ("private", "gone"):
        (folder / name).mkdir()
    (folder / "link").symlink_to("/root/none")
    turn_of_one = Turn(folder)
    assert len(waiting(folder)) == 1
    turn_of_one.leave()
