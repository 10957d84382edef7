"""Worked solutions and curves: the numbers put in, beside the formulas by hand."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc import exercises
from netcalc.errors import DomainError

OWN = """\
[[exercise]]
id = "X1"
lesson = "01"
topic = "t"
text = "{N} over {R}, {d}, {p1}, {k}."
unit = "s"
right = "transfer(N, bandwidth=R, latency=d)"
second = "SECOND"
curve = { x = "N", low = "1 kB", high = "100 MB", points = "transfer_times", \
point_x = "payload_bytes", point_y = "printed_transfer_s" }
[exercise.variables]
N = { values = ["1 MB"] }
R = { values = ["T1"] }
d = { values = ["30 ms"] }
p1 = { values = ["5 %"] }
k = { values = [3] }
[[exercise.wrong]]
name = "latency left out"
formula = "8 * N / R / 1.5"
sentence = "s"
ask = "q"
"""


def question(tmp_path, second="d + 8 * N / R"):
    path = tmp_path / "own.toml"
    path.write_text(OWN.replace("SECOND", second))
    (template,) = exercises.read_file(path)
    return exercises.draw(template)


def test_the_equation_of_the_model_has_the_numbers(tmp_path):
    # 1 MB over a T1 with 30 ms [published: 5.21 s, Stevens A.3, in its digits].
    lines = str(question(tmp_path).solution()).splitlines()
    assert lines == [
        "t = 30 ms + 8 · 1 MB / 1.544 Mbit/s = 5.211 s",
        "30 ms + (8 · 1 MB) / 1.544 Mbit/s = 5.211 s",
        "Answer: 5.211 s",
    ]


@pytest.mark.each(
    ("second", "text"),
    [
        ("d + 8 * N / R + 0 * p1", "30 ms + (8 · 1 MB) / 1.544 Mbit/s + 0 · 5% = 5.211 s"),
        ("d + 8 * N / R * (k - 2)", "30 ms + (8 · 1 MB) / 1.544 Mbit/s · (3 - 2) = 5.211 s"),
        ("d + 8 * N / R * k ** 0", "30 ms + (8 · 1 MB) / 1.544 Mbit/s · 3^0 = 5.211 s"),
        ("d + 8 * N / R * ceil(0.5)", "30 ms + (8 · 1 MB) / 1.544 Mbit/s · ⌈0.5⌉ = 5.211 s"),
    ],
)
def test_the_second_way_has_the_numbers(tmp_path, second, text):
    written = str(question(tmp_path, second).solution()).splitlines()[1]
    assert written.translate({0x2070: "^0"}) == text


def test_the_equations_are_latex(tmp_path):
    first, second = question(tmp_path).solution().equations
    assert r"\mathrm{Mbit/s}" in first
    assert r"\frac{8 \cdot 1\,\mathrm{MB}}{1.544\,\mathrm{Mbit/s}}" in second


def test_curves_are_the_formulas_over_one_variable(tmp_path):
    found = question(tmp_path).curves("latency left out")
    assert (found.x_name, found.x_unit, found.y_unit, found.own_x) == ("N", "byte", "s", 1e6)
    assert (found.x[0], round(found.x[-1])) == (1e3, 100_000_000)
    # [derived] the formulas, written with numpy.
    assert np.allclose(found.right, 0.03 + 8 * found.x / 1.544e6, rtol=1e-12)
    assert np.allclose(found.wrong["latency left out"], 8 * found.x / 1.544e6 / 1.5, rtol=1e-12)
    assert found.points_set == "transfer_times"
    assert len(found.points_x) == len(found.points_y) == 3  # of three lines


def test_a_curve_of_no_mistake_is_refused(tmp_path):
    with pytest.raises(DomainError) as caught:
        question(tmp_path).curves("no such")
    assert caught.value.values["known"] == ["latency left out"]
    with pytest.raises(DomainError) as caught:
        exercises.draw("FG1").curves()
    assert caught.value.code == "exercise-without-curve"
