"""A class that has handed in: what each student got right, which misconception, and the gain.

Reading and checking only: nothing in a notebook is run. What is wrong with one notebook costs the
row of that notebook, and is named with its file.

Thirty students are few, so each share has its 95 % interval: Wilson's for a share; Newcombe's
(method 10), made of two Wilson intervals, for the difference of two shares of the same students;
Student's t for the mean of their gains.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from netcalc import exercises
from netcalc.errors import ReaderError
from netcalc.exercises.classes import notebooks, sheets
from netcalc.exercises.classes.notebooks import Handed, NotebookError
from netcalc.exercises.classes.sheets import Sheet, Student
from netcalc.messages import Notice
from netcalc.printable import excerpt

Z_95 = 1.959963984540054
"""Quantile of the normal distribution that leaves 2.5 % above. [1]"""


@dataclass(frozen=True, slots=True)
class Share:
    """A share or a difference of shares, with the 95 % interval around it."""

    value: float
    low: float
    high: float


def wilson(count: int, *, total: int) -> Share:
    r"""Return a share with its 95 % interval by Wilson's score.

    .. math:: \frac{p + z^2/2n \pm z\sqrt{p(1-p)/n + z^2/4n^2}}{1 + z^2/n}

    Parameters
    ----------
    count : int
        How many of them.
    total : int
        Of how many.

    Returns
    -------
    Share
        The share and its interval, [ratio]; nan, 0 and 1 of none.

    Notes
    -----
    E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal of
    the American Statistical Association 22 (1927).

    Examples
    --------
    >>> found = wilson(15, total=20)
    >>> round(found.low, 4), found.value, round(found.high, 4)
    (0.5313, 0.75, 0.8881)
    """
    if total == 0:
        return Share(math.nan, 0.0, 1.0)
    p, z2 = count / total, Z_95**2
    middle = p + z2 / (2 * total)
    half = Z_95 * math.sqrt(p * (1 - p) / total + z2 / (4 * total**2))
    scale = 1 + z2 / total
    low = 0.0 if count == 0 else (middle - half) / scale
    return Share(p, low, 1.0 if count == total else (middle + half) / scale)


def paired_gain(before: Sequence[bool], after: Sequence[bool]) -> Share:
    """Return the share after less the share before of the same students, with its 95 % interval.

    Parameters
    ----------
    before, after : sequence of bool
        Of each student whether the answer was right.

    Returns
    -------
    Share
        The difference and its interval, from -1 to 1 [ratio]; nan, -1 and 1 of none.

    Notes
    -----
    R. G. Newcombe, Improved confidence intervals for the difference between binomial proportions
    based on paired data, Statistics in Medicine 17 (1998), method 10.

    Examples
    --------
    >>> found = paired_gain([True] * 10 + [False] * 10, [True] * 18 + [False] * 2)
    >>> found.value, found.low > 0
    (0.4, True)
    """
    total = len(before)
    if total == 0:
        return Share(math.nan, -1.0, 1.0)
    both = sum(a and b for a, b in zip(before, after, strict=True))
    lost = sum(before) - both
    won = sum(after) - both
    neither = total - both - lost - won
    first, second = wilson(both + won, total=total), wilson(both + lost, total=total)
    phi = _phi(both, won, lost, neither)
    up, down = first.high - first.value, first.value - first.low
    up_2, down_2 = second.high - second.value, second.value - second.low
    gain = first.value - second.value
    low = gain - math.sqrt(max(down**2 - 2 * phi * down * up_2 + up_2**2, 0.0))
    high = gain + math.sqrt(max(up**2 - 2 * phi * up * down_2 + down_2**2, 0.0))
    return Share(gain, low, high)


def _phi(a: int, b: int, c: int, d: int) -> float:
    """Return the correlation of two answers, with Newcombe's correction for continuity."""
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    if margins == 0:
        return 0.0
    excess = a * d - b * c
    if excess > 0:
        excess = max(excess - (a + b + c + d) / 2, 0.0)  # type: ignore[assignment]
    return excess / math.sqrt(margins)


