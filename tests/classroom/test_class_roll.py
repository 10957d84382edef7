"""The roll of a class: who returns to which place, what many names cost, what the teacher sees."""

from __future__ import annotations

import pytest

from netcalc.cli.classroom import roll as rolls
from netcalc.cli.classroom.roll import Roll, Tries, new_code, plain

CODE, KEY = "AAAA-AAAA", "B" * 16


@pytest.fixture
def now_s(monkeypatch):
    """The time, which a test moves."""
    now_s = [1000.0]
    monkeypatch.setattr(rolls.time, "time", lambda: now_s[0])
    return now_s


@pytest.fixture
def roll(now_s):
    return Roll(CODE, KEY, 30)


def names(roll):
    return [student.name for student in roll.students.values()]


def test_a_browser_has_one_place_and_its_name_may_change(roll):
    ann = roll.enter(CODE, "Ann")
    other = roll.enter("aaaa aaaa", "Ann")
    assert names(roll) == ["Ann", "Ann (2)"]
    assert roll.enter(CODE, "Ann", browser=other) == other
    assert roll.enter(CODE, "Anna", browser=ann) == ann
    assert roll.enter(CODE, "", browser=ann) == ann
    assert sorted(names(roll)) == ["Ann (2)", "Anna"]
    assert roll.enter("AAAA-AAAB", "Ann", browser=ann) is None


def test_a_browser_that_was_sent_away_returns_to_its_place_with_the_code_alone(roll):
    ann = roll.enter(CODE, "Ann")
    roll.remove(ann)
    assert roll.students == {}
    assert roll.enter(CODE, "Ann", browser=ann) == ann


def test_a_flood_of_names_takes_the_places_of_its_own(roll, now_s, monkeypatch):
    monkeypatch.setattr(rolls, "MOST_NAMES", 50)
    reads = roll.enter(CODE, "Reads", address="192.0.2.9")
    waits = roll.enter(CODE, "Waits", address="192.0.2.1")
    for number in range(200):
        now_s[0] += 1
        assert roll.enter(CODE, f"Eve {number}", address="192.0.2.9", seated={reads})
    assert len(roll.students) == 50
    assert {reads, waits} <= set(roll.students)
    assert "Eve 199" in names(roll)
    assert "Eve 151" not in names(roll), "the one not seen for longest goes"


def test_names_of_one_address_are_told_where_they_are_more_than_the_class(roll, now_s):
    for number in range(25):
        roll.enter(CODE, f"Student {number}", address="192.0.2.1")
        now_s[0] += 20
    assert roll.crowds() == [], "a class that comes in"
    for number in range(34):
        roll.enter(CODE, f"Eve {number}", address="192.0.2.9")
        now_s[0] += 1
    assert roll.crowds() == [{"address": "192.0.2.9", "names": 34, "wrong": 0}]
    for key in roll.of_address("192.0.2.9"):
        roll.remove(key)
    assert roll.crowds() == []
    assert len(roll.students) == 25


def test_wrong_codes_are_counted_and_wait_by_address():
    tries = Tries(most=10, window_s=60.0)
    for second in range(10):
        assert tries.wait_s("192.0.2.1", float(second)) == 0.0
        tries.note_wrong("192.0.2.1", float(second))
    assert tries.wait_s("192.0.2.1", 10.0) == 50.0  # the first is forgotten after 60 s
    tries.note_wrong("192.0.2.1", 10.0)
    assert tries.wait_s("192.0.2.1", 10.0) == 50.0, "one that is refused makes it no longer"
    assert tries.wait_s("192.0.2.2", 10.0) == 0.0
    assert tries.wait_s("192.0.2.1", 60.0) == 0.0
    assert tries.counts == {"192.0.2.1": 11}


def test_the_teacher_is_told_of_many_wrong_codes(roll):
    for _ in range(12):
        roll.tries.note_wrong("192.0.2.9", 1.0)
    roll.tries.note_wrong("192.0.2.1", 1.0)  # a slip
    assert roll.crowds() == [{"address": "192.0.2.9", "names": 0, "wrong": 12}]


def test_a_new_start_knows_who_was_there(roll):
    changes = []
    roll.changed = lambda: changes.append(1)
    ann, teacher = roll.enter(CODE, "Ann", address="192.0.2.1"), roll.enter(KEY, "")
    roll.remove("nobody")
    assert len(changes) == 2
    again = Roll(CODE, KEY, 30)
    again.restore(roll.kept())
    assert again.students == roll.students
    assert (list(again.students), again.teachers) == ([ann], {teacher})


def test_codes_are_random_and_read_as_they_are_said():
    codes = {new_code() for _ in range(200)}
    assert len(codes) == 200
    assert all(len(plain(code)) == 8 for code in codes)
    assert plain("abcd efgh") == plain("ABCD-EFGH") == b"ABCDEFGH"
