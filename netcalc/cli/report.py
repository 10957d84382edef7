"""The report of samples, read from a file or measured just now: text, tables and JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, TypeGuard

import numpy as np

from netcalc import compare, display, explain, fit, readers
from netcalc import samples as kinds
from netcalc.checks import in_blocks
from netcalc.cli import print_json, say
from netcalc.cli.output import cell, meta_of, print_rows, print_table
from netcalc.errors import ReaderError
from netcalc.explain import Known
from netcalc.messages import Notice
from netcalc.models.sizes.framing import ethernet_frame_bytes
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES
from netcalc.printable import excerpt, printable
from netcalc.rate_layers import LINE
from netcalc.readers.paths.traces import HopRow, hop_rows
from netcalc.readers.places import (
    MeasuringPoint,
    layers_of_row,
    places_of_rows,
    probes,
    rate_layer,
)
from netcalc.samples.meta import OF_COLUMNS
from netcalc.units import show, show_rate


def print_samples(
    name: str, samples: kinds.Samples, *, as_json: bool, path_facts: Known | None = None
) -> None:
    """Print the report of a file or a run; with known facts of the path, theory too."""
    metrics = metric_rows(samples, path_facts)
    if as_json:
        print_json({**summary(name, samples), "metrics": metrics})
        return
    if is_truth(samples):
        from netcalc.cli.validate import print_truth  # late: it loads the experiments

        say(heading(name, samples))
        print_truth(samples)
        return
    say(describe(name, samples))
    if compare.is_router_queue(samples):
        for compared in (compare.waits, compare.arrival_gaps, compare.arrival_batches):
            say(f"  {compared(samples).sentence}")
        return
    for row in metrics[:MOST_RUNS]:
        label = row["label"]
        numbers = {key: value for key, value in row.items() if key not in ("label", "layer")}
        text = metric_line(numbers, layer=row["layer"])
        say(f"  {f'{printable(label)}: ' if label else ''}{text}")
    if isinstance(samples, kinds.Table) and is_unknown(samples) and not is_explained(samples):
        for notice in explain.described(samples):
            say(f"  {printable(str(notice))}")
    if isinstance(samples, kinds.HopSamples):
        rows = (link.texts() for link in fit.links(samples).links)
        print_rows(fit.LINK_HEADINGS, rows, whole_numbers=True)
    print_hops(samples)


def is_explained(samples: kinds.Samples) -> bool:
    """Whether ``netcalc explain`` has something to say of samples."""
    if not isinstance(samples, kinds.Table):
        return True
    try:
        return bool(explain.measurement(samples, None))
    except ReaderError:
        return False


def is_unknown(table: kinds.Table) -> bool:
    """Whether nothing is known of a table but its columns."""
    return all(map(is_unknown_row, table.facts()))


def is_unknown_row(row: Mapping[str, Any]) -> bool:
    """Whether a row of facts has only those of columns."""
    counted = {"row_count", "column_count", "partial", "group"}
    return all(name in counted or name.startswith(OF_COLUMNS) for name in row)


def metric_rows(samples: kinds.Samples, path_facts: Known | None = None) -> list[dict[str, Any]]:
    """Return what judges each run: variation of delay, RFC 6349, and the share of a known line."""
    if is_truth(samples):
        return []
    try:
        findings = explain.measurement(samples, path_facts)
    except ReaderError:
        return []
    rows = []
    for finding in findings:
        numbers = dict(finding.metrics)
        line = next(
            (limit for limit in finding.limits if limit.name in ("line", "fragments")), None
        )
        if line is not None:
            numbers["line_ceiling_bps"] = line.value
        rows.append({"label": finding.label, "layer": finding.layer, **numbers})
    return [row for row in rows if len(row) > 2]


_RATIOS = ("efficiency_ratio", "line_share_ratio")


def metric_line(metrics: Mapping[str, float], *, layer: str) -> str:
    """Write metrics in one line: their names, and the numbers with their units and layer."""
    parts = []
    for name, value in metrics.items():
        stem, _, unit = name.rpartition("_")
        unit = {"bps": "bit/s", "s": "s"}.get(unit, "")
        shown = show(value, unit) if unit else f"{value:.4g}"
        if unit == "bit/s":
            shown = show_rate(value, layer)
        if name in _RATIOS:
            shown = f"{value:.1%}"
        what = stem if unit or name in _RATIOS else name
        parts.append(f"{_METRICS.get(name, what.replace('_', ' '))} {shown}")
    return "; ".join(parts)


_METRICS = {
    "jitter_s": "jitter (RFC 3550)",
    "ipdv_mean_s": "IPDV mean",
    "ipdv_max_s": "IPDV max",
    **{f"pdv_{percent}_s": f"PDV {percent}%" for percent in (50, 90, 95, 99)},
    **{f"rtt_{percent}_s": f"RTT {percent}%" for percent in (90, 95, 99)},
    "line_share_ratio": "share of the line's ceiling",
    "transfer_time_factor": "transfer time over the ideal (RFC 6349)",
    "efficiency_ratio": "TCP efficiency",
    "buffer_delay_factor": "buffer delay over the base",
    "line_ceiling_bps": "ceiling of the line",
}


def is_truth(samples: kinds.Samples) -> TypeGuard[kinds.Table]:
    """Whether this is a saved table of ``netcalc validate``."""
    return isinstance(samples, kinds.Table) and samples.meta.experiment == "truth"


def is_recording(samples: kinds.Samples) -> TypeGuard[kinds.Table]:
    """Whether this is a saved live run of a scenario."""
    return isinstance(samples, kinds.Table) and samples.meta.experiment == "congestion"


MOST_RUNS, MOST_FACTS = 5, 40
"""Rows of facts, and facts of a row, that the text shows; ``--json`` has all."""


def print_facts(samples: kinds.Samples) -> None:
    """Print the facts of a file: a line for each, a column for each run, its layer and side."""
    import rich.table  # late: calc and the help do without

    rows = samples.facts()
    names = list(dict.fromkeys(name for row in rows for name in row if name != "partial"))
    if not names:
        return
    table = rich.table.Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    for _ in range(1 + len(rows[:MOST_RUNS])):
        table.add_column()
    decimal, places = kinds.decimal_sizes(rows[:MOST_RUNS]), places_of_rows(samples)
    for name in names[:MOST_FACTS]:
        shown = [
            cell(fact_text(samples, row, name, binary=name not in decimal))
            if name in row
            else cell("")
            for row in rows[:MOST_RUNS]
        ]
        table.add_row(cell(excerpt(name)), *shown, cell(_place_text(places, name)))
    print_table(table)
    left = (len(rows) - MOST_RUNS, len(names) - MOST_FACTS)
    more = [f"{n} more {what}" for n, what in zip(left, ("runs", "facts"), strict=True) if n > 0]
    if more:
        say(f"  {' and '.join(more)}: --json has them")


def _place_text(rows: list[dict[str, MeasuringPoint]], name: str) -> str:
    """Write where a fact of all runs belongs; without the protocol where theirs differ."""
    places = {row[name] for row in rows if name in row}
    if len(places) > 1:
        places = {replace(fact_place, protocol="") for fact_place in places}
    return "; ".join(sorted(filter(None, map(str, places))))


def fact_text(
    samples: kinds.Samples, row: Mapping[str, Any], name: str, *, binary: bool = True
) -> str:
    """Write a fact with its unit, a rate with its layer; a count as it is."""
    value, unit = row[name], kinds.unit_of_fact(name)
    if unit == "bit/s":
        return show_rate(value, rate_layer(samples, row, name))
    if isinstance(value, str | bool) or unit is None:
        return excerpt(str(value))
    if unit == "1" and isinstance(value, int):
        return f"{value:,}"
    # A fact is a number: no object of another package.
    return display.show(value, unit, binary=binary)


def print_formats(*, as_json: bool) -> None:
    """Print the formats that are read, each with its traps."""
    if as_json:
        formats = [
            {"name": format_.name, "description": format_.description, "traps": list(format_.traps)}
            for format_ in readers.FORMATS
        ]
        print_json({"formats": formats})
        return
    for format_ in readers.FORMATS:
        say(f"{format_.name}: {format_.description}")
        for trap in format_.traps:
            say(f"  {trap}")


def summary(name: str, samples: kinds.Samples) -> dict[str, Any]:
    """Return the JSON document of one file."""
    document: dict[str, Any] = {
        "file": name,
        "kind": type(samples).__name__,
        "meta": meta_of(samples.meta),
        "facts": samples.facts(),
        "places": place_rows(samples),
        "layers": [layers_of_row(samples, row) for row in samples.facts()],
        "sent": None,
        "received": None,
        "duplicates": None,
        "errors": None,
        "partial": samples.meta.partial,
        "warnings": list(map(str, samples.meta.warnings)),
        "notices": [notice.stored() for notice in samples.meta.warnings],
        "rtt_s": {"count": 0, **_ends(np.empty(0))},
    }
    if hops := hop_rows(samples):
        document["hops"] = [row.as_dict() for row in hops]
    if isinstance(samples, kinds.RttSamples):
        rtt = samples.best_s
        document |= {
            "sent": samples.sent,
            "received": samples.received,
            "duplicates": samples.duplicates,
            "errors": samples.errors,
        }
        document["rtt_s"] = {"count": rtt.size, **_ends(rtt)}
    if isinstance(samples, kinds.TransactionSamples):
        document["modes"] = {}
        for mode in samples.modes:
            times = np.asarray(samples.response_s)[samples.in_mode(mode)]
            failed = np.asarray(samples.failed) & (samples.mode == mode)
            spread = {"count": times.size, "failed": int(failed.sum()), **_ends(times)}
            document["modes"][mode] = spread
    if isinstance(samples, kinds.BulkSamples):
        layer = rate_layer(samples, {}, "goodput_bps")
        document["settings"] = [{**row, "layer": layer} for row in samples.by_setting()]
    if isinstance(samples, kinds.HopSamples):
        document |= {"sent": len(samples), "received": int(samples.measured.sum())}
        document["links"] = [{**row, "layer": LINE} for row in fit.links(samples).rows()]
    if isinstance(samples, kinds.TrainSamples):
        document |= {"sent": len(samples), "received": len(samples) - samples.lost_count}
        document["bottleneck"] = {**asdict(fit.bottleneck(samples)), "layer": fit.TRAIN_LAYER}
    return document


def place_rows(samples: kinds.Samples) -> list[dict[str, dict[str, str]]]:
    """Return protocol, layer, side and way of the facts of each row that belong somewhere."""
    return [
        {
            name: asdict(fact_place)
            for name, fact_place in row.items()
            if fact_place != MeasuringPoint()
        }
        for row in places_of_rows(samples)
    ]


def describe(name: str, samples: kinds.Samples) -> str:
    """Return the text of one file."""
    lines = [heading(name, samples), *body_lines(samples)]
    return "\n".join(lines + warning_lines(samples.meta))


def body_lines(samples: kinds.Samples, *, brief: bool = False) -> list[str]:
    """Return what is said of samples, theory among it, without their facts and warnings.

    ``brief`` leaves out what is odd, and notes on the meaning of numbers.
    """
    lines: list[str] = []
    if isinstance(samples, kinds.RttSamples):
        lines += _probe_lines(samples, brief=brief)
    if isinstance(samples, kinds.TransactionSamples):
        lines += [f"  {sentence}" for sentence in mode_lines(samples)]
    if isinstance(samples, kinds.BulkSamples):
        lines += [f"  {sentence}" for sentence in setting_lines(samples)]
    if isinstance(samples, kinds.HopSamples | kinds.TrainSamples):
        lines.append(f"  {compare.overlay(samples).sentence}")
    if isinstance(samples, kinds.RttSamples | kinds.TransferSamples):
        if isinstance(samples, kinds.TransferSamples):
            parts = compare.transfer_groups(samples)
            if len(parts) > 1:
                for group, part in parts.items():
                    compared = compare.overlay(part)
                    lines.append(f"  {printable(group)}: {compared.sentence}")
                    lines += [] if brief else [f"  note: {note}" for note in _notes(compared)]
                return lines
        several = isinstance(samples, kinds.RttSamples) and len(samples.groups) > 1
        is_compared = not several or compare.is_working_latency(samples)
        comparison = compare.overlay(samples) if is_compared else None
        if brief and comparison and not np.size(comparison.measured):
            return lines
        lines += [f"  {comparison.sentence}"] if comparison else []
        lines += [] if brief else [f"  note: {note}" for note in _notes(comparison)]
    return lines


def _probe_lines(samples: kinds.RttSamples, *, brief: bool = False) -> list[str]:
    """Say how many probes were sent and answered, and the times of the first replies."""
    lost = samples.loss_ratio
    loss = "" if np.isnan(lost) else f" ({show(lost, 'ratio')} lost)"
    lines = [f"  sent {samples.sent}, received {samples.received}{loss}"]
    if not samples.sent and samples.sent_count is None:  # of a summary without the count
        answers = [row["received_count"] for row in samples.facts() if "received_count" in row]
        lines = [f"  received {answers[0]}"] if len(answers) == 1 else []
    if (samples.duplicates or samples.errors) and not brief:
        lines.append(f"  duplicates {samples.duplicates}, errors {samples.errors}")
    count = int(np.count_nonzero(samples.measured))
    if count:
        lines.append(f"  RTT of first replies: {_ends_text(samples.best_s)}")
        lines += [] if brief else _below_lines(samples)
    elif brief:
        return lines
    elif any("rtt_min_s" in row for row in samples.facts()):
        lines.append("  no probe has a time of its own: the times below are the tool's summary")
    else:
        lines.append("  no round-trip times")
    return lines if brief else [*lines, *timed_lines(samples)]


def timed_lines(samples: kinds.RttSamples) -> list[str]:
    """Say how many replies have a time, where not all of them have one."""
    count = int(np.count_nonzero(samples.measured))
    some = 0 < count < samples.received
    return [f"  {count} of {samples.received} replies have a time"] if some else []


def warning_lines(meta: kinds.Meta) -> list[str]:
    """Return that a measurement is incomplete, and what its reader warned of."""
    lines = ["  partial: the measurement is incomplete"] if meta.partial else []
    return lines + [f"  warning: {printable(str(warning))}" for warning in meta.warnings]


def _ends(times_s: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Return the least, the median and the largest time, of a copy that may be sorted. [s]"""
    if not times_s.size:
        return {"min": None, "median": None, "max": None}
    least, most = float(times_s.min()), float(times_s.max())
    median = float(np.median(times_s, overwrite_input=True))
    return {"min": least, "median": median, "max": most}


