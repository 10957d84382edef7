"""``netcalc lab``: the lessons, in a copy that may be changed, in JupyterLab or as pages.

``netcalc site`` writes them as pages that open from a disk or any web server.

The server listens on 127.0.0.1 only and requires a token, which is in the printed address and in a
file that only this user can read: not in a command line, not in a log. Nothing is fetched from
elsewhere.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from netcalc import language
from netcalc.cli import output, put, serving, user_environment
from netcalc.cli.mistakes import CommandError
from netcalc.cli.options import FolderName, WholeNumber, command
from netcalc.errors import DatasetError, ExperimentError, MissingPackageError
from netcalc.language.notebooks import in_language
from netcalc.samples import write_atomically

_BUNDLED = Path(__file__).parents[1] / "_bundled" / "notebooks"
_CHECKOUT = Path(__file__).parents[2] / "notebooks"
_SHARE = Path(__file__).parent / "share"
_CONNECTION = "netcalc.cli.lesson_pages.PromptConnection"
_SETTINGS = ".settings"
_WAY_IN = "open_lessons.html"
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


@command(
    click.Option(
        ["--dir", "folder"],
        type=FolderName(),
        default=Path("~/netcalc-lessons"),
        show_default=True,
        help="Folder of your copy of the lessons.",
    ),
    names={"as_pages": "--app", "code": "--language"},
    types={"port": WholeNumber(1, 65535), "code": click.Choice(language.known())},
)
def lab(
    *,
    as_pages: bool = False,
    port: int | None = None,
    no_browser: bool = False,
    folder: Path,
    fresh: bool = False,
    code: str | None = None,
    new_token: bool = False,
    allow_root: bool = False,
) -> None:
    """Open the lessons in the browser; Ctrl-C stops the server.

    You work on a copy. Your changes are kept, also when a newer netcalc brings new lessons.

    The address is the same each time, so a page that is still open goes on. A second start with
    the same folder opens the server that runs.

    Parameters
    ----------
    as_pages : bool
        Show the lessons as pages without code (Voila).
    port : int
        Port of the server; by default the port of the last time, 8888 at first, or any free port
        if it is in use.
    no_browser : bool
        Print the address and open no browser.
    fresh : bool
        Write the original next to each lesson you changed.
    code : str
        Language of the lessons; by default the environment's. What is not translated is English.
    new_token : bool
        Generate a new access token; open pages must log in again.
    allow_root : bool
        Start as root; the browser then has a root terminal.
    """
    program = "voila" if as_pages else "jupyterlab"
    if find_spec(program) is None:
        raise MissingPackageError(program, extra="lab", purpose="netcalc lab")
    if _is_root() and not allow_root:
        raise CommandError("server-as-root")
    folder = _resolved(folder)
    typed, code = code, code or language.choose()
    with contextlib.ExitStack() as stack:
        lessons = stack.enter_context(_in_language(find_lessons(), code))
        try:
            with _writing_to(folder):
                (folder / _SETTINGS).mkdir(parents=True, exist_ok=True)
                inherited = stack.enter_context(serving.held(folder / _SETTINGS))
                copied = copy_lessons(lessons, folder, fresh=fresh)
        except serving.Running as other:
            served = other.address
            _check_that_it_serves(served, folder, as_pages, port, typed, fresh, new_token)
            _show_again(served, folder, no_browser=no_browser)
            return
        _tell(copied)
        _trust(lessons, folder)
        address = _address(lessons, folder, as_pages, port, code, renew=new_token)
        with _writing_to(folder):
            serving.keep(address, folder / _SETTINGS)
        if _is_root():
            put(f"warning: {CommandError('server-as-root').what}", err=True)
        command = _command(as_pages, address.port, folder, allow_root=allow_root)
        stack.callback((folder / _WAY_IN).unlink, missing_ok=True)
        server = stack.enter_context(_server(command, folder, address.token, code, inherited))
        _wait_until_ready(server, address)
        put(f"The lessons are in {folder}\nand at {address.url}\nCtrl-C stops the server.")
        if not no_browser:
            webbrowser.open(_page_that_leads_to(address.url, folder).as_uri())
        _wait(server)


def _resolved(folder: Path) -> Path:
    """Return the folder that was typed, without links."""
    try:
        folder = folder.resolve()
    except RuntimeError as error:
        raise CommandError("lab-folder-refused", file=str(folder), reason=str(error)) from error
    with _writing_to(folder):  # a folder above it may be closed to this user
        is_file = folder.exists() and not folder.is_dir()
    if is_file:
        raise CommandError("folder-is-file", file=str(folder))
    return folder


@contextlib.contextmanager
def _writing_to(folder: Path) -> Iterator[None]:
    """Say for what the system refuses in a folder which folder it is, and the way out."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        code = "lab-folder-full" if full else "lab-folder-refused"
        reason = error.strerror or str(error)
        raise CommandError(code, file=str(folder), reason=reason, errno=error.errno) from error


