"""Times of connections: the output of tcping, PsPing and httping."""

from __future__ import annotations

import re

from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.pings.runs import Probe, Run, resolution, skipped_lines, to_samples
from netcalc.samples import RttSamples

_TIME = r"(?P<time>\d{1,9}(?:\.\d{1,9})?) ?ms"
# Each: the probe of a tool, whose group "answer" says what came.
_PROBES = (
    re.compile(rf"Probing (?P<host>\S+)/tcp - (?P<answer>.+?) - time={_TIME}\s*"),
    re.compile(
        r"(?P<answer>Reply|No reply) from (?P<host>\S+)(?: \(\S+\))? on port \d{1,5}:?"
        rf"(?: using \S+:)?(?: [Tt][Cc][Pp]_conn=\d{{1,9}})?(?: time={_TIME})?\s*"
    ),
    re.compile(
        r"Connecting to (?P<host>\S+?):?(?P<warm> \(warmup\):)? from \S+:(?:\s+|$)"
        rf"(?:{_TIME}|(?P<answer>\S.*)?)\s*"
    ),
    re.compile(
        r"Connecting to (?P<host>\S+?):?(?P<warm> \(warmup\):)? (?P<answer>[A-Z].*)"
    ),
)  # fmt: skip
_OPEN = {"Port is open", "Reply"}
_REFUSED = re.compile(r".*(?:closed|refused).*")
_SENT = re.compile(r"\s*(?P<sent>\d{1,15}) probes sent\.\s*")
_DONE = re.compile(r"\s*(?P<received>\d{1,15}) successful, \d{1,15} failed\..*")
_COUNTS = (
    re.compile(r"\s*Sent = (?P<sent>\d{1,15}), Received = (?P<received>\d{1,15}), Lost = .*"),
    re.compile(
        r"(?P<sent>\d{1,15}) (?:probes|packets) transmitted(?: on port \d{1,5} \||,) "
        r"(?P<received>\d{1,15}) received, .*"
    ),
    re.compile(r"Sent= ?(?P<sent>\d{1,15}), Success= ?(?P<received>\d{1,15}), Failed=.*"),
)
_PLAIN = re.compile(
    r"(?:PsPing|Copyright|Sysinternals|TCPinging|TCP connect|PING|Ping statistics|Approximate|rtt |"
    r"\d+ iterations|Host is:|--- |successful probes|unsuccessful probes|last |total |longest |"
    r"TCPing started|TCPing ended|duration|This operation returned|Port: |Minimum ?=|probing|"
    r"\*\* Pinging).*",
    re.IGNORECASE,
)


def _recognize(given: Input) -> bool:
    return given.seen(
        r"^PsPing v|^Probing \S+:\d+/tcp|^TCP connect to |^Connecting to \S+:\d+: from |"
        r"^(?:Reply|No reply) from \S+(?: \(\S+\))? on port \d+"
    )


def _read(given: Input) -> RttSamples:
    text = given.text
    runs: list[Run] = []
    skipped: list[int] = []
    for number, line in zip(text.numbers, text.lines, strict=True):
        if number == text.numbers[-1] and not text.ends_complete:
            continue
        found = next((one for pattern in _PROBES if (one := pattern.fullmatch(line))), None)
        if found is not None:
            if not runs or runs[-1].ended:
                runs.append(Run(protocol="tcp"))
            runs[-1].target = runs[-1].target or found["host"]
            if not found.groupdict().get("warm"):
                runs[-1].probes.append(_probe(found))
        elif runs and _summed(runs[-1], line):
            pass
        elif line.strip() and not _PLAIN.fullmatch(line.strip()):
            skipped.append(number)
    for run in runs:
        if run.sent is not None:
            missing = run.sent - len(run.probes)
            run.probes += [Probe(lost=True) for _ in range(min(max(missing, 0), 50_000))]
    warnings = [Notice("connection-times", {}), *skipped_lines(skipped)]
    return to_samples(given, runs, "tcping", warnings)


def _probe(found: re.Match[str]) -> Probe:
    known = found.groupdict()
    answer, time = known.get("answer") or "", known.get("time")
    if time and (not answer or answer in _OPEN):
        return Probe(float(time) / 1e3, resolution_s=resolution(time, 1e-3))
    return Probe(lost=True, error_reply=bool(_REFUSED.fullmatch(answer)))


