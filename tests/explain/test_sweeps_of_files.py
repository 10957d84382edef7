"""Several files that differ in one quantity are one measurement: by facts, names, or as stated."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from netcalc import explain, readers
from netcalc.cli import commands
from netcalc.errors import DomainError
from netcalc.explain import Known
from netcalc.readers.captures.round_trips import echo_samples

CAPTURE = Path(__file__).parent.parent / "readers" / "inputs" / "captures" / "dumpcap_lo.pcapng"
WINDOW_RATES = {4: 1.6384, 8: 3.2768, 16: 6.5536, 32: 9.41, 64: 9.41}
"""KiB -> Mbit/s of a window over 20 ms, on a line of 9.41."""


def run_of(path, *, rate_mbps, protocol="TCP", streams=1, block=131072, target_bps=0, lost=0):
    """Write a run of iperf3 in JSON, as its version 3.12 does."""
    size = rate_mbps * 1e6 / 2
    row = {"socket": 5, "start": 0, "end": 4, "seconds": 4.0, "bytes": size,
           "bits_per_second": rate_mbps * 1e6, "omitted": False, "sender": True}  # fmt: skip
    total = {name: row[name] for name in ("start", "end", "seconds", "bytes", "bits_per_second")}
    end = {"sum_sent": total, "sum_received": total}
    if protocol == "UDP":
        count = round(size / block)
        row |= {"packets": count}
        datagrams = {"jitter_ms": 0.1, "lost_packets": lost, "packets": count,
                     "lost_percent": 100 * lost / count}  # fmt: skip
        end = {"sum": {**total, **datagrams}}
    document = {
        "start": {
            "version": "iperf 3.12", "system_info": "Linux h 6.1.0 x86_64",
            "timestamp": {"timesecs": 1_700_000_000},
            "connecting_to": {"host": "192.0.2.9", "port": 5201}, "target_bitrate": target_bps,
            "test_start": {"protocol": protocol, "num_streams": streams, "reverse": 0, "omit": 0,
                           "duration": 4, "blksize": block, "target_bitrate": target_bps},
        },
        "intervals": [
            {"streams": [{**row, "socket": 5 + stream, "bytes": size / streams,
                          "bits_per_second": rate_mbps * 1e6 / streams}
                         for stream in range(streams)], "sum": row}
        ],
        "end": end,
    }  # fmt: skip
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def read_all(paths):
    return {path.name: readers.read(path) for path in paths}


def said(*arguments):
    done = CliRunner().invoke(commands, ["explain", *map(str, arguments)])
    return done.exit_code, done.output or str(done.exception)


@pytest.fixture
def windows(tmp_path):
    return [
        run_of(tmp_path / f"iperf_w{kib}K.json", rate_mbps=rate)
        for kib, rate in WINDOW_RATES.items()
    ]


def test_windows_in_the_names_of_files(windows):
    joined = explain.sweep(read_all(windows))
    assert joined.by == "window"
    assert joined.samples["window_bytes"].tolist() == [1024.0 * kib for kib in WINDOW_RATES]
    whole, *_ = explain.measurement(joined.samples, Known())
    assert whole.cause.code == "receiver-window"
    assert whole.cause.sign("fitted_rtt_s") == pytest.approx(0.02, rel=0.01)


def test_what_is_stated_counts_in_the_order_of_the_files(tmp_path):
    paths = [run_of(tmp_path / f"{name}.json", rate_mbps=rate)
             for name, rate in (("near", 9.41), ("middle", 3.2768), ("far", 0.65536),
                                   ("moon", 0.025206))]  # fmt: skip
    assert explain.sweep(read_all(paths)) is None, "nothing in the files differs"
    joined = explain.sweep(read_all(paths), "rtt=1ms,20ms,100ms,2.6s")
    whole, *_ = explain.measurement(joined.samples, Known())
    assert (whole.cause.variant, whole.cause.sign("window_bytes")) == (
        "by-trip", pytest.approx(8192, rel=0.01),
    )  # fmt: skip


def test_flows_by_the_facts_of_the_files(tmp_path):
    paths = [run_of(tmp_path / f"{name}.json", rate_mbps=min(94.0, 10 * count), streams=count)
             for name, count in (("a", 16), ("b", 1), ("c", 4))]  # fmt: skip
    joined = explain.sweep(read_all(paths))
    assert (joined.by, joined.samples["flow_count"].tolist()) == ("flows", [1.0, 4.0, 16.0])
    assert joined.samples["goodput_bps"].tolist() == [10e6, 40e6, 94e6]


def test_datagram_sizes_are_sizes_of_frames(tmp_path):
    """21 kpps at each size; a datagram of 18 B is in a frame of 64 B."""
    paths = [
        run_of(tmp_path / f"udp{size}.json", rate_mbps=size * 8 * 21e3 / 1e6, protocol="UDP",
               block=size, target_bps=1e9)
        for size in (18, 210, 466)
    ]  # fmt: skip
    joined = explain.sweep(read_all(paths))
    assert (joined.by, joined.samples["frame_bytes"].tolist()) == ("size", [64.0, 256.0, 512.0])
    findings = explain.measurement(joined.samples, Known())
    assert {finding.binding.name for finding in findings} == {"packet-rate"}
    assert findings[0].binding.values["device_pps"] == pytest.approx(21e3, rel=1e-3)


def test_a_number_above_any_datagram_is_no_size(tmp_path):
    """UDP carries at most 65,507 B."""
    paths = [
        run_of(tmp_path / f"udp_l{size}K.json", rate_mbps=rate, protocol="UDP", block=1000)
        for size, rate in ((100, 1), (200, 2))
    ]
    assert explain.sweep(read_all(paths)) is None


def test_losses_of_offered_rates(tmp_path):
    """1,472 B over a limit of 40 Mbit/s: of 50 and 80 Mbit/s are lost 20 and 50 %."""
    paths = []
    for rate in (10, 30, 50, 80):
        count = round(rate * 1e6 / 2 / 1472)
        lost = round(count * max(0.0, 1 - 40 / rate))
        paths.append(run_of(tmp_path / f"{rate}.json", rate_mbps=rate, protocol="UDP", block=1472,
                            target_bps=rate * 1e6, lost=lost))  # fmt: skip
    joined = explain.sweep(read_all(paths))
    assert joined.by == "offered"
    (finding,) = explain.measurement(joined.samples, Known())
    assert finding.cause.variant == "offer"
    assert finding.cause.sign("capacity_bps") == pytest.approx(40e6, rel=1e-3)


UDP_TOTALS = """\
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-10.00  sec  {sent} Mbits/sec  0.000 ms  0/{count} (0%)  sender
[  5]   0.00-10.04  sec  {received} Mbits/sec  0.121 ms  {lost}/{count} ({ratio}%)  receiver
"""


def test_the_rate_of_a_sender_of_datagrams_is_the_offered_rate(tmp_path):
    """No file says what was asked for; the sizes are the same, and nothing else differs."""
    runs = {
        "c": ("238 MBytes   200", "114 MBytes  95.3", 172660, 90150, 52),
        "a": ("59.6 MBytes  50.0", "59.6 MBytes  49.8", 43165, 0, 0),
        "b": ("119 MBytes   100", "112 MBytes  93.6", 86330, 5120, 5.9),
    }
    paths = []
    for name, row in runs.items():
        values = dict(zip(("sent", "received", "count", "lost", "ratio"), row, strict=True))
        paths.append(tmp_path / f"{name}.txt")
        paths[-1].write_text(UDP_TOTALS.format(**values), encoding="utf-8")
    for by in ("", "offered"):
        joined = explain.sweep(read_all(paths), by)
        assert joined.samples["offered_bps"].tolist() == [50e6, 100e6, 200e6]
        expected = [0, 5120 / 86330, 90150 / 172660]
        assert joined.samples["loss_ratio"].tolist() == pytest.approx(expected)
    (finding,) = explain.measurement(joined.samples, Known())
    assert finding.cause.sign("capacity_bps") == pytest.approx(95e6, rel=0.02)


def test_two_things_that_differ_are_no_sweep(tmp_path):
    paths = [run_of(tmp_path / f"iperf_w{kib}K.json", rate_mbps=kib, streams=count)
             for kib, count in ((8, 1), (16, 2))]  # fmt: skip
    joined = explain.sweep(read_all(paths))
    assert joined.by == "flows", "facts come before names"
    run_of(paths[0], rate_mbps=8)
    run_of(paths[1], rate_mbps=16)
    assert explain.sweep(read_all(paths)).by == "window"
    for number, path in enumerate(paths):
        run_of(path, rate_mbps=8, protocol="UDP", block=100 + number * 100,
               target_bps=1e6 + number * 1e6)  # fmt: skip
    joined = explain.sweep(read_all(paths))
    assert joined.samples is None
    assert joined.said.values["names"] == ["size", "offered"]
    assert explain.sweep(read_all(paths), "size").by == "size"


PING = (
    "PING 192.0.2.1 (192.0.2.1) {size}({packet}) bytes of data.\n"
    "{reply} bytes from 192.0.2.1: icmp_seq=1 ttl=64 time={time:.3f} ms\n"
    "{reply} bytes from 192.0.2.1: icmp_seq=2 ttl=64 time={time:.3f} ms\n\n"
    "--- 192.0.2.1 ping statistics ---\n"
    "2 packets transmitted, 2 received, 0% packet loss, time 1001ms\n"
    "rtt min/avg/max/mdev = {time:.3f}/{time:.3f}/{time:.3f}/0.000 ms\n"
)


def test_pings_of_several_sizes_are_one(tmp_path):
    """10 ms and a line of 1.544 Mbit/s, both ways: the slope is 16 bit / 1.544 Mbit/s a byte."""
    paths = []
    for size in (56, 400, 1000, 1400):
        time = 10 + 16 * (size + 28) / 1544
        paths.append(tmp_path / f"{size}.txt")
        paths[-1].write_text(
            PING.format(size=size, packet=size + 28, reply=size + 8, time=time), encoding="utf-8"
        )
    joined = explain.sweep(read_all(paths))
    assert (joined.by, len(joined.samples)) == ("size", 8)
    asked = explain.sweep(read_all(paths), "size")
    assert (asked.by, str(asked.said)) == ("size", str(joined.said)), "what it is by itself"
    stated = explain.sweep(read_all(paths), "size=1B,2B,3B,4B").samples.payload_bytes
    assert stated.tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
    assert explain.sweep(read_all(paths), "flows") is None
    (finding,) = explain.measurement(joined.samples, Known())
    assert finding.binding.name == "serialization-of-sizes"
    assert finding.binding.values["line_bps"] == pytest.approx(1.544e6, rel=0.01)


def test_ways_of_writing_by_their_names(tmp_path):
    for name, times in (("nagle", (62, 107, 100, 104)), ("nodelay", (44, 47, 45, 44))):
        text = "time [ms]\n" + "\n".join(map(str, times)) + "\n"
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    joined = explain.sweep(read_all(sorted(tmp_path.iterdir())))
    assert joined.by == "mode"
    first, _ = explain.measurement(joined.samples, Known(rtt_s=0.031))
    assert first.cause.code == "nagle-delayed-ack"
    for path in sorted(tmp_path.iterdir()):
        path.rename(path.with_name(f"{path.stem[:2]}.csv"))
    assert explain.sweep(read_all(sorted(tmp_path.iterdir()))) is None, "times of anything"


def test_a_ping_and_a_capture_of_the_same_echoes(tmp_path):
    """A capture of three echoes; the program sees the answers 50, 60 and 70 us later."""
    trace = readers.read(CAPTURE)
    taps = echo_samples(trace)
    chosen = np.asarray(taps.group) == taps.groups[0]
    lines = ["PING 127.0.0.1 (127.0.0.1) 100(128) bytes of data."]
    for number, time_s in zip(
        np.asarray(taps.sequence)[chosen], np.asarray(taps.rtt_s)[chosen], strict=True
    ):
        later_ms = 1e3 * time_s + 0.04 + 0.01 * number
        lines.append(
            f"108 bytes from 127.0.0.1: icmp_seq={number:.0f} ttl=64 time={later_ms:.3f} ms"
        )
    ping = tmp_path / "ping.txt"
    ping.write_text("\n".join(lines) + "\n", encoding="utf-8")
    joined = explain.sweep({"ping.txt": readers.read(ping), "lo.pcapng": trace})
    assert joined.by == "clock"
    assert joined.said.values["median_s"] == pytest.approx(60e-6, abs=2e-6)
    # A run of another size has the same numbers, and is none of the capture.
    other = [line.replace("108 bytes", "208 bytes").replace("100(128)", "200(228)")
             for line in lines]  # fmt: skip
    ping.write_text("\n".join([*other, *lines]) + "\n", encoding="utf-8")
    both = explain.sweep({"ping.txt": readers.read(ping), "lo.pcapng": trace})
    assert both.said.values == joined.said.values


def test_the_command_explains_the_files_as_one_and_draws_them(windows, tmp_path):
    code, output = said(*windows, "--plot", tmp_path / "out.svg")
    assert code == 0
    assert output.startswith("5 files of different windows as one measurement")
    assert "one window per 20 ms" in output
    assert "Goodput" in (tmp_path / "out.svg").read_text(encoding="utf-8")
    code, output = said(*windows, "--json")
    first = json.loads(output.splitlines()[0])
    assert (first["sweep"], first["findings"][0]["cause"]) == ("window", "receiver-window")


def test_read_draws_the_files_as_one(windows, tmp_path):
    arguments = ["read", *windows, "--plot", tmp_path / "out.svg"]
    done = CliRunner().invoke(commands, list(map(str, arguments)))
    assert done.exit_code == 0, done.output
    assert "5 files of different windows as one measurement" in done.output
    assert "one round trip" in (tmp_path / "out.svg").read_text(encoding="utf-8")
    arguments = ["read", windows[0], CAPTURE, "--plot", tmp_path / "none.svg"]
    done = CliRunner().invoke(commands, list(map(str, arguments)))
    assert done.exit_code
    assert "Measured:" in done.output, "the files are read before"
    assert done.exception.code == "no-sweep-to-draw"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--by", "colour"), "one of window, size, flows, offered, rtt, loss"),
        (("--by", "window=1KiB,2KiB"), "2 values for 5 files"),
        (("--by", "window=1KiB,2KiB,3KiB,4KiB,five"), "five"),
    ],
)
def test_what_is_wrong_with_by(windows, options, says):
    code, output = said(*windows, *options)
    assert code
    assert says in output


def test_one_file_and_files_without_a_sweep(windows, tmp_path):
    assert "several files" in said(windows[0], "--by", "window")[1]
    other = tmp_path / "times.csv"
    other.write_text("time [ms]\n1\n2\n", encoding="utf-8")
    code, output = said(windows[0], other, "--plot", tmp_path / "x.svg")
    assert code
    assert "one quantity differs" in output
    with pytest.raises(DomainError, match="by must be one of"):
        explain.sweep(read_all(windows), "colour")


@pytest.mark.parametrize(
    "by", ["window=0,1KiB", "rtt=-1ms,2ms", "loss=1%,200%", "flows=1.5,2", "offered=0,1Mbit/s"]
)
def test_values_that_cannot_be_are_refused(tmp_path, by):
    paths = [run_of(tmp_path / f"{name}.json", rate_mbps=9) for name in "ab"]
    with pytest.raises(DomainError, match=by.partition("=")[0]):
        explain.sweep(read_all(paths), by)


@pytest.mark.parametrize("word", ["n", "p", "w"])
def test_numbers_of_runs_are_neither_flows_nor_windows(tmp_path, word):
    """The files hold one flow each, and no window is of 1 B."""
    paths = [run_of(tmp_path / f"{word}{k}.json", rate_mbps=9 + k) for k in (1, 2, 3)]
    assert explain.sweep(read_all(paths)) is None


@pytest.mark.parametrize(
    ("protocols", "by"),
    [
        (("UDP", "UDP"), "window=1KiB,2KiB"), (("UDP", "UDP"), "rtt=1ms,2ms"),
        (("UDP", "UDP"), "loss=1%,2%"), (("TCP", "UDP"), "flows=1,2"),
        (("TCP", "TCP"), "size=100B,200B"),
    ],
)  # fmt: skip
def test_no_window_of_datagrams_and_no_two_protocols(tmp_path, protocols, by):
    paths = [run_of(tmp_path / f"{place}.json", rate_mbps=8 + place, protocol=protocol,
                    block=1400, target_bps=9e6)
             for place, protocol in enumerate(protocols)]  # fmt: skip
    assert explain.sweep(read_all(paths), by) is None


def test_up_and_down_are_no_sweep_by_their_names(tmp_path):
    paths = [run_of(tmp_path / f"w{kib}K.json", rate_mbps=kib) for kib in (8, 16, 32)]
    document = json.loads(paths[1].read_text(encoding="utf-8"))
    document["start"]["test_start"]["reverse"] = 1
    document["intervals"][0]["streams"][0]["sender"] = False
    paths[1].write_text(json.dumps(document), encoding="utf-8")
    assert explain.sweep(read_all(paths)) is None
    assert explain.sweep(read_all([paths[0], paths[2]])).by == "window"
    assert explain.sweep(read_all(paths), "window=8KiB,16KiB,32KiB").by == "window", "as stated"


def test_what_is_stated_and_does_not_suit_the_files_is_said(windows):
    """TCP has no size of datagrams; one file twice is one measurement."""
    assert "no sweep by 'size'" in said(*windows, "--by", "size")[1]
    assert "named twice" in said(windows[0], windows[0])[1]


def test_times_of_several_sizes_are_drawn_against_their_size(tmp_path):
    table = tmp_path / "sizes.csv"
    table.write_text("size [B],time [s]\n10000,0.08\n100000,0.55\n1000000,5.2\n", encoding="utf-8")
    code, output = said(table, "--plot", tmp_path / "out.svg")
    assert code == 0, output
    assert "against size" in (tmp_path / "out.svg").read_text(encoding="utf-8")
