"""Where formulas say that they hold: in numbers, unless they are exact under their assumptions."""

from __future__ import annotations

import inspect
import re

import pytest

from netcalc import calculator, checks
from netcalc.models.tcp.bbr import LOSS_TOLERANCE_RATIO

FORMULAS = calculator.formulas()

WORDS = re.compile(
    r"\b(approx\w*|asympt\w*|empirical\w*|heavy[\s-]+traffic|large|rules?\s+of\s+(?:thumb|experience))\b"
    r"|\\approx",
    re.IGNORECASE,
)
"""Words of formulas that are not exact: they may not say that they hold everywhere."""

EXACT = {
    "small_writes.nagle_may_send": "large: a window that is not the limit, an assumption",
    "small_writes.minshall_may_send": "large: a window that is not the limit, an assumption",
    "mbufs.freebsd_mbufs": "large: the name of a kind of cluster",
    "hashing.hashed_load_cv": "large: a flow in an example; the variance is exact",
    "erlang.multirate_blocking_ratio": "large: calls of many circuits; the sum is exact",
    "queueing.packet_ahead_wait_s": "large: packets; a mean that is exact",
    "probing.rtt_slope": "large: a reply as large as the request",
    "probing.hop_bandwidth_bps": "large: the slopes; their difference is exact",
    "policer.policer_rule_bytes": "the rule of thumb itself, a product and no result of a model",
}
"""Formulas that use such a word and are exact, or state no result, with the reason."""

HELPERS = {
    "active_variance": "_note_few",
    "loss_count": "note_few_losses",
    "window_bytes": "tcp_window",
}
"""Functions that several formulas ask to judge a quantity."""

OTHER_SECTIONS = re.compile(
    r"^(?:See Also|Examples|References)\n-+\n.*?(?=^\w[\w ]*\n-+\n|\Z)", re.MULTILINE | re.DOTALL
)


def docstring(formula):
    return inspect.cleandoc(inspect.unwrap(formula.function).__doc__)


def inexact_word(formula):
    """Return the first such word that a docstring says of its own formula."""
    found = WORDS.search(OTHER_SECTIONS.sub("", docstring(formula)))
    return found and found[0]


def test_what_is_no_exact_result_has_a_range_in_numbers():
    everywhere = {
        name
        for name, formula in FORMULAS.items()
        if "Range: everywhere." in docstring(formula) and inexact_word(formula)
    }
    assert everywhere - EXACT.keys() == set(), "give a range in numbers, and the evidence"
    assert EXACT.keys() - everywhere == set(), "listed without need"


def test_the_words_are_found():
    for text in ("Approximation.", "heavy\n    traffic", "a rule of thumb", r"W \approx s"):
        assert WORDS.search(text)
    assert not WORDS.search("the largest; enlarge")


@pytest.mark.each("formula", FORMULAS.values(), ids=FORMULAS)
def test_a_range_is_everywhere_or_names_what_it_limits(formula):
    limited = checks.published_ranges(formula.function)
    used = checks.used_ranges(formula.function)
    is_everywhere = "Range: everywhere." in docstring(formula)
    assert is_everywhere != bool(limited or used)
    for low, high in limited.values():
        assert (low, high) != (float("-inf"), float("inf")), "a range without an end"


def reached(function):
    """Return the functions of models that a function calls, and those that they call, by name."""
    found, left = {}, [function]
    while left:
        one = inspect.unwrap(left.pop())
        if one.__name__ in found:
            continue
        found[one.__name__] = one
        codes = [one.__code__]
        for code in codes:
            codes += [inner for inner in code.co_consts if inspect.iscode(inner)]
            called = (one.__globals__.get(name) for name in code.co_names)
            left += [other for other in called if inspect.isfunction(other)
                     and other.__module__.startswith("netcalc.models")]  # fmt: skip
    return found


def test_what_is_not_called_is_not_reached():
    names = reached(inspect.unwrap(FORMULAS["multiplexing.class_bandwidth_bps"].function))
    assert "_note_few" in names
    assert "overload_ratio" not in names


@pytest.mark.each("formula", FORMULAS.values(), ids=FORMULAS)
def test_what_is_derived_or_passed_on_is_judged_by_the_code(formula):
    function = inspect.unwrap(formula.function)
    asked = reached(function)
    source = "\n".join(map(inspect.getsource, asked.values()))
    for name in checks.used_ranges(function):
        other = function.__globals__[name]
        limited = checks.published_ranges(other) or checks.used_ranges(other)
        assert limited, f"{name} holds everywhere"
        is_noted = re.search(rf"note_outside_range\(\s*(?:used|{name})\b", source)
        assert name in asked or is_noted, name
    for name in checks.derived_quantities(function):
        judged = rf"note_outside_range\([^)]*\b{name}=|note\(\s*\"[\w-]+\",\s*name=\"{name}\""
        assert re.search(judged, source) or HELPERS.get(name) in asked, name


def test_one_number_for_one_limit():
    """What two docstrings must say alike: parts of transfers, the tolerance of BBR, a window."""
    ranges = {name: checks.published_ranges(one.function) for name, one in FORMULAS.items()}
    transfer = ranges["transfer_time.transfer_time_s"]
    assert transfer == ranges["transfer_time.transfer_parts"]
    assert transfer == {"loss_count": ranges["short_transfers.lossy_transfer_s"]["loss_count"]}
    for name in ("ceilings.congestion_limit_bps", "ceilings.path_ceilings",
                 "ceilings.bbr_throughput_bps"):  # fmt: skip
        assert ranges[name]["loss_ratio"][1] == LOSS_TOLERANCE_RATIO
