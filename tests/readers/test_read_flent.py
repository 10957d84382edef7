"""Data files of flent: expected numbers are read off the files by eye."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from samples_seen import codes

from netcalc.errors import ReaderError
from netcalc.readers import read

INPUTS = Path(__file__).parent / "inputs" / "transfers"
DOCUMENT = json.loads((INPUTS / "flent_4.json").read_text())


def changed(**parts):
    document = copy.deepcopy(DOCUMENT)
    document.update(parts)
    return json.dumps(document, indent=1)


def test_facts_of_version_4():
    """Single probes: 20.1, 20.7, 21.4 and 24 ms; the median is between the middle two."""
    ping, upload = read(INPUTS / "flent_4.json").facts()
    assert ping == {
        "group": "Ping (ms) ICMP", "target": "192.0.2.1", "partial": False, "reply_count": 4,
        "protocol": "icmp",
        "rtt_min_s": pytest.approx(0.0201), "rtt_median_s": pytest.approx(0.02105),
        "rtt_max_s": pytest.approx(0.024),
    }  # fmt: skip
    assert upload == {
        "group": "TCP upload", "target": "192.0.2.1", "partial": False, "protocol": "tcp",
        "direction": "upload", "sent_rate_bps": pytest.approx(9.41e6), "duration_s": 1.01,
        "retransmit_count": 17, "congestion_control": "cubic",
    }  # fmt: skip


def test_gaps_are_unknown_and_derived_series_are_no_rows():
    samples = read(INPUTS / "flent_4.json")
    assert set(samples["group"]) == {"Ping (ms) ICMP", "TCP upload", "TCP upload::tcp_cwnd"}
    rtt_s = samples["rtt_s"][samples["group"] == "Ping (ms) ICMP"]
    assert np.isnan(rtt_s).tolist() == [False, False, False, True, False, False]
    assert samples["throughput_bps"][samples["group"] == "TCP upload"][1] == pytest.approx(9.2e6)
    window = samples["value"][samples["group"] == "TCP upload::tcp_cwnd"]
    assert np.nanmax(window) == 21
    assert codes(samples) == ["flent-derived", "flent-no-unit"]


def test_raw_values_in_seconds_are_not_taken_for_milliseconds():
    (row,) = read(INPUTS / "flent_2_http.json").facts()
    assert (row["rtt_min_s"], row["rtt_max_s"]) == pytest.approx((0.0012, 0.0046))


def test_version_1_has_units_by_its_names():
    ping, upload = read(INPUTS / "flent_1.flent.gz").facts()
    assert "rtt_min_s" not in ping  # no single probes in the file
    assert upload["sent_rate_bps"] == pytest.approx((9.2e6 + 9.4e6 + 9.5e6 + 9.6e6) / 4)


def test_a_failed_runner_makes_the_run_partial():
    metadata = {**DOCUMENT["metadata"], "FAILED_RUNNERS": 1}
    assert read(changed(metadata=metadata)).meta.partial


RESULTS = DOCUMENT["results"]
REFUSED = {
    "a later version": (changed(version=5), "flent-version"),
    "no version at all": (changed(version="new"), "flent-version"),
    "a shorter series": (
        changed(results={**RESULTS, "TCP upload": [1.0, 2.0]}), "flent-length"),
    "text in a series": (
        changed(results={**RESULTS, "TCP upload": [None, "9,2", 1, 2, 3, 4]}), "not-a-number"),
    "an object for a series": (changed(results={**RESULTS, "TCP upload": {}}), "flent-no-list"),
    "nothing": (changed(results={}), "flent-nothing"),
    "cut": (changed()[:-30], "json-cut-short"),
}  # fmt: skip


@pytest.mark.each("what", REFUSED)
def test_refused(what):
    text, code = REFUSED[what]
    with pytest.raises(ReaderError) as refused:
        read(text.encode())
    assert refused.value.code == code


def test_cut_gzip_is_refused():
    with pytest.raises(ReaderError) as refused:
        read(gzip.compress(changed().encode())[:-20])
    assert refused.value.code == "gzip-cut-short"


def by_hand(series, *, version=4, times=(0.0, 0.5, 1.0), raw=None, **metadata):
    """A document of these series: name -> (values, what flent says of them)."""
    document = {
        "version": version, "x_values": list(times),
        "results": {name: values for name, (values, _) in series.items()},
        "raw_values": {name: [{"val": value} for value in values]
                       for name, values in (raw or {}).items()},
        "metadata": {
            "SERIES_META": {name: meta for name, (_, meta) in series.items()},
            "HOST": "192.0.2.1", "NAME": "rrul", **metadata,
        },
    }  # fmt: skip
    return read(json.dumps(document, indent=1))


def column(samples, name):
    return [None if one != one else one for one in samples[name].tolist()]


def test_every_unit_of_flent_has_its_column_and_factor():
    units = {
        "ms": ("rtt_s", 1e-3), "S": ("rtt_s", 1), "Mbits/s": ("throughput_bps", 1e6),
        "kbits/s": ("throughput_bps", 1e3), "Kbps": ("throughput_bps", 1e3),
        "bits/s": ("throughput_bps", 1), "packets": ("value", 1),
    }  # fmt: skip
    for unit, (name, factor) in units.items():
        found = by_hand({"Ping": ([4.0, None, 8.0], {"UNITS": unit})})
        for other in ("rtt_s", "throughput_bps", "value"):
            known = [4 * factor, None, 8 * factor] if other == name else [None] * 3
            assert column(found, other) == pytest.approx(known), (unit, other)
        assert codes(found) == (["flent-no-unit"] if name == "value" else [])
    assert found.meta.units == {
        "group": "text", "time_s": "s", "rtt_s": "s", "throughput_bps": "bit/s", "value": "1",
    }  # fmt: skip


def test_series_follow_each_other_on_one_axis_of_time():
    found = by_hand({
        "Ping (ms) ICMP": ([1.0, 2.0, 3.0], {}), "TCP download": ([4.0, 5.0, 6.0], {}),
        "TCP upload::tcp_rtt": ([7.0, 8.0, 9.0], {}), "Ping (ms) UDP::delay": ([1, 1, 1], {}),
        "One-way delay": ([2.0, 2.0, 2.0], {"UNITS": "ms"}), "none": ([], {}),
        "TCP upload": ([5.0, 5.0, 5.0], {"UNITS": "kbits/s"}),
    })  # fmt: skip
    assert column(found, "time_s") == [0.0, 0.5, 1.0] * 6
    assert found["group"][::3].tolist() == [
        "Ping (ms) ICMP", "TCP download", "TCP upload::tcp_rtt", "Ping (ms) UDP::delay",
        "One-way delay", "TCP upload",
    ]  # fmt: skip
    none = [None] * 3
    assert column(found, "rtt_s") == pytest.approx([0.001, 0.002, 0.003, *none * 5])
    assert column(found, "throughput_bps") == [*none, 4e6, 5e6, 6e6, *none * 3, 5e3, 5e3, 5e3]
    assert column(found, "value") == [*none * 2, 7, 8, 9, 1, 1, 1, 2, 2, 2, *none]
    (notice,) = found.meta.warnings
    assert (notice.code, notice.values["count"]) == ("flent-no-unit", 3)
    assert [row["group"] for row in found.facts()] == [
        "Ping (ms) ICMP", "TCP download", "TCP upload"]  # fmt: skip


def test_derived_series_are_named_and_left_out():
    derived = ["Ping (ms) avg", "TCP upload sum", "TCP totals", "Total", "TCP fairness::x"]
    series = {name: ([1.0] * 3, {}) for name in [*derived, "Ping (ms) ICMP"]}
    for number, runner in enumerate(("AverageRunner", "SumRunner", "DiffMinRunner",
                                     "FairnessRunner", "ComputingRunner")):  # fmt: skip
        series[f"by {number}"] = ([1.0] * 3, {"RUNNER": runner})
    found = by_hand(series)
    (notice,) = found.meta.warnings
    assert notice.code == "flent-derived"
    assert notice.values["names"] == [*derived, *(f"by {number}" for number in range(5))]
    assert set(found["group"]) == {"Ping (ms) ICMP"}


def test_values_below_0_are_counted_and_unknown():
    found = by_hand({"Ping (ms)": ([-1.0, 0.0, 2.0], {}),
                     "TCP upload": ([0.0, -2.0, -3.0], {})})  # fmt: skip
    assert column(found, "rtt_s") == [None, 0, 0.002, None, None, None]
    assert column(found, "throughput_bps") == [None, None, None, 0, None, None]
    (notice,) = found.meta.warnings
    assert (notice.code, notice.values) == ("implausible-values", {"count": 3, "name": "results"})
    ping, upload = found.facts()
    assert (upload["sent_rate_bps"], upload["direction"], upload["protocol"]) == (
        0,
        "upload",
        "tcp",
    )
    assert "rtt_min_s" not in ping


def test_what_a_series_says_of_loss_bytes_and_segments():
    """The counts of both ends; not the sender's, where it has less than the receiver."""
    ping = {"UNITS": "ms", "PACKETS_SENT": 1000, "PACKETS_RECEIVED": 980, "PACKET_LOSS_RATE": 0.02}
    ends = {"BYTES_SENT": 5000, "BYTES_RECVD": 4000, "TCP_MSS": 1448, "TCP_RETRANSMIT": 7}
    odd = {"BYTES_SENT": 5000, "BYTES_RECVD": 5001, "TCP_MSS": -1, "TCP_RETRANSMIT": "8"}
    found = by_hand({
        "Ping (ms) UDP BE": ([20.0] * 3, ping), "TCP upload BE": ([9.0] * 3, ends),
        "TCP download BE": ([9.0] * 3, ends), "TCP upload CS5": ([9.0] * 3, odd),
    })  # fmt: skip
    rows = {row["group"]: row for row in found.facts()}
    probes = rows["Ping (ms) UDP BE"]
    assert (probes["printed_loss_ratio"], probes["loss_ratio"]) == (0.02, pytest.approx(0.02))
    names = ("sent_byte_count", "received_byte_count", "mss_bytes", "retransmit_count")
    transfers = {name: row for name, row in rows.items() if "TCP" in name}
    assert {name: [row.get(one) for one in names] for name, row in transfers.items()} == {
        "TCP upload BE": [5000, 4000, 1448, 7],
        "TCP download BE": [5000, 4000, 1448, None],
        "TCP upload CS5": [None, 5001, None, 8],
    }  # fmt: skip


