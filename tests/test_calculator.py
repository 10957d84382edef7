"""Formulas made from functions: their words, their arguments, their answers from text."""

from __future__ import annotations

import inspect
import math
import re
import subprocess
import sys

import numpy as np
import pytest

from netcalc import calculator, checks, models, units
from netcalc.calculator import catalogue
from netcalc.calculator.catalogue import FORMER_NAMES
from netcalc.calculator.names import TITLES
from netcalc.errors import ArgumentTypeError, DomainError, UnitError


def test_every_public_model_is_a_formula_with_words():
    found = calculator.formulas()
    assert len(found) > 30
    for formula in found.values():
        assert formula.summary.endswith("."), formula.name
        assert formula.parameters or not inspect.signature(formula.function).parameters


def test_a_formula_knows_what_its_docstring_says():
    transfer = calculator.formula("latency.transfer_s")
    assert transfer.equation == "t = d + 8 N / R"
    assert transfer.unit == "s"
    assert transfer.validity.startswith("Validity: one stream")
    assert "Stevens" in transfer.source
    first = transfer.parameters[0]
    assert (first.name, first.short_name, first.unit, first.kind) == (
        "payload_bytes",
        "payload",
        "byte",
        "number",
    )
    assert first.description == "Bytes to transfer, headers not counted."


@pytest.mark.each("name", ["transfer", "transfer_s", "latency.transfer", "latency.transfer_s"])
def test_a_formula_is_found_by_all_its_names(name):
    assert calculator.formula(name).name == "latency.transfer_s"


def test_an_unknown_formula_names_the_nearest():
    with pytest.raises(DomainError, match="transfer"):
        calculator.formula("trasnfer")


def test_text_in_number_out():
    # published: Stevens vol. 3, A.3: 178 + 30 ms
    time = calculator.formula("transfer").evaluate_text(
        {"payload_bytes": "1 MB", "bandwidth": "T3 nominal", "latency-s": "30 ms"}
    )
    assert time == pytest.approx(0.208, abs=0.0005)


def test_lists_and_defaults():
    formula = calculator.formula("store-and-forward")
    # published: Fig. A-9: 24 ms less the 3 ms of processing, with 7.5 ms for the T1
    total = formula.evaluate_text(
        {"packet": "1428B", "bandwidth": "1.5232 Mbit/s, 1.5232 Mbit/s", "latency": "5ms;1ms"}
    )
    assert total == pytest.approx(0.021)


@pytest.mark.each(
    ("texts", "error", "values"),
    [
        (
            {"payload": "1 MB", "bandwidth": "T1"},
            DomainError,
            {"code": "is-required", "name": "latency"},
        ),
        (
            {"payload": "1 MB", "bandwith": "T1"},
            DomainError,
            {"code": "not-a-choice", "choices": ["payload", "bandwidth", "latency"]},
        ),
        ({"payload": "30 ms"}, UnitError, {"code": "unit-of-other-kind", "field": "payload"}),
        (
            {"payload": "1", "bandwidth": "T1", "latency": "1 s"},
            UnitError,
            {"code": "unit-missing", "field": "payload", "text": "1"},
        ),
    ],
)
def test_mistakes_are_named(texts, error, values):
    with pytest.raises(error) as caught:
        calculator.formula("transfer").evaluate_text(texts)
    assert values.items() <= {"code": caught.value.code, **caught.value.values}.items()


def test_the_command_of_every_formula_finds_it_again():
    for formula in calculator.formulas().values():
        assert calculator.formula(calculator.command(formula)) is formula


def test_a_search_leaves_out_words_that_no_formula_has():
    assert calculator.search("cut through")[0].short_name == "cut_through"
    assert calculator.search("cut through nonsenseword")[0].short_name == "cut_through"
    assert not calculator.search("nonsenseword")


def test_what_is_found_is_printed_a_line_each_and_can_be_called():
    found = calculator.search("bandwidth delay")
    assert str(found).splitlines()[:2] == [
        "bdp: Bandwidth-delay product; bdp_bytes(rtt_s, *, bandwidth_bps)",
        "bdp-packets: Bandwidth-delay product in packets; "
        "bdp_packets(rtt_s, *, bandwidth_bps, packet_bytes)",
    ]
    assert found[0](0.1, bandwidth_bps=1e9) == 1e9 * 0.1 / 8  # definition
    assert found[0]([0.1, 0.2], bandwidth_bps=8.0).tolist() == [0.1, 0.2]
    with pytest.raises(ArgumentTypeError, match=r"Did you mean bandwidth_bps\?"):
        found[0](0.1, bandwidth=1e9)
    assert str(calculator.search("nonsenseword")) == "[]"


