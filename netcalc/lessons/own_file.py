"""Panels of lesson 8: any measurement with theory and its limits; marks; and ten puzzles."""

from __future__ import annotations

from functools import cache
from typing import Any

import ipywidgets
import numpy as np

from netcalc import datasets, display, explain
from netcalc.datasets import Puzzle
from netcalc.errors import NetcalcError
from netcalc.explain import Finding, FlowCause, Known, cause_name
from netcalc.language import phrase, term
from netcalc.plots import Mark, Plot, waits
from netcalc.plots.measured import measured
from netcalc.printable import html_text
from netcalc.readers.places import places_of_rows, probes
from netcalc.samples import PacketTrace, RttSamples, Samples, decimal_sizes, unit_of_fact
from netcalc.units import parse
from netcalc.widgets.controls import choice, switch, text_box
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, html_table, notes_of, panel
from netcalc.widgets.run import upload

MOST_FACTS, MOST_FINDINGS = 30, 2
"""Rows of the table of facts, and runs or flows that are explained: the fastest ones."""
SUSPECTS = (
    term("the line"), term("a window"), term("slow start"), term("loss"), term("a packet rate"),
    term("a queue"), term("waiting hosts"), term("fragments"), term("acknowledgements"),
    term("the wrong number is read"),
)  # fmt: skip
"""What a learner may predict."""
CAPTURES = ("window", "slow_start", "stall", "acknowledgements")
"""The puzzles that are captures of TCP."""
CAUSES = (
    "receiver-window", "slow-start", "nagle-delayed-ack", "reverse-path", "handshake", "line",
)  # fmt: skip
"""What a learner may mark; with more, a page without a kernel could not store all answers."""
BREAK_RATIO, LEAST_RATIO, PURE_RATIO = 0.02, 0.015, 0.8
"""A marked part has breaks up to the first, is no shorter than the second, both as shares of the
time, and its cause has the third of it."""


def file_panel(start: Samples | None = None) -> Panel:
    """Any measurement: its facts, theory drawn over it, and its limits.

    Parameters
    ----------
    start : Samples, optional
        What is shown at first; by default the sixth puzzle, a ping.

    Returns
    -------
    Panel
        The widget to show.
    """
    drawn = [start or datasets.puzzle("bloat").load()]
    figure, about = Figure(measured(drawn[0], Known())), ipywidgets.HTML()
    boxes = {
        "line_bps": text_box("line", phrase("rate of the slowest line, if you know it: 50 Mbit/s")),
        "rtt_s": text_box(phrase("round trip"), phrase("without load, if you know it: 20 ms")),
        "window_bytes": text_box("window", phrase("the smaller buffer, if you know it: 64 KiB")),
    }
    units = {"line_bps": "bit/s", "rtt_s": "s", "window_bytes": "byte"}

    def update(**texts: str) -> None:
        facts: dict[str, Any] = {
            k: parse(text, units[k], field=k) for k, text in texts.items() if text.strip()
        }
        setup = Known(**facts)
        figure.draw(measured(drawn[0], setup))
        about.value = _described(drawn[0]) + _explained(drawn[0], setup)

    def show_file(samples: Samples) -> None:
        drawn[0] = samples
        shown.refresh()

    field = upload("Your own file", show_file)
    shown = panel(figure, boxes, update, below=[field, about])
    return shown


def waits_panel() -> Panel:
    """Four captures: mark what two parts of each waited for, then see the band of causes."""
    names = {phrase(datasets.puzzle(name).title): name for name in CAPTURES}
    drawn = cache(_waits)  # a page without a kernel asks for each of them often
    figure, answer = Figure(drawn(CAPTURES[0], is_open=False)), ipywidgets.HTML()
    shown = [CAPTURES[0]]

    def update(capture: str, first: str, second: str, is_open: bool) -> None:
        if capture != shown[0]:  # the next one is closed, and not yet marked
            shown[0] = capture
            for name, value in (("first", ""), ("second", ""), ("is_open", False)):
                controls[name].value = value
            first, second, is_open = "", "", False
        asked = marked_parts(_flow(capture))
        is_marked = all(choice for choice, _ in zip((first, second), asked, strict=False))
        figure.draw(drawn(capture, is_open=is_open and is_marked))
        if not is_open:
            answer.value = ""
        elif not is_marked:
            answer.value = _paragraph(phrase("Mark first: what does each shaded part wait for?"))
        else:
            answer.value = _compared_marks(_flow(capture), (first, second))

    causes = {"(choose)": "", **{cause_name(code): code for code in CAUSES}}
    controls: dict[str, Any] = {
        "capture": choice("capture", names, CAPTURES[0]),
        "first": choice("A waits for", causes, ""),
        "second": choice("B waits for", causes, ""),
        "is_open": switch("Show what netcalc says"),
    }
    return panel(figure, controls, update, below=[answer])


