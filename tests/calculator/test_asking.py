"""Questions in sentences: right or refused, never wrong; nothing given is ignored."""

from __future__ import annotations

import csv
import json
import re
import runpy
import shlex
from functools import cache
from pathlib import Path

import pytest

import netcalc
from netcalc import cli
from netcalc.calculator import sentences
from netcalc.errors import NetcalcError

TABLE = Path(__file__).with_name("asked_sentences.csv")
SCORE = runpy.run_path(str(Path(__file__).with_name("calculator_sentences_score.py")))


@cache
def rows():
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def asked_once(text):
    return netcalc.ask(text)


@cache
def readings():
    """Return the readings of the table, with their sentences."""
    answered = [row["sentence"] for row in rows() if row["answer"] != "REFUSE"]
    return [(text, reading) for text in answered for reading in asked_once(text).readings]


def printed(arguments, capsys):
    """Run a command line; return its exit code, and what it printed on both streams."""
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    return ended.value.code, *capsys.readouterr()


def test_each_sentence_is_answered_rightly():
    verdicts = [(row["sentence"], *SCORE["judged"](row, asked_once)) for row in rows()]
    assert [verdict for verdict in verdicts if verdict[1] != "right"] == []


def test_no_quantity_is_ignored():
    ignored = []
    for text, reading in readings():
        parts = [part.text for part in sentences.tokens(text) if part.kind in ("quantity", "name")]
        taken = " ".join(given.source for given in reading.given)
        ignored += [(text, part) for part in parts if part not in taken]
    assert ignored == []


def test_a_source_is_at_its_place_in_the_sentence():
    for text, reading in readings():
        for given in reading.given:
            first = re.split(r" |, ", given.source)[0]
            assert text[given.start :].startswith(first), (text, given)


def test_each_command_gives_the_same_number_as_printed(capsys):
    """One sentence of each question; the command is the one that is shown."""
    by_question = {reading.question: reading for _, reading in readings()}
    different = []
    for question, reading in by_question.items():
        code, out, _ = printed([*shlex.split(reading.command)[1:], "--json"], capsys)
        found = json.loads(out)
        value = found.get("si_value", found.get("result"))
        value = found["roots"][0]["value"] if value is None else value
        if code != 0 or float(value) != pytest.approx(reading.value, rel=1e-12):
            different.append((question, reading.command, value, reading.value))
    assert len(by_question) > 60
    assert different == []


