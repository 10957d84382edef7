"""The calculator: pick a formula, type its inputs, plot, explain and solve it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import ipywidgets
import numpy as np
from numpy.typing import ArrayLike

from netcalc import calculator
from netcalc.calculator import Formula, Parameter, Sweep
from netcalc.checks import FloatArray
from netcalc.errors import DomainError, NetcalcError
from netcalc.language import phrase, term
from netcalc.lessons.calculator_ranges import (
    BAND_POINTS,
    Typed,
    along,
    middle_of,
    ranged,
    read_field,
    typed,
)
from netcalc.messages import Notice
from netcalc.plots import Axis, Plot, curves
from netcalc.printable import html_text
from netcalc.units import example
from netcalc.widgets.controls import choice
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Message
from netcalc.widgets.saved import SavedOutputs, show_widget

POINTS = 201
"""Points of a curve."""
TABLE_ROWS = 60
"""Rows of a table that are shown."""

LISTED = 15
"""Formulas that are seen at once in the list: those that most questions need."""

_FIRST, _ALL = term("most needed"), term("all formulas")
_HERE = term("your numbers")


class Looks:
    """Layouts and styles that the fields of a form share: each is a widget that the page loads."""

    def __init__(self) -> None:
        layout = ipywidgets.Layout
        self.name = layout(flex="0 0 9.5em", width="9.5em")
        self.input = layout(flex="0 1 15em", width="15em", min_width="8em")
        self.about = layout(flex="1 1 16em", min_width="0")
        self.row = layout(width="100%", align_items="baseline", flex_flow="row wrap")
        self.whole = layout(width="100%")
        self.plain = ipywidgets.HTML().style


class Field(ipywidgets.VBox):
    """One argument of a formula: its name, an input, its description, and an error message.

    An empty input means the default.
    """

    def __init__(self, label: str, parameter: Parameter, text: str, *, looks: Looks) -> None:
        self.label, self.parameter = label, parameter
        self.input = _input(label, parameter, text, looks)
        self.message = Message(style=looks.plain)
        about = html_text(phrase(parameter.description))
        if not parameter.required:
            default = parameter.show(parameter.default)
            about += f" {html_text(phrase('Default: {default}.', default=default))}"
        name = ipywidgets.HTML(f"<b>{html_text(label)}</b>", layout=looks.name, style=looks.plain)
        words = ipywidgets.HTML(about, layout=looks.about, style=looks.plain)
        words.add_class("netcalc-about")
        row = ipywidgets.HBox([name, self.input, words], layout=looks.row)
        super().__init__([row, self.message], layout=looks.whole)
        self.add_class("netcalc-control")

    def saved_text(self) -> str:
        """Return the argument as text, for a notebook without a kernel."""
        return f"{html_text(self.label)}: {html_text(self.text)}" if self.text else ""

    @property
    def text(self) -> str:
        """The text of the input."""
        return str(self.input.value)

    def is_given(self) -> bool:
        """Return whether there is a text; without one the default counts.

        Raises
        ------
        DomainError
            If there is neither.
        """
        if self.text.strip():
            return True
        if self.parameter.required:
            raise self.parameter.required_error()
        return False


class CalculatorPanel(ipywidgets.VBox):
    """Pick a formula, type its inputs, sweep one of them, solve for another.

    ``search``, ``chapter`` and ``formula_choice`` pick; ``fields`` has one :class:`Field` for
    each argument; ``over``, ``low``, ``high``, ``x_scale`` and ``y_scale`` say what is drawn;
    ``solve_over``, ``solve_result`` and ``solve_range`` solve.
    """

    def __init__(
        self,
        name: str,
        texts: Mapping[str, str],
        *,
        over: str = "",
        points: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    ) -> None:
        self.formula = calculator.formula(name)
        self.fields: dict[str, Field] = {}
        self._ready, self._is_ranged = False, False
        self._asked: dict[str, Mapping[str, str]] = {}
        self._looks = Looks()
        self._arranged: list[ipywidgets.Widget] = []
        over = self.formula.parameter(over).name if over else ""
        self._points = (self.formula.name, over, dict(points or {}))
        self._build_widgets()
        self.figure = Figure(self._empty())
        self.figure.saved = SavedOutputs(
            lambda: self.figure.picture() if self._has_figure else "",
            lambda: self.figure.description if self._has_figure else "",
            lambda: iter(self.children),
        )
        self.result, self.message = Message(), Message()
        self.result.add_class("netcalc-result")
        super().__init__([], layout=ipywidgets.Layout(width="100%"))
        self.add_class("netcalc-panel")
        self._observe()
        self._list_formulas()
        self._take_formula(texts, over)

    def _build_widgets(self) -> None:
        wide = ipywidgets.Layout(flex="1 1 300px", min_width="0", max_width="640px")
        style = {"description_width": "8.5em"}
        self.search = ipywidgets.Text(
            description=phrase("search"),
            placeholder="wait; 4 TB over 10G at 80 ms rtt",
            style=style,
            layout=wide,
        )
        first = self.formula in _chapters()[_FIRST]
        self.chapter = choice(
            "chapter",
            {f"{phrase(name)} ({len(formulas)})": name for name, formulas in _chapters().items()},
            _FIRST if first else _chapter_of(self.formula),
        )
        self.formula_choice = ipywidgets.Select(
            description=phrase("formula"),
            rows=LISTED,
            style=style,
            layout=ipywidgets.Layout(width="auto", height="auto"),
        )
        self.found = ipywidgets.HTML()
        self.summary, self.equation = ipywidgets.HTML(), ipywidgets.HTMLMath()
        self.equation.add_class("netcalc-equation")
        self.numbers, self.source = ipywidgets.HTML(), ipywidgets.HTML()
        self.form = ipywidgets.VBox(layout=ipywidgets.Layout(width="100%"))
        self.table = ipywidgets.HTML()
        self.over = _pick_list(phrase("sweep"))
        self.low, self.high = _box(phrase("from")), _box(phrase("to"))
        self.x_scale, self.y_scale = _scale(phrase("x axis")), _scale(phrase("y axis"))
        self.sweep_message = Message()
        self.solve_over = _pick_list(phrase("solve for"))
        self.solve_result, self.solve_range = _box(phrase("result")), _box(phrase("range"))
        self.solve_range.placeholder = phrase("LOW:HIGH (optional)")
        self.solved = Message()
        self._pick_row = _row([self.search, self.chapter])
        self._sweep_rows = [
            _row([self.over, self.low, self.high]),
            _row([self.x_scale, self.y_scale]),
        ]
        self._solve_rows = [
            _row([self.solve_over, self.solve_result, self.solve_range]),
            self.solved,
        ]

    def _observe(self) -> None:
        for picker in (self.search, self.chapter):
            picker.observe(lambda _: self._list_formulas(), "value")
        self.formula_choice.observe(lambda _: self._pick(), "value")
        self.over.observe(lambda _: self._set_range(), "value")
        for control in (self.low, self.high, self.x_scale, self.y_scale):
            control.observe(lambda _: self.refresh(), "value")
        for control in (self.solve_over, self.solve_result, self.solve_range):
            control.observe(lambda _: self.solve(), "value")

    def _list_formulas(self) -> None:
        """Offer the formulas that the search and the chapter leave; a search begins anywhere."""
        words, chapter = self.search.value.strip(), self.chapter.value
        if self._answer(words):
            return
        offered = _chapters()[_ALL if words and chapter == _FIRST else chapter]
        found = calculator.matches(words)
        every = (found.formulas or found.nearest) if words else offered
        matches = [formula for formula in every if formula in offered]
        is_elsewhere = not matches and bool(every)
        matches = matches or every
        self.found.value = (
            phrase("1 formula found") if len(matches) == 1
            else phrase("{count} formulas found", count=len(matches))
        )  # fmt: skip
        if is_elsewhere and found.formulas:
            self.found.value += phrase(", none of them in this chapter")
        if words and not found.formulas and (found.nearest or found.topic):
            nothing = found.nothing(words, list(map(calculator.command, found.nearest)))
            self.found.value = html_text(". ".join(filter(None, [str(nothing), nothing.hint])))
        for word, meaning in found.terms.items() if found.formulas else ():
            self.found.value = html_text(f"{word}: {phrase(meaning)}. ") + self.found.value
        names = [formula.name for formula in matches]
        self._asked = {}
        ready, self._ready = self._ready, False  # new options choose the first of them
        with self.formula_choice.hold_sync():
            self.formula_choice.options = [(_listed(formula), formula.name) for formula in matches]
            self.formula_choice.value = self.formula.name if self.formula.name in names else None
        self._ready = ready

    def _answer(self, words: str) -> bool:
        """Answer a question in a sentence by its readings, the first of them in the form."""
        try:
            readings = calculator.ask(words).readings if len(words.split()) > 1 else ()
        except NetcalcError:
            return False  # words of a search, or a question that is not finished
        formulas = [
            (calculator.formula(one.formula), one) for one in readings if one.formula != "convert"
        ]
        if readings:
            self.found.value = "".join(map(_reading_html, readings))
        if not formulas:
            return bool(readings)
        ready, self._ready = self._ready, False
        with self.formula_choice.hold_sync():
            self.formula_choice.options = [(_listed(model), model.name) for model, _ in formulas]
            self.formula_choice.value = formulas[0][0].name
        self._asked = {model.name: reading.arguments for model, reading in reversed(formulas)}
        self._ready = ready
        if ready:
            self.formula = formulas[0][0]
            self._take_formula(formulas[0][1].arguments, "")
        return True

    def _pick(self) -> None:
        name = self.formula_choice.value
        if self._ready and name is not None and name != self.formula.name:
            self.formula = calculator.formula(name)
            self._take_formula(self._asked.get(name, {}), "")

    def _take_formula(self, texts: Mapping[str, str], over: str) -> None:
        """Show another formula: a new form, with the numbers of its example."""
        self._ready = False
        formula = self.formula
        start = {p.name: p.show(formula.example[p.name], digits=12) for p in formula.parameters
                 if p.name in formula.example}  # fmt: skip
        start |= {formula.parameter(name).name: text for name, text in texts.items()}
        self.fields = {
            p.name: Field(formula.label(p.name), p, start.get(p.name, ""), looks=self._looks)
            for p in formula.parameters
        }
        for field in self.fields.values():
            field.input.observe(lambda _: self.refresh(), "value")
        self.form.children = tuple(self.fields.values())
        self.summary.value = (
            f"<b>{html_text(phrase(formula.title))}</b> "
            f"<small><code>netcalc calc {calculator.command(formula)}</code></small>"
            f"<br>{html_text(phrase(formula.summary))}"
        )
        self.equation.value = _displayed(formula.equation)
        self.source.value = (
            f"<p>{html_text(phrase(formula.validity))}</p>"
            f"<p>{html_text(phrase('From: {source}', source=formula.source))}</p>"
        )
        swept = [p for p in formula.parameters if p.kind == "number"]
        names = [(phrase("nothing"), ""), *((formula.label(p.name), p.name) for p in swept)]
        self.over.options = self.solve_over.options = names
        self.solve_over.value = ""
        self.solved.say("")
        self.over.value = over or (swept[0].name if swept else "")
        self.solve_result.value = self.solve_range.value = ""
        self.solve_result.placeholder = example(formula.unit)
        self._set_range()
        self._ready = True
        self.refresh()
        if not over and self.sweep_message.is_alert:
            self.over.value = ""  # it takes a few values only: nothing to sweep

    def _set_range(self) -> None:
        """Propose a range around the number that is there."""
        ready, self._ready = self._ready, False
        if self.over.value:
            parameter = self.formula.parameter(self.over.value)
            try:
                text = self.fields[parameter.name].text.strip()
                value = (
                    middle_of(self.formula, parameter.name, text)
                    if text
                    else float(parameter.default)
                )
            except (NetcalcError, TypeError, ValueError):
                value = 0.0
            low, high, log = calculator.sweep_range(parameter, value)
            self.low.value, self.high.value = parameter.show(low), parameter.show(high)
            self.x_scale.value = "log" if log else "linear"
        self._ready = ready
        self.refresh()

    def refresh(self) -> None:
        """Read the form, compute and redraw; errors are shown next to their inputs."""
        if not self._ready:
            return
        self.message.say("")
        self.sweep_message.say("")
        self._is_ranged = False
        entries = self._typed()
        if entries is None:
            self.result.say("")
            self.numbers.value = self.table.value = ""
            self._arrange(drawn=False)
            return
        if not entries.is_plain:
            self._answer_ranges(entries)
            self.solve()
            return
        arguments = entries.arguments
        swept = self._sweep(arguments)
        result = self._evaluate(arguments)
        self._say_result(arguments, result)
        if swept is not None:
            self._draw(swept, arguments, result)
        self._arrange(drawn=swept is not None)
        self.solve()

    def _typed(self, without: str = "") -> Typed | None:
        """Return what is in the fields, or None after showing the errors next to their inputs."""
        texts: dict[str, str] = {}
        wrong = False
        for name, field in self.fields.items():
            if name == without:
                continue
            try:
                if field.is_given():
                    read_field(self.formula, name, field.text)
                    texts[name] = field.text
                field.message.say("")
            except NetcalcError as error:
                field.message.blame(error)
                wrong = True
        if wrong:
            return None
        try:
            return typed(self.formula, texts, without=without)
        except NetcalcError as error:
            self.message.blame(error)
            return None

    def _answer_ranges(self, entries: Typed) -> None:
        """Show percentiles, or a table of the values of lists, and the figure of either."""
        self.equation.value = _displayed(self.formula.equation)
        self.numbers.value = self.table.value = ""
        self._is_ranged = True
        try:
            answer = ranged(self.formula, entries)
        except Exception as error:
            self._blame(error)
            self.result.say("")
            self._arrange(drawn=False)
            return
        self.result.say(answer.words)
        self.message.say(" ".join(answer.notes))
        self.table.value = answer.table
        plot = self._along(entries) or answer.plot
        if plot is not None:
            self.figure.draw(plot)
        self._arrange(drawn=plot is not None)

    def _along(self, entries: Typed) -> Plot | None:
        """Return curves or bands over the argument that is swept; None where there are none."""
        if not self.over.value:
            return None
        parameter = self.formula.parameter(self.over.value)
        try:
            return along(
                self.formula, entries, parameter,
                self._swept_values(parameter, BAND_POINTS if entries.inputs else POINTS),
                logarithmic=self.x_scale.value == "log",
                log_result=self.y_scale.value == "log",
            )  # fmt: skip
        except Exception as error:
            self.sweep_message.blame(error)
            return None

    def _swept_values(self, parameter: Parameter, points: int) -> FloatArray:
        limits = f"{self.low.value}:{self.high.value}:{self.x_scale.value[:3]}{points}"
        return calculator.parse_range(limits, parameter)

    def _blame(self, error: Exception) -> None:
        """Show an error next to the input that it names."""
        field = self.fields.get(getattr(error, "name", ""))
        (field.message if field else self.message).blame(error)

    def _evaluate(self, arguments: Mapping[str, Any]) -> Any:
        try:
            result, doubts = self.formula.answer(arguments)
            self.message.say(self.formula.doubt(result, doubts))
            return result
        except Exception as error:
            self._blame(error)
        return None

    def _sweep(self, arguments: Mapping[str, Any]) -> Sweep | None:
        """Return the curve's columns; None where the result is not a number to be drawn."""
        if not self.over.value:
            return None
        parameter = self.formula.parameter(self.over.value)
        try:
            values = self._swept_values(parameter, POINTS)
            swept = calculator.sweep(
                self.formula, arguments, over=parameter.name, values=values, gaps=True
            )
        except DomainError as error:
            if error.code not in calculator.RESULT_CODES:
                self.sweep_message.blame(error)
            return None
        except Exception as error:
            self.sweep_message.blame(error)
            return None
        if swept.refused:
            self.sweep_message.say(
                phrase("Gaps where the formula is not defined: {reason}", reason=swept.refused)
            )
        return swept

    def _say_result(self, arguments: Mapping[str, Any], result: Any) -> None:
        if result is None:
            self.equation.value = _displayed(self.formula.equation)
            self.result.say("")
            self.numbers.value = self.table.value = ""
            return
        lines = calculator.explained(self.formula, arguments, result)
        columns = calculator.table(self.formula, result)
        length = len(next(iter(columns.values())))
        substituted = self.formula.equation_with(arguments, result if length == 1 else None)
        self.equation.value = _displayed(self.formula.equation, substituted)
        self.result.say(_words(self.formula, result, arguments, length))
        self.numbers.value = _definitions(lines if length == 1 else lines[:-1])
        self.table.value = _table(self.formula, columns) if length > 1 else ""

    def _draw(self, swept: Sweep, arguments: Mapping[str, Any], result: Any) -> None:
        formula, parameter = self.formula, self.formula.parameter(swept.name)
        single = list(swept.columns) == ["result"]
        what = formula.short_title
        lines = {what if single else name: y for name, y in swept.columns.items()}
        name, over, columns = self._points
        points = dict(columns) if (name, over) == (formula.name, parameter.name) else {}
        if single and result is not None:
            value = arguments.get(parameter.name, parameter.default)
            points[_HERE] = ([value], [float(result)])
        plot = curves(
            swept.values,
            lines,
            points=points,
            x_axis=Axis(formula.label(parameter.name), parameter.unit, self.x_scale.value),
            y_axis=Axis(what if single else "result", formula.unit, self.y_scale.value),
            title=phrase(formula.title),
            description=_describe(formula, parameter, swept),
        )
        self.figure.draw(plot)

    def _empty(self) -> Plot:
        nothing = Axis("", "1")
        return curves([], {"nothing": []}, x_axis=nothing, y_axis=nothing)

    def solve(self) -> None:
        """Solve for the chosen argument; show the answer, or why there is none."""
        if not (self._ready and self.solve_over.value and self.solve_result.value.strip()):
            self.solved.say("")
            return
        parameter = self.formula.parameter(self.solve_over.value)
        entries = self._typed(without=parameter.name)
        if entries is None:
            self.solved.say("")
            return
        name = self.formula.label(parameter.name)
        if entries.lists:
            listed = self.formula.label(next(iter(entries.lists)))
            self.solved.say(str(Notice("solved-with-list", {"name": listed})), alert=True)
            return
        sought = {
            "over": parameter.name,
            "result": self.solve_result.value,
            "limits": self.solve_range.value.strip(),
        }
        try:
            if entries.inputs:
                drawn = calculator.solutions_for(
                    self.formula, entries.arguments, entries.inputs, **sought
                )
                lines = calculator.solution_lines(self.formula, drawn, over=parameter.name)
                self.solved.say(f"{name}: " + ", ".join(lines))
                return
            solution = calculator.solve_for(self.formula, entries.arguments, **sought)
        except Exception as error:
            self.solved.blame(error)
            return
        self.solved.say(f"{name}: " + phrase("; or ").join(solution.lines))

    def _arrange(self, *, drawn: bool) -> None:
        """Show what there is: a curve, a table or neither."""
        is_table = bool(self.table.value) and not self._is_ranged
        single = self.formula.unit not in ("", "bool") and not is_table
        children = [
            self._pick_row,
            self.formula_choice,
            self.found,
            self.summary,
            self.form,
            self.message,
            self.result,
            self.equation,
            self.numbers,
            *([self.table] if self.table.value else []),
            *(self._sweep_rows if not is_table and len(self.over.options) > 1 else []),
            self.sweep_message,
            *([self.figure] if drawn else []),
            *(self._solve_rows if single and len(self.solve_over.options) > 1 else []),
            self.source,
        ]
        if children != self._arranged:
            self._arranged = self.children = children
        self.figure.saved.renew()

    @property
    def _has_figure(self) -> bool:
        return any(part is self.figure for part in self.children)

    def _ipython_display_(self) -> None:
        self.figure.saved.show()
        show_widget(super()._repr_mimebundle_())


