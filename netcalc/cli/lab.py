"""``netcalc lab``: the lessons, in a copy that may be changed, in JupyterLab or as pages.

The server listens on 127.0.0.1 only and requires a token, which is in the printed address and
nowhere else: not in a command line, not in a log. Nothing is fetched from elsewhere.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import FrameType

import click

from netcalc.cli import put, user_environment
from netcalc.cli.mistakes import Command, CommandError
from netcalc.cli.quantity import WholeNumber
from netcalc.errors import DatasetError, ExperimentError, MissingPackageError

_BUNDLED = Path(__file__).parents[1] / "_bundled" / "notebooks"
_CHECKOUT = Path(__file__).parents[2] / "notebooks"
_SHARE = Path(__file__).parent / "share"
_HOST = "127.0.0.1"
_CONNECTION = "netcalc.cli.websocket.PromptConnection"
_USUAL_PORT = 8888
_SETTINGS = ".settings"
_START_LIMIT_S = 60.0
_STOP_LIMIT_S = 10.0
_CULL_AFTER_S, _CULL_EVERY_S = 1200, 60
"""When a kernel is ended that no page is connected to, and how often that is looked at. [s]"""


@dataclass(frozen=True, slots=True)
class Copied:
    """The files that :func:`copy_lessons` wrote or kept, by name."""

    new: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


@click.command(cls=Command)
@click.option(
    "--app", "as_pages", is_flag=True, help="Show the lessons as pages without code (Voila)."
)
@click.option(
    "--port",
    type=WholeNumber(1, 65535),
    help="Port of the server; 8888 by default, or any free port if that is in use.",
)
@click.option("--no-browser", is_flag=True, help="Print the address and open no browser.")
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path),
    default=Path("~/netcalc-lessons"),
    show_default=True,
    help="Folder of your copy of the lessons.",
)
@click.option("--fresh", is_flag=True, help="Write the original next to each lesson you changed.")
@click.option(
    "--allow-root", is_flag=True, help="Start as root; the browser then has a root terminal."
)
def lab(
    as_pages: bool,
    port: int | None,
    no_browser: bool,
    folder: Path,
    fresh: bool,
    allow_root: bool,
) -> None:
    """Open the lessons in the browser; Ctrl-C stops the server.

    You work on a copy. Your changes are kept, also when a newer netcalc brings new lessons.
    """
    program = "voila" if as_pages else "jupyterlab"
    if find_spec(program) is None:
        raise MissingPackageError(program, extra="lab", purpose="netcalc lab")
    if _is_root() and not allow_root:
        raise CommandError("server-as-root")
    folder = folder.expanduser().resolve()
    if folder.exists() and not folder.is_dir():
        raise CommandError("folder-is-file", file=str(folder))
    lessons = find_lessons()
    _tell(copy_lessons(lessons, folder, fresh=fresh))
    port = _free_port(port)
    if _is_root():
        put(f"warning: {CommandError('server-as-root').what}", err=True)
    token = secrets.token_urlsafe(24)
    first = min(path.name for path in lessons.glob("*.ipynb"))
    opened = "" if as_pages else f"lab/tree/{first}"
    address = f"http://{_HOST}:{port}/{opened}?token={token}"
    with _server(_command(as_pages, port, folder, allow_root=allow_root), folder, token) as server:
        _wait_until_ready(server, port)
        put(f"The lessons are in {folder}\nand at {address}\nCtrl-C stops the server.")
        if no_browser:
            _wait(server)
        else:
            with _page_that_leads_to(address, folder) as page:
                webbrowser.open(page.as_uri())
                _wait(server)


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def find_lessons() -> Path:
    """Return the folder with the original lessons: of the installed package, or the checkout."""
    for folder in (_BUNDLED, _CHECKOUT):
        if next(folder.glob("*.ipynb"), None) is not None:
            return folder
    raise DatasetError("lessons-missing", file=str(_BUNDLED))


def copy_lessons(source: Path, folder: Path, *, fresh: bool = False) -> Copied:
    """Bring a folder up to date with the original lessons; a file the user changed stays.

    Parameters
    ----------
    source : pathlib.Path
        The originals.
    folder : pathlib.Path
        The copy; made if it is not there.
    fresh : bool
        Write the original next to each changed file, as ``NAME-original.ipynb``.

    Returns
    -------
    Copied
        What was done, by name.
    """
    record_file = folder / _SETTINGS / "copied.json"
    record_file.parent.mkdir(parents=True, exist_ok=True)
    record: dict[str, str] = {}
    with contextlib.suppress(OSError, ValueError):
        record = json.loads(record_file.read_text(encoding="utf-8"))
    done: dict[str, list[str]] = {"new": [], "updated": [], "kept": [], "beside": []}
    for original in sorted(source.rglob("*")):
        name = original.relative_to(source)
        if not original.is_file() or any(part.startswith(".") for part in name.parts):
            continue
        copy, ours = folder / name, _sha256(original)
        theirs = _sha256(copy) if copy.exists() else None
        if theirs is None or (theirs != ours and theirs == record.get(str(name))):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(original, copy)
            done["new" if theirs is None else "updated"].append(str(name))
        elif theirs != ours:
            done["kept"].append(str(name))
            if fresh:
                beside = copy.with_name(f"{copy.stem}-original{copy.suffix}")
                shutil.copyfile(original, beside)
                done["beside"].append(beside.name)
            continue
        record[str(name)] = ours
    record_file.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return Copied(**{what: tuple(names) for what, names in done.items()})


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _tell(copied: Copied) -> None:
    if copied.updated:
        put("Updated: " + ", ".join(copied.updated))
    if copied.kept:
        hint = "" if copied.beside else " (--fresh writes the originals next to them)"
        put("Kept with your changes: " + ", ".join(copied.kept) + hint)
    if copied.beside:
        put("Originals written next to them: " + ", ".join(copied.beside))


def _free_port(wanted: int | None) -> int:
    """Return a port that is free now: the one wanted, the usual one, or any."""
    for port in (wanted,) if wanted else (_USUAL_PORT, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((_HOST, port))
            except OSError:
                continue
            free: int = probe.getsockname()[1]
            return free
    raise CommandError("server-port-in-use", port=wanted)


def _command(as_pages: bool, port: int, folder: Path, *, allow_root: bool) -> list[str]:
    """Return the command of the server; the token is not in it, anybody can read a command."""
    if as_pages:
        options = {
            "Voila.ip": _HOST,
            "Voila.port": port,
            "Voila.port_retries": 0,
            "Voila.open_browser": False,
            "Voila.auto_token": True,
            "Voila.log_level": "ERROR",
            "Voila.kernel_websocket_connection_class": _CONNECTION,
            "Voila.config_file_paths": _SHARE / "config",
            # Its pages fetch nothing from elsewhere; those of Voila fetch style sheets.
            "VoilaConfiguration.template": "netcalc",
            "VoilaConfiguration.classic_tree": True,
            # A page that is left ends its kernel; one that could not is without a browser.
            "MappingKernelManager.cull_idle_timeout": _CULL_AFTER_S,
            "MappingKernelManager.cull_interval": _CULL_EVERY_S,
        }
        program = ["-m", "voila", str(folder)]
    else:
        options = {
            "ServerApp.ip": _HOST,
            "ServerApp.port": port,
            "ServerApp.port_retries": 0,
            "ServerApp.open_browser": False,
            "ServerApp.root_dir": folder,
            "ServerApp.allow_root": allow_root,
            "ServerApp.allow_remote_access": False,
            "ServerApp.log_level": "ERROR",
            "ServerApp.kernel_websocket_connection_class": _CONNECTION,
            "LabApp.log_level": "ERROR",
            "ServerApp.jpserver_extensions": {"jupyter_lsp": False, "notebook_shim": False},
            # Nothing is asked of a server elsewhere: no updates, no list of extensions.
            "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
            "LabApp.extension_manager": "readonly",
        }
        program = ["-m", "jupyterlab"]
    return [sys.executable, *program] + [f"--{name}={value}" for name, value in options.items()]


@contextlib.contextmanager
def _server(command: list[str], folder: Path, token: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run the server in a session of its own; in the end it and its kernels are gone."""
    settings = folder / _SETTINGS  # the user's own Jupyter stays as it is
    page = settings / "labconfig" / "page_config.json"
    if not page.exists():
        page.parent.mkdir(parents=True, exist_ok=True)
        without = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
        page.write_text(json.dumps(without), encoding="utf-8")
    environment = user_environment() | {
        "JUPYTER_TOKEN": token,
        "JUPYTER_CONFIG_DIR": str(settings),
        "JUPYTER_PATH": os.pathsep.join(
            filter(None, (str(_SHARE), os.environ.get("JUPYTER_PATH")))
        ),
        "JUPYTER_PREFER_ENV_PATH": "1",
    }
    for stop in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop, _stop)
    server = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=_end_with_parent,
    )
    try:
        yield server
    except KeyboardInterrupt:
        put("Stopping. Saved changes are kept.")
    finally:
        server.terminate()
        try:
            server.wait(_STOP_LIMIT_S)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            if server.poll() is None:  # once it is reaped its number may be another's
                os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def _stop(signum: int, frame: FrameType | None) -> None:
    """End as by Ctrl-C."""
    raise KeyboardInterrupt


