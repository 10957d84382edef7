"""``netcalc explain``: the limit of a path or a measurement, in one sentence, with arithmetic."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from netcalc import compare, readers, units
from netcalc import explain as explanations
from netcalc.cli import mistakes, options, output, print_json, say, standard_input
from netcalc.cli.report import metric_line, warning_lines
from netcalc.errors import DomainError, ReaderError, UnitError, doubts, tell_doubts
from netcalc.explain import Finding, Known, Sweep
from netcalc.explain.causes.series import least_elsewhere, of_files
from netcalc.messages import Notice
from netcalc.models.tcp.ceilings import CONGESTION_CONTROLS, CongestionControl
from netcalc.samples import Samples, json_ready

_OF_FILES = {
    "line_bps": "--line", "device_pps": "--device", "buffer_bytes": "--buffer",
    "frame_bytes": "--frame", "plot_path": "--plot",
}  # fmt: skip
"""Options that do not apply to a path: argument and name."""
_FILE_NAME = re.compile(r"[^\s,]+\.(?:json|txt|csv|log|pcap|pcapng|out|gz|parquet|xml|jsonl)")
MOST_WHOLE = 8
"""Findings that are all printed whole; of more, only the first of each conclusion. [1]"""
_OF_SYSTEM = "/proc/sys/net/ipv4/tcp_congestion_control"
"""Where Linux says which congestion control its new connections have."""


@options.command(
    options.plot_option("Draw what a FILE waited for and its limits"),
    options.FORCE,
    options.JSON,
    cls=options.PlannersCommand,
    names={
        "claimed": "--claim",
        "payload_bytes": "--size",
        "reverse_bandwidth_bps": "--reverse",
        "congestion_control": "--algorithm",
        "flow_count": "--flows",
    },
    types={
        "congestion_control": options.Choice(CONGESTION_CONTROLS),
        "flow_count": options.WholeNumber(low=1),
    },
)
def explain(
    words: tuple[str, ...],
    *,
    claimed: str | None = None,
    payload_bytes: float | None = None,
    line_bps: float | None = None,
    line_up_bps: float | None = None,
    rtt_s: float | None = None,
    window_bytes: float | None = None,
    loss_ratio: float | None = None,
    mtu_bytes: float | None = None,
    reverse_bandwidth_bps: float | None = None,
    device_pps: float | None = None,
    buffer_bytes: float | None = None,
    congestion_control: CongestionControl | None = None,
    flow_count: int | None = None,
    frame_bytes: float | None = None,
    clock_offset_s: float | None = None,
    by: str = "",
    plot_path: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Explain what limits a PATH, a measurement in a FILE, or the number of a --claim.

    A PATH is the rate and one-way latency of each link, separated by commas, or "10G rtt 80ms"; a
    FILE is any that netcalc read understands. A FILE is explained from its contents and the
    options; unknown quantities are asked for, not guessed. Several FILEs are compared: the same
    quantity of each, with a 95% interval. If they differ in a size, a window, a number of flows, an
    offered rate, a round trip or a loss, they are explained as one measurement first.

    With SIZE the time of a transfer is explained, too. How long is also told by calc transfer-time
    (the time alone), calc transfer (a line without TCP) and plan transfer (what would help).

    \b
    netcalc explain "1 Gbit/s 40 ms" --window 64KiB --loss 0.01%
    netcalc explain 1MB "6 x T1 1 ms, T3 5 ms" --flows 4
    netcalc explain iperf3.json --line 1Gbit/s --rtt 40ms
    netcalc explain speedtest.json --line 100Mbit/s --line-up 20Mbit/s
    netcalc explain w8K.json w16K.json w32K.json --plot windows.html
    netcalc explain --claim "94 Mbit/s" --line 100Mbit/s

    Parameters
    ----------
    words : [SIZE] PATH|FILE...
        The path, or the files.
    claimed : NUMBER
        Stated number to check, such as "94 Mbit/s": find the model, right or wrong, that gives it.
    payload_bytes : float
        Bytes to transfer over TCP, such as 1MB; the same as SIZE in front of PATH. [byte]
    line_bps : float
        Rate of the slowest line, of a FILE. [bit/s]
    line_up_bps : float
        Rate of that line for uploads, if it differs; --line is for downloads. [bit/s]
    rtt_s : float
        Round-trip time without load; by default of the links, or of the FILE. [s]
    window_bytes : float
        Maximum window: the smaller of both hosts' buffers. [byte]
    loss_ratio : float
        Random packet loss; by default 0% for a PATH, as measured for a FILE. [ratio]
    mtu_bytes : float
        Maximum packet size (IP); 1500B, or as seen in the FILE. [byte]
    reverse_bandwidth_bps : float
        Rate of the reverse path, if it differs. [bit/s]
    device_pps : float
        Packet rate that a device forwards, both directions together. [packet/s]
    buffer_bytes : float
        Buffer in front of the line. [byte]
    congestion_control : {'cubic', 'reno', 'bbr'}
        Congestion control of the sender; by default as named in the FILE; for a PATH as on
        this system, or cubic.
    flow_count : int
        Flows that share a PATH; by default 1.
    frame_bytes : float
        Frame size for a claimed packet rate, FCS included. [byte]
    clock_offset_s : float
        How far the clock of the second of two FILEs is ahead; both then share one time axis. [s]
    by : NAME
        What differs between FILEs: size, window, flows, offered, rtt or loss; or with their values
        in the order of the FILEs, window=8KiB,16KiB.
    """
    settings = click.get_current_context().params
    if payload_bytes is None:
        payload_bytes, words = _size_in_front(words)
    files = _files(words)
    if clock_offset_s is not None and len(files) != 2:
        raise mistakes.CommandError("offset-of-two-files", count=len(files))
    if loss_ratio == 1.0:  # a model at its limit, but no measurement
        with mistakes.named_as_typed():
            raise DomainError("all-lost", "loss_ratio", loss_ratio)
    if by and len(files) < 2:
        raise mistakes.CommandError("by-of-several-files", count=len(files))
    if line_up_bps is not None and not files:
        raise mistakes.CommandError("option-of-a-file", option="--line-up")
    if flow_count is not None and (files or claimed is not None):
        raise mistakes.CommandError("option-of-path", option="--flows")
    if claimed is not None:
        _explain_claim(claimed, words, files, payload_bytes, settings)
    elif files:
        _explain_files(files, settings)
    else:
        _explain_path(words, payload_bytes, settings)


