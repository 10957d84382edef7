"""Formulas as people write them: what they give, and what is refused."""

from __future__ import annotations

import pytest

from netcalc import units
from netcalc.claims import Quantity, evaluate
from netcalc.claims.expression import is_name
from netcalc.errors import DomainError, NetcalcError, UnitError


@pytest.mark.each(
    ("text", "unit", "value", "source"),
    [
        ("2 + 3 * 4", "1", 14.0, "identity: product binds closer"),
        ("(2 + 3) * 4", "1", 20.0, "identity: brackets"),
        ("2 - 3 - 4", "1", -5.0, "identity: from the left"),
        ("24 / 4 / 2", "1", 3.0, "identity: from the left"),
        ("-2 ** 2", "1", -4.0, "identity: power binds closer than a sign"),
        ("2 ** -1", "1", 0.5, "identity"),
        ("--2", "1", 2.0, "identity"),
        ("1428 B / 24 ms", "bit/s", 476e3, "published: Stevens vol. 3, A.3, 476 000 b/s"),
        ("10 Mbit/s * 1 s", "byte", 1.25e6, "identity: 8 bits a byte"),
        ("64 KiB", "byte", 65536.0, "identity: 2^16"),
        ("1/10000 pps", "s/packet", 1e-4, "identity: inverse of a rate"),
        ("10 B/s", "bit/s", 80.0, "identity: the unit is read to its end"),
        ("10 B/2 s", "bit/s", 40.0, "identity: what no unit begins with is a division"),
        ("20 %", "ratio", 0.2, "identity"),
        ("(3 m) ** 2 / 3 m", "m", 3.0, "identity: units are carried along"),
        ("T1", "bit/s", 1.544e6, "published: ANSI T1.107"),
        ("T3 nominal", "bit/s", 45e6, "published: Stevens vol. 3, A.3"),
        ("OC-3 payload", "bit/s", 149.76e6, "published: ANSI T1.105"),
        ("transfer(1 MB, bandwidth=T1, latency=30 ms)", "s", 8e6 / 1.544e6 + 0.03, "derived"),
        ("transfer_s(payload_bytes=1 MB, bandwidth=T1, latency=0 s)", "s", 8e6 / 1.544e6,
         "derived: names with their units"),
        ("frame-rate(64 B, bandwidth=100 Mbit/s)", "packet/s", 1e8 / 672, "derived: 84 B each"),
        ("write_write_read(30 ms, nagle=no, write_gap=15 ms)", "s", 0.045, "derived: 30 + 15"),
        ("round_trips(tcp, security='tls1.3')", "1", 3.0, "published: RFC 8446"),
        ("round_trips(tcp) - round_trips(ttcp)", "1", 1.0, "published: RFC 1644"),
        ("datagram_mbufs(200 B).mbufs", "1", 3.0, "published: Stevens vol. 3, A.2"),
        ("two_point_costs([2 s, 3 s], packet_count=[1, 2], payload=[1 B, 1 B]).packet_cost",
         "s/packet", 1.0, "derived: one packet more, one second more"),
        ("min(3 s, 20 ms)", "s", 0.02, "identity"),
        ("max([3 s, 20 ms])", "s", 3.0, "identity"),
        ("sum(1 B, [2 B, 3 B])", "byte", 6.0, "identity"),
        ("mean(1, 2, 6)", "1", 3.0, "identity"),
        ("median(1, 9, 2)", "1", 2.0, "identity"),
        ("count([1 s, 2 s])", "1", 2.0, "identity"),
        ("floor(2.7)", "1", 2.0, "identity"),
        ("ceil(2.1 B)", "byte", 3.0, "identity: whole bytes, not bits"),
        ("round(2.6)", "1", 3.0, "identity"),
        ("item([1 s, 2 s, 3 s], 2)", "s", 2.0, "identity: counted from 1"),
        ("sum(rest([1, 2, 3]))", "1", 5.0, "identity: without the first"),
        ("T3 exact", "bit/s", 44.736e6, "published: ANSI T1.107"),
        ("10 B/T1", "s", 80 / 1.544e6, "derived: 80 bits over 1.544 Mbit/s"),
        ("1e3 B + .5 B + 2. B", "byte", 1002.5, "identity: forms of a number"),
        ("2.5e-3 s", "s", 0.0025, "identity"),
        ("5 ‰", "ratio", 0.005, "identity"),
        ("+2 - -3", "1", 5.0, "identity: signs"),
        ("2 ** 3 ** 2", "1", 512.0, "identity: powers from the right, as in Python"),
        ("max([1, 2, 3]) - min(4, 5) + count(7)", "1", 0.0, "identity"),
        ("ceil(-2.5) + floor(-2.5)", "1", -5.0, "identity: -2 and -3"),
        ("round(2.4 B)", "byte", 2.0, "identity: whole bytes"),
        ("item([4 s, 5 s], 1) + item([4 s, 5 s], 2)", "s", 9.0, "identity: first and last"),
        ("count(rest([1, 2]))", "1", 1.0, "identity"),
        ("two_point_costs([2 s, 5 s], packet_count=[1, 1], payload=[1 B, 4 B]).byte_cost",
         "s/byte", 1.0, "derived: three bytes more, three seconds more"),
        ("item(pipeline_timeline([1 kB], bandwidth=8 Mbit/s, latency=2 ms).first_bit, 1)",
         "s", 0.002, "derived: the latency"),
        ("item(pipeline_timeline([1 kB], bandwidth=8 Mbit/s, latency=2 ms).last_bit_s, 1)",
         "s", 0.003, "derived: and 8000 bits at 8 Mbit/s"),
        ("datagram_mbufs(200 B).clusters", "1", 0.0, "published: Stevens vol. 3, A.2"),
        ("data(source_sink_1440, wall_s, protocol='TCP', server='bsd')", "s", 2.88,
         "published: Snader, table 2.2"),
        ("count(data(source_sink_1440, wall_s, protocol='TCP'))", "1", 3.0,
         "published: Snader, table 2.2"),
        ("count(data(ping_emulated_t1, rtt_s))", "1", 150.0, "published: the file, 150 probes"),
        ("max(data(ping_emulated_t1, payload_bytes))", "byte", 1400.0,
         "published: the file, up to 1400 bytes of data"),
        ("max(data(nagle_round_trips, response_s, run='single write'))", "s", 0.046,
         "published: run 3 of the article, 46 ms"),
    ],
)  # fmt: skip
def test_formulas(text, unit, value, source):
    assert evaluate(text).to(unit).item() == pytest.approx(value, rel=1e-12), source