def _end_with_parent() -> None:
    """Ask Linux to end the server if this command is killed."""
    if sys.platform == "linux":
        import ctypes

        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


def _wait_until_ready(server: subprocess.Popen[bytes], port: int) -> None:
    """Wait until the server takes connections."""
    waited_s, step_s = 0.0, 0.1
    while waited_s < _START_LIMIT_S:
        with contextlib.suppress(OSError), socket.create_connection((_HOST, port), timeout=1.0):
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            raise _ended(server.wait(step_s))
        waited_s += step_s
    raise ExperimentError(
        "server-silent", phase="start Jupyter", host=_HOST, port=port, limit_s=_START_LIMIT_S
    )


def _wait(server: subprocess.Popen[bytes]) -> None:
    """Wait until the user ends the server, here by Ctrl-C or there by File, Shut Down."""
    code = server.wait()
    if code:
        raise _ended(code)


def _ended(code: int) -> ExperimentError:
    return ExperimentError("server-ended", phase="run Jupyter", exit_code=code)


@contextlib.contextmanager
def _page_that_leads_to(address: str, folder: Path) -> Iterator[Path]:
    """Write a page that only this user can read, so that no command line shows the token."""
    page = folder / "open_lessons.html"
    page.unlink(missing_ok=True)
    page.touch(mode=0o600)
    page.write_text(
        f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">'
        f'<p><a href="{address}">Open the lessons</a></p>\n',
        encoding="utf-8",
    )
    try:
        yield page
    finally:
        page.unlink(missing_ok=True)
