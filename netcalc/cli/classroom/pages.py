"""Who may enter a class, and its pages: the door, the list of lessons, the teacher's.

Students enter by the code of the class, the teacher by a key of their own.
"""

from __future__ import annotations

import asyncio
import hmac
import math
import time
from http.client import responses
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from jupyter_server.auth.authorizer import Authorizer
from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.auth.identity import IdentityProvider, User
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.services.kernels.handlers import KernelHandler
from tornado.web import HTTPError, RequestHandler, authenticated
from voila.shutdown_kernel_handler import VoilaShutdownKernelHandler
from voila.static_file_handler import TemplateStaticFileHandler
from voila.tornado.handler import TornadoVoilaHandler
from voila.tornado.kernel_websocket_handler import VoilaKernelWebsocketHandler

from netcalc.cli.classroom.kernels import ClassKernels, LessonRequest, lesson_request
from netcalc.experiments.running.stopping import waiting

TEACHER = "teacher"
_BROWSER_DAYS = 7
"""How long a browser may return to its place with the code of the class."""
_MOST_IDLE_ROWS = 100
"""Names without a lesson in the teacher's table."""
_MOST_SOCKETS = 4
"""Web sockets to a kernel: a page has one, and a new one after each time that its line broke."""


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


PAGES = Path(__file__).parent / "pages"
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src 'self'; "
    "img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_SENTENCES = {
    503: "There is no place for another lesson now. Tell your teacher, and load this page again.",
}


class Refusing:
    """Says what is refused in one line: Jupyter's own page of errors needs more of Jupyter."""

    def write_error(self, status_code: int, **more: Any) -> None:
        """Write it."""
        handler: Any = self
        handler.set_header("Content-Type", "text/plain; charset=utf-8")
        handler.finish(f"{status_code}: {_SENTENCES.get(status_code) or responses[status_code]}\n")


class Turnstile:
    """Lets the requests of an address pass one after another: those of others come between.

    A whole class may have one address. There those of each name take turns, and those of everybody
    who has not entered count as of one name.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[str, ...], asyncio.Lock] = WeakValueDictionary()

    async def pass_through(self, address: str, student: str) -> None:
        """Wait for those of the same name that came before, then for one of each other name."""
        async with self._lock(address, student), self._lock(address):
            await asyncio.sleep(0)

    def _lock(self, *whose: str) -> asyncio.Lock:
        return self._locks.setdefault(whose, asyncio.Lock())


class ClassPage(Refusing, JupyterHandler):
    """A page of the class."""

    async def prepare(self) -> None:
        """Wait for a turn: one who asks as fast as they can delays mostly themselves."""
        student = ""
        try:
            await super().prepare()
            student = self.current_user.username if self.current_user else ""
        finally:  # who is refused waits, too
            address = str(self.request.remote_ip)
            await self.settings["class_turnstile"].pass_through(address, student)

    @property
    def content_security_policy(self) -> str:
        """Nothing from elsewhere, no frame, no script but ours."""
        return _POLICY

    def _browser_cookie(self) -> str:
        return f"{self.identity_provider.cookie_name}-browser"

    def show(self, template: str, **values: Any) -> None:
        """Write a page from its template; values are escaped."""
        page = self.settings["class_templates"].get_template(template)
        self.set_header("Cache-Control", "no-store")
        self.write(page.render(base_url=self.base_url, xsrf=self.xsrf_form_html(), **values))


class Door(ClassPage):
    """Where the code is entered."""

    @allow_unauthenticated
    def get(self) -> None:
        """Show the form."""
        if self.current_user:
            self.redirect(self._inside())
            return
        self._ask(problem="", name="")

    @allow_unauthenticated
    def post(self) -> None:
        """Compare the code."""
        if self._is_inside():  # a form that was sent twice takes no second place
            self.redirect(self._inside())
            return
        roll, address = self.settings["class_roll"], str(self.request.remote_ip)
        name = self.get_body_argument("name", "")
        who = roll.enter(
            self.get_body_argument("code", ""), name,
            address=address, browser=self._browser(), seated=seated(self.settings),
        )  # fmt: skip
        if who is None:
            # Judged first, whatever came from there before: one who tries codes locks nobody out.
            now_s = time.monotonic()
            wait_s = roll.tries.wait_s(address, now_s)
            roll.tries.note_wrong(address, now_s)
            self.set_status(429 if wait_s else 401)
            if wait_s:
                self.set_header("Retry-After", str(math.ceil(wait_s)))
            self._ask(problem="many" if wait_s else "wrong", name=name)
            return
        user = self.identity_provider.user_from_cookie(who)
        self.identity_provider.set_login_cookie(self, user)
        self.current_user = user
        if not self.identity_provider.is_teacher(user):
            self.set_signed_cookie(
                self._browser_cookie(), who, expires_days=_BROWSER_DAYS, path=self.base_url,
                httponly=True, samesite="Strict", secure=self.request.protocol == "https",
            )  # fmt: skip
        self.redirect(self._inside())

    def _ask(self, **values: Any) -> None:
        to = self.get_argument("next", "")
        self.show("door.html", is_for_teacher=to == f"{self.base_url}teacher", **values)

    def _browser(self) -> str:
        kept = self.get_signed_cookie(self._browser_cookie(), max_age_days=_BROWSER_DAYS)
        return kept.decode() if kept else ""

    def _is_inside(self) -> bool:
        return self.current_user is not None

    def _inside(self) -> str:
        is_teacher = self.identity_provider.is_teacher(self.current_user)
        return f"{self.base_url}teacher" if is_teacher else str(self.base_url)


class Leave(ClassPage):
    """The way out: the kernels end, the name is free, the answers are forgotten."""

    @authenticated
    async def post(self) -> None:
        """Leave."""
        self.check_xsrf_cookie()
        student = self.current_user.username
        await send_away(self.settings, student)
        self.settings["kernel_manager"].answers_of(student).unlink(missing_ok=True)
        self.clear_cookie(self._browser_cookie(), path=self.base_url)
        self.identity_provider.clear_login_cookie(self)
        self.redirect(f"{self.base_url}login")


class Lessons(ClassPage):
    """The list of lessons."""

    @authenticated
    def get(self) -> None:
        """Show it."""
        self.show(
            "lessons.html", lessons=self.settings["class_lessons"], name=self.current_user.name
        )


class WayBack(ClassPage):
    """The addresses that Voila's pages give the list of lessons."""

    @authenticated
    def get(self) -> None:
        """Go there."""
        self.redirect(str(self.base_url))


