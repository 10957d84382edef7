"""A class of ten students and one attacker who has the code: what the ten wait, and what falls.

    python tests/benchmarks/class_attacks.py [ROUNDS] [STUDENTS]

Each honest student has lesson 01 open. All the time one after the other asks for the list of
lessons, and one asks a kernel for an answer. Each attack of a round lasts until all of it is sent;
the waits of that time are printed by kind, beside those of a time without an attack. Afterwards
every student must still get an answer of the same kernel. Prints figures; ends with 1 if a student
lost a kernel or the class ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import socket
import struct
import sys
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import psutil
from tornado.httpclient import HTTPClientError
from tornado.websocket import WebSocketClosedError

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
os.environ["PYTHONPATH"] = str(ROOT)
sys.path[:0] = [str(HERE.parent / "classroom"), str(ROOT)]

from running import RunningClass  # noqa: E402
from students import Student  # noqa: E402

LESSON = "01_latency_and_bandwidth.ipynb"
V1 = "v1.kernel.websocket.jupyter.org"
CLOSED = (WebSocketClosedError, ConnectionError, TimeoutError, OSError)
REFUSED = (HTTPClientError, *CLOSED)
EVERY_S = 0.05
"""Between two questions of the honest students. [s]"""
LONGEST_S = 30.0
"""How long a student waits for an answer before it counts as lost. [s]"""
Attack = Callable[["Attacker"], Awaitable[None]]
ATTACKS: dict[str, Attack] = {}


def attack(made: Attack) -> Attack:
    """Add an attack under its name."""
    ATTACKS[made.__name__.replace("_", " ")] = made
    return made


class Attacker(Student):
    """Somebody with the code, and a lesson open where an attack needs a kernel."""

    def __init__(self, running: RunningClass, victim: Student) -> None:
        super().__init__(running.base)
        self.code, self.victim = running.code, victim
        self.draw = random.Random(20261130)
        self.models: list[str] = []

    async def sit(self, subprotocols: list[str] | None = None) -> None:
        """Enter, open the lesson, and connect to its kernel."""
        if not self.kernel_id:
            await self.enter(self.code, "Mallory")
            await self.open(LESSON)
            await self.connect()
            self.models = list(await self.widgets())
        await self.connect(subprotocols=subprotocols)

    async def say(self, kind: str, content: dict[str, object], channel: str = "shell") -> None:
        """Send a message of Jupyter's, on a new connection after one that was closed."""
        try:
            await self.send(kind, content, channel)
        except CLOSED:
            with contextlib.suppress(Exception):
                await self.connect()

    async def throw(self, *messages: bytes | str) -> None:
        """Send messages to the kernel's socket, on a new connection after one that was closed."""
        for message in messages:
            try:
                await self.socket.write_message(message, binary=isinstance(message, bytes))
            except CLOSED:
                with contextlib.suppress(Exception):
                    await self.connect()

    def address(self) -> tuple[str, int]:
        """Where the class listens."""
        parts = urlsplit(self.base)
        return str(parts.hostname), int(parts.port or 0)

    def raw(self, text: bytes) -> socket.socket:
        """Open a connection and send some bytes."""
        opened = socket.create_connection(self.address(), timeout=5.0)
        opened.setblocking(False)
        with contextlib.suppress(OSError):
            opened.send(text)
        return opened


@attack
async def a_count_of_a_tera(attacker: Attacker) -> None:
    await attacker.sit([V1])
    await attacker.throw(struct.pack("<Q", 1 << 40) + bytes(8))


@attack
async def a_count_of_forty_million(attacker: Attacker) -> None:
    await attacker.sit()
    await attacker.throw(struct.pack("!I", 40_000_000) + bytes(4))


@attack
async def random_bytes_on_the_socket(attacker: Attacker) -> None:
    await attacker.sit([V1])
    await attacker.throw(
        *(attacker.draw.randbytes(attacker.draw.randrange(300)) for _ in range(200))
    )


@attack
async def messages_of_four_megabytes(attacker: Attacker) -> None:
    await attacker.sit()
    await attacker.throw(*["x" * (4_000_000)] * 20)


@attack
async def nested_json(attacker: Attacker) -> None:
    await attacker.sit()
    await attacker.throw(*["[" * 100_000] * 20)


@attack
async def hostile_widget_values(attacker: Attacker) -> None:
    await attacker.sit()
    for value in (1e308, -1e308, "x" * 100_000, [[]] * 1000, None, {"_esm": "/etc/passwd"}) * 10:
        for model in list(attacker.models)[:3]:
            await attacker.say("comm_msg", {"comm_id": model, "data": {
                "method": "update", "state": {"value": value}, "buffer_paths": []}})  # fmt: skip