def test_a_printed_formula_is_a_line_that_says_what_is_optional():
    lines = {formula.name: repr(formula) for formula in calculator.formulas().values()}
    assert lines["latency.propagation_s"].endswith("; propagation_s(distance_m, *, ...)")
    assert [line for line in lines.values() if "\n" in line] == []


def test_every_default_can_be_shown_and_read_again():
    for formula in calculator.formulas().values():
        for parameter in formula.parameters:
            if parameter.required or parameter.default is None:
                continue
            if isinstance(parameter.default, str | bool | tuple):
                continue
            shown = units.show(float(parameter.default), parameter.unit, digits=15)
            if np.isfinite(float(parameter.default)):
                assert np.ravel(parameter.read(shown)) == pytest.approx(float(parameter.default)), (
                    formula.name, parameter.name,
                )  # fmt: skip


@pytest.mark.each("formula", calculator.formulas().values(), ids=lambda found: found.name)
def test_the_example_of_a_docstring_is_a_set_of_arguments(formula):
    example = formula.example
    assert all(parameter.name in example for parameter in formula.parameters if parameter.required)
    result = formula.evaluate(example)
    *inputs, (name, _) = calculator.explained(formula, example, result)
    assert [line[0] for line in inputs] == [parameter.name for parameter in formula.parameters]
    assert name == formula.function_name
    assert len({len(column) for column in calculator.table(formula, result).values()}) == 1


def test_an_example_with_arithmetic_and_names():
    # all are written so in the docstrings; the first call in a line counts
    assert "nagle" not in calculator.formula("write_write_read").example
    assert calculator.formula("sequence_wrap").example["sequence_space_bytes"] == 2**31
    costs = calculator.formula("two_point_costs").example
    assert costs["payload_bytes"] == [7.2e6, 7.2e6]


def test_a_sweep_of_several_results_has_their_columns():
    # published: Stevens vol. 3, A.2: 1, 2 and 3 mbufs at 0, 100 and 200 bytes, a cluster at 300
    swept = calculator.sweep(
        calculator.formula("datagram_mbufs"), {}, over="payload_bytes", values=[0, 100, 200, 300]
    )
    assert swept.columns["mbufs"].tolist()[:3] == [1, 2, 3]
    assert swept.columns["clusters"].tolist() == [0, 0, 0, 1]


def test_a_sweep_leaves_gaps_where_a_value_is_impossible():
    loss = calculator.formula("mathis_throughput")
    given, values = loss.example, np.array([0.5, 2.0])
    with pytest.raises(DomainError, match="loss_ratio"):
        calculator.sweep(loss, given, over="loss_ratio", values=values)
    swept = calculator.sweep(loss, given, over="loss_ratio", values=values, gaps=True)
    assert np.isfinite(swept.columns["result"]).tolist() == [True, False]
    assert "loss_ratio" in swept.refused
    assert "got 2" in swept.refused
    with pytest.raises(DomainError, match="loss_ratio"):
        calculator.sweep(loss, given, over="loss_ratio", values=[2.0, 3.0], gaps=True)


def test_solving_for_a_result_in_words():
    # derived: 8e6 bit / (1.03 - 0.03) s
    line = {"payload_bytes": 1e6, "latency_s": 0.03}
    found = calculator.solve_for(
        calculator.formula("transfer"), line, over="bandwidth", result="1.03 s"
    )
    assert [root.value for root in found.roots] == pytest.approx([8e6])
    none = calculator.solve_for(
        calculator.formula("transfer"), line, over="bandwidth", result="1 ms", limits="T1:T3"
    )
    assert none.lines == ["no solution in [1.544 Mbit/s, 44.74 Mbit/s]"]
    with pytest.raises(DomainError) as caught:
        calculator.solve_for(
            calculator.formula("transfer"), {"payload_bytes": 1.0}, over="bandwidth", result="1 s"
        )
    assert (caught.value.code, caught.value.name) == ("is-required", "latency")


def test_a_range_to_sweep_stays_possible():
    utilization = calculator.formula("mm1_wait").parameter("utilization")
    assert calculator.sweep_range(utilization, 0.8) == (0.0, 1.0, False)
    loss = calculator.formula("mathis_throughput").parameter("loss_ratio")
    # derived: a decade to both sides
    assert calculator.sweep_range(loss, 1e-3) == pytest.approx((1e-4, 1e-2, True))
    latency = calculator.formula("transfer").parameter("latency")
    assert calculator.sweep_range(latency, 0.0) == (0.0, 0.03, False)


