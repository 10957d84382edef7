"""The summary of a ping: the counts and statistics of the tool itself."""

from __future__ import annotations

import math
import re
from itertools import pairwise

from netcalc.readers._ping_lines import NUMBER, seconds

_STATISTICS = re.compile(r"^\s*-{3,4}\s?(?P<host>\S.*?)\s?-{3,4}\s*$")
_WHOLE = re.compile(r"(?<![0-9.,:+/-])([0-9]{1,12})(?![0-9.:/A-Za-z%])")
_LOSS = re.compile(r"(?<![\w.,])%?\s?([0-9]{1,3}(?:[.,][0-9]{1,6})?)\s?%|%([0-9]{1,3})")
_PLUS = re.compile(r"\+([0-9]{1,12})\s+([^\W\d_]+)|,\s([0-9]{1,12})\s(duplicates)")
_SPREAD = re.compile(
    rf"(?:\((ms)\)[^=]{{0,60}})?=\s*({NUMBER})/({NUMBER})/({NUMBER})"
    rf"(?:/({NUMBER}|nan))?(?:\s?([^\W\d_]+)\b)?"
)
_WORDED_SPREAD = re.compile(
    rf"min = ({NUMBER})\s?([a-z]+), avg = ({NUMBER})\s?([a-z]+), max = ({NUMBER})\s?([a-z]+)\b"
)
_WINDOWS_COUNTS = re.compile(
    r"^[^=]*=\s*([0-9]{1,12})\b[^=0-9]+=\s*([0-9]{1,12})\b[^=0-9]+=\s*([0-9]{1,12})\b"
)
_WINDOWS_SPREAD = re.compile(
    rf"^[^=]*=\s*({NUMBER})\s?([^\W\d_]+)\b[^=]+=\s*({NUMBER})\s?([^\W\d_]+)\b[^=]+"
    rf"=\s*({NUMBER})\s?([^\W\d_]+)\b"
)


def read_statistics_head(text: str) -> str | None:
    """Return the host of ``--- host ping statistics ---``, or None: ``--- | ---`` has none."""
    match = _STATISTICS.match(text)
    return match["host"] if match and re.search(r"\w", match["host"]) else None


def read_counts(text: str) -> dict[str, float] | None:
    """Read ``10 packets transmitted, 9 received, +1 errors, 10% packet loss``."""
    share = _LOSS.search(text)
    if share is None and "printing up" not in text:
        return None
    end = share.start() if share else len(text)
    whole = [int(number) for number in _WHOLE.findall(text[:end])]
    if len(whole) < 2:
        return None
    sent, received = whole[:2]
    counts: dict[str, float] = {"sent": sent, "received": received}
    if share:
        loss = float(f"{(share[1] or share[2]).replace(',', '.')}e-2")
        fitting = [
            pair
            for pair in pairwise(whole)
            if pair[0] and abs(1 - pair[1] / pair[0] - loss) < 0.011
        ]
        if fitting and (sent == 0 or fitting[0] != (sent, received)):
            counts = {"sent": fitting[0][0], "received": fitting[0][1]}
        counts["loss_ratio"] = loss
    if counts["received"] > counts["sent"] and "printing up" not in text:
        return None
    for plus in _PLUS.finditer(text):
        word = (plus[2] or plus[4]).lower()
        number = int(plus[1] or plus[3])
        if word.startswith(("dup", "doub", "重复", "重複", "повтор", "дубл")):
            counts["duplicates"] = number
        elif word.startswith(("err", "fehler", "erre", "错误", "エラー", "помил", "ошиб")):
            counts["errors"] = number
        elif word.startswith(("corr", "besch", "损坏")):
            counts["corrupted"] = number
    took = re.search(rf"({NUMBER})\s?([^\W\d_]+)\s*$", text)
    time = seconds(took[1], took[2]) if took else None
    if time is not None:
        counts["duration_s"] = time[0]
    return counts


def is_contradictory(counts: dict[str, float]) -> bool:
    """Whether the printed counts do not give the printed loss."""
    sent, received, loss = (counts.get(name) for name in ("sent", "received", "loss_ratio"))
    if not sent or received is None or loss is None:
        return False
    return abs(1 - received / sent - loss) >= 0.011


def read_spread(text: str) -> dict[str, float] | None:
    """Read ``rtt min/avg/max/mdev = 0.038/0.047/0.080/0.011 ms``."""
    match = _SPREAD.search(text)
    if match is None:
        worded = _WORDED_SPREAD.search(text)
        if worded is None:
            return None
        low, low_unit, mean, mean_unit, high, high_unit = worded.groups()
        pairs = [(low, low_unit), (mean, mean_unit), (high, high_unit)]
        return _times(("rtt_min_s", "rtt_avg_s", "rtt_max_s"), pairs)
    unit = match[1] or match[6]
    if unit is None:
        return None
    names = ("rtt_min_s", "rtt_avg_s", "rtt_max_s", "rtt_mdev_s")
    return _times(
        names, [(number, unit) for number in match.groups()[1:5] if number and number != "nan"]
    )


def read_windows_counts(text: str) -> dict[str, float] | None:
    """Read ``Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),``."""
    match = _WINDOWS_COUNTS.match(text)
    if match is None or _WINDOWS_SPREAD.match(text):
        return None
    sent, received, lost = (int(number) for number in match.groups())
    if sent - received != lost:
        return None
    return {"sent": sent, "received": received, "loss_ratio": lost / sent if sent else math.nan}


def read_windows_spread(text: str) -> dict[str, float] | None:
    """Read ``Minimum = 56ms, Maximum = 194ms, Average = 107ms``."""
    match = _WINDOWS_SPREAD.match(text)
    if match is None:
        return None
    low, low_unit, high, high_unit, mean, mean_unit = match.groups()
    pairs = [(low, low_unit), (high, high_unit), (mean, mean_unit)]
    return _times(("rtt_min_s", "rtt_max_s", "rtt_avg_s"), pairs)


def _times(names: tuple[str, ...], written: list[tuple[str, str]]) -> dict[str, float] | None:
    times = {}
    for name, (number, unit) in zip(names, written, strict=False):
        time = seconds(number, unit)
        if time is None:
            return None
        times[name] = time[0]
    return times
