"""Runs of a tool that traces a path, and what is known of each hop.

A run is either single probes (:class:`Trace`, traceroute) or a report with a row for each hop
(:class:`Report`, mtr); :func:`hop_rows` makes the same rows of both.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import inf, isnan, nan
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Input, columns_of, groups_of, joined
from netcalc.readers.source import no_measurement, note, shorten
from netcalc.samples import Fact, PathSamples, Samples, Table, fact_row

ADDRESS = re.compile(
    r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f.]{0,15}){2,8}(?:%\w+)?"
)

REFUSALS = re.compile(r"!\S+")
"""Marks of an answer that ends the path: unreachable or prohibited."""
_OF_OTHERS = re.compile(r"![HN?]")
"""Marks that no target prints of itself, where its address is unknown."""
_UNREACHABLE = {0: "!N", 1: "!H", 2: "!P", 3: "", 4: "!F", 5: "!S", 9: "!X", 10: "!X", 13: "!X"}
_UNREACHABLE_IPV6 = {0: "!N", 1: "!X", 2: "!S", 3: "!H", 4: ""}
UNNAMED = "!?"
"""Mark of an answer that ends the path, where the tool's words do not say why in English."""


def icmp_mark(kind: float, code: float, *, ipv6: bool) -> str:
    """Return the mark that traceroute prints of an ICMP message; none if it goes on or arrived.

    >>> [icmp_mark(3, 1, ipv6=False), icmp_mark(1, 3, ipv6=True), icmp_mark(11, 0, ipv6=False)]
    ['!H', '!H', '']
    >>> [icmp_mark(3, 3, ipv6=False), icmp_mark(3, 0, ipv6=True), icmp_mark(3, 14, ipv6=False)]
    ['', '', '!<14>']
    """
    if ipv6 and kind == 2:
        return "!F"
    if kind != (1 if ipv6 else 3):
        return ""
    return (_UNREACHABLE_IPV6 if ipv6 else _UNREACHABLE).get(int(code), f"!<{code:.0f}>")


@dataclass(slots=True)
class HopProbe:
    """One probe, as :class:`netcalc.samples.PathSamples` has it."""

    hop: float
    rtt_s: float = nan
    lost: bool = False
    node: str = ""
    node_name: str = ""
    mark: str = ""
    group: str = ""
    sequence: float = nan
    ttl: float = nan
    resolution_s: float = 0.0

    def add_mark(self, mark: str) -> None:
        """Add what the tool says of the answer."""
        self.mark = f"{self.mark} {mark}".strip()


@dataclass(slots=True)
class Trace:
    """One run to one target."""

    target: str = ""
    address: str = ""
    limit: int = 0
    packet_bytes: float = nan
    """Size of the probes with their headers, where the tool says it."""
    path_mtu_bytes: float = nan
    ended: bool = False
    gave_up: bool = False
    """Whether the tool says that it stopped before the target answered."""
    cut: bool = False
    has_header: bool = False
    protocol: str = ""
    group: str = ""
    probes: list[HopProbe] = field(default_factory=list)

    @property
    def last_hop(self) -> float:
        """The hop of the last probe so far; -1 before the first, nan if it is unknown."""
        return self.probes[-1].hop if self.probes else -1.0

    @property
    def highest_hop(self) -> int:
        """The highest hop that was tried."""
        return int(max((probe.hop for probe in self.probes if not isnan(probe.hop)), default=0))

    def number(self) -> None:
        """Number the probes of each hop."""
        seen: dict[float, int] = {}
        for probe in self.probes:
            seen[probe.hop] = seen.get(probe.hop, 0) + 1
            if isnan(probe.sequence):
                probe.sequence = seen[probe.hop]

    @property
    def refusal(self) -> HopProbe | None:
        """The answer that says the target is unreachable; None if the target answered, or nobody.

        It is one of the last hop that answered; what the target itself says is an arrival.
        """
        answers = [probe for probe in self.probes if not probe.lost]
        last = [probe for probe in answers if _same(probe.hop, answers[-1].hop)]
        if any(map(self._is_target, last)):
            return None
        marks = REFUSALS if self._has_address else _OF_OTHERS
        return next((probe for probe in last if marks.search(probe.mark)), None)

    @property
    def is_missed(self) -> bool:
        """Whether the target was surely not reached."""
        if self.gave_up or self.refusal is not None:
            return True
        is_over = bool(self.limit) and self.last_hop >= self.limit
        return is_over and self._has_address and not self._is_reached

    @property
    def ends_in_a_hop(self) -> bool:
        """Whether the last hop has fewer probes than another."""
        counts = Counter(probe.hop for probe in self.probes)
        return counts[self.last_hop] < max(counts.values(), default=0)

    @property
    def partial(self) -> bool:
        """Whether the run ended before its target, with hops left to try."""
        if self.cut or not self.probes or self.refusal is not None or self.gave_up:
            return True
        if self.ended or (self.limit and self.last_hop >= self.limit):
            return False
        return not self._is_reached

    @property
    def _is_reached(self) -> bool:
        return any(self._is_target(p) for p in self.probes if _same(p.hop, self.last_hop))

    @property
    def _has_address(self) -> bool:
        return any(map(ADDRESS.fullmatch, (self.target, self.address)))

    def _is_target(self, probe: HopProbe) -> bool:
        ends = {self.target.lower(), self.address.lower()} - {""}
        return bool({probe.node.lower(), probe.node_name.lower()} & ends)


