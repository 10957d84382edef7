"""The system calls of Linux that an emulated path needs: namespaces, TUN devices, interfaces.

By ``ioctl`` and the C library, not by programs: ``ip`` may be missing, and the error of each call
names the step.
"""

from __future__ import annotations

import ctypes
import errno
import ipaddress
import os
import platform
import socket
import struct
import time
from contextlib import suppress
from pathlib import Path

with suppress(ImportError):  # systems that have none import this module, too
    import fcntl

NEW_USER, NEW_NET = 0x10000000, 0x40000000
TUN_NODE = "/dev/net/tun"
_TUNSETIFF, _TUNSETOFFLOAD = 0x400454CA, 0x400454D0
_IFF_TUN, _IFF_NO_PI, _IFF_VNET_HDR = 0x0001, 0x1000, 0x4000
_OFFLOADS = 0x01 | 0x02 | 0x04  # checksums, TSO over IPv4 and IPv6
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _SIOCSIFADDR = 0x8913, 0x8914, 0x8916
_SIOCSIFNETMASK, _SIOCSIFMTU, _SIOCGIFINDEX = 0x891C, 0x8922, 0x8933
_SIOCADDRT, _RTF_UP_AND_GATEWAY = 0x890B, 0x0001 | 0x0002
_CALLS = {
    _TUNSETIFF: "create TUN device",
    _TUNSETOFFLOAD: "set offloads of TUN device",
    _SIOCGIFFLAGS: "read device flags",
    _SIOCSIFFLAGS: "set device up",
    _SIOCSIFADDR: "set address",
    _SIOCSIFNETMASK: "set netmask",
    _SIOCSIFMTU: "set MTU",
    _SIOCGIFINDEX: "find device",
    _SIOCADDRT: "add route",
}
_IFF_UP = 0x1
_TENTATIVE = 0x40  # of an address of IPv6
_USABLE_S = 3.0  # duplicate address detection of IPv6 takes 1 s by default
_PR_SET_TIMERSLACK = 29
_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274, "riscv64": 274}
_SLICE_NS = 100_000  # the shortest that Linux grants


def unshare(kinds: int, step: str) -> None:
    """Move this process into new namespaces of some kinds."""
    _require_success(_libc().unshare(kinds), step)


def enter(descriptor: int, kind: int, step: str) -> None:
    """Move this process into the namespace of a descriptor."""
    _require_success(_libc().setns(descriptor, kind), step)


def enter_user_namespace_as_root(more: int = 0) -> None:
    """Create a user namespace with this process as root, and other namespaces that belong to it.

    Linux refuses a mapping of root to a process that is root without CAP_SETFCAP. The process has
    all capabilities in its namespace without the mapping, too; programs that it starts have none.
    """
    user, group = os.geteuid(), os.getegid()
    unshare(NEW_USER | more, "create user namespace")
    for name, text in (
        ("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1"),
    ):  # fmt: skip
        try:
            Path("/proc/self", name).write_text(text)
        except PermissionError:
            if user != 0:
                raise


def request_priority() -> str:
    """Request exact timers and, where it is permitted, real-time scheduling.

    Otherwise request a short time slice, which Linux 6.12 and later grant to every user: a task
    with a shorter slice gets the processor sooner.
    """
    _libc().prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        if number := _SCHED_SETATTR.get(platform.machine()):
            attributes = struct.pack("IIQiIQQQ", 48, os.SCHED_OTHER, 0, 0, 0, _SLICE_NS, 0, 0)
            _libc().syscall(number, 0, attributes, 0)
        return "other"
    return "fifo"


