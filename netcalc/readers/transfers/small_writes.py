"""Lines that a program for small writes prints of each request: ``RTT:62 ,receive:hello world``."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from statistics import median

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import REQUESTS, Counted, Format, Input
from netcalc.readers.source import note
from netcalc.samples import Meta, TransactionSamples, fact_row

_LINE = re.compile(r"\s*RTT:\s?(?P<ms>\d{1,9})\s?,\s?receive:(?P<reply>.*)")


def _recognize(file: Input) -> bool:
    return file.seen(r"^\s*RTT:\s?\d+\s?,\s?receive:")


_MODE = "small writes"  # how the program wrote its request, it does not print
LEAST_HEADINGS = 2


def _headings(lines: Sequence[tuple[int, str]]) -> dict[int, str]:
    """Return the headings of several runs by their lines, where the file begins with one.

    A heading stands right before times; a message of the program may, too, but not before all.
    """
    written = [(number, line.strip()) for number, line in lines if line.strip()]
    is_time = [bool(_LINE.fullmatch(line)) for _, line in written]
    headings = {
        number: line
        for at, (number, line) in enumerate(written[:-1])
        if not is_time[at] and is_time[at + 1]
    }
    begins = bool(headings) and written[0][0] in headings
    return headings if begins and len(headings) >= LEAST_HEADINGS else {}


def _read(file: Input) -> TransactionSamples:
    warnings: list[Notice] = []
    times: list[float] = []
    sizes: list[float] = []
    modes: list[str] = []
    unread: list[int] = []
    lines, cut = file.text.whole_lines(warnings)
    headings, mode = _headings(lines), _MODE
    for number, line in lines:
        row = _LINE.fullmatch(line)
        mode = headings.get(number, mode)
        if row:
            modes.append(mode)
            times.append(int(row["ms"]) / 1e3)
            sizes.append(float(len(row["reply"].encode("utf-8", "surrogatepass"))))
        elif line.strip() and number not in headings:
            unread.append(number)
    if not times:
        raise ReaderError("transfer-nothing", file=file.name)
    note(warnings, "not-small-writes", numbers=unread)
    return TransactionSamples(
        mode=modes,
        sequence=[float(index) for index in range(1, len(times) + 1)],
        payload_bytes=[math.nan] * len(times),
        response_s=times,
        reply_bytes=sizes,
        meta=Meta(
            tool="small writes",
            units=dict(TransactionSamples.column_units),
            resolutions={"response_s": 1e-3},
            facts=(
                fact_row(
                    rtt_min_s=min(times), rtt_median_s=median(times), rtt_max_s=max(times),
                    reply_count=len(times), partial=cut,
                ),
            ),
            warnings=tuple(warnings),
            partial=cut,
            **file.origin,
        ),
    )  # fmt: skip


FORMAT = Format(
    name="small writes",
    description="the lines of a program for small writes (RTT:62 ,receive:...)",
    recognize=_recognize,
    read=_read,
    traps=(
        "RTT is in milliseconds of a clock that is cut to whole ones: 0 is less than 1 ms.",
        "It is the time of a whole request and its reply, with the waits of the sender (Nagle) and "
        "of the receiver (delayed ACK): no round trip of a packet.",
        "A request without a reply has no line.",
        "Headings over several runs are their modes, where the file begins with one.",
    ),
    tools={
        "small writes": Counted(probes=REQUESTS),
    },
)