def calculator_panel(
    name: str = "latency.transfer_s",
    texts: Mapping[str, str] | None = None,
    *,
    over: str = "",
    points: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
) -> CalculatorPanel:
    """Offer all formulas: pick one, type its inputs, sweep one of them, solve for another.

    Parameters
    ----------
    name : str
        The formula at first, as :func:`netcalc.calculator.formula` takes it.
    texts : mapping of str to str, optional
        Inputs at first: ``{"payload": "1 MB", "bandwidth": "T1"}``; by default those of the
        formula's example.
    over : str, optional
        The argument that is swept initially; by default the first.
    points : mapping of str to a pair of array_like, optional
        Measured points by name, x and y in SI units; drawn while that formula is swept over
        that argument.

    Returns
    -------
    CalculatorPanel
        The widget to show.
    """
    return CalculatorPanel(name, texts or {}, over=over, points=points)


@cache
def _chapters() -> dict[str, list[Formula]]:
    """Return the formulas by chapter: those most needed, all of them, then chapter by chapter."""
    chapters: dict[str, list[Formula]] = {_FIRST: [], _ALL: list(calculator.formulas().values())}
    for chapter, _, formulas in calculator.listed():
        chapters.setdefault("TCP" if chapter == "tcp" else chapter, []).extend(formulas)
    return chapters


