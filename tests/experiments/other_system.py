"""A Python process that has no more of sockets, signals and calls than one of Windows or macOS has.

What they have is read from typeshed, the description of the standard library by system, which comes
with jedi; its maintainers compare it with Python itself on Linux, Windows and macOS (stubtest).
What a name alone does not show is from the documentation of the systems:

- Windows takes SO_RCVTIMEO and SO_SNDTIMEO as a number of milliseconds, no less than 500, and says
  of a call that has timed out that nothing is known of its data (Winsock, setsockopt).
- A non-blocking connect says WSAEWOULDBLOCK there, 10035 (Winsock, connect).
- macOS refuses a buffer above kern.ipc.maxsockbuf, 8 MiB, with ENOBUFS, where Linux grants less.
"""

import ast
import ctypes
import errno
import importlib
import os
import select
import selectors
import signal
import socket
import ssl  # noqa: F401 - its import asks for the system
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jedi

TYPESHED = Path(jedi.__file__).parent / "third_party" / "typeshed" / "stdlib"
MODULES = (socket, select, os, signal, errno, time)
ABSENT = ("fcntl", "resource", "termios", "pwd", "grp")
MOST_BUFFER_BYTES = 8 << 20


def names(stub, system, *, within=None):
    """Return the names that a stub of typeshed has on a system, or a class within it."""
    path = TYPESHED / f"{stub}.pyi"
    tree = ast.parse((path if path.exists() else TYPESHED / stub / "__init__.pyi").read_text())
    body = tree.body
    if within is not None:
        (body,) = [n.body for n in body if isinstance(n, ast.ClassDef) and n.name == within]
    scope = {"sys": type("sys", (), {"platform": system, "version_info": sys.version_info})}
    found = set()

    def read(statements):
        for node in statements:
            if isinstance(node, ast.If):
                test = compile(ast.Expression(node.test), stub, "eval")
                read(node.body if eval(test, scope) else node.orelse)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.add(node.name)
            elif isinstance(node, ast.AnnAssign):
                found.add(ast.unparse(node.target))
            elif isinstance(node, ast.Assign):
                found.update(ast.unparse(target) for target in node.targets)
            elif isinstance(node, ast.ImportFrom):
                for name in node.names:
                    every = names(node.module, system) if name.name == "*" else set()
                    found.update(every or {name.asname or name.name})

    read(body)
    return found


def become(system):
    """Make this process one of another system: without its names, and without its behaviour."""
    for name in ("netcalc.experiments", "netcalc.cli.doctor", "click.testing"):
        importlib.import_module(name)  # and with it all that is no part of netcalc
    for name in [name for name in sys.modules if name.partition(".")[0] == "netcalc"]:
        del sys.modules[name]
    sys.modules.update(dict.fromkeys(ABSENT))
    options = {}
    for module in MODULES:
        stub = module.__name__
        for name in names(stub, "linux") - names(stub, system):
            if hasattr(module, name):
                delattr(module, name)
    for level, prefix in (("SOL_SOCKET", "SO_"), ("IPPROTO_TCP", "TCP_"), ("IPPROTO_IP", "IP_"),
                          ("IPPROTO_IPV6", "IPV6_")):  # fmt: skip
        values = {value for name, value in vars(socket).items() if name.startswith(prefix)}
        options[getattr(socket, level)] = values
    _change_sockets(system, options)
    subprocess.Popen = os.fork = _refuse  # no run with a peer starts a process
    if system == "win32":
        ctypes.WinError = lambda number: OSError(number, os.strerror(number))
        errno.WSAEWOULDBLOCK = 10_035
        socket.socketpair = _socketpair
    sys.platform = system
    for module in (selectors, tempfile):  # they chose by what they found
        importlib.reload(module)


def _refuse(*_, **__):
    raise AssertionError("a process is started")


def _socketpair(*_):
    """Do as Python does on Windows."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname())
        return near, listener.accept()[0]


def _change_sockets(system, options):
    kind = socket.socket
    own = kind.__mro__[1]
    for name in names("_socket", "linux", within="socket") - names(
        "_socket", system, within="socket"
    ):
        setattr(kind, name, property(_absent(name)))

    def require(level, option):
        if option not in options.get(level, ()):
            raise OSError(errno.ENOPROTOOPT, "Protocol not available")

    def setsockopt(self, level, option, value):
        require(level, option)
        if level == socket.SOL_SOCKET:
            if system == "win32" and option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
                raise AssertionError("its state is unknown after such a timeout")
            if system == "win32" and option == socket.SO_RCVLOWAT:
                raise OSError(errno.ENOPROTOOPT, "Protocol not available")
            buffers = (socket.SO_RCVBUF, socket.SO_SNDBUF)
            if system == "darwin" and option in buffers and value > MOST_BUFFER_BYTES:
                raise OSError(errno.ENOBUFS, "No buffer space available")
        own.setsockopt(self, level, option, value)

    def getsockopt(self, level, option, *size):
        require(level, option)
        return own.getsockopt(self, level, option, *size)

    def connect_ex(self, address):
        code = own.connect_ex(self, address)
        under_way = system == "win32" and code == errno.EINPROGRESS
        return errno.WSAEWOULDBLOCK if under_way else code

    for method in (setsockopt, getsockopt, connect_ex):
        setattr(kind, method.__name__, method)


def _absent(name):
    def get(self):
        raise AttributeError(name)

    return get