def _ends_text(times_s: np.ndarray[Any, Any]) -> str:
    return ", ".join(f"{name} {show(time_s, 's')}" for name, time_s in _ends(times_s).items())


def _below_lines(samples: kinds.RttSamples) -> list[str]:
    """Say what was made of a time that the tool prints as below its last digit."""
    columns = (np.asarray(samples.rtt_s), np.asarray(samples.resolution_s), samples.measured)
    count, widest, longest = 0, 0.0, 0.0
    for rtt, width, measured in in_blocks(*columns):
        below = measured & (width > 0) & (2 * rtt == width)
        if below.any():
            count += int(np.count_nonzero(below))
            widest = max(widest, float(width[below].max()))
            longest = max(longest, float(rtt[below].max()))
    if not count:
        return []
    times = "1 time" if count == 1 else f"{count} times"
    return [f"  {times} below {show(widest, 's')}, taken as {show(longest, 's')}"]


def _notes(comparison: compare.Comparison | None) -> tuple[Notice, ...]:
    """Return the notes of a fit, if there is one."""
    return comparison.fit.notes if comparison and comparison.fit else ()


def heading(name: str, samples: kinds.Samples) -> str:
    rows = f"{len(samples)} row{'s' * (len(samples) != 1)}"
    tool = excerpt(samples.meta.tool) or type(samples).__name__
    return f"{excerpt(name, 200)}: {tool}, {rows}"


