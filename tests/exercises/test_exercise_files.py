"""Files of exercises that are refused: by file, line, exercise and field; nothing is executed."""

from __future__ import annotations

import os
import sys

import pytest

from netcalc import exercises
from netcalc.errors import ReaderError

GOOD = """\
[[exercise]]
id = "X1"
lesson = "01"
topic = "t"
text = "{N} over {R}, {d}."
unit = "s"
right = "transfer(N, bandwidth=R, latency=d)"
second = "d + 8 * N / R"
[exercise.variables]
N = { low = "1 MB", high = "50 MB", digits = 2 }
R = { values = ["10 Mbit/s", "100 Mbit/s"] }
d = { low = "10 ms", high = "90 ms" }
[[exercise.wrong]]
name = "bits"
formula = "d + N / R"
sentence = "s"
ask = "q"
"""


def refusal(tmp_path, text):
    path = tmp_path / "own.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ReaderError) as caught:
        exercises.read_file(path)
    error = caught.value
    assert error.file == str(path)
    assert str(error).startswith(f"{path}")
    assert "\n" not in str(error)
    assert str(error).isprintable()
    return error


def test_the_good_one_is_read(tmp_path):
    (tmp_path / "own.toml").write_text(GOOD)
    (template,) = exercises.read_file(tmp_path / "own.toml")
    assert template.mistakes == ("bits",)
    assert template.line == 1


