"""``netcalc run bulk``, ``run line-rate`` and ``run lockstep``, as people use them."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from netcalc.cli import commands, main
from netcalc.samples import BulkSamples


def netcalc(*arguments):
    return CliRunner().invoke(commands, ["run", *arguments])


@pytest.mark.core
@pytest.mark.live
def test_the_books_options_measure_save_draw_and_read(tmp_path):
    saved, drawn = tmp_path / "run.json", tmp_path / "run.html"
    done = netcalc("bulk", "-s", "1440", "-s", "300B", "-b", "32768", "-c", "100", "--runs", "2",
                   "--save", str(saved), "--plot", str(drawn))  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "writes of 1440 B, buffers of 32 KiB (granted 64 KiB and 64 KiB): sent " in done.output
    assert " wall, " in done.output
    assert " user, " in done.output
    assert " system; median of 2" in done.output
    assert "The sender takes" in done.output
    samples = BulkSamples.load(saved)
    assert samples.received_bytes.tolist() == [144_000, 30_000] * 2
    assert "<html" in drawn.read_text()
    again = CliRunner().invoke(commands, ["read", str(saved), "--all"])
    assert "writes of 300 B" in again.output


@pytest.mark.core
@pytest.mark.live
def test_datagrams_in_json():
    done = netcalc("bulk", "--protocol", "udp", "-s", "64B", "-c", "640", "--gso", "64",
                   "--runs", "1", "-b", "0B", "--json")  # fmt: skip
    document = json.loads(done.stdout)
    assert document["kind"] == "BulkSamples"
    (row,) = document["settings"]
    assert (row["write_bytes"], row["run_count"]) == (64, 1)
    assert row["asked_buffer_bytes"] is None
    assert 0 <= row["loss_ratio"] <= 1


@pytest.mark.core
@pytest.mark.live
def test_line_rate_and_lockstep():
    done = netcalc("line-rate", "--frame", "64B", "--duration", "10 ms", "--runs", "1")
    assert done.exit_code == 0, done.output
    assert "frames of 64 B (18 B of data): sent " in done.output
    done = netcalc("lockstep", "--pairs", "1", "--pairs", "2", "--duration", "10 ms", "--runs", "1")
    assert done.exit_code == 0, done.output
    assert "pairs: 2: sent " in done.output


@pytest.mark.live
@pytest.mark.namespace
def test_line_rate_through_a_box_says_who_dropped(tmp_path):
    drawn = tmp_path / "box.html"
    done = netcalc("line-rate", "--frame", "64B", "--frame", "1518B", "--duration", "300 ms",
                   "--runs", "1", "--path", "1 Gbit/s, 10 Mbit/s", "--node-rate", "2 kpps",
                   "--node-input", "20", "--plot", str(drawn))  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "line rate over the path 1 Gbit/s, 10 Mbit/s" in done.output
    assert "; limited by: input of the box" in done.output
    assert "; limited by: buffer of the line" in done.output
    assert "node of 2000 pps, link of 10 Mbit/s" in drawn.read_text()


@pytest.mark.live
@pytest.mark.namespace
def test_line_rate_and_lockstep_routed():
    done = netcalc("line-rate", "--frame", "64B", "--frame", "512B", "--duration", "20 ms",
                   "--runs", "2", "--routed")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "line rate over a third namespace that routes" in done.output
    assert "The sender takes" in done.output
    done = netcalc("lockstep", "--pairs", "2", "--duration", "20 ms", "--runs", "1", "--routed",
                   "--json")  # fmt: skip
    document = json.loads(done.stdout)
    assert document["meta"]["target"] == "routed by a third namespace, TCP"


@pytest.mark.core
@pytest.mark.live
@pytest.mark.namespace
def test_a_buffer_sweep_over_a_path():
    done = netcalc("bulk", "-s", "1440B", "-c", "20", "-b", "8KiB", "-b", "32KiB", "--runs", "1",
                   "--path", "50 Mbit/s 2 ms", "--link-buffer", "64KiB")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "bulk over tcp, the path 50 Mbit/s 2 ms" in done.output
    assert "The predicted window is the requested buffer; the data in flight" in done.output


@pytest.mark.live
@pytest.mark.namespace
def test_a_loopback_of_another_mtu_and_family():
    done = netcalc("bulk", "-s", "1440", "-c", "20", "--runs", "1", "--mtu", "1500B",
                   "--host", "::1", "--json")  # fmt: skip
    document = json.loads(done.stdout)
    facts = document["meta"]["instrument"]
    assert (facts["mss_bytes"], facts["address_family"]) == (1428, "IPv6"), "1500 less 72"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["bulk", "-s", "1.5B"], "--size must be a whole number, 1 B or greater, got 1.5 B"),
        (["bulk", "-s", "10 mb"], "size"),
        (["bulk", "--congestion", "reno", "--protocol", "udp"], "does not apply to UDP"),
        (
            ["bulk", "-b", "0", "-b", "1KiB"],
            "--buffer must be a whole number, 1 B or greater, got 0 B",
        ),
        (["bulk", "-s", "1440.5"], "size"),
        (["bulk", "--host", "192.0.2.1"], "not a loopback address"),
        (["bulk", "--path", "fast"], "fast"),
        # derived: 60 bytes there and back
        (["bulk", "--path", "1 bit/s"], "a TCP handshake over this path takes 960 s"),
        (
            ["line-rate", "--frame", "63B"],
            "--frame must be a whole number, 64 B or greater, got 63 B",
        ),
        (["lockstep", "--reply", "0B"], "--reply must be a whole number, 1 B or greater, got 0 B"),
        (["line-rate", "--node-rate", "2 kpps"], "requires a --path"),
        (
            ["line-rate", "--path", "T1", "--node-rate", "2 kpps"],
            "requires a --path of at least two links",
        ),
        (["line-rate", "--path", "T1, T1", "--node-rate", "2000"], "2000"),
        (
            ["line-rate", "--path", "T1, T1", "--node-rate", "0 pps"],
            "--node-rate must be greater than 0",
        ),
        (["line-rate", "--path", "T1, T1", "--node-input", "0"], "--node-input"),
        (["line-rate", "--path", "T1, T1", "--routed"], "--routed and --path cannot be combined"),
        (["lockstep", "--path", "T1, T1", "--routed"], "--routed and --path cannot be combined"),
    ],
)
def test_what_is_refused(arguments, text, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["run", *arguments])
    assert caught.value.code == 2
    assert text in capsys.readouterr().err