@pytest.mark.parametrize(
    ("sentence", "code"),
    [
        ("", "sentence-asks-nothing"),
        ("which latency", "sentence-asks-nothing"),
        ("how long for 4 TB over 10G? what is the bdp?", "sentence-asks-twice"),
        ("what is the throughput and bdp for 10G at 80 ms", "sentence-asks-twice"),
        ("transfer 10 GB and bdp of 10G at 80 ms", "sentence-no-formula"),
        ("transfer 500 over 10", "sentence-no-unit"),
        ("10 mb over 10 mb", "ambiguous-unit"),
        ("1,544 Mbit/s 100 MB", "ambiguous-number"),
        ("10.000 calls g711 bandwidth", "ambiguous-number"),
        ("4 TB over 10G --save /etc/passwd", "sentence-part-unknown"),
        ("what is the frobnication of 4 TB over 10G", "sentence-part-unknown"),
        ("4 TB over 10G xz9", "sentence-part-unknown"),
        ("rtt 2 light years window 64 KiB", "sentence-no-unit"),
        ("window 64 KiB rtt 400 days", "sentence-beyond"),
        ("throughput at 100 ms rtt", "sentence-lacks"),
        ("how long: 1%", "sentence-lacks"),
        ("4 TB over a 10G tunnel", "sentence-no-formula"),
        ("rate: 80 ms, 4 TB", "sentence-no-formula"),
        ("10 GB over 1 Gbit/s twice", "sentence-no-formula"),
        ("nagle off 10 ms rtt", "sentence-no-formula"),
        ("dtls handshake 30 ms", "sentence-no-formula"),
        ("packets per second for 1 Gbit/s imix", "sentence-no-formula"),
        ("goodput of 1 Gbit/s without timestamps", "sentence-no-formula"),
        ("how many years until 2 Gbit/s reaches 1 Gbit/s at 20 % growth", "sentence-no-formula"),
        ("loss 150% rtt 10 ms throughput", "percent-for-ratio"),
        ("80-100 ms rtt 64 KiB window", "sentence-no-unit"),
        ("4 TB \x1b[31m over 10G \x07 9x", "sentence-part-unknown"),
        ("4 TB over 10G " * 8000, "sentence-too-long"),
        ("1 " * 250, "sentence-no-unit"),
        # It was: two to the 30th ways to give one role to all of them.
        ("64 KB window, " * 30 + "rtt 10 ms throughput", "sentence-no-formula"),
        # They were errors of Python: letters that are others in capitals alone, and no quotient.
        ("windowſ 64 KiB rtt 10 ms", "sentence-no-formula"),
        ("throughput of 8 reno flows at 1% loss and 0 ms rtt", "sentence-no-answer"),
        ("2 Gbit/s doubles every 1 minute, traffic after 5 years", "sentence-no-answer"),
        ("serialization of a 20 TB packet on 10G", "sentence-beyond"),
        # They were answered without what is not read: 1500 B, 10 calls, 64 KiB.
        ("MTU 1400,60 byte gre over ipv4", "not-whole"),
        ("mss inside wireguard 71,89", "not-whole"),
        ("10² g711 calls bandwidth", "sentence-part-unknown"),
        ("goodput of 1 Gbit/s with jumbo frames", "sentence-lacks"),
        # They were answered for a number of what is not known, and for files of 2 GB each.
        ("how long for 1000 emails of 50 KB over 2 Mbit/s", "sentence-part-unknown"),
        ("3 files 2 GB total over 100 Mbit/s", "sentence-no-formula"),
        ("2 GB in 3 files over 100 Mbit/s", "sentence-no-formula"),
        # They were the goodput of 900 Mbit/s, and the availability of two links.
        ("line rate needed for 900 Mbit/s goodput", "sentence-lacks"),
        ("how many parallel links of 99% for 99.99%", "sentence-no-formula"),
        # A line of SONET has no frames of Ethernet.
        ("packets per second on OC-48", "sentence-no-formula"),
    ],
)
def test_what_is_not_certain_is_refused(sentence, code):
    with pytest.raises(NetcalcError) as refused:
        netcalc.ask(sentence)
    assert refused.value.code == code
    assert "\n" not in str(refused.value)
    assert str(refused.value).isprintable()


def test_an_impossible_number_has_its_unit():
    with pytest.raises(NetcalcError, match="bandwidth must be greater than 0, got -100 Mbit/s"):
        netcalc.ask("1 GB over -100 Mbit/s at 20 ms")


@pytest.mark.parametrize(
    ("sentence", "values"),
    [
        # 64 KiB is 524,288 bit, in 0.05 s.
        ("throughput of a 64k window at 50 ms rtt", [10_485_760]),
        ("throughput of a 64 KB window at 50 ms rtt", [10_485_760, 10_240_000]),
        # A latency may be that of a round trip or of one way: 10 Gbit/s in 80 and in 160 ms.
        ("bdp of 10 Gbit/s with 80 ms latency", [1e8, 2e8]),
        # 10,000 calls of 160 + 40 + 38 and of 160 + 40 + 18 bytes, 50 times a second.
        ("10,000 concurrent g711 calls bandwidth", [952e6, 872e6]),
        # 1500 and 10 bytes in cells of 48, not in bytes.
        ("how many atm cells for a 1500 byte packet", [32]),
        # The decimal comma: 100 MB are 8e8 bit, at 1448/1538 of 1.5 Mbit/s.
        ("100 MB over 1,5 Mbit/s", [8e8 / (1.5e6 * 1448 / 1538)]),
    ],
)
def test_readings_are_all_shown(sentence, values):
    assert [r.value for r in netcalc.ask(sentence).readings] == pytest.approx(values, rel=1e-6)


def test_a_rate_is_no_count():
    """It was: the 10G behind ``stream`` were ten thousand million streams."""
    asked = netcalc.ask("single tcp stream 10G 100ms 16 MiB window throughput")
    # 16 MiB are 134,217,728 bit, in 0.1 s.
    assert [reading.value for reading in asked.readings] == [1_342_177_280]


