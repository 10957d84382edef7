"""The configuration of JupyterHub in docs/: two students, a lesson's kernel, limits, the end.

Other than in a class: who may enter, that all students are one account, ports, folders.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import sys
import textwrap
import time
import uuid
from pathlib import Path

import psutil
import pytest
import requests
import websocket

from netcalc.experiments.running import stopping

pytestmark = [pytest.mark.hub, pytest.mark.live, pytest.mark.slow]

PROXY = shutil.which("configurable-http-proxy")
ROOT = Path(__file__).parents[2]
LESSON = "netcalc-lessons/05_protocol_stack.ipynb"
LIMIT_S = 120.0

DIFFERENT = """
load_subconfig({configuration!r})
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = {password!r}
c.Authenticator.allowed_users = {{"ada", "grace"}}
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = {homes!r}
c.JupyterHub.bind_url = "http://127.0.0.1:{door}"
c.JupyterHub.hub_port = {hub}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy}"
c.ConfigurableHTTPProxy.command = [{program!r}]
c.Spawner.args = [*c.Spawner.args, "--ServerApp.allow_root=True"]
"""


def free_ports(count: int) -> list[int]:
    """Return ports that are free now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listening.getsockname()[1] for listening in sockets]
    for listening in sockets:
        listening.close()
    return ports