def open_tun(name: str, *, offload: bool) -> int:
    """Create a TUN device in the network namespace of this process; return its descriptor."""
    descriptor = os.open(TUN_NODE, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        flags = _IFF_TUN | _IFF_NO_PI | (_IFF_VNET_HDR if offload else 0)
        checked_ioctl(descriptor, _TUNSETIFF, struct.pack("16sH22x", name.encode(), flags))
        if offload:
            checked_ioctl(descriptor, _TUNSETOFFLOAD, _OFFLOADS)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def set_up(name: str, addresses: list[str], *, mtu_bytes: int) -> None:
    """Set the MTU and the addresses with prefix of an interface, and set it up."""
    label = name.encode()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        if name != "lo":
            checked_ioctl(sock, _SIOCSIFMTU, struct.pack("16si20x", label, mtu_bytes))
        (flags,) = struct.unpack_from(
            "H", checked_ioctl(sock, _SIOCGIFFLAGS, struct.pack("16s24x", label)), 16
        )
        for address in map(ipaddress.ip_interface, addresses):
            if address.version == 4:
                for call, value in (
                    (_SIOCSIFADDR, address.ip.packed),
                    (_SIOCSIFNETMASK, address.network.netmask.packed),
                ):
                    request = struct.pack("16sHH4s16x", label, socket.AF_INET, 0, value)
                    checked_ioctl(sock, call, request)
        checked_ioctl(sock, _SIOCSIFFLAGS, struct.pack("16sH22x", label, flags | _IFF_UP))
        (index,) = struct.unpack_from(
            "i", checked_ioctl(sock, _SIOCGIFINDEX, struct.pack("16s24x", label)), 16
        )
    for address in map(ipaddress.ip_interface, addresses):
        if address.version == 6:
            with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
                length = address.network.prefixlen
                checked_ioctl(
                    sock, _SIOCSIFADDR, struct.pack("16sIi", address.ip.packed, length, index)
                )
            _wait_until_usable(address.ip.packed.hex())


def add_router(name: str, address: str) -> None:
    """Add a default route through a router behind an interface."""
    router = ipaddress.ip_address(address)
    if router.version == 4:
        anywhere = struct.pack("HH12x", socket.AF_INET, 0)
        gateway = struct.pack("HH4s8x", socket.AF_INET, 0, router.packed)
        route = struct.pack(
            "L16s16s16sHhLPhPLLH6x", 0, anywhere, gateway, anywhere, _RTF_UP_AND_GATEWAY,
            0, 0, 0, 0, 0, 0, 0, 0,
        )  # fmt: skip
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            checked_ioctl(sock, _SIOCADDRT, route)
        return
    request = (bytes(16), bytes(16), router.packed, 0, 0, 0, 1, 0, _RTF_UP_AND_GATEWAY)
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        index = socket.if_nametoindex(name)
        checked_ioctl(sock, _SIOCADDRT, struct.pack("16s16s16sIHHILIi", *request, index))


def _wait_until_usable(address: str) -> None:
    """Wait until the kernel has seen that no neighbour has the same IPv6 address."""
    end_s = time.monotonic() + _USABLE_S
    while time.monotonic() < end_s:
        lines = map(str.split, Path("/proc/self/net/if_inet6").read_text().splitlines())
        if not any(line[0] == address and int(line[4], 16) & _TENTATIVE for line in lines):
            return
        time.sleep(0.001)


def set_sysctl(name: str, value: str) -> None:
    """Set a sysctl of the network namespace of this process; others are refused."""
    if not name.startswith("net.") or ".." in name or "/" in name:
        raise OSError(errno.EPERM, "not a sysctl of a network namespace", name)
    try:
        Path("/proc/sys", *name.split(".")).write_text(value)
    except OSError as error:
        raise OSError(error.errno, error.strerror, name) from error


def checked_ioctl(descriptor: int | socket.socket, call: int, argument: int | bytes) -> bytes:
    """Call a device; the error names the step."""
    try:
        answer = fcntl.ioctl(descriptor, call, argument)
    except OSError as error:
        raise OSError(error.errno, error.strerror, _CALLS.get(call, "configure device")) from error
    return answer if isinstance(answer, bytes) else b""


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _require_success(result: int, step: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), step)
