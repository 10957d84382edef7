"""The pings of routers: Cisco, Huawei, MikroTik and Nokia, and the rapid ping of Juniper."""

from __future__ import annotations

import re

from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.lines import last_digit, skipped_lines
from netcalc.readers.pings.runs import NAN, Probe, Run, to_samples
from netcalc.samples import RttSamples

_HEADER = re.compile(
    r"^Sending (?P<count>[0-9]{1,18}), (?P<size>[0-9]{1,18})-byte "
    r"(?P<protocol>ICMP|UDP|\S+) Echos? to "
    r"(?P<host>[^\s,]+)"
)
_LIKE_HEADER = re.compile(r"^Sending .{0,100} Echos? to ")
_MARKS = re.compile(r"^[!.UQMNIP?&R]+\s*$")
_SUMMARY = re.compile(
    r"^Success rate is (?P<rate>[0-9]{1,18}) percent \((?P<received>[0-9]{1,18})/"
    r"(?P<sent>[0-9]{1,18})\)"
    r"(?:, round-trip min/avg/max = (?P<min>[0-9]{1,18})/[0-9]{1,18}/(?P<max>[0-9]{1,18}) ms)?"
)
_IP_AND_ICMP = {4: 28.0, 6: 48.0}


def _recognize(given: Input) -> bool:
    return given.seen(_HEADER.pattern) or given.seen(_SUMMARY.pattern)


def _read(given: Input) -> RttSamples:
    text = given.text
    runs: list[Run] = []
    size = NAN
    times: list[int] = []
    odd: list[int] = []
    for number, line in zip(text.numbers, text.lines, strict=True):
        if found := _HEADER.match(line):
            host = found["host"]
            runs.append(Run(target=host, protocol=found["protocol"].lower()))
            size = float(found["size"]) - _IP_AND_ICMP[6 if ":" in host else 4]
        elif _MARKS.match(line) and runs and not runs[-1].ended:
            runs[-1].probes += [_probe(mark, size) for mark in line.strip()]
        elif found := _SUMMARY.match(line):
            if not runs or runs[-1].ended:
                runs.append(Run())
            if _summed(runs[-1], found):
                times.append(number)
        elif _MARKS.match(line) or _LIKE_HEADER.match(line):
            odd.append(number)
    for run in runs:
        if run.target and run.counted_only:
            run.ended = False  # its marks are missing
    warnings = [Notice("times-without-reply", {"numbers": times})] if times else []
    if odd:
        warnings.append(Notice("not-of-the-tool", {"numbers": odd}))
    return to_samples(given, runs, "ping (Cisco)", warnings)


def _probe(mark: str, size: float) -> Probe:
    made = Probe(payload_bytes=size if size >= 0 else NAN)
    made.lost = mark != "!"
    made.error_reply = mark not in "!."
    return made


def _summed(run: Run, found: re.Match[str]) -> bool:
    """Keep a summary; True if it has times although nothing was received."""
    run.sent, run.received = int(found["sent"]), int(found["received"])
    run.printed = {"sent": run.sent, "received": run.received}
    run.ended = True
    if not found["min"]:
        return False
    if not run.received:
        return True
    run.rtt_min_s, run.rtt_max_s = int(found["min"]) * 1e-3, int(found["max"]) * 1e-3
    run.printed |= {"rtt_min_s": run.rtt_min_s, "rtt_max_s": run.rtt_max_s}
    return False


CISCO = Format(
    name="Cisco ping",
    description="the output of ping on a Cisco router",
    recognize=_recognize,
    read=_read,
    traps=(
        "A mark has no time: only the least and the largest of the summary are known.",
        "The size is that of the IP packet: user data is 28 bytes less, 48 with IPv6.",
        "U, Q, M and ? are errors or congestion, no replies.",
        "The summary says the share that succeeded, not the loss.",
        "Times without a reply are nonsense and are not used.",
    ),
)