def _same(hop: float, other: float) -> bool:
    """Whether two numbers of hops are the same; unknown ones are."""
    return hop == other or (isnan(hop) and isnan(other))


MOST_MISSED = 3
"""Runs without their target of which each is told how it ended."""


def missed_targets(traces: Sequence[Trace]) -> list[Notice]:
    """Return warnings about the targets that were not reached: who said so, or how far it went."""
    missed = [trace for trace in traces if trace.is_missed]
    if len(missed) > MOST_MISSED:
        targets = [trace.group or trace.target for trace in missed]
        return [Notice("targets-not-reached", {"count": len(missed), "targets": targets})]
    notices = []
    for trace in missed:
        values: dict[str, Any] = {"target": trace.target or trace.group or "the target"}
        if trace.refusal is not None:
            hop = "?" if isnan(trace.refusal.hop) else f"{trace.refusal.hop:.0f}"
            node = trace.refusal.node or trace.refusal.node_name or "?"
            values |= {"hop": hop, "node": shorten(node, 100), "mark": trace.refusal.mark}
            notices.append(Notice("target-unreachable", values))
        else:
            notices.append(Notice("target-not-reached", {**values, "hop": trace.highest_hop}))
    return notices


def facts_of(
    trace: Trace, samples: PathSamples, rows: NDArray[np.int64] | None = None
) -> dict[str, Fact]:
    """Return the row of facts of one run; where it missed its target, without a last round trip.

    ``rows`` are its rows of the samples, where they are known.
    """
    counted = samples.hop_facts(trace.group, rows)
    if trace.is_missed:
        counted.pop("last_hop_rtt_median_s", None)
    return {
        **fact_row(group=trace.group, target=trace.target, protocol=trace.protocol),
        **counted,
        **fact_row(
            packet_bytes=trace.packet_bytes,
            path_mtu_bytes=trace.path_mtu_bytes,
            partial=trace.partial,
        ),
    }


def warnings_of(file: Input, warnings: Sequence[Notice]) -> tuple[Notice, ...]:
    """Return warnings, with that of a file that grew, which the text of a file already has."""
    grew = Notice("file-grew")
    return (grew, *warnings) if file.unpacked.grew and grew not in warnings else tuple(warnings)


def no_hop(file: Input, tool: str) -> ReaderError:
    """Return the error about a text of a tool without a hop, or with lines too long to be read."""
    if file.text.too_long:
        return no_measurement("no-path", file.unpacked, file.text)
    return file.refusal("no-path", tool=tool)


MOST_HOPS = 255
"""Hops that a TTL counts; more come of damage."""