def test_single_probes_in_milliseconds_or_seconds():
    for raw, factor in (([20, 22, 30, -1], 1e-3), ([0.02, 0.022, 0.03], 1.0)):
        found = by_hand({"Ping": ([21.0, 22.0, 23.0], {"UNITS": "ms", "PACKETS_SENT": 9,
                                                       "PACKETS_RECEIVED": 8})},
                        raw={"Ping": raw})  # fmt: skip
        (row,) = found.facts()
        assert row == pytest.approx({
            "group": "Ping", "target": "192.0.2.1", "partial": False, "sent_count": 9,
            "received_count": 8, "reply_count": 3, "rtt_min_s": raw[0] * factor,
            "rtt_median_s": raw[1] * factor, "rtt_max_s": raw[2] * factor, "loss_ratio": 1 / 9,
        })  # fmt: skip
    for middle, known in ((10.9, False), (11.1, True), (43.9, True), (44.1, False)):
        found = by_hand({"Ping": ([22.0] * 3, {"UNITS": "ms"})}, raw={"Ping": [middle]})
        assert ("rtt_min_s" in found.facts()[0]) == known, "another unit from half or twice on"
    zero = by_hand({"Ping": ([0.0] * 3, {"UNITS": "ms"})}, raw={"Ping": [1.0]})
    assert "rtt_min_s" not in zero.facts()[0]