# What is put in place of what, and which code and field the refusal has. Its line is that of the
# change; the line here is that of the header, for a field that is not there.
CHANGES = [
    ('id = "X1"', "", "exercise-field-missing", 1, "exercise 1.id"),
    ('id = "X1"', 'id = "a b"', "exercise-id-malformed", 1, "exercise 1.id"),
    ('id = "X1"', 'id = "../x"', "exercise-id-malformed", 1, "exercise 1.id"),
    ('id = "X1"', "id = 1", "exercise-not-text", 1, "exercise 1.id"),
    ('id = "X1"', "id = 1979-05-27", "exercise-not-text", 1, "exercise 1.id"),
    ('lesson = "01"', 'lesson = "one"', "exercise-lesson", 1, "X1.lesson"),
    ('topic = "t"', 'topic = " "', "exercise-text-empty", 1, "X1.topic"),
    ('topic = "t"', 'topic = "\\u202e"', "exercise-not-printable", 1, "X1.topic"),
    ('topic = "t"', 'topic = "\\u001b[2J"', "exercise-not-printable", 1, "X1.topic"),
    ('topic = "t"', f'topic = "{"t" * 3000}"', "exercise-text-long", 1, "X1.topic"),
    ('topic = "t"', 'topics = "t"', "exercise-field-unknown", 1, "X1.topics"),
    ('unit = "s"', 'unit = "ms"', "exercise-unit", 1, "X1.unit"),
    ('unit = "s"', 'unit = "s"\ntolerance = "50 %"', "exercise-tolerance", 1, "X1.tolerance"),
    ('unit = "s"', 'unit = "s"\ntolerance = -1', "exercise-tolerance", 1, "X1.tolerance"),
    ('unit = "s"', 'unit = "s"\ndigits = 99', "exercise-whole-number", 1, "X1.digits"),
    ('unit = "s"', 'unit = "s"\ndigits = true', "exercise-whole-number", 1, "X1.digits"),
    ("{N} over", "{M} over", "exercise-placeholder", 1, "X1.text"),
    ("{N} over", "{N:>9999999} over", "exercise-placeholder", 1, "X1.text"),
    ("{N} over", "{N.__class__} over", "exercise-placeholder", 1, "X1.text"),
    ("{N} over", "{N over", "exercise-placeholder", 1, "X1.text"),
    ("{N} over", "over", "exercise-variable-hidden", 1, "X1.text"),
    ("N = {", "T1 = {", "exercise-variable-name", 1, "X1.variables.T1"),
    ("N = {", '"N N" = {', "exercise-variable-name", 1, "X1.variables.N N"),
    ('low = "1 MB"', 'low = "0 MB"', "exercise-range", 1, "X1.variables.N.low"),
    ('low = "1 MB"', 'low = "60 MB"', "exercise-range", 1, "X1.variables.N.low"),
    ('low = "1 MB"', 'low = "1 mb"', "exercise-formula-refused", 1, "X1.variables.N.low"),
    ('low = "1 MB"', "low = nan", "exercise-formula-refused", 1, "X1.variables.N.low"),
    ('low = "1 MB"', "low = " + "9" * 400, "exercise-formula-refused", 1, "X1.variables.N.low"),
    ('low = "1 MB"', "low = []", "exercise-not-quantity", 1, "X1.variables.N.low"),
    ('low = "1 MB", ', "", "exercise-field-missing", 10, "X1.variables.N.low"),
    ("digits = 2", 'step = "0 B"', "exercise-step", 1, "X1.variables.N.step"),
    ("digits = 2", 'step = "1e-9 B"', "exercise-step", 1, "X1.variables.N.step"),
    ('"100 Mbit/s"]', '"3 ms"]', "exercise-formula-refused", 1, "X1.variables.R.values"),
    ('["10 Mbit/s", "100 Mbit/s"]', '["10 Mbyt/s"]', "exercise-formula-refused", 1,
     "X1.variables.R.values"),
    ('"100 Mbit/s"]', "[]]", "exercise-not-quantity", 1, "X1.variables.R.values"),
    ('["10 Mbit/s", "100 Mbit/s"]', "[]", "exercise-not-table", 1, "X1.variables.R.values"),
    ('R = { values', 'R = { low = "1 bit/s", values', "exercise-values-and-range", 1,
     "X1.variables.R.low"),
    ('second = "d + 8', 'second = "d + 7', "exercise-ways-differ", 1, "X1.second"),
    ('second = "d + 8', 'second = "1 / 0 + 8', "exercise-formula-refused", 1, "X1.second"),
    ('right = "transfer(N', 'right = "1 / 0 + transfer(N', "exercise-without-answer", 1,
     "X1.right"),
    ('unit = "s"', 'unit = "s"\npositive = "0 * N"', "exercise-conditions-not-met", 1,
     "X1.positive"),
    ('unit = "s"', 'unit = "s"\ncurve = 3', "exercise-not-table", 1, "X1.curve"),
    ('unit = "s"', 'unit = "s"\ncurve = { x = "Q", low = "1 B", high = "9 B" }',
     "exercise-placeholder", 1, "X1.curve.x"),
    ('unit = "s"', 'unit = "s"\ncurve = { x = "N", low = "9 B", high = "1 B" }',
     "exercise-range", 1, "X1.curve.low"),
    ('unit = "s"', 'unit = "s"\ncurve = { x = "N", low = "1 B", high = "9 B", points = "none", '
     'point_x = "a", point_y = "b" }', "exercise-formula-refused", 1, "X1.curve.points"),
    ('unit = "s"', 'unit = "s"\ncurve = { x = "N", low = "1 B", high = "9 B", '
     'points = "transfer_times", point_x = "line", point_y = "b" }', "exercise-column", 1,
     "X1.curve.point_x"),
    ('sentence = "s"\n', "", "exercise-field-missing", 13, "X1.wrong[1].sentence"),
    ('sentence = "s"', 'sentence = "{Q}"', "exercise-placeholder", 13, "X1.wrong[1].sentence"),
    ('name = "bits"', 'name = "right"', "exercise-mistake-twice", 13, "X1.wrong[1].name"),
    ('ask = "q"', 'ask = "q"\nsame_as = "no"', "exercise-same-as", 13, "X1.wrong[1].same_as"),
    ("d + N / R", "d + 8 * N / R", "exercise-not-separable", 1, "X1.wrong"),
    ("d + N / R", "d + 8.1 * N / R", "exercise-not-separable", 1, "X1.wrong"),
]  # fmt: skip