class Lesson(Refusing, TornadoVoilaHandler):
    """Voila's page of a lesson, with a kernel that is the student's."""

    @authenticated
    async def get(self, path: str = "") -> None:
        """Start a kernel and show the page, if it is one of the lessons."""
        if path not in self.settings["class_lessons"]:
            raise HTTPError(404)
        kernels: ClassKernels = self.settings["kernel_manager"]
        asked = LessonRequest(self.current_user.username, path)
        # Each page costs the one thread that serves all: one more than somebody may have open.
        if kernels.preparing[asked.student] > kernels.each:
            raise HTTPError(503)
        kernels.preparing[asked.student] += 1
        try:
            if not await kernels.make_room(asked.student):
                raise HTTPError(503)
            _ = self.xsrf_token  # sets the cookie without which a page cannot end its kernel
            lesson_request.set(asked)
            # As Voila does, which goes on without an end where the kernel has ended.
            async for part in self.get_generator(path):
                if asked.kernel_id and asked.kernel_id not in kernels.seats:
                    self.write("<script>window.netcalc_ended()</script>\n")
                    break
                self.write(part)
                self.flush()
        finally:
            kernels.preparing[asked.student] -= 1
            kernels.note_delivered(asked.kernel_id)


class EndKernel(Refusing, VoilaShutdownKernelHandler):
    """What a page calls when it is left."""

    @authenticated
    async def post(self, kernel_id: str) -> None:
        """End a kernel of the student's own."""
        kernels: ClassKernels = self.settings["kernel_manager"]
        if not kernels.owns(self.current_user.username, kernel_id):
            raise HTTPError(404)
        await kernels.end(kernel_id)
        self.set_status(204)
        self.finish()


class KernelSocket(Refusing, VoilaKernelWebsocketHandler):
    """The web socket to a kernel; the authorizer says whose it is."""

    async def open(self, kernel_id: str) -> None:
        """Connect, in place of the oldest of too many: each costs the server as much as a page."""
        sockets = self.settings["kernel_manager"].sockets_of(kernel_id)
        if len(sockets) >= _MOST_SOCKETS:
            sockets.pop(0).cut()
        assert self.ws_connection is not None
        self._stream = self.ws_connection.stream
        sockets.append(self)
        await super().open(kernel_id)

    def cut(self) -> None:
        """Close at once, whether or not the page answers."""
        self.close()
        self._stream.close()

    async def on_message(self, ws_message: str | bytes) -> None:
        """Hand over a message; then others come first, however many more have arrived with it."""
        super().on_message(ws_message)
        await asyncio.sleep(0)

    def on_close(self) -> None:
        """Disconnect."""
        sockets = self.settings["kernel_manager"].sockets_of(self.kernel_id)
        if self in sockets:
            sockets.remove(self)
        super().on_close()