_HEADER_HUAWEI_PING = re.compile(
    r"\s*P(?:ING|ing) (?P<host>\S+): (?P<size>\d{1,5})\s+data bytes, [Pp]ress \w+.*"
)
_REPLY = re.compile(
    r"\s*(?:Reply f|F)rom (?P<host>\S+): bytes=(?P<size>\d{1,5}) (?:Sequence|seq)=(?P<seq>\d{1,9}) "
    r"(?:ttl|hop limit)=(?P<ttl>\d{1,3})\s+time ?(?P<sign>[=<]) ?(?P<time>\d{1,9}) ms\s*"
)
_TIMEOUT = re.compile(r"\s*Request time ?out!?\s*", re.IGNORECASE)
_ERROR = re.compile(r"\s*(?:Error|.*[Uu]nreachable|.*[Tt]tl exceeded|.*TTL expired).*")
_FRAME = re.compile(r"\s*--- \S+ ping statistics ---\s*")
_SENT = re.compile(r"\s*(?P<count>\d{1,15}) packet\(s\) transmitted\s*")
_RECEIVED = re.compile(r"\s*(?P<count>\d{1,15}) packet\(s\) received\s*")
_LOSS = re.compile(r"\s*(?P<loss>\d{1,3}(?:\.\d{1,9})?)% packet loss\s*")
_SPREAD = re.compile(r"\s*round-trip min/avg/max = (?P<min>\d{1,9})/\d{1,9}/(?P<max>\d{1,9}) ms\s*")
_LIKE = r"bytes=\d+ Sequence=\d+ ttl="


def _recognize_huawei_ping(given: Input) -> bool:
    return given.seen(rf"^{_HEADER_HUAWEI_PING.pattern}$") or given.seen(_LIKE)


def _read_huawei_ping(given: Input) -> RttSamples:
    text = given.text
    runs: list[Run] = []
    skipped: list[int] = []
    size = NAN
    for number, line in zip(text.numbers, text.lines, strict=True):
        if number == text.numbers[-1] and not text.ends_complete:
            continue
        if found := _HEADER_HUAWEI_PING.fullmatch(line):
            runs.append(Run(target=found["host"], protocol="icmp"))
            size = float(found["size"])
            continue
        if not runs:
            if not _REPLY.fullmatch(line):
                if line.strip():
                    skipped.append(number)
                continue
            runs.append(Run(protocol="icmp"))
        run = runs[-1]
        if found := _REPLY.fullmatch(line):
            _reply(run, found)
        elif _TIMEOUT.fullmatch(line):
            _lost(run, size)
        elif not _summed_huawei_ping(run, line) and line.strip() and not _FRAME.fullmatch(line):
            if _ERROR.fullmatch(line) and run.sent is None:
                _lost(run, size).error_reply = True
            else:
                skipped.append(number)
    for run in runs:
        run.fill(1, whole=bool(run.target))
    return to_samples(given, runs, "ping (Huawei)", skipped_lines(skipped))


def _reply(run: Run, found: re.Match[str]) -> None:
    time_s = int(found["time"]) / 1e3
    sequence = float(found["seq"])
    below = found["sign"] == "<"
    run.probes.append(
        Probe(
            time_s / 2 if below else time_s,
            float(found["size"]),
            sequence=sequence,
            duplicate=any(p.sequence == sequence and not p.lost for p in run.probes),
            resolution_s=time_s if below else 1e-3,
            ttl=float(found["ttl"]),
        )
    )


def _lost(run: Run, size: float) -> Probe:
    """Add a lost probe; the line has no number, so it is the one behind the last."""
    last = max((probe.sequence for probe in run.probes), default=0.0)
    run.probes.append(Probe(lost=True, payload_bytes=size, sequence=last + 1))
    return run.probes[-1]


def _summed_huawei_ping(run: Run, line: str) -> bool:
    """Keep what a line of the summary says; False if it is none."""
    if found := _SENT.fullmatch(line):
        run.sent = run.printed["sent"] = int(found["count"])
    elif found := _RECEIVED.fullmatch(line):
        run.received = run.printed["received"] = int(found["count"])
    elif found := _LOSS.fullmatch(line):
        run.loss_ratio = run.printed["loss_ratio"] = float(found["loss"]) / 100
        run.ended = True
    elif found := _SPREAD.fullmatch(line):
        run.printed["rtt_min_s"] = int(found["min"]) / 1e3
        run.printed["rtt_max_s"] = int(found["max"]) / 1e3
        if run.received:
            run.rtt_min_s, run.rtt_max_s = run.printed["rtt_min_s"], run.printed["rtt_max_s"]
    else:
        return False
    return True