@pytest.mark.each(
    ("name", "texts", "said"),
    [
        ("mathis-throughput", {"loss": "30%"}, "loss is 30%, beyond the published range"),
        ("mathis-throughput", {"loss": "1%"}, ""),
        ("mathis-loss", {"throughput": "100 kbit/s"}, "the result is"),
        ("pftk-approx-rate", {"loss": "20%", "rto": "1 s"}, "up to 2%"),
        ("transfer", {"payload": "1 GB", "bandwidth": "T1", "latency": "30 ms"}, ""),
        (
            "optimal-segment", {"message": "1 kbit", "header": "320 bit", "link_count": "3"},
            "segment count (the message over the segment) is 2.5, below the published range",
        ),
        (
            "congestion-limit", {"loss": "2%"},
            "loss is 2%, beyond the published range of cubic-throughput (up to 1%), which",
        ),
    ],
)  # fmt: skip
def test_a_number_beyond_the_published_range_is_told(name, texts, said):  # M17
    wanted = calculator.formula(name)
    if "rtt_s" in {parameter.name for parameter in wanted.parameters}:
        texts = {"rtt": "100 ms", **texts}
    if "mss_bytes" in {parameter.name for parameter in wanted.parameters}:
        texts = {"mss": "1460 B", **texts}
    arguments = wanted.arguments(texts)
    doubt = wanted.doubt(*wanted.answer(arguments))
    assert said in doubt
    assert bool(doubt) == bool(said)


def test_every_published_range_names_a_parameter():
    ranged = [f for f in calculator.formulas().values() if f.published_ranges]
    assert len(ranged) >= 75
    for wanted in ranged:
        judged = checks.derived_quantities(wanted.function)
        for name, (low, high) in wanted.published_ranges.items():
            assert name == "result" or name in judged or wanted.parameter(name).name == name
            assert low < high


@pytest.mark.each(
    ("name", "texts", "said"),
    [
        ("mm1-wait", {"utilization": "120%", "service": "1 ms"}, "no steady state"),
        ("md1-wait", {"utilization": "100%", "service": "1 ms"}, "no steady state"),
        ("mg1-wait", {"utilization": "100%", "service": "1 ms", "service_scv": "2"}, "mm1k_wait"),
        ("mmc-wait", {"offered_erlang": "9", "server_count": "9", "service": "1s"}, "no steady"),
        ("mathis-throughput", {"loss": "0%", "rtt": "100 ms", "mss": "1460 B"}, "not loss limited"),
        ("pftk-rate", {"loss": "0%", "rtt": "100 ms", "rto": "1 s"}, "not loss limited"),
        ("transfer-bandwidth", {"payload": "1 MB", "transfer": "1 s", "latency": "1s"}, "inf if"),
        ("transfer-bandwidth", {"payload": "1 MB", "transfer": "1 s", "latency": "2s"}, "nan if"),
        ("mm1-wait", {"utilization": "99%", "service": "1 ms"}, ""),
    ],
)  # fmt: skip
def test_a_result_that_is_no_number_is_said_in_words(name, texts, said):
    """Load at or above 1, no loss where only losses limit, a time that no bandwidth reaches."""
    wanted = calculator.formula(name)
    arguments = wanted.arguments(texts)
    result = wanted.evaluate(arguments)
    assert bool(said) != math.isfinite(result)
    doubt = wanted.doubt(result)
    assert said in doubt
    assert bool(doubt) == bool(said)


def test_the_finite_queue_that_is_named_instead_has_an_answer():
    texts = {"utilization": "120%", "place_count": "10", "service": "1 ms"}
    assert 0 < calculator.formula("mm1k_wait").evaluate_text(texts) < 10e-3  # at most 9 before it


def test_every_rule_for_what_is_no_number_is_found_in_its_docstring():
    for wanted in calculator.formulas().values():
        for value in (math.inf, -math.inf, math.nan):
            documented = re.search(rf"(?<![\w-]){value}\b", wanted.returns)
            said = wanted.doubt(value)
            assert bool(documented) == said.startswith(f"the formula gives {value}"), wanted.name


