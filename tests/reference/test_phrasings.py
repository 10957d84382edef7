"""What a planner types: answered with the right number, or refused with the fix in the sentence.

``phrasings.csv`` has a line for each: the words, whether they are answered, and the number by
another way than netcalc's, or the parts of the sentence that say what to write.
"""

from __future__ import annotations

import csv
import io
import json
import math
import shlex
import sys
from fractions import Fraction
from pathlib import Path
from unittest import mock

import pytest

from netcalc.cli import main

FILE = Path(__file__).with_name("phrasings.csv")
PHRASINGS = list(csv.DictReader(FILE.read_text(encoding="utf-8").splitlines()))
ANSWERED = [row for row in PHRASINGS if row["how"] == "answered"]
REFUSED = [row for row in PHRASINGS if row["how"] == "refused"]


def said(line):
    """Run a command in this process: its exit code, its output, its errors."""
    streams = {name: io.TextIOWrapper(io.BytesIO(), "utf-8") for name in ("stdout", "stderr")}
    with mock.patch.multiple(sys, **streams), pytest.raises(SystemExit) as ended:
        main(shlex.split(line))
    for stream in streams.values():
        stream.flush()
    texts = [stream.buffer.getvalue().decode() for stream in streams.values()]
    return ended.value.code, *texts


def erlang_b(erlangs, servers):
    """Blocking as the textbook has it: the last of the terms A^k/k! over their sum."""
    load = Fraction(str(erlangs))
    terms = [load**k / math.factorial(k) for k in range(servers + 1)]
    return float(terms[-1] / sum(terms))


def servers(erlangs, blocking):
    """The least count of servers whose blocking is not above a share."""
    return next(n for n in range(1, 1000) if erlang_b(erlangs, n) <= blocking)


def erlang_c(erlangs, count):
    """Probability of waiting, from the blocking without a queue."""
    blocked = erlang_b(erlangs, count)
    return blocked / (1 - erlangs / count * (1 - blocked))


KNOWN = {
    "sqrt": math.sqrt, "log": math.log, "exp": math.exp, "erlang_b": erlang_b,
    "erlang_c": erlang_c, "servers": servers,
}  # fmt: skip


def test_there_are_at_least_131_phrasings_of_which_115_are_answered():
    assert len({row["typed"] for row in PHRASINGS}) == len(PHRASINGS) >= 131
    assert len(ANSWERED) >= 115
    assert all(row["source"] for row in PHRASINGS)


@pytest.mark.each("row", ANSWERED, ids=lambda row: row["typed"])
def test_a_phrasing_is_answered(row):
    code, answer, errors = said(f"{row['typed']} --json")
    assert code == 0, errors
    document = json.loads(answer)
    if "results" in document:
        (converted,) = document["results"]
        result = converted["value"]
    elif "roots" in document:
        (root,) = document["roots"]
        result = root["value"]
    else:
        result = document["result"]
    expected = eval(row["expected"], {"__builtins__": {}}, KNOWN)
    assert flat(result) == pytest.approx(flat(expected), rel=1e-9), row["source"]


def flat(value):
    """Return the numbers of a table, row by row."""
    if isinstance(value, list):
        return [number for one in value for number in flat(one)]
    return [value]


@pytest.mark.each("row", REFUSED, ids=lambda row: row["typed"])
def test_a_phrasing_is_refused_with_the_fix(row):
    code, answer, errors = said(row["typed"])
    assert (code, answer) == (2, "")
    assert "Traceback" not in errors
    assert len(errors.strip().splitlines()) == 1
    assert [part for part in row["expected"].split(" | ") if part not in errors] == [], errors


def test_how_a_doubtful_phrasing_was_read_is_said():
    for line, reading in [
        ("calc mathis 0.01 --mss 1460 --rtt 50ms", "--loss 0.01 is read as 1%"),
        ("calc tunnel-mtu 1500 ipsec", "--stack ipsec is read as esp4:aes-gcm-16"),
        ("calc voip-bandwidth G.711", "--payload G.711 is read as 160 B"),
    ]:
        code, _, errors = said(line)
        assert code == 0
        assert errors.startswith(f"netcalc: note: {reading}\n")
        assert errors.count("note:") == 1
    assert said("calc mm1-wait 0.8 1ms")[2] == ""
    assert said("calc mathis 1% --mss 1460 --rtt 50ms")[2] == ""
