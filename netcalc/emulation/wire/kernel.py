"""The system calls of Linux that an emulated path needs: namespaces, devices, stamps of packets.

By ``ioctl`` and the C library, not by programs: ``ip`` may be missing, and the error of each call
names the step.

Devices are TUN or, where TUN is not available, virtual Ethernet (veth): one device of a pair is in
a host's namespace, the other in the namespace of the carrying process, which reads and writes whole
frames there. No addresses are resolved: all frames go to the only neighbour.
"""

from __future__ import annotations

import ctypes
import errno
import ipaddress
import mmap
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
_SIOCSIFNETMASK, _SIOCSIFMTU = 0x891C, 0x8922
_SIOCADDRT, _RTF_UP_AND_GATEWAY = 0x890B, 0x0001 | 0x0002
_CALLS = {
    _TUNSETIFF: "create TUN device",
    _TUNSETOFFLOAD: "set offloads of TUN device",
    _SIOCGIFFLAGS: "read device flags",
    _SIOCSIFFLAGS: "set device up",
    _SIOCSIFADDR: "set address",
    _SIOCSIFNETMASK: "set netmask",
    _SIOCSIFMTU: "set MTU",
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


def set_up(name: str, addresses: list[str], *, mtu_bytes: int | None = None) -> None:
    """Set the MTU and the addresses with prefix of an interface, and set it up.

    None leaves the MTU to the kernel: 65,536 bytes of the loopback.
    """
    label = name.encode()
    if mtu_bytes is not None:
        _configure(_SIOCSIFMTU, struct.pack("16si20x", label, mtu_bytes))
    for address in map(ipaddress.ip_interface, addresses):
        if address.version == 4:
            for call, value in (
                (_SIOCSIFADDR, address.ip.packed),
                (_SIOCSIFNETMASK, address.network.netmask.packed),
            ):
                _configure(call, struct.pack("16sHH4s16x", label, socket.AF_INET, 0, value))
    set_flags(name, _IFF_UP)
    index = socket.if_nametoindex(name)
    for address in map(ipaddress.ip_interface, addresses):
        if address.version == 6:
            request = struct.pack("16sIi", address.ip.packed, address.network.prefixlen, index)
            _configure(_SIOCSIFADDR, request, socket.AF_INET6)
            _wait_until_usable(address.ip.packed.hex())


def set_flags(name: str, flags: int) -> None:
    """Set flags of an interface besides those that it has."""
    label = name.encode()
    (present,) = struct.unpack_from(
        "H", _configure(_SIOCGIFFLAGS, struct.pack("16s24x", label)), 16
    )
    _configure(_SIOCSIFFLAGS, struct.pack("16sH22x", label, present | flags))


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
        _configure(_SIOCADDRT, route)
        return
    index = socket.if_nametoindex(name)
    request = (bytes(16), bytes(16), router.packed, 0, 0, 0, 1, 0, _RTF_UP_AND_GATEWAY, index)
    _configure(_SIOCADDRT, struct.pack("16s16s16sIHHILIi", *request), socket.AF_INET6)


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


def _configure(call: int, request: bytes, family: int = socket.AF_INET) -> bytes:
    """Call the network of this namespace about a device."""
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        return checked_ioctl(sock, call, request)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _require_success(result: int, step: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), step)


ETHERNET_HEADER_BYTES = 14
ETHERTYPES = {4: b"\x08\x00", 6: b"\x86\xdd"}
"""By the version of IP."""
_EVERY_PROTOCOL = 3  # ETH_P_ALL
_RTM_NEWLINK, _NLM_F_REQUEST, _NLM_F_ACK, _NLM_F_CREATE, _NLM_F_EXCL = 16, 1, 4, 0x400, 0x200
_IFLA_IFNAME, _IFLA_LINKINFO, _IFLA_NET_NS_FD = 3, 18, 28
_IFLA_INFO_KIND, _IFLA_INFO_DATA, _VETH_INFO_PEER = 1, 2, 1
_SIOCGIFHWADDR, _SIOCETHTOOL = 0x8927, 0x8946
_IFF_NOARP = 0x80
_ETHTOOL_OFF = (0x1F, 0x24, 0x17)  # TSO, GSO, checksums left to the device
_SOL_PACKET, _PACKET_STATISTICS, _PACKET_IGNORE_OUTGOING = 263, 6, 23


