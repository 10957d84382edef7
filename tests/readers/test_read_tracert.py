"""Tracert and tracepath: by numbers and positions, in any language."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from samples_seen import near

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff

INPUTS = Path(__file__).parent / "inputs" / "paths"

# Read off the files by eye.
FACTS = {
    "tracert.txt": {
        "target": "host.example", "hop_count": 4, "responding_hop_count": 3, "probe_count": 12,
        "reply_count": 8, "last_hop_rtt_median_s": 0.021, "partial": False,
    },
    "tracert_german.txt": {
        "target": "host.example", "hop_count": 4, "responding_hop_count": 3, "probe_count": 10,
        "reply_count": 7, "partial": True,
    },
    "tracepath.txt": {
        "target": "203.0.113.2", "hop_count": 3, "responding_hop_count": 3, "probe_count": 4,
        "reply_count": 4, "last_hop_rtt_median_s": 25e-6, "path_mtu_bytes": 1500,
        "partial": False,
    },
    "tracepath_names.txt": {
        "target": "203.0.113.2", "hop_count": 3, "responding_hop_count": 3, "probe_count": 4,
        "reply_count": 4, "last_hop_rtt_median_s": 25e-6, "path_mtu_bytes": 1500,
        "partial": False,
    },
    "tracepath_ipv6.txt": {
        "target": "2001:db8:3::2", "hop_count": 3, "responding_hop_count": 3, "probe_count": 4,
        "reply_count": 4, "last_hop_rtt_median_s": 31e-6, "path_mtu_bytes": 1500,
        "partial": False,
    },
    "tracepath_late.txt": {
        "target": "203.0.113.9", "hop_count": 4, "responding_hop_count": 4, "probe_count": 6,
        "reply_count": 5, "last_hop_rtt_median_s": 0.16325, "path_mtu_bytes": 1480,
        "partial": False,
    },
}  # fmt: skip

CHINESE = """\

通过最多 30 个跃点跟踪
到 host.example [203.0.113.9] 的路由:

  1    <1 毫秒   <1 毫秒   <1 毫秒 192.0.2.1
  2     *        *        *     请求超时。
  3    31 ms    30 ms    30 ms  203.0.113.9

跟踪完成。
"""
RUSSIAN = """\

Трассировка маршрута к host.example [203.0.113.9]
с максимальным числом прыжков 30:

  1     1 ms    <1 мс    <1 мс  192.0.2.1
  2    31 ms    30 ms    30 ms  host.example [203.0.113.9]

Трассировка завершена.
"""


@pytest.mark.each("file", FACTS)
def test_facts(file):
    (row,) = read(INPUTS / file).facts()
    assert row == {name: near(value) for name, value in FACTS[file].items()}


@pytest.mark.each(("text", "hops"), [(CHINESE, 3), (RUSSIAN, 2)])
def test_other_languages(text, hops):
    """By eye: the last hop is the target, with 31, 30 and 30 ms."""
    assert sniff(text) == "tracert"
    samples = read(text)
    (row,) = samples.facts()
    assert (row["hop_count"], row["target"], row["partial"]) == (hops, "host.example", False)
    assert row["last_hop_rtt_median_s"] == 0.03
    least = samples.rtt_s == 0.5e-3
    assert samples.resolution_s[least].tolist() == [1e-3] * int(least.sum())
    assert least.sum() >= 2


def test_a_node_that_reports_has_no_time():
    samples = read(INPUTS / "tracert_german.txt")
    last = samples.hop == 4
    assert samples.node[last].tolist() == ["198.51.100.9"]
    assert np.isnan(samples.rtt_s[last]).all()
    assert not samples.lost[last].any()


def test_a_cut_run_is_partial():
    whole = (INPUTS / "tracert.txt").read_text()
    for end in range(whole.index("  1 "), whole.index("  4 ") + 40):
        try:
            samples = read(whole[:end])
        except ReaderError:
            continue
        assert samples.facts()[0]["partial"] is True
        assert {t for t in samples.rtt_s.tolist() if t == t} <= {0.5e-3, 1e-3, 11e-3, 12e-3}


def test_an_interrupted_tracepath_is_partial():
    text = (INPUTS / "tracepath.txt").read_text().partition("     Resume")[0]
    assert read(text).facts()[0]["partial"] is True


def test_a_line_of_tracepath_without_a_time_is_named():
    text = (INPUTS / "tracepath.txt").read_text().replace("0.026ms", "0.026")
    samples = read(text)
    assert [n.values for n in samples.meta.warnings] == [{"numbers": [4]}]
    assert samples.facts()[0]["reply_count"] == 3