def _address(
    lessons: Path, folder: Path, as_pages: bool, port: int | None, code: str, *, renew: bool
) -> serving.Address:
    """Return the address of before, where that is free."""
    before = serving.last(folder / _SETTINGS)
    first = min(path.name for path in lessons.glob("*.ipynb"))
    free = serving.free_port(port, before.port if before else None)
    if before and port is None and free != before.port:
        put(f"Port {before.port}, used the last time, is taken now: the address has changed.")
    token = serving.secret_token() if renew or before is None else before.token
    return serving.Address(free, token, as_pages, "" if as_pages else f"lab/tree/{first}", code)


def _check_that_it_serves(
    served: serving.Address,
    folder: Path,
    as_pages: bool,
    port: int | None,
    code: str | None,
    fresh: bool,
    renew: bool,
) -> None:
    """Refuse a second start that asks for what the running server does not do."""
    asked = {
        "JupyterLab": served.as_pages and not as_pages,
        "--app": as_pages and not served.as_pages,
        "--port": port not in (None, served.port),
        "--language": code not in (None, served.language),
        "--fresh": fresh,
        "--new-token": renew,
    }
    other = [option for option, is_asked in asked.items() if is_asked]
    if other:
        raise CommandError(
            "lab-running-otherwise", file=str(folder), port=served.port, options=other
        )


def _show_again(served: serving.Address, folder: Path, *, no_browser: bool) -> None:
    put(f"The lessons in {folder}\nare served already, at {served.url}")
    put("Ctrl-C where it was started stops the server.")
    if not no_browser:
        webbrowser.open(_page_that_leads_to(served.url, folder).as_uri())


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def find_lessons() -> Path:
    """Return the folder with the original lessons: of the installed package, or the checkout."""
    for folder in (_BUNDLED, _CHECKOUT):
        if next(folder.glob("*.ipynb"), None) is not None:
            return folder
    raise DatasetError("lessons-missing", file=str(_BUNDLED))


@contextlib.contextmanager
def _in_language(lessons: Path, code: str) -> Iterator[Path]:
    """Return the folder with the original lessons, or one with them in another language."""
    if code == language.ENGLISH:
        yield lessons
        return
    with TemporaryDirectory(prefix="netcalc-lessons-") as folder:
        copy = Path(folder) / "lessons"
        shutil.copytree(lessons, copy, ignore=shutil.ignore_patterns(".*"))
        for notebook in copy.rglob("*.ipynb"):
            notebook.write_bytes(in_language(notebook.read_bytes(), code))
        yield copy


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
            # Half a file would be taken for one that the user changed.
            write_atomically(copy, original.read_bytes())
            done["new" if theirs is None else "updated"].append(str(name))
        elif theirs != ours:
            done["kept"].append(str(name))
            if fresh:
                beside = copy.with_name(f"{copy.stem}-original{copy.suffix}")
                write_atomically(beside, original.read_bytes())
                done["beside"].append(beside.name)
            continue
        record[str(name)] = ours
    write_atomically(record_file, json.dumps(record, indent=1).encode() + b"\n")
    return Copied(**{what: tuple(names) for what, names in done.items()})


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _trust(lessons: Path, folder: Path) -> None:
    """Sign the lessons that are as netcalc wrote them: JupyterLab shows their pictures at once.

    It hides those of a notebook that nobody on this machine has run or signed. Where no signature
    can be kept, the lessons open all the same.
    """
    nbformat: Any = import_module("nbformat")  # without types
    sign: Any = import_module("nbformat.sign")
    with contextlib.suppress(Exception):
        data = {} if _home_is_writable() else {"data_dir": str(folder / _SETTINGS / "data")}
        notary = sign.NotebookNotary(**data)
        with contextlib.closing(notary.store):  # a database of SQLite, never closed by nbformat
            for original in lessons.rglob("*.ipynb"):
                copy = folder / original.relative_to(lessons)
                if copy.is_file() and _sha256(copy) == _sha256(original):
                    notebook = nbformat.read(copy, as_version=4)
                    if not notary.check_signature(notebook):
                        notary.sign(notebook)