def mean_gain(gains: Sequence[float]) -> Share:
    """Return the mean of the gains of the students, with its 95 % interval by Student's t.

    Parameters
    ----------
    gains : sequence of float
        Of each student the share of right answers after less that before. [ratio]

    Returns
    -------
    Share
        The mean and its interval [ratio], which ends at -1 and 1; as wide as that of fewer than
        two students.
    """
    count = len(gains)
    mean = sum(gains) / count if count else math.nan
    if count < 2:
        return Share(mean, -1.0, 1.0)
    variance = sum((value - mean) ** 2 for value in gains) / (count - 1)
    half = t_95(count - 1) * math.sqrt(variance / count)
    return Share(mean, max(mean - half, -1.0), min(mean + half, 1.0))


def t_95(freedom: int) -> float:
    """Return the quantile of Student's t that leaves 2.5 % above.

    Examples
    --------
    >>> round(t_95(29), 3), round(t_95(1), 3)
    (2.045, 12.706)
    """
    from scipy.special import stdtrit  # late: most of a class needs none

    return float(stdtrit(freedom, 0.975))


MOST_SHOWN = 3
"""Misconceptions that are talked about in class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One student and one sheet.

    Parameters
    ----------
    student : Student
        Who.
    sheet : str
        Name of the sheet.
    file : str
        The notebook; empty if there is none.
    answers : mapping
        Of each exercise that was answered the text.
    verdicts : mapping
        Of each of these the verdict.
    remarks : tuple of Notice
        What was left out, and why a notebook is not counted.
    counted : bool
        Whether the notebook is.
    """

    student: Student
    sheet: str
    file: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)
    verdicts: Mapping[str, exercises.Verdict] = field(default_factory=dict)
    remarks: tuple[Notice, ...] = ()
    counted: bool = False

    def is_right(self, exercise: str) -> bool:
        """Whether the answer to an exercise is there and right."""
        verdict = self.verdicts.get(exercise)
        return verdict is not None and verdict.is_right

    def mistakes(self, exercise: str) -> tuple[str, ...]:
        """Return the name of the mistake, or of those that the answer may come from."""
        verdict = self.verdicts.get(exercise)
        return verdict.names if verdict and verdict.kind in ("named", "several") else ()

    @property
    def points(self) -> int:
        """How many answers are right."""
        return sum(verdict.is_right for verdict in self.verdicts.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """A misconception in a class: the exercise, its name, and who has it.

    ``perhaps`` are students whose answer it explains beside another misconception.
    """

    exercise: str
    name: str
    students: tuple[Student, ...]
    perhaps: tuple[Student, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """A sheet that came back.

    Parameters
    ----------
    sheet : Sheet
        What was handed out.
    rows : tuple of Row
        A row for each student of the class, in its order.
    refused : tuple of Row
        Notebooks that belong to no row: of strangers, damaged, without a sheet.
    """

    sheet: Sheet
    rows: tuple[Row, ...]
    refused: tuple[Row, ...] = ()

    @property
    def counted(self) -> tuple[Row, ...]:
        """The rows of the students whose notebook is counted."""
        return tuple(row for row in self.rows if row.counted)

    def share(self, exercise: str) -> Share:
        """Return the share of right answers among the notebooks; a blank is not right."""
        rows = self.counted
        return wilson(sum(row.is_right(exercise) for row in rows), total=len(rows))

    def mistakes(self) -> tuple[Mistake, ...]:
        """Return the misconceptions, the commonest one first."""
        students: dict[tuple[str, str], tuple[list[Student], list[Student]]] = {}
        for row in self.counted:
            for exercise in self.sheet.ids:
                names = row.mistakes(exercise)
                for name in names:
                    surely, perhaps = students.setdefault((exercise, name), ([], []))
                    (surely if len(names) == 1 else perhaps).append(row.student)
        mistakes = [
            Mistake(exercise=exercise, name=name, students=tuple(surely), perhaps=tuple(perhaps))
            for (exercise, name), (surely, perhaps) in students.items()
        ]
        return tuple(sorted(mistakes, key=lambda it: (-len(it.students), -len(it.perhaps))))

    def commonest(self) -> tuple[Mistake, ...]:
        """Return the mistakes to talk about: the commonest that a student surely made."""
        return tuple(item for item in self.mistakes() if item.students)[:MOST_SHOWN]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What changed from one sheet to another, among the students who handed in both.

    Parameters
    ----------
    before, after : str
        The sheets.
    count : int
        How many students handed in both.
    of_class : Share
        The mean gain of a student in the share of right answers.
    of_exercise : mapping
        Of each exercise that both have the difference of the two shares.
    mistakes : mapping
        Of each exercise and misconception how many had it before, and after.
    """

    before: str
    after: str
    count: int
    of_class: Share
    of_exercise: Mapping[str, Share]
    mistakes: Mapping[tuple[str, str], tuple[int, int]]


def collect(
    files: Mapping[str, bytes | NotebookError], *, records: Sequence[Sheet]
) -> tuple[Collected, ...]:
    """Check the notebooks of a class.

    Parameters
    ----------
    files : mapping
        Of each notebook its name and content, or why it could not be read.
    records : sequence of Sheet
        What was handed out.

    Returns
    -------
    tuple of Collected
        The sheets in the order in which they were made. Notebooks of no known sheet are with the
        first.

    Raises
    ------
    ReaderError
        If two records have one name: it is not clear which of them was handed out.
    """
    by_name: dict[str, Sheet] = {}
    for sheet in sorted(records, key=lambda it: it.made):
        if by_name.setdefault(sheet.name, sheet) != sheet:
            raise ReaderError("sheet-name-twice", file=sheet.record_file, name=sheet.name)
    rows: dict[tuple[str, str], list[Row]] = {}
    refused: dict[str, list[Row]] = {name: [] for name in by_name}
    owners = {
        name: {student.key: at for at, student in enumerate(sheet.students)}
        for name, sheet in by_name.items()
    }
    of_file = {file: name for name, sheet in by_name.items() for file in sheet.files}
    for file, data in sorted(files.items()):
        short = file.replace("\\", "/").rpartition("/")[2]
        home = of_file.get(short, next(iter(by_name), ""))
        try:
            if isinstance(data, NotebookError):
                raise data
            handed = notebooks.read(data, file=file)
            if handed.sheet not in by_name:
                raise NotebookError("sheet-unknown", sheet=excerpt(handed.sheet))
            home = handed.sheet
            if handed.student not in owners[home]:
                raise NotebookError("student-unknown", student=excerpt(handed.name))
            row = _checked(handed, by_name[home], owners[home][handed.student], short)
        except NotebookError as error:
            row = _refused(file, short, error, by_name.get(home))
        if row.student.name and row.student.key in owners.get(row.sheet, {}):
            rows.setdefault((row.sheet, row.student.key), []).append(row)
        elif home:
            refused[home].append(row)
    return tuple(
        Collected(
            sheet=sheet,
            rows=tuple(_row_of(rows.get((name, it.key), []), it, name) for it in sheet.students),
            refused=tuple(refused[name]),
        )
        for name, sheet in by_name.items()
    )


def _checked(handed: Handed, sheet: Sheet, at: int, short: str) -> Row:
    student = sheet.students[at]
    if handed.ids != sheet.ids or handed.drawn != sheet.drawn[at]:
        raise NotebookError("notebook-of-other-sheet", sheet=excerpt(sheet.name))
    drawn = exercises.sheet_of(sheet.templates, student=student.key, sheet=sheet.name)
    if sheets.digest(drawn) != handed.drawn:
        raise NotebookError("exercises-changed")
    asked = {question.id: question for question in drawn}
    answers, remarks = _answers(handed, asked)
    verdicts = {id_: asked[id_].check(text) for id_, text in answers.items()}
    if short != sheet.files[at]:
        remarks.insert(0, Notice("notebook-renamed", {"expected": sheet.files[at]}))
    if blank := [id_ for id_ in sheet.ids if id_ not in answers]:
        remarks.append(Notice("answers-blank", {"ids": blank, "count": len(blank)}))
    unclear = [id_ for id_, verdict in verdicts.items() if not verdict.counts]
    if unclear:
        remarks.append(Notice("answers-unclear", {"ids": unclear}))
    return Row(
        student=student, sheet=sheet.name, file=handed.file, answers=answers, verdicts=verdicts,
        remarks=tuple(remarks), counted=True,
    )  # fmt: skip


def _answers(
    handed: Handed, asked: Mapping[str, exercises.Question]
) -> tuple[dict[str, str], list[Notice]]:
    """Return the answers of the cell, and where it has none those of the boxes."""
    answers, notices = dict(handed.answers), list(handed.notices)
    others, solved = [], []
    for id_, box in handed.boxes.items():
        if box.is_solved:
            solved.append(id_)
        if id_ in answers or not box.answer:
            continue
        if box.question == asked[id_].text:
            answers[id_] = box.answer
        else:
            others.append(id_)
    if others:
        notices.append(Notice("answers-to-other-numbers", {"ids": others}))
    if solved:
        notices.append(Notice("solution-was-shown", {"ids": solved}))
    return {id_: answers[id_] for id_ in asked if id_ in answers}, notices


def _refused(file: str, short: str, error: NotebookError, sheet: Sheet | None) -> Row:
    """Return the row of a notebook that is not counted: of the student of its file name, if any."""
    student = Student(name="")
    if sheet is not None and short in sheet.files:
        student = sheet.students[sheet.files.index(short)]
    remarks = (Notice(error.code, error.values),)
    return Row(student=student, sheet=sheet.name if sheet else "", file=file, remarks=remarks)


def _row_of(rows: Sequence[Row], student: Student, sheet: str) -> Row:
    """Return the row of a student: of several notebooks one, if they say the same."""
    if not rows:
        return Row(student=student, sheet=sheet, remarks=(Notice("notebook-missing"),))
    counted = [row for row in rows if row.counted]
    first = (counted or rows)[0]
    if all(row.answers == first.answers for row in counted):
        return _with(first, [row for row in rows if row is not first])
    differ = Notice("notebooks-differ", {"files": [row.file for row in counted]})
    return Row(student=student, sheet=sheet, file=first.file, remarks=(differ,))


def _with(row: Row, others: Sequence[Row]) -> Row:
    """Return a row that names the other notebooks of its student."""
    if not others:
        return row
    notes = [Notice("notebook-again", {"files": [other.file for other in others]})]
    notes += [note for other in others if not other.counted for note in other.remarks]
    return replace(row, remarks=(*row.remarks, *notes))


def gain(before: Collected, after: Collected) -> Gain | None:
    """Return what changed between two sheets; None if they share no exercise.

    Only students who handed in both are counted, and only exercises that both sheets have: the
    second one has other numbers.
    """
    shared = [id_ for id_ in before.sheet.ids if id_ in after.sheet.ids]
    if not shared:
        return None
    earlier = {row.student.key: row for row in before.counted}
    pairs = [(earlier[row.student.key], row) for row in after.counted if row.student.key in earlier]
    points = [
        sum(second.is_right(id_) - first.is_right(id_) for id_ in shared) / len(shared)
        for first, second in pairs
    ]
    had: list[Counter[tuple[str, str]]] = [Counter(), Counter()]
    for pair in pairs:
        for count, row in zip(had, pair, strict=True):
            count.update((id_, names[0]) for id_ in shared if len(names := row.mistakes(id_)) == 1)
    return Gain(
        before=before.sheet.name,
        after=after.sheet.name,
        count=len(pairs),
        of_class=mean_gain(points),
        of_exercise={
            id_: paired_gain(
                [first.is_right(id_) for first, _ in pairs],
                [second.is_right(id_) for _, second in pairs],
            )
            for id_ in shared
        },
        mistakes={pair: (had[0][pair], had[1][pair]) for pair in sorted(had[0] | had[1])},
    )
