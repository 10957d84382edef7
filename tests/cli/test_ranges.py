"""Ranges in, percentiles out: ``netcalc calc`` with distributions as arguments."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from pathlib import Path
from unittest import mock

import pytest
from click.testing import CliRunner

from netcalc.cli import _is_of_interrupt, commands, main

TRANSFER = ["calc", "transfer", "1GB", "--bandwidth", "80..100 Mbit/s", "--latency", "30ms ± 5ms"]
LOSS = ["calc", "mathis-throughput", "--mss", "1460B", "--rtt", "50ms"]


def run(*arguments):
    return CliRunner().invoke(commands, arguments, catch_exceptions=True)


def test_an_answer_is_percentiles_and_what_matters():
    """Derived: 8 GB at 99, 90 and 81 Mbit/s, and 30 ms."""
    done = run(*TRANSFER)
    assert done.stdout.splitlines()[:3] == ["p5: 80.84 s", "median: 88.92 s", "p95: 98.79 s"]
    assert done.stdout.splitlines()[3].startswith("matters most: bandwidth 100%")


def test_json_has_the_percentiles_the_indices_and_the_seed():
    done = run(*TRANSFER, "--json", "--draws", "4096", "--seed", "9")
    found = json.loads(done.stdout)
    assert found["result"]["median"] == pytest.approx(8e9 / 90e6 + 0.03, rel=1e-3)
    assert found["result"]["first_order"]["bandwidth_bps"] == pytest.approx(1, abs=1e-3)
    assert found["arguments"]["bandwidth_bps"] == "80 Mbit/s..100 Mbit/s"
    assert found["arguments"]["payload_bytes"] == 1e9
    assert (found["draws"], found["seed"], found["unit"]) == (4096, 9, "s")
    assert done.stdout == run(*TRANSFER, "--json", "--draws", "4096", "--seed", "9").stdout
    assert done.stdout != run(*TRANSFER, "--json", "--draws", "4096", "--seed", "8").stdout


def test_csv_has_a_row_for_each_result():
    rows = list(csv.reader(io.StringIO(run(*TRANSFER, "--csv").stdout)))
    assert rows[0] == ["result", "p5", "median", "p95"]
    assert rows[1][0] == "transfer_s [s]"
    assert float(rows[1][2]) == pytest.approx(8e9 / 90e6 + 0.03, rel=1e-3)


def test_the_positional_value_may_be_a_range():
    """Derived: 1/sqrt(p) is least at the greatest loss; the formula's constant cancels."""
    done = run(*LOSS[:2], "0.1%..0.4%", *LOSS[2:], "--json")
    found = json.loads(done.stdout)["result"]
    assert found["p5"] / found["p95"] == pytest.approx((0.00115 / 0.00385) ** 0.5, rel=2e-3)


def test_a_column_of_a_file_is_an_argument(tmp_path):
    path = tmp_path / "rates.csv"
    path.write_text("rate [Mbit/s]\n80\n80\n100\n")
    done = run(*TRANSFER[:4], f"{path}:rate", "--latency", "0 s")
    assert done.stdout.splitlines()[:3] == ["p5: 80 s", "median: 100 s", "p95: 100 s"]


def test_a_correlation_is_taken_and_the_indices_are_not_printed():
    done = run(*TRANSFER, "--correlate", "bandwidth,latency=0.5")
    assert "matters most" not in done.stdout
    assert "correlated" in done.stderr


