"""The matrices of a test bench against the list that the tool itself prints."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from netcalc.errors import DomainError
from netcalc.scenario import matrices, matrix

LISTED = """
 1) 1->1:  1x1M
 2) 1->1:  1XS
 3) 2->1:  1x1M
 4) 2->1:  1xS
 5) 2->1:  2x1M
 6) 2->1:  2x16M
 7) 2->1:  2x1M,10K
 8) 2->1:  2x16M,10K
 9) 3->1:  1M
10) 3->1:  2x1M
11) 3->1:  4x1M
12) 3->1:  8x1M
13) 3->1: 16x1M
14) 3->1: 32x1M
15) 3->1: 4xSTREAM
16) 3->1: 8xSTREAM
17) 3->1:16xSTREAM
18) 3->1:  1x 10K,1M
19) 3->1:  2x 10K,1M
20) 3->1:  4x 10K,1M
21) 3->1:  8x 10K,1M
22) 3->1: 16x 10K,1M
23) 3->1: 32x 10K,1M
24) 3->1:  1x 8M,1M,50K,10K
25) 3->1:  2x 8M,1M,50K,10K
26) 3->1:  4x 8M,1M,50K,10K
27) 3->1:  8x 8M,1M,50K,10K
28) 3->1: 16x 8M,1M,50K,10K
29) 3->1: 32x 8M,1M,50K,10K
"""
"""published: the numbered tests in the head of netesto/local/inlib.rateTest, github.com/facebook/
fbkutils: clients to one server, and what each client sends; "2x1M,10K" is 1M,1M,10K in its
commands, "2x 10K,1M" twice both."""
UNITS = {"K": 1e3, "M": 1e6}


def read_test(text):
    """Return clients, streams and sizes of requests of one client, as the list writes them."""
    clients, what = re.fullmatch(r"\s*\d+\) (\d)->1:\s*(.+)", text).groups()
    times, _, items = what.upper().rpartition("X")
    count = int(times or 1)
    if items.strip() in ("S", "STREAM"):
        return int(clients), count, Counter()
    sizes = [float(one[:-1]) * UNITS[one[-1]] for one in items.strip().split(",")]
    repeated = sizes if items.startswith(" ") else sizes[:1]
    return int(clients), 0, Counter(repeated * count) + Counter(sizes[len(repeated) :])


def test_the_rate_tests_are_those_of_the_list():
    wanted = [read_test(line) for line in LISTED.strip().splitlines()]
    assert len(wanted) == 29
    found = matrix("rates", baseline="reno", test="bbr")
    assert len(found) == 2 * 29, "identity: the list for both algorithms"
    for algorithm in ("reno", "bbr"):
        for number, (clients, streams, sizes) in enumerate(wanted, 1):
            scenario = found[f"rate {number}, {algorithm}"]
            assert len(scenario.flows) == clients * streams
            asked = Counter(loop.request_bytes for loop in scenario.requests)
            assert asked == Counter({size: clients * count for size, count in sizes.items()})
            loads = (*scenario.flows, *scenario.requests)
            assert {load.algorithm for load in loads} == {algorithm}
            # published: replies of one byte, 60 s
            assert all(loop.reply_bytes == 1 for loop in scenario.requests)
            assert {(load.start_s, load.stop_s) for load in loads} == {(0.0, 60.0)}


def test_each_algorithm_meets_itself_and_the_other_first_and_second():
    """published: tests 1 to 8 of tcpCA23 in netesto/local/inlib.caTest."""
    found = matrix("versus", baseline="cubic", test="vegas")
    named = {name: [flow.algorithm for flow in one.flows] for name, one in found.items()}
    assert named == {
        "baseline, 2 flows": ["cubic"] * 2, "baseline, 3 flows": ["cubic"] * 3,
        "test, 2 flows": ["vegas"] * 2, "test, 3 flows": ["vegas"] * 3,
        "vs1, 2 flows": ["cubic", "vegas"], "vs1, 3 flows": ["cubic", "vegas", "vegas"],
        "vs2, 2 flows": ["vegas", "cubic"], "vs2, 3 flows": ["vegas", "cubic", "cubic"],
    }  # fmt: skip
    # published: 60 / 3 + 3 s, for 60 / 3 s; 60 / 6 + 3 s for 40 s, 60 / 3 + 5 s for 20 s
    times = [[(flow.start_s, flow.stop_s) for flow in found[f"vs1, {n} flows"].flows]
             for n in (2, 3)]  # fmt: skip
    assert times == [
        [(0.0, 60.0), (23.0, 43.0)], [(0.0, 60.0), (13.0, 53.0), (25.0, 45.0)],
    ]  # fmt: skip


def test_requests_meet_streams_as_in_the_figures_of_the_book():
    found = matrix("requests", baseline="cubic", test="bbr").values()
    pairs = {(one.requests[0].request_bytes, len(one.flows)) for one in found}
    # published: figures 18 and 19
    assert pairs == {(size, count) for size in (1e4, 1e6) for count in (1, 2, 4, 8, 16)}
    assert len(found) == 20


def test_sizes_of_the_matrices():
    # derived: 8 + 58; 5 buffers and 4 losses of the presets for both algorithms
    assert {name: len(matrix(name)) for name in matrices()} == {
        "netesto": 66, "versus": 8, "rates": 58, "requests": 20, "buffers": 10, "losses": 8,
    }  # fmt: skip


@pytest.mark.parametrize(("given", "code"), [
    ({"name": "rate"}, "not-a-choice"),
    ({"name": "rates", "test": "tahoe"}, "not-a-choice"),
    ({"name": "rates", "baseline": "bbr", "test": "bbr"}, "matrix-algorithms-alike"),
])  # fmt: skip
def test_what_is_no_matrix_is_refused(given, code):
    with pytest.raises(DomainError) as refused:
        matrix(given.pop("name"), **given)
    assert refused.value.code == code