HUAWEI = Format(
    name="Huawei ping",
    description="the output of ping on a Huawei router",
    recognize=_recognize_huawei_ping,
    read=_read_huawei_ping,
    traps=(
        "Times are whole milliseconds.",
        "A time-out has a line without a number: it is that of the probe behind the last one.",
        "The size is that of the user data.",
        "An error message is no reply.",
    ),
)


_HEADER_MIKROTIK_PING = r"^\s*SEQ HOST\s+SIZE\s+TTL\s+TIME\b"
_TIME = r"(?:\d{1,6}s)?(?:\d{1,6}ms)?(?:\d{1,6}us)?"
_ROW = re.compile(
    rf"\s*(?P<seq>\d{{1,9}})(?: (?P<host>\S+))?"
    rf"(?:\s+(?P<size>\d{{1,5}})\s+(?P<ttl>\d{{1,3}})\s+(?P<time>(?=\d){_TIME}))?"
    r"(?:\s+(?P<status>[A-Za-z][\w -]*?))?\s*"
)
_TOTALS = re.compile(
    r"\s*sent=(?P<sent>\d{1,15}) received=(?P<received>\d{1,15}) packet-loss=(?P<loss>\d{1,3})%"
    rf"(?: min-rtt=(?P<min>{_TIME}) avg-rtt={_TIME} max-rtt=(?P<max>{_TIME}))?\s*"
)
_PART = re.compile(r"(\d+)(s|ms|us)")
_UNITS_US = {"s": 1_000_000, "ms": 1000, "us": 1}


def _recognize_mikrotik_ping(given: Input) -> bool:
    return given.seen(_HEADER_MIKROTIK_PING)


def _read_mikrotik_ping(given: Input) -> RttSamples:
    text = given.text
    runs: list[Run] = []
    skipped: list[int] = []
    for number, line in zip(text.numbers, text.lines, strict=True):
        if number == text.numbers[-1] and not text.ends_complete:
            continue
        if re.match(_HEADER_MIKROTIK_PING, line) or line.strip() == "STATUS":
            continue
        if found := _ROW.fullmatch(line):
            if not runs or _is_another(runs[-1], int(found["seq"])):
                runs.append(Run(protocol="icmp"))
            runs[-1].ended = False
            runs[-1].probes.append(_probe_mikrotik_ping(runs[-1], found))
        elif (found := _TOTALS.fullmatch(line)) and runs:
            _sum_up(runs[-1], found)
        elif line.strip():
            skipped.append(number)
    for run in runs:
        run.fill(0, whole=False)
    return to_samples(given, runs, "ping (MikroTik)", skipped_lines(skipped))


def _is_another(run: Run, sequence: int) -> bool:
    """Whether a number begins another run: totals came, and it does not go on from there."""
    return run.ended and sequence <= max(probe.sequence for probe in run.probes)


def _probe_mikrotik_ping(run: Run, found: re.Match[str]) -> Probe:
    host, status = found["host"] or "", found["status"] or ""
    answered = found["time"] is not None
    reply = answered and status in ("", "echo reply")
    if host and (reply or not answered) and not run.target:
        run.target = host
    time_s, width = _seconds(found["time"]) if reply else (NAN, 0.0)
    made = Probe(time_s, sequence=float(found["seq"]), lost=not reply, resolution_s=width)
    made.error_reply = answered and not reply
    if reply:
        size = float(found["size"]) - _IP_AND_ICMP[6 if ":" in host else 4]
        made.payload_bytes = size if size >= 0 else NAN
        made.ttl = float(found["ttl"])
        twins = [one for one in run.probes if one.sequence == made.sequence and not one.lost]
        made.duplicate = bool(twins)
    return made


