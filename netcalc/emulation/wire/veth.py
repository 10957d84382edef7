"""Virtual Ethernet where TUN is not available: a pair of devices and a packet socket.

One device of the pair is in a host's namespace, the other in that of the carrying process, which
reads and writes whole frames there. No addresses are resolved: all frames go to the only
neighbour.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct

from netcalc.emulation.wire.kernel import checked_ioctl

HEADER_BYTES = 14
ETHERTYPES = {4: b"\x08\x00", 6: b"\x86\xdd"}
"""By the version of IP."""
_EVERY_PROTOCOL = 3  # ETH_P_ALL
_RTM_NEWLINK, _NLM_F_REQUEST, _NLM_F_ACK, _NLM_F_CREATE, _NLM_F_EXCL = 16, 1, 4, 0x400, 0x200
_IFLA_IFNAME, _IFLA_LINKINFO, _IFLA_NET_NS_FD = 3, 18, 28
_IFLA_INFO_KIND, _IFLA_INFO_DATA, _VETH_INFO_PEER = 1, 2, 1
_SIOCGIFHWADDR, _SIOCETHTOOL, _SIOCGIFFLAGS, _SIOCSIFFLAGS = 0x8927, 0x8946, 0x8913, 0x8914
_IFF_NOARP = 0x80
_ETHTOOL_OFF = (0x1F, 0x24, 0x17)  # TSO, GSO, checksums left to the device
_SOL_PACKET, _PACKET_STATISTICS, _PACKET_IGNORE_OUTGOING = 263, 6, 23


def make_pair(ours: str, theirs: str, namespace: int) -> None:
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


def prepare(name: str) -> bytes:
    """Switch a host's device to single packets, without address resolution; return its address."""
    label = name.encode()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16s24x", label)
        (flags,) = struct.unpack_from("H", checked_ioctl(sock, _SIOCGIFFLAGS, request), 16)
        checked_ioctl(sock, _SIOCSIFFLAGS, struct.pack("16sH22x", label, flags | _IFF_NOARP))
        set_single_packets(name)
        return checked_ioctl(sock, _SIOCGIFHWADDR, request)[18:24]


def set_single_packets(name: str) -> None:
    """Switch offloads off: no segmentation by the device, all checksums computed."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for command in _ETHTOOL_OFF:
            value = ctypes.create_string_buffer(struct.pack("II", command, 0))
            pointer = struct.pack("16sP16x", name.encode(), ctypes.addressof(value))
            checked_ioctl(sock, _SIOCETHTOOL, pointer)


def open_frames(name: str) -> int:
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


def dropped_count(descriptor: int) -> int:
    """Return the number of frames dropped unread since the last call."""
    with socket.socket(fileno=os.dup(descriptor)) as sock:
        _, count = struct.unpack("II", sock.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8))
    return int(count)


def _attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)
