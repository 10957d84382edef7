"""Every rate that a model returns names its layer, in the words of one list."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from netcalc import calculator, rate_layers

NOMENCLATURE = Path(__file__).parents[2] / "docs" / "nomenclature.md"
FORMULAS = calculator.formulas()


def assert_known(formula, layer):
    if layer.startswith(rate_layers.SAME_AS):
        for name in layer.removeprefix(rate_layers.SAME_AS).split(" or "):
            assert formula.parameter(name).name == name
    else:
        assert layer in rate_layers.LAYERS


@pytest.mark.each("formula", FORMULAS.values(), ids=FORMULAS)
def test_a_rate_names_its_layer_and_nothing_else_does(formula):
    if formula.unit == "bit/s":
        assert formula.layer, "[bit/s, LAYER]"
        assert_known(formula, formula.layer)
        assert calculator.layer_of(formula, {}), "an answer names it, too"
    else:
        assert not formula.layer
    for parameter in formula.parameters:
        if parameter.layer:
            assert parameter.unit == "bit/s"
            assert_known(formula, parameter.layer)


@pytest.mark.each("formula", FORMULAS.values(), ids=FORMULAS)
def test_defaults_that_an_answer_names_are_there(formula):
    text = formula._section("notes")
    assert len(re.findall("Defaults:", text)) == len(re.findall(r"^Defaults: .+\.$", text, re.M))
    for name in formula.said_defaults:
        assert not formula.parameter(name).required


def test_the_nomenclature_lists_the_layers():
    text = NOMENCLATURE.read_text(encoding="utf-8").partition("## Layers of rates")[2]
    listed = re.findall(r"^\| ([A-Za-z ]+?) \|", text.partition("\n## ")[0], re.M)
    assert listed == ["layer", *rate_layers.LAYERS]


def test_link_layers_are_layers():
    assert set(rate_layers.LINK_LAYERS.values()) <= set(rate_layers.LAYERS)
    assert set(rate_layers.INSIDE_LINES) <= set(rate_layers.LAYERS)
