"""The server of a class: Voila with few of its pages, and with who may reach them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import resource
import shutil
import socket
import ssl
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jinja2
from jupyter_server.services.kernels.handlers import KernelHandler
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop, PeriodicCallback
from voila.app import Voila
from voila.shutdown_kernel_handler import VoilaShutdownKernelHandler
from voila.static_file_handler import MultiStaticFileHandler, TemplateStaticFileHandler
from voila.tornado.handler import TornadoVoilaHandler
from voila.tornado.kernel_websocket_handler import VoilaKernelWebsocketHandler

from netcalc.cli.classroom import log, pages
from netcalc.cli.classroom.hosts import own_names, refusing_others
from netcalc.cli.classroom.kernels import ClassKernels, Parent, Watch
from netcalc.cli.classroom.pages import ClassAuthorizer, ClassIdentity
from netcalc.cli.classroom.record import FIELDS, Record
from netcalc.cli.classroom.roll import Roll
from netcalc.cli.classroom.tls_door import TlsDoor
from netcalc.cli.lesson_pages import KEEP_ALIVE_S, compile_templates_once, listed, prepare_page

_LOOK_EVERY_S = 5.0
_STARTING_S = 180
"""A kernel may take so long to start beside thirty others. [s]"""
_LATE_S = 120
"""After so long a page says that its kernel has not started. [s]"""
_BODY_BYTES = 64 << 10
"""Longest request; files come in pieces over the web socket. [byte]"""
_MESSAGE_BYTES = 4 << 20
"""Longest message of the web socket. [byte]"""
_KEPT_EVERY_S = 0.5
_KEPT = (MultiStaticFileHandler,)
_REPLACED = {
    KernelHandler: pages.KernelModel,
    TemplateStaticFileHandler: pages.Templates,
    TornadoVoilaHandler: pages.Lesson,
    VoilaShutdownKernelHandler: pages.EndKernel,
    VoilaKernelWebsocketHandler: pages.KernelSocket,
}
_NAMES_KEPT = ("ThemesHandler", "FileFindHandler")
"""Style sheets and scripts of the packages that are installed."""

_NOT_LOADED = ("@jupyter-notebook/lab-extension", "jupyterlab_pygments")
"""Scripts of other packages that Voila would load into each page, where they do nothing."""


class Classroom(Voila):
    """Voila for a class."""

    arguments: dict[str, Any]
    is_lost = False
    """Whether no kernel could be started any more."""
    is_over = False
    """Whether the teacher has ended the class: nothing of it is kept."""
    roll: Roll
    _is_changed = _is_pausing = False

    def init_settings(self) -> dict[str, Any]:
        """Add what the pages of the class need."""
        arguments = self.arguments
        settings: dict[str, Any] = super().init_settings()
        self.roll = Roll(arguments["code"], arguments["teacher_key"], arguments["students"])
        self.roll.restore(arguments["roll"])
        self.roll.changed = self._note_changed
        self.identity_provider.roll = self.roll
        templates = jinja2.Environment(loader=jinja2.FileSystemLoader(pages.PAGES), autoescape=True)
        numbered, others = listed(Path(self.root_dir))
        lessons = {lesson["name"]: lesson["title"] for lesson in (*numbered, *others)}
        return {
            **settings,
            "class_roll": self.roll,
            "class_turnstile": pages.Turnstile(),
            "class_code": arguments["code"],
            "class_lessons": lessons,
            "class_templates": templates,
            "class_end": self._end_for_good,
            "websocket_max_message_size": _MESSAGE_BYTES,
            "websocket_ping_interval": 20,
        }

    def init_handlers(self) -> list[Any]:
        """Keep few pages of Voila's; what is not named here does not exist."""
        kept = []
        for pattern, handler, *more in super().init_handlers():
            if handler in _REPLACED:
                kept.append((pattern, _REPLACED[handler], *more))
            elif handler in _KEPT or handler.__name__ in _NAMES_KEPT:
                refusing = type(handler.__name__, (pages.Refusing, handler), {})
                kept.append((pattern, refusing, *more))
        base = self.server_url
        return [
            (base, pages.Lessons),
            (f"{base}voila/tree/?", pages.WayBack),
            (f"{base}login", pages.Door),
            (f"{base}leave", pages.Leave),
            (f"{base}teacher", pages.Teacher),
            (f"{base}teacher/state", pages.TeacherState),
            (f"{base}teacher/end", pages.TeacherEnd),
            (f"{base}teacher/script.js", pages.Script),
            *kept,
        ]

    def listen(self) -> None:
        """Listen, with TLS if there is a certificate, until the class ends."""
        arguments = self.arguments
        listening = socket.socket(fileno=arguments["listening"])
        listening.setblocking(False)
        names = own_names(arguments["address"], arguments["names"])
        server = HTTPServer(
            refusing_others(self.app, names), max_body_size=_BODY_BYTES,
            max_header_size=32 << 10, idle_connection_timeout=300.0, body_timeout=30.0,
        )  # fmt: skip
        if arguments["certfile"]:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(arguments["certfile"], arguments["keyfile"] or None)
            TlsDoor(server, context).listen(listening)
        else:
            server.add_sockets([listening])
        watch = Watch(self.kernel_manager)
        self.ioloop = IOLoop.current()
        log.install(self.log).later = self.ioloop.call_later
        self.kernel_manager.lost = self._end_lost
        PeriodicCallback(watch.look, _LOOK_EVERY_S * 1000).start()
        print(json.dumps({"walls": arguments["walls"]}), flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            self.ioloop.start()
        asyncio.get_event_loop().run_until_complete(self.kernel_manager.end_all())
        self._keep()

    def _note_changed(self) -> None:
        """Write the record, at once where it is quiet: a flood of names costs the disk no more."""
        self._is_changed = True
        if not self._is_pausing:
            self._keep_changes()

    def _keep_changes(self) -> None:
        self._is_pausing = self._is_changed
        if self._is_changed:
            self._is_changed = False
            self._keep()
            self.ioloop.call_later(_KEPT_EVERY_S, self._keep_changes)

    def _keep(self) -> None:
        known = {name: self.arguments[name] for name in FIELDS} | {"roll": self.roll.kept()}
        try:
            Record(Path(self.arguments["record"])).write(known)
        except OSError as error:
            print(f"The students of the class could not be saved: {error}", file=sys.stderr)

    def _end_for_good(self) -> None:
        """End as the teacher wants it."""
        self.is_over = True
        self.ioloop.add_callback(self.ioloop.stop)

    def _end_lost(self) -> None:
        """End, and say why: nobody could open a lesson any more."""
        if not self.is_lost:
            self.is_lost = True
            print(
                "The process that starts kernels has ended.",
                file=sys.stderr,
                flush=True,
            )
            self.ioloop.add_callback(self.ioloop.stop)

    def stop(self) -> None:
        """Nothing more: the folders go with that of the class."""


def prepare(handler: Any, **arguments: Any) -> None:
    """Prepare the page of a lesson as netcalc lab does; a student has no server to start again."""
    prepare_page(handler, **arguments)
    metadata = arguments["notebook"].metadata
    metadata["netcalc_words"] |= {
        "late": "The kernel has not started for two minutes. Load the page again; if that does not "
        "help, tell your teacher.",
        "ended": "The kernel of this page has ended. Load the page again.",
    }
    metadata["netcalc_late_s"] = _LATE_S


def main() -> None:
    """Serve a class whose settings come from the standard input, where nobody else reads them."""
    arguments: dict[str, Any] = json.loads(sys.stdin.readline())
    folder = Path(arguments["folder"])
    for name in ("k", "turns", "connections"):
        (folder / name).mkdir(mode=0o700)
    ClassKernels.folder, ClassKernels.turns = folder / "k", folder / "turns"
    ClassKernels.answers = Record(Path(arguments["record"])).answers
    ClassKernels.memory_bytes = arguments["memory_bytes"]
    ClassKernels.processor_s = arguments["processor_s"]
    ClassKernels.each, ClassKernels.most = (
        arguments["each"],
        arguments["students"] * arguments["each"],
    )
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # each kernel and page takes many
    process = Parent(folder, ClassKernels.turns)
    ClassKernels.process = process
    arguments["walls"] = asdict(process.walls)
    Classroom.arguments = arguments
    try:
        server = Classroom(config=settings(arguments))
        server.initialize([arguments["lessons"]])
        server.start()
    finally:
        process.end()
        shutil.rmtree(folder, ignore_errors=True)
    if not server.is_over:  # by a signal, or for want of kernels: another start can go on
        sys.exit(1)


def settings(arguments: dict[str, Any]) -> Any:
    """Return the settings of Voila and of what it is made of."""
    from traitlets.config import Config  # late: the package of an extra

    config, folder = Config(), Path(arguments["folder"])
    config.Voila.ip = arguments["address"]
    config.Voila.port = arguments["port"]
    config.Voila.open_browser = False
    config.Voila.log_level = "ERROR"
    config.Voila.cookie_secret = bytes.fromhex(arguments["cookie_secret"])
    config.Voila.connection_dir_root = str(folder / "connections")
    config.Voila.identity_provider_class = ClassIdentity
    config.Voila.authorizer_class = ClassAuthorizer
    config.Voila.kernel_websocket_connection_class = "netcalc.cli.lesson_pages.PromptConnection"
    config.Voila.config_file_paths = []
    config.VoilaConfiguration.template = "netcalc"
    config.VoilaConfiguration.prelaunch_hook = prepare
    compile_templates_once()
    config.VoilaConfiguration.http_keep_alive_timeout = KEEP_ALIVE_S
    config.VoilaConfiguration.allow_template_override = "NO"
    config.VoilaConfiguration.allow_theme_override = "NO"
    config.VoilaConfiguration.extension_denylist = list(_NOT_LOADED)
    config.VoilaConfiguration.multi_kernel_manager_class = ClassKernels
    config.VoilaExecutor.startup_timeout = _STARTING_S
    config.MappingKernelManager.default_kernel_name = "python3"
    # The page of a kernel that has ended cannot use the next one, which would take memory alone.
    config.KernelManager.autorestart = False
    return config
