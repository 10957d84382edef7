"""Options of pcapng blocks: clocks of interfaces, names, drops."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netcalc.readers.captures.blocks import MISSING_NS, Interface, Ints
from netcalc.readers.source import shorten

OS, PROGRAM = 3, 4
_NAME, _RESOLUTION, _OFFSET = 2, 9, 14
_INTERFACE_DROPS, _SYSTEM_DROPS = 5, 7
_MOST_S = 9_000_000_000
"""Latest time that 64 bits of nanoseconds hold: the year 2255. [s]"""


@dataclass(frozen=True, slots=True)
class Clock:
    """How the time stamps of an interface count: units in a second, and seconds to add."""

    base: int = 10
    exponent: int = 6
    offset_s: int = 0

    def to_ns(self, units: NDArray[np.uint64]) -> Ints:
        """Return time stamps as nanoseconds; those that no date can be are missing."""
        per_second = self.base**self.exponent
        if per_second > 2**63:
            return np.full(units.size, MISSING_NS, np.int64)
        seconds = (units // np.uint64(per_second)).astype(np.float64) + self.offset_s
        whole = (units // np.uint64(per_second)).astype(np.int64)
        rest = units % np.uint64(per_second)
        if self.base == 10 and self.exponent <= 9:
            fraction = rest * np.uint64(10 ** (9 - self.exponent))
        elif self.base == 10:
            fraction = rest // np.uint64(10 ** (self.exponent - 9))
        else:
            spare = max(self.exponent - 34, 0)  # so that the product fits into 64 bits
            fraction = (rest >> np.uint64(spare)) * np.uint64(10**9)
            fraction >>= np.uint64(self.exponent - spare)
        is_date = np.abs(seconds) < _MOST_S
        offset_s = self.offset_s if abs(self.offset_s) < _MOST_S else 0
        total = np.where(is_date, whole, 0) + offset_s
        return np.where(is_date, total * 1_000_000_000 + fraction.astype(np.int64), MISSING_NS)

    @property
    def resolution_s(self) -> float:
        """The unit of the time stamps. [s]"""
        return math.pow(self.base, -self.exponent)


def each(body: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Yield the options in a part of a block; number -1 for one that goes beyond its end."""
    at = 0
    while at + 4 <= len(body):
        number, length = struct.unpack_from(order + "HH", body, at)
        if number == 0:
            return
        if at + 4 + length > len(body):
            yield -1, b""
            return
        yield number, body[at + 4 : at + 4 + length]
        at += 4 + length + -length % 4


def texts(body: bytes, order: str) -> dict[int, str]:
    """Return the options of a section that are text, by number."""
    found = each(body, order)
    return {n: shorten(value.decode("utf-8", "replace"), 200) for n, value in found if n > 0}


def interface(
    body: bytes, order: str, link_type: int, snap_bytes: int
) -> tuple[Interface, Clock, bool]:
    """Return an interface and its clock, and whether its options were whole."""
    base, exponent, offset_s, name, is_whole = 10, 6, 0, "", True
    for number, value in each(body, order):
        if number < 0:
            is_whole = False
        elif number == _RESOLUTION and len(value) == 1:
            base, exponent = (2, value[0] & 0x7F) if value[0] & 0x80 else (10, value[0])
        elif number == _OFFSET and len(value) == 8:
            (offset_s,) = struct.unpack(order + "q", value)
        elif number == _NAME:
            name = shorten(value.decode("utf-8", "replace"), 80)
    clock = Clock(base, exponent, offset_s)
    return Interface(link_type, snap_bytes, 0, clock.resolution_s, name), clock, is_whole


def dropped(body: bytes, order: str) -> int:
    """Return the packets that the capture lost, as a statistics block counts them."""
    total = 0
    for number, value in each(body, order):
        if number in (_INTERFACE_DROPS, _SYSTEM_DROPS) and len(value) == 8:
            total += int(struct.unpack(order + "Q", value)[0])
    return total