class Hub:
    """JupyterHub in a process of its own, and in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.password = folder, secrets.token_hex()
        door, hub, proxy = free_ports(3)
        self.base = f"http://127.0.0.1:{door}"
        different = folder / "different.py"
        text = DIFFERENT.format(
            configuration=str(ROOT / "docs" / "jupyterhub_config.py"), password=self.password,
            homes=str(folder / "homes" / "{username}"), door=door, hub=hub, proxy=proxy,
            program=PROXY,
        )  # fmt: skip
        different.write_text(text, encoding="utf-8")
        # Its processes are found by this variable: it is in the environment of each of them.
        environment = os.environ | {
            "NETCALC_TURNS": str(folder / "turns"),
            "NODE_PATH": "/usr/share/nodejs",  # of Debian's proxy: another Node does not look there
        }
        with (folder / "log.txt").open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "jupyterhub", "-f", different], cwd=folder, stdout=log,
                stderr=log, stdin=subprocess.DEVNULL, env=environment, start_new_session=True,
            )  # fmt: skip

    def said(self) -> str:
        """What it wrote."""
        return (self.folder / "log.txt").read_text()

    def processes(self) -> list[psutil.Process]:
        """Return the hub, its proxy, the servers and their kernels."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get("NETCALC_TURNS") == str(self.folder / "turns"):
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def end(self) -> None:
        """Stop it as an administrator does; what is left after all ends too."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(LIMIT_S)
        finally:
            for process in self.processes():
                process.kill()


class Person:
    """A student with a browser."""

    def __init__(self, hub: Hub, name: str) -> None:
        self.hub, self.name = hub, name
        self.browser = requests.Session()
        self.home = f"{hub.base}/user/{name}"

    def enter(self, password: str) -> str:
        """Log in; return the address of the page after it."""
        door = f"{self.hub.base}/hub/login"
        self.browser.get(door, timeout=LIMIT_S)
        form = {"username": self.name, "password": password, "_xsrf": self.token("/hub/")}
        return self.browser.post(door, data=form, timeout=LIMIT_S).url

    def token(self, path: str) -> str:
        """Return the token of forms, of the hub or of the own server."""
        (found,) = (
            cookie.value or ""
            for cookie in self.browser.cookies
            if cookie.name == "_xsrf" and cookie.path == path
        )
        return found

    def wait(self) -> None:
        """Open the own server, and wait for it."""
        answer = eventually(
            lambda: self.browser.get(f"{self.home}/lab", timeout=LIMIT_S),
            lambda answer: answer.ok and answer.url.startswith(f"{self.home}/lab"),
        )
        assert "JupyterLab" in answer.text

    def ask(self, interface: str, /, **body: object) -> dict[str, object]:
        """Ask an interface of the own server."""
        headers = {"X-XSRFToken": self.token(f"/user/{self.name}/")}
        kind = "POST" if body else "GET"
        answer = self.browser.request(
            kind,
            f"{self.home}/api/{interface}",
            json=body or None,
            headers=headers,
            timeout=LIMIT_S,
        )
        answer.raise_for_status()
        found: dict[str, object] = answer.json()
        return found

    def connect(self) -> None:
        """Open the lesson: its session has a kernel."""
        session = self.ask(
            "sessions", path=LESSON, type="notebook", name="", kernel={"name": "python3"}
        )
        url = f"{self.home}/api/kernels/{session['kernel']['id']}/channels"
        request = requests.Request("GET", url)
        self.socket = websocket.create_connection(
            url.replace("http", "ws", 1), origin=self.hub.base, timeout=LIMIT_S,
            cookie=requests.cookies.get_cookie_header(self.browser.cookies, request.prepare()),
        )  # fmt: skip

    def begin(self, code: str) -> None:
        """Send a cell to the kernel."""
        self.cell = uuid.uuid4().hex
        header = {
            "msg_id": self.cell, "msg_type": "execute_request", "username": "", "session": "s",
            "version": "5.3", "date": "2026-01-01T00:00:00Z",
        }  # fmt: skip
        message = {
            "header": header, "parent_header": {}, "metadata": {}, "channel": "shell",
            "content": {"code": code, "silent": False}, "buffers": [],
        }  # fmt: skip
        self.socket.send(json.dumps(message))

    def finish(self) -> str:
        """Return what the cell printed, or the name of its error."""
        printed, result, idle = "", None, False
        while True:
            message = json.loads(self.socket.recv())
            content = message["content"]
            if message["parent_header"].get("msg_id") != self.cell:
                continue
            if message["msg_type"] == "stream":
                printed += content["text"]
            elif message["msg_type"] == "execute_reply":
                result = content.get("ename", "")
            elif message["msg_type"] == "status" and content["execution_state"] == "idle":
                idle = True
            if result is not None and idle:
                return result or printed

    def run(self, code: str) -> str:
        """Run a cell."""
        self.begin(code)
        return self.finish()


def eventually(ask, fits):
    """Ask until the answer fits."""
    end_s = time.monotonic() + LIMIT_S
    while True:
        try:
            answer = ask()
        except requests.ConnectionError as error:
            answer = error
        if not isinstance(answer, Exception) and fits(answer):
            return answer
        assert time.monotonic() < end_s, answer
        time.sleep(0.2)


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    pytest.importorskip("jupyterhub", reason="JupyterHub, of the extra hub, is not installed")
    if not PROXY:
        pytest.skip("configurable-http-proxy, of Debian's node-configurable-http-proxy, is absent")
    hub = Hub(tmp_path_factory.mktemp("hub"))

    def health():
        assert hub.process.poll() is None, hub.said()
        return requests.get(f"{hub.base}/hub/health", timeout=LIMIT_S)

    try:
        eventually(health, lambda answer: answer.ok)
        yield hub
    finally:
        hub.end()


@pytest.fixture(scope="module")
def people(hub):
    """Two students, each with a lesson open."""
    people = [Person(hub, name) for name in ("ada", "grace")]
    for person in people:
        person.enter(hub.password)
    for person in people:
        person.wait()
        person.connect()
    yield people
    for person in people:
        person.socket.close()
        person.browser.close()


def test_a_wrong_password_does_not_enter(hub):
    stranger = Person(hub, "ada")
    assert stranger.enter("wrong").startswith(f"{hub.base}/hub/login")
    stranger.browser.close()


def test_each_has_the_lessons_and_a_kernel_that_runs_them(people):
    originals = {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
    for person in people:
        listed = person.ask("contents/netcalc-lessons")["content"]
        assert {one["name"] for one in listed if one["name"].endswith(".ipynb")} == originals
        for cell in person.ask(f"contents/{LESSON}")["content"]["cells"][:6]:
            if cell["cell_type"] == "code":
                assert "Error" not in person.run(cell["source"])
    homes = [person.run("import os; print(os.environ['HOME'])").strip() for person in people]
    assert [Path(home).name for home in homes] == ["ada", "grace"]
    command = people[0].run("import shutil; print(shutil.which('netcalc'))").strip()
    assert Path(command).samefile(Path(sys.executable).with_name("netcalc"))
    assert {Path(home).stat().st_mode & 0o777 for home in homes} == {0o700}


def test_the_limits_hold(people):
    ada, grace = people
    limits = "import resource; print(*(resource.getrlimit(n)[0] for n in ({0}DATA, {0}CPU)))"
    assert ada.run(limits.format("resource.RLIMIT_")) == f"{1 << 30} 3600\n"
    assert ada.run("x = bytearray(2 << 30)") == "MemoryError"
    assert ada.run("print(os.getpriority(os.PRIO_PROCESS, 0))") == f"{os.nice(0) + 5}\n"
    assert ada.run("print(os.environ['MEM_LIMIT'])") == f"{1 << 30}\n", "told to the server"
    assert grace.run("print(1)") == "1\n"


def test_a_live_run_waits_for_that_of_another(hub, people):
    ada, grace = people
    turns = hub.folder / "turns"
    assert turns.stat().st_mode & 0o7777 == 0o1777
    live = """
        import threading, time
        from pathlib import Path
        from netcalc import experiments
        from netcalc.experiments.running.stopping import turn
        with turn(threading.Event(), lambda count, left_s: None):  # as a button of a lesson does
            print(len(experiments.echo(100, count=5)))
            while not Path({!r}).exists():
                time.sleep(0.05)
    """
    live = textwrap.dedent(live.format(str(hub.folder / "go")))
    for person, expected in ((ada, [True]), (grace, [True, False])):
        person.begin(live)
        eventually(
            lambda: [one.is_running for one in stopping.waiting(turns)],
            lambda found, expected=expected: found == expected,
        )
    (hub.folder / "go").touch()
    assert [ada.finish(), grace.finish()] == ["5\n", "5\n"]
    assert stopping.waiting(turns) == []


def test_a_message_of_eight_bytes_closes_its_connection_and_no_server(people):
    """Of 40 million parts, as it says: Jupyter's own server takes 1.4 GB for it."""
    ada = people[0]
    ada.socket.send_binary(struct.pack("!I", 40_000_000) + b"more")
    while ada.socket.recv_data()[0] != websocket.ABNF.OPCODE_CLOSE:
        pass
    ada.socket.shutdown()  # close() leaves the socket open, where a CLOSE has come
    ada.connect()
    assert [person.run("print(1)") for person in people] == ["1\n", "1\n"]


def test_nobody_reaches_the_server_of_another(hub, people):
    ada, grace = people
    answer = grace.browser.get(f"{ada.home}/api/contents", timeout=LIMIT_S)
    assert answer.status_code in (403, 404)
    assert "netcalc-lessons" not in answer.text


def test_nothing_is_left_at_the_end(hub, people):
    """Last: it stops the hub."""
    assert len(hub.processes()) >= 6, "hub, proxy, two servers, two kernels"
    hub.process.send_signal(signal.SIGTERM)
    assert hub.process.wait(LIMIT_S) == 0, hub.said()
    assert hub.processes() == []
