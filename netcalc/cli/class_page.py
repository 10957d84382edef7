"""The page of a class: one file that opens without a network.

What may stand on a wall comes first and has no names; the table of the students is folded. Every
text of a student, a file or a list is escaped, and the page has no script.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from netcalc import exercises
from netcalc.exercises.classes import Collected, Gain, Mistake, Row
from netcalc.exercises.classes.collecting import Share
from netcalc.exercises.classes.sheets import example
from netcalc.printable import html_text

MOST_OPEN = 12
"""Rows of misconceptions that are not folded."""


def page(sheets: Sequence[Collected], gained: Gain | None) -> str:
    """Return the page of the sheets of a class; the last one is talked about."""
    last = sheets[-1]
    topics = {
        template.id: template.topic
        for collected in sheets
        for template in collected.sheet.templates
    }
    style = Path(__file__).with_name("class_page.css").read_text(encoding="utf-8")
    title = f"{html_text(last.sheet.name)}: exercises of a class"
    parts = [
        f"<h1>{html_text(last.sheet.name)}</h1>",
        _facts(last, gained),
        _gain(gained, topics) if gained is not None else "",
        _talk(last),
        *(_questions(collected, topics, several=len(sheets) > 1) for collected in reversed(sheets)),
        *(_students(collected) for collected in reversed(sheets)),
        _notes(sheets),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(filter(None, parts))
        + "\n</main>\n</body>\n</html>\n"
    )


def _facts(collected: Collected, gained: Gain | None) -> str:
    counted = collected.counted
    asked = len(counted) * len(collected.sheet.ids)
    right = sum(row.points for row in counted)
    facts = [
        (f"{len(counted)} of {len(collected.rows)}", "notebooks counted"),
        (in_percent(right / asked) if asked else "-", "of the answers right"),
    ]
    if gained is not None:
        facts.append((points_apart(gained.of_class), f"from {gained.before} to {gained.after}"))
    items = "".join(f"<li><b>{html_text(a)}</b>{html_text(b)}</li>" for a, b in facts)
    return f'<ul class="facts">{items}</ul>'


def _gain(gained: Gain, topics: Mapping[str, str]) -> str:
    rows = []
    for name, share in gained.of_exercise.items():
        kind, said = judged(share)
        rows.append(
            f"<tr><td>{_topic(name, topics)}</td><td class='number {kind}'>{html_text(said)}</td>"
            f"<td class='number'>{points_apart(share)}</td>"
            f"<td class='bar'>{_track(share, low=-1.0, high=1.0)}</td></tr>"
        )
    changed = [
        f"<tr><td>{html_text(name)}</td><td>{_topic(exercise, topics)}</td>"
        f"<td class='number'>{first}</td><td class='number'>{second}</td></tr>"
        for (exercise, name), (first, second) in sorted(
            gained.mistakes.items(), key=lambda it: (it[1][1] - it[1][0], it[0])
        )
    ]
    is_open = " open" if len(changed) <= MOST_OPEN else ""
    before, after = html_text(gained.before), html_text(gained.after)
    gains = ("question", "", "gain", "95 % interval, from -100 to +100 points")
    counts = ("misconception", "question", before, after)
    _, said = judged(gained.of_class)
    return (
        f"<h2>From {before} to {after}</h2>"
        f"<p>{html_text(_summary(gained, said))}</p>"
        f"<div class='scroll'>{_table(gains, rows)}</div>"
        + (
            f"<details{is_open}><summary>Misconceptions before and after</summary>"
            f"<div class='scroll'>{_table(counts, changed)}</div></details>"
            if changed
            else ""
        )
    )


def _summary(gained: Gain, said: str) -> str:
    if not gained.count:
        return "No student handed in both sheets."
    return (
        f"{gained.count} students handed in both sheets, with different numbers. A student's share "
        f"of right answers changed by {points_apart(gained.of_class)} on average: {said}."
    )


def judged(share: Share) -> tuple[str, str]:
    """Return the class and the words of a gain: where 0 is in its interval, it shows nothing.

    >>> judged(Share(0.1, -0.1, 0.3))
    ('', 'could be chance')
    """
    if share.low > 0:
        return "good", "better"
    if share.high < 0:
        return "bad", "worse"
    return "", "could be chance"


def _talk(collected: Collected) -> str:
    commonest = collected.commonest()
    if not commonest:
        return "<h2>To talk about</h2><p>No answer shows a misconception that has a name.</p>"
    shown = "".join(_mistake(it, collected) for it in commonest)
    return f"<h2>To talk about</h2>{shown}"


def _mistake(mistake: Mistake, collected: Collected) -> str:
    templates = {template.id: template for template in collected.sheet.templates}
    question = example(templates[mistake.exercise], sheet=collected.sheet.name)
    wrong = question.template.mistake(mistake.name)
    maybe = f", and perhaps {len(mistake.perhaps)} more" if mistake.perhaps else ""
    drawn = _figure(question, mistake.name)
    said = (
        f"<h3>{html_text(mistake.name[:1].upper() + mistake.name[1:])}</h3>"
        f"<p class='soft'>{len(mistake.students)} of {len(collected.counted)} students{maybe} "
        f"({html_text(mistake.exercise)}, lesson {html_text(question.template.lesson)})</p>"
        f"<p>{html_text(question.text)}</p><p class='ask'>{html_text(wrong.ask)}</p>"
        f"<details><summary>Why it is wrong</summary><p>{html_text(wrong.sentence)}</p></details>"
    )
    kind = "talk drawn" if drawn else "talk"
    return f"<section class='{kind}'><div>{said}</div>{drawn}</section>"


def _figure(question: exercises.Question, name: str) -> str:
    """Return the figure of a mistake in light and dark, with a link that saves it; or nothing."""
    try:
        from netcalc import plots  # late: an extra
    except ImportError:
        return ""
    title = ", ".join(f"{variable} = {text}" for variable, text in question.shown.items())
    pictures = []
    for theme in ("light", "dark"):
        plot = plots.feedback(
            question,
            [name],
            answer=question.wrong_answers[name],
            mark="the wrong answer",
            title=title,
            theme="light" if theme == "light" else "dark",
        )
        if plot is None:
            return ""
        pictures.append(plots.svg(plot))
    light, dark = pictures
    data = base64.b64encode(light.encode()).decode()
    file = html_text(f"{question.id}.svg")
    return (
        f"<figure><div class='light'>{light}</div><div class='dark'>{dark}</div>"
        f"<figcaption><a download='{file}' href='data:image/svg+xml;base64,{data}'>Save the figure "
        "for a slide (SVG)</a></figcaption></figure>"
    )


def _questions(collected: Collected, topics: Mapping[str, str], *, several: bool) -> str:
    count = len(collected.counted)
    rows = []
    for name in collected.sheet.ids:
        share = collected.share(name)
        right = sum(row.is_right(name) for row in collected.counted)
        answered = sum(name in row.verdicts for row in collected.counted)
        common = next(
            (it for it in collected.mistakes() if it.exercise == name and it.students), None
        )
        told = f"{html_text(common.name)} ({len(common.students)})" if common else ""
        rows.append(
            f"<tr><td>{_topic(name, topics)}</td><td class='number'>{right} of {count}</td>"
            f"<td class='number'>{answered}</td>"
            f"<td class='number'>{in_percent(share.value)} ({interval(share)})</td>"
            f"<td class='bar'>{_track(share, low=0.0, high=1.0)}</td><td>{told}</td></tr>"
        )
    of = f": {html_text(collected.sheet.name)}" if several else ""
    headings = ("question", "right", "answered", "share (95 %)", "0 to 100 %",
                "commonest misconception")  # fmt: skip
    return f"<h2>Question by question{of}</h2><div class='scroll'>{_table(headings, rows)}</div>"


def _topic(exercise: str, topics: Mapping[str, str]) -> str:
    topic = topics.get(exercise, "")
    return f"{html_text(topic)} <span class='soft'>{html_text(exercise)}</span>"


def _track(share: Share, *, low: float, high: float) -> str:
    """Return a bar from low to high with the interval and the value."""

    def at(value: float) -> str:
        return f"{100 * (min(max(value, low), high) - low) / (high - low):.1f}%"

    if share.value != share.value:
        return ""
    width = f"{100 * (share.high - share.low) / (high - low):.1f}%"
    zero = f"<u style='left:{at(0.0)}'></u>" if low < 0 else ""
    return (
        f"<span class='track' aria-hidden='true'>{zero}"
        f"<i style='left:{at(share.low)};width:{width}'></i>"
        f"<b style='left:{at(share.value)}'></b></span>"
    )


def _students(collected: Collected) -> str:
    headings = ("student", "points", *map(html_text, collected.sheet.ids), "remark")
    rows = [_student(row, collected.sheet.ids) for row in collected.rows]
    strangers = [
        f"<tr><td>{html_text(row.file)}</td><td>{_remarks(row)}</td></tr>"
        for row in collected.refused
    ]
    listed = _table(("file", "reason"), strangers)
    others = f"<h3>Notebooks of nobody in this class</h3>{listed}" if strangers else ""
    return (
        f"<h2>Students: {html_text(collected.sheet.name)}</h2>"
        "<details><summary>Show names, marks and misconceptions</summary>"
        f"<div class='scroll'>{_table(headings, rows, 'names')}</div>{others}</details>"
    )


def _student(row: Row, ids: Iterable[str]) -> str:
    name = html_text(row.student.name)
    if row.student.id:
        name += f" <span class='soft'>{html_text(row.student.id)}</span>"
    cells = "".join(f"<td>{_answer(row, exercise)}</td>" for exercise in ids)
    points = str(row.points) if row.counted else "-"
    return (
        f"<tr><td>{name}</td><td class='number'>{points}</td>{cells}"
        f"<td class='soft'>{_remarks(row)}</td></tr>"
    )


def _answer(row: Row, exercise: str) -> str:
    verdict = row.verdicts.get(exercise)
    if verdict is None:
        return "<span class='soft'>-</span>"
    if verdict.is_right:
        return "<span class='good'>right</span>"
    said = " or ".join(row.mistakes(exercise)) or verdict.kind
    typed = html_text(row.answers[exercise])
    return f"<span class='bad'>{html_text(said)}</span><br><span class='soft'>{typed}</span>"


def _table(headings: Sequence[str], rows: Iterable[str], kind: str = "") -> str:
    """Return a table of rows of HTML; a wide one scrolls."""
    heads = "".join(f"<th>{heading}</th>" for heading in headings)
    opened = f"<table class='{kind}'>" if kind else "<table>"
    return f"{opened}<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _remarks(row: Row) -> str:
    return html_text("; ".join(map(str, row.remarks)))


def _notes(sheets: Sequence[Collected]) -> str:
    made = ", ".join(
        f"{html_text(collected.sheet.name)} of {html_text(collected.sheet.made[:10])}"
        for collected in sheets
    )
    return (
        "<h2>How it was counted</h2>"
        "<p>A share counts the students whose notebook is counted; a blank answer is not "
        "right. Its interval is Wilson's for 95 %. The gain of a question is the difference of the "
        "two shares of the same students, with Newcombe's interval for paired shares; the gain of "
        "the class is the mean over the students, with Student's t. Where an interval includes 0, "
        "the class is too small to tell. A misconception is named only where it gives the number "
        "that was answered; a right number with a wrong unit is not right.</p>"
        f"<p class='soft'>Sheets: {made}.</p>"
    )


def in_percent(ratio: float) -> str:
    """Write a share.

    >>> in_percent(0.756)
    '76 %'
    """
    return "-" if math.isnan(ratio) else f"{100 * ratio:.0f} %"


def interval(share: Share) -> str:
    """Write the interval of a share.

    >>> interval(Share(0.5, 0.333, 0.667))
    '33 to 67 %'
    """
    return f"{100 * share.low:.0f} to {100 * share.high:.0f} %"


def points_apart(share: Share) -> str:
    """Write a difference of shares, in percentage points with its interval.

    >>> points_apart(Share(0.2, 0.06, 0.34))
    '+20 points (95 %: +6 to +34)'
    """
    if math.isnan(share.value):
        return "no gain known"
    low, high = 100 * share.low, 100 * share.high
    return f"{100 * share.value:+.0f} points (95 %: {low:+.0f} to {high:+.0f})"
