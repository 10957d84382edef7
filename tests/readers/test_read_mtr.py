"""mtr: its columns by their heading, in SI units; a hop without an answer has no time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read

INPUTS = Path(__file__).parent / "inputs" / "paths"
NAN = float("nan")

# Read off the files by eye: the facts, and columns of the table.
THREE = {"hop_count": 3, "responding_hop_count": 3, "partial": False}
CASES = {
    "mtr_report.txt": (
        [THREE],
        {"node": ["192.0.2.1", "198.51.100.2", "203.0.113.2"], "probe_count": [5, 5, 5],
         "rtt_mean_s": [1e-4] * 3, "rtt_std_s": [0, 0, 0], "loss_ratio": [0, 0, 0]},
    ),
    "mtr_wide.txt": ([THREE], {"rtt_min_s": [0, 1e-4, 1e-4], "probe_count": [3, 3, 3]}),
    "mtr_order.txt": (
        [THREE],
        {"probe_count": [3] * 3, "reply_count": [3] * 3, "rtt_geometric_mean_s": [1e-4] * 3,
         "rtt_std_s": [0] * 3, "jitter_s": [0] * 3},
    ),
    "mtr_two.txt": (
        [{"group": "run 1", **THREE},
         {"group": "run 2", "hop_count": 2, "responding_hop_count": 2, "partial": False}],
        {"group": ["run 1"] * 3 + ["run 2"] * 2, "hop": [1, 2, 3, 1, 2]},
    ),
    "mtr_lossy.txt": (
        [{"hop_count": 4, "responding_hop_count": 3, "partial": False}],
        {"node": ["192.0.2.1", "", "198.51.100.7", "203.0.113.2"],
         "node_name": ["gw.example", "", "", "host.example"], "loss_ratio": [0, 1, 0.4, 0.1],
         "rtt_max_s": [1.2e-3, NAN, 13.9e-3, 23.9e-3]},
    ),
    "mtr.json": (
        [{"target": "203.0.113.2", **THREE, "packet_bytes": 64}],
        {"rtt_last_s": [73e-6, 76e-6, 81e-6], "rtt_max_s": [77e-6, 97e-6, 81e-6]},
    ),
    "mtr_old.json": (
        [{"target": "203.0.113.2", "hop_count": 2, "responding_hop_count": 1,
          "packet_bytes": 64, "partial": False}],
        {"hop": [1, 2], "node": ["192.0.2.1", ""], "rtt_min_s": [0.4e-3, NAN],
         "loss_ratio": [0, 1]},
    ),
    "mtr.csv": (
        [{"target": "203.0.113.2", **THREE}],
        {"rtt_last_s": [7e-5, 8e-5, 9e-5], "rtt_std_s": [1e-5] * 3, "probe_count": [5] * 3},
    ),
    "mtr_order.csv": (
        [{"target": "203.0.113.2", **THREE}],
        {"rtt_min_s": [7e-5] * 3, "rtt_max_s": [8e-5, 9e-5, 9e-5], "jitter_s": [2e-5, 3e-5, 1e-5],
         "reply_count": [3] * 3, "loss_ratio": [0] * 3},
    ),
}  # fmt: skip


@pytest.mark.each("file", CASES)
def test_files(file):
    facts, columns = CASES[file]
    samples = read(INPUTS / file)
    assert samples.facts() == facts
    for name, values in columns.items():
        if isinstance(values[0], str):
            assert samples[name].tolist() == values
        else:
            assert samples[name].tolist() == pytest.approx(values, rel=1e-9, nan_ok=True), name


def test_raw_probes():
    """By eye: the fourth probe went beyond the target, which answered it; the others are hops."""
    samples = read(INPUTS / "mtr_raw.txt")
    (row,) = samples.facts()
    assert (row["hop_count"], row["probe_count"], row["reply_count"]) == (3, 9, 9)
    assert row["last_hop_rtt_median_s"] == pytest.approx(86e-6)  # of 87, 86, 75 us
    first = np.asarray(samples.hop) == 1
    assert (samples.rtt_s[first] * 1e6).tolist() == pytest.approx([79, 76, 74])
    assert [n.code for n in samples.meta.warnings] == ["probes-beyond-target"]


def test_raw_without_an_answer():
    (row,) = read(INPUTS / "mtr_lost_raw.txt").facts()
    assert row == {
        "hop_count": 4, "responding_hop_count": 0, "probe_count": 12, "reply_count": 0,
        "partial": False,
    }  # fmt: skip


def test_raw_of_old_versions_does_not_know_losses():
    samples = read("h 0 192.0.2.1\np 0 523\nh 1 203.0.113.2\nd 1 host.example\np 1 12500\n")
    assert samples.rtt_s.tolist() == pytest.approx([523e-6, 12.5e-3])
    assert samples.node_name.tolist() == ["", "host.example"]
    assert [n.code for n in samples.meta.warnings] == ["lost-probes-unknown"]


def test_csv_of_an_old_version_has_no_header():
    rows = (
        "MTR.0.85;1416229200;OK;host.example;1;192.0.2.1;0.00;10;0;0.5;0.6;0.4;1.2;0.2\n"
        "MTR.0.85;1416229200;OK;host.example;2;???;100.00;10;10;0.0;0.0;0.0;0.0;0.0\n"
    )
    samples = read(rows)
    assert samples["rtt_mean_s"].tolist() == pytest.approx([0.6e-3, NAN], nan_ok=True)
    assert samples.meta.start == "2014-11-17T13:00:00+00:00"
    with pytest.raises(ReaderError) as caught:
        read(rows.replace(";0.2\n", ";0.2;7\n"))
    assert caught.value.code == "mtr-no-header"


@pytest.mark.each(
    ("file", "old", "new", "field"),
    [
        ("mtr.csv", ",0.07,0.07,", ",0.07,zero,", "Avg"),
        ("mtr_report.txt", "0.1   0.1   0.1   0.1", "0.1   0.1   x.1   0.1", "Best"),
    ],
)
def test_a_cell_that_is_no_number_is_refused_with_its_column(file, old, new, field):
    text = (INPUTS / file).read_text().replace(old, new, 1)
    with pytest.raises(ReaderError) as caught:
        read(text)
    error = caught.value
    assert (error.code, error.values["field"]) == ("mtr-unreadable", field)
    assert error.values["line"] == (2 if file == "mtr.csv" else 3)


def test_what_cannot_be_is_unknown():
    text = (INPUTS / "mtr_report.txt").read_text().replace(" 0.0%", "-1.0%", 1)
    samples = read(text)
    assert np.isnan(samples["loss_ratio"][0])
    assert [n.values for n in samples.meta.warnings] == [{"count": 1}]


@pytest.mark.each("text", ["HOST: a    Loss%   Snt   Last   Avg  Best  Wrst StDev\n",
                           '{"report": {"mtr": {"dst": "a"}, "hubs": []}}\n'])  # fmt: skip
def test_a_report_without_hops_is_no_measurement(text):
    with pytest.raises(ReaderError) as caught:
        read(text)
    assert caught.value.code == "mtr-no-hop"


@pytest.mark.each("file", [name for name in CASES if name.endswith(("csv", "txt"))])
def test_cut_anywhere_no_figure_changes(file):
    """Every time that a cut file shows is one that the whole file has at that hop."""
    whole = (INPUTS / file).read_text()
    samples = read(whole)
    names = [n for n in samples.columns() if n.startswith("rtt_") and n in samples.columns()]
    for end in range(len(whole) // 2, len(whole) - 1, 3):
        try:
            cut = read(whole[:end])
        except ReaderError:
            continue
        for name in names:
            if name not in cut.columns():
                continue
            shown = cut[name]
            known = ~np.isnan(shown)
            assert (shown[known] == samples[name][: shown.size][known]).all()


@pytest.mark.each(
    "command, size",
    [
        ("$ mtr -rw -c 10 -s 1400 203.0.113.9", 1400),
        ("user@pc:~$ mtr --report --psize 600 203.0.113.9", 600),
        ("# mtr -rws1000 203.0.113.9", 1000),
        ("$ mtr -r -c 10 203.0.113.9", None),
    ],
)
def test_the_size_of_probes_is_in_the_command(command, size):
    text = (INPUTS / "mtr_report.txt").read_text(encoding="utf-8")
    (row,) = read(f"{command}\n{text}".encode()).facts()
    assert row.get("packet_bytes") == size