def _files(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words if they are files; none if they are a path."""
    are_files = [word == "-" or Path(word).is_file() for word in words]
    if any(are_files) and not all(are_files):
        missing = [word for word, is_file in zip(words, are_files, strict=True) if not is_file]
        raise mistakes.CommandError("path-and-files", names=missing)
    if len(words) == 1 and not are_files[0] and _FILE_NAME.fullmatch(words[0]):
        raise ReaderError("no-such-file", file=words[0])
    return words if any(are_files) else ()


def _size_in_front(words: tuple[str, ...]) -> tuple[float | None, tuple[str, ...]]:
    """Return the size that is the first of several words, and the others."""
    if len(words) > 1 and not Path(words[0]).is_file():
        try:
            return units.parse(words[0], "byte"), words[1:]
        except UnitError:
            pass
    return None, words


def _congestion_control(
    asked: CongestionControl | None,
) -> tuple[CongestionControl, tuple[Notice, ...]]:
    """Return the congestion control that counts, and where it is from."""
    if asked is not None:
        return asked, ()
    try:
        system = Path(_OF_SYSTEM).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        system = ""
    used = next(
        (control for control in CONGESTION_CONTROLS if control == system), CONGESTION_CONTROLS[0]
    )
    code = "assumed-control-default"
    if system:
        code = "assumed-control-system" if used == system else "assumed-control-other"
    values = {"control": explanations.CONTROL_NAMES[used], "found": system, "where": _OF_SYSTEM}
    return used, (Notice(code, values),)


def _known(settings: Mapping[str, Any]) -> Known:
    with mistakes.named_as_typed(reverse_bps=("--reverse", "bit/s")):
        return Known(
            reverse_bps=settings["reverse_bandwidth_bps"],
            **{
                name: settings[name]
                for name in (
                    "rtt_s", "line_bps", "line_up_bps", "window_bytes", "loss_ratio", "mtu_bytes",
                    "device_pps", "buffer_bytes", "congestion_control",
                )
            },
        )  # fmt: skip


def _read(name: str) -> Samples:
    return readers.read(standard_input() if name == "-" else Path(name))


def _explain_files(files: tuple[str, ...], settings: Mapping[str, Any]) -> None:
    facts, plot_path, as_json = _known(settings), settings["plot_path"], settings["as_json"]
    if plot_path is not None:
        output.check_output(plot_path, inputs=files, force=settings["force"], plot=True)
    if len(set(files)) < len(files):
        twice = next(name for name in files if files.count(name) > 1)
        raise mistakes.CommandError("file-named-twice", file=twice)
    read = {name: _read(name) for name in files}
    with mistakes.numbers_of(files[0]):
        shared = explanations.together(read, facts)
    with mistakes.named_as_typed():
        joined = explanations.sweep(read, settings["by"])
    flows_plot = None
    is_sweep = joined is not None and joined.samples is not None
    if plot_path is not None and len(files) > 1 and not (is_sweep or settings["by"]):
        flows_plot = output.flows_plot(read, facts)
    is_explained = (len(files) > 1 or joined is not None) and _explain_sweep(
        joined, settings["by"], facts, plot_path, as_json=as_json
    )
    for name, samples in read.items():
        if not as_json:
            lines = warning_lines(samples.meta)
            if len(files) > 1 and (lines or not is_explained):
                say(f"{name}:")
            _print_warnings(samples)
        if is_explained and not as_json:
            continue  # each has a finding in the sweep
        with mistakes.numbers_of(name):
            idle = least_elsewhere(read, name) if facts.rtt_s is None else None
            own = facts if idle is None else replace(facts, rtt_s=idle[0])
            findings = explanations.measurement(samples, own)
        if idle is not None:
            said = Notice("rtt-of-file", {"rtt_s": idle[0], "file": idle[1]})
            findings = tuple(
                replace(finding, notices=(said, *finding.notices)) for finding in findings
            )
        if name in shared.causes:
            findings = tuple(replace(finding, cause=shared.causes[name]) for finding in findings)
        if as_json:
            print_json(
                {
                    "file": name, **_warnings(samples),
                    "findings": [finding.as_dict() for finding in findings],
                }
            )  # fmt: skip
        else:
            _print(findings)
        if plot_path is not None and len(files) == 1 and joined is None:
            _draw(samples, findings, facts, plot_path)
    if len(read) > 1 and (as_json or not is_explained):
        _compare(read, settings["clock_offset_s"], shared.notices, as_json=as_json)
    if plot_path is not None and flows_plot is not None:
        output.write_flows(flows_plot, read, plot_path, as_json=as_json)


def _explain_sweep(
    joined: Sweep | None, by: str, facts: Known, plot_path: str | None, *, as_json: bool
) -> bool:
    """Explain several files as one measurement; return whether something known differs."""
    samples = None if joined is None else joined.samples
    if by and samples is None:
        raise mistakes.CommandError("no-sweep-by", by=by)
    if joined is None:
        return False
    findings: tuple[Finding, ...] = ()
    if samples is not None:
        with mistakes.numbers_of(samples.meta.source):
            findings = explanations.measurement(samples, facts)
    if as_json:
        document = {"sweep": joined.by, "notices": [joined.said.stored()]}
        print_json({**document, "findings": [finding.as_dict() for finding in findings]})
    else:
        say(f"{joined.said}:" if findings else f"note: {joined.said}")
        _print(findings)
        say("")
    if plot_path is not None and samples is not None:
        _draw(samples, findings, facts, plot_path)
    return bool(findings)


def _draw(samples: Samples, findings: tuple[Finding, ...], facts: Known, path: str) -> None:
    from netcalc import plots  # late: bokeh takes its time

    output.write_plot(plots.explained(samples, findings, stated=facts), path)
    output.print_written(path)


def _compare(
    read: Mapping[str, Samples],
    clock_offset_s: float | None,
    said: tuple[Notice, ...],
    *,
    as_json: bool,
) -> None:
    """Print the same quantity of each file side by side, and on one time axis if asked."""
    rows = compare.files(read)
    notices = [*said, *compare.file_notices(rows, read), *of_files(read)]
    merged = None
    if clock_offset_s is not None:
        merged = compare.on_one_axis(read, clock_offset_s=clock_offset_s)
        notices.append(compare.axis_notice(merged))
    elif len(read) == 2 and len(rows) > 1 and not said:
        notices.append(Notice("not-on-one-axis"))
    if as_json:
        document: dict[str, Any] = {
            "compared": [asdict(row) for row in rows],
            "notices": [item.stored() for item in notices],
        }
        if merged is not None:
            document["merged"] = {name: json_ready(item) for name, item in merged.columns().items()}
        print_json(document)
    else:
        say("compared:")
        for line in (*rows, *notices):
            say(f"  {line}")


def _warnings(samples: Samples) -> dict[str, Any]:
    """Return what the reader of a file warned of, as JSON has it."""
    meta = samples.meta
    return {"partial": meta.partial, "warnings": list(map(str, meta.warnings))}


def _print_warnings(samples: Samples) -> None:
    """Print what the reader of a file warned of: before what is concluded from it."""
    for line in warning_lines(samples.meta):
        say(line.strip())


def _print(findings: tuple[Finding, ...]) -> None:
    """Print each finding; of many, the arithmetic and remarks of a conclusion only once."""
    shown: set[tuple[str, ...]] = set()
    is_shortened = False
    for number, finding in enumerate(findings):
        conclusion = (finding.said.code, *finding.remarks)
        is_short = len(findings) > MOST_WHOLE and conclusion in shown
        is_shortened |= is_short
        shown.add(conclusion)
        between = "\n" if number and not is_short else ""
        say(f"{between}{finding.headline if is_short else finding}")
        metrics = metric_line(finding.metrics, layer=finding.layer)
        if metrics:
            say(f"  {metrics}")
    if is_shortened:
        say("\nOf findings with the same conclusion the first is whole; --json has all.")


def _explain_claim(
    claimed: str,
    words: tuple[str, ...],
    files: tuple[str, ...],
    payload_bytes: float | None,
    settings: Mapping[str, Any],
) -> None:
    path_facts, links = _known(settings), None
    samples = _read(files[0]) if files else None
    if words and not files:
        links = options.read_path(" ".join(words), typed="PATH")
    facts = {"path": links, "size_bytes": payload_bytes, "frame_bytes": settings["frame_bytes"]}
    with mistakes.named_as_typed(claim=("--claim", "")):
        if samples is not None:
            explained = explanations.claim_of(samples, claimed, path_facts, **facts)
        else:
            explained = explanations.claim(claimed, path_facts, **facts)
    if settings["as_json"]:
        print_json({**explained.as_dict(), **({} if samples is None else _warnings(samples))})
    else:
        if samples is not None:
            _print_warnings(samples)
        say(str(explained))
        options.tell_latency()


def _explain_path(
    words: tuple[str, ...],
    payload_bytes: float | None,
    settings: Mapping[str, Any],
) -> None:
    if not words:
        raise options.missing_argument("words")
    for name, option in _OF_FILES.items():
        if settings[name] is not None:
            raise mistakes.CommandError("option-of-file", option=option)
    links = options.read_path(" ".join(words), typed="PATH")
    control, notices = _congestion_control(settings["congestion_control"])
    asked = {
        "rtt_s": settings["rtt_s"],
        "window_bytes": settings["window_bytes"],
        "loss_ratio": 0.0 if settings["loss_ratio"] is None else settings["loss_ratio"],
        "mtu_bytes": 1500.0 if settings["mtu_bytes"] is None else settings["mtu_bytes"],
        "reverse_bandwidth_bps": settings["reverse_bandwidth_bps"],
        "congestion_control": control,
        "flow_count": settings["flow_count"] or 1,
    }
    transfer = None
    with mistakes.named_as_typed(), doubts() as doubtful:
        rate = explanations.rate(links, **asked)
        if payload_bytes is not None:
            transfer = explanations.tcp_transfer(payload_bytes, path=links, **asked)
    tell_doubts(doubtful)
    if transfer is not None and transfer.by_congestion_control:
        transfer = replace(transfer, assumptions=(*notices, *transfer.assumptions))
    if rate.by_congestion_control:
        rate = replace(rate, assumptions=(*notices, *rate.assumptions))
    if settings["as_json"]:
        from netcalc.calculator import doubt_notice  # late: most answers are text

        stored = [doubt_notice(doubt).stored() for doubt in doubtful]
        print_json({
            "rate": rate.as_dict(), "transfer": None if transfer is None else transfer.as_dict(),
            "notices": [doubt for i, doubt in enumerate(stored) if doubt not in stored[:i]],
        })  # fmt: skip
        return
    if transfer is not None:
        say(f"{transfer}\n")
        rate = replace(rate, assumptions=())
    say(str(rate))
    options.tell_latency()
