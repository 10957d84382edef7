"""What the numbers of netperf mean: rates, times and counts of one test."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from netcalc.errors import ReaderError
from netcalc.readers.format import Input
from netcalc.readers.source import shorten
from netcalc.readers.transfers._runs import DOWNLOAD, NAN, RECEIVER, SENDER, UPLOAD

_RATE = re.compile(r"10\^(?P<power>[0369])(?P<what>bits|Bytes)/s(?:ec)?")
_BINARY = re.compile(r"(?P<prefix>[KMG]?)Bytes/s(?:ec)?")
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3}
_DEFAULT = "10^6bits/s"


@dataclass(slots=True)
class Measured:
    """One test in SI units."""

    sent_bps: float = NAN
    received_bps: float = NAN
    duration_s: float = NAN
    direction: str = ""
    side: str = ""
    complete: bool = False
    unit_by_default: bool = False
    transactions: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


def key_of(name: str) -> str:
    """Return the name of a column of CSV as keyval has it.

    >>> key_of("Elapsed Time (sec)"), key_of("Throughput Units")
    ('ELAPSED_TIME', 'THROUGHPUT_UNITS')
    """
    plain = re.sub(r"\s*\([^)]*\)", "", name).strip().upper().replace(" ", "_")
    return {
        "50TH_PERCENTILE_LATENCY_MICROSECONDS": "P50_LATENCY",
        "MINIMUM_LATENCY_MICROSECONDS": "MIN_LATENCY",
        "MAXIMUM_LATENCY_MICROSECONDS": "MAX_LATENCY",
        "MEAN_LATENCY_MICROSECONDS": "MEAN_LATENCY",
        "LOCAL_TRANSPORT_RETRANSMISSIONS": "LOCAL_TRANSPORT_RETRANS",
        "REMOTE_TRANSPORT_RETRANSMISSIONS": "REMOTE_TRANSPORT_RETRANS",
        "TRANSPORT_MSS_BYTES": "TRANSPORT_MSS",
        "LOCAL_CONGESTION_CONTROL_ALGORITHM": "LOCAL_CONG_CONTROL",
        "LOCAL_BYTES_RECEIVED": "LOCAL_BYTES_RECVD",
        "REMOTE_BYTES_RECEIVED": "REMOTE_BYTES_RECVD",
    }.get(plain, plain)


def rate_bps(given: Input, line: int | None, text: str, unit: str) -> float:
    """Return a rate in bit/s; nan where netperf had none, an error for a unit that is not known."""
    value = _number(text)
    plain, binary = _RATE.fullmatch(unit), _BINARY.fullmatch(unit)
    if plain:
        bits = 8 if plain["what"] == "Bytes" else 1
        factor = bits * 10.0 ** int(plain["power"])
    elif binary:
        factor = 8 * 1024.0 ** _POWERS[binary["prefix"]]
    else:
        raise ReaderError("netperf-unit", file=given.name, line=line, value=shorten(unit))
    return value * factor if value >= 0 else NAN


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return NAN
    return value if math.isfinite(value) else NAN


def measured(
    given: Input,
    test: str,
    unit: str,
    head: str,
    known: Mapping[str, str],
    tables: Sequence[tuple[int, list[str]]],
) -> Measured:
    """Return what a test measured, of keyval and CSV or of a classic table."""
    if known:
        return _from_names(given, test, known)
    if not tables:
        return _directed(test)
    bare = not head and len(tables[0][1]) == 6 and len(tables) > 1
    if "Trans" in head or "REQUEST/RESPONSE" in test or bare:
        return _request_response(given, test, tables)
    return _stream(given, test, unit, head, tables)


def _directed(test: str, direction: str = "") -> Measured:
    made = Measured()
    back = "MAERTS" in test.upper() or direction.startswith("Recv")
    both = direction in ("Send|Recv", "Recv|Send")
    if both:
        return made
    made.direction = DOWNLOAD if back else UPLOAD
    made.side = RECEIVER if back else SENDER
    return made


def _stream(
    given: Input, test: str, unit: str, head: str, tables: Sequence[tuple[int, list[str]]]
) -> Measured:
    made = _directed(test)
    line, cells = tables[0]
    made.unit_by_default = not unit
    unit = unit or _DEFAULT
    udp = "Okay" in head or "UDP" in test
    made.complete = True
    if udp:
        if len(cells) < 6:
            raise ReaderError(
                "netperf-width", file=given.name, line=line, count=len(cells), wanted=6
            )
        made.duration_s = _number(cells[2])
        made.sent_bps = rate_bps(given, line, cells[5], unit)
        sent, lost = _number(cells[3]), NAN
        if len(tables) > 1 and len(tables[1][1]) >= 4:
            received = _number(tables[1][1][2])
            made.received_bps = rate_bps(given, tables[1][0], tables[1][1][3], unit)
            lost = sent - received if 0 <= received <= sent else NAN
        else:
            made.complete = False
        made.facts = {
            "datagram_count": sent,
            "lost_datagram_count": lost,
            "loss_ratio": lost / sent if sent > 0 else NAN,
            "sent_byte_count": sent * _number(cells[1]),
        }
    else:
        if len(cells) < 5:
            raise ReaderError(
                "netperf-width", file=given.name, line=line, count=len(cells), wanted=5
            )
        made.duration_s = _number(cells[3])
        rate = rate_bps(given, line, cells[4], unit)
        made.sent_bps, made.received_bps = (rate, NAN) if made.side == SENDER else (NAN, rate)
    made.facts |= {"protocol": "udp" if udp else "tcp", "direction": made.direction}
    made.facts |= _rates(made)
    return made


def _rates(made: Measured) -> dict[str, Any]:
    if made.duration_s == 0:
        made.duration_s = NAN
    return {
        "sent_rate_bps": made.sent_bps,
        "received_rate_bps": made.received_bps,
        "duration_s": made.duration_s,
    }


def _protocol(test: str) -> str:
    """Return the protocol that the title of a test names; that of an omni test names none."""
    first = test.partition(" ")[0].lower()
    return first if first in ("tcp", "udp", "sctp") else ""


def _request_response(given: Input, test: str, tables: Sequence[tuple[int, list[str]]]) -> Measured:
    line, cells = tables[0]
    if len(cells) < 6:
        raise ReaderError("netperf-width", file=given.name, line=line, count=len(cells), wanted=6)
    rate = _number(cells[5])
    made = Measured(complete=True, duration_s=_number(cells[4]))
    made.transactions = {
        "request_bytes": _number(cells[2]),
        "response_bytes": _number(cells[3]),
        "duration_s": made.duration_s,
        "transaction_rate": rate if rate >= 0 else NAN,
    }
    made.facts = {
        "protocol": _protocol(test),
        "duration_s": made.duration_s,
        "counter:Trans. Rate": rate if rate >= 0 else NAN,
    }
    return made


def _from_names(given: Input, test: str, known: Mapping[str, str]) -> Measured:
    """Return what a test measured, of the names of omni."""
    direction = known.get("DIRECTION", "")
    unit = known.get("THROUGHPUT_UNITS", "")
    made = _directed(known.get("TEST_NAME", "") or test, direction)
    made.duration_s = _number(known.get("ELAPSED_TIME", ""))
    retransmits = known.get(
        "REMOTE_TRANSPORT_RETRANS" if made.side == RECEIVER else "LOCAL_TRANSPORT_RETRANS", ""
    )
    facts: dict[str, Any] = {
        "protocol": known.get("PROTOCOL", "").lower() or _protocol(test),
        "retransmit_count": _positive(retransmits),
        "congestion_control": known.get("LOCAL_CONG_CONTROL", ""),
        "mss_bytes": _positive(known.get("TRANSPORT_MSS", "")),
    }
    rr = unit == "Trans/s" or direction in ("Send|Recv", "Recv|Send")
    for name, key in (("min", "MIN"), ("median", "P50"), ("max", "MAX")):
        latency = _positive(known.get(f"{key}_LATENCY", "")) / 1e6
        if rr:  # of a stream it is the time of a call
            facts[f"rtt_{name}_s"] = latency
    if rr:
        rate = _positive(known.get("THROUGHPUT", ""))
        made.transactions = {
            "request_bytes": _positive(known.get("REQUEST_SIZE", "") or known.get("RR_SIZE", "")),
            "response_bytes": _positive(known.get("RESPONSE_SIZE", "")),
            "duration_s": made.duration_s,
            "transaction_rate": rate,
        }
        made.facts = {**facts, "duration_s": made.duration_s, "counter:THROUGHPUT": rate}
    elif "THROUGHPUT" in known:
        made.unit_by_default = not unit
        rate = rate_bps(given, None, known["THROUGHPUT"], unit or _DEFAULT)
        made.sent_bps, made.received_bps = (NAN, rate) if made.side == RECEIVER else (rate, NAN)
        ends = ("LOCAL", "REMOTE") if made.side == SENDER else ("REMOTE", "LOCAL")
        made.facts = {
            **facts,
            **_rates(made),
            "direction": made.direction,
            "sent_byte_count": _above_0(known.get(f"{ends[0]}_BYTES_SENT", "")),
            "received_byte_count": _above_0(known.get(f"{ends[1]}_BYTES_RECVD", "")),
        }
    made.complete = "THROUGHPUT" in known
    return made


def _positive(text: str) -> float:
    value = _number(text)
    return value if value >= 0 else NAN


def _above_0(text: str) -> float:
    value = _number(text)
    return value if value > 0 else NAN