def hops_without_line(runs: Iterable[Sequence[HopProbe | ReportedHop]]) -> list[Notice]:
    """Return the warning about hops whose line was lost, if any: a tool prints each of them."""
    missing: set[int] = set()
    for run in runs:
        listed = [int(each.hop) for each in run if each.hop <= MOST_HOPS]
        if listed != sorted(listed):
            continue  # tracepath prints a late answer in the place of another hop
        hops = set(listed)
        missing |= set(range(min(hops, default=0), max(hops, default=0))) - hops
    values = {"count": len(missing), "listed": shorten(", ".join(map(str, sorted(missing))), 60)}
    return [Notice("hops-without-line", values)] if missing else []


def short_rows(traces: Iterable[Trace]) -> list[Notice]:
    """Return the warning about hops with fewer probes than others, where a tool sends the same."""
    short: list[str] = []
    for trace in traces:
        counts = Counter(probe.hop for probe in trace.probes)
        usual = max(counts.values(), default=0)
        ended = {probe.hop for probe in trace.probes if probe.mark}
        ended |= {trace.last_hop} if trace.cut else set()
        short += [f"{hop:.0f}" for hop, n in counts.items() if n < usual and hop not in ended]
    values = {"count": len(short), "listed": shorten(", ".join(short), 60)}
    return [Notice("hops-with-fewer-probes", values)] if short else []


def _lines_lost(
    runs: Iterable[Sequence[HopProbe | ReportedHop]], warnings: Iterable[Notice]
) -> list[Notice]:
    """Return the warning about hops without a line; none where lines are told that are unread."""
    is_told = any(notice.code == "path-lines-unread" for notice in warnings)
    return [] if is_told else hops_without_line(runs)


def to_samples(
    file: Input,
    traces: Sequence[Trace],
    tool: str,
    warnings: Sequence[Notice] = (),
    *,
    has_lost: bool = True,
    **meta: Any,
) -> PathSamples:
    """Return the probes of all runs as one container, with a row of facts for each.

    Without the lost probes (``has_lost``) nobody knows how many probes there were.
    """
    targets = [trace.target for trace in traces]
    groups = groups_of(targets)
    for trace, group in zip(traces, groups, strict=True):
        trace.group = trace.group or group
        trace.number()
        for probe in trace.probes:
            probe.group = trace.group
    probes = [probe for trace in traces for probe in trace.probes]
    columns: dict[str, Any] = columns_of(HopProbe, probes)
    if not np.any(columns["resolution_s"]):
        columns["resolution_s"] = []
    bare = PathSamples(**columns)
    rows_of, none = bare.rows_by_group(), np.empty(0, np.int64)
    facts = tuple(facts_of(trace, bare, rows_of.get(trace.group, none)) for trace in traces)
    for row in facts if not has_lost else ():
        row.pop("probe_count", None)
    said = list(warnings)
    said += _lines_lost([trace.probes for trace in traces], warnings) if has_lost else []
    said += missed_targets(traces)
    note(said, "waits-for-address", count=int(bare.waited.sum()))
    meta_of_runs = file.meta(
        tool,
        targets,
        nodes=columns["node"],
        facts=facts,
        warnings=warnings_of(file, said),
        partial=any(trace.partial for trace in traces),
        **meta,
    )
    return PathSamples(**columns, meta=meta_of_runs)


UNKNOWN = "???"

HEADINGS: Mapping[str, tuple[str, float]] = {
    # as mtr heads it -> the column, and what makes it SI
    "loss%": ("loss_ratio", 0.01),
    "drop": ("lost_count", 1.0),
    "rcv": ("reply_count", 1.0),
    "snt": ("probe_count", 1.0),
    "last": ("rtt_last_s", 1e-3),
    "best": ("rtt_min_s", 1e-3),
    "avg": ("rtt_mean_s", 1e-3),
    "wrst": ("rtt_max_s", 1e-3),
    "stdev": ("rtt_std_s", 1e-3),
    "gmean": ("rtt_geometric_mean_s", 1e-3),
    "jttr": ("jitter_last_s", 1e-3),
    "javg": ("jitter_mean_s", 1e-3),
    "jmax": ("jitter_max_s", 1e-3),
    "jint": ("jitter_s", 1e-3),
    # of pathping
    "this node": ("node_lost_count", 1.0),
    "this link": ("link_lost_count", 1.0),
}
UNITS: Mapping[str, str] = {
    "hop": "1",
    **{name: {"_s": "s", "io": "ratio"}.get(name[-2:], "1") for name, _ in HEADINGS.values()},
}


