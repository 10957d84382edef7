"""Who may enter a class: students by its code, the teacher by a key of their own."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from jupyter_server.auth.authorizer import Authorizer
from jupyter_server.auth.identity import IdentityProvider, User

TEACHER = "teacher"
MOST_WRONG, WRONG_WINDOW_S = 10, 60.0
"""Wrong codes from one address in this time, after which it waits. [1], [s]"""
MOST_NAME = 40
IDLE_S = 300.0
"""How long a place is kept for a student without a lesson when the class is full. [s]"""


class Tries:
    """Counts wrong codes by address."""

    def __init__(self, most: int = MOST_WRONG, window_s: float = WRONG_WINDOW_S) -> None:
        self._most, self._window_s = most, window_s
        self._wrong_s: dict[str, list[float]] = {}

    def wait_s(self, address: str, now_s: float) -> float:
        """Return how long an address has to wait; 0 if it may try. [s]"""
        recent = [at for at in self._wrong_s.get(address, ()) if now_s - at < self._window_s]
        self._wrong_s[address] = recent
        return recent[0] + self._window_s - now_s if len(recent) >= self._most else 0.0

    def note_wrong(self, address: str, now_s: float) -> None:
        """Count a wrong code."""
        if len(self._wrong_s) > 10_000:
            self._wrong_s.clear()
        self._wrong_s.setdefault(address, []).append(now_s)


@dataclass
class Student:
    """Somebody who has entered."""

    key: str
    name: str
    since_s: float = field(default_factory=time.time)
    seen_s: float = 0.0


class Roll:
    """Who is in the class."""

    def __init__(self, code: str, teacher_key: str, most: int) -> None:
        self._code, self._teacher_key, self._most = plain(code), plain(teacher_key), most
        self.students: dict[str, Student] = {}
        self.teachers: set[str] = set()
        self.tries = Tries()

    def enter(self, code: str, name: str) -> str | None:
        """Return who has entered with a code, or None if it is not one of the two."""
        typed = plain(code)
        is_student = hmac.compare_digest(typed, self._code)
        is_teacher = hmac.compare_digest(typed, self._teacher_key)
        who = secrets.token_urlsafe(16)
        if is_teacher:
            self.teachers.add(who)
        elif is_student:
            self.students[who] = Student(who, self._name(name))
            self.note_seen(who)
        else:
            return None
        return who

    def is_student_code(self, code: str) -> bool:
        """Whether this is the code of the class."""
        return hmac.compare_digest(plain(code), self._code)

    @property
    def is_full(self) -> bool:
        """Whether no more students can enter."""
        return len(self.students) >= self._most

    def note_seen(self, key: str) -> None:
        """Note that a student has asked for a page."""
        if key in self.students:
            self.students[key].seen_s = time.monotonic()

    def make_room(self, seated: Collection[str]) -> None:
        """Free the places of those who have left without a word, if there is no other.

        Parameters
        ----------
        seated : collection of str
            Keys of the students who have a lesson open: they keep their places.
        """
        before_s = time.monotonic() - IDLE_S
        for student in list(self.students.values()) if self.is_full else ():
            if student.key not in seated and student.seen_s < before_s:
                del self.students[student.key]

    def _name(self, typed: str) -> str:
        shown = "".join(letter for letter in typed if letter.isprintable()).strip()[:MOST_NAME]
        shown = shown or "Student"
        taken = {student.name for student in self.students.values()}
        number, name = 1, shown
        while name in taken:
            number += 1
            name = f"{shown} ({number})"
        return name


class ClassIdentity(IdentityProvider):
    """Jupyter's own identity by a signed cookie, for those on the roll and nobody else."""

    roll: Any = None

    def __init__(self, **kwargs: Any) -> None:
        kwargs["token"] = ""  # no address with a token
        kwargs.pop("login_handler_class", None)
        super().__init__(**kwargs)
        self.cookie_options = {"samesite": "Strict", "expires_days": None}
        self.cookie_name = f"netcalc-classroom-{self.parent.port}"  # cookies know no ports

    async def get_user_token(self, handler: Any) -> None:
        """No token is one."""
        return

    def user_to_cookie(self, user: User) -> str:
        """Write who it is."""
        return str(user.username)

    def user_from_cookie(self, cookie_value: str) -> User | None:
        """Return who it is, if they have not been sent away."""
        self.roll.note_seen(cookie_value)
        student = self.roll.students.get(cookie_value)
        if student is not None:
            return User(student.key, student.name)
        return User(cookie_value, TEACHER) if cookie_value in self.roll.teachers else None

    def get_handlers(self) -> list[Any]:
        """No page of Jupyter's own: the class has one."""
        return []

    def is_teacher(self, user: User | None) -> bool:
        """Whether somebody is the teacher."""
        return user is not None and user.username in self.roll.teachers


class ClassAuthorizer(Authorizer):
    """A student reaches their own kernels, and nothing else that asks for permission."""

    def is_authorized(self, handler: Any, user: User, action: str, resource: str) -> bool:
        """Allow a kernel to the student who has it."""
        if resource != "kernels":
            return False
        kernel_id = handler.path_kwargs.get("kernel_id", "")
        return bool(handler.kernel_manager.owns(user.username, kernel_id))


LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Of a code: no two of them look alike on a board."""
CODE_LENGTH, KEY_LENGTH = 8, 16


def new_code(length: int = CODE_LENGTH) -> str:
    """Return a random code in groups of four letters."""
    drawn = "".join(secrets.choice(LETTERS) for _ in range(length))
    return "-".join(drawn[at : at + 4] for at in range(0, length, 4))


def plain(code: str) -> bytes:
    """Return a code as it is compared: without its dashes and spaces, in capitals."""
    return "".join(letter for letter in code.upper() if letter.isalnum()).encode()[:100]
