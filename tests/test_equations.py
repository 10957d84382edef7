"""Quantities put into equations, and equations as text; the expected lines are written by hand."""

from __future__ import annotations

import pytest

from netcalc import calculator, equations


@pytest.mark.each(
    ("equation", "quantities", "expected"),
    [
        ("t = 8 L / R", {"L": "1538 B", "R": "1 Gbit/s"},
         r"t = 8 \cdot 1538\,\mathrm{B} / 1\,\mathrm{Gbit/s}"),
        # a run of letters is a word where a symbol is one, else a product
        (r"T = 2 RTT + 2bp", {"RTT": "30 ms", "b": "2", "p": "0.01"},
         r"T = 2 \cdot 30\,\mathrm{ms} + 2 \cdot 2 \cdot 0.01"),
        # a subscript belongs to its letter
        (r"R_i + R", {"R": "5"}, r"R_i + 5"),
        (r"R_{in} - R_{out}", {"R_{in}": "3", "R_{out}": "2"}, "3 - 2"),
        # what is raised to a power is enclosed, unless it is a bare number
        (r"W^2 + p^k", {"W": "10 ms", "p": "0.5", "k": "3"},
         r"\left(10\,\mathrm{ms}\right)^2 + 0.5^{3}"),
        (r"c_s^2 / 2", {"c_s^2": "0.5"}, "0.5 / 2"),
        # a base of a logarithm and the ends of a sum are no factors
        (r"\log_g \frac{n}{2}", {"g": "1.5", "n": "8"}, r"\log_{1.5} \frac{8}{2}"),
        (r"\sum_{k=0}^{c} A", {"c": "4", "A": "2"}, r"\sum_{k=0}^{4} 2"),
        # words stay
        (r"A \text{ if } A > 1", {"A": "2"}, r"2 \text{ if } 2 > 1"),
        (r"1 / p", {"p": "1e-06"}, r"1 / 10^{-6}"),
        (r"1 / p", {"p": "1.5e-06"}, r"1 / \left(1.5 \cdot 10^{-6}\right)"),
        # the longest symbol that fits, and a dot before a factor that is no quantity
        (r"c_s^2 / c_s", {"c_s": "3", "c_s^2": "4"}, "4 / 3"),
        (r"L (x + 1) - L x", {"L": "5"}, r"5 \cdot (x + 1) - 5 \cdot x"),
        (r"\frac{s}{1 - \rho} q", {"s": "1 ms", r"\rho": "0.8", "q": "2"},
         r"\frac{1\,\mathrm{ms}}{1 - 0.8} \cdot 2"),
    ],
)  # fmt: skip
def test_quantities_are_put_in(equation, quantities, expected):
    assert equations.substitute(equation, quantities) == expected


@pytest.mark.each(
    ("quantity", "expected"),
    [
        ("12.3 µs", r"12.3\,\mathrm{\mu s}"), ("-2 ms", r"-2\,\mathrm{ms}"), ("7", "7"),
        ("5 %", r"5\,\mathrm{\%}"), ("5%", r"5\,\%"), ("inf s", r"\infty"),
        ("-inf s", r"-\infty"), ("1e+06 B", r"10^{6}\,\mathrm{B}"),
        ("2e-06 s", r"2 \cdot 10^{-6}\,\mathrm{s}"), ("of a queue", r"\text{of a queue}"),
    ],
)  # fmt: skip
def test_a_quantity_in_latex(quantity, expected):
    assert equations.latex(quantity) == expected


@pytest.mark.each(
    ("equation", "expected"),
    [
        (r"X = \frac{8\, MSS}{RTT} \frac{C}{\sqrt{p}}", "X = (8 MSS) / RTT · C / √(p)"),
        (r"f = \frac{G}{8 p}", "f = G / (8 p)"),
        (r"t_q = \frac{s}{1 - \rho} \ln \frac{\rho}{1 - q}", "t_q = s / (1 - ρ) · ln(ρ / (1 - q))"),
        (r"K = \sqrt[3]{W_{max} / C}", "K = ∛(W_max / C)"),
        (r"k = \lceil n / c \rceil + 2^{r + 1}", "k = ⌈n / c⌉ + 2^(r + 1)"),
        (r"t = \begin{cases} 0 & N < M \\ D & \text{otherwise} \end{cases}",
         "t = { 0 : N < M ; D : otherwise }"),
        (r"W = X, \quad X = \tfrac12 b^2", "W = X,   X = 1 / 2 · b²"),
        (r"X = \tfrac 3 4 b + \tfrac{12}{5}", "X = 3 / 4 · b + 12 / 5"),
        (r"\bar W = \min(2\,\mathrm{ms}, 1\,\mathrm{Mbit/s})", "W\u0304 = min(2 ms, 1 Mbit/s)"),
        (r"\frac{1\,\mathrm{MB}}{2\,\mathrm{Mbit/s}}", "1 MB / 2 Mbit/s"),
    ],
)  # fmt: skip
def test_plain_text(equation, expected):
    assert equations.plain(equation) == expected


def test_a_formula_with_its_numbers():
    loss = calculator.formula("mathis_throughput")
    given = {"loss_ratio": 1e-4, "mss_bytes": 1460, "rtt_s": 0.1}
    # derived: 8 x 1460 x sqrt(1.5) / 0.1 / 0.01
    assert loss.equation_text(given, 14_304_999.0) == (
        "X = (8 · 1460 B) / 100 ms · 1.22474 / √(0.0001) = 14.3 Mbit/s"
    )


def test_a_list_follows_its_equation():
    rate = calculator.formula("equivalent_bandwidth")
    assert rate.equation_text({"bandwidth_bps": [1e6, 1e7]}, 1e6 / 1.1) == (
        "R = 1 / Σ_i (1 / R_i) = 909.1 kbit/s,   R_i = 1 Mbit/s, 10 Mbit/s"
    )


def test_a_search_names_what_it_found():
    servers = calculator.formula("erlang_b_server_count")
    assert servers.equation_text({"offered_erlang": 8, "blocking_ratio": 0.01}, 15.0) == (
        "min { c : B(c, 8) ≤ 0.01 }   ⇒   c = 15"
    )


def test_a_choice_that_stands_for_a_quantity():
    payload = calculator.formula("framing.tcp_payload")
    assert payload.equation_text({"mtu_bytes": 1500, "ip_version": 6}, 1440.0) == (
        "p = 1500 B - 40 B - 20 - 0 B = 1440 B"
    )


def test_the_validity_does_not_hold_the_symbols():
    transfer = calculator.formula("latency.transfer")
    assert transfer.validity.endswith("a lower bound for TCP.")
    assert transfer.symbols == {"N": "payload_bytes", "R": "bandwidth_bps", "d": "latency_s"}