def _chapter_of(formula: Formula) -> str:
    return next(name for name, formulas in reversed(_chapters().items()) if formula in formulas)


def _reading_html(reading: calculator.Reading) -> str:
    """Return an answer to a question, with the role of each value and the command."""
    roles = [f"{one.source}: {one.said}" for one in reading.given]
    lines = [*roles, *(f"assumed: {text}" for text in reading.assumed)]
    return (
        f"<p><b>{html_text(reading.text)}</b> {html_text(reading.title)}<br>"
        f"<small>{html_text('; '.join(lines))}<br>"
        f"<code>{html_text(reading.command)}</code></small></p>"
    )


def _listed(formula: Formula) -> str:
    """Return a line of the list: what it computes, and how it is called in a terminal."""
    return f"{phrase(formula.title)}  ·  {calculator.command(formula)}"


def _input(label: str, parameter: Parameter, text: str, looks: Looks) -> ipywidgets.Widget:
    layout, tooltip = looks.input, label  # the front end's name of what has no description
    if parameter.kind == "choice":
        start = text or ("" if parameter.required else str(parameter.default))
        start = start if start in parameter.choices else parameter.choices[0]
        return ipywidgets.Dropdown(
            options=list(parameter.choices), value=start, layout=layout, tooltip=tooltip
        )
    if parameter.kind == "bool":
        start = text or ("no" if parameter.required else parameter.show(parameter.default))
        return ipywidgets.Dropdown(
            options=[(phrase("yes"), "yes"), (phrase("no"), "no")],
            value=start,
            layout=layout,
            tooltip=tooltip,
        )
    default = "" if parameter.required else parameter.show(parameter.default)
    return ipywidgets.Text(
        value=text,
        placeholder=default or parameter.wanted,
        continuous_update=False,
        layout=layout,
        tooltip=tooltip,
    )


