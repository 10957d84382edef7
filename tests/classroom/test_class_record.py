"""The record of a class: who takes it over, who does not, and when it goes."""

from __future__ import annotations

import json
import os
import stat

import pytest

pytest.importorskip("fcntl")

from netcalc.cli.classroom import record as records
from netcalc.cli.serving import open_lock

KNOWN = dict.fromkeys(records.FIELDS, "") | {"code": "AAAA-AAAA", "options": {"port": 8890}}


def kill(place, port=8890):
    """Leave what a class leaves that was killed."""
    with records.new(place) as (record, _):
        record.write({**KNOWN, "options": {"port": port}})
        record.is_needed = True
    return record.folder


def test_a_class_that_has_ended_leaves_nothing_and_one_that_was_killed_all(tmp_path):
    with records.new(tmp_path / "a") as (record, _):
        record.write(KNOWN)
        file = record.folder / "class.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(record.folder.stat().st_mode) == 0o700
    assert list((tmp_path / "a").iterdir()) == []
    folder = kill(tmp_path / "a")
    assert records.count_killed(tmp_path / "a") == 1
    with records.killed(tmp_path / "a", None) as (record, _):
        assert record.folder == folder
        assert record.known["code"] == "AAAA-AAAA"
    assert folder.exists(), "the second start failed: a third one is as good"


def test_a_class_that_runs_is_not_taken_over_and_the_last_one_is(tmp_path):
    first, second = kill(tmp_path), kill(tmp_path, port=8891)
    os.utime(first / "class.json", (1e9, 1e9))
    with records.killed(tmp_path, None) as (record, _):
        assert record.folder == second
        with records.killed(tmp_path, None) as (other, _):
            assert other.folder == first
            with records.killed(tmp_path, None) as none:
                assert none is None
    with records.killed(tmp_path, 8890) as (record, _):
        assert record.folder == first
    with records.killed(tmp_path, 9999) as (record, _):
        assert record.folder == second, "the last one, which goes on at another port"


def test_a_new_start_waits_for_the_server_of_a_command_that_was_killed(tmp_path, monkeypatch):
    folder, slept = kill(tmp_path), []

    def sleep(pause_s):
        slept.append(pause_s)
        assert len(slept) < 5
        if len(slept) == 3:
            (folder / "class.json").write_text(json.dumps({"format": 1, **KNOWN, "code": "LAST"}))
            ending.close()

    with records.contextlib.ExitStack() as ending:
        assert records.lock(open_lock(folder / "server.lock", ending))
        monkeypatch.setattr(records.time, "sleep", sleep)
        with records.killed(tmp_path, None) as (record, _):
            assert record.known["code"] == "LAST", "what the server wrote at its end"
    assert len(slept) == 3


def test_a_class_whose_server_does_not_end_is_not_taken_over(tmp_path, monkeypatch):
    folder = kill(tmp_path)
    monkeypatch.setattr(records, "_ENDING_S", 0.0)
    with records.contextlib.ExitStack() as ending:
        assert records.lock(open_lock(folder / "server.lock", ending))
        with records.killed(tmp_path, None) as none:
            assert none is None
    with records.killed(tmp_path, None) as (record, _):
        assert record.folder == folder


@pytest.mark.parametrize("text", ["", "[]", '{"format": 2}', '{"format": 1', "null"])
def test_a_record_that_cannot_be_read_is_none(tmp_path, text):
    folder = kill(tmp_path)
    (folder / "class.json").write_text(text)
    with records.killed(tmp_path, None) as none:
        assert none is None
    assert records.count_killed(tmp_path) == 0


def test_a_record_that_others_may_read_is_none(tmp_path):
    (kill(tmp_path) / "class.json").chmod(0o644)
    with records.killed(tmp_path, None) as none:
        assert none is None


def test_a_class_that_nobody_continues_is_forgotten_after_a_week(tmp_path, monkeypatch):
    folder = kill(tmp_path)
    written_s = (folder / "class.json").stat().st_mtime
    for days, count in ((6, 1), (8, 0)):
        monkeypatch.setattr(records.time, "time", lambda days=days: written_s + days * 86400)
        assert records.count_killed(tmp_path) == count
        assert folder.exists() == bool(count)


def test_the_folder_of_records_is_that_of_the_users_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert records.place() == tmp_path / "netcalc/classes"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")  # which the specification says to ignore
    monkeypatch.setenv("HOME", str(tmp_path))
    assert records.place() == tmp_path / ".local/state/netcalc/classes"
