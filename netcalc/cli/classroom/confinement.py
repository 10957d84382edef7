"""The process that all kernels of a class are copies of, and what a kernel may use.

Students cannot send code to a kernel. These limits are the second wall, should a lesson have a
hole: a process sets them itself before the first cell runs, and neither it nor its children can
take them back.

IPython, Bokeh, ipywidgets and netcalc take most of a kernel's first seconds and most of its memory.
One process imports them; a kernel is a fork of it, confined, with the memory in common until one of
the two changes it. From there on it is IPython's own kernel.

The server speaks with this process over a socket that it was born with: it has no address that
another process could connect to, and kernels do not keep it.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import re
import resource
import runpy
import shutil
import signal
import socket
import struct
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from netcalc.emulation.wire.kernel import NEW_NET, NEW_USER, enter, set_sysctl, set_up, unshare
from netcalc.experiments.running.stopping import LOCK

NEW_PID, _NEW_MOUNTS, _NEW_IPC = 0x20000000, 0x00020000, 0x08000000
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_MS_PRIVATE, _MS_SLAVE, _MS_SHARED, _MS_REC = 1 << 18, 1 << 19, 1 << 20, 1 << 14
_DETACH = 2
_MOST_PROCESSES, _MOST_FILES, _FILE_BYTES = 128, 1024, 64 << 20
_NICE = 5
FOLDER_BYTES, FOLDER_FILES = 64 << 20, 1000
"""What a kernel may have in its folder in all; each folder and each socket counts as a file."""
TURNS_BYTES, TURNS_FILES = 64 << 10, 32
"""What it may have among the turns: the file of a turn is a page of memory, whatever it holds."""
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on all architectures
_VERSION, _PATH_BENEATH = 1, 1
_EXECUTE, _WRITE, _READ, _LIST, _TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
_REMOVE_FILE, _MAKE_FILE, _MAKE_LINK = 1 << 5, 1 << 8, 1 << 12
_OF_TURNS = _READ | _LIST | _WRITE | _TRUNCATE | _REMOVE_FILE | _MAKE_FILE
_OF_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE
_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1}
"""Rights that each version of Landlock knows; later ones add none that matter here."""
_NEEDED = (
    "/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/etc/hosts",
    "/etc/protocols", "/etc/services", "/etc/fonts", "/etc/mime.types", "/etc/alternatives",
)  # fmt: skip
"""What Python and the programs of a live run read. Neither accounts nor keys are in it."""
_DEVICES = tuple(
    f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "net/tun")
)
"""Neither terminals nor memory in common with other processes."""
_SOCKETS = ("/run", "/tmp/.X11-unix")
"""Where programs of the user and of the system listen; Landlock does not refuse to connect."""
_COUNTED_BY_NAMESPACE = (5, 14)
"""The version of Linux from which on a user namespace has a count of processes of its own."""


@dataclass(frozen=True, slots=True)
class Walls:
    """What this machine can confine kernels by.

    Attributes
    ----------
    network : bool
        Whether a kernel has a network of its own, of loopback alone.
    processes : bool
        Whether a kernel sees and ends only its own processes.
    files : bool
        Whether a kernel opens only the files that it needs.
    """

    network: bool
    processes: bool
    files: bool


def end_with_parent() -> None:
    """Ask Linux to end this process with the one that started it."""
    _libc().prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def enter_user_namespace() -> None:
    """Move into a user namespace with this user, who has all capabilities in it."""
    user, group = os.geteuid(), os.getegid()
    unshare(NEW_USER, "create user namespace")
    _libc().prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # a change of rights makes /proc/self root's
    for name, text in (
        ("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1"),
    ):  # fmt: skip
        Path("/proc/self", name).write_text(text)


def look_for_walls() -> Walls:
    """Try, in children, what this machine permits."""
    return Walls(
        network=_works(_own_network),
        processes=_works(_own_processes),
        files=landlock_version() > 0,
    )


def limit(*, memory_bytes: int, processor_s: int) -> None:
    """Set the limits of a process; each holds for it and anew for every child."""
    for what, most in (
        (resource.RLIMIT_DATA, memory_bytes),
        (resource.RLIMIT_CPU, processor_s),
        (resource.RLIMIT_NOFILE, _MOST_FILES),
        (resource.RLIMIT_FSIZE, _FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        _set_limit(what, most)
    os.nice(_NICE)  # the server stays quick


def _set_limit(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(what, (most, most))


def confine(
    walls: Walls,
    *,
    read: Iterable[str],
    own: str,
    turn: str,
    answers: str,
    files: Mapping[str, str],
) -> None:
    """Build the walls around this process.

    Parameters
    ----------
    walls : Walls
        Those that this machine can build.
    read : iterable of str
        Files and folders beside those of Python.
    own : str
        Its folder. Where it has mounts of its own this is a new one of limited size, and what is
        beside it is hidden.
    turn : str
        Its folder among those of the turns, which it reads all.
    answers : str
        The file that it hands to the next kernel of its student.
    files : mapping of str to str
        Names and texts of the files that its folder begins with.
    """
    if walls.processes:
        _own_proc()  # while this process has rights over its PID namespace
        _own_folder(own)
    for name, text in files.items():
        Path(own, name).write_text(text)
    if walls.network:
        _own_network()
    if counts_alone(walls, os.uname().release):
        _set_limit(resource.RLIMIT_NPROC, _MOST_PROCESSES)
    _drop_capabilities()
    _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if walls.files:
        read = [*_NEEDED, *python_folders(), *read, str(Path(turn).parent)]
        _allow_files(read, {own: ~_MAKE_LINK, turn: _OF_TURNS, answers: _OF_FILES})
    _libc().prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # the server reads how much memory it has


def python_folders() -> list[str]:
    """Return the folders that Python imports from."""
    paths = [sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), *sys.path]
    paths.append(str(Path(__file__).parents[2]))  # netcalc itself
    return [path for path in dict.fromkeys(paths) if path]


def counts_alone(walls: Walls, release: str) -> bool:
    """Whether Linux counts a kernel's processes alone; else a limit would count all of the user's.

    Parameters
    ----------
    walls : Walls
        With a network of its own, a kernel has a user namespace of its own.
    release : str
        The version of Linux: ``6.1.0-13-amd64``.
    """
    version = tuple(int(part) for part in re.findall(r"\d+", release)[:2])
    return walls.network and version >= _COUNTED_BY_NAMESPACE


def landlock_version() -> int:
    """Return the version of Landlock in this kernel; 0 if there is none."""
    return max(0, int(_libc().syscall(_CREATE_RULESET, None, 0, _VERSION)))


def _own_network() -> None:
    enter_user_namespace()
    unshare(NEW_NET | _NEW_IPC, "create network namespace")
    set_up("lo", [], mtu_bytes=65536)
    with suppress(OSError):  # ping without rights; the group must be one of this namespace
        set_sysctl("net.ipv4.ping_group_range", f"{os.getegid()} {os.getegid()}")


def _own_processes() -> None:
    become_first_process()
    child = fork_into_own_processes()
    if child == 0:
        _exit_with(_own_proc)
    if os.waitpid(child, 0)[1] != 0:
        raise OSError("no /proc of its own")


def _own_proc() -> None:
    """Show in /proc the processes of this PID namespace alone, and no sockets of others."""
    unshare(_NEW_MOUNTS, "create mount namespace")
    _mount("none", "/", None, _MS_REC | _MS_SLAVE)  # folders of later turns arrive, nothing leaves
    _mount("proc", "/proc", "proc", 0)
    for path in _SOCKETS:
        if Path(path).is_dir():
            _mount("none", path, "tmpfs", 0)


def _own_folder(own: str) -> None:
    """Show in the folder that a folder is in a new one alone: beside it are sockets of others.

    The server finds it by ``/proc/PID/root``.
    """
    _mount("none", str(Path(own).parent), "tmpfs", 0, _size(FOLDER_BYTES, FOLDER_FILES))
    Path(own).mkdir(mode=0o700)


def _size(most_bytes: int, most_files: int) -> str:
    return f"size={most_bytes},nr_inodes={most_files},mode=700"


def begin_turns(folder: str, walls: Walls) -> None:
    """Prepare the folder in which each kernel will have one for its turns."""
    if walls.processes:
        _mount("none", "/", None, _MS_REC | _MS_PRIVATE)
        _mount("none", folder, "tmpfs", 0, _size(TURNS_BYTES, _MOST_FILES))
        _mount("none", folder, None, _MS_SHARED)
    Path(folder, LOCK).touch()


def begin_turn(folder: str, walls: Walls) -> None:
    """Make the folder of a kernel's turns, of limited size where there can be mounts."""
    Path(folder).mkdir(mode=0o700)
    if walls.processes:
        _mount("none", folder, "tmpfs", 0, _size(TURNS_BYTES, TURNS_FILES))


