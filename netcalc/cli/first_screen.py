"""The first screen of a file: what was measured, what is odd, what next, in ten lines."""

from __future__ import annotations

import math
import re
import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from netcalc import compare, explain
from netcalc import samples as kinds
from netcalc.cli import report
from netcalc.explain import Known
from netcalc.explain.causes import captures
from netcalc.explain.summaries import rates_over_time, times_of
from netcalc.printable import excerpt, printable
from netcalc.readers.paths.traces import HopRow, hop_rows
from netcalc.samples.meta import OF_COLUMNS
from netcalc.units import show, show_rate

LINES, WIDTH = 10, 80
"""Lines of a first screen, and characters of each."""
_MOST_ODD = 2
"""Lines of what is odd, if what was measured needs the others."""
_MOST_COUNTERS = 6
_SENTENCES = (
    kinds.RttSamples, kinds.TransferSamples, kinds.TransactionSamples, kinds.BulkSamples,
    kinds.HopSamples, kinds.TrainSamples,
)  # fmt: skip
"""Samples that sentences are said of, theory among them; of the others there are facts."""


def first_screen(name: str, samples: kinds.Samples, path_facts: Known | None) -> str:
    """Return what was measured, what is odd and what to do next."""
    advice, is_explained = [], report.is_explained(samples)
    if isinstance(samples, kinds.Table) and report.is_unknown(samples):
        described = () if is_explained else explain.described(samples)
        advice = [str(note) for note in described if not note.code.startswith("column")]
    following = _next(name, advice, is_explained=is_explained, is_drawn=_is_drawn(samples))
    room = LINES - 1 - len(following)
    remarks = _odd(samples) or ["nothing that the file shows"]
    odd = _packed("Odd", remarks, _MOST_ODD)
    measured = _section("Measured", _measured(samples, path_facts), room - len(odd))
    if room - len(measured) > len(odd):
        odd = _packed("Odd", remarks, room - len(measured))
    heading = report.heading(name, samples)
    if len(heading) > WIDTH:  # the end of a long path says more than its beginning
        heading = "..." + heading[3 - WIDTH :]
    return "\n".join([heading, *measured, *odd, *following])


def _wrapped(text: str, title: str = "") -> list[str]:
    first = f"{title}: " if title else "  "
    joined = re.sub(r"(?<=\d) (?=\S)", "\u00a0", printable(text))  # a number and its unit
    lines = textwrap.wrap(
        joined, WIDTH, initial_indent=first, subsequent_indent="  ", break_on_hyphens=False
    )
    return [line.replace("\u00a0", " ") for line in lines]


def _section(title: str, sentences: Sequence[str], most: int) -> list[str]:
    """Return whole sentences in lines of their own; of one that is too long its beginning."""
    lines: list[str] = []
    for number, sentence in enumerate(sentences):
        more = f"  {len(sentences) - number} more: --all"
        cut = _wrapped(sentence, "" if number else title)
        is_last = number == len(sentences) - 1
        if len(lines) + len(cut) + (not is_last) > most:
            return [*lines, more] if lines else [*cut[: most - 1], "  ... (--all)"]
        lines += cut
    return lines


def _packed(title: str, remarks: Sequence[str], most: int) -> list[str]:
    """Return remarks one behind the other, as many as fit into some lines."""
    lengths = accumulate(len(remark) + 2 for remark in remarks)
    most_remarks = sum(length <= most * (WIDTH + 1) for length in lengths)  # of thousands
    for count in range(max(most_remarks, 1), 0, -1):
        left = [f"{len(remarks) - count} more: --all"] if count < len(remarks) else []
        lines = _wrapped("; ".join([*remarks[:count], *left]), title)
        if len(lines) <= most:
            return lines
    return [*lines[: most - 1], "  ... (--all)"]