@pytest.mark.each(("before", "after", "code", "header", "field"), CHANGES)
def test_a_fault_is_named_by_line_exercise_and_field(tmp_path, before, after, code, header, field):
    assert before in GOOD
    line = header
    if after and field != "X1.wrong":
        line = GOOD[: GOOD.index(before)].count("\n") + 1 + after.count("\n")
    error = refusal(tmp_path, GOOD.replace(before, after, 1))
    assert (error.code, error.line, error.field) == (code, line, field)


# Formulas that are code, never end, or take all memory; none of them is executed or computed.
HOSTILE = [
    "__import__('os').system('touch hacked')",
    "(lambda: 1)()",
    "[x for x in [1]]",
    "(1).__class__",
    "N.__class__.__mro__",
    "f'{N}'",
    "N if N else R",
    "N and R",
    "N := 3",
    "N // R",
    "N % R",
    "N == R",
    "N[0]",
    "exec('x = 1')",
    "eval('1')",
    "open('/etc/passwd')",
    "print(N)",
    "import os",
    "while True: pass",
    "N; R",
    "",
    "9 ** 9 ** 9 ** 9 ** 9",
    "(0 - N) ** 0.5",
    "10 ** 400",
    "1e400",
    "1" + "0" * 500,
    "(" * 60 + "N" + ")" * 60,
    "-" * 500 + "N",
    "+".join(["N"] * 400),
    "N" * 2500,
    "sum([])",
    "[N, R]",
    "min(*[N])",
    "transfer(**N)",
    "transfer(N)",
    "transfer(N, R, d)",
    "transfer(N, bandwidth=R, bandwidth=R)",
    "transfer(N, bandwidth=R, latency='x')",
    "transfer(N, bandwidth=transfer, latency=d)",
    "transfer",
    "no_such_model(N)",
    "Q + N",
    "N-R",
    "N + 5 mb",
    "N + 5 parsec",
    "item([N, R], 7)",
    "sqrt(0 - N)",
    "log(0)",
    "exp(N * N)",
    "data('/etc/passwd', 'x')",
    "data(transfer_times, line)",
    "N\\u0000",
    "datagram_mbufs(N)",
]


@pytest.mark.each("formula", HOSTILE)
@pytest.mark.parametrize("field", ["right", "second", "wrong"])
def test_a_hostile_formula_is_refused(tmp_path, monkeypatch, field, formula):
    monkeypatch.chdir(tmp_path)
    lines = {"right": 'right = "{}"', "second": 'second = "{}"', "wrong": 'formula = "{}"'}
    start = lines[field].partition("{}")[0]
    written = [
        f'{start}{formula}"' if line.startswith(start) else line for line in GOOD.splitlines()
    ]
    error = refusal(tmp_path, "\n".join(written))
    assert error.code.startswith("exercise")
    assert error.line in {"right": (7, 8), "second": (8,), "wrong": (15,)}[field]
    assert [path.name for path in tmp_path.iterdir()] == ["own.toml"]


# Texts that are no file of exercises, and the code of the refusal.
NO_FILES = [
    ("", "no-exercises"),
    ("# nothing\n", "no-exercises"),
    ("exercise = 3\n", "no-exercises"),
    ("exercise = [3]\n", "exercise-not-table"),
    ("[[exercise]]\n", "exercise-field-missing"),
    ("[exercise]\nid = 'X'\n", "no-exercises"),
    ("[[exercises]]\n", "exercise-field-unknown"),
    ("[[exercise]\n", "exercises-toml"),
    ("id = 1\nid = 2\n", "exercises-toml"),
    (b"\xff\xfe\x00", "exercises-not-utf8"),
    (b"\x00", "exercises-toml"),
    ("x = " + "[" * 100_000, "exercises-toml"),
    ("x = " + "{a=" * 50_000, "exercises-toml"),
    ("x = " + "9" * 10_000, "exercises-toml"),
    ("a." * 200_000 + "b = 1", "exercises-key-long"),  # hours for the parser of TOML
    ('"\\"".a' * 60_000 + " = 1", "exercises-key-long"),
    ("[" + "a . " * 100_000 + "b]", "exercises-key-long"),
    ("#" * 2_000_000, "exercises-too-large"),
    ("[[exercise]]\n" * 600, "too-many-exercises"),
    (GOOD + GOOD, "exercise-id-in-use"),
]