def _tell(copied: Copied) -> None:
    if copied.updated:
        put("Updated: " + ", ".join(copied.updated))
    if copied.kept:
        hint = "" if copied.beside else " (--fresh writes the originals next to them)"
        put("Kept with your changes: " + ", ".join(copied.kept) + hint)
    if copied.beside:
        put("Originals written next to them: " + ", ".join(copied.beside))


def _command(as_pages: bool, port: int, folder: Path, *, allow_root: bool) -> list[str]:
    """Return the command of the server; the token is not in it, anybody can read a command."""
    if as_pages:
        options = {
            "Voila.ip": serving.HOST,
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
            "ServerApp.ip": serving.HOST,
            "ServerApp.port": port,
            "ServerApp.port_retries": 0,
            "ServerApp.open_browser": False,
            "ServerApp.root_dir": folder,
            "ServerApp.allow_root": allow_root,
            "ServerApp.allow_remote_access": False,
            "ServerApp.log_level": "ERROR",
            "ServerApp.kernel_websocket_connection_class": _CONNECTION,
            "ServerApp.contents_manager_class": "netcalc.cli.untrusted.Notebooks",
            "LabApp.log_level": "ERROR",
            "ServerApp.jpserver_extensions": {"jupyter_lsp": False, "notebook_shim": False},
            # Nothing is asked of a server elsewhere: no updates, no list of extensions.
            "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
            "LabApp.extension_manager": "readonly",
        }
        program = ["-m", "jupyterlab"]
    return [sys.executable, *program] + [f"--{name}={value}" for name, value in options.items()]


def _server(
    command: list[str], folder: Path, token: str, code: str, inherited: tuple[int, ...] = ()
) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    """Run the server in a session of its own; in the end it and its kernels are gone."""
    # In the user's own folder of settings a password, a port or an extension would change the
    # lessons, and the lessons would leave their workspaces there.
    settings = folder / _SETTINGS
    environment = user_environment() | {
        "JUPYTER_TOKEN": token,
        "NETCALC_LANGUAGE": code,
        "JUPYTER_CONFIG_DIR": str(settings),
        "JUPYTER_CONFIG_PATH": _searched("JUPYTER_CONFIG_PATH", _SHARE / "config"),
        "JUPYTER_PATH": _searched("JUPYTER_PATH", _SHARE),
        # The python3 kernel of this environment, not of the same name in the user's home: that may
        # be another Python, without netcalc.
        "JUPYTER_PREFER_ENV_PATH": "1",
    }
    if not _home_is_writable():
        environment |= {
            "JUPYTER_DATA_DIR": str(settings / "data"),
            "JUPYTER_RUNTIME_DIR": str(settings / "runtime"),
            "IPYTHONDIR": str(settings / "ipython"),
        }
    return serving.running(
        command, stopped="Stopping. Saved changes are kept.", limit_s=_STOP_LIMIT_S, cwd=folder,
        env=environment, stdin=subprocess.DEVNULL, pass_fds=inherited,
    )  # fmt: skip