def end_turn(folder: str) -> None:
    """Remove the folder of a kernel's turns."""
    _libc().umount2(os.fsencode(folder), _DETACH)  # where it is no mount this does nothing
    shutil.rmtree(folder, ignore_errors=True)


def fork_into_own_processes() -> int:
    """Fork a child that is the first of a PID namespace; this process stays in its own."""
    here = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    child = -1
    try:
        unshare(NEW_PID, "create PID namespace")
        child = os.fork()
    finally:
        if child != 0:
            enter(here, NEW_PID, "return to PID namespace")
        os.close(here)
    return child


def become_first_process() -> None:
    """Continue as the first process of a PID namespace, which ends with this one and it.

    Linux lets a process return to a PID namespace only if it has rights over it.
    """
    enter_user_namespace()
    unshare(NEW_PID | _NEW_MOUNTS, "create PID namespace")
    end_with_parent()
    if child := os.fork():
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF)
    end_with_parent()


def _works(attempt: Callable[[], None]) -> bool:
    """Try something in a child, whose namespaces go with it."""
    child = os.fork()
    if child == 0:
        _exit_with(attempt)
    return os.waitpid(child, 0)[1] == 0


def _exit_with(attempt: Callable[[], None]) -> None:
    code = 1
    try:
        attempt()
        code = 0
    finally:
        os._exit(code)