_GRANTED = ("send_buffer_bytes", "receive_buffer_bytes")


def setting_lines(samples: kinds.BulkSamples) -> list[str]:
    """Return a line for each setting, and the comparison with theory."""
    if compare.is_router(samples):
        return router_lines(samples)
    lines, layer = [], rate_layer(samples, {}, "goodput_bps")
    for row in samples.by_setting():
        what = [f"writes of {show(row['write_bytes'], 'byte')}"]
        if samples.meta.experiment == "line_rate":
            frame = ethernet_frame_bytes(row["write_bytes"] + DATAGRAM_HEADERS_BYTES)
            data = show(row["write_bytes"], "byte")
            what = [f"frames of {show(float(frame), 'byte')} ({data} of data)"]
        if row["direction"]:
            what.insert(0, row["direction"])
        if not np.isnan(row["asked_buffer_bytes"]):
            asked = show(row["asked_buffer_bytes"], "byte")
            granted = [show(row[name], "byte") for name in _GRANTED if not np.isnan(row[name])]
            what.append(f"buffers of {asked} (granted {' and '.join(granted) or 'unknown'})")
        if row["pair_count"] > 1 or not np.isnan(row["cycle_s"]):
            what.append(f"pairs: {row['pair_count']:g}")
        rates = (
            f"sent {show_rate(row['sent_rate_bps'], layer)}, "
            f"{show(row['sent_rate_pps'], 'packet/s')}; "
            f"received {show_rate(row['goodput_bps'], layer)}"
        )
        if not np.isnan(row["loss_ratio"]):
            rates += f", {show(row['rate_pps'], 'packet/s')}, lost {row['loss_ratio']:.2%}"
        if not np.isnan(row["window_bytes"]):
            rates += f", {show(row['window_bytes'], 'byte')} seen in flight"
        parts = {"user": row["user_s"], "system": row["system_s"]}
        if np.isnan(row["system_s"]):  # not divided
            parts = {"CPU": row["user_s"]}
        used = ", ".join(f"{show(part_s, 's')} {name}" for name, part_s in parts.items())
        times = f"{show(row['wall_s'], 's')} wall, {used}"
        lines.append(f"{', '.join(what)}: {rates}; {times}; median of {row['run_count']}")
        places = {where: row[name] for where, name in kinds.DROP_PLACES.items() if row[name] > 0}
        if places:
            counts = [f"{where} {count:.0f}" for where, count in places.items()]
            lines[-1] += f"; dropped: {', '.join(counts)}"
        if row["limit"]:
            lines[-1] += f"; limited by: {row['limit']}"
    if len(samples):
        lines.append(compare.bulk(samples).sentence)
    return lines


