"""A real JupyterLab, Notebook and Voila, and a real Chromium that reaches nothing else.

Every server runs on loopback with a token, on a free port, in a folder of its own. The browser has
no way off this machine, and a test fails for each request that would leave it. Screenshots are kept
in ``tests/browser/screenshots``.

A page costs seconds: a front end to load, a kernel to start, a lesson to run. So tests of one
:class:`Sheet` share its page, one after the other. A window is used again, and has what it loaded
before: JupyterLab stays and opens the next notebook, the other front ends go to its address.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
KERNELS = HERE.parent / "ipykernels.py"
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
    "--proxy-server=http://127.0.0.1:9",  # nobody listens there; loopback goes past it
]
LOCAL = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:", "about:")
ASK_MS = 100
IDLE_LIMIT_MS = 60_000
"""How long anything is waited for: a busy machine is no wrong answer."""
GAVE_UP = "[anywidget] Failed to initialize model."
"""What anywidget says on a machine so busy that a module takes 2 s to load; figures recover."""
NOT_YET = "Error: widget model not found"
"""What ipywidgets says where JupyterLab, on a busy machine, draws an output before its models are
there. It is drawn later; a test that needs what is never drawn waits for it, and fails."""
OF_NOTEBOOK = "Cannot read properties of undefined (reading 'schema')"
"""What Notebook 7 says of its own settings on each page, also on that of an empty notebook."""
READY = """() => {
  const panel = window.jupyterapp?.shell?.currentWidget;
  const kernel = panel?.sessionContext?.session?.kernel;
  return Boolean(panel?.content?.model && kernel?.connectionStatus === 'connected'
    && kernel?.status === 'idle');
}"""
ATTACHED = """() => {
  const panel = window.jupyterapp?.shell?.currentWidget;
  return Boolean(panel?.content?.model
    && panel.sessionContext?.session?.kernel?.connectionStatus === 'connected');
}"""
"""Whether the notebook has a kernel: before, JupyterLab's Run All clears outputs, runs nothing."""
RUN_ALL = "async () => { await jupyterapp.commands.execute('notebook:run-all-cells'); }"
SHUT_DOWN = "async () => { await jupyterapp.shell.currentWidget.sessionContext.shutdown(); }"
RUN_BY_ITSELF = f"""(() => {{
  if (window !== window.top || sessionStorage.netcalcRun) return; // once, not after a reload
  const ready = {READY};
  const look = async () => {{
    if (!ready()) return setTimeout(look, 100);
    sessionStorage.netcalcRun = 'begun';
    await window.jupyterapp.commands.execute('notebook:run-all-cells');
    sessionStorage.netcalcRun = 'done';
  }};
  look();
}})()"""
"""Runs every cell as soon as the front end shows a notebook whose kernel answers."""
COVERED = """handle => {
  const { x, y, width, height } = handle.getBoundingClientRect();
  return !handle.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}"""
TRACEBACKS = """() => {
  const model = window.jupyterapp?.shell?.currentWidget?.content?.model;
  const outputs = [...(model?.cells ?? [])].flatMap(cell => cell.outputs?.toJSON() ?? []);
  const wrong = outputs.filter(out => out.output_type === 'error' || out.name === 'stderr');
  const said = wrong.map(out => out.ename ? `${out.ename}: ${out.evalue}` : `${out.text}`);
  const shown = document.querySelectorAll(`[data-mime-type="application/vnd.jupyter.error"],
    [data-mime-type="application/vnd.jupyter.stderr"]`);
  return [...said, ...[...shown].map(el => el.innerText)];
}"""
"""What cells wrote to stderr or raised, in the notebook's model and on the page."""
OPEN_IN_LAB = """path => {
  const { commands, shell } = window.jupyterapp;
  commands.execute('docmanager:open', { path, factory: 'Notebook' })
    .then(panel => shell.activateById(panel.id));
}"""
CLOSE_IN_LAB = """() => {
  const { serviceManager, shell } = window.jupyterapp;
  delete sessionStorage.netcalcRun;
  const panel = shell.currentWidget;
  const id = panel.sessionContext.session?.id; // none where a test took the kernel away
  panel.dispose();
  document.querySelectorAll('.jp-Dialog .jp-mod-accept').forEach(button => button.click());
  if (id) serviceManager.sessions.shutdown(id).catch(() => {});
}"""
"""Closes the notebook, and a dialog that was left: it keeps the next notebook from the front."""