def test_rates_and_counts_of_transfers():
    meta = {"UNITS": "kbits/s", "MEAN_VALUE": 7.5, "ELAPSED_TIME": 12.5, "TCP_RETRANSMIT": "0",
            "CONG_CONTROL": "bbr"}  # fmt: skip
    found = by_hand({
        "TCP download": ([1.0, 2.0, 6.0], meta),
        "UDP upload": ([1.0, 2.0, 6.0], {"UNITS": "Mbits/s", "TCP_RETRANSMIT": "many"}),
        "TCP upload": ([1.0, 2.0, 6.0], {"MEAN_VALUE": 0}),
        "TCP cross": ([1.0, 2.0, 6.0], {"UNITS": "bits/s"}),
    }, HOSTS=["a", "b"])  # fmt: skip
    assert found.facts() == [
        {"group": "TCP download", "partial": False, "protocol": "tcp", "direction": "download",
         "received_rate_bps": 7500, "duration_s": 12.5, "retransmit_count": 0,
         "congestion_control": "bbr"},
        {"group": "UDP upload", "partial": False, "protocol": "udp", "direction": "upload",
         "sent_rate_bps": 3e6},
        {"group": "TCP upload", "partial": False, "protocol": "tcp", "direction": "upload",
         "sent_rate_bps": 0},
        {"group": "TCP cross", "partial": False},
    ]  # fmt: skip
    for hosts, target in ((["a"], "192.0.2.1"), ([], "192.0.2.1"), ("a, b", "192.0.2.1")):
        one = by_hand({"TCP upload": ([1.0] * 3, {})}, HOSTS=hosts)
        assert one.facts()[0]["target"] == target