def _box(label: str) -> ipywidgets.Text:
    return ipywidgets.Text(
        description=label,
        continuous_update=False,
        style={"description_width": "5em"},
        layout=ipywidgets.Layout(flex="0 1 17em", min_width="0"),
    )


def _scale(label: str) -> ipywidgets.Dropdown:
    return ipywidgets.Dropdown(
        description=label,
        options=[(phrase("linear"), "linear"), (phrase("logarithmic"), "log")],
        style={"description_width": "5em"},
        layout=ipywidgets.Layout(flex="0 1 16em", min_width="0"),
    )


def _pick_list(label: str) -> ipywidgets.Dropdown:
    return ipywidgets.Dropdown(
        description=label,
        options={phrase("nothing"): ""},
        style={"description_width": "5em"},
        layout=ipywidgets.Layout(flex="0 1 24em", min_width="0"),
    )


def _row(widgets: list[ipywidgets.Widget]) -> ipywidgets.Box:
    return ipywidgets.Box(
        widgets,
        layout=ipywidgets.Layout(flex_flow="row wrap", width="100%", grid_gap="2px 16px"),
    )


def _words(formula: Formula, result: Any, arguments: Mapping[str, Any], length: int) -> str:
    what = phrase(formula.summary).rstrip(".。")
    if length > 1:
        return phrase("{what}: {length} rows, in the table below.", what=what, length=length)
    text = ", ".join(calculator.result_lines(formula, result, arguments))
    columns = result._asdict().values() if hasattr(result, "_asdict") else [result]
    if all(np.isfinite(np.asarray(value, dtype=float)).all() for value in columns):
        return f"{what}: {text}."
    return f"{what}: {text}. ({phrase(formula.returns)})"