@dataclass(slots=True)
class ReportedHop:
    """One hop of a report."""

    hop: float
    node: str = ""
    node_name: str = ""
    values: dict[str, float] = field(default_factory=dict)
    group: str = ""
    further: list[str] = field(default_factory=list)
    """Names or addresses of other nodes that answered at this hop."""

    def settle(self) -> int:
        """Make unknown what a hop cannot have; return how many of its numbers are implausible.

        These are times without a reply, which are 0 in the file, and numbers that no hop has.
        """
        values, implausible = self.values, 0
        answered = not (values.get("loss_ratio", nan) >= 1.0 or values.get("reply_count") == 0)
        for name, value in values.items():
            if value < 0 or (name == "loss_ratio" and value > 1.0):
                values[name], implausible = nan, implausible + 1
            elif not answered and name.startswith(("rtt_", "jitter_")):
                values[name] = nan
        return implausible

    @property
    def responds(self) -> bool:
        """Whether any probe of the hop was answered."""
        if not isnan(self.values.get("reply_count", nan)):
            return self.values["reply_count"] > 0
        if not isnan(self.values.get("loss_ratio", nan)):
            return self.values["loss_ratio"] < 1.0
        return bool(self.node or self.node_name)


@dataclass(slots=True)
class Report:
    """What one run says of its hops."""

    target: str = ""
    address: str = ""
    host: str = ""
    start: str = ""
    group: str = ""
    packet_bytes: float = nan
    partial: bool = False
    refusal: tuple[str, str, str] | None = None
    """Hop and node that report the target as unreachable, and the mark for it."""
    hops: list[ReportedHop] = field(default_factory=list)

    @property
    def is_missed(self) -> bool:
        """Whether others answered, but the last hop did not, where a target that answers is."""
        return any(hop.responds for hop in self.hops) and not self.hops[-1].responds

    def facts(self) -> dict[str, Fact]:
        """Return the row of facts. Loss at a hop is not loss of the path, so none is given."""
        return fact_row(
            group=self.group,
            target=self.target,
            hop_count=max((hop.hop for hop in self.hops), default=0),
            responding_hop_count=len({hop.hop for hop in self.hops if hop.responds})
            if not any(isnan(hop.hop) for hop in self.hops)
            else sum(hop.responds for hop in self.hops),
            packet_bytes=self.packet_bytes,
            partial=self.partial,
        )


def table_of_text(
    file: Input, reports: Iterable[Report], tool: str, *, code: str, unread: Sequence[int],
    has_numbers: bool = True,
) -> Table:  # fmt: skip
    """Return the reports of a text that have hops; refuse a text without one by its ``code``."""
    reports = [report for report in reports if report.hops]
    if not reports:
        raise no_measurement(code, file.unpacked, file.text)
    warnings = list(file.text.warnings)
    note(warnings, "path-lines-unread", numbers=unread)
    if not has_numbers:
        warnings.append(Notice("hops-not-numbered"))
    return to_table(file, reports, tool, warnings)


def to_table(
    file: Input,
    reports: Sequence[Report],
    tool: str,
    warnings: Sequence[Notice] = (),
    **meta: Any,
) -> Table:
    """Return the hops of all reports as one table, and a row of facts for each."""
    implausible = 0
    targets = [report.target for report in reports]
    groups = groups_of(targets)
    for report, group in zip(reports, groups, strict=True):
        report.group = group
        for hop in report.hops:
            hop.group = group
            implausible += hop.settle()
    data = _columns([hop for report in reports for hop in report.hops])
    said = [*warnings, *_lines_lost([report.hops for report in reports], warnings)]
    note(said, "implausible-hops", count=implausible)
    for report in reports:
        target = report.target or report.group or "the target"
        if report.refusal is not None:
            values = dict(zip(("hop", "node", "mark"), report.refusal, strict=True))
            said.append(Notice("target-unreachable", {"target": target, **values}))
        elif not report.partial and report.is_missed:
            values = {"target": target, "hop": f"{report.hops[-1].hop:.0f}"}
            said.append(Notice("target-not-reached", values))
    return Table(
        data=data,
        meta=file.meta(
            tool,
            targets,
            nodes=data["node"],
            host=joined(report.host for report in reports),
            start=reports[0].start if len(reports) == 1 else "",
            units={name: unit for name, unit in UNITS.items() if name in data},
            facts=tuple(report.facts() for report in reports),
            warnings=warnings_of(file, said),
            partial=any(report.partial for report in reports),
            **meta,
        ),
    )


