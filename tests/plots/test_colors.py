"""Colours of figures: apart for every colour vision, and legible in both themes."""

from __future__ import annotations

import itertools

import pytest

from netcalc.plots.style import (
    DARK_PARTS,
    DASHES,
    FULL,
    GUESSES,
    INKS,
    LOADS,
    MARKERS,
    PAGE_COLORS,
    PALETTES,
    PAPERS,
    theme_colors,
    tint,
)
from tests.plots.colour_differences import VISIONS, ciede2000, contrast, difference

# A choice: four times what is just noticed side by side (about 2.3 in CIELAB: M. Mahy, L. Van
# Eycken and A. Oosterlinck, Color Research and Application 19 (1994) 105-121), as marks are small
# and stand apart.
LEAST_DIFFERENCE = 10.0
TEXT, GRAPHICS = 4.5, 3.0  # WCAG 2.2, success criteria 1.4.3 and 1.4.11
PAGES = {"light": ["#ffffff"], "dark": ["#111111", "#000000"]}
"""What is behind a figure in JupyterLab, in Voila and on pages of a site."""


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [  # published: table 1 of Sharma, Wu and Dalal (2005), pairs 1, 7, 17 and 23
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 0, 0), (50, -1, 2), 2.3669),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
    ],
)
def test_the_difference_is_that_of_its_publication(one, other, expected):
    assert ciede2000(one, other) == pytest.approx(expected, abs=5e-5)


def test_the_contrast_is_that_of_its_standard():
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)  # published: the largest
    assert contrast("#777777", "#ffffff") < TEXT < contrast("#767676", "#ffffff")  # published


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_any_two_series_differ_for_every_colour_vision(theme):
    together = [*PALETTES[theme], INKS[theme], GUESSES[theme]]
    near = {
        (vision, one, other): found
        for vision in VISIONS
        for one, other in itertools.combinations(together, 2)
        if (found := difference(one, other, vision)) < LEAST_DIFFERENCE
    }
    assert near == {}


def test_series_differ_in_more_than_their_colour():
    count = len(PALETTES["light"])
    assert count == len(PALETTES["dark"])
    assert len(set(MARKERS)) >= count
    assert len({tuple(one) for one in DASHES}) >= count


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_is_drawn_stands_out_from_its_paper(theme):
    drawn = [*PALETTES[theme], INKS[theme], GUESSES[theme], FULL[theme], *LOADS[theme][1:]]
    assert [color for color in drawn if contrast(color, PAPERS[theme]) < GRAPHICS] == []


def test_text_is_legible():
    soft = [color for kind in DARK_PARTS.values() for name, color in kind.items() if "text" in name]
    for color in [*soft, INKS["dark"]]:
        assert contrast(color, PAPERS["dark"]) >= TEXT
    for theme in ("light", "dark"):
        for color in PALETTES[theme]:  # names stand on the tinted parts of a map
            assert contrast(INKS[theme], tint(color, PAPERS[theme])) >= TEXT


@pytest.mark.parametrize("name", ["alert", "link"])
def test_what_stands_around_figures_is_legible(name):
    for at, theme in enumerate(("light", "dark")):
        for page in (*PAGES[theme], PAPERS[theme]):
            assert contrast(PAGE_COLORS[name][at], page) >= TEXT


def test_each_colour_has_one_of_the_other_theme_and_back():
    swap = theme_colors()["swap"]
    assert len(set(swap.values())) == len(swap)  # a page finds its way back
    assert swap[INKS["light"]] == INKS["dark"]
    assert [swap[one] for one in PALETTES["light"]] == list(PALETTES["dark"])
