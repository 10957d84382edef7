"""Formulas as people write them: what they give, and what is refused."""

from __future__ import annotations

import pytest

from netcalc import units
from netcalc.claims import Quantity, evaluate
from netcalc.claims.expression import is_name
from netcalc.errors import DomainError, NetcalcError, UnitError


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is empty"),
        ("1 +", "invalid syntax"),
        ("(1", "was never closed"),
        ("1)", "unmatched ')'"),
        ("1 2", "invalid syntax"),
        ("1,000 B", "'000' is not a number"),
        ("max(1,000 B)", "'000' is not a number. Write 1000, not 1,000"),
        ("5 parsec", "the unit 'parsec' is unknown"),
        ("10 mb", "'mb' is ambiguous. Write Mbit/s (bits) or MB/s"),
        ("1 ms + 2 B", "it is a size and cannot be added"),
        ("[1 s, 2 B]", "it is a size"),
        ("2 ** 1 s", "exponent is 1 s"),
        ("(2 s) ** 0.5", "exponent is 0.5"),
        ("1 / 0", "divisor is 0"),
        ("1 / [1, 0]", "divisor is 0"),
        ("10 ** 400", "a finite number"),
        ("(0 - 8) ** 0.5", "a finite number"),
        ("mm1_wait(2, service=1 s)", "a finite number"),
        ("[1, 2] + [1, 2, 3]", "not computable"),
        ("'text' + 1", "text is 'text'"),
        ("T9", "name is 'T9'"),
        ("transfr(1 MB)", "Did you mean transfer"),
        ("transfer(1 MB, speed=3 s)", "one of payload, bandwidth, latency"),
        ("transfer(1 MB, T1, 30 ms)", "one, then bandwidth=, latency="),
        ("transfer(1 MB, bandwidth=T1)", "latency is required"),
        ("transfer(1 MB, bandwidth=3 s, latency=0 s)", "bandwidth: cannot read '3 s' as a rate"),
        ("transfer(1 MB, bandwidth=T1, bandwidth=T1)", "bandwidth is given twice"),
        ("transfer(1 MB, payload=1 MB, bandwidth=T1, latency=0 s)", "payload is given twice"),
        ("serialization(1 MB, bandwidth=0 bit/s)", "bandwidth_bps must be greater than 0"),
        ("write_write_read(1 s, nagle=perhaps)", "yes or no"),
        ("write_write_read(1 s, nagle=1)", "nagle is a quantity"),
        ("datagram_mbufs(1 B)", "append .mbufs, clusters"),
        ("datagram_mbufs(1 B).calls", "one of mbufs, clusters"),
        ("(1 s).value", "the result has no columns"),
        ("min()", "number of arguments of min is 0, allowed is at least 1"),
        ("round(1, 2)", "number of arguments of round is 2, allowed is 1"),
        ("item([1, 2], 3)", "item is 3, allowed is 1 to 2"),
        ("rest([1])", "at least two"),
        ("floor(2 s)", "not in [1]"),
        ("data(nagle_round_trips)", "a data set and a column"),
        ("data(nagle_runs, response_s)", "the name of a data set"),
        ("data(nagle_round_trips, rtt)", "column is 'rtt'"),
        ("data(nagle_round_trips, run)", "the text column 'run'"),
        ("data(nagle_round_trips, response_s, run='fifth')", "no row"),
        ("1; 2", "more than one formula"),
        ("(" * 60 + "1" + ")" * 60, "nested deeper"),
        ("1+" * 900 + "1", "too many operators in a row"),
        ("1" * 3000, "longer than 2000 characters"),
        ("__import__('os').system('true')", "the name of a model or a function"),
        ("().__class__", "Tuple is not part"),
        ("lambda: 1", "the character ':' is not allowed"),
        ("1 if 1 else 2", "the unit 'if' is unknown"),
        ("\x00", "is not allowed"),
        ("7 // 2", "FloorDiv is not part"),
        ("1 == 1", "Compare is not part"),
        ("(1, 2)", "Tuple is not part"),
        ("[1, 2][1]", "Subscript is not part"),
        ("max(*[1, 2])", "Starred is not part"),
        ("serialization(**T1)", "got '**'"),
        ("...", "a quantity at this point"),
        ("[x for x in [1]]", "invalid syntax"),
        ("{1}", "the character '{' is not allowed"),
        ("max(1 s).real", "the result has no columns"),
        ("datagram_mbufs(1 B).__class__", "one of mbufs, clusters"),
        ("max.__globals__", "name is 'max.__globals__'"),
        ("open('x')", "name of a model"),
        ("eval('1')", "name of a model"),
        ("5 s(2)", "letters at this point"),
        ("max(1 s)(2)", "the name of a model or a function"),
        ("max(5 s=1)", "letters at this point"),
        ("9 ** 9 ** 9 ** 9", "a finite number"),
        ("[1, 10 ** 400]", "a finite number"),
        ("007", "'007' is not a number"),
        ("T9 nominal", "invalid syntax"),
        ("max()", "number of arguments of max is 0"),
        ("sum()", "number of arguments of sum is 0"),
        ("mean()", "number of arguments of mean is 0"),
        ("median()", "number of arguments of median is 0"),
        ("count()", "number of arguments of count is 0"),
        ("floor()", "number of arguments of floor is 0"),
        ("ceil(1, 2)", "number of arguments of ceil is 2"),
        ("item([1])", "number of arguments of item is 1, allowed is 2"),
        ("item([1], 1, 1)", "number of arguments of item is 3, allowed is 2"),
        ("rest([1, 2], 1)", "number of arguments of rest is 2, allowed is 1"),
        ("max(1, value=2)", "number of arguments of max is keywords"),
        ("item([1, 2], 0)", "item is 0, allowed is 1 to 2"),
        ("item([1, 2], 1.5)", "item is 1.5"),
        ("data(nagle_round_trips, response_s, run=5 s)", "run is a quantity"),
        ("data(nagle_round_trips, response_s, row='1')", "column is 'row', allowed is one of run"),
        ("data(nagle_round_trips, response_s, run)", "arguments of data is 3 names"),
        ("data(nagle_round_trips, 5 s)", "arguments of data is 1 names"),
        ("data(nagle_round_trips, response_s, 5 s)", "arguments of data is 2 names"),
        ("round_trips(5 s)", "transport is a quantity"),
        ("round_trips(quic2)", "quic2"),
        ("datagram_mbufs(1 B) + 1", "result is several columns"),
        ("-" * 500 + "1", "too many operators in a row"),
        ("[" * 41 + "1" + "]" * 41, "brackets are nested deeper than 40"),
        ("'a'; 'b'", "more than one formula"),
        ("1;", "it is empty"),
    ],
)
def test_what_is_refused(text, said):
    with pytest.raises(NetcalcError) as refusal:
        evaluate(text)
    assert said in str(refusal.value)
    assert isinstance(refusal.value, DomainError | UnitError)