def _columns(hops: Sequence[ReportedHop]) -> dict[str, list[Any]]:
    """Return the columns of a table of hops, without those that no hop has."""
    texts = {
        "node_name": [hop.node_name for hop in hops],
        "further_nodes": [", ".join(hop.further) for hop in hops],
        "group": [hop.group for hop in hops],
    }
    printed = {name for hop in hops for name in hop.values}
    return {
        "hop": [hop.hop for hop in hops],
        "node": [hop.node for hop in hops],
        **{name: column for name, column in texts.items() if any(column)},
        **{
            name: [hop.values.get(name, nan) for hop in hops]
            for name, _ in HEADINGS.values()
            if name in printed
        },
    }


_FIGURE = re.compile(r"-?[0-9]+(?:[.,][0-9]+)?(?:e[-+]?[0-9]+)?")


def figure(heading: str, written: str) -> tuple[str, float] | None:
    """Return the column and the SI value of a cell; None if its heading or number is none.

    >>> figure("Loss%", "12.5%"), figure("Avg", "1.5"), figure("Avg", "1.5x"), figure("x", "1")
    (('loss_ratio', 0.125), ('rtt_mean_s', 0.0015), None, None)
    """
    column = HEADINGS.get(heading.strip().lower())
    number = _FIGURE.fullmatch(written.strip().removesuffix("%"))
    if column is None or number is None:
        return None
    name, factor = column
    return name, float(number[0].replace(",", ".")) * factor


def read_figures(file: Input, line: int, cells: Iterable[tuple[str, str]]) -> dict[str, float]:
    """Return the values of a hop by column, from pairs of heading and cell."""
    values: dict[str, float] = {}
    for heading, written in cells:
        cell = figure(heading, written)
        if cell is None:
            raise file.refusal("mtr-unreadable", line=line, field=heading, value=shorten(written))
        values[cell[0]] = cell[1]
    return values


def is_heading(word: str) -> bool:
    """Whether a word heads a column of mtr."""
    return word.strip().lower() in HEADINGS


def split_name(text: str) -> tuple[str, str]:
    """Return the address and the name in ``name (address)``, or the one given; ``???`` is neither.

    >>> split_name("a.example (192.0.2.1)"), split_name("192.0.2.1"), split_name("???")
    (('192.0.2.1', 'a.example'), ('192.0.2.1', ''), ('', ''))
    """
    text = text.strip()
    if text in ("", UNKNOWN):
        return "", ""
    both = re.fullmatch(r"(\S.*?) \(([^()\s]+)\)", text)
    return (both[2], both[1]) if both else (text, "")


