"""Data files of flent: expected numbers are read off the files by eye."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read

INPUTS = Path(__file__).parent / "inputs" / "transfers"
DOCUMENT = json.loads((INPUTS / "flent_4.json").read_text())


def codes(samples):
    return [notice.code for notice in samples.meta.warnings]


def changed(**parts):
    document = copy.deepcopy(DOCUMENT)
    document.update(parts)
    return json.dumps(document, indent=1)


def test_facts_of_version_4():
    """Single probes: 20.1, 20.7, 21.4 and 24 ms; the median is between the middle two."""
    ping, upload = read(INPUTS / "flent_4.json").facts()
    assert ping == {
        "group": "Ping (ms) ICMP", "target": "192.0.2.1", "partial": False, "reply_count": 4,
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
