"""Facts that are stated beside a measurement: what they may be, and what is refused."""

from __future__ import annotations

import pytest

from netcalc.errors import DomainError
from netcalc.explain import Known

POSITIVE = (
    "rtt_s", "line_bps", "window_bytes", "mtu_bytes", "reverse_bps", "device_pps", "buffer_bytes",
)  # fmt: skip


def test_facts_become_numbers():
    found = Known(**dict.fromkeys(POSITIVE, 3), loss_ratio=0)
    for name in (*POSITIVE, "loss_ratio"):
        assert type(getattr(found, name)) is float, name
    assert {getattr(found, name) for name in POSITIVE} == {3.0}
    assert found.loss_ratio == 0.0
    assert Known(loss_ratio=1).loss_ratio == 1.0


def test_nothing_is_guessed():
    assert {getattr(Known(), name) for name in (*POSITIVE, "loss_ratio", "congestion_control")} == {
        None
    }


@pytest.mark.each("name", POSITIVE)
def test_facts_that_cannot_be(name):
    for value in (0.0, -1.0):
        with pytest.raises(DomainError) as refused:
            Known(**{name: value})
        assert (refused.value.code, refused.value.name) == ("not-positive", name)
        assert refused.value.value == value
    assert getattr(Known(**{name: 0.5}), name) == 0.5


def test_the_algorithms_that_can_be_stated():
    for name in ("cubic", "reno", "bbr"):
        assert Known(congestion_control=name).congestion_control == name
    with pytest.raises(DomainError) as refused:
        Known(congestion_control="vegas")
    assert (refused.value.name, refused.value.value) == ("congestion_control", "vegas")
    assert refused.value.values["choices"] == ["cubic", "reno", "bbr"]
    with pytest.raises(DomainError) as ratio:
        Known(loss_ratio=-0.1)
    assert ratio.value.name == "loss_ratio"