@attack
async def a_slider_two_thousand_times(attacker: Attacker) -> None:
    await attacker.sit()
    states = await attacker.widgets()
    sliders = [
        key for key, one in states.items() if "Slider" in str(one.get("model_name", one["state"]))
    ]
    for number in range(2000):
        await attacker.say("comm_msg", {"comm_id": sliders[0], "data": {
            "method": "update", "state": {"value": number % 7}, "buffer_paths": []}})  # fmt: skip


@attack
async def all_states_and_no_reading(attacker: Attacker) -> None:
    await attacker.sit()
    for _ in range(100):
        comm = uuid.uuid4().hex
        target = {"comm_id": comm, "target_name": "jupyter.widget.control", "data": {}}
        await attacker.say("comm_open", target)
        await attacker.say("comm_msg", {"comm_id": comm, "data": {"method": "request_states"}})


@attack
async def requests_that_are_of_no_widget(attacker: Attacker) -> None:
    await attacker.sit()
    kinds = ("execute_request", "shutdown_request", "interrupt_request", "debug_request",
             "complete_request", "inspect_request", "history_request", "input_reply")  # fmt: skip
    for kind in kinds * 30:
        for channel in ("shell", "control", "stdin"):
            await attacker.say(kind, {"code": "while 1: pass", "restart": False}, channel)


@attack
async def thirty_five_names(attacker: Attacker) -> None:
    for number in range(35):
        await Student(attacker.base).enter(attacker.code, f"Ghost {number}")


@attack
async def forty_wrong_codes(attacker: Attacker) -> None:
    for number in range(40):
        await Student(attacker.base).enter(f"AAAA-{number:04d}", "Mallory")


@attack
async def lessons_opened_and_left(attacker: Attacker) -> None:
    await attacker.enter(attacker.code, "Mallory")
    for _ in range(10):
        with contextlib.suppress(Exception):
            await attacker.ask(f"voila/render/{LESSON}", request_timeout=0.5)


@attack
async def half_of_a_header(attacker: Attacker) -> None:
    opened = [attacker.raw(b"GET / HTTP/1.1\r\nHost: ") for _ in range(500)]
    await asyncio.sleep(2.0)
    for one in opened:
        one.close()


@attack
async def malformed_requests(attacker: Attacker) -> None:
    for _ in range(200):
        text = attacker.draw.choice([b"GET ", b"\x16\x03\x01", b"POST / HTTP/9.9\r\n", b"\0" * 9])
        attacker.raw(text + attacker.draw.randbytes(200)).close()
        await asyncio.sleep(0)


@attack
async def large_forms(attacker: Attacker) -> None:
    for _ in range(30):
        await attacker.ask("login")
        with contextlib.suppress(Exception):
            await attacker.ask("login", {"code": "x" * 200_000, "name": "y" * 200_000})


@attack
async def the_kernel_of_another(attacker: Attacker) -> None:
    await attacker.sit()
    theirs = attacker.victim.kernel_id
    for _ in range(20):
        with contextlib.suppress(*REFUSED):
            await attacker.connect(theirs)
            raise AssertionError("the kernel of another student let an attacker in")
        await attacker.ask(f"voila/api/shutdown/{theirs}", {})
        await attacker.ask(f"api/kernels/{theirs}", method="DELETE")


@attack
async def forged_cookies(attacker: Attacker) -> None:
    await attacker.enter(attacker.code, "Mallory")
    kept = dict(attacker.cookies)
    for number in range(50):
        attacker.cookies = {name: text[:-3] + f"{number:03d}" for name, text in kept.items()}
        await attacker.ask("teacher")
        await attacker.ask("teacher/end", {"what": "class"})
    attacker.cookies = kept


@attack
async def foreign_names(attacker: Attacker) -> None:
    for name in ("evil.example", "evil.example:1", "127.0.0.1.evil.example", "[::]", "") * 20:
        await attacker.ask("", headers={"Host": name, "Origin": f"http://{name}"})


@attack
async def addresses_out_of_the_folder(attacker: Attacker) -> None:
    await attacker.enter(attacker.code, "Mallory")
    paths = (
        "voila/templates/netcalc/static/../../../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd",
        "voila/static/..%2f..%2fetc/passwd", "api/contents", "api/terminals", "files/x",
        "voila/render/..%2fx.ipynb", "teacher", "metrics",
    )  # fmt: skip
    for path in paths * 10:
        assert (await attacker.ask(path)).code in (302, 400, 403, 404, 405), path


@attack
async def fifty_sockets_to_a_kernel(attacker: Attacker) -> None:
    await attacker.sit()
    opened = []
    for _ in range(50):
        attacker.socket = None  # the one before stays open
        with contextlib.suppress(Exception):
            opened.append(await attacker.connect())
    for one in opened:
        one.close()


