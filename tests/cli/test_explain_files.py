"""``netcalc explain`` of files and claims, and the metrics of ``netcalc read``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from netcalc.cli import commands

INPUTS = Path(__file__).parents[1] / "readers" / "inputs"
IPERF = str(INPUTS / "transfers" / "iperf3_tcp.json")
WINDOW = Path(__file__).parents[2] / "data" / "puzzles" / "window.pcap.gz"
ROUTER = Path(__file__).parents[2] / "data" / "router_emulated.json.gz"
PING = str(INPUTS / "iputils_plain.txt")


def run(*arguments):
    return CliRunner().invoke(commands, list(arguments))


def test_a_file_is_explained_in_text():
    """Read off the file: iperf3 was asked for 200 Mbit/s (-b 200M) over the loopback."""
    said = run("explain", IPERF, "--line", "1Gbit/s").output
    assert "The requested rate is the limit: 200.3 Mbit/s (TCP payload)" in said
    assert "Confidence: high" in said


def test_of_many_findings_the_arithmetic_of_a_conclusion_is_printed_once():
    """By hand: four ways and six sizes; 64 to 512 bytes meet the packet rate, larger the line."""
    lines = run("explain", str(ROUTER), "--line", "10Mbit/s").output.splitlines()
    assert len([line for line in lines if "limits this" in line]) == 4 * 6
    assert len([line for line in lines if "The packet rate of a device limits this" in line]) == 16
    whole = [place for place, line in enumerate(lines) if line.startswith("Confidence:")]
    # Every word below a sentence is there once; the numbers of all are in the JSON.
    assert len({lines[place] for place in whole}) == len(whole)
    assert len(lines) < 60
    found = json.loads(run("explain", str(ROUTER), "--line", "10Mbit/s", "--json").stdout)
    assert sum(bool(one["limits"]) for one in found["findings"]) == 4 * 6


def test_what_a_capture_waited_for_is_drawn_above_its_limits(tmp_path):
    """published with the recording: 39.55 kB of window in each round trip of 40 ms."""
    out = tmp_path / "waits.html"
    said = run("explain", str(WINDOW), "--plot", str(out)).output
    page = out.read_text()
    assert f"wrote {out}" in said
    assert len(page) < 2_000_000
    for text in ("What the flow waited for", "39.55 kB at 40.14 ms", "edge of the window"):
        assert text in page
    assert page.index("What the flow waited for") < page.index("What limits")


def test_a_file_is_explained_in_json_and_drawn(tmp_path):
    out = tmp_path / "limits.html"
    done = run("explain", IPERF, "--json", "--plot", str(out))
    found = json.loads(done.stdout)["findings"][0]
    assert found["binding"] == "offered"
    assert found["confidence"] == "high"
    assert {one["name"] for one in found["limits"]} >= {"offered", "send-window"}
    assert "The offered rate" in out.read_text() or out.stat().st_size > 10_000
    assert "exists" in str(run("explain", IPERF, "--plot", str(out)).exception)


def test_a_table_of_pairs_is_explained_and_drawn(tmp_path):
    """By hand: 20 Mbit/s a pair, 160 of eight; together they reach 94.1."""
    file, out = tmp_path / "pairs.csv", tmp_path / "pairs.html"
    file.write_text("pairs,goodput_Mbit/s\n1,20\n4,80\n8,94.1\n")
    said = run("explain", str(file)).output
    assert "8 pairs: What all reach together limits this: 94.1 Mbit/s (TCP payload) is 100%" in said
    assert "what each pair gets alone: 160 Mbit/s (TCP payload) [59%]: 8 x 20 Mbit/s" in said
    run("read", str(file), "--plot", str(out), "--line", "100Mbit/s")
    drawn = out.read_text(encoding="utf-8")
    assert all(name in drawn for name in ("pairs alike", "all together", "the line"))


def test_read_says_where_its_times_are_from():
    """A router prints no time of a probe; Windows prints times below its last digit."""
    router = (
        "Sending 2, 100-byte ICMP Echos to 192.0.2.9, timeout is 2 seconds:\n!!\n"
        "Success rate is 100 percent (2/2), round-trip min/avg/max = 4/5/6 ms\n"
    )
    said = CliRunner().invoke(commands, ["read", "-", "--all"], input=router).stdout
    assert "no probe has a time of its own: the times below are the tool's summary" in said
    assert "no round-trip times" not in said
    windows = (
        "Pinging 192.0.2.9 with 32 bytes of data:\n"
        "Reply from 192.0.2.9: bytes=32 time<1ms TTL=64\n"
        "Reply from 192.0.2.9: bytes=32 time=2ms TTL=64\n"
    )
    said = CliRunner().invoke(commands, ["read", "-", "--all"], input=windows).stdout
    assert "1 time below 1 ms, taken as 500 µs" in said
    exact = windows.replace("<1ms", "=1ms")
    said = CliRunner().invoke(commands, ["read", "-", "--all"], input=exact).stdout
    assert "taken as" not in said


def test_several_files_have_their_names_above():
    said = run("explain", IPERF, PING).output
    assert f"{IPERF}:" in said
    assert f"{PING}:" in said


def test_several_files_are_compared():
    """Read off the files: medians of 49 us (five times) and 52.5 us (four, of busybox)."""
    said = run("explain", PING, str(INPUTS / "busybox_plain.txt")).output
    assert "round trip 49 µs (of 5)" in said
    assert "too few values for a confidence interval" in said


def test_a_claim_is_judged():
    said = run("explain", "--claim", "11.8 Mbit/s", "--line", "100Mbit/s").output
    assert "bytes written as bits" in said
    found = json.loads(
        run("explain", "--claim", "94 Mbit/s", "--line", "100Mbit/s", "--json").output
    )
    assert found["best"] == "tcp-timestamps"
    over = run("explain", "T1 5 ms, T1 5 ms", "--size", "1500B", "--claim", "25.5 ms").output
    assert "is right: store-and-forward" in over


def test_a_claim_about_a_file_knows_both_counts():
    """Read off the file: 2.004 Mbit/s sent, 2.000 Mbit/s received."""
    udp = str(INPUTS / "transfers" / "iperf3_udp.json")
    said = run("explain", udp, "--claim", "2.000 Mbit/s").output
    assert "is right: what the receiver counted" in said


def test_a_claim_about_a_ping_knows_its_round_trip():
    """Read off the file: a least of 47 us; by hand: 65,535 B in each are 11.155 Gbit/s."""
    said = run("explain", PING, "--claim", "11.15 Gbit/s", "--window", "65535B").output
    assert "is right: window of 65.53 kB divided by a round trip of 47 µs" in said
    half = run("explain", PING, "--claim", "23.5 us").output
    assert "one-way time mistaken for the round trip" in half
    assert "the right value is 47 µs: the minimum round trip" in half


@pytest.mark.each(
    ("arguments", "code"),
    [
        (["explain"], "argument-missing"),
        (["explain", "T1 5 ms", "--line", "T1"], "option-of-file"),
        (["explain", IPERF, "missing.json"], "path-and-files"),
        (["explain", IPERF, PING, "--plot", "x.html"], "no-sweep-to-draw"),
        (["explain", "--claim", "3 s"], "claim-without-facts"),
        (["explain", str(INPUTS / "columns" / "rates.csv")], "columns-without-theory"),
        (["explain", IPERF, "--line", "0bit/s"], "not-positive"),
    ],
)
def test_wrong_questions_have_a_code(arguments, code):
    done = CliRunner().invoke(commands, arguments, standalone_mode=False)
    found = getattr(done.exception, "code", None)
    assert found == code or code == "argument-missing", done.exception
    assert done.exception is not None


def test_read_prints_what_judges_a_measurement():
    """Derived from the five times of the file: 47 to 176 us; 2.000118 s of 50.07 MB."""
    said = run("read", PING, "--all").output
    assert "jitter (RFC 3550)" in said
    assert "IPDV max 129 µs" in said
    rows = json.loads(run("read", IPERF, "--json", "--line", "1Gbit/s").output)["metrics"]
    # the MSS of the loopback, 32,768 B, with 52 B of headers and 38 B of Ethernet
    assert rows[0]["line_ceiling_bps"] == pytest.approx(1e9 * 32768 / 32858)
    assert rows[0]["transfer_time_factor"] == pytest.approx(
        2.000118 / (8 * 50069504 / rows[0]["line_ceiling_bps"]), rel=1e-4
    )


def test_read_says_what_an_unknown_table_may_be(tmp_path):
    path = tmp_path / "beds.csv"
    path.write_text("beds_count,rooms_count\n1,2\n2,3.5\n3,4.5\n")
    for options, said_of_columns in ((["--all"], "column 'beds'"), ([], "beds 1 to 3 (median 2)")):
        said = run("read", str(path), *options).output
        assert said_of_columns in said
        assert "to give them a meaning, name the columns with units" in " ".join(said.split())


def speed_test(tmp_path):
    file = tmp_path / "speedtest.json"
    document = {
        "download": 93.12e6, "upload": 18.8e6, "ping": 12.5, "bytes_sent": 24_000_000,
        "bytes_received": 117_000_000, "share": None, "timestamp": "2026-11-20T10:00:00.000000Z",
        "server": {"url": "http://s.example/upload.php", "host": "s.example:8080", "latency": 12.5},
        "client": {"ip": "192.0.2.7", "isp": "I"},
    }  # fmt: skip
    file.write_text(json.dumps(document))
    return str(file)


def test_an_access_line_has_a_rate_for_each_direction(tmp_path):
    """Derived: 1448 of every 1538 bytes of the wire are payload; the ACKs take the other way."""
    rates = ("--line", "100Mbit/s", "--line-up", "20Mbit/s")
    said = json.loads(run("explain", speed_test(tmp_path), *rates, "--json").output)
    for one, line, reverse in zip(said["findings"], (100e6, 20e6), (20e6, 100e6), strict=True):
        limits = {limit["name"]: limit for limit in one["limits"]}
        assert limits["line"]["value"] == pytest.approx(line * 1448 / 1538)
        assert limits["acknowledgements"]["values"]["reverse_bps"] == reverse
        assert one["binding"] == "line"
    metrics = json.loads(run("read", speed_test(tmp_path), *rates, "--json").output)["metrics"]
    assert [one["line_ceiling_bps"] for one in metrics] == pytest.approx(
        [100e6 * 1448 / 1538, 20e6 * 1448 / 1538]
    )
    claim = run("explain", speed_test(tmp_path), *rates, "--claim", "18.9868 Mbit/s").output
    # 1460 of every 1538 bytes of 20 Mbit/s
    assert claim.startswith("18.9868 Mbit/s is right: upload: goodput of TCP without options")


def test_a_rate_upwards_that_no_direction_is_known_for_is_said(tmp_path):
    said = json.loads(run("explain", PING, "--line-up", "20Mbit/s", "--json").output)
    codes = [one["code"] for one in said["findings"][0]["notices"]]
    assert "line-up-unused" in codes
    for words in (["1Gbit/s 4ms"], ["--claim", "94 Mbit/s"]):
        refused = run("explain", *words, "--line-up", "20Mbit/s")
        assert refused.exception.code == "option-of-a-file"


def cut_run(tmp_path):
    """Return JSON of iperf3 that was cut before its totals."""
    text = Path(IPERF).read_text(encoding="utf-8")
    file = tmp_path / "cut.json"
    file.write_text(text[: text.rindex('"end"')], encoding="utf-8")
    return str(file)


def test_what_the_reader_warned_of_is_said_once_and_first(tmp_path):
    file = cut_run(tmp_path)
    warned = [
        line.strip()
        for line in run("read", file, "--all").output.splitlines()
        if "warning:" in line
    ]
    assert warned, "the file was cut"
    said = run("explain", file).output
    assert said.startswith(f"partial: the measurement is incomplete\n{warned[0]}\n")
    assert all(said.count(line) == 1 for line in warned)
    found = json.loads(run("explain", file, "--json").output)
    assert found["partial"] is True
    assert [f"warning: {text}" for text in found["warnings"]] == warned
    whole = json.loads(run("explain", IPERF, "--json").output)
    assert (whole["partial"], whole["warnings"]) == (False, [])
    claimed = run("explain", file, "--claim", "200Mbit/s").output
    assert warned[0] in claimed


def test_an_error_that_a_tool_reported_comes_before_what_is_concluded(tmp_path):
    document = json.loads(Path(IPERF).read_text(encoding="utf-8"))
    document["error"] = "interrupt - the client has terminated"
    file = tmp_path / "error.json"
    file.write_text(json.dumps(document))
    said = run("explain", str(file)).output
    assert said.index("the client has terminated") < said.index("Confidence")


def test_warnings_are_said_of_a_file_that_cannot_be_explained(tmp_path):
    """Negative counts are unknown, so that nothing is left to explain."""
    text = Path(IPERF).read_text(encoding="utf-8")
    for name in ("bytes", "bits_per_second"):
        text = re.sub(rf'("{name}":\s*)(?=\d)', r"\1-", text)
    file = tmp_path / "negative.json"
    file.write_text(text)
    done = run("explain", str(file))
    assert done.exception is not None
    assert "as unknown" in done.output


def test_a_loss_of_all_packets_is_refused(tmp_path):
    """Derived: where all packets are lost nothing arrives, of a file and of a path alike."""
    file = tmp_path / "trips.csv"
    file.write_text("rtt [ms],rate [Mbit/s]\n10,52.4\n20,26.2\n40,13.1\n")
    for what in (str(file), "1 Gbit/s 40 ms"):
        done = run("explain", what, "--loss", "100%")
        assert done.exit_code != 0
        assert str(done.exception).startswith("--loss must be below 100%: if all packets are ")
        for other in ("101%", "-1%"):
            assert "from 0% to 100%" in str(run("explain", what, "--loss", other).exception)


def test_a_table_is_drawn_and_saved_with_its_headline(tmp_path):
    """By hand: 52.4 Mbit/s x 10 ms / 8 are 65,500 B."""
    file, out = tmp_path / "trips.csv", tmp_path / "trips.html"
    file.write_text("rtt [ms],rate [Mbit/s]\n10,52.4\n20,26.2\n40,13.1\n")
    done = run("explain", str(file), "--plot", str(out))
    assert done.exit_code == 0, done.output
    assert done.output.startswith(
        "The rate is inversely proportional to the round trip: a window of 65.5 kB"
    )
    whole = json.loads(run("explain", str(file), "--json").output)["findings"][0]
    assert (whole["cause"], whole["measured"], whole["limits"]) == ("receiver-window", None, [])
    assert whole["evidence"][0]["interval"][0] < 65500 < whole["evidence"][0]["interval"][1]


@pytest.mark.parametrize("rate", ["100mbit/s", "100Mbit/s", "100 mbps", "100mb/s", "100 MBit/s"])
def test_a_small_m_of_a_rate_is_mega(rate):
    """Derived: no line has 100 thousandths of a bit a second."""
    said = run("explain", "--claim", "94 Mbit/s", "--line", rate).output
    assert "(1500 B on a line of 100 Mbit/s)" in said
