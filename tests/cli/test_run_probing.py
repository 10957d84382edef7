"""``netcalc run probing``, ``run packet-trains`` and ``netcalc mixes``, as people use them."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

from netcalc import fit
from netcalc.cli import commands, main
from netcalc.errors import DomainError
from netcalc.samples import HopSamples, Meta, TrainSamples

LIVE = [pytest.mark.live, pytest.mark.namespace, pytest.mark.core]


def netcalc(*arguments):
    return CliRunner().invoke(commands, arguments)


@pytest.fixture
def complaint(capsys):
    """Run a command that is refused; return what it says."""

    def run(*arguments):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
        return capsys.readouterr().err

    return run


class TestLive:
    pytestmark = LIVE

    def test_probes_are_measured_saved_drawn_and_read(self, tmp_path):
        saved, drawn = tmp_path / "run.json", tmp_path / "run.html"
        done = netcalc("run", "probing", "--path", "T1 1 ms, T1 1 ms", "--count", "3",
                       "--save", str(saved), "--plot", str(drawn))  # fmt: skip
        assert done.exit_code == 0, done.output
        assert re.search(r"^ +2 +\S.* 1\.544 Mbit/s .* 1 ms$", done.output, re.MULTILINE)
        samples = HopSamples.load(saved)
        assert len(samples) == 2 * 8 * 3
        assert "<html" in drawn.read_text()
        note, *written = done.stderr.splitlines()
        assert "latencies of 2 ms in sum read as one way: round trip 4 ms" in note
        assert written == [f"wrote {saved}", f"wrote {drawn}"]
        again = netcalc("read", str(saved), "--plot", str(tmp_path / "again.html"))
        assert "link 1: " in again.output

    def test_probes_in_json(self):
        done = netcalc("run", "probing", "--path", "T1 1 ms", "--count", "2", "--size", "600B",
                       "--size", "1000B", "--size", "1400B", "--json")  # fmt: skip
        document = json.loads(done.stdout)
        assert (document["kind"], document["sent"]) == ("HopSamples", 6)
        [link] = document["links"]
        assert link["true_bandwidth_bps"] == 1.544e6
        assert link["true_latency_s"] == 0.001

    def test_trains(self, tmp_path):
        drawn = tmp_path / "run.html"
        done = netcalc("run", "packet-trains", "--path", "T1 1 ms", "--count", "8", "--cross",
                       "30%", "--packets", "3", "--plot", str(drawn))  # fmt: skip
        assert done.exit_code == 0, done.output
        assert "The bottleneck link is set to 1.544 Mbit/s" in done.output
        assert "<html" in drawn.read_text()

    def test_trains_in_json(self, tmp_path):
        done = netcalc("run", "packet-trains", "--path", "T1 1 ms", "--count", "4", "--size",
                       "500B", "--json", "--save", str(tmp_path / "run.json"))  # fmt: skip
        document = json.loads(done.stdout)
        assert (document["sent"], document["received"]) == (8, 8)
        assert document["bottleneck"]["true_bps"] == 1.544e6
        assert TrainSamples.load(tmp_path / "run.json").packet_bytes.tolist() == [528] * 8


def test_the_table_of_links_that_are_known_or_not():
    rows = [(hop, size, 0.002 * hop + size * 5e-6 * hop, 576.0)
            for hop in (1, 2) for size in (600.0, 1000.0, 1500.0)]  # fmt: skip
    rows += [(3, 600.0, 0.1, 576.0)]
    hop, size, time_s, answer = np.array(rows).T
    truth = {"bandwidths_bps": [1.6e6] * 3, "latencies_s": [0.001] * 3, "processings_s": [0.0] * 4}
    for instrument in ({}, {"truth": truth}):
        samples = HopSamples(
            hop=hop, packet_bytes=size, rtt_s=time_s, answer_bytes=answer,
            meta=Meta(instrument=instrument),
        )  # fmt: skip
        columns = list(
            map(list, zip(*(row.texts() for row in fit.links(samples).links), strict=True))
        )
        assert columns[0] == ["1", "2", "3"]
        assert columns[1][0].startswith("1.6 Mbit/s")  # derived: 8 bits in 5 us
        assert columns[1][2] == "unknown"
        assert columns[2] == (["1.6 Mbit/s"] * 3 if instrument else [""] * 3)
        assert columns[3][0] == ("+0.0%" if instrument else "") or columns[3][0] == "-0.0%"


def test_the_puzzle_of_the_book():
    """derived: three mixes of T1, 10 Mbit/s and T3 come within 1 ms; 6-2-4 leads."""
    done = netcalc("mixes")
    assert done.exit_code == 0, done.output
    assert "3 combinations of 12-13 links within 1 ms of 187 ms" in done.output
    rows = re.findall(r"^ *(\d+) +(\d+) +(\d+) +(\d+) +(\S+ ms)", done.output, re.MULTILINE)
    assert rows[0] == ("6", "2", "4", "12", "187.4 ms")
    assert len(rows) == 3
    assert re.search(r"traceroute with sizes +3 +1 +each link", done.output)


def test_mixes_in_json():
    document = json.loads(netcalc("mixes", "--kind", "T1", "--kind", "10 Mbit/s", "--json",
                                  "--links", "13", "--tolerance", "5ms").stdout)  # fmt: skip
    assert document["bandwidth_bps"] == [1.544e6, 10e6]
    assert document["link_count"] == [[5, 8]]  # derived: 5 x 14.8 + 8 x 2.28 = 92.3 ms of 95
    assert document["told_apart"][-1]["largest_count"] == 1


def test_many_mixes_are_cut_and_none_is_said():
    few, every = (netcalc("mixes", "--tolerance", "50ms", *more) for more in ([], ["--all"]))
    assert "--all prints them" in few.output
    assert "--all" not in every.output
    assert len(every.output) > len(few.output)


@pytest.mark.each(
    ("arguments", "why"),
    [
        # derived: 92 ms and 12 times there and back 1428 B on a T3: 98.13 ms; 13 on a T1: 284.4 ms
        (["10ms"], "The fastest combination takes 98.13 ms: try a smaller --base"),
        (["10s"], "The slowest combination takes 284.4 ms: try a larger --base"),
        (["187ms", "--tolerance", "1ns"], "from 98.13 ms to 284.4 ms, but none is that close"),
    ],
)
def test_no_mix_has_a_reason(arguments, why):
    found = netcalc("mixes", *arguments).output
    assert found.startswith("0 combinations")
    assert why in found


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "probing", "--size", "5B"], "8 B to 1472 B"),
        (["run", "probing", "--size", "600"], "unit"),
        (["run", "probing", "--path", "fast"], "fast"),
        (["run", "probing", "--path", "1 kbit/s"], "the limit is 600 s"),
        (["run", "packet-trains", "--cross", "30"], "cross"),
        (["run", "packet-trains", "--packets", "1"], "2"),
        (["run", "packet-trains", "--size", "2kB"], "12 B to 1472 B"),
        (["mixes", "187"], "unit"),
        (["mixes", "-5ms"], "RTT must be 0 or greater, got -5ms (-0.005 s)"),
        (["mixes", "--size", "0B"], "--size must be greater than 0, got 0 B"),
        (["mixes", "--links", "many"], "12-13"),
        (["mixes", "--links", "13-12"], "from a smaller to a larger number"),
        (["mixes", "--kind", "fast"], "fast"),
        (["mixes", "--links", "0"], "--links"),
        (
            ["mixes", "--links", "1-4000", "--tolerance", "60s"],
            "--links of 4000 results in more than",
        ),
    ],
)
def test_mistakes_are_one_sentence(arguments, said, complaint):
    found = complaint(*arguments)
    assert said in found
    assert "Traceback" not in found


def test_an_error_of_the_library_names_the_option_and_its_unit(monkeypatch, capsys):
    def refused(**_):
        raise DomainError("out-of-range", "timeout_s", 100.0, low=0.001, high=60)

    monkeypatch.setattr("netcalc.experiments.packet_trains", refused)
    with pytest.raises(SystemExit):
        main(["run", "packet-trains", "--json"])
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["code"], error["name"], error["value"]) == ("out-of-range", "--timeout", "100 s")
    assert error["message"] == "--timeout must be from 1 ms to 60 s, got 100 s"


def test_one_of_several_values_keeps_its_index(monkeypatch, complaint):
    def refused(**_):
        raise DomainError("is-negative", "payload_bytes[2]", -1.0)

    monkeypatch.setattr("netcalc.experiments.probing", refused)
    assert "--size[2] must be 0 or greater, got -1 B" in complaint("run", "probing")


def test_a_hint_is_for_those_who_type(monkeypatch, complaint):
    """The hint of a ratio above 1 is about a call from Python; who typed 200% has written it."""

    def refused(**_):
        raise DomainError(
            "percent-for-ratio", "cross_ratio", 2.0, low=0, high=1, percent=2.0, ratio=0.02
        )

    with pytest.raises(DomainError, match=r"As a ratio of 1 that is 0\.02"):
        refused()
    monkeypatch.setattr("netcalc.experiments.packet_trains", refused)
    assert complaint("run", "packet-trains").endswith("--cross must be from 0% to 100%, got 200%\n")


def test_a_run_that_measures_nothing_has_failed(monkeypatch):
    nothing = HopSamples(hop=[], packet_bytes=[], rtt_s=[], meta=Meta(warnings=("left out",)))
    monkeypatch.setattr("netcalc.experiments.probing", lambda **_: nothing)
    done = netcalc("run", "probing")
    assert (done.exit_code, "left out" in done.stdout) == (2, True)


def test_outputs_are_refused_before_the_run(tmp_path, complaint):
    same = str(tmp_path / "one.json")
    assert "two outputs" in complaint("run", "probing", "--plot", same, "--save", same)
    (tmp_path / "one.json").write_text("mine")
    assert "--force" in complaint("run", "packet-trains", "--save", same)