def test_names():
    assert is_name("ST2.2-TCP-bsd")
    assert not any(map(is_name, ("", "2nd", "a b", "T1", "oc-3", "a;b", "-a")))


def test_the_limits_of_a_formula():
    assert float(evaluate("1".ljust(2000)).value) == 1
    with pytest.raises(UnitError, match="longer than 2000 characters"):
        evaluate("1".ljust(2001))
    assert float(evaluate("(" * 40 + "1" + ")" * 40).value) == 1
    assert float(evaluate("(1)+" * 41 + "[" * 40 + "1" + "]" * 40).to("1").item()) == 42
    # A tree of 150 levels: the operators, the first number and its context.
    assert float(evaluate("1+" * 148 + "1").value) == 149
    with pytest.raises(UnitError, match="too many operators in a row"):
        evaluate("1+" * 149 + "1")


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
    with pytest.raises(UnitError, match=r"'blob' is ambiguous\. Write a blob or no blob"):
        evaluate("5 blob")
    with pytest.raises(UnitError, match="the unit 'mb' is unknown"):
        evaluate("5 mb")


def test_nothing_is_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text in ("open('made', 'w')", "__import__('os').mkdir('made')", "eval('1')", "exec('1')"):
        with pytest.raises(NetcalcError):
            evaluate(text)
    assert list(tmp_path.iterdir()) == []
