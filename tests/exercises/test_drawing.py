"""Numbers of a student: the same for the same texts, within the range, answers apart."""

from __future__ import annotations

import hashlib
import math
import unicodedata

import pytest

from netcalc import exercises, units
from netcalc.errors import DomainError, ReaderError

STUDENTS = [f"student {number}" for number in range(60)]


def own(tmp_path, variables, *, right="a", more="", text="{a}"):
    """Return an exercise with these variables."""
    path = tmp_path / "own.toml"
    path.write_text(
        f'[[exercise]]\nid = "X1"\nlesson = "01"\ntopic = "t"\ntext = "{text}"\nunit = "s"\n'
        f'right = "{right}"\n{more}\n[exercise.variables]\n{variables}\n'
    )
    (template,) = exercises.read_file(path)
    return template


def test_the_same_three_texts_give_the_same_numbers():
    first = exercises.draw("TR1", student="s1", sheet="monday")
    assert first.values == exercises.draw("TR1", student="s1", sheet="monday").values
    assert first.values != exercises.draw("TR1", student="s2", sheet="monday").values
    assert first.values != exercises.draw("TR1", student="s1", sheet="friday").values


def test_a_name_typed_on_another_system_is_the_same():
    composed = unicodedata.normalize("NFC", "Jörg Müller")
    apart = unicodedata.normalize("NFD", " Jörg  Müller ")
    assert composed != apart
    first = exercises.draw("TR1", student=composed)
    assert first.values == exercises.draw("TR1", student=apart).values


def test_no_name_can_pose_as_another_and_its_sheet():
    first = exercises.draw("TR1", student="a\nb", sheet="c")
    assert first.values != exercises.draw("TR1", student="a", sheet="b\nc").values


def test_the_hash_is_the_documented_one(tmp_path):
    template = own(tmp_path, 'a = { low = "1 s", high = "9 s", step = "1 s" }')
    question = exercises.draw(template, student="s1", sheet="monday")
    # [derived] the rule of docs/exercises.md: the first 52 bits as a share of nine numbers.
    digest = hashlib.sha256(b"X1\ns1\nmonday\n0\na").digest()
    share = (int.from_bytes(digest[:8], "big") >> 12) / 2**52
    assert question.values == {"a": 1.0 + math.floor(share * 9)}


def test_numbers_keep_range_and_digits(tmp_path):
    template = own(tmp_path, 'a = { low = "25 ms", high = "1.2 s", digits = 2 }')
    values = [exercises.draw(template, student=one).values["a"] for one in STUDENTS]
    assert all(0.025 <= value <= 1.2 for value in values)
    assert all(float(f"{value:.1e}") == value for value in values)
    assert len(set(values)) > 30
    # [derived] log-uniform: half of them below the geometric middle; 3 sigma of 60 draws is 12.
    below = sum(value < math.sqrt(0.025 * 1.2) for value in values)
    assert abs(below - 30) <= 12


def test_steps_reach_both_ends(tmp_path):
    template = own(tmp_path, 'a = { low = "2 s", high = "5 s", step = "1 s" }')
    values = {exercises.draw(template, student=one).values["a"] for one in STUDENTS}
    assert values == {2.0, 3.0, 4.0, 5.0}


@pytest.mark.parametrize("student", STUDENTS[:20])
def test_a_number_is_shown_as_it_is(student):
    """What stands in the text can be read back to the number that is computed with."""
    for template in exercises.templates():
        question = exercises.draw(template, student=student)
        for variable in template.variables:
            shown = question.shown[variable.name].partition(" (")[0]
            value = question.values[variable.name]
            assert math.isclose(units.parse_typed(shown, variable.unit), value, rel_tol=1e-12)
            assert question.shown[variable.name] in question.text


def test_conditions_are_met(tmp_path):
    template = own(
        tmp_path,
        'a = { low = "1 s", high = "9 s", step = "1 s" }\n'
        'b = { low = "1 s", high = "9 s", step = "1 s" }',
        right="b - a", more='positive = ["b - a"]', text="{a} {b}",
    )  # fmt: skip
    values = [exercises.draw(template, student=one).values for one in STUDENTS]
    assert all(found["b"] > found["a"] for found in values)


def test_answers_lie_apart_in_every_draw():
    for template in exercises.templates():
        for student in STUDENTS[:10]:
            question = exercises.draw(template, student=student)
            own_numbers = [one.name for one in template.wrong if not one.same_as]
            answers = [question.answer, *(question.wrong_answers[one] for one in own_numbers)]
            for index, first in enumerate(answers):
                for second in answers[:index]:
                    largest = max(abs(first), abs(second))
                    assert abs(first - second) > 2.5 * template.tolerance * largest
                    assert first != second


@pytest.mark.each(
    ("right", "wrong", "names"),
    [
        ("a", "a", ["right", "w"]),
        ("a", "a * 1.02", ["right", "w"]),
        ("a", "a + 0.001", ["right", "w"]),
    ],
)
def test_an_exercise_whose_answers_cannot_be_told_apart_is_refused(tmp_path, right, wrong, names):
    more = ""
    path = tmp_path / "own.toml"
    own(tmp_path, 'a = { low = "1 s", high = "9 s" }', right=right, more=more)
    path.write_text(
        path.read_text()
        + f'[[exercise.wrong]]\nname = "w"\nformula = "{wrong}"\nsentence = "s"\nask = "q"\n'
    )
    with pytest.raises(ReaderError) as caught:
        exercises.read_file(path)
    assert caught.value.code == "exercise-not-separable"
    assert caught.value.values["names"] == names
    assert (caught.value.line, caught.value.field) == (1, "X1.wrong")


def test_two_mistakes_of_one_number_are_several(tmp_path):
    path = tmp_path / "own.toml"
    mistakes = "".join(
        f'[[exercise.wrong]]\nname = "{name}"\nformula = "{formula}"\nsentence = "{name}."\n'
        f'ask = "q"\n{more}\n'
        for name, formula, more in (("one", "2 * a", ""), ("two", "a + a", 'same_as = "one"'))
    )
    own(tmp_path, 'a = { low = "1 s", high = "9 s" }')
    path.write_text(path.read_text() + mistakes)
    (template,) = exercises.read_file(path)
    question = exercises.draw(template, student="s1")
    verdict = question.check(f"{2 * question.values['a']} s")
    assert (verdict.kind, verdict.names) == ("several", ("one", "two"))
    # Without same_as it is refused.
    path.write_text(path.read_text().replace('same_as = "one"', ""))
    with pytest.raises(ReaderError):
        exercises.read_file(path)


def test_an_unknown_id_names_the_nearest():
    with pytest.raises(DomainError) as caught:
        exercises.draw("tr1")
    assert caught.value.code == "exercise-unknown"
    assert caught.value.values["suggestions"] == ["TR1"]