class Honest:
    """A student who works, and what there is to ask their kernel for."""

    def __init__(self, base: str) -> None:
        self.student = Student(base)
        self.model = ""

    async def sit(self, code: str, name: str) -> None:
        """Enter, and open the lesson."""
        assert (await self.student.enter(code, name)).code == 302
        await self.student.open(LESSON)
        await self.student.connect()
        self.model = next(iter(await self.student.widgets()))

    async def ask_page(self) -> None:
        """Ask for the list of lessons."""
        answer = await self.student.ask("", request_timeout=LONGEST_S)
        assert answer.code == 200, (answer.code, answer.error)

    async def ask_kernel(self) -> None:
        """Ask the kernel for the state of a widget, and wait for it."""
        data = {"comm_id": self.model, "data": {"method": "request_state"}}
        await self.student.send("comm_msg", data)
        while message := await asyncio.wait_for(self.student.receive(), LONGEST_S):
            if message["msg_type"] == "comm_msg" and message["content"]["comm_id"] == self.model:
                return
        raise ConnectionError("the socket to the kernel was closed")


Asking = Callable[[Honest], Awaitable[None]]
ASKED: dict[str, Asking] = {"page": Honest.ask_page, "kernel": Honest.ask_kernel}


async def at_work(
    honest: list[Honest], ask: Asking, waits_s: list[float], over: asyncio.Event
) -> None:
    """Let one student after the other ask, until it is over."""
    while True:
        for one in honest:
            if over.is_set():
                return
            begin_s = time.monotonic()
            await ask(one)
            waits_s.append(time.monotonic() - begin_s)
            await asyncio.sleep(EVERY_S)


async def waits_during(honest: list[Honest], coming: Awaitable[None]) -> dict[str, list[float]]:
    """Return what the students waited while something happened."""
    waits_s: dict[str, list[float]] = {name: [] for name in ASKED}
    # Not cancelled at the end: before Python 3.12 asyncio.wait_for may swallow that.
    over = asyncio.Event()
    working = [
        asyncio.create_task(at_work(honest, ask, waits_s[name], over))
        for name, ask in ASKED.items()
    ]
    try:
        try:
            await coming
        except HTTPClientError as error:
            print(f"the attacker was refused: {error}", flush=True)
        await asyncio.sleep(4 * EVERY_S)
    finally:
        over.set()
        ended = await asyncio.gather(*working, return_exceptions=True)
    if lost := [error for error in ended if error is not None]:
        raise ConnectionError(f"a student was lost: {lost}")
    return waits_s


def line(name: str, waits_s: dict[str, list[float]], memory: float) -> str:
    """Return the figures of an attack."""
    parts = [
        f"{kind} {len(values):4d} x, median {np.median(values):.3f}, most {max(values):.3f} s"
        for kind, values in waits_s.items()
        if values
    ]
    return f"{name:<34} {'; '.join(parts)}; server {memory / 1e6:.0f} MB"


async def attacked(running: RunningClass, count: int, rounds: int) -> int:
    """Attack a class in each way; return how often a student or the class was lost."""
    honest = [Honest(running.base) for _ in range(count)]
    for number, one in enumerate(honest):
        await one.sit(running.code, f"Student {number}")
    server = psutil.Process(running.process.pid).children()[0]
    most_s: dict[str, list[float]] = {name: [] for name in ASKED}
    quiet = await waits_during(honest, asyncio.sleep(10.0))
    print(line("no attack", quiet, server.memory_info().rss), flush=True)
    lost_count = 0
    for _ in range(rounds):
        for name, thrown in ATTACKS.items():
            attacker = Attacker(running, honest[0].student)
            try:
                waits_s = await waits_during(honest, thrown(attacker))
                for one in honest:
                    await one.ask_kernel()
            except (AssertionError, *CLOSED) as error:
                lost_count += 1
                print(f"{name}: {error!r}", flush=True)
                if running.process.poll() is not None:
                    return lost_count
            else:
                print(line(name, waits_s, server.memory_info().rss), flush=True)
                for kind in ASKED:
                    most_s[kind].append(max(waits_s[kind], default=0.0))
            finally:
                await attacker.ask("leave", {})
                attacker.leave()
    for kind, values in most_s.items():
        print(f"{kind}: most of {len(values)} attacks {max(values):.3f} s, above 0.2 s in "
              f"{sum(value > 0.2 for value in values)}")  # fmt: skip
    print(f"{rounds * len(ATTACKS)} attacks of {len(ATTACKS)} kinds: {lost_count} lost something")
    for one in honest:
        one.student.leave()
    return lost_count


def main(rounds: int, count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        running = RunningClass(Path(folder), "--students", "30")
        print(f"load before {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors")
        try:
            lost_count = asyncio.run(attacked(running, count, rounds))
            print(f"lines in the log: {len(running.log.read_text().splitlines())}")
        finally:
            running.stop()
    sys.exit(1 if lost_count else 0)


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]] + [3, 10][len(sys.argv) - 1 :]
    main(*numbers)