def _measured(samples: kinds.Samples, path_facts: Known | None) -> list[str]:
    """Return sentences of what was measured: theory's, or the facts of each run."""
    stated = path_facts is not None and path_facts != Known()
    metrics = report.metric_rows(samples, path_facts) if stated else []
    sentences = []
    for row in metrics:
        numbers = {key: value for key, value in row.items() if key not in ("label", "layer")}
        label = f"{row['label']}: " if row["label"] else ""
        sentences.append(label + report.metric_line(numbers, layer=row["layer"]))
    rows = samples.facts()
    said = [text for row in rows if (text := _row_text(samples, row, len(rows) > 1))]
    if compare.is_router_queue(samples) or compare.is_working_latency(samples):
        return [compare.overlay(samples).sentence]
    if isinstance(samples, _SENTENCES):
        body = [line.strip() for line in report.body_lines(samples, brief=True)]
        if isinstance(samples, kinds.TransferSamples):
            return sentences + said + body or _ranges(samples)
        if len(rows) == 1 and isinstance(samples, kinds.RttSamples) and not samples.measured.any():
            counts = {"sent_count", "received_count"}
            rest = {name: fact for name, fact in rows[0].items() if name not in counts}
            said = [text] if (text := _row_text(samples, rest, False)) else []
            return sentences + body + said
        return sentences + body + (said if len(rows) > 1 else [])
    said += _hop_texts(samples)
    if isinstance(samples, kinds.PacketTrace):
        said += _flow_texts(samples)
    names = ", ".join(map(excerpt, samples.columns()))
    return sentences + said or [f"{len(samples)} rows of {names}"]


def _hop_texts(samples: kinds.Samples) -> list[str]:
    """Say how far the last hop is, and which hop adds most."""
    hops = [hop for hop in hop_rows(samples) if hop.node]
    if not hops:
        return []
    last = hops[-1]
    middle = last.rtt_mean_s if math.isnan(last.rtt_median_s) else last.rtt_median_s
    said = []
    if not math.isnan(middle) and "last_hop_rtt_median_s" not in samples.facts()[0]:
        said.append(f"hop {_hop(last)}, {last.node}: {show(middle, 's')}")
    added = max(hops, key=lambda hop: -1.0 if math.isnan(hop.increase_s) else hop.increase_s)
    if added.increase_s > 0:
        said.append(f"hop {_hop(added)}, {added.node}, adds most: {show(added.increase_s, 's')}")
    return said


def _hop(hop: HopRow) -> str:
    return "?" if hop.hop is None else str(hop.hop)


def _ranges(samples: kinds.Samples) -> list[str]:
    """Say where the numbers of the columns lie, of samples that nothing else is said of."""
    row = kinds.Samples.counted_facts(samples)[0]
    names = dict.fromkeys(name.partition(":")[2] for name in row if name.startswith(OF_COLUMNS))
    return [", ".join(_column_phrase(samples, row, name) for name in names)]


def _row_text(samples: kinds.Samples, row: Mapping[str, Any], several: bool) -> str:
    """Write the main facts of a run, host or direction in one sentence."""
    label = row.get("direction") or (row.get("group") or row.get("target") if several else "")
    if several and row.get("group") not in (None, label) and row.get("direction"):
        label = f"{row['group']}, {label}"
    text = ", ".join(_phrases(samples, row))
    return f"{excerpt(str(label))}: {text}" if label and text else text


_PHRASES = (
    ("operation", "{}"), ("rank_count", "of {} ranks"), ("bus_bandwidth_bps", "bus bandwidth {}"),
    ("packet_count", "{} packets"), ("span_s", "over {}"), ("tcp_flow_count", "{} TCP flows"),
    ("udp_flow_count", "{} UDP flows"), ("icmp_echo_pair_count", "{} answered pings"),
    ("sent_count", "sent {}"), ("received_count", "received {}"),
    ("sent_rate_bps", "sent {}"), ("received_rate_bps", "received {}"),
    ("duration_s", "in {}"), ("hop_count", "{} hops"),
    ("responding_hop_count", "{} hops answer"),
    ("last_hop_rtt_median_s", "round trip to the last {}"), ("path_mtu_bytes", "path MTU {}"),
    ("connection_count", "{} sockets"), ("tcp_connection_count", "{} of TCP"),
    ("rtt_s", "round trip {}"), ("cwnd_packets", "window of {} packets"),
    ("bytes_acked", "{} acknowledged"), ("jitter_s", "jitter {}"),
    ("handshake_rtt_min_s", "handshake {}"), ("responsiveness_rpm", "responsiveness {}"),
    ("signal_dbm", "signal {}"), ("signal_ratio", "signal {}"), ("noise_dbm", "noise {}"),
    ("rx_rate_bps", "frames received at {}"), ("tx_rate_bps", "frames sent at {}"),
)  # fmt: skip
"""Facts in the order in which a person asks for them, and how they are said."""
_UNSAID = ("flow_count", "pair_count")
"""What a capture may hold, and is not said where it has none."""
_SPREADS = {"rtt": "round trip", "one_way_delay": "one-way delay"}
_WORSE = (
    ("retransmit_count", "{} segments sent again"),
    ("retransmit_total_count", "{} segments sent again"),
    ("duplicate_count", "{} duplicates"),
    ("lost_datagram_count", "{} datagrams lost"), ("loss_ratio", "{} lost"),
)  # fmt: skip
_BAD = re.compile(r"err|dro?p|ovr|fail|retrans|lost|loss|collision|overrun|discard", re.IGNORECASE)
"""In names of counters of what went wrong."""
_SIZES = {"sent_byte_count": "sent_rate_bps", "received_byte_count": "received_rate_bps"}


