"""A real JupyterLab, Notebook and Voila, and a real Chromium that reaches nothing else.

Every server runs on loopback with a token, on a free port, in a folder of its own. The browser
refuses each request that leaves this machine and the test fails for it. Screenshots are kept in
``tests/browser/screenshots``.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SCREENSHOTS = HERE / "screenshots"
CHROMIUM = next(
    (p for p in ("/usr/bin/chromium", "/usr/bin/chromium-browser") if Path(p).exists()), None
)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]
IDLE_LIMIT_MS = 60_000
GAVE_UP = "[anywidget] Failed to initialize model."
"""What anywidget says on a machine so busy that a module takes 2 s to load; figures recover."""


def missing() -> str:
    """Return why no browser test can run here; empty if they can."""
    if CHROMIUM is None:
        return "there is no Chromium: apt install chromium"
    for package in ("playwright", "jupyterlab", "voila", "notebook"):
        if find_spec(package) is None:
            return f'{package} is not installed: pip install "netcalc-lab[test]"'
    return ""


@dataclass
class Page:
    """A browser page with its complaints, and the verbs that the tests use."""

    page: Any
    name: str
    front_end: str
    foreign: frozenset[str] = frozenset()
    errors: list[str] = field(default_factory=list)

    def screenshot(self, what: str) -> Path:
        """Keep what is on the screen."""
        SCREENSHOTS.mkdir(exist_ok=True)
        path = SCREENSHOTS / f"{self.front_end}-{self.name}-{what}.png"
        self.page.screenshot(path=path)
        return path

    def run_all(self) -> None:
        """Run every cell of the open notebook from a fresh kernel's state and wait until idle."""
        if self.front_end == "voila":
            return
        self.page.evaluate(
            "async () => { await window.jupyterapp.commands.execute('notebook:run-all-cells'); }"
        )

    def save(self) -> None:
        """Save the notebook; a page that is loaded again shows what was saved."""
        if self.front_end != "voila":
            self.page.evaluate(
                "async () => { await jupyterapp.commands.execute('docmanager:save'); }"
            )

    def wait_ready(self) -> None:
        """Wait until the front end shows a notebook whose kernel answers."""
        if self.front_end == "voila":
            return
        self.page.wait_for_function(
            """() => {
              const panel = window.jupyterapp?.shell?.currentWidget;
              const kernel = panel?.sessionContext?.session?.kernel;
              return panel?.content?.model && kernel?.connectionStatus === 'connected'
                && kernel?.status === 'idle';
            }""",
            timeout=IDLE_LIMIT_MS,
        )

    def wait_figures(self, count: int = 1) -> None:
        """Wait until that many figures are drawn."""
        self.page.wait_for_function(
            """count => [...document.querySelectorAll('.netcalc-figure')]
                 .filter(el => el.netcalc && el.netcalc.document.is_idle).length >= count""",
            arg=count,
            timeout=IDLE_LIMIT_MS,
        )

    def column(self, source: str, column: str, figure: int = 0) -> list[float | None]:
        """Return a column of the figure as the browser holds it."""
        return self.page.evaluate(
            """([source, column, figure]) => {
              const all = [...document.querySelectorAll('.netcalc-figure')];
              const el = all.filter(e => e.netcalc)[figure];
              return [...el.netcalc.source(source).data[column]]
                .map(v => Number.isFinite(v) ? v : null);
            }""",
            [source, column, figure],
        )

    def pixels(self, figure: int = 0) -> bytes:
        """Return a picture of one figure."""
        return self.figure(figure).screenshot()

    def figure(self, figure: int = 0) -> Any:
        """Return the element of one figure, scrolled into view."""
        element = self.page.locator(".netcalc-figure").nth(figure)
        element.scroll_into_view_if_needed()
        return element

    def drag(self, slider: int, share: float, steps: int = 12) -> None:
        """Drag the handle of a slider by mouse to a share of its length."""
        track = self.page.locator(".netcalc-control .noUi-base").nth(slider)
        handle = self.page.locator(".netcalc-control .noUi-handle").nth(slider)
        track.scroll_into_view_if_needed()
        rail, knob = track.bounding_box(), handle.bounding_box()
        self.page.mouse.move(knob["x"] + knob["width"] / 2, knob["y"] + knob["height"] / 2)
        self.page.mouse.down()
        self.page.mouse.move(
            rail["x"] + share * rail["width"], rail["y"] + rail["height"] / 2, steps=steps
        )
        self.page.mouse.up()

    def type_into(self, box: int, text: str) -> None:
        """Type into the text box of a control and leave it by Enter."""
        field_ = self.page.locator(".netcalc-control input[type=text]").nth(box)
        field_.fill(text)
        field_.press("Enter")

    def wait_changed(self, source: str, column: str, before: list[float | None]) -> None:
        """Wait until a column of the first figure is not what it was."""
        self.page.wait_for_function(
            """([source, column, before]) => {
              const el = [...document.querySelectorAll('.netcalc-figure')].find(e => e.netcalc);
              const now = [...el.netcalc.source(source).data[column]]
                .map(v => Number.isFinite(v) ? v : null);
              return JSON.stringify(now) !== JSON.stringify(before);
            }""",
            arg=[source, column, before],
            timeout=IDLE_LIMIT_MS,
        )

    def wait_painted(self) -> None:
        """Wait until what is known is on the screen."""
        self.page.evaluate(
            """() => new Promise(done =>
                 requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))"""
        )

    def complaints(self) -> list[str]:
        """Return errors, and requests that left the machine, that an empty page does not have."""
        foreign = {*self.foreign, GAVE_UP}
        return [error for error in self.errors if error not in foreign]