def _searched(name: str, ours: Path) -> str:
    """Return folders that Jupyter searches: ours, then those of the user."""
    return os.pathsep.join(filter(None, (str(ours), os.environ.get(name))))


def _home_is_writable() -> bool:
    """Whether Jupyter and IPython may keep their own files where they do by default."""
    try:
        home = Path.home()
    except RuntimeError:
        return False
    kept = (home / ".local/share/jupyter/runtime", home / ".ipython")
    nearest = [
        next(path for path in (folder, *folder.parents) if _is_there(path)) for folder in kept
    ]
    return all(path.is_dir() and os.access(path, os.W_OK | os.X_OK) for path in nearest)


def _is_there(path: Path) -> bool:
    """Whether this user finds something at a path; nothing is found in a closed folder."""
    try:
        return path.exists()
    except OSError:
        return False


def _wait_until_ready(server: subprocess.Popen[bytes], address: serving.Address) -> None:
    """Wait until the server takes connections."""
    waited_s, step_s = 0.0, 0.1
    while waited_s < _START_LIMIT_S:
        if address.answers():
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            raise _ended(server.wait(step_s))
        waited_s += step_s
    raise ExperimentError(
        "server-silent",
        phase="start Jupyter",
        host=serving.HOST,
        port=address.port,
        limit_s=_START_LIMIT_S,
    )


def _wait(server: subprocess.Popen[bytes]) -> None:
    """Wait until the user ends the server, here by Ctrl-C or there by File, Shut Down."""
    code = server.wait()
    if code:
        raise _ended(code)


def _ended(code: int) -> ExperimentError:
    return ExperimentError("server-ended", phase="run Jupyter", exit_code=code)


def _page_that_leads_to(address: str, folder: Path) -> Path:
    """Write a page that only this user can read, so that no command line shows the token."""
    page = folder / _WAY_IN
    page.unlink(missing_ok=True)
    page.touch(mode=0o600)
    page.write_text(
        f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">'
        f'<p><a href="{address}">Open the lessons</a></p>\n',
        encoding="utf-8",
    )
    return page


_PACKAGES = ("bokeh", "ipywidgets", "nbconvert", "latex2mathml")


@command(names={"chosen": "--lesson"}, types={"folder": FolderName()})
def site(folder: Path, *, chosen: tuple[str, ...] = (), live: bool = False) -> None:
    """Write the lessons as pages into DIR.

    \b
    netcalc site lessons-as-pages

    The pages open from a disk or any web server, in any browser, without Python and without a
    network; their sliders work. DIR is a new or an empty folder, or one with an older site, which
    is replaced. Ctrl-C stops; what was in DIR before is then unchanged. It takes some minutes.

    Parameters
    ----------
    folder : DIR
        The folder of the pages.
    chosen : NUMBER
        Only this lesson, such as 03 or 02b.
    live : bool
        Run the experiments of the lessons on this machine first; takes minutes.
    """
    for package in _PACKAGES:
        if find_spec(package) is None:
            raise MissingPackageError(package, extra="lab", purpose="netcalc site")
    from netcalc.lessons.site.build import build  # late: it loads the front end's packages

    lessons = _chosen(sorted(find_lessons().glob("*.ipynb")), chosen)
    # Ended from elsewhere, it ends the lessons at work as by Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with output.Progress("lessons") as progress:
        pages = build(folder, lessons=lessons, live=live, with_calculator=True, progress=progress)
    put(f"{len(pages)} pages are in {folder}\nOpen {pages[0]}")


def _chosen(lessons: list[Path], numbers: tuple[str, ...]) -> list[Path]:
    """Return the lessons with these numbers, in order; all if there is none."""
    by_number = {lesson.name.partition("_")[0]: lesson for lesson in lessons}
    chosen = {number.strip().lower().zfill(2) for number in numbers}
    if unknown := sorted(chosen - by_number.keys()):
        raise CommandError("lesson-unknown", number=unknown[0], known=list(by_number))
    return [lesson for number, lesson in by_number.items() if not chosen or number in chosen]
