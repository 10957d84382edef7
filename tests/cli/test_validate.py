"""``netcalc validate``, as people use it; rows are those of the test, but for one run."""

from __future__ import annotations

import csv
import io
import json
import math

import pytest
from click.testing import CliRunner

from netcalc.cli import commands
from netcalc.cli import validate as command  # the module: the package has no such name
from netcalc.samples import Meta, Table
from netcalc.truth.rows import TruthRow, table_of

WITHIN = TruthRow(
    lab="echo", path="12 x 10 Mbit/s 2 ms", what="UDP 1400 B", quantity="round trip", unit="s",
    predicted=75.42e-3, measured=75.7e-3, statistic="smallest of 8", own_error=2.5e-4,
)  # fmt: skip
EXPLAINED = TruthRow(
    lab="echo", path="T3 0.5 ms", what="UDP 1400 B", quantity="round trip", unit="s",
    predicted=1.511e-3, measured=1.62e-3, statistic="smallest of 8", own_error=1.7e-4,
)  # fmt: skip
BEYOND = TruthRow(
    lab="bulk", path="T1 5 ms", what="TCP 145 kB", quantity="goodput", unit="bit/s",
    predicted=1.49e6, measured=1.3e6, statistic="fastest of 2",
)  # fmt: skip
NOT_RUN = TruthRow(
    lab="lockstep", path="T1 5 ms", what="8 in lockstep", quantity="cycle", unit="s",
    predicted=math.nan, why_not="no wire (the system refuses namespaces)",
    why_not_code="no-emulated-path",
)  # fmt: skip


@pytest.fixture
def netcalc(monkeypatch):
    """Run the command on rows of the test's own."""

    def run(*arguments, rows=(WITHIN, EXPLAINED), **meta):
        asked = {}

        def measured(**options):
            asked.update(options)
            return table_of(list(rows), Meta(**meta))

        monkeypatch.setattr(command, "measure", measured)
        done = CliRunner().invoke(commands, ["validate", *arguments], env={"COLUMNS": "80"})
        done.asked = asked
        return done

    return run


def test_a_table_in_80_columns_with_the_reason_and_the_verdict(netcalc):
    done = netcalc()
    assert done.exit_code == 1, "the median of the two is above 2 %"
    assert max(map(len, done.output.splitlines())) <= 80
    assert "echo: round trip" in done.output
    for word in ("75.42 ms", "75.7 ms", "+0.37%", "250 µs", "within", "+7.21%", "instrument"):
        assert word in done.output
    said = " ".join(done.output.split())
    assert "T3 0.5 ms, UDP 1400 B: explained by instrument: 170 µs of 1.62 ms (small" in said
    assert "2 settings with known parameters: median error 3.8 %, worst 7.2 %." in said
    assert said.endswith("VALIDATION FAILED.")


@pytest.mark.parametrize(
    ("rows", "meta", "code"),
    [
        ((WITHIN, WITHIN, EXPLAINED), {}, 0),
        ((WITHIN, EXPLAINED), {}, 1),
        ((WITHIN, BEYOND), {}, 1),
        ((WITHIN, NOT_RUN), {}, 0),
        ((NOT_RUN,), {}, 1),
        ((WITHIN,), {"partial": True}, 130),
        ((WITHIN, BEYOND), {"partial": True}, 130),
    ],
    ids=[
        "explained",
        "median beyond 2 %",
        "beyond 5 %",
        "some not run",
        "none run",
        "stopped",
        "stopped, beyond",
    ],
)
def test_exit_codes(netcalc, rows, meta, code):
    assert netcalc(rows=rows, **meta).exit_code == code


def test_what_is_not_right_stands_out(netcalc):
    done = netcalc(rows=(WITHIN, BEYOND, NOT_RUN, NOT_RUN), warnings=("starved: it got 9%",))
    said = " ".join(done.output.split())
    assert "bulk, T1 5 ms, TCP 145 kB: UNEXPLAINED (fastest of 2)" in said
    assert "not run, 2 rows of lockstep: no wire (the system refuses namespaces)" in said
    assert "warning: starved: it got 9%" in said
    assert "VALIDATION FAILED." in said
    assert "lockstep: cycle" not in done.output, "no table of rows that were not run"


def test_a_part_of_a_table_is_judged_so_far(netcalc):
    said = " ".join(netcalc(partial=True, warnings=("ended by interrupt",)).output.split())
    assert "warning: ended by interrupt So far: 2 settings with known parameters" in said


def test_nothing_at_all_is_told(netcalc):
    assert "Nothing was measured" in netcalc(rows=()).output


def test_json_has_rows_summary_and_meta(netcalc):
    document = json.loads(netcalc("--json", rows=(WITHIN, NOT_RUN), host="here").output)
    first, second = document["rows"]
    assert first["error_ratio"] == pytest.approx(75.7 / 75.42 - 1)
    assert (first["verdict"], second["verdict"]) == ("within", "not run")
    assert second["measured"] is None
    assert document["summary"]["holds"] is True
    assert document["summary"]["not_run_count"] == 1
    assert document["meta"]["host"] == "here"


def test_csv_has_one_line_a_row(netcalc):
    found = list(csv.DictReader(io.StringIO(netcalc("--csv", rows=(WITHIN, BEYOND)).output)))
    assert [one["lab"] for one in found] == ["echo", "bulk"]
    assert float(found[1]["predicted"]) == 1.49e6
    assert found[1]["flag"] == "UNEXPLAINED"


def test_options_are_passed_on(netcalc, tmp_path):
    saved = tmp_path / "table.json"
    done = netcalc("--lab", "echo", "--lab", "bulk", "--quick", "--save", str(saved))
    assert done.asked["labs"] == ("echo", "bulk")
    assert done.asked["quick"] is True
    assert done.asked["save"] == str(saved)
    plain = netcalc().asked
    assert (plain["labs"], plain["quick"], plain["save"]) == ((), False, None)


def test_a_figure_is_drawn_and_no_file_replaced(netcalc, tmp_path):
    drawn = tmp_path / "truth.html"
    assert netcalc("--plot", str(drawn), rows=(WITHIN, EXPLAINED, BEYOND)).exit_code == 1
    assert "<html" in drawn.read_text()
    refused = netcalc("--plot", str(drawn))
    assert refused.exit_code != 0
    assert refused.exception.code == "output-exists"
    assert refused.asked == {}, "before anything is measured"


def test_an_unknown_lab_is_refused(netcalc):
    done = netcalc("--lab", "ecko")
    assert (done.exception.code, done.exception.value) == ("not-a-choice", "ecko")
    assert done.exception.values["suggestions"] == ["echo"]


@pytest.mark.core
@pytest.mark.live
def test_virtual_time_for_real(tmp_path):
    saved = tmp_path / "table.json"
    done = CliRunner().invoke(commands, ["validate", "--lab", "virtual", "--save", str(saved)])
    assert done.exit_code == 0, done.output
    assert "of their own: 3 of 3" in " ".join(done.output.split())
    assert len(Table.load(saved)) == 3
    again = CliRunner().invoke(commands, ["read", str(saved)])
    assert again.exit_code == 0, "a saved table is a file like others"
    assert "netcalc truth, 3 rows" in again.output
    assert again.output.partition("\n")[2] == done.stdout, "the same table"
    assert done.stderr == f"wrote {saved}\n"
    drawn = tmp_path / "table.html"
    CliRunner().invoke(commands, ["read", str(saved), "--plot", str(drawn)])
    assert "<html" in drawn.read_text()