def _seconds(text: str) -> tuple[float, float]:
    """Return a time and the width of its last part; ``0ms`` is below that width."""
    parts = _PART.findall(text)
    time_s = sum(int(number) * _UNITS_US[unit] for number, unit in parts) / 1e6
    width = _UNITS_US[parts[-1][1]] / 1e6
    return (time_s, width) if time_s else (width / 2, width)


def _sum_up(run: Run, found: re.Match[str]) -> None:
    run.sent, run.received = int(found["sent"]), int(found["received"])
    run.loss_ratio = int(found["loss"]) / 100
    run.ended = True
    run.printed = {"sent": run.sent, "received": run.received, "loss_ratio": run.loss_ratio}
    for name in ("min", "max"):
        if found[name]:
            run.printed[f"rtt_{name}_s"] = _seconds(found[name])[0]


MIKROTIK = Format(
    name="MikroTik ping",
    description="the output of ping on a MikroTik router",
    recognize=_recognize_mikrotik_ping,
    read=_read_mikrotik_ping,
    traps=(
        "The size is that of the IP packet: user data is 28 bytes less, 48 with IPv6.",
        "0ms is a time below 1 ms, not 0.",
        "A time is written in parts: 10ms663us.",
        "A row with a status is no reply; HOST is then the node that sent the error.",
        "Totals in the middle of a run count from its start: the last ones are those of the run.",
        "Numbers begin with 0.",
    ),
)


_HEADER_ROUTER_PING = re.compile(
    r"PING (?P<host>[^\s(]+)(?: \(\S+\):)? (?P<size>[0-9]{1,5}) data bytes\s*"
)
_MARKS_ROUTER_PING = re.compile(r"[!.]+\s*")
_REPLY_ROUTER_PING = re.compile(
    r"[0-9]+ bytes from \S+?:? icmp_seq=(?P<seq>[0-9]{1,9}) (?:ttl|hlim)=(?P<ttl>[0-9]{1,3}) "
    r"time(?P<sign>[=<])(?P<time>[0-9]{1,9}(?:\.[0-9]{1,9})?) ?ms\.?\s*"
)
_TIMEOUT_ROUTER_PING = re.compile(r"Request timed out\. icmp_seq=(?P<seq>[0-9]{1,9})\.?\s*")
_SUMMARY_ROUTER_PING = re.compile(
    r"(?P<sent>[0-9]{1,15}) packets transmitted,(?: (?P<bounced>[0-9]{1,15}) packets bounced,)? "
    r"(?P<received>[0-9]{1,15}) packets received"
    r"(?:, \+?(?P<duplicates>[0-9]{1,15}) duplicates)?"
    r"(?:, (?P<loss>[0-9]{1,9}(?:\.[0-9]{1,9})?)% packet loss)?\s*"
)
_NUMBER = r"([0-9]{1,9}(?:\.[0-9]{1,9})?)"
_SPREAD_ROUTER_PING = re.compile(
    rf"round-trip min = {_NUMBER}ms, avg = {_NUMBER}ms, max = {_NUMBER}ms(?:, .*)?\s*"
    rf"|round-trip min/avg/max(?:/stddev)? = {_NUMBER}/{_NUMBER}/{_NUMBER}(?:/\S+)? ms\s*"
)
_FRAME_ROUTER_PING = re.compile(r"-{3,4} ?\S+ (?:PING Statistics|ping statistics) ?-{3,4}\s*")


def _recognize_router_ping(given: Input) -> bool:
    return given.seen(
        r"^---- \S+ PING Statistics ----|"
        r"^PING [^\s(]+ \(\S+\): [0-9]+ data bytes *\n\.*![!.]* *$|"  # dots alone: a flood
        r"^PING [^\s(]+ [0-9]+ data bytes *\n(?:[!.]+ *$|Request timed out\. icmp_seq=|"
        r"[0-9]+ bytes from \S+ icmp_seq=\d+ ttl=\d+ time[=<][0-9.]+ms\.$)"
    )


