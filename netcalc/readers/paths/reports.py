"""What mtr reports of each hop: its columns in SI units, however they are ordered and written."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Input
from netcalc.readers.source import shorten
from netcalc.samples import Fact, Meta, Table, fact_row

NAN = math.nan
UNKNOWN = "???"

COLUMNS: Mapping[str, tuple[str, float]] = {
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
    **{name: {"_s": "s", "io": "ratio"}.get(name[-2:], "1") for name, _ in COLUMNS.values()},
}


@dataclass(slots=True)
class Hop:
    """One hop of a report."""

    hop: float
    node: str = ""
    node_name: str = ""
    values: dict[str, float] = field(default_factory=dict)
    group: str = ""
    further: list[str] = field(default_factory=list)
    """Names or addresses of other nodes that answered at this hop."""

    def settle(self) -> None:
        """Make unknown what a hop cannot have: times without a reply, a share above all."""
        values = self.values
        loss = values.get("loss_ratio", NAN)
        if loss >= 1.0 or values.get("reply_count") == 0:
            for name in values:
                if name.startswith(("rtt_", "jitter_")):
                    values[name] = NAN
        for name, value in values.items():
            if value < 0 or (name == "loss_ratio" and value > 1.0):
                values[name] = NAN

    @property
    def responds(self) -> bool:
        """Whether any probe of the hop was answered."""
        if not math.isnan(self.values.get("reply_count", NAN)):
            return self.values["reply_count"] > 0
        if not math.isnan(self.values.get("loss_ratio", NAN)):
            return self.values["loss_ratio"] < 1.0
        return bool(self.node or self.node_name)


@dataclass(slots=True)
class Report:
    """What one run says of its hops."""

    target: str = ""
    host: str = ""
    start: str = ""
    group: str = ""
    partial: bool = False
    implausible: int = 0
    hops: list[Hop] = field(default_factory=list)

    def facts(self) -> dict[str, Fact]:
        """Return the row of facts. Loss at a hop is not loss of the path, so none is given."""
        return fact_row(
            group=self.group,
            target=self.target,
            hop_count=max((hop.hop for hop in self.hops), default=0),
            responding_hop_count=len({hop.hop for hop in self.hops if hop.responds}),
            partial=self.partial,
        )


def to_table(
    file: Input,
    reports: Sequence[Report],
    tool: str,
    warnings: Sequence[Notice] = (),
    **meta: Any,
) -> Table:
    """Return the hops of all reports as one table, and a row of facts for each."""
    if len(reports) > 1:
        targets = [report.target for report in reports]
        distinct = len(set(targets)) == len(targets) and all(targets)
        for number, report in enumerate(reports, 1):
            report.group = report.target if distinct else f"run {number}"
    hops = []
    implausible = 0
    for report in reports:
        for hop in report.hops:
            hop.group = report.group
            before = dict(hop.values)
            hop.settle()
            implausible += sum(
                not _can_be(name, value) for name, value in before.items() if value == value
            )
            hops.append(hop)
    data: dict[str, Any] = {
        "hop": [hop.hop for hop in hops],
        "node": [hop.node for hop in hops],
        "node_name": [hop.node_name for hop in hops],
    }
    if any(hop.further for hop in hops):
        data["further_nodes"] = [", ".join(hop.further) for hop in hops]
    if len(reports) > 1:
        data["group"] = [hop.group for hop in hops]
    for name, _ in COLUMNS.values():
        if any(name in hop.values for hop in hops):
            data[name] = [hop.values.get(name, NAN) for hop in hops]
    said = list(warnings)
    if implausible:
        said.append(Notice("implausible-hops", {"count": implausible}))
    source = file.unpacked
    targets = list(dict.fromkeys(report.target for report in reports if report.target))
    hosts = list(dict.fromkeys(report.host for report in reports if report.host))
    return Table(
        data={name: column for name, column in data.items() if name != "node_name" or any(column)},
        meta=Meta(
            tool=tool,
            host=shorten(", ".join(hosts), 200),
            target=shorten(", ".join(targets), 200),
            start=reports[0].start if len(reports) == 1 else "",
            source=source.name if source.is_file else "",
            sha256=source.sha256,
            units={name: unit for name, unit in UNITS.items() if name in data},
            facts=tuple(report.facts() for report in reports),
            warnings=tuple(said),
            partial=source.grew or any(report.partial for report in reports),
            **meta,
        ),
    )


def _can_be(name: str, value: float) -> bool:
    return value >= 0 and not (name == "loss_ratio" and value > 1.0)


_NUMBER = re.compile(r"-?[0-9]+(?:[.,][0-9]+)?(?:e[-+]?[0-9]+)?")


def figure(heading: str, written: str) -> tuple[str, float] | None:
    """Return the column and the SI value of a cell; None if its heading or number is none.

    >>> figure("Loss%", "12.5%"), figure("Avg", "1.5"), figure("Avg", "1.5x"), figure("x", "1")
    (('loss_ratio', 0.125), ('rtt_mean_s', 0.0015), None, None)
    """
    column = COLUMNS.get(heading.strip().lower())
    number = _NUMBER.fullmatch(written.strip().removesuffix("%"))
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
            raise ReaderError(
                "mtr-unreadable", file=file.name, line=line, field=heading,
                value=shorten(written),
            )  # fmt: skip
        values[cell[0]] = cell[1]
    return values


def is_heading(word: str) -> bool:
    """Whether a word heads a column of mtr."""
    return word.strip().lower() in COLUMNS


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
