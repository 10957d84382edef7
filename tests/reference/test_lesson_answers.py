"""The numbers in the answers of open exercises, which no cell of a lesson computes."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from netcalc.models.rates import goodput
from netcalc.models.tcp import loss_limited, sharing

LESSONS = Path(__file__).parents[2] / "notebooks"


def answers(number: str) -> str:
    """Return the answers of a lesson's open exercises as one line."""
    (path,) = LESSONS.glob(f"{number}_*.ipynb")
    text = " ".join(cell.source for cell in nbformat.read(path, as_version=4).cells)
    found = re.findall(r"<details>.*?</details>", text, flags=re.S)
    return " ".join(" ".join(found).split())


def loss_interval_s(rate_bps: float) -> float:
    """Return the time between two losses of Reno at a rate, 1460 bytes and 100 ms."""
    ratio = float(loss_limited.mathis_loss_ratio(rate_bps, mss_bytes=1460, rtt_s=0.1))
    return 1 / ratio / (rate_bps / 8 / 1460)


@pytest.mark.each(
    ("lesson", "said", "value", "least", "most", "source"),
    [
        ("06", "only 1036 segments", -(-1.5e6 // 1448), 1036, 1036, "derived: 1.5e6 / 1448"),
        ("06", "a factor of 1.41", 2**0.5, 1.405, 1.415, "derived: the root of 2"),
        ("06", "carries less than that in Ethernet frames",
         float(goodput.udp_goodput_bps(1500, bandwidth_bps=1e9)) / 1e6, 957, 958,
         "derived: 1472 / 1538 of 1000 Mbit/s, below 960"),
        ("09", "0.3 / 0.7, or 0.43", 0.3 / 0.7, 0.425, 0.435, "derived: by hand"),
        ("09", "17 round trips", 33 / 2, 16, 17, "derived: half of 33 packets"),
        ("10", "drain in 319 ms, which makes 359 ms",
         1e3 * float(sharing.drain_s(266 * 1500, bandwidth_bps=10e6)), 318.5, 319.5,
         "derived: 266 x 12000 bit / 10 Mbit/s"),
        ("11", "49 million segments",
         1e-6 / float(loss_limited.mathis_loss_ratio(1e9, mss_bytes=1460, rtt_s=0.1)), 48.5, 49.5,
         "derived: 1 / (1.5 (8 x 1460 / (0.1 x 1e9))^2)"),
        ("11", "85,600 segments per second", 1e9 / 8 / 1460, 85_550, 85_650, "derived: by hand"),
        ("11", "less than ten minutes", loss_interval_s(1e9) / 60, 9, 10,
         "derived: their quotient"),
        ("11", "an hour and a half", loss_interval_s(1e10) / 3600, 1.5, 1.7,
         "derived: ten times as long as at 1 Gbit/s"),
        ("12", "a factor of 22", 800 / 36, 21.5, 22.5, "derived: by hand"),
        ("12", "cube root is 2.8", (800 / 36) ** (1 / 3), 2.75, 2.85, "derived: by hand"),
    ],
)  # fmt: skip
def test_a_number_in_an_answer_is_right(lesson, said, value, least, most, source):
    assert said in answers(lesson)
    assert least <= value <= most, source