@pytest.mark.each(("text", "code"), NO_FILES, ids=lambda value: str(value)[:30])
def test_what_is_no_file_of_exercises(tmp_path, text, code):
    assert refusal(tmp_path, text).code == code


def test_sentences_and_comments_may_have_dots(tmp_path):
    path = tmp_path / "own.toml"
    dots = "a. " * 200
    path.write_text(GOOD.replace('sentence = "s"', f'sentence = "{dots}"  # {dots}'))
    (template,) = exercises.read_file(path)
    assert template.wrong[0].sentence == dots.strip()


def test_a_syntax_error_names_its_line(tmp_path):
    assert refusal(tmp_path, 'a = 1\nb = "\n').line == 2


def test_an_answer_that_a_sentence_says_is_refused(tmp_path):
    text = GOOD.replace('low = "1 MB", high = "50 MB", digits = 2', 'values = ["2 MB"]')
    text = text.replace('"10 Mbit/s", "100 Mbit/s"', '"10 Mbit/s"')
    text = text.replace('low = "10 ms", high = "90 ms"', 'values = ["50 ms"]')
    said = text.replace('sentence = "s"', 'sentence = "Not 1.65 s."')
    # [derived] 50 ms + 16 Mbit / 10 Mbit/s = 1.65 s
    assert refusal(tmp_path, said).code == "exercise-answer-said"


def test_headers_in_a_text_of_several_lines_are_not_counted(tmp_path):
    broken = GOOD.replace('topic = "t"', 'topic = """\n[[exercise]]\nx"""')
    error = refusal(tmp_path, broken.replace('sentence = "s"\n', ""))
    assert error.line == 15  # [derived] counted in the text: 13, and two lines more


def test_what_is_no_file_at_all(tmp_path):
    with pytest.raises(ReaderError) as caught:
        exercises.templates(paths=[tmp_path])
    assert caught.value.code == "exercises-no-file"
    with pytest.raises(FileNotFoundError):
        exercises.templates(paths=[tmp_path / "none.toml"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(ReaderError):
        exercises.read_file(tmp_path / "pipe.toml")


def test_a_file_of_a_teacher_is_used_beside_the_bundled_ones(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(GOOD)
    question = exercises.draw("X1", student="s1", paths=[path])
    assert question.check("1 furlong").kind == "unreadable"
    assert len(exercises.templates(paths=path)) == len(exercises.templates()) + 1
    path.write_text(GOOD.replace("X1", "TR1"))
    with pytest.raises(ReaderError) as caught:
        exercises.templates(paths=[path])
    assert caught.value.code == "exercise-id-bundled"


def test_a_changed_file_is_read_again(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(GOOD)
    exercises.draw("X1", paths=[path])
    path.write_text(GOOD.replace("X1", "X22"))
    assert exercises.draw("X22", paths=[path]).id == "X22"


def test_reading_leaves_the_limit_of_recursion_alone(tmp_path):
    before = sys.getrecursionlimit()
    refusal(tmp_path, "x = " + "[" * 100_000)
    assert sys.getrecursionlimit() == before


def test_a_formula_without_an_answer_is_named_at_its_own_line(tmp_path):
    error = refusal(
        tmp_path, GOOD.replace('formula = "d + N / R"', 'formula = "9 ** 9 ** 9 * N / R"')
    )
    assert (error.code, error.line, error.field) == (
        "exercise-without-answer", 15, "X1.wrong[1].formula",
    )  # fmt: skip
    assert "(34" not in str(error)  # Python's number of the error says nothing to a teacher