@dataclass
class Server:
    """A running server and where its pages are."""

    front_end: str
    port: int
    token: str
    folder: Path
    log: Path
    foreign: frozenset[str] = frozenset()
    """What the front end complains about when it shows an empty notebook."""

    def url(self, notebook: str) -> str:
        path = {"lab": "doc/tree/", "notebook": "notebooks/", "voila": "voila/render/"}[
            self.front_end
        ]
        return f"http://127.0.0.1:{self.port}/{path}{notebook}?token={self.token}"


@contextmanager
def serving(front_end: str, folder: Path) -> Iterator[Server]:
    """Run one server in a folder of its own, with its own home, and end it."""
    port, token = _free_port(), secrets.token_hex(16)
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    work = folder / "work"
    work.mkdir(exist_ok=True)
    settings = home / ".jupyter/lab/user-settings/@jupyterlab/apputils-extension"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "notification.jupyterlab-settings").write_text(
        json.dumps({"checkForUpdates": False, "fetchNews": "false", "doNotDisturbMode": True})
    )
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "JUPYTER_PLATFORM_DIRS": "0",
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", *_COMMANDS[front_end]]
    command = [part.format(port=port, token=token, work=work) for part in command]
    log = folder / f"{front_end}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=work, env=environment, stdout=output, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        try:
            _wait_for(f"http://127.0.0.1:{port}/?token={token}", process, log)
            yield Server(front_end, port, token, work, log)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


_CONNECTION = "netcalc.cli.websocket.PromptConnection"  # as `netcalc lab` starts its servers
_JUPYTER = [
    "--no-browser", "--allow-root", "--expose-app-in-browser", "--ServerApp.ip=127.0.0.1",
    "--ServerApp.port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token={token}",
    "--ServerApp.root_dir={work}", "--LabApp.extension_manager=readonly",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    f"--ServerApp.kernel_websocket_connection_class={_CONNECTION}",
]  # fmt: skip
_COMMANDS = {
    "lab": ["jupyterlab", *_JUPYTER],
    "notebook": ["notebook", *_JUPYTER],
    "voila": [
        "voila", "{work}", "--no-browser", "--Voila.ip=127.0.0.1", "--port={port}",
        "--token={token}", "--show_tracebacks=True",
        f"--Voila.kernel_websocket_connection_class={_CONNECTION}",
    ],
}  # fmt: skip


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            urllib.request.urlopen(url, timeout=2).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"the server did not start:\n{log.read_text()[-3000:]}")


@contextmanager
def chromium() -> Iterator[Any]:
    """Start the system's Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(
    browser: Any,
    server: Server,
    notebook: Path,
    *,
    name: str = "",
    width: int = 1100,
    script: str = "",
) -> Iterator[Page]:
    """Open a copy of a notebook in a fresh browser profile, after a script of the test's."""
    target = server.folder / notebook.name
    if notebook != target:
        shutil.copy(notebook, target)
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.add_init_script(script)
    wrapped = Page(page, name or notebook.stem, server.front_end, server.foreign)

    def route(one: Any) -> None:
        if one.request.url.startswith(("http://127.0.0.1:", "data:", "blob:")):
            one.continue_()
        else:
            wrapped.errors.append(f"left the machine: {one.request.url}")
            one.abort()

    def complain(text: str) -> None:
        wrapped.errors.append(text.splitlines()[0] if text else "an error without words")

    context.route("**/*", route)
    page.on("console", lambda m: complain(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: complain(str(error)))
    try:
        page.goto(server.url(notebook.name), wait_until="domcontentloaded")
        wrapped.wait_ready()
        yield wrapped
    finally:
        context.close()


def complaints_of_empty(browser: Any, server: Server) -> frozenset[str]:
    """Return what a front end complains about by itself."""
    empty = server.folder / "empty.ipynb"
    cell = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "Nothing."}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    content = {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4}
    empty.write_text(json.dumps({**content, "nbformat_minor": 5}))
    with opened(browser, server, empty) as page:
        text = page.page.locator(".jp-RenderedMarkdown", has_text="Nothing.").first
        text.wait_for(timeout=IDLE_LIMIT_MS)
        page.wait_painted()
        page.page.reload()
        page.wait_ready()
        text.wait_for(timeout=IDLE_LIMIT_MS)
        page.page.wait_for_load_state("networkidle")
        return frozenset(page.errors)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder, and skip them with the reason where none can run."""
    reason = missing()
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="session", params=["lab", "notebook", "voila"])
def server(
    request: pytest.FixtureRequest, browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A running front end: a test runs once in each."""
    with serving(request.param, tmp_path_factory.mktemp(request.param)) as running:
        running.foreign = complaints_of_empty(browser, running)
        yield running


@pytest.fixture
def open_notebook(browser: Any, server: Server) -> Callable[..., Any]:
    """``with open_notebook(path, name="lesson", width=1100) as page``: see :class:`Page`."""
    return partial(opened, browser, server)