def test_other_claims_are_looked_up():
    values = {"SF02": Quantity.of(0.0075, "s"), "ST2.2-TCP": Quantity.of(2.0, "1")}
    found = evaluate("SF02 * ST2.2-TCP + 1 ms", lookup=values.__getitem__)
    assert found.to("s").item() == pytest.approx(0.016)


@pytest.mark.each(
    ("text", "code", "fact"),
    [
        ("", "formula-empty", ""),
        ("1 +", "formula-syntax", "invalid syntax"),
        ("(1", "formula-syntax", "was never closed"),
        ("1)", "formula-syntax", ")"),
        ("1 2", "formula-syntax", "invalid syntax"),
        ("1,000 B", "formula-number", "000"),
        ("max(1,000 B)", "formula-number", "000"),
        ("5 parsec", "formula-unknown-unit", "parsec"),
        ("10 mb", "formula-ambiguous-unit", "mb"),
        ("1 ms + 2 B", "cannot-add", "a size"),
        ("[1 s, 2 B]", "cannot-join", "a size"),
        ("2 ** 1 s", "exponent-with-unit", "1"),
        ("(2 s) ** 0.5", "exponent-out-of-range", "0.5"),
        ("1 / 0", "division-by-zero", "0"),
        ("1 / [1, 0]", "division-by-zero", "0"),
        ("10 ** 400", "result-not-finite", ""),
        ("(0 - 8) ** 0.5", "result-not-finite", ""),
        ("mm1_wait(2, service=1 s)", "result-not-finite", ""),
        ("[1, 2] + [1, 2, 3]", "not-computable", ""),
        ("'text' + 1", "text-for-quantity", "text"),
        ("T9", "unknown-name", "T9"),
        ("transfr(1 MB)", "", "transfer"),
        ("transfer(1 MB, colour=3 s)", "not-a-choice", "payload"),
        ("transfer(1 MB, T1, 30 ms)", "keywords-needed", "bandwidth"),
        ("transfer(1 MB, bandwidth=T1)", "is-required", "latency"),
        ("transfer(1 MB, bandwidth=3 s, latency=0 s)", "wrong-kind", "3 s"),
        ("transfer(1 MB, bandwidth=T1, bandwidth=T1)", "given-twice", "bandwidth"),
        ("transfer(1 MB, payload=1 MB, bandwidth=T1, latency=0 s)", "given-twice", "payload"),
        ("serialization(1 MB, bandwidth=0 bit/s)", "not-positive", "0"),
        ("write_write_read(1 s, nagle=perhaps)", "not-yes-or-no", "perhaps"),
        ("write_write_read(1 s, nagle=1)", "not-yes-or-no", "nagle"),
        ("datagram_mbufs(1 B)", "several-columns", "mbufs"),
        ("datagram_mbufs(1 B).calls", "not-a-choice", "mbufs"),
        ("(1 s).value", "no-columns", "value"),
        ("min()", "too-few-arguments", "0"),
        ("round(1, 2)", "wrong-argument-count", "2"),
        ("item([1, 2], 3)", "out-of-range", "3"),
        ("rest([1])", "too-few-numbers", "2"),
        ("floor(2 s)", "wrong-kind", "2 s"),
        ("data(nagle_round_trips)", "data-arguments", "1"),
        ("data(nagle_runs, response_s)", "", "nagle_round_trips"),
        ("data(nagle_round_trips, rtt)", "not-a-choice", "rtt"),
        ("data(nagle_round_trips, run)", "text-column", "run"),
        (
            "data(nagle_round_trips, response_s, run='fifth')",
            "no-matching-row",
            "nagle_round_trips",
        ),
        ("1; 2", "formula-several", ""),
        ("(" * 60 + "1" + ")" * 60, "formula-too-deep", ""),
        ("1+" * 900 + "1", "formula-chain", ""),
        ("1" * 3000, "formula-too-long", "2000"),
        ("__import__('os').system('true')", "call-of-result", ""),
        ("().__class__", "formula-language", "Tuple"),
        ("lambda: 1", "formula-character", ":"),
        ("1 if 1 else 2", "formula-unknown-unit", "if"),
        ("\x00", "formula-character", ""),
        ("7 // 2", "formula-language", "FloorDiv"),
        ("1 == 1", "formula-language", "Compare"),
        ("(1, 2)", "formula-language", "Tuple"),
        ("[1, 2][1]", "formula-language", "Subscript"),
        ("max(*[1, 2])", "formula-language", "Starred"),
        ("serialization(**T1)", "not-a-choice", "**"),
        ("...", "text-for-quantity", ""),
        ("[x for x in [1]]", "formula-syntax", "invalid syntax"),
        ("{1}", "formula-character", "{"),
        ("max(1 s).real", "no-columns", ""),
        ("datagram_mbufs(1 B).__class__", "not-a-choice", "mbufs"),
        ("max.__globals__", "unknown-name", "max.__globals__"),
        ("open('x')", "", "open"),
        ("eval('1')", "", "eval"),
        ("5 s(2)", "quantity-for-name", "5 s"),
        ("max(1 s)(2)", "call-of-result", ""),
        ("max(5 s=1)", "quantity-for-name", "5 s"),
        ("9 ** 9 ** 9 ** 9", "result-not-finite", ""),
        ("[1, 10 ** 400]", "result-not-finite", ""),
        ("007", "formula-number", "007"),
        ("T9 nominal", "formula-syntax", "invalid syntax"),
        ("max()", "too-few-arguments", "0"),
        ("sum()", "too-few-arguments", "0"),
        ("mean()", "too-few-arguments", "0"),
        ("median()", "too-few-arguments", "0"),
        ("count()", "too-few-arguments", "0"),
        ("floor()", "wrong-argument-count", "0"),
        ("ceil(1, 2)", "wrong-argument-count", "2"),
        ("item([1])", "wrong-argument-count", "1"),
        ("item([1], 1, 1)", "wrong-argument-count", "3"),
        ("rest([1, 2], 1)", "wrong-argument-count", "2"),
        ("max(1, value=2)", "no-keywords", ""),
        ("item([1, 2], 0)", "out-of-range", "0"),
        ("item([1, 2], 1.5)", "out-of-range", "1.5"),
        ("data(nagle_round_trips, response_s, run=5 s)", "quantity-for-text", "run"),
        ("data(nagle_round_trips, response_s, row='1')", "not-a-choice", "row"),
        ("data(nagle_round_trips, response_s, run)", "data-arguments", "3"),
        ("data(nagle_round_trips, 5 s)", "data-arguments", "1"),
        ("data(nagle_round_trips, response_s, 5 s)", "data-arguments", "2"),
        ("round_trips(5 s)", "quantity-for-text", "transport"),
        ("round_trips(quic2)", "not-a-choice", "quic2"),
        ("datagram_mbufs(1 B) + 1", "several-columns", ""),
        ("-" * 500 + "1", "formula-chain", ""),
        ("[" * 41 + "1" + "]" * 41, "formula-too-deep", "40"),
        ("'a'; 'b'", "formula-several", ""),
        ("1;", "formula-empty", ""),
    ],
)
def test_what_is_refused(text, code, fact):
    """An empty code is one of the calculator or of the data sets."""
    with pytest.raises(NetcalcError) as refusal:
        evaluate(text)
    assert refusal.value.code == code or not code
    assert fact in str(refusal.value.values)
    assert str(refusal.value), "has a sentence"
    assert isinstance(refusal.value, DomainError | UnitError)