def _drop_capabilities() -> None:
    header, none = struct.pack("Ii", 0x20080522, 0), bytes(24)
    if _libc().capset(header, none) != 0:
        raise OSError(ctypes.get_errno(), "capabilities cannot be dropped")


def _mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    arguments = (source.encode(), os.fsencode(target), kind and kind.encode())
    if _libc().mount(*arguments, ctypes.c_ulong(flags), options.encode() or None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), target)


def _allow_files(read: Iterable[str], write: Mapping[str, int]) -> None:
    """Allow the files named, and no others, to this process and its children.

    Parameters
    ----------
    read : iterable of str
        Files and folders.
    write : mapping of str to int
        Folders, and the rights in each.
    """
    supported = _RIGHTS[min(3, landlock_version())]
    libc = _libc()
    rules = libc.syscall(_CREATE_RULESET, struct.pack("Q", supported), 8, 0)
    if rules < 0:
        raise OSError(ctypes.get_errno(), "no rules for files")
    try:
        of_reading = _EXECUTE | _READ | _LIST
        of_devices = of_reading | _WRITE | _TRUNCATE
        allowed = [(path, of_reading) for path in read]
        allowed += [(path, of_devices) for path in ("/proc", "/sys", *_DEVICES)]
        for path, rights in (*allowed, *write.items()):
            _allow(rules, path, rights & supported)
        if libc.syscall(_RESTRICT_SELF, rules, 0) != 0:
            raise OSError(ctypes.get_errno(), "the rules for files cannot be kept")
    finally:
        os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # not there, or not for this user
        return
    try:
        if not Path(path).is_dir():
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, place)
        if _libc().syscall(_ADD_RULE, rules, _PATH_BENEATH, rule, 0) != 0:
            raise OSError(ctypes.get_errno(), "no rule for this file", path)
    finally:
        os.close(place)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


_LOADED = (
    "IPython.core.completer", "anywidget", "bokeh.embed", "bokeh.layouts", "bokeh.models",
    "bokeh.plotting", "ipykernel.ipkernel", "ipykernel.kernelapp", "ipykernel.zmqshell",
    "ipywidgets", "numpy.testing", "scipy.special",
)  # fmt: skip
"""What every lesson loads, beside its own module of netcalc."""
_WRITER = "page"
"""The module that writes lessons as files: no lesson loads it, and it takes seconds."""
_FIRST_CELL = "import ipywidgets; ipywidgets.register_comm_target(); del ipywidgets"
"""ipywidgets registers when it is imported, and there was no kernel then."""


def serve(control: socket.socket, walls: Walls) -> dict[str, Any]:
    """Answer the server's requests; return, in a child, what it was asked to become."""
    turns: dict[int, str] = {}
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1 << 20, 2)
        if not message:
            sys.exit()
        request: dict[str, Any] = json.loads(message)
        try:
            begin_turn(request["turn"], walls)
            child = fork_into_own_processes() if walls.processes else os.fork()
        except OSError as error:
            end_turn(request["turn"])
            control.send(json.dumps({"error": str(error)}).encode())
            continue
        if child == 0:
            control.close()
            for place, descriptor in enumerate(descriptors, start=1):
                os.dup2(descriptor, place)
                os.close(descriptor)
            return request
        turns[child] = request["turn"]
        ended = os.pidfd_open(child)
        socket.send_fds(control, [b"{}"], [ended])
        for descriptor in (ended, *descriptors):
            os.close(descriptor)
        _reap(turns)


def become(request: dict[str, Any], walls: Walls) -> None:
    """Take over what a new process would have been given, behind its walls."""
    end_with_parent()
    os.setsid()
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    limit(memory_bytes=request["memory_bytes"], processor_s=request["processor_s"])
    given = {name: request[name] for name in ("read", "own", "turn", "answers", "files")}
    confine(walls, **given)
    end_with_parent()  # again: a change of rights clears the first
    sys.argv = [*request["argv"], f"--IPKernelApp.exec_lines={_FIRST_CELL}"]


def _reap(turns: dict[int, str]) -> None:
    """Forget the kernels that have ended, and their turns."""
    with suppress(ChildProcessError):
        while child := os.waitpid(-1, os.WNOHANG)[0]:
            if child in turns:
                end_turn(turns.pop(child))


def main() -> None:
    """Import, say which walls there are, and serve until the server ends."""
    end_with_parent()
    control = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    walls = look_for_walls()
    if walls.processes:
        become_first_process()
    begin_turns(sys.argv[2], walls)
    lessons = Path(__file__).parents[2] / "lessons"
    for name in _LOADED:
        import_module(name)
    for path in sorted(lessons.glob("*.py")):
        if path.stem != _WRITER:
            import_module(f"netcalc.lessons.{path.stem}")
    gc.collect()
    gc.freeze()
    control.send(json.dumps(asdict(walls)).encode())
    request = serve(control, walls)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    become(request, walls)


if __name__ == "__main__":
    main()
    runpy.run_module("ipykernel_launcher", run_name="__main__", alter_sys=True)
    runpy.run_module("ipykernel_launcher", run_name="__main__", alter_sys=True)
