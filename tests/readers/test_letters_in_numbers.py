"""A number with a letter in it is said where it was, and no fact is made of its rest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netcalc.readers import read

INPUTS = Path(__file__).parent / "inputs"


def warned(text: str) -> list[tuple[str, object]]:
    return [
        (notice.code, notice.values.get("name") or notice.values.get("numbers"))
        for notice in read(text).meta.warnings
    ]


def test_ripe_atlas() -> None:
    text = (INPUTS / "pings" / "atlas_ping.json").read_text()
    assert warned(text) == []
    assert warned(text.replace('"max":13.25', '"max":"o8.27"', 1)) == [
        ("implausible-values", "max")
    ]
    row = read(text.replace('{"rtt":12.5}', '{"rtt":"1o.5"}', 1)).facts()[0]
    assert (row["sent_count"], row["received_count"], row["rtt_min_s"]) == (3, 2, 0.01325)


@pytest.mark.parametrize("odd", ["VHT-NSS E", "VHT-NSS", "VHT-NSS 2x"])
def test_iw(odd: str) -> None:
    lines = (INPUTS / "wifi" / "iw_link.txt").read_text().splitlines(keepends=True)
    number = next(n for n, line in enumerate(lines, 1) if "tx bitrate" in line)
    lines[number - 1] = lines[number - 1].replace("VHT-NSS 2", odd)
    assert warned("".join(lines)) == [("transfer-lines-unread", [number])]
    assert "tx_stream_count" not in read("".join(lines)).facts()[0]


def test_curl() -> None:
    text = "time_connect: 0.020\ntime_total: 0.5o\nsize_download: 1000\nspeed_download: 2000\n"
    assert warned(text) == [("transfer-lines-unread", [2])]
    members = {"time_total": "0.5o", "size_download": 1000, "speed_download": 2000}
    assert warned(json.dumps(members, indent=1)) == [("implausible-values", "time_total")]


def test_flent() -> None:
    document = json.loads((INPUTS / "transfers" / "flent_4.json").read_text())
    series = document["metadata"]["SERIES_META"]["TCP upload"]
    series["ELAPSED_TIME"] = "1.o1"
    assert ("implausible-values", "ELAPSED_TIME") in warned(json.dumps(document, indent=1))


def test_pscheduler() -> None:
    result = {
        "succeeded": True, "packets-sent": 3, "packets-received": 3, "packets-lost": 0,
        "packets-duplicated": 0, "packets-reordered": 0,
        "histogram-latency": {"1.5": 2, "1.e5": 1},
    }  # fmt: skip
    samples = read(json.dumps(result, indent=1))
    assert samples.facts()[0]["one_way_delay_max_s"] == 0.0015
    assert [notice.code for notice in samples.meta.warnings] == ["implausible-values"]