@cache
def _flow(name: str) -> FlowCause:
    """Return the flow of a puzzle that carried most."""
    trace = datasets.puzzle(name).load()
    assert isinstance(trace, PacketTrace)
    flow = explain.main_flow(trace)
    assert flow is not None
    return flow


def marked_parts(flow: FlowCause) -> list[tuple[Mark, str]]:
    """Return the longest parts of a flow that wait for one cause each, two at most; and causes."""
    assert flow.waits is not None
    zero, whole_s, parts = flow.dialogue.begin_s, flow.cause.duration_s, []
    for code in set(CAUSES) & set(flow.cause.shares):
        begin, end = flow.waits.longest(code, apart_s=BREAK_RATIO * whole_s)
        (own_s,) = flow.waits.of(code).spent_s(np.array([begin, end]))
        if end - begin >= LEAST_RATIO * whole_s and own_s >= PURE_RATIO * (end - begin):
            parts.append((end - begin, begin - zero, end - zero, code))
    return [
        (Mark(name, begin, end), code)
        for name, (_, begin, end, code) in zip("AB", sorted(parts, reverse=True), strict=False)
    ]


def _waits(name: str, *, is_open: bool) -> Plot:
    parts = [mark for mark, _ in marked_parts(_flow(name))]
    title = phrase("What is waited for?")  # the caption has the sentence
    return waits(_flow(name), title=title, shows_causes=is_open, marks=parts)


def _compared_marks(flow: FlowCause, choices: tuple[str, str]) -> str:
    """Return which marks agree; the sentence of the cause is that of the figure."""
    parts = list(zip(choices, marked_parts(flow), strict=False))
    rows = [(mark.name, cause_name(choice), cause_name(code)) for choice, (mark, code) in parts]
    count = sum(choice == code for choice, (_, code) in parts)
    agree = phrase("{count} of {all} marks agree.", count=count, all=len(parts))
    return html_table((term("part"), term("your mark"), "netcalc"), rows) + _paragraph(agree)


def puzzle_panel() -> Panel:
    """Ten recorded measurements: predict what limits each, then look at explanation and truth."""
    puzzles = [datasets.puzzle(name) for name in datasets.puzzles()]
    names = {
        f"{i}. {phrase(recorded.title)}": recorded.name
        for i, recorded in enumerate(puzzles, start=1)
    }
    first = puzzles[0]
    figure = Figure(measured(first.load(), _known(first), shows_causes=False))
    question, answer = ipywidgets.HTML(), ipywidgets.HTML()
    shown = [""]

    def update(puzzle: str, prediction: str, is_open: bool) -> None:
        if puzzle != shown[0]:  # the next one is closed, and not yet predicted
            shown[0] = puzzle
            controls["prediction"].value, controls["is_open"].value = "", False
            prediction, is_open = "", False
        recorded = datasets.puzzle(puzzle)
        samples, setup = recorded.load(), _known(recorded)
        is_predicted = is_open and bool(prediction)
        figure.draw(measured(samples, setup, shows_causes=is_predicted))
        question.value = (
            f"<p><b>{html_text(phrase(recorded.question))}</b></p>{_described(samples)}"
        )
        if not is_open:
            answer.value = ""
        elif not prediction:
            answer.value = _paragraph(phrase("Predict first: what limits this one?"))
        else:
            answer.value = _explained(samples, setup) + _answer(recorded, prediction)

    controls: dict[str, Any] = {
        "puzzle": choice("puzzle", names, first.name),
        "prediction": choice("I predict", {"(choose)": "", **{s: s for s in SUSPECTS}}, ""),
        "is_open": switch("Show the explanation and the truth"),
    }
    return panel(figure, controls, update, below=[question, answer])