def test_names():
    assert is_name("ST2.2-TCP-bsd")
    assert not any(map(is_name, ("", "2nd", "a b", "T1", "oc-3", "a;b", "-a")))


def test_the_limits_of_a_formula():
    assert float(evaluate("1".ljust(2000)).value) == 1
    with pytest.raises(UnitError) as refusal:
        evaluate("1".ljust(2001))
    assert (refusal.value.code, refusal.value.values["limit"]) == ("formula-too-long", 2000)
    assert float(evaluate("(" * 40 + "1" + ")" * 40).value) == 1
    assert float(evaluate("(1)+" * 41 + "[" * 40 + "1" + "]" * 40).to("1").item()) == 42
    # A tree of 150 levels: the operators, the first number and its context.
    assert float(evaluate("1+" * 148 + "1").value) == 149
    with pytest.raises(UnitError) as refusal:
        evaluate("1+" * 149 + "1")
    assert refusal.value.code == "formula-chain"


def test_errors_carry_the_formula():
    with pytest.raises(UnitError) as refusal:
        evaluate("1 ms $ 2")
    assert (refusal.value.text, refusal.value.expected) == ("1 ms $ 2", "a formula")
    with pytest.raises(UnitError) as refusal:
        evaluate("transfer(1 MB, bandwidth=3 s, latency=0 s)")
    assert refusal.value.field == "bandwidth"
    assert refusal.value.expected == "a rate such as 10 Mbit/s"