def _read_router_ping(given: Input) -> RttSamples:
    text = given.text
    runs: list[Run] = []
    marks: dict[int, str] = {}
    skipped: list[int] = []
    size = float("nan")
    for number, line in zip(text.numbers, text.lines, strict=True):
        if number == text.numbers[-1] and not text.ends_complete:
            continue
        if found := _HEADER_ROUTER_PING.fullmatch(line):
            runs.append(Run(target=found["host"], protocol="icmp"))
            size = float(found["size"])
            continue
        if not runs or (runs[-1].ended and not _SPREAD_ROUTER_PING.fullmatch(line)):
            if line.strip() and not _FRAME_ROUTER_PING.fullmatch(line):
                skipped.append(number)
            continue
        run = runs[-1]
        if found := _REPLY_ROUTER_PING.fullmatch(line):
            run.probes.append(_reply_router_ping(found, size))
        elif found := _TIMEOUT_ROUTER_PING.fullmatch(line):
            lost = Probe(lost=True, payload_bytes=size, sequence=float(found["seq"]))
            run.probes.append(lost)
        elif _MARKS_ROUTER_PING.fullmatch(line):
            marks[len(runs) - 1] = marks.get(len(runs) - 1, "") + line.strip()
        elif found := _SUMMARY_ROUTER_PING.fullmatch(line):
            _sum_up_router_ping(run, found)
        elif found := _SPREAD_ROUTER_PING.fullmatch(line):
            low, _, high = (float(one) / 1e3 for one in found.groups() if one is not None)
            run.printed |= {"rtt_min_s": low, "rtt_max_s": high}
            if run.received and not run.duplicates:
                run.rtt_min_s, run.rtt_max_s = low, high
        elif line.strip() and not _FRAME_ROUTER_PING.fullmatch(line):
            skipped.append(number)
    for index, row in marks.items():
        runs[index].probes += _probes(runs[index], row, size)
    for index, run in enumerate(runs):
        bounced = run.printed.get("errors", 0)  # neither marked nor listed
        if run.counted_only and index not in marks and (run.sent or 0) > bounced:
            run.ended = False
    return to_samples(given, runs, "ping (router)", skipped_lines(skipped))


def _reply_router_ping(found: re.Match[str], size: float) -> Probe:
    time_s, width = float(found["time"]) / 1e3, last_digit(found["time"], 1e-3)
    if found["sign"] == "<":
        time_s, width = time_s / 2, time_s
    return Probe(
        time_s, size, sequence=float(found["seq"]), resolution_s=width, ttl=float(found["ttl"])
    )


def _sum_up_router_ping(run: Run, found: re.Match[str]) -> None:
    run.sent, run.received = int(found["sent"]), int(found["received"])
    run.printed = {"sent": run.sent, "received": run.received}
    if found["duplicates"]:
        run.duplicates = run.printed["duplicates"] = int(found["duplicates"])
    if found["bounced"]:
        run.printed["errors"] = int(found["bounced"])
    if found["loss"]:
        run.loss_ratio = run.printed["loss_ratio"] = float(found["loss"]) / 100
    run.ended = True


def _probes(run: Run, marks: str, size: float) -> list[Probe]:
    """Return a row for each mark; none where it is not certain which replies were duplicates."""
    twice = run.duplicates or 0
    if twice and run.received:
        return []
    made = [Probe(payload_bytes=size, lost=mark == ".", duplicate=False) for mark in marks]
    if twice and marks.count("!") == twice:
        for probe in made:
            probe.duplicate = not probe.lost
    return made


NOKIA = Format(
    name="router ping",
    description="the output of ping on a Nokia router, or of a rapid ping",
    recognize=_recognize_router_ping,
    read=_read_router_ping,
    traps=(
        "A mark of a rapid ping has no time: only the least and the largest of the summary are "
        "known.",
        "A duplicate has the mark of a reply: with replies and duplicates it is not certain which "
        "is which, and only the counts of the summary are used.",
        "With duplicates the times of the summary include theirs and are not used.",
        "A bounced packet was answered by an error and is lost.",
        "The size is that of the user data.",
    ),
)
