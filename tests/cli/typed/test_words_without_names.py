"""Values without a name are put in place by their unit, whatever form they have."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from netcalc.cli import commands


def run(*arguments):
    return CliRunner().invoke(commands, arguments)


@pytest.mark.each(
    ("words", "named"),
    [
        (["80..100Mbit/s", "30ms"], ["--bandwidth", "80..100Mbit/s", "--rtt", "30ms"]),
        (["30ms", "80..100Mbit/s"], ["--bandwidth", "80..100Mbit/s", "--rtt", "30ms"]),
        (["1Gbit/s", "20..30ms"], ["--bandwidth", "1Gbit/s", "--rtt", "20..30ms"]),
        (["9 Mbit/s ± 1 Mbit/s", "20..30ms"],
         ["--bandwidth", "9 Mbit/s ± 1 Mbit/s", "--rtt", "20..30ms"]),
        (["1G,2G,3G", "30ms"], ["--bandwidth", "1G,2G,3G", "--rtt", "30ms"]),
        (["10M", "80ms"], ["--bandwidth", "10M", "--rtt", "80ms"]),
    ],
)  # fmt: skip
def test_values_find_their_argument(words, named):
    """Identity: the same question with the names of its arguments."""
    found = run("calc", "bdp", *words, "--json")
    assert found.exception is None, found.exception
    assert json.loads(found.stdout) == json.loads(run("calc", "bdp", *named, "--json").stdout)


def test_a_column_takes_the_place_that_is_left(tmp_path):
    path = tmp_path / "rates.csv"
    path.write_text("rate [Mbit/s]\n80\n80\n100\n")
    done = run("calc", "bdp", f"{path}:rate", "30ms")
    # derived: 80 Mbit/s and 30 ms
    assert done.stdout.splitlines()[0] == "p5: 300 kB"


@pytest.mark.each(
    ("words", "named", "said"),
    [
        (["1,000 Mbit/s", "80ms"], "bandwidth", "'1,000 Mbit/s' is ambiguous"),
        (["5b", "80ms"], "bandwidth", "'5b' is not a rate"),
        (["80..100Mbit/s", "1..2Gbit/s"], "rtt", "'1..2Gbit/s' is not a time"),
        (["80..100Mbit/s", "5"], "rtt", "'5' needs a unit"),
    ],
)
def test_the_word_that_is_not_plain_is_refused_for_the_argument_that_is_left(words, named, said):
    error = run("calc", "bdp", *words).exception
    assert error.field == named
    assert said in str(error)