def test_a_rule_ends_with_its_sentence_and_not_at_a_stop_within():
    text = (
        "R; nan where 802.11ac, e.g. of Fig. 3, i.e. RFC 9.1 (vs. Li et al. 9), has none, {}. End."
    )
    for other in ("inf at 0", "-inf below 1.5"):
        said = catalogue.rule_for("nan", text.format(other))
        assert said.startswith("nan where 802.11ac, e.g. of")
        assert said.endswith("9), has none")
        assert catalogue.rule_for(other.partition(" ")[0], text.format(other)) == other
        assert catalogue.rule_for("inf" if "-" in other else "-inf", text.format(other)) == ""


def test_no_rule_of_a_docstring_is_cut():
    """A rule ends where its sentence does, and with its brackets."""
    for wanted in calculator.formulas().values():
        for value in ("inf", "-inf", "nan"):
            rule = catalogue.rule_for(value, wanted.returns)
            assert rule.count("(") == rule.count(")"), wanted.name
            rest = wanted.returns.partition(rule)[2] if rule else ""
            assert re.match(r"$|[;)]|\.(\s|$)|, (inf|-inf|nan)\b", rest), (wanted.name, rule, rest)


@pytest.mark.each(
    ("name", "texts", "said"),
    [
        ("priority-wait", {"utilization": "50%, 60%", "service": "1ms, 1ms"}, "1 or more"),
        ("exhaustion-band", {"traffic": "1 Gbit/s, 1 Gbit/s, 1 Gbit/s", "time": "0 d, 1 d, 2 d",
                             "capacity": "10 Gbit/s"}, "does not grow"),
        ("bdp", {"rtt": "1e300 s", "bandwidth": "1e300 bit/s"}, "larger than 1.8e+308"),
    ],
)  # fmt: skip
def test_a_part_of_a_result_that_is_no_number_is_said(name, texts, said):
    """By the definition of each: two classes above the line, constant traffic, and 1e600 bytes."""
    wanted = calculator.formula(name)
    assert said in wanted.doubt(wanted.evaluate(wanted.arguments(texts)))


def test_a_sweep_across_full_load_says_why_it_has_no_number():
    for loads, said in (([0.5, 1.2], "no steady state"), ([0.5, 0.9], "")):
        swept = calculator.sweep(
            calculator.formula("mm1-wait"), {"service_s": 1e-3}, over="utilization", values=loads
        )
        assert bool(said) == ("the formula gives" in swept.doubt)
        assert said in swept.doubt


@pytest.mark.each(
    ("former", "name"),
    [
        ("balance", "latency.half_rate_bytes"),
        ("latency.balance-bytes", "latency.half_rate_bytes"),
        ("mm1_state", "mm1.mm1_state_probability"),
        ("mm1.mm1_state_ratio", "mm1.mm1_state_probability"),
        ("rate_reading.goodput_rate", "line_rate.goodput_rate_pps"),
        ("rate-reading.saturating-pair-count", "line_rate.saturating_pair_count"),
        ("pftk_inverse.pftk_loss_ratio", "pftk.pftk_loss_ratio"),
        ("pftk_inverse.pftk_approx_loss", "pftk.pftk_approx_loss_ratio"),
        ("cubic_under_loss.cubic_throughput", "cubic.cubic_throughput_bps"),
    ],
)
def test_former_names_are_understood(former, name):
    assert calculator.formula(former).name == name


def test_former_names_lead_to_formulas_and_hide_none():
    present = calculator.formulas()
    known = {n for f in present.values() for n in (f.function_name, f.short_name)}
    assert not known & set(FORMER_NAMES)
    assert set(FORMER_NAMES.values()) <= known
    subjects = {f.subject for f in present.values()}
    assert not subjects & set(models.FORMER_SUBJECTS)
    assert set(models.FORMER_SUBJECTS.values()) <= subjects


def test_python_without_docstrings_is_refused_in_a_sentence():
    given = ["transfer", "1MB", "--bandwidth", "T1", "--latency", "30ms"]
    done = subprocess.run(
        [sys.executable, "-OO", "-m", "netcalc", "calc", *given],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert done.stdout == ""
    assert "python -OO removes" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_every_formula_has_a_title_in_words_of_its_own():
    titles = [formula.title for formula in calculator.formulas().values()]
    assert len(set(titles)) == len(titles)
    for title in titles:
        assert 5 < len(title) <= 60, title
        assert "_" not in title, title
        assert title[0].isupper(), title
        assert not title.endswith("."), title


def test_titles_that_are_written_down_are_those_of_formulas():
    assert TITLES.keys() <= calculator.formulas().keys()
