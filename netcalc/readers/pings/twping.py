"""The output of twping: round trips, and the times of each way, of its summary."""

from __future__ import annotations

import re

from netcalc.readers.format import Format, Input
from netcalc.readers.pings._runs import Run, skipped_lines, to_samples
from netcalc.readers.source import shorten
from netcalc.samples import RttSamples

_NUMBER = r"-?\d{1,12}(?:\.\d{1,12})?(?:e[+-]?\d{1,2})?|nan"
_HEADER = re.compile(
    r"--- twping statistics from \[(?P<source>[^\]]{1,300})\]\S* to \[(?P<to>[^\]]{1,300})\].*"
)
_COUNTS = re.compile(
    r"(?P<sent>\d{1,15}) sent, (?P<lost>\d{1,15}) lost \((?P<loss>\d{1,3}(?:\.\d{1,9})?|nan)%\), "
    r"(?P<away>\d{1,15}) send duplicates, (?P<back>\d{1,15}) reflect duplicates"
)
_TIMES = re.compile(
    rf"(?P<what>round-trip|send|reflect) time min/median/max = (?P<min>{_NUMBER})/"
    rf"(?P<median>{_NUMBER})/(?P<max>{_NUMBER}) (?P<unit>[num]?s),.*"
)
_OTHER = re.compile(
    r"(?:SID|first|last):\s.*|reflector processing time .*|(?:two-way|send|reflect) jitter = .*|"
    r"(?:send|reflect) (?:hops|ttl).*|(?:send|reflect) TTL not reported|Percentiles:.*|"
    r"\d+\.\d+: .*|no (?:send |reflect )?reordering|\d+-reordering = .*"
)
_FACTORS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_WAYS = {"send": "away", "reflect": "back"}


def _recognize(given: Input) -> bool:
    return given.seen(r"^--- twping statistics from \[")


def _read(given: Input) -> RttSamples:
    text = given.text
    runs: list[Run] = []
    skipped: list[int] = []
    for number, line in zip(text.numbers, text.lines, strict=True):
        if number == text.numbers[-1] and not text.ends_complete:
            continue
        line = line.strip()
        if found := _HEADER.fullmatch(line):
            runs.append(Run(target=shorten(found["to"], 100), protocol="udp"))
        elif not line or _OTHER.fullmatch(line):
            continue
        elif not runs or not _summed(runs[-1], line):
            skipped.append(number)
    return to_samples(given, runs, "twping", skipped_lines(skipped))


def _summed(run: Run, line: str) -> bool:
    """Keep what a line of the statistics says; False if it is none."""
    if found := _COUNTS.fullmatch(line):
        run.sent, lost = int(found["sent"]), int(found["lost"])
        run.received = run.sent - lost if lost <= run.sent else None
        run.duplicates = int(found["back"])
        run.loss_ratio = float(found["loss"]) / 100
        run.printed |= {"sent": run.sent, "lost": lost, "away_duplicates": int(found["away"])}
        run.ended = True
        return True
    found = _TIMES.fullmatch(line)
    if found is None:
        return False
    times = {
        name: float(found[name]) * _FACTORS[found["unit"]] for name in ("min", "median", "max")
    }
    if found["what"] == "round-trip":
        run.rtt_min_s, run.rtt_median_s, run.rtt_max_s = times.values()
    else:
        way = _WAYS[found["what"]]
        run.printed |= {f"{way}_{name}_s": value for name, value in times.items() if value == value}
    return True


FORMAT = Format(
    name="twping",
    description="the output of twping",
    recognize=_recognize,
    read=_read,
    traps=(
        "The round trip is without the time in the reflector.",
        "The times of each way are differences of two clocks, and no round trips.",
        "Duplicates are counted for each way; a reply twice is one of the way back.",
    ),
)
