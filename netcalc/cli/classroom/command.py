"""``netcalc classroom``: the lessons for a class, from this machine."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import json
import os
import secrets
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from netcalc import language
from netcalc.cli import options, put, user_environment
from netcalc.cli.classroom import record as records
from netcalc.cli.classroom.hosts import plain_name
from netcalc.cli.classroom.record import Record
from netcalc.cli.classroom.roll import KEY_LENGTH, new_code
from netcalc.cli.lab import find_lessons
from netcalc.cli.mistakes import CommandError, lacking
from netcalc.cli.serving import running
from netcalc.errors import ExperimentError, MissingPackageError

_SHARE = Path(__file__).parents[1] / "share"
_LOOPBACK, _USUAL_PORT, _BACKLOG = "127.0.0.1", 8890, 128
_KERNELS_EACH = 2
"""Lessons that one student has open at once; the oldest ends for a third."""
_STOP_LIMIT_S = 20.0
_MOST_NAME = 50
"""Letters of a folder that leave room for the names of sockets: Linux takes 107, and to that in
which a kernel is 18 lead.
"""
_LEAST_MEMORY_BYTES = 400_000_000
"""A kernel with less does not run the lessons. [byte]"""
_WALLS = {
    "network": "a network of its own, loopback alone",
    "processes": "its own processes alone, and 64 MiB of files in all",
    "files": "no files but Python's and its own",
}


@options.command(
    names={"names": "--name"},
    types={
        "port": options.WholeNumber(1, 65535),
        "students": options.WholeNumber(1, 200),
        "certfile": click.Path(path_type=Path),
        "keyfile": click.Path(path_type=Path),
    },
)
def classroom(
    *,
    address: str = _LOOPBACK,
    port: int | None = None,
    names: tuple[str, ...] = (),
    students: int = 30,
    memory_bytes: float = 800e6,
    processor_s: float = 600.0,
    certfile: Path | None = None,
    keyfile: Path | None = None,
    allow_root: bool = False,
    resume: bool = False,
) -> None:
    """Serve the lessons to a class from this machine; Ctrl-C ends all.

    Students enter a code, which is printed. You enter a key of your own, and see who has which
    lesson open.

    Parameters
    ----------
    address : str
        Address of this machine to serve at; by default only this machine reaches it.
    port : int
        Port of the server; 8890 by default, or any free port if that is in use.
    names : HOST
        Another name by which browsers reach the class, such as that of a proxy.
    students : int
        Number of students: twice as many lessons can be open at once.
    memory_bytes : float
        Memory limit per kernel. [byte]
    processor_s : float
        Limit of processor time per kernel. [s]
    certfile : path
        Certificate for TLS (PEM): the address begins with https.
    keyfile : path
        Private key of the certificate, if it is in a file of its own.
    allow_root : bool
        Start as root; the kernels of students then run as root.
    resume : bool
        Continue the last class that was killed: the same code, key, port, options and students.
    """
    if find_spec("voila") is None:
        raise MissingPackageError("voila", extra="lab", purpose="netcalc classroom")
    if sys.platform != "linux":
        raise CommandError("class-needs-linux", platform=sys.platform)
    options = {
        "address": address,
        "names": list(names),
        "port": port,
        "students": students,
        "memory_bytes": memory_bytes,
        "processor_s": processor_s,
        # Links stay: behind them may be a renewed certificate.
        "certfile": str(certfile.absolute()) if certfile else "",
        "keyfile": str(keyfile.absolute()) if keyfile else "",
        "allow_root": allow_root,
    }
    if not resume:
        _check(options)
    with _record(port, resume=resume) as (record, lock), _folder() as folder:
        if resume:
            typed = {name: options[name] for name in _typed(options)}
            if "certfile" in typed:
                typed["keyfile"] = options["keyfile"]  # that of before belongs to another
            options = record.known["options"] | typed
            _check(options)
            shutil.rmtree(record.known["folder"], ignore_errors=True)
        _serve(options, record, lock, folder)


def _check(options: dict[str, Any]) -> None:
    """Refuse what cannot be served before anything starts."""
    if os.geteuid() == 0 and not options["allow_root"]:
        raise CommandError("class-as-root")
    memory_bytes, processor_s = options["memory_bytes"], options["processor_s"]
    if memory_bytes < _LEAST_MEMORY_BYTES:
        raise CommandError(
            "class-memory-small", memory_bytes=memory_bytes, least_bytes=_LEAST_MEMORY_BYTES
        )
    if processor_s < 1:
        raise CommandError("class-processor-short", processor_s=processor_s)
    for name in options["names"]:
        if plain_name(name) is None:
            raise CommandError("class-name", name=name)
    certfile, keyfile = options["certfile"], options["keyfile"]
    if keyfile and not certfile:
        raise lacking("--keyfile", "--certfile", "--certfile class.pem --keyfile class.key")
    for file in filter(None, (certfile, keyfile)):
        Path(file).open("rb").close()  # refused here, with its name
    if certfile:
        _try_certificate(Path(certfile), Path(keyfile) if keyfile else None)


def _typed(options: dict[str, Any]) -> list[str]:
    """Return the options that stand in the command line."""
    context, there = click.get_current_context(), click.core.ParameterSource.COMMANDLINE
    return [name for name in options if context.get_parameter_source(name) is there]


@contextlib.contextmanager
def _record(port: int | None, *, resume: bool) -> Iterator[tuple[Record, int]]:
    """Take over the record of a class that was killed, or make one; yields a lock, too."""
    with contextlib.ExitStack() as closing:
        if resume:
            place = records.place()
            taken = closing.enter_context(records.killed(place, port))
            if taken is None:
                raise CommandError("class-not-kept", folder=str(place))
            yield taken
            return
        try:
            place = records.place()
            count = records.count_killed(place)
            made = closing.enter_context(records.new(place))
        except OSError as error:
            put(f"warning: this class cannot be resumed if it is killed: {error}", err=True)
            made = closing.enter_context(records.new(closing.enter_context(_folder())))
            made[0].can_stay = False
        else:
            if count:
                put("A class was killed; netcalc classroom --resume continues it.", err=True)
        yield made


def _serve(options: dict[str, Any], record: Record, lock: int, folder: Path) -> None:
    """Serve until the class ends, or is killed."""
    address = options["address"]
    with _listen(address, options["port"], is_known=bool(record.known)) as listening:
        options["port"] = listening.getsockname()[1]
        kept = {
            "code": new_code(),
            "teacher_key": new_code(KEY_LENGTH),
            "cookie_secret": secrets.token_hex(32),
            "roll": {"students": [], "teachers": []},
            **record.known,
            "options": options,
            "folder": str(folder),
        }
        with contextlib.suppress(OSError):  # the server writes it again, and says what is wrong
            record.write(kept)
        settings = {
            **options,
            **kept,
            "memory_bytes": int(options["memory_bytes"]),
            "processor_s": int(options["processor_s"]),
            "listening": listening.fileno(),
            "each": _KERNELS_EACH,
            "record": str(record.folder),
            "lessons": str(find_lessons()),
        }
        put("Starting ...", err=True)
        with _server(settings, folder, lock) as server:
            listening.close()  # the server's alone
            walls = _first_line(server)["walls"]
            try:
                record.is_needed = record.can_stay
                _tell(
                    address, options["port"], kept["code"], kept["teacher_key"],
                    bool(options["certfile"]), walls,
                )  # fmt: skip
                code_of_exit = server.wait()
            except KeyboardInterrupt as stopped:
                record.is_needed &= bool(stopped.args)  # a terminal that was closed is no end
                raise
            if code_of_exit and not record.can_stay:
                raise _ended(code_of_exit)
            if code_of_exit:
                raise ExperimentError("class-killed", phase="run Voila", exit_code=code_of_exit)
            record.is_needed = False
            put("The class has ended.")
        if record.is_needed:
            put("netcalc classroom --resume continues the class.")


def _try_certificate(certfile: Path, keyfile: Path | None) -> None:
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certfile, keyfile, password=lambda: "")  # which asks nobody
    except (ssl.SSLError, ValueError) as error:
        reason = getattr(error, "reason", None) or str(error)
        raise CommandError(
            "class-certificate",
            file=str(certfile),
            keyfile=str(keyfile or certfile),
            reason=reason.replace("_", " ").lower(),
        ) from error


def _listen(address: str, typed_port: int | None, *, is_known: bool) -> socket.socket:
    """Return a socket that listens: the server takes it over, so nobody gets its port meanwhile.

    ``is_known`` says whether students know the port, of a class that goes on.
    """
    try:
        kind = socket.AF_INET6 if ipaddress.ip_address(address).version == 6 else socket.AF_INET
    except ValueError as error:
        raise CommandError("class-address", address=address) from error
    for port in (typed_port,) if typed_port else (_USUAL_PORT, 0):
        try:
            return socket.create_server((address, port), family=kind, backlog=_BACKLOG)
        except PermissionError as error:
            raise CommandError("server-port-not-permitted", port=port) from error
        except OSError as error:
            if error.errno in (errno.EADDRNOTAVAIL, errno.EINVAL):  # EINVAL: a link-local one
                raise CommandError("class-address-elsewhere", address=address) from error
            if error.errno != errno.EADDRINUSE:
                raise
    raise CommandError("class-port-taken" if is_known else "server-port-in-use", port=typed_port)


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """Make the folder of the class; it goes with all that is in it."""
    place = Path(tempfile.gettempdir()).resolve()
    if len(str(place)) > _MOST_NAME or place.is_relative_to("/run"):  # which kernels do not see
        place = Path("/tmp")
    folder = Path(tempfile.mkdtemp(prefix="netcalc-class-", dir=place))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _server(settings: dict[str, Any], folder: Path, lock: int) -> Iterator[subprocess.Popen[str]]:
    """Run the server in a session of its own; in the end it and its kernels are gone."""
    with running(
        [sys.executable, "-m", "netcalc.cli.classroom"],
        stopped="Ending the class.",
        limit_s=_STOP_LIMIT_S,
        cwd=folder,
        env=user_environment()
        | {
            "JUPYTER_PATH": str(_SHARE),
            "JUPYTER_PREFER_ENV_PATH": "1",  # the kernel of this environment, not of a home
            "JUPYTER_CONFIG_DIR": str(folder / "settings"),
            "JUPYTER_DATA_DIR": str(folder / "data"),
            "NETCALC_LANGUAGE": language.ENGLISH,  # as the notebooks served
            "PYTHONPATH": os.pathsep.join(_searched()),
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=[settings["listening"], lock],
        text=True,
    ) as server:
        assert server.stdin
        with contextlib.suppress(BrokenPipeError), server.stdin:
            server.stdin.write(json.dumps(settings) + "\n")  # secrets: not in a command line
        yield server


_PACKAGE = str(Path(__file__).parents[3])


def _searched() -> list[str]:
    """Return where to import from: of the user's names none is left that depends on the folder."""
    theirs = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    return [_PACKAGE, *(str(Path(folder_name).absolute()) for folder_name in theirs)]


