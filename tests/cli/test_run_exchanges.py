"""``netcalc run small-writes`` and ``run transactions``, as people use them."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from netcalc.cli import commands, main
from netcalc.samples import TransactionSamples

LIVE = [pytest.mark.live, pytest.mark.namespace, pytest.mark.core]


def netcalc(*arguments):
    return CliRunner().invoke(commands, ["run", *arguments])


@pytest.fixture
def complaint(capsys):
    """Run a command that is refused; return what it says."""

    def run(*arguments):
        with pytest.raises(SystemExit) as caught:
            main(["run", *arguments])
        assert caught.value.code == 2
        return capsys.readouterr().err

    return run


class TestLive:
    pytestmark = LIVE

    def test_small_writes_are_measured_saved_drawn_and_read(self, tmp_path):
        saved, drawn = tmp_path / "run.json", tmp_path / "run.html"
        done = netcalc("small-writes", "--mode", "nagle", "--mode", "single", "--count", "3",
                       "--write", "2B", "--write", "3B", "--reply", "5B",
                       "--save", str(saved), "--plot", str(drawn))  # fmt: skip
        assert done.exit_code == 0, done.output
        assert re.search(r"nagle: predicted 4[0-9.]+ ms", done.output)
        assert re.search(r"delayed acknowledgements: [2-9]", done.output)
        samples = TransactionSamples.load(saved)
        assert samples.payload_bytes.tolist() == [5] * 6
        assert "<html" in drawn.read_text()
        again = CliRunner().invoke(commands, ["read", str(saved), "--all"])
        assert re.search(r"nagle: predicted 4[0-9.]+ ms", again.output)

    def test_small_writes_with_a_gap_over_a_path_of_ipv6(self, tmp_path):
        done = netcalc("small-writes", "--mode", "nodelay", "--count", "2", "--gap", "30 ms",
                       "--host", "::1", "--path", "10 Mbit/s 1 ms", "--autocorking",
                       "--pcap", str(tmp_path / "run.pcap"))  # fmt: skip
        assert done.exit_code == 0, done.output
        # derived: 30 ms, 2 ms of latency, 85 and 90 bytes at 10 Mbit/s
        assert "nodelay: predicted 32.1" in done.output
        assert (tmp_path / "run.pcap").read_bytes()[40] >> 4 == 6

    def test_transactions_in_json(self, tmp_path):
        done = netcalc("transactions", "--protocol", "udp", "--protocol", "tcp", "--size", "8B",
                       "--size", "1400B", "--count", "2", "--json",
                       "--pcap", str(tmp_path / "run.pcap"))  # fmt: skip
        document = json.loads(done.stdout)
        assert document["kind"] == "TransactionSamples"
        assert {mode: row["count"] for mode, row in document["modes"].items()} == {
            "udp": 4, "tcp": 4,
        }  # fmt: skip
        assert document["modes"]["udp"]["failed"] == 0
        assert (tmp_path / "run.pcap").stat().st_size > 24

    def test_transactions_in_words_with_their_costs(self):
        done = netcalc("transactions", "--protocol", "udp", "--count", "1")
        assert "per further packet (fitted)" in done.output

    def test_over_a_path(self, tmp_path):
        done = netcalc("transactions", "--protocol", "udp", "--size", "8B", "--count", "1",
                       "--path", "100 Mbit/s 5 ms", "--plot", str(tmp_path / "a.html"))  # fmt: skip
        assert done.exit_code == 0, done.output
        assert "over the path 100 Mbit/s 5 ms" in done.output
        assert "Measured minus predicted" in done.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["small-writes", "--mode", "nagel"], "nagel"),
        (["small-writes", "--write", "6"], "unit"),
        (
            ["small-writes", "--reply", "0B"],
            "--reply must be a whole number, 1 B or greater, got 0 B",
        ),
        (["small-writes", "--gap", "30"], "gap"),
        (["small-writes", "--host", "192.0.2.1"], "not a loopback"),
        (["transactions", "--host", "::1", "--mtu", "1000B"], "got 1000 B"),
        (["small-writes", "--path", "fast"], "fast"),
        (["transactions", "--protocol", "quic"], "quic"),
        (["transactions", "--size", "65508B"], "65508"),
        (["transactions", "--mtu", "10B"], "--mtu"),
        (["transactions", "--count", "1000"], "100,000"),
        (["transactions", "--timeout", "5"], "timeout"),
        (["transactions", "--path", "1 bit/s"], "the limit is 600 s"),
        (["small-writes", "--path", "1 bit/s"], "the limit is 600 s"),
        (["echo", "--protocol", "icmp"], "--protocol icmp requires a --path"),
    ],
)
def test_mistakes_are_one_sentence(arguments, said, complaint):
    found = complaint(*arguments)
    assert said in found
    assert "Traceback" not in found


def test_outputs_are_refused_before_the_run(tmp_path, complaint):
    same = str(tmp_path / "one.json")
    assert "two outputs" in complaint("transactions", "--pcap", same, "--save", same)