def missing() -> str:
    """Return why no browser test can run here; empty if they can."""
    if CHROMIUM is None:
        return "there is no Chromium: apt install chromium"
    for package in ("playwright", "jupyterlab", "voila", "notebook"):
        if find_spec(package) is None:
            return f'{package} is not installed: pip install -e ".[test]"'
    return ""


@dataclass(frozen=True)
class Sheet:
    """A notebook in a front end; its window is used again unless a script ran before it.

    ``first`` is Python that the notebook's first cell begins with, such as shorter runs.
    """

    front_end: str
    notebook: Path
    script: str = ""
    name: str = ""
    first: str = ""

    @property
    def shown_name(self) -> str:
        """The name in the front end and of the screenshots."""
        return self.name or self.notebook.stem

    def __str__(self) -> str:
        return f"{self.front_end}-{self.shown_name}"

    def copy_to(self, path: Path) -> None:
        """Write the notebook that is shown."""
        content = json.loads(self.notebook.read_text(encoding="utf-8"))
        if self.first:
            code = next(cell for cell in content["cells"] if cell["cell_type"] == "code")
            code["source"] = f"{self.first}\n{''.join(code['source'])}"
        path.write_text(json.dumps(content, indent=1), encoding="utf-8")


@dataclass
class Page:
    """A browser page with its complaints, and the verbs that the tests use."""

    page: Any
    sheet: Sheet
    foreign: Callable[[], frozenset[str]] = frozenset
    errors: list[str] = field(default_factory=list)
    path: Path = Path()
    """The copy of the notebook that is shown."""
    has_been_audited: bool = False

    @property
    def front_end(self) -> str:
        """Lab, notebook or voila."""
        return self.sheet.front_end

    def screenshot(self, what: str) -> Path:
        """Keep what is on the screen."""
        SCREENSHOTS.mkdir(exist_ok=True)
        path = SCREENSHOTS / f"{self.front_end}-{self.sheet.shown_name}-{what}.png"
        self.page.screenshot(path=path)
        return path

    def wait_for(self, condition: str, arg: object = None) -> None:
        """Wait until a function of the page says yes."""
        # Asked at each frame, as is the rule, a page draws frame after frame to be asked.
        self.page.wait_for_function(condition, arg=arg, polling=ASK_MS, timeout=IDLE_LIMIT_MS)

    def wait_run(self) -> None:
        """Wait until every cell has run."""
        if self.front_end != "voila":
            self.wait_for("() => window.sessionStorage.netcalcRun === 'done'")

    def run_changed(self, old: str, new: str) -> None:
        """Write something else for a piece of one cell, and run that cell."""
        self.page.evaluate(
            """async ([old, fresh]) => {
              const { commands, shell } = window.jupyterapp;
              const notebook = shell.currentWidget.content;
              const sources = notebook.widgets.map(cell => cell.model.sharedModel);
              const found = sources.findIndex(source => source.getSource().includes(old));
              sources[found].setSource(sources[found].getSource().replace(old, fresh));
              notebook.activeCellIndex = found;
              await commands.execute('notebook:run-cell');
            }""",
            [old, new],
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
        self.wait_for(READY)

    def run_all(self) -> None:
        """Run every cell of the notebook."""
        self.page.evaluate(RUN_ALL)

    def shut_down(self) -> None:
        """End the kernel of the notebook."""
        self.page.evaluate(SHUT_DOWN)

    def wait_attached(self) -> None:
        """Wait until the notebook has a kernel, which may still be starting."""
        self.wait_for(ATTACHED)

    def wait_figures(self, count: int = 1) -> None:
        """Wait until that many figures are drawn; a cell that has failed draws none."""
        try:
            self.wait_for(
                f"""count => [...document.querySelectorAll('.netcalc-figure')]
                     .filter(el => el.netcalc && el.netcalc.document.is_idle).length >= count
                  || ({TRACEBACKS})().length""",
                count,
            )
            assert self.tracebacks() == []
        except Exception as error:
            error.add_note(f"of {count} figures, each drawn, idle, and its words: {self._states()}")
            error.add_note(f"the kernel, and the words of each output: {self._outputs()}")
            error.add_note(f"what the page complained of, at last: {self.errors[-9:]}")
            raise

    def _states(self) -> list[tuple[bool, bool, str]]:
        """Say of each figure whether it is drawn, whether it is idle, and what stands there."""
        return self.page.evaluate(
            """() => [...document.querySelectorAll('.netcalc-figure')].map(el =>
                 [!!el.netcalc, !!el.netcalc?.document.is_idle, el.textContent.slice(0, 60)])"""
        )

    def _outputs(self) -> list[str]:
        """Say how the kernel is, and what each cell's output reads, such as `Loading widget...`."""
        return self.page.evaluate(
            """() => [
                 `${window.jupyterapp?.shell?.currentWidget?.sessionContext?.session?.kernel?.status}`,
                 ...[...document.querySelectorAll('.jp-OutputArea-output')]
                   .map(output => output.textContent.slice(0, 60)),
               ]"""
        )

    def column(self, source: str, column: str, figure: int = 0) -> list[float | None]:
        """Return a column of the figure as the browser holds it, once the figure has its source."""
        self.wait_for(
            """([source, figure]) => [...document.querySelectorAll('.netcalc-figure')]
                 .filter(el => el.netcalc)[figure]?.netcalc.source(source)""",
            [source, figure],
        )
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

    def reveal(self) -> None:
        """Show the figures that are covered until their reader has guessed."""
        self.page.evaluate(
            """() => document.querySelectorAll('.netcalc-covered .netcalc-guess [type=button]')
                 .forEach(button => button.click())"""
        )
        self.wait_for("() => !document.querySelector('.netcalc-covered')")
        self.wait_painted()

    def drag(self, slider: int, share: float, steps: int = 4) -> None:
        """Drag the handle of a slider by mouse to a share of its length."""
        track = self.page.locator(".netcalc-control .noUi-base").nth(slider)
        handle = self.page.locator(".netcalc-control .noUi-handle").nth(slider)
        track.scroll_into_view_if_needed()
        if handle.evaluate(COVERED):  # on a phone by the figure that stays in sight
            track.evaluate("el => el.scrollIntoView({ block: 'end' })")
        rail, knob = track.bounding_box(), handle.bounding_box()
        self.page.mouse.move(knob["x"] + knob["width"] / 2, knob["y"] + knob["height"] / 2)
        self.page.mouse.down()
        beyond_px = {0.0: -4, 1.0: 4}.get(share, 0)  # as a hand does: to the pixel is a step short
        self.page.mouse.move(
            rail["x"] + share * rail["width"] + beyond_px,
            rail["y"] + rail["height"] / 2,
            steps=steps,
        )
        self.page.mouse.up()

    def type_into(self, box: int, text: str) -> None:
        """Type into the text box of a control and leave it by Enter."""
        field_ = self.page.locator(".netcalc-control input[type=text]").nth(box)
        field_.fill(text)
        field_.press("Enter")

    def wait_changed(self, source: str, column: str, before: list[float | None]) -> None:
        """Wait until a column of the first figure is not what it was."""
        self.wait_for(
            """([source, column, before]) => {
              const el = [...document.querySelectorAll('.netcalc-figure')].find(e => e.netcalc);
              const now = [...el.netcalc.source(source).data[column]]
                .map(v => Number.isFinite(v) ? v : null);
              return JSON.stringify(now) !== JSON.stringify(before);
            }""",
            [source, column, before],
        )

    def wait_first(self, source: str, column: str, value: float) -> None:
        """Wait until a column of the first figure begins with a value: a drag makes many."""
        self.wait_for(
            """([source, column, value]) => {
              const el = [...document.querySelectorAll('.netcalc-figure')].find(e => e.netcalc);
              const first = el.netcalc.source(source).data[column][0];
              return Math.abs(first - value) <= 1e-6 * Math.abs(value);
            }""",
            [source, column, value],
        )

    def wait_painted(self) -> None:
        """Wait until what is known is on the screen."""
        self.page.evaluate(
            """() => new Promise(done =>
                 requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))"""
        )

    def tracebacks(self) -> list[str]:
        """Return what cells raised or wrote to stderr."""
        return list(self.page.evaluate(TRACEBACKS))

    def complaints(self) -> list[str]:
        """Return errors, and requests that left the machine, that an empty page does not have."""
        own = [error for error in self.errors if error not in (GAVE_UP, NOT_YET, OF_NOTEBOOK)]
        own = [error for error in own if error not in self.foreign()]
        return [*self.tracebacks(), *own, *self.barriers()]

    def barriers(self) -> list[str]:
        """Return what axe-core finds serious in what the notebook shows; once a page."""
        from tests.browser.axe_table import findings

        if self.has_been_audited:
            return []
        self.has_been_audited = True
        self.wait_for(
            "() => !document.querySelector('.netcalc-panel .noUi-handle:not([aria-label])')"
        )
        serious = [one for one in findings(self.page, ours_only=True) if one.is_serious]
        return [f"{one.rule}: {one.html}" for one in serious]


@dataclass
class Server:
    """A running server and where its pages are."""

    front_end: str
    port: int
    token: str
    folder: Path
    log: Path
    process: subprocess.Popen[bytes]

    def wait(self) -> None:
        """Wait until it answers."""
        _wait_for(f"http://127.0.0.1:{self.port}/?token={self.token}", self.process, self.log)

    def url(self, notebook: str) -> str:
        """Return the address of a notebook's page."""
        # Each in a workspace of its own: of two pages in one, the second would load twice.
        lab = f"doc/workspaces/{notebook.removesuffix('.ipynb').replace('/', '-')}/tree/"
        path = {"lab": lab, "notebook": "notebooks/", "voila": "voila/render/"}[self.front_end]
        return f"http://127.0.0.1:{self.port}/{path}{notebook}?token={self.token}"


@contextmanager
def serving(front_end: str, folder: Path) -> Iterator[Server]:
    """Start one server in a folder of its own, with its own home, and end it."""
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
    # For each page JupyterLab asks Node for the settings of Yarn, which nothing here builds with.
    node = home / "bin/node"
    node.parent.mkdir(exist_ok=True)
    node.write_text("#!/bin/sh\n")
    node.chmod(0o755)
    folders = [str(node.parent), str(Path(sys.executable).parent)]
    environment = {
        "PATH": os.pathsep.join([*folders, os.environ.get("PATH", os.defpath)]),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "JUPYTER_PLATFORM_DIRS": "0",
        "PYTHONPATH": str(ROOT),
        "JUPYTER_PATH": str(ROOT / "netcalc/cli/share"),  # as `netcalc lab` has it
        "PYTHONDONTWRITEBYTECODE": "1",
        **{name: os.environ[name] for name in ("NETCALC_IPYKERNELS",) if name in os.environ},
    }
    begin = [sys.executable, "-c", _DIE_WITH_PARENT, str(os.getpid()), str(KERNELS)]
    command = [*begin, *_COMMANDS[front_end]]
    command = [part.format(port=port, token=token, work=work) for part in command]
    log = folder / f"{front_end}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=work, env=environment, stdout=output, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        try:
            yield Server(front_end, port, token, work, log, process)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


_DIE_WITH_PARENT = """
import ctypes, os, runpy, sys
ctypes.CDLL(None).prctl(1, 15)  # PR_SET_PDEATHSIG, SIGTERM: a server that ends ends its kernels
if os.getppid() != int(sys.argv[1]): sys.exit("the tests have ended")
kernels, sys.argv = sys.argv[2], sys.argv[3:]
sys.modules["rfc3987_syntax"] = None  # a grammar that takes 3 s to build, and that nothing uses
runpy.run_path(kernels)["use"]()
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
"""Runs a module that ends when the process of the tests ends, in whatever way."""
_CONNECTION = "netcalc.cli.lesson_pages.PromptConnection"  # as `netcalc lab` starts its servers
_JUPYTER = [
    "--no-browser", "--allow-root", "--expose-app-in-browser", "--ServerApp.ip=127.0.0.1",
    "--ServerApp.port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token={token}",
    "--ServerApp.root_dir={work}", "--LabApp.extension_manager=readonly",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    f"--ServerApp.kernel_websocket_connection_class={_CONNECTION}",
    "--ServerApp.contents_manager_class=netcalc.cli.untrusted.Notebooks",
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


def chromium() -> AbstractContextManager[Any]:
    """Start the system's Chromium."""
    from tests.lessons_site.offline_browser import chromium as started

    return started(FLAGS)


class Desk:
    """A front end, and the windows in which it shows its pages, each a browser profile."""

    def __init__(self, browser: Any, server: Server) -> None:
        self._browser, self.server = browser, server
        self._foreign: frozenset[str] | None = None
        self._begun: dict[Sheet, Page] = {}
        self._free: list[Page] = []
        self._copies = 0

    def begin(self, sheet: Sheet) -> Page:
        """Begin to load a copy of a notebook; it runs by itself. Nothing is waited for."""
        if sheet in self._begun:
            return self._begun[sheet]
        self.server.wait()
        # In a folder of its own: the kernel of an earlier copy may still be ending.
        self._copies += 1
        notebook = f"{self._copies}/{sheet.shown_name}.ipynb"
        opened = self._window(sheet)
        opened.path = self.server.folder / notebook
        opened.path.parent.mkdir()
        sheet.copy_to(opened.path)
        if self.server.front_end == "lab" and opened.page.url != "about:blank":
            opened.page.evaluate(f"() => {{ {sheet.script} }}")
            opened.page.evaluate(OPEN_IN_LAB, notebook)
            opened.page.evaluate(RUN_BY_ITSELF)
        else:
            opened.page.evaluate("url => { location.href = url; }", self.server.url(notebook))
        self._begun[sheet] = opened
        return opened

    def _window(self, sheet: Sheet) -> Page:
        """Return a window for a sheet: one that is free, or a new one."""
        if self._free:
            left = self._free.pop()
            left.errors.clear()
            return Page(left.page, sheet, self.foreign, left.errors)
        # In one profile pages would be tabs of one window, and those behind draw slowly.
        context = self._browser.new_context(viewport={"width": 1100, "height": 900})
        context.set_default_timeout(IDLE_LIMIT_MS)
        page = context.new_page()
        page.add_init_script(RUN_BY_ITSELF if self.server.front_end != "voila" else "")
        page.add_init_script(sheet.script)
        fresh = Page(page, sheet, self.foreign)
        _listen(fresh)
        return fresh

    def open(self, sheet: Sheet) -> Page:
        """Return the page of a notebook that has run."""
        page = self.begin(sheet)
        try:
            page.page.wait_for_url(f"**/{sheet.shown_name}.ipynb*", wait_until="domcontentloaded")
            page.wait_ready()
            page.wait_run()
        except BaseException:
            self.close(sheet, again=False)
            raise
        return page

    def close(self, sheet: Sheet, *, again: bool = True) -> None:
        """Close a page and end its kernel; its window is used again, if it may be."""
        page = self._begun.pop(sheet, None)
        if page is None:
            return
        try:
            if self.server.front_end != "voila":
                page.page.evaluate(CLOSE_IN_LAB)
            if self.server.front_end != "lab":
                page.page.goto("about:blank")
        except Exception:  # whatever this window has, nobody else gets it
            again = False
        if again and not sheet.script:
            self._free.append(page)
        else:
            page.page.context.close()

    def begin_empty(self) -> Sheet:
        """Begin to load an empty notebook: what a front end complains about is its own."""
        cell = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "Nothing."}
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        content = {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4}
        source = self.server.folder / "nothing.ipynb"
        source.write_text(json.dumps({**content, "nbformat_minor": 5}))
        sheet = Sheet(self.server.front_end, source, name="empty")
        self.begin(sheet)
        return sheet

    def foreign(self) -> frozenset[str]:
        """Return what the front end complains about by itself: an empty notebook, a reload."""
        if self._foreign is None:
            sheet = self.begin_empty()
            page = self.open(sheet)
            text = page.page.locator(".jp-RenderedMarkdown", has_text="Nothing.").first
            text.wait_for(timeout=IDLE_LIMIT_MS)
            page.wait_painted()
            page.page.reload()
            page.wait_ready()
            text.wait_for(timeout=IDLE_LIMIT_MS)
            page.page.wait_for_load_state("networkidle")
            self._foreign = frozenset(page.errors)
            self.close(sheet)
        return self._foreign


