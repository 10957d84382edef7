"""The output of sockperf: its summary, and the log of each packet where there is one.

A latency of sockperf is half a round trip, unless it ran with ``--full-rtt``.
"""

from __future__ import annotations

import math
import re

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import MESSAGES, Counted, Format, Input
from netcalc.readers.pings.runs import NAN, Probe, Run, to_samples
from netcalc.readers.source import no_measurement, shorten
from netcalc.samples import RttSamples

_US = 1e-6
_PREFIX = r"^(?:sockperf: ?)?\s*"
_COUNTS = re.compile(
    _PREFIX
    + r"\[(?P<part>Total Run|Valid Duration)\] RunTime=(?P<time>\d{1,18}\.?\d{0,18}) sec;.*?"
    r"SentMessages=(?P<sent>[0-9]{1,18}); ReceivedMessages=(?P<received>[0-9]{1,18})"
)
_AVERAGE = re.compile(
    _PREFIX + r"=+> avg-(?P<what>latency|lat|rtt)= *(?P<mean>\d{1,18}\.?\d{0,18})"
)
_SUMMARY = re.compile(
    _PREFIX
    + r"Summary: (?P<what>Latency|Round trip) (?:is|of \S+ is) *(?P<mean>\d{1,18}\.?\d{0,18}) usec"
)
_DROPPED = re.compile(
    _PREFIX + r"# dropped messages = (?P<dropped>[0-9]{1,18}); # duplicated messages = "
    r"(?P<twice>[0-9]{1,18})"
)
_EDGE = re.compile(
    _PREFIX + r"-+> <(?P<edge>MIN|MAX)> observation = *(?P<value>\d{1,18}\.?\d{0,18})"
    r"|"
    + _PREFIX
    + r"-+> percentile +(?P<share>\d{1,18}\.?\d{0,18}) = *(?P<percentile>\d{1,18}\.?\d{0,18})"
)
_LOG = re.compile(
    r"^packet, ?txTime\((?P<unit>\w+)\), ?rxTime\(\w+\), ?(?P<what>latency|rtt)\(usec\)"
)
_ROW = re.compile(
    r"^(?P<packet>[0-9]{1,18}), ?(?P<sent>\d{1,18}\.?\d{0,18}), ?"
    r"(?P<got>\d{1,18}\.?\d{0,18}), ?(?P<time>\d{1,18}\.?\d{0,18})\s*$"
)
_HOST = re.compile(
    r"^\[ *[0-9]{1,18}\] IP = (?P<host>\S+)\s+PORT = +(?P<port>[0-9]{1,18}) +# (?P<protocol>\w+)"
)
_SIZE = re.compile(r"--msg-size=([0-9]{1,18})(?![0-9])")
_VERSION = re.compile(r"== version #(\S+)")
_ONE_WAY = re.compile(r"Summary: (?:Message Rate|BandWidth) is")


def _recognize(file: Input) -> bool:
    return file.seen(r"^sockperf: ") or file.seen(_LOG.pattern)


def _read(file: Input) -> RttSamples:
    text = file.text
    run = Run()
    factor = 0.0  # what makes a printed time a round trip
    size = NAN
    version = ""
    unread: list[int] = []
    for number, line in zip(text.numbers, text.lines, strict=True):
        cut = number == text.numbers[-1] and not text.ends_complete
        if match := _VERSION.search(line):
            version = match[1]
        if match := _SIZE.search(line):
            size = float(match[1])
        if match := _HOST.match(line):
            run.target, run.protocol = match["host"], match["protocol"].lower()
        elif match := _COUNTS.match(line):
            _counted(run, match)
        elif match := _AVERAGE.match(line) or _SUMMARY.match(line) or _LOG.match(line):
            says = 1.0 if match["what"] in ("rtt", "Round trip") else 2.0
            if factor and says != factor:
                raise ReaderError(
                    "sockperf-both", file=file.name, line=number, field=shorten(match["what"])
                )
            factor = says
            if not _LOG.match(line):
                run.printed["rtt_mean_s"] = float(match["mean"]) * factor * _US
        elif match := _DROPPED.match(line):
            run.duplicates = int(match["twice"])
            run.printed |= {"lost": int(match["dropped"]), "duplicates": int(match["twice"])}
        elif match := _EDGE.match(line):
            if not cut:
                _edge(run, match, factor)
        elif line[:1].isdecimal() and factor:
            row = None if cut else _ROW.match(line)
            if row is None:
                unread.append(number)
            else:
                run.probes.append(_probe(row, factor, size))
    if not run.probes and math.isnan(run.rtt_min_s) and "rtt_mean_s" not in run.printed:
        one_way = any(_ONE_WAY.search(line) for line in text.lines)
        raise no_measurement("sockperf-throughput" if one_way else "no-probe", file.unpacked, text)
    warnings = [Notice("sockperf-halves", {})] if factor == 2.0 else []
    if unread:
        warnings.append(Notice("not-of-the-tool", {"numbers": unread}))
    return to_samples(file, [run], "sockperf", warnings, tool_version=shorten(version, 40))


def _counted(run: Run, match: re.Match[str]) -> None:
    """Keep the counts of the valid duration, to which the times belong; those of all beside."""
    sent, received = int(match["sent"]), int(match["received"])
    if match["part"] == "Total Run":
        run.printed |= {"sent": sent, "received": received, "duration_s": float(match["time"])}
        if run.sent is None:
            run.sent, run.received = sent, received
    else:
        run.sent, run.received = sent, received
        run.ended = True
        run.printed |= {"valid_sent": sent, "valid_received": received}


def _edge(run: Run, match: re.Match[str], factor: float) -> None:
    if not factor:
        return
    if match["edge"]:
        value = float(match["value"]) * factor * _US
        if match["edge"] == "MIN":
            run.rtt_min_s = value
        else:
            run.rtt_max_s = value
    elif float(match["share"]) == 50.0:
        run.rtt_median_s = float(match["percentile"]) * factor * _US


def _probe(row: re.Match[str], factor: float, size: float) -> Probe:
    places = len(row["time"].partition(".")[2])
    return Probe(
        float(row["time"]) * factor * _US,
        payload_bytes=size,
        sequence=float(row["packet"]),
        sent_s=float(row["sent"]),
        resolution_s=factor * _US / 10.0**places,
    )


FORMAT = Format(
    name="sockperf",
    description="the output of sockperf",
    recognize=_recognize,
    read=_read,
    traps=(
        "A latency is half of a measured round trip, unless it ran with --full-rtt: here it is "
        "doubled, and said so.",
        "Times are in microseconds.",
        "The counts of the valid duration belong to the times; those of the total run include "
        "warm-up and cool-down.",
        "A throughput run has no round trip and is refused.",
        "The stamps of the log are of a clock that begins with the run.",
    ),
    tools={
        "sockperf": Counted(probes=MESSAGES),
    },
)