def _summed(run: Run, line: str) -> bool:
    """Keep what a line of the summary says; False if it is none."""
    counts = next((one for pattern in _COUNTS if (one := pattern.match(line))), None)
    if counts is not None:
        run.sent, run.received = int(counts["sent"]), int(counts["received"])
    elif found := _SENT.fullmatch(line):
        run.sent = int(found["sent"])
    elif found := _DONE.fullmatch(line):
        run.received = int(found["received"])
    else:
        return False
    run.printed = {
        name: value
        for name, value in (("sent", run.sent), ("received", run.received))
        if value is not None
    }
    run.ended = run.sent is not None and run.received is not None
    return True


TCPING = Format(
    name="tcping",
    description="the output of tcping or psping",
    recognize=_recognize,
    read=_read,
    traps=(
        "A time is that of a TCP handshake: SYN, SYN-ACK, and what the two systems took.",
        "The time of a probe without an answer is the time-out, and no round trip.",
        "A port that is closed answers with a reset: an error, which is no reply.",
        "TCP_conn counts the connections that were made: it is no number of a probe.",
        "The probes that PsPing sends to warm up are left out, as in its own summary.",
    ),
)


_HEADER = re.compile(r"^PING (?P<host>\S+?):[0-9]{1,18} \(")
_REPLY = re.compile(
    r"^(?:connected to|pinged host) \S+ \([0-9]{1,18} bytes\), seq=(?P<seq>[0-9]{1,18}) "
    r"time= *(?:[-0-9., +n/a]*= *)?(?P<time>[0-9]{1,18}(?:[.,][0-9]{1,18})?) ms"
)
_FAILED = re.compile(r"^(?:could not connect|timeout|connect time out|error )", re.IGNORECASE)
_COUNTS_HTTPING = re.compile(
    r"^(?P<sent>[0-9]{1,18}) connects, (?P<ok>[0-9]{1,18}) ok, "
    r"(?P<loss>[0-9]{1,18}(?:[.,][0-9]{1,18})?)% failed"
)
_SPREAD = re.compile(
    r"^round-trip min/avg/max(?:/\S+)? = (?P<min>\d{1,18}\.?\d{0,18})/\d{1,18}\.?\d{0,18}/"
    r"(?P<max>\d{1,18}\.?\d{0,18})"
)


def _recognize_httping(given: Input) -> bool:
    return given.seen(r"^PING \S+:[0-9]{1,18} \(/") or given.seen(
        r"^connected to \S+:[0-9]{1,18} \("
    )


def _read_httping(given: Input) -> RttSamples:
    text = given.text
    run = Run(protocol="tcp")
    skipped: list[int] = []
    for number, line in zip(text.numbers, text.lines, strict=True):
        if number == text.numbers[-1] and not text.ends_complete:
            continue
        if found := _HEADER.match(line):
            run.target = found["host"]
        elif found := _REPLY.match(line):
            run.probes.append(
                Probe(
                    float(found["time"].replace(",", ".")) * 1e-3,
                    sequence=float(found["seq"]),
                    resolution_s=resolution(found["time"], 1e-3),
                )
            )
        elif _FAILED.match(line):
            run.probes.append(Probe(lost=True, error_reply="refused" in line))
        elif found := _COUNTS_HTTPING.match(line):
            run.sent, run.received = int(found["sent"]), int(found["ok"])
            run.loss_ratio = float(found["loss"].replace(",", ".")) / 100
            run.printed |= {"sent": run.sent, "received": run.received}
            run.ended = True
        elif found := _SPREAD.match(line):
            run.printed |= {
                "rtt_min_s": float(found["min"]) * 1e-3,
                "rtt_max_s": float(found["max"]) * 1e-3,
            }
        elif line.strip() and not line.startswith(("---", "Transfer speed")):
            skipped.append(number)
    warnings = [Notice("http-exchanges", {})]
    if skipped:
        warnings.append(Notice("not-of-the-tool", {"numbers": skipped}))
    return to_samples(given, [run], "httping", warnings)


HTTPING = Format(
    name="httping",
    description="the output of httping",
    recognize=_recognize_httping,
    read=_read_httping,
    traps=(
        "A time is that of a connection and an HTTP exchange: it includes the server's own time.",
        "With -S the parts precede their sum, which is the time.",
        "A connection that failed is a lost probe, without a time.",
    ),
)