def _listen(page: Page) -> None:
    """Note errors, and requests that would leave this machine."""

    def complain(text: str) -> None:
        page.errors.append(text.splitlines()[0] if text else "an error without words")

    def look(request: Any) -> None:
        if not request.url.startswith(LOCAL):
            complain(f"left the machine: {request.url}")

    page.page.on("request", look)
    page.page.on("console", lambda m: complain(m.text) if m.type == "error" else None)
    page.page.on("pageerror", lambda error: complain(str(error)))


@contextmanager
def opened(browser: Any, server: Server, notebook: Path) -> Iterator[Page]:
    """Open a notebook that has run, for a program that is no test."""
    desk, sheet = Desk(browser, server), Sheet(server.front_end, notebook)
    try:
        yield desk.open(sheet)
    finally:
        desk.close(sheet)


def pytest_configure(config: pytest.Config) -> None:
    """Say what this folder's mark means."""
    config.addinivalue_line(
        "markers",
        "shown(front_ends, *notebooks, **options): the sheets that the fixture page goes through",
    )
    config.addinivalue_line("markers", "untouched: looks at a sheet before others play with it")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test for each sheet of the marks ``shown``."""
    if "page" in metafunc.fixturenames:
        sheets = [
            Sheet(front_end, notebook, **mark.kwargs)
            for mark in metafunc.definition.iter_markers("shown")
            for front_end in mark.args[0].split()
            for notebook in mark.args[1:]
        ]
        metafunc.parametrize("page", sheets, indirect=True, ids=str)


def sheet_of(item: pytest.Item) -> Sheet | None:
    """Return the sheet that a test looks at."""
    spec = getattr(item, "callspec", None)
    found = spec.params.get("page") if spec else None
    return found if isinstance(found, Sheet) else None


def group_of(sheet: Sheet | None) -> str:
    """Return the group of tests with one browser: thirds of the work."""
    if sheet is None or sheet.front_end != "lab":
        return "other"
    # The later lessons are played through once; the other notebooks are loaded again and again.
    later = sheet.notebook.parent.name == "notebooks" and sheet.notebook.name >= "02"
    return "lessons" if later else "lab"


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark a test of this folder; skip it where none can run. Its notebooks need no browser.

    Each group may have a worker of its own.
    """
    if item.path.suffix == ".ipynb":
        return
    item.add_marker(pytest.mark.browser(group_of(sheet_of(item))))
    if reason := missing():
        item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of one sheet together."""
    places = [place for place, item in enumerate(items) if sheet_of(item)]
    sheets = list(dict.fromkeys(sheet_of(items[place]) for place in places))
    sheets.sort(key=lambda sheet: list(_COMMANDS).index(sheet.front_end))  # type: ignore[union-attr]
    own = [items[place] for place in places]
    own.sort(
        key=lambda item: (sheets.index(sheet_of(item)), not item.get_closest_marker("untouched"))
    )
    for place, item in zip(places, own, strict=True):
        items[place] = item


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Note which tests failed: nobody else uses the page of one."""
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


