"""The JSON of mtr: a report for each run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.document import member, number, rows, words
from netcalc.readers.format import Format, Input
from netcalc.readers.paths._reports import COLUMNS, Hop, Report, split_name, to_table
from netcalc.samples import Table


def _recognize(given: Input) -> bool:
    if not given.is_json:
        return False
    names = given.keys()
    return "report" in names or (not names and given.seen('"hubs"') and given.seen('"Loss%"'))


def _read(given: Input) -> Table:
    documents = given.json
    reports = [_report(one) for one in documents.documents if member(one, "report")]
    reports = [report for report in reports if report.hops]
    if not reports:
        if documents.fault is not None:
            raise documents.fault
        raise ReaderError("mtr-no-hop", file=given.name, field="hubs")
    warnings = list(documents.warnings)
    if documents.fault is not None:
        at = documents.fault.values
        cut = {"line": at.get("line"), "offset": at.get("offset")}
        warnings.append(Notice("mtr-document-cut", cut))
        reports[-1].partial = True
    return to_table(given, reports, "mtr", warnings)


def _report(document: Any) -> Report:
    about = member(document, "report", "mtr")
    made = Report(target=words(about, "dst"), host=words(about, "src"))
    for index, hub in enumerate(rows(member(document, "report"), "hubs"), 1):
        made.hops.append(_hop(hub, index))
    return made


def _hop(hub: Mapping[str, Any], index: int) -> Hop:
    """Return one hop: its number is text in old versions."""
    count = number(hub, "count")
    if count != count and words(hub, "count").isdecimal():
        count = float(words(hub, "count"))
    node, name = split_name(words(hub, "host", "ip"))
    made = Hop(count if count >= 1 else float(index), node, name)
    for heading, value in hub.items():
        known = COLUMNS.get(str(heading).strip().lower())
        if known is not None and not isinstance(value, bool) and isinstance(value, int | float):
            made.values[known[0]] = number(hub, heading) * known[1]
    return made


FORMAT = Format(
    name="mtr JSON",
    description="mtr JSON",
    recognize=_recognize,
    read=_read,
    traps=(
        "The number of a hop is text up to version 0.92 and a number later.",
        "Times are in milliseconds, a loss in percent.",
        "A hop that never answered has times of 0 in the file, and none here.",
        "Loss at a hop is not loss of the path, and is not called so.",
        "An empty list of hops is not a measurement.",
    ),
)