def _phrases(samples: kinds.Samples, row: Mapping[str, Any]) -> Iterator[str]:
    for name, phrase in _PHRASES:
        if name in row and (row[name] or not name.endswith(_UNSAID)):
            text = report.fact_text(samples, row, name)
            yield _counted(phrase, row[name]).format(text)
    for name, rate in _SIZES.items():
        if name in row and rate not in row:
            yield f"{name.partition('_')[0]} {report.fact_text(samples, row, name)}"
    for stem, words in _SPREADS.items():
        ends = [
            f"{end} {report.fact_text(samples, row, f'{stem}_{end}_s')}"
            for end in ("min", "median", "max")
            if f"{stem}_{end}_s" in row
        ]
        if ends:
            yield f"{words} {', '.join(ends)}"
    yield from _counter_phrases(row)
    if not report.is_unknown_row(row):
        return
    for name in dict.fromkeys(n.partition(":")[2] for n in row if n.startswith(OF_COLUMNS)):
        yield _column_phrase(samples, row, name)


def _counted(phrase: str, count: Any) -> str:
    """Return a phrase with its noun in the singular, of a single thing."""
    nouns = r"(counter|flow|packet|hop|socket|segment|duplicate|ping)s\b"
    return re.sub(nouns, r"\1", phrase) if count == 1 else phrase


def _counter_phrases(row: Mapping[str, Any]) -> Iterator[str]:
    """Say the largest counters of a host or an interface, and how many there are."""
    counters = {name[8:]: value for name, value in row.items() if name.startswith("counter:")}
    if not counters:
        return
    largest = sorted(filter(counters.get, counters), key=lambda name: -counters[name])
    shown = ", ".join(
        f"{name} {_number(counters[name])}" for name in counters if name in largest[:_MOST_COUNTERS]
    )
    count = _counted(f"{len(counters)} counters", len(counters))
    yield f"{count}, the largest: {shown}" if shown else f"{count}, all 0"


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def _column_phrase(samples: kinds.Samples, row: Mapping[str, Any], name: str) -> str:
    """Say where the numbers of a column lie, or what they add up to."""
    texts = {
        kind[:-1]: report.fact_text(samples, row, kind + name)
        for kind in OF_COLUMNS
        if kind + name in row
    }
    first = next(iter(texts.values()))
    layer = first[first.index(" (") :] if first.endswith(")") else ""
    texts = {kind: text.removesuffix(layer) for kind, text in texts.items()}
    if "min" not in texts:
        return f"{name}: {', '.join(f'{kind} {text}' for kind, text in texts.items())}{layer}"
    remarks = [f"median {texts['median']}"] if "median" in texts else []
    remarks += [layer[2:-1]] if layer else []
    beside = f" ({'; '.join(remarks)})" if remarks else ""
    return f"{name} {texts['min']} to {texts['max']}{beside}"