def router_lines(samples: kinds.BulkSamples) -> list[str]:
    """Return what limits each direction, what else the run shows, and a line for each size.

    A line has the highest rate of each direction, and what a host reaches alone.
    """
    from netcalc.experiments import article_routers  # late: other reports run no experiment

    texts: dict[float, list[str]] = {}
    for name, regimes in compare.router_regimes(samples).items():
        for frame, pps in zip(regimes.x.tolist(), regimes.measured.tolist(), strict=True):
            texts.setdefault(frame, []).append(f"{name} {show(pps, 'packet/s')}")
    frame_of = dict(zip(samples.write_bytes, fit.frame_bytes(samples).tolist(), strict=True))
    for row in samples.by_setting():
        if row["direction"].endswith(" alone"):
            rate, sent = (show(row[name], "packet/s") for name in ("rate_pps", "sent_rate_pps"))
            text = f"{row['direction']} sends {sent}, receives {rate}"
            texts.setdefault(frame_of[row["write_bytes"]], []).append(text)
    verdicts = [each for every in compare.router_verdicts(samples).values() for each in every]
    notes = compare.router_notes(samples, devices=article_routers())
    said = [f"{each}." + f" {each.hint}." * bool(each.hint) for each in (*verdicts, *notes)]
    rates = [
        f"frames of {show(frame, 'byte')}: {'; '.join(texts[frame])}" for frame in sorted(texts)
    ]
    return said + rates


