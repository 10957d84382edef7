"""What a peer says, checked field by field: who has the token may be another program, or faulty.

A field that is not known here is left out, so that a peer of a later version may say more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from netcalc.experiments.peers.door import TICKET_BYTES
from netcalc.experiments.peers.responder import TAG_BYTES
from netcalc.printable import excerpt

LARGEST = 1 << 62
"""Largest number: of nanoseconds, 146 years. [1]"""
MAX_ITEMS = 10_000
"""Longest list: the rounds of a peer that writes. [1]"""
Check = Callable[[Any], Any]


class MalformedError(ValueError):
    """A field that a peer cannot mean."""


class Answer(dict[str, Any]):
    """An answer, which says so where a field of it is missing.

    Parameters
    ----------
    fields : mapping
        What the peer said.
    miss : callable
        Raises the error of an answer without a field.
    """

    def __init__(self, fields: Mapping[str, Any], miss: Callable[[Answer], NoReturn]) -> None:
        super().__init__(fields)
        self._miss = miss

    def __missing__(self, name: str) -> NoReturn:
        self._miss(self)


def checked(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the known fields of a message.

    Raises
    ------
    MalformedError
        If one of them cannot be meant.
    """
    return {name: _FIELDS[name](value) for name, value in message.items() if name in _FIELDS}


def _require(is_meant: bool) -> None:
    if not is_meant:
        raise MalformedError


def _count(value: Any) -> int:
    _require(type(value) is int and 0 <= value < LARGEST)
    return int(value)


def _time(value: Any) -> int:
    _require(type(value) is int and abs(value) < LARGEST)
    return int(value)


def _quantity(value: Any) -> float:
    _require(type(value) in (int, float) and 0 <= value < LARGEST)  # not where it is no number
    return float(value)


def _limit(value: Any) -> float:
    if value == math.inf:
        return math.inf
    _require(_quantity(value) >= 1)
    return float(value)


def _ratio(value: Any) -> float:
    _require(_quantity(value) <= 1)
    return float(value)


def _switch(value: Any) -> bool:
    _require(type(value) is bool)
    return bool(value)


def _text(value: Any) -> str:
    _require(isinstance(value, str))
    return excerpt(value)


def _maybe(check: Check) -> Check:
    return lambda value: None if value is None else check(value)


def _hex(length: int) -> Check:
    def check(value: Any) -> bytes:
        _require(isinstance(value, str) and len(value) == 2 * length)
        try:
            return bytes.fromhex(value)
        except ValueError:
            raise MalformedError from None

    return check


def _list(check: Check) -> Check:
    def check_all(value: Any) -> list[Any]:
        _require(isinstance(value, list) and len(value) <= MAX_ITEMS)
        return [check(each) for each in value]

    return check_all


def _numbers(value: Any) -> tuple[int, ...]:
    """Check the number of a packet or a round, and its times."""
    _require(isinstance(value, list) and 2 <= len(value) <= 3)
    return (_count(value[0]), *map(_time, value[1:]))


def _pair(value: Any) -> tuple[int, int]:
    """Check the first and the last time of something; 0 and 0 if there is none."""
    _require(isinstance(value, list) and len(value) == 2)
    return (_count(value[0]), _count(value[1]))


def _port(value: Any) -> int:
    _require(0 < _count(value) < 1 << 16)
    return int(value)


_OPTIONAL = {"lacks", "congestion_control"}


def _object(**fields: Check) -> Check:
    def check(value: Any) -> dict[str, Any]:
        _require(isinstance(value, dict) and fields.keys() - _OPTIONAL <= value.keys())
        return {name: fields[name](value[name]) for name in fields if name in value}

    return check


_FIELDS: Mapping[str, Check] = {
    "id": _count,
    "so_far": _switch,
    "refusal": _text,
    "failure": _text,
    "welcome": _object(host=_text, python=_text, cpu_count=_count, lacks=_list(_text)),
    "limits": _object(
        duration_s=_quantity, carried_bytes=_quantity, rate_bps=_limit, connections=_quantity
    ),
    "tickets": _list(_hex(TICKET_BYTES)),
    "opened": _object(
        send_buffer_bytes=_count, receive_buffer_bytes=_count, congestion_control=_text
    ),
    "session": _hex(TAG_BYTES),
    "error": _count,
    "name": _text,
    "text": _text,
    "times": _list(_numbers),
    "flow_bytes": _list(_count),
    "spans_ns": _list(_pair),
    "port": _port,
    "cycle_ns": _maybe(_count),
    "processor_ratio": _ratio,
    **dict.fromkeys(
        ("now_ns", "begin_ns", "end_ns", "first_ns", "answered_ns", "at_ns"), _time
    ),
    **dict.fromkeys(
        ("sent_bytes", "received_bytes", "window_bytes", "calls", "damaged_count",
         "socket_drop_count", "wait_count", "echoed", "refused", "unsent"), _count,
    ),
    **dict.fromkeys(
        ("user_s", "system_s", "timer_resolution_s", "scheduling_delay_p99_s", "send_pps",
         "receive_pps"), _quantity,
    ),
}  # fmt: skip