def _first_line(server: subprocess.Popen[str]) -> dict[str, Any]:
    """Wait until the server listens."""
    assert server.stdout
    line = server.stdout.readline()
    if not line:
        raise _ended(server.wait())
    told: dict[str, Any] = json.loads(line)
    return told


def _tell(
    address: str, port: int, code: str, teacher_key: str, is_encrypted: bool, walls: dict[str, bool]
) -> None:
    """Print what to write on the board, and what it means."""
    is_open = not ipaddress.ip_address(address).is_loopback
    host = f"[{address}]" if ":" in address else address
    if ipaddress.ip_address(address).is_unspecified:
        host = socket.gethostname()
    url = f"http{'s' if is_encrypted else ''}://{host}:{port}/"
    put(f"Students: {url}   code {code}")
    put(f"You:      {url}teacher   key {teacher_key}")
    if is_open:
        put(
            f"Everybody who reaches {host} on the network reaches this page; the code lets them in."
        )
        if not is_encrypted:
            put("Without --certfile names, code and key cross the network readable.")
    else:
        put("Only this machine reaches this address; --address serves others.")
    there = [text for wall, text in _WALLS.items() if walls[wall]]
    lacking = [text for wall, text in _WALLS.items() if not walls[wall]]
    put("Each kernel has: " + "; ".join([*there, "limits of memory and processor"]))
    if lacking:
        put("warning: this machine cannot give it: " + "; ".join(lacking), err=True)
    put("Ctrl-C ends the class and removes its files.")


def _ended(code: int) -> ExperimentError:
    return ExperimentError("server-ended", phase="run Voila", exit_code=code)