def make_veth_pair(ours: str, theirs: str, namespace: int) -> None:
    """Create a pair of devices, the other one in the network namespace of a descriptor."""
    peer = bytes(16) + _attribute(_IFLA_IFNAME, theirs.encode() + b"\0")
    peer += _attribute(_IFLA_NET_NS_FD, struct.pack("I", namespace))
    info = _attribute(_IFLA_INFO_KIND, b"veth")
    info += _attribute(_IFLA_INFO_DATA, _attribute(_VETH_INFO_PEER, peer))
    body = bytes(16) + _attribute(_IFLA_IFNAME, ours.encode() + b"\0")
    body += _attribute(_IFLA_LINKINFO, info)
    flags = _NLM_F_REQUEST | _NLM_F_ACK | _NLM_F_CREATE | _NLM_F_EXCL
    head = struct.pack("IHHII", 16 + len(body), _RTM_NEWLINK, flags, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as sock:
        sock.bind((0, 0))
        sock.send(head + body)
        (number,) = struct.unpack_from("i", sock.recv(65_536), 16)
    if number:
        raise OSError(-number, os.strerror(-number), "create veth pair")


def prepare_veth(name: str) -> bytes:
    """Switch a host's device to single packets, without address resolution; return its address."""
    set_flags(name, _IFF_NOARP)
    set_single_packets(name)
    return _configure(_SIOCGIFHWADDR, struct.pack("16s24x", name.encode()))[18:24]


def set_single_packets(name: str) -> None:
    """Switch offloads off: no segmentation by the device, all checksums computed."""
    for command in _ETHTOOL_OFF:
        value = ctypes.create_string_buffer(struct.pack("II", command, 0))
        pointer = struct.pack("16sP16x", name.encode(), ctypes.addressof(value))
        _configure(_SIOCETHTOOL, pointer)


def open_veth_frames(name: str) -> int:
    """Return a descriptor that reads and writes the frames of a device of this namespace."""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    try:
        sock.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
        sock.bind((name, _EVERY_PROTOCOL))
        # 4 MiB asked for, of which the kernel grants net.core.rmem_max: packets wait there while
        # this process waits for a processor.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        sock.setblocking(False)
    except BaseException:
        sock.close()
        raise
    return sock.detach()


def dropped_frame_count(descriptor: int) -> int:
    """Return the number of frames dropped unread since the last call."""
    with socket.socket(fileno=os.dup(descriptor)) as sock:
        _, count = struct.unpack("II", sock.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8))
    return int(count)


def _attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


HEAD_BYTES = 64
"""First bytes by which a packet is matched with its stamp: IP, TCP or UDP headers with sequence
numbers, options and the start of the data. [byte]"""
_OUTGOING = 4  # PACKET_OUTGOING
_SO_ATTACH_FILTER = 26
_ABOUT_PACKET, _KIND_OF_PACKET = 0xFFFFF000, 4  # SKF_AD_OFF, SKF_AD_PKTTYPE
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06  # of a filter: BPF_LD | BPF_W | BPF_ABS and so on
_FILTER = b"".join(
    struct.pack("HBBI", *instruction)
    for instruction in (
        (_LOAD, 0, 0, _ABOUT_PACKET + _KIND_OF_PACKET),
        (_JUMP_IF_EQUAL, 0, 1, _OUTGOING),
        (_RETURN, 0, 0, HEAD_BYTES),
        (_RETURN, 0, 0, 0),
    )
)
_PACKET_RX_RING, _PACKET_VERSION, _TPACKET_V2 = 5, 10, 1
_FRAME_BYTES, _RING_BYTES = 256, 4096  # one page, the least the kernel takes: 16 frames
_STATUS = struct.Struct("I")
_HEAD = struct.Struct("IIIHHII")  # status, length, kept, link header, packet, seconds, nanoseconds
_FULL = 1  # TP_STATUS_USER
_AHEAD_S = 1e-3  # a packet may be sent while stamps are read
_LONGEST_S = 1.0  # no packet waits so long to be read


class Arrivals:
    """The stamps of the last 16 packets that a device of this network namespace sent.

    The carrying process takes 20 to 150 us to wake, longer on a busy machine, and each packet would
    enter its path later by that time. A packet socket at the device stamps it when it leaves, in
    memory shared with the kernel: reading a stamp takes no system call. A process with more packets
    to read is awake and needs no stamps.
    """

    def __init__(self, device: str) -> None:
        with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0) as sock:
            program = ctypes.create_string_buffer(_FILTER)
            code = struct.pack("HP", len(_FILTER) // 8, ctypes.addressof(program))
            sock.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, code)
            sock.setsockopt(_SOL_PACKET, _PACKET_VERSION, _TPACKET_V2)
            ring = struct.pack("IIII", _RING_BYTES, 1, _FRAME_BYTES, _RING_BYTES // _FRAME_BYTES)
            sock.setsockopt(_SOL_PACKET, _PACKET_RX_RING, ring)
            self._ring = mmap.mmap(sock.fileno(), _RING_BYTES)
            sock.bind((device, _EVERY_PROTOCOL))
            self._descriptor = sock.detach()
        self._at = 0
        self.stale = False
        """Whether the ring may hold stamps of packets that were already read."""

    def take(self, after_s: float) -> dict[bytes, float]:
        """Return the times of packets sent later than a time, by their first bytes.

        Times are readings of ``time.monotonic``. A stamp of the future or of long ago is none: the
        wall clock was set, and behind one of the future all packets would wait.
        """
        self.stale = False
        ring, at = self._ring, self._at
        sent_at_s: dict[bytes, float] = {}
        behind_s, earliest_s, latest_s = None, 0.0, 0.0
        while True:
            status, _, kept, _, start, seconds, rest_ns = _HEAD.unpack_from(ring, at)
            if not status & _FULL:
                self._at = at
                return sent_at_s
            if behind_s is None:
                wall_s = time.time()
                now_s = time.monotonic()  # last: what comes between makes a packet later, not early
                behind_s = wall_s - now_s
                earliest_s, latest_s = max(after_s, now_s - _LONGEST_S), now_s + _AHEAD_S
            sent_s = seconds - behind_s + rest_ns * 1e-9
            if earliest_s < sent_s < latest_s:
                sent_at_s.setdefault(ring[at + start : at + start + kept], sent_s)
            _STATUS.pack_into(ring, at, 0)
            at = (at + _FRAME_BYTES) % _RING_BYTES

    def forget(self) -> None:
        """Drop stamps of packets that were already read."""
        if not self.stale:
            return
        self.stale = False
        while _STATUS.unpack_from(self._ring, self._at)[0] & _FULL:
            _STATUS.pack_into(self._ring, self._at, 0)
            self._at = (self._at + _FRAME_BYTES) % _RING_BYTES