class KernelModel(Refusing, KernelHandler):
    """What a page asks for before it connects; the authorizer says whose kernel it is."""


class Templates(TemplateStaticFileHandler):
    """Files of Voila's templates; a path out of them is refused before it is looked for."""

    async def get(self, path: str, include_body: bool = True) -> None:
        """Write a file."""
        steps = path.split("/")
        if ".." in steps or len(steps) < 3 or steps[1] != "static":
            raise HTTPError(404)
        await super().get(path, include_body)


class TeacherPage(ClassPage):
    """A page for the teacher alone; for others it does not exist."""

    async def prepare(self) -> None:
        """Refuse others."""
        await super().prepare()
        if self.current_user and not self.identity_provider.is_teacher(self.current_user):
            raise HTTPError(404)


class Teacher(TeacherPage):
    """Who is where, and the buttons that end."""

    @authenticated
    def get(self) -> None:
        """Show the page."""
        self.show("teacher.html", code=self.settings["class_code"])


class TeacherState(TeacherPage):
    """What the teacher's page asks for every other second."""

    @authenticated
    def get(self) -> None:
        """Write the table."""
        self.set_header("Cache-Control", "no-store")
        rows = state(self.settings)
        idle = [row["student"] for row in rows if not row["kernel"]]
        hidden = set(idle[_MOST_IDLE_ROWS:])
        self.write(
            {
                "rows": [row for row in rows if row["student"] not in hidden],
                "students": len({row["student"] for row in rows}),
                "not_shown": len(hidden),
                "crowds": self.settings["class_roll"].crowds()[:5],
                "now_s": time.time(),
            }
        )


class TeacherEnd(TeacherPage):
    """Ends one kernel, sends one student away or all of an address, or ends all."""

    @authenticated
    async def post(self) -> None:
        """End what the form names."""
        self.check_xsrf_cookie()
        kernels: ClassKernels = self.settings["kernel_manager"]
        what, which = self.get_body_argument("what"), self.get_body_argument("which", "")
        match what:
            case "kernel":
                await kernels.end(which)
            case "student":
                await send_away(self.settings, which)
            case "idle of address" | "all of address":
                kept = seated(self.settings) if what.startswith("idle") else set()
                sent = set(self.settings["class_roll"].of_address(which)) - kept
                await asyncio.gather(*(send_away(self.settings, student) for student in sent))
            case "all":
                await kernels.end_all()
            case "class":
                self.settings["class_end"]()
            case _:
                raise HTTPError(400)
        self.set_status(204)


class Script(RequestHandler):
    """The script of the teacher's page, which holds no secret."""

    def get(self) -> None:
        """Write it."""
        self.set_header("Content-Type", "text/javascript")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.write((PAGES / "teacher.js").read_bytes())


async def send_away(settings: dict[str, Any], student: str) -> None:
    """End the kernels of a student, whose cookie is of no use from now on."""
    kernels: ClassKernels = settings["kernel_manager"]
    for kernel_id, seat in list(kernels.seats.items()):
        if hmac.compare_digest(seat.student, student):
            await kernels.end(kernel_id)
    settings["class_roll"].remove(student)


def seated(settings: dict[str, Any]) -> set[str]:
    """Return who has a lesson open."""
    return {seat.student for seat in settings["kernel_manager"].seats.values()}


def state(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each kernel, and one for each student without any."""
    kernels: ClassKernels = settings["kernel_manager"]
    folder = kernels.process.turns if kernels.process else kernels.turns
    turns = {turn.owner: turn.is_running for turn in waiting(folder)}
    rows = []
    students = settings["class_roll"].students
    for kernel_id, seat in kernels.seats.items():
        student = students.get(seat.student)
        kernel = kernels.get_kernel(kernel_id) if kernel_id in kernels else None
        doing = str(getattr(kernel, "execution_state", None) or "starting")
        if seat.turns_name in turns:
            doing = "live run" if turns[seat.turns_name] else "waits for a live run"
        rows.append(
            {
                "student": seat.student,
                "name": student.name if student else "",
                "lesson": seat.lesson.removesuffix(".ipynb").replace("_", " "),
                "kernel": kernel_id,
                "since_s": seat.began_s,
                "memory_bytes": seat.memory_seen_bytes,
                "doing": doing,
            }
        )
    with_lesson = seated(settings)
    for student in students.values():
        if student.key not in with_lesson:
            rows.append(
                {
                    "student": student.key, "name": student.name, "lesson": "", "kernel": "",
                    "since_s": student.since_s, "memory_bytes": 0, "doing": "no lesson open",
                }
            )  # fmt: skip
    return sorted(rows, key=lambda row: str(row["name"]).casefold())