def mode_lines(samples: kinds.TransactionSamples) -> list[str]:
    """Return a line for each mode, and its comparison with theory."""
    lines = []
    for mode in samples.modes:
        times = np.asarray(samples.response_s)[samples.in_mode(mode)]
        if times.size:
            counted = f"{times.size} time{'s' * (times.size != 1)}"
            lines.append(f"{mode}: {counted}, {_ends_text(times)}")
    if samples.meta.instrument.write_bytes is not None:
        lines.append(compare.small_writes(samples).sentence)
    else:
        with_theory = [mode for mode in samples.modes if mode in compare.TRANSACTIONS_OVER]
        lines += [compare.transactions(samples, mode=mode).sentence for mode in with_theory]
    return lines


MOST_HOPS = 64
"""Rows that the text shows; ``--json`` has all."""


def print_hops(samples: kinds.Samples) -> None:
    """Print a row for each hop of a path, and what its increase depends on."""
    rows = hop_rows(samples)
    if not rows:
        return
    middle = "median" if any(not math.isnan(row.rtt_median_s) for row in rows) else "mean"
    several = len({row.group for row in rows}) > 1
    headings = (*(["run"] if several else []), "hop", "address", "sent", "loss", "min", middle,
                "max", "increase", "")  # fmt: skip
    texts = ((*([excerpt(row.group)] if several else []), *_cells(row)) for row in rows[:MOST_HOPS])
    print_rows(headings, texts, left=("run", "address", ""), whole_numbers=True)
    if len(rows) > MOST_HOPS:
        say(f"  {len(rows) - MOST_HOPS} more hops: --json has them")
    say(f"  {Notice('increase-of-hops', {'place': str(probes(samples))})}")


def _cells(row: HopRow) -> list[str]:
    middle = row.rtt_mean_s if math.isnan(row.rtt_median_s) else row.rtt_median_s
    times = (row.rtt_min_s, middle, row.rtt_max_s, row.increase_s)
    return [
        "?" if row.hop is None else str(row.hop),
        excerpt(row.node) or "no answer",
        _known(row.sent_count, "1"),
        _known(row.loss_ratio, "ratio"),
        *(_known(time_s, "s") for time_s in times),
        "slow" if row.answers_slowly else "",
    ]


def _known(value: float, unit: str) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:g}" if unit == "1" else show(value, unit)