def explained(samples: Samples, setup: Known) -> list[Finding]:
    """Return what limits a measurement, the fastest runs or flows first; none without a theory."""
    try:
        explanations = explain.measurement(samples, setup)
    except NetcalcError:
        return []
    order = sorted(
        explanations,
        key=lambda explanation: -explanation.measured if explanation.unit == "bit/s" else 0.0,
    )
    return order[:MOST_FINDINGS]


def kind_of(samples: Samples) -> str:
    """Return what a file is, in words: the tool, what its probes are, and what its rows are."""
    tool = " ".join(filter(None, (samples.meta.tool, samples.meta.tool_version)))
    if isinstance(samples, PacketTrace):
        return phrase(
            "A capture ({value}): one row for each packet", value=tool or phrase("tool not named")
        )
    counted = probes(samples)
    facts = {"layer": counted.layer, "way": counted.way, "side": counted.side}
    timed = phrase("times of {layer}, {way}, by the {side}", **facts) if counted.layer else ""
    rows = (
        phrase("one row for each probe")
        if isinstance(samples, RttSamples)
        else phrase("{samples} rows", samples=len(samples))
    )
    return f"{tool or phrase('A table')}: {', '.join(filter(None, (timed, rows)))}"


def fact_rows(samples: Samples) -> list[tuple[str, str, str, str]]:
    """Return the table of facts: name, value, layer and way, and the side that counted."""
    rows = []
    runs = samples.facts()
    decimal = decimal_sizes(runs)
    for run, places in zip(runs, places_of_rows(samples), strict=True):
        label = f"{run['group']}: " if len(runs) > 1 and "group" in run else ""
        for name, value in run.items():
            if name in ("group", "partial"):
                continue
            at = places[name]
            shown = _text(name, value, binary=name not in decimal)
            rows.append((f"{label}{name}", shown, at.what, at.side))
    return rows[:MOST_FACTS]


def _text(name: str, value: Any, *, binary: bool) -> str:
    unit = unit_of_fact(name)
    if isinstance(value, str | bool) or unit is None:
        return str(value)
    if unit == "1" and isinstance(value, int):
        return f"{value:,}"
    return display.show(float(value), unit, binary=binary)


def _known(puzzle: Puzzle) -> Known:
    """Return the facts that the question of a puzzle states."""
    stated: dict[str, Any] = dict(puzzle.stated)
    return Known(**stated)


def _described(samples: Samples) -> str:
    table = html_table(
        (term("fact"), term("value"), term("counts"), term("counted by")), fact_rows(samples)
    )
    notes = "".join(map(_paragraph, notes_of(samples)))
    return f"{_paragraph(f'{kind_of(samples)}.')}{table}{notes}"


def _explained(samples: Samples, setup: Known) -> str:
    parts = []
    for explanation in explained(samples, setup):
        label = f"{explanation.label}: " if explanation.label else ""
        parts.append(f"<p><b>{html_text(label + explanation.sentence)}</b></p>")
        if explanation.limits:
            parts.append(
                html_table(
                    (term("limit"), term("value"), term("share"), term("arithmetic")),
                    explanation.rows(),
                )
            )
        if explanation.test is not None:
            parts.append(
                f"<p>{html_text(explanation.sureness)} "
                f"{html_text(phrase('To confirm: {test}.', test=explanation.test))}</p>"
            )
        parts += [_paragraph(phrase("Note: {notes}.", notes=note)) for note in explanation.notices]
        parts += [_paragraph(phrase("Not known: {one}.", one=what)) for what in explanation.missing]
    if not parts:
        reasons = "; ".join(map(str, explain.described(samples)))
        parts.append(_paragraph(phrase("No theory is known for this file. {found}", found=reasons)))
    return "".join(parts)


def _paragraph(text: str) -> str:
    return f"<p>{html_text(text)}</p>"


def _answer(puzzle: Puzzle, prediction: str) -> str:
    commands = "".join(f"<li><code>{html_text(text)}</code></li>" for text in puzzle.commands)
    truth = "; ".join(f"{name} = {value}" for name, value in puzzle.truth.items())
    return (
        f"{_paragraph(phrase('You predicted: {prediction}.', prediction=phrase(prediction)))}"
        f"<p><b>{html_text(phrase('The truth.'))}</b> {html_text(phrase(puzzle.answer))}</p>"
        f"<details><summary>{html_text(phrase('How it was recorded'))}</summary>"
        f"<p>{html_text(puzzle.tool_version)}; "
        f"{html_text(truth)}</p><ul>{commands}</ul></details>"
    )