FAILED = pytest.StashKey[bool]()


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="package")
def blank(browser: Any) -> Iterator[Any]:
    """Give a page with nothing on it, to play scripts and style sheets without a front end."""
    page = browser.new_page()
    yield page
    page.close()


@pytest.fixture(scope="package")
def desk(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Desk]]:
    """Give a front end by its name; it starts when it is asked for first."""
    with ExitStack() as running:

        @cache
        def started(name: str) -> Desk:
            server = running.enter_context(serving(name, tmp_path_factory.mktemp(name)))
            return Desk(request.getfixturevalue("browser"), server)  # it starts beside the server

        yield started


@pytest.fixture
def page(request: pytest.FixtureRequest, desk: Callable[[str], Desk]) -> Iterator[Page]:
    """The page of a sheet that the mark ``shown`` names, run whole."""
    sheet = request.param
    if sheet.front_end == "voila":
        desk("voila").foreign()  # it always complains: asked now, the window is used again
    found = desk(sheet.front_end).open(sheet)
    items = request.session.items
    here = request.node.get_closest_marker("browser")
    others = [
        other
        for item in items[items.index(request.node) + 1 :]
        if (other := sheet_of(item)) and item.get_closest_marker("browser") == here
    ]  # another worker may go through the other ones
    yield found
    found.errors.clear()
    failed = request.node.stash.get(FAILED, False)
    if failed:
        found.screenshot("failed")
    if others[:1] != [sheet] or failed:
        desk(sheet.front_end).close(sheet, again=not failed)