def test_what_flent_says_of_the_run():
    meta = {"UNITS": "ms", "MEAN_VALUE": 2.5, "MIN_VALUE": 1, "MAX_VALUE": 4, "RTT_MEDIAN": 2,
            "PACKET_LOSS_RATE": 0.5, "RUNNER": "PingRunner"}  # fmt: skip
    found = by_hand({"Ping": ([1.0] * 3, meta)}, FLENT_VERSION="2.1.1", LOCAL_HOST="client",
                    TITLE="by hand", T0="2026-11-22T12:30:00.0Z", FAILED_RUNNERS=0)  # fmt: skip
    known = {"UNITS": "ms", "MEAN_VALUE": 2.5, "MIN_VALUE": 1, "MAX_VALUE": 4, "RTT_MEDIAN": 2,
             "PACKET_LOSS_RATE": 0.5}  # fmt: skip
    assert found.meta.printed == {"test": "rrul", "series": {"Ping": known}}
    m = found.meta
    assert (m.tool, m.tool_version, m.host, m.target) == ("flent", "2.1.1", "client", "192.0.2.1")
    assert (m.start, m.note, m.partial) == ("2026-11-22T12:30:00.0Z", "by hand", False)
    assert m.clock == "seconds since the start of the run"
    local = by_hand({"Ping": ([1.0] * 3, meta)}, T0="2026-11-22T12:30:00.0", FAILED_RUNNERS=2)
    assert (local.meta.start, local.meta.partial) == ("", True)
    assert local.facts()[0]["partial"]


def test_versions_and_lengths_of_flent():
    for version in (1, 2, 3, 4):
        assert len(by_hand({"Ping (ms)": ([1.0] * 3, {})}, version=version)) == 3
    for version in (0, 5):
        with pytest.raises(ReaderError) as refused:
            by_hand({"Ping (ms)": ([1.0] * 3, {})}, version=version)
        assert refused.value.code == "flent-version"
        assert refused.value.values["value"] == str(version)
        assert refused.value.values["highest"] == 4
    with pytest.raises(ReaderError) as refused:
        by_hand({"Ping (ms)": ([1.0] * 4, {})})
    assert refused.value.code == "flent-length"
    assert (refused.value.values["count"], refused.value.values["wanted"]) == (4, 3)
    for values, code in (([True, 1.0, 1.0], "not-a-number"), ([10**400, 1, 1], "flent-no-list")):
        with pytest.raises(ReaderError) as refused:
            by_hand({"Ping (ms)": (values, {})})
        assert refused.value.code == code
    for series, times in (({"Ping avg": ([1.0] * 3, {})}, (0, 1, 2)), ({"Ping": ([], {})}, ())):
        with pytest.raises(ReaderError) as refused:
            by_hand(series, times=times)
        assert refused.value.code == "flent-nothing"
