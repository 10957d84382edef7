"""Who is in a class: codes, the roll of names, and what comes from one address.

A name costs nothing, so the roll holds many more than a class has students: somebody who enters
under thirty names keeps nobody out. What costs is a lesson that is open, and that
:class:`~netcalc.cli.classroom.kernels.ClassKernels` limits.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from typing import Any

LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Of a code: no two of them look alike on a board."""
CODE_LENGTH, KEY_LENGTH = 8, 16
MOST_WRONG, WINDOW_S = 10, 60.0
"""Wrong codes from one address in this time, after which wrong ones are refused. [1], [s]"""
MOST_NAME = 40
MOST_NAMES = 1000
"""Names on the roll: more than the lessons that the largest class has open."""
_CROWD = 10
"""Names of one address within ``WINDOW_S`` that the teacher is told of, if there are too many."""
_MOST_ADDRESSES = 10_000


def new_code(length: int = CODE_LENGTH) -> str:
    """Return a random code in groups of four letters."""
    drawn = "".join(secrets.choice(LETTERS) for _ in range(length))
    return "-".join(drawn[at : at + 4] for at in range(0, length, 4))


def plain(code: str) -> bytes:
    """Return a code as it is compared: without its dashes and spaces, in capitals."""
    return "".join(letter for letter in code.upper() if letter.isalnum()).encode()[:100]


class Tries:
    """Counts wrong codes by address."""

    def __init__(self, most: int = MOST_WRONG, window_s: float = WINDOW_S) -> None:
        self._most, self._window_s = most, window_s
        self._wrong_s: dict[str, list[float]] = {}
        self.counts: Counter[str] = Counter()
        """All wrong codes of the class, by address."""

    def wait_s(self, address: str, now_s: float) -> float:
        """Return how long wrong codes of an address are refused; 0 if they are not. [s]"""
        recent = [at for at in self._wrong_s.get(address, ()) if now_s - at < self._window_s]
        self._wrong_s[address] = recent
        return recent[0] + self._window_s - now_s if len(recent) >= self._most else 0.0

    def note_wrong(self, address: str, now_s: float) -> None:
        """Count a wrong code; one that is refused does not make the wait longer."""
        if len(self._wrong_s) > _MOST_ADDRESSES:
            self._wrong_s.clear()
            self.counts.clear()
        self.counts[address] += 1
        if self.wait_s(address, now_s) == 0:
            self._wrong_s[address].append(now_s)


@dataclass
class Entrant:
    """Somebody who has entered.

    Attributes
    ----------
    key : str
        What the cookie says; one for each browser.
    name : str
        As typed, with a number behind it if another has the same.
    address : str
        Where they entered from.
    since_s, seen_s : float
        When they entered, and when they last asked for a page, since 1970. [s]
    """

    key: str
    name: str
    address: str = ""
    since_s: float = 0.0
    seen_s: float = 0.0


class Roll:
    """Who is in the class.

    Parameters
    ----------
    code, teacher_key : str
        Of students, and of the teacher.
    expected : int
        Number of students that the class is for.
    """

    def __init__(self, code: str, teacher_key: str, expected: int) -> None:
        self._code, self._teacher_key, self._expected = plain(code), plain(teacher_key), expected
        self.students: dict[str, Entrant] = {}
        self.teachers: set[str] = set()
        self.tries = Tries()
        self.changed: Callable[[], object] = lambda: None
        """Called when there is more or less to keep."""

    def enter(
        self,
        code: str,
        name: str,
        *,
        address: str = "",
        browser: str = "",
        seated: Collection[str] = (),
    ) -> str | None:
        """Return who has entered with a code, or None if it is not one of the two.

        Parameters
        ----------
        code, name : str
            As typed.
        address : str
            Where from.
        browser : str
            Who has entered with this browser before: it returns to that place, and may rename it.
        seated : collection of str
            Keys of the students who have a lesson open: they stay on the roll.
        """
        typed = plain(code)
        is_student = hmac.compare_digest(typed, self._code)
        is_teacher = hmac.compare_digest(typed, self._teacher_key)
        who = secrets.token_urlsafe(16)
        if is_teacher:
            self.teachers.add(who)
        elif is_student:
            who = browser or who
            known = self.students.get(who)
            if known is None:
                self._make_room(seated)
                self.students[who] = Entrant(who, self._name(name), address, time.time())
                self.note_seen(who)
            elif name:
                del self.students[who]
                known.name = self._name(name)
                self.students[who] = known
        else:
            return None
        self.changed()
        return who

    def note_seen(self, key: str) -> None:
        """Note that a student has asked for a page."""
        if key in self.students:
            self.students[key].seen_s = time.time()

    def remove(self, key: str) -> None:
        """Take a student off the roll; the cookie is of no use from now on."""
        if self.students.pop(key, None):
            self.changed()

    def of_address(self, address: str) -> list[str]:
        """Return the keys of the students who have entered from an address."""
        return [one.key for one in self.students.values() if one.address == address]

    def crowds(self) -> list[dict[str, Any]]:
        """Return, for each address that a teacher should know of, its names and wrong codes.

        Returns
        -------
        list of dict
            ``address``; ``names``: most names from there within a minute, 0 as long as the roll has
            no more names than the class students; ``wrong``: wrong codes, 0 if they are few.
        """
        names: dict[str, list[float]] = {}
        if len(self.students) > self._expected:
            for one in self.students.values():
                names.setdefault(one.address, []).append(one.since_s)
        counts = {address: _most_within(times, WINDOW_S) for address, times in names.items()}
        counts = {address: count for address, count in counts.items() if count >= _CROWD}
        wrong = {one: count for one, count in self.tries.counts.items() if count >= MOST_WRONG}
        found = [
            {"address": one, "names": counts.get(one, 0), "wrong": wrong.get(one, 0)}
            for one in {**counts, **wrong}
        ]
        return sorted(found, key=lambda one: (-one["names"], -one["wrong"]))

    def kept(self) -> dict[str, Any]:
        """Return what a new start has to know."""
        return {
            "students": [asdict(student) for student in self.students.values()],
            "teachers": sorted(self.teachers),
        }

    def restore(self, kept: dict[str, Any]) -> None:
        """Take over what :meth:`kept` has returned."""
        entrants = [Entrant(**student) for student in kept["students"]]
        self.students = {one.key: one for one in entrants}
        self.teachers = set(kept["teachers"])

    def _make_room(self, seated: Collection[str]) -> None:
        """Forget who was not seen for longest, of the address with the most names.

        So a flood of names from one address takes the places of its own.
        """
        while len(self.students) >= MOST_NAMES:
            idle = [one for one in self.students.values() if one.key not in seated]
            ((address, _),) = Counter(one.address for one in idle).most_common(1)
            theirs = (one for one in idle if one.address == address)
            del self.students[min(theirs, key=lambda one: one.seen_s).key]

    def _name(self, typed: str) -> str:
        shown = "".join(letter for letter in typed if letter.isprintable()).strip()[:MOST_NAME]
        shown = shown or "Student"
        taken = {student.name for student in self.students.values()}
        number, name = 1, shown
        while name in taken:
            number += 1
            name = f"{shown} ({number})"
        return name


def _most_within(times_s: list[float], window_s: float) -> int:
    """Return how many of these times lie within one window at most."""
    times_s, begin, most = sorted(times_s), 0, 0
    for at, time_s in enumerate(times_s):
        while time_s - times_s[begin] > window_s:
            begin += 1
        most = max(most, at - begin + 1)
    return most