def test_impossible_draws_are_refused_with_their_share_or_truncated(capsys):
    """Derived: Phi(-1) = 15.87%."""
    with pytest.raises(SystemExit) as ended:
        main([*LOSS, "1% ± 1%"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "15.87% of the draws of loss are impossible" in said
    assert "--truncate" in said
    for more in (["1% ± 1%", "--truncate"], ["truncated(1% ± 1%)"]):
        done = run(*LOSS, *more)
        assert done.exit_code == 0
        assert "15.87%" in done.stderr


def test_the_note_gives_the_share_beyond_the_published_range():
    """Derived: of 0.1% to 2%, 10/19 lie above 1%."""
    done = run(*LOSS, "0.1%..2%")
    assert "52.63% of the draws are doubtful (the worst: loss is 2%" in done.stderr


def test_a_formula_of_several_results_prints_each():
    """Identity: one mbuf in a call of up to 100 bytes, as the formula at both ends."""
    done = run("calc", "stream-mbufs", "50..90 B")
    lines = done.stdout.splitlines()
    assert [lines[index] for index in (0, 4, 8)] == ["calls", "mbufs", "clusters"]
    assert lines[1:4] == ["p5: 1", "median: 1", "p95: 1"]
    assert "the result is the same for all draws" in done.stderr
    assert len(list(csv.reader(io.StringIO(run(*done_csv()).stdout)))) == 4


def done_csv():
    return ["calc", "stream-mbufs", "50..90 B", "--csv"]


def test_an_element_of_a_list_may_be_a_range():
    """Derived: Jain's index of 1 and x falls from x = 1 on: (1 + x)^2 / (2 (1 + x^2))."""
    done = run("calc", "jain-index", "10, 10..30", "--json")
    found = json.loads(done.stdout)
    index = [(1 + x) ** 2 / (2 * (1 + x * x)) for x in (2.9, 2.0, 1.1)]
    result = found["result"]
    assert [result["p5"], result["median"], result["p95"]] == pytest.approx(index, rel=2e-3)


@pytest.mark.each(
    ("arguments", "code"),
    [
        ([*TRANSFER[:4], "10 Mbit/s", "--latency", "1ms", "--draws", "9"], "option-requires"),
        ([*TRANSFER[:4], "10 Mbit/s", "--latency", "1ms", "--truncate"], "option-requires"),
        ([*TRANSFER[:4], "10 Mbit/s", "--latency", "1ms", "--plot", "a.svg"], "option-requires"),
        ([*TRANSFER, "--correlate", "bandwidth,payload=0.5"], "correlated-no-range"),
        ([*TRANSFER, "--correlate", "bandwidth=0.5"], "correlation-malformed"),
        ([*TRANSFER, "--draws", "1"], "below-minimum"),
        ([*TRANSFER, "--draws", "99999999999"], "out-of-range"),
        ([*TRANSFER, "--plot", "nowhere/a.svg"], "output-folder-missing"),
        ([*TRANSFER, "--plot", "a.pdf"], "output-is-picture"),
        ([*TRANSFER[:4], "100..80 Mbit/s", "--latency", "1ms"], "range-backwards"),
        ([*TRANSFER[:4], "80..100 Mbit/s"], "is-required"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, code):
    done = run(*arguments)
    assert getattr(done.exception, "code", None) == code


@pytest.mark.slow
def test_a_figure_is_written(tmp_path):
    run(*TRANSFER, "--plot", str(tmp_path / "a.png"))
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG\r\n")
    for name in ("a.svg", "a.html"):
        done = run(*TRANSFER, "--plot", str(tmp_path / name))
        assert done.exit_code == 0, done.output
        text = (tmp_path / name).read_text()
        assert "median: 88.92 s" in text
        assert "80 Mbit/s..100 Mbit/s" in text or name == "a.html"


def test_explain_shows_equation_ranges_and_source():
    said = run(*TRANSFER, "--explain").stdout
    for part in ("t = d + 8 N / R", "latency_s = normal(30 ms, 5 ms)", "median: 88.92 s", "From:"):
        assert part in said


@pytest.mark.parametrize("is_hidden", [False, True])
def test_an_interrupt_ends_with_one_word(monkeypatch, capsys, is_hidden):
    """Also where numpy met it, and raised an error of its own for it."""
    from netcalc.uncertain import sampling

    def interrupted(*_):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            if not is_hidden:
                raise
            raise TypeError("Cannot compare structured arrays") from error

    monkeypatch.setattr(sampling.Evaluation, "__call__", interrupted)
    with pytest.raises(SystemExit) as ended:
        main(TRANSFER)
    assert ended.value.code == 130
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.strip() == "netcalc: stopped"


def test_an_error_that_is_its_own_cause_is_of_no_interrupt():
    error = ValueError()
    error.__cause__ = error
    assert not _is_of_interrupt(error)


def test_an_error_that_no_interrupt_caused_is_not_hidden(monkeypatch):
    from netcalc.uncertain import sampling

    monkeypatch.setattr(
        sampling.Evaluation, "__call__", mock.Mock(side_effect=TypeError("a fault"))
    )
    with pytest.raises(TypeError, match="a fault"):
        main(TRANSFER)


@pytest.mark.each(
    ("page", "before"), [("uncertain", "```text\n$ netcalc "), ("getting_started", "$ netcalc ")]
)
def test_the_example_of_the_documentation_is_what_the_command_prints(page, before):
    text = (Path(__file__).parents[2] / "docs" / f"{page}.md").read_text(encoding="utf-8")
    examples = [part.partition("```")[0] for part in text.split(before)[1:]]
    [shown] = [one for one in examples if "matters most" in one]
    line, _, printed = shown.partition("\n")
    assert run(*shlex.split(line)).stdout == printed


def test_values_that_look_alike_keep_their_own_columns():
    """Derived: two latencies 10 ns apart are two columns, named by as many digits as differ."""
    line = ["calc", "transfer", "1..2MB", "--sweep", "bandwidth=1Mbit/s:2Mbit/s:2", "--latency",
            "10.00001ms,10.00002ms"]  # fmt: skip
    found = json.loads(run(*line, "--json").stdout)
    assert found["values"][0] == [0.01000001, 0.01000002]
    first, second = found["result"]["median"]
    assert second[0] - first[0] == pytest.approx(1e-8, rel=1e-6)
    heading = run(*line).stdout.splitlines()[1]
    assert "median at 10.00001 ms" in heading
    assert "median at 10.00002 ms" in heading


def test_csv_has_the_layer_of_the_arguments():
    """Identity: the heading of ranges is that of numbers."""
    line = ["calc", "voip-bandwidth", "160B", "--link-layer", "ppp", "--csv"]
    assert "[bit/s, PPP]" in run(*line, "--interval", "20ms").stdout
    assert "[bit/s, PPP]" in run(*line, "--interval", "20..30ms").stdout


def test_results_without_a_number_are_no_ranks():
    """Payloads longer than their frame have none, but no result is infinite."""
    line = ["calc", "saturation-utilization", "10", "--payload", "1..3ms", "--success", "2..2.5ms",
            "--collision", "2ms", "--slot", "50us", "--window-slots", "32",
            "--stage-count", "3"]  # fmt: skip
    text = run(*line).stdout
    assert "variance" in text
    assert "ranks" not in text


@pytest.mark.each(("options", "code"), [
    (["20ms", "--log"], "option-requires"),
    (["20..30ms", "--log"], "option-requires"),
    (["--solve", "rtt", "--for", "1Mbit/s", "--csv"], "options-exclusive"),
    (["--solve", "rtt", "--for", "1Mbit/s", "--explain"], "options-exclusive"),
    (["--sweep", "rtt=1ms:9ms:3", "--explain"], "options-exclusive"),
])  # fmt: skip
def test_an_option_that_would_do_nothing_is_refused(options, code):
    done = CliRunner().invoke(commands, ["calc", "window-throughput", "64KiB", *options])
    assert done.exception.code == code


def test_a_count_in_a_note_on_ranges_has_no_unit_and_the_worst_has_fewest():
    """Derived: 1 GB of 1448 B in segments, of which 0.01% is lost in the worst draws."""
    call = ("calc", "transfer-time", "1GB", "1Gbit/s", "--rtt", "40ms", "--loss", "0.01%..0.1%")
    said = run(*call).stderr
    found = re.search(r"the worst: with ([\d.]+) expected losses", said)
    assert found is not None
    assert float(found[1]) == pytest.approx(1e9 / 1448 * 1e-4, rel=0.01)
    assert "(from 100 on" in said


@pytest.mark.slow
@pytest.mark.each("more", [[], ["--sweep", "loss=0%:1%:2"], ["--solve", "window", "--for", "200s"]])
def test_what_is_assumed_is_said_as_of_numbers(more):
    """Identity: the defaults of an answer do not depend on which other arguments are ranges."""
    known = ["calc", "transfer-time", "1GB", "--rtt", "30 ms"]
    numbers = run(*known, "80 Mbit/s", "--json")
    asked = [*known, "80..100 Mbit/s", *more]
    done, document = run(*asked), json.loads(run(*asked, "--json").stdout)
    assert document["assumed"] == json.loads(numbers.stdout)["assumed"]
    assert numbers.stderr.startswith("netcalc: assumed: --congestion-control cubic, ")
    assert numbers.stderr in done.stderr
    chosen = run(*known, "80..100 Mbit/s", *more, "--congestion-control", "reno")
    assert "--congestion-control" not in chosen.stderr


def test_a_correlation_with_a_number_names_it_as_typed(capsys):
    with pytest.raises(SystemExit):
        main(["calc", "bdp", "1Gbit/s", "--rtt", "20..30ms", "--correlate", "bandwidth,rtt=0.5"])
    said = capsys.readouterr().err
    assert said.startswith("netcalc: bandwidth is correlated, but is not a range")
    assert "_bps" not in said