def _flow_texts(trace: kinds.PacketTrace) -> list[str]:
    """Say of the largest flows of a capture what they carried, how fast, and over which path."""
    texts = []
    for flow in captures.flows(trace, None):
        said = [show(flow["payload_bytes"], "byte")]
        if not math.isnan(rate := flow.get("goodput_bps", math.nan)):
            said.append(show_rate(rate, flow["layer"]))
        if not math.isnan(rtt := flow.get("rtt_min_s", math.nan)):
            said.append(f"round trip from {show(rtt, 's')}")
        texts.append(f"{flow['label']} ({flow['protocol'].upper()}): {', '.join(said)}")
    return texts


def _odd(samples: kinds.Samples) -> list[str]:
    """Return what a reader of the numbers should know: gaps, losses, and the reader's warnings."""
    said = ["partial: the measurement is incomplete"] if samples.meta.partial else []
    rows = samples.facts()
    for row in rows:
        worse = [
            _counted(phrase, row[name]).format(report.fact_text(samples, row, name))
            for name, phrase in _WORSE
            if row.get(name) and not (name == "loss_ratio" and row.get("lost_datagram_count"))
        ]
        worse += [
            f"{name[8:]} {_number(value)}"
            for name, value in row.items()
            if value and name.startswith("counter:") and _BAD.search(name)
        ]
        label = row.get("direction") or row.get("group") or row.get("target") or ""
        label = f"{excerpt(str(label))}: " if label and len(rows) > 1 else ""
        said += [label + ", ".join(worse)] if worse else []
        again = row.get("tcp_retransmission_count")
        if again and isinstance(samples, kinds.Table):  # of a capture it is said of each flow
            said.append(_counted(f"{again:,} segments sent again", again))
    if isinstance(samples, kinds.RttSamples):
        said += [f"errors: {samples.errors}"] if samples.errors else []
        said += [line.strip() for line in report.timed_lines(samples)]
    if isinstance(samples, kinds.PacketTrace):
        for flow in captures.flows(samples, None):
            if closed := flow.get("receiver_window_closed_count"):
                times = "once" if closed == 1 else f"{closed:,} times"
                time = show(flow["receiver_window_closed_s"], "s")
                said.append(f"the receiver closed its window {times}, for {time} ({flow['label']})")
            if again := flow.get("retransmission_count"):
                said.append(f"{again:,} segments sent again ({flow['label']})")
    hops = hop_rows(samples)
    silent = [_hop(hop) for hop in hops if not hop.node and math.isnan(hop.rtt_min_s)]
    slow = [_hop(hop) for hop in hops if hop.answers_slowly]
    said += [f"no answer from hop {', '.join(silent)}"] if silent else []
    said += [f"hop {', '.join(slow)} answers later than a hop behind it"] if slow else []
    return said + [str(warning) for warning in samples.meta.warnings]


def _is_drawn(samples: kinds.Samples) -> bool:
    """Whether there is a figure, as far as it is known without loading what draws it."""
    if isinstance(samples, kinds.FlowSeries | kinds.PathSamples):
        return bool(samples.measured.any())
    if isinstance(samples, kinds.PacketTrace):
        return samples.span_s > 0
    if not isinstance(samples, kinds.Table) or compare.is_router_queue(samples):
        return True
    if times_of(samples) is not None and rates_over_time(samples):
        return True
    return "hop" in samples.columns() or explain.table_theory(samples, Known()) is not None


def _next(name: str, advice: Sequence[str], *, is_explained: bool, is_drawn: bool) -> list[str]:
    """Return the commands that a person wants next; a long name of a file is not repeated."""
    own = [(shlex.quote(name), shlex.quote(Path(name).stem))] if name != "-" else []
    for file, stem in (*own, ("FILE", "FILE")):
        first = [f"netcalc explain {file} (what limits it)"] if is_explained else []
        options = [f"--plot {stem}.svg (a figure)"] if is_drawn else []
        options.append("--all (every number)")
        brief = [option.partition(" (")[0] for option in options]
        forms = ([" or ".join(options)], [" or ".join(brief)], options)
        lists = [[*first, *(f"netcalc read {file} {text}" for text in form)] for form in forms]
        fitting = [each for each in lists if max(map(len, each)) <= WIDTH - len("Next: ")]
        if fitting:
            break
    commands = fitting[0]
    if advice:
        return [*_wrapped("; ".join(advice), "Next"), *(f"  {command}" for command in commands)]
    return [f"Next: {commands[0]}", *(f"  {command}" for command in commands[1:])]