def _describe(formula: Formula, parameter: Parameter, swept: Sweep) -> str:
    """Return the curves' ends in words."""
    ends = [0, -1]
    parts = []
    for name, column in swept.columns.items():
        unit = calculator.column_unit(formula, name)
        low, high = (calculator.show(column[end], unit) for end in ends)
        ends_text = phrase("{low} to {high}", low=low, high=high)
        parts.append(ends_text if name == "result" else f"{name} {ends_text}")
    low, high = (parameter.show(swept.values[end]) for end in ends)
    what = formula.label(parameter.name)
    return phrase(
        "{summary}, for {what} from {low} to {high}: {parts}.",
        summary=phrase(formula.summary).rstrip(".。"),
        what=what,
        low=low,
        high=high,
        parts=", ".join(parts),
    )


def _displayed(*equations: str) -> str:
    """Equations below each other, each once."""
    return "".join(f"$${html_text(equation)}$$" for equation in dict.fromkeys(equations))


def _definitions(lines: list[tuple[str, str]]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{html_text(name)}</th><td>= {html_text(text)}</td></tr>'
        for name, text in lines
    )
    return f'<table class="netcalc-table">{rows}</table>'


def _table(formula: Formula, columns: Mapping[str, list[Any]]) -> str:
    units = {name: calculator.column_unit(formula, name) for name in columns}
    head = "".join(f'<th scope="col">{html_text(name)}</th>' for name in columns)
    rows = list(zip(*columns.values(), strict=True))
    body = "".join(
        "<tr>"
        + "".join(
            f"<td>{html_text(calculator.show(value, unit))}</td>"
            for value, unit in zip(row, units.values(), strict=True)
        )
        + "</tr>"
        for row in rows[:TABLE_ROWS]
    )
    more = ""
    if len(rows) > TABLE_ROWS:
        left = phrase("{count} more rows", count=len(rows) - TABLE_ROWS)
        more = f"<p>{html_text(left)}</p>"
    return f'<table class="netcalc-table"><thead><tr>{head}</tr></thead>{body}</table>{more}'