def test_a_unit_is_ambiguous_or_unknown_by_its_readings(monkeypatch):
    # The message comes from the readings of the unit, not from the words of another error.
    monkeypatch.setattr(units, "readings_of", {"blob": ("a blob", "no blob")}.get)
    with pytest.raises(UnitError) as refusal:
        evaluate("5 blob")
    assert str(refusal.value) == ("'5 blob' is ambiguous: the unit 'blob' may be a blob or no blob")
    with pytest.raises(UnitError) as refusal:
        evaluate("5 mb")
    assert (refusal.value.code, refusal.value.values["unit"]) == ("formula-unknown-unit", "mb")


@pytest.mark.each(
    ("text", "sentence"),
    [
        ("1 ms + 2 B", "'2 B' is a size and cannot be added to a time"),
        ("max(1,000 B)", "'max(1,000 B)' is not a formula: '000' is not a number. "
         "Write 1000, not 1,000"),
        ("min()", "min takes at least 1 argument, got 0"),
        ("item([1])", "item takes 2 arguments, got 1"),
        ("datagram_mbufs(1 B)",
         "the result has the columns mbufs, clusters; append the name of one: .mbufs"),
        ("transfer(1 MB, bandwidth=3 s, latency=0 s)",
         "bandwidth: '3 s' is a time, not a rate such as 10 Mbit/s"),
        ("1 / 0", "the divisor is 0"),
    ],
)  # fmt: skip
def test_errors_as_sentences(text, sentence):
    with pytest.raises(NetcalcError) as refusal:
        evaluate(text)
    assert str(refusal.value) == sentence


def test_nothing_is_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text in ("open('made', 'w')", "__import__('os').mkdir('made')", "eval('1')", "exec('1')"):
        with pytest.raises(NetcalcError):
            evaluate(text)
    assert list(tmp_path.iterdir()) == []
