"""Loss of fragmented datagrams, and back to the loss of fragments."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netcalc.errors import DomainError
from netcalc.models.tcp import loss_limited


def test_datagram_loss():
    # published: Kent and Mogul; derived: 1 - 0.99^6 by multiplication
    assert loss_limited.datagram_loss_ratio(0.01, fragments=6) == pytest.approx(
        1 - 0.99 * 0.99 * 0.99 * 0.99 * 0.99 * 0.99
    )
    # identity: tiny losses add up, and are not lost in rounding
    tiny = loss_limited.datagram_loss_ratio(1e-15, fragments=45)
    assert tiny == pytest.approx(45e-15, rel=1e-12)
    assert loss_limited.datagram_loss_ratio([0, 1], fragments=3).tolist() == [0, 1]


@given(loss=st.floats(0, 0.999), fragments=st.integers(1, 45))
def test_loss_of_fragments_comes_back(loss, fragments):
    lost = float(loss_limited.datagram_loss_ratio(loss, fragments=fragments))
    if lost < 0.999_999:
        back = loss_limited.fragment_loss_ratio(lost, fragments=fragments)
        assert float(back) == pytest.approx(loss, rel=1e-6, abs=1e-12)


@pytest.mark.each(
    ("call", "named"),
    [
        (lambda: loss_limited.datagram_loss_ratio(3, fragments=2), "loss_ratio.*3%"),
        (lambda: loss_limited.datagram_loss_ratio(0.1, fragments=0), "fragments"),
        (lambda: loss_limited.fragment_loss_ratio(-0.1, fragments=2), "datagram_loss_ratio"),
    ],
)
def test_impossible_numbers_are_named(call, named):
    with pytest.raises(DomainError, match=named):
        call()
