"""Text of twping, by hand: the round trip, the ways, the counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff

FILE = Path(__file__).parent / "inputs" / "pings" / "twping.txt"
TEXT = FILE.read_text("utf-8")


def test_the_summary_is_read():
    found = read(FILE)
    assert list(found.facts()) == [
        {"target": "host2.example.net", "protocol": "udp", "sent_count": 100,
         "received_count": 100, "duplicate_count": 0, "rtt_min_s": pytest.approx(0.0012),
         "rtt_median_s": pytest.approx(0.0013), "rtt_max_s": pytest.approx(0.0024),
         "printed_loss_ratio": 0, "loss_ratio": 0, "partial": False},
    ]  # fmt: skip
    assert found.meta.printed["away_min_s"] == pytest.approx(0.0006)
    assert found.meta.printed["back_max_s"] == pytest.approx(0.0012)
    assert (found.meta.tool, found.meta.warnings) == ("twping", ())


def test_losses_units_and_duplicates():
    text = TEXT.replace("100 sent, 0 lost (0.000%), 0 send duplicates, 0 reflect",
                        "100 sent, 25 lost (25.000%), 3 send duplicates, 2 reflect")  # fmt: skip
    (row,) = read(text.replace("1.2/1.3/2.4 ms", "900/950/2e+03 us")).facts()
    counts = ("sent_count", "received_count", "duplicate_count", "loss_ratio", "printed_loss_ratio")
    assert [row[name] for name in counts] == [100, 75, 2, 0.25, 0.25]
    times = [row[f"rtt_{name}_s"] for name in ("min", "median", "max")]
    assert times == pytest.approx([0.0009, 0.00095, 0.002])
    lost = TEXT.replace("0 lost (0.000%)", "100 lost (100.000%)").replace(
        "1.2/1.3/2.4", "nan/nan/nan"
    )
    (row,) = read(lost).facts()
    assert (row["received_count"], row["loss_ratio"]) == (0, 1)
    assert "rtt_min_s" not in row


def test_what_is_cut_or_of_no_twping():
    cut = TEXT[: TEXT.index("100 sent")] + TEXT[TEXT.index("round-trip") :]
    (row,) = read(cut).facts()
    assert row["partial"]
    assert "sent_count" not in row
    with pytest.raises(ReaderError) as refused:
        read(TEXT[: TEXT.index("100 sent")])
    assert refused.value.code == "no-probe"
    noted = [one.code for one in read(TEXT + "what is this\n").meta.warnings]
    assert noted == ["not-of-the-tool"]
    assert sniff(TEXT) == "twping"
    assert len(read(TEXT + TEXT).facts()) == 2