@dataclass(frozen=True, slots=True)
class HopRow:
    """What is known of one hop; nan and empty where it did not answer, or the tool says nothing.

    Parameters
    ----------
    group : str
        Run or target, where the file has several.
    hop : int or None
        Number of the hop, from 1; None where the target answered a last try of unknown hops.
    node : str
        Who answered; several addresses are joined by a blank.
    sent_count : float
        Probes. [1]
    loss_ratio : float
        Share of them without an answer. [ratio]
    rtt_min_s, rtt_median_s, rtt_mean_s, rtt_max_s : float
        Round trips to the hop; of single probes there is no mean, of a report no median. [s]
    increase_s : float
        What the hop adds to the least round trip that no later hop undercuts; of a report without
        least times, to the mean one. [s]
    answers_slowly : bool
        Whether a later hop was reached in less time: the hop takes its time to answer.
    """

    group: str
    hop: int | None
    node: str
    sent_count: float
    loss_ratio: float
    rtt_min_s: float
    rtt_median_s: float
    rtt_mean_s: float
    rtt_max_s: float
    increase_s: float = nan
    answers_slowly: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the row with None for what is not known."""
        return {
            name: None if isinstance(value, float) and isnan(value) else value
            for name, value in asdict(self).items()
        }


def hop_rows(samples: Samples) -> tuple[HopRow, ...]:
    """Return a row for each hop of each run of a path; none for another kind of samples.

    Parameters
    ----------
    samples : Samples
        What a reader made of traceroute, tracepath, tracert, mtr or pathping.

    Returns
    -------
    tuple of HopRow
        In the order of the runs and their hops. An increase holds for a path on which each answer
        comes back the same way: it may be that of the way back, and a hop without answer hands its
        own on to the next.
    """
    if isinstance(samples, PathSamples):
        rows = _of_probes(samples)
    elif isinstance(samples, Table) and {"hop", "node"} <= samples.columns().keys():
        rows = _of_report(samples)
    else:
        return ()
    by_group: dict[str, list[HopRow]] = {}
    for row in rows:
        by_group.setdefault(row.group, []).append(row)
    return tuple(row for own in by_group.values() for row in _with_increases(own))


def _of_probes(samples: PathSamples) -> list[HopRow]:
    hops, nodes, times, lost = (
        np.asarray(column) for column in (samples.hop, samples.node, samples.rtt_s, samples.lost)
    )
    measured = samples.measured
    hops_read = []
    for name, own in samples.rows_by_group().items():
        for number in np.unique(hops[own]):
            mine = own[np.isnan(hops[own]) if isnan(number) else hops[own] == number]
            rtt = times[mine[measured[mine]]].astype(float)
            who = " ".join(filter(None, dict.fromkeys(nodes[mine].tolist())))
            hop = None if isnan(number) else int(number)
            counts = float(mine.size), float(lost[mine].mean())
            hops_read.append(HopRow(name, hop, who, *counts, *_spread(rtt)))
    return hops_read


def _spread(rtt_s: FloatArray) -> tuple[float, float, float, float]:
    """Return least, median, no mean, and largest."""
    if not rtt_s.size:
        return nan, nan, nan, nan
    times = rtt_s.tolist()  # few: numpy's median of three takes as long as that of a thousand
    return min(times), median(times), nan, max(times)


def _of_report(table: Table) -> list[HopRow]:
    columns = table.columns()
    count = len(table)

    def numbers(name: str) -> list[float]:
        return [float(value) for value in columns.get(name, np.full(count, nan))]

    def texts(name: str) -> list[str]:
        return [str(value) for value in columns.get(name, np.full(count, ""))]

    nodes = [node_ or other for node_, other in zip(texts("node"), texts("node_name"), strict=True)]
    names = ("probe_count", "loss_ratio", "rtt_min_s", "rtt_median_s", "rtt_mean_s", "rtt_max_s")
    return [
        HopRow(group, None if isnan(hop) else int(hop), node, *values)
        for group, hop, node, *values in zip(
            texts("group"), numbers("hop"), nodes, *map(numbers, names), strict=True
        )
    ]


def _with_increases(rows: list[HopRow]) -> list[HopRow]:
    """Return the hops of one run with what each adds."""
    rows = sorted(rows, key=lambda row: inf if row.hop is None else row.hop)
    least = np.array([row.rtt_min_s for row in rows])
    if np.isnan(least).all():
        least = np.array([row.rtt_mean_s for row in rows])
    filled = np.where(np.isnan(least), inf, least)
    reached = np.minimum.accumulate(filled[::-1])[::-1]
    increased, before = [], 0.0
    for row, own, path in zip(rows, least.tolist(), reached.tolist(), strict=True):
        increase = nan
        if not isnan(own):
            increase, before = path - before, path
        values = {name: getattr(row, name) for name in row.__slots__}
        increased.append(HopRow(**{**values, "increase_s": increase, "answers_slowly": own > path}))
    return increased