def test_words_that_are_not_understood_are_named():
    asked = netcalc.ask("purple 4 TB over 10G 😀")
    assert asked.not_understood == ("purple", "😀")
    assert "'purple'" in str(asked)
    assert netcalc.ask("throughtput with a 64k window and 200 ms rtt").read_as == {
        "throughtput": "throughput"
    }


def test_the_answer_has_roles_equation_assumptions_and_command():
    text = str(netcalc.ask("4 TB over 10G").readings[0])
    for part in ("4 TB  data", "10G   rate of the line", "assumed: MTU 1500 B", "4 TB / 9.41",
                 "netcalc calc ideal-transfer 4TB --throughput 9."):  # fmt: skip
        assert part in text
    assert '80 ms   round trip, from "rtt"' in str(
        netcalc.ask("throughput of a 64 KiB window, 80 ms rtt").readings[0]
    )


def test_a_sentence_needs_no_quotes_and_no_command(capsys):
    question = "throughput with a 64k window and 200 ms rtt"
    answers = [
        printed(arguments, capsys)
        for arguments in ([question], question.split(), ["ask", *question.split()])
    ]
    assert {code for code, _, _ in answers} == {0}
    assert len({out for _, out, _ in answers}) == 1
    code, out, _ = printed([question, "--json"], capsys)
    assert code == 0
    assert json.loads(out)["readings"][0]["value"] == 2_621_440


def test_a_mistyped_command_keeps_its_answer(capsys):
    for arguments in (["tranfser", "1MB"], ["4TB", "--save", "x"], ["reed", "ping.txt"]):
        code, out, err = printed(arguments, capsys)
        assert (code, out) == (2, "")
        assert "has no command" in err or "no option" in err
    assert printed([" ", "1MB"], capsys)[0] == 2  # it was an error of Python
    code, _, err = printed(["transfer 500 over 10"], capsys)
    assert code == 2
    assert err.count("\n") == 1
    assert "has no unit" in err


def test_a_rate_of_bits_is_no_rate_of_packets():
    """It was: the unit was taken for a noun, and 1 Gbit/s for one Gbit a second."""
    for text in ("1 Gbit/s", "10 MB/s", "10 mb/s"):
        with pytest.raises(NetcalcError):
            netcalc.units.parse_typed(text, "packet/s")
    assert netcalc.units.parse_typed("3 jobs/s", "packet/s") == 3.0


def test_a_rate_names_the_layer_of_the_question():
    """It was: the rate of the data alone, of frames and of packets was named that of the line."""
    for text, layer in (
        ("rate for 4 TB in 10 hours", "payload"),
        ("12 g711 calls bandwidth ip level", "IP"),
        ("12 g711 calls bandwidth layer 2", "Ethernet frame"),
        ("12 g711 calls bandwidth layer 1", "Ethernet line"),
    ):
        assert netcalc.ask(text).readings[0].text.endswith(f" ({layer})"), text


def test_an_ambiguous_size_is_not_said_to_be_a_rate():
    with pytest.raises(NetcalcError, match=r"3 Mbit \(bits\) or 3 MB \(bytes\)"):
        netcalc.ask("3 mb at 10 MB/s")


def test_the_equation_keeps_the_symbol_that_is_sought():
    asked = netcalc.ask("how much rtt can I have with a 1 MiB window for 500 Mbit/s")
    assert asked.readings[0].equation.endswith("8 · 1 MiB / RTT)")


def test_the_table_names_formulas_roles_and_concepts_that_are_there():
    known = sentences.table()
    places = {*known["roles"], *known["concepts"], *known["names"]}
    for row in sentences.rows():
        names = [*row["needs"], *row.get("takes", {}), *row.get("asks", ()), *row.get("also", ())]
        names += [*row.get("must", ()), *row.get("bare", ()), *row.get("only", {})]
        assert [n for n in names if n not in places and not n.startswith("in ")] == [], row["name"]
        if row["formula"] != "convert":
            model = netcalc.calculator.formula(row["formula"])
            for argument in row["args"]:
                model.parameter(argument)
