"""Long arguments in blocks: the same numbers, and the same words, as all at once."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.checks import BLOCK, model, positive, whole
from netcalc.errors import ArgumentTypeError, DomainError, NotFiniteWarning, doubts
from netcalc.models.delays.store_and_forward import message_s
from netcalc.models.hosts.mbufs import datagram_mbufs
from netcalc.models.sizes.fragmentation import fragmented_wire_bytes
from netcalc.models.tcp.handshakes import page_round_trips

LONG = 3 * BLOCK + 5
seen = []


@model
def quotient(size, *, rate, extra=0.0, digits=(0.0,)):
    """Return a quotient and more.

    Parameters
    ----------
    digits : 1-D array_like
        Numbers that are added to each.
    """
    seen.append(np.shape(size))
    return positive("size", size) / positive("rate", rate) + extra + sum(digits)


@pytest.fixture(autouse=True)
def _forget():
    seen.clear()


def test_a_long_argument_goes_in_blocks_with_those_of_its_shape():
    """Derived: the quotient by numpy, all at once."""
    size, rate = np.arange(1.0, LONG + 1), np.arange(2.0, LONG + 2)
    result = quotient(size, rate=rate, extra=1.0, digits=[1.0, 2.0])
    assert np.array_equal(result, size / rate + 1.0 + 3.0)
    assert seen == [(BLOCK,)] * 3 + [(5,)]


def test_the_shape_stays():
    size = np.arange(1.0, 2 * LONG + 1).reshape(2, LONG)
    assert np.array_equal(quotient(size, rate=2.0), size / 2.0)
    assert len(seen) == -(-2 * LONG // BLOCK)


@pytest.mark.parametrize(
    ("size", "parts"),
    [(np.arange(1.0, 9.0), 1), (5.0, 1), (list(range(1, LONG + 1)), 4),
     (np.arange(1, LONG + 1), 4), (np.arange(1.0, 2 * LONG + 1)[::2], 4),
     (np.ma.arange(1.0, LONG + 1), 1)],
    ids=["short", "number", "list", "integers", "every second", "masked"],
)  # fmt: skip
def test_only_long_arrays_of_plain_numbers_go_in_blocks(size, parts):
    assert np.array_equal(quotient(size, rate=4.0), np.asarray(size) / 4.0)
    assert len(seen) == parts


class Broken:
    def __array__(self, *_, **__):
        raise RuntimeError("no array today")


@pytest.mark.parametrize("rate", [[1.0, [2.0]], Broken()], ids=["unequal", "broken"])
def test_what_is_no_array_beside_a_long_argument_is_refused_by_name(rate):
    with pytest.raises(ArgumentTypeError) as refused:
        quotient(np.arange(1.0, LONG + 1), rate=rate)
    assert refused.value.values["name"] == "rate"


def test_broadcast_shapes_are_those_of_numpy():
    size, rate = np.arange(1.0, LONG + 1), np.array([[1.0], [2.0]])
    assert np.array_equal(quotient(size, rate=rate), size / rate)
    assert all(shape <= (BLOCK,) for shape in seen)


@pytest.mark.parametrize("shape", [(300,), (300, 1), (1, 300), (1,)], ids=str)
def test_a_grid_takes_a_row_or_a_column(shape):
    """Derived: the quotient by numpy, all at once."""
    size = np.arange(1.0, 300 * 300 + 1).reshape(300, 300)
    rate = np.arange(1.0, np.prod(shape) + 1).reshape(shape)
    assert np.array_equal(quotient(size, rate=rate), size / rate)


def test_a_refused_value_is_named_with_its_place_in_the_whole():
    size = np.ones(LONG)
    size[-1] = -1.0
    with pytest.raises(DomainError) as refused:
        quotient(size, rate=1.0)
    assert (refused.value.value, refused.value.values["index"]) == (-1, LONG - 1)


def test_values_that_are_not_finite_are_counted_over_the_whole():
    size = np.ones(LONG)
    size[[7, -1]] = np.nan
    with pytest.warns(NotFiniteWarning) as caught:
        result = quotient(size, rate=1.0)
    assert len(caught) == 1
    found = {"name": "size", "count": 2, "size": LONG, "index": 7}
    assert caught[0].message.values == found
    assert np.isnan(result[[7, -1]]).all()
    assert np.isfinite(np.delete(result, [7, -1])).all()


@model
def doubled(size):
    """Range: size up to 10."""
    return 2.0 * positive("size", size)


@pytest.mark.parametrize("places", [[3, BLOCK + 7], [BLOCK + 7, LONG - 1], [LONG - 1]], ids=str)
def test_a_doubt_is_about_the_whole(places):
    """Identity: the note has the largest value of all, wherever it stands."""
    size = np.ones(LONG)
    size[places] = np.arange(20.0, 20.0 + len(places))
    with doubts() as found:
        assert np.array_equal(doubled(size), 2.0 * size)
    values = {"name": "size", "value": size.max(), "limit": 10.0}
    assert [(doubt.code, doubt.values) for doubt in found] == [("beyond-published-range", values)]


def test_a_lone_nan_in_the_last_block_is_counted():
    size = np.ones(BLOCK + 1)
    size[-1] = np.inf
    with pytest.warns(NotFiniteWarning) as caught:
        assert np.isnan(quotient(size, rate=1.0)[-1])
    assert caught[0].message.values["index"] == BLOCK


def test_real_models_give_the_same_in_pieces():
    """Identity: each element alone, against the long array."""
    size = np.linspace(1.0, 60_000.0, LONG).round()
    places = np.random.default_rng(1).integers(0, LONG, 50)
    whole = fragmented_wire_bytes(size, mtu_bytes=1500)
    assert [float(fragmented_wire_bytes(size[n], mtu_bytes=1500)) for n in places] == list(
        whole[places]
    )
    links = {"bandwidth_bps": [1e6, 2e6, 3e6], "latency_s": [0.01, 0.02, 0.03]}
    whole = message_s(size, message_bytes=1e5, **links)
    alone = [float(message_s(size[n], message_bytes=1e5, **links)) for n in places]
    assert alone == pytest.approx(list(whole[places]), rel=1e-13)  # identity, but for rounding


def test_several_results_come_in_their_tuple():
    """Identity: each element alone, against the long array."""
    size = np.random.default_rng(1).integers(0, 60_000, LONG).astype(float)
    counts = datagram_mbufs(size)
    assert counts.mbufs.shape == counts.clusters.shape == (LONG,)
    for n in range(0, LONG, LONG // 40):
        alone = datagram_mbufs(size[n])
        assert (counts.mbufs[n], counts.clusters[n]) == (alone.mbufs, alone.clusters)
    size[3] = -1.0
    with pytest.raises(DomainError, match="at index 3"):
        datagram_mbufs(size)


def test_a_list_of_links_as_long_as_the_argument_is_not_cut(monkeypatch):
    """Identity: a message in one piece takes the sum of all its links."""
    monkeypatch.setattr("netcalc.checks.blocks.BLOCK", 1000)  # all links for all sizes: its square
    links = np.linspace(1e6, 2e6, 1001)
    times = message_s(np.full(1001, 1e5), message_bytes=1e5, bandwidth_bps=links)
    np.testing.assert_allclose(times, np.full(1001, (8e5 / links).sum()), rtol=1e-6)


@pytest.mark.parametrize("place", [0, BLOCK, LONG - 1])
def test_a_fraction_is_found_wherever_it_stands(place):
    counts = np.arange(1.0, LONG + 1)
    counts[place] += 0.5
    with pytest.raises(DomainError, match=f"at index {place}"):
        whole("count", counts)
    counts[place] = np.nan
    with pytest.warns(NotFiniteWarning):
        assert np.isnan(whole("count", counts)[place])
    assert whole("count", counts[::-1][:1]).size == 1


def test_a_result_has_the_shape_that_it_has_of_few_elements():
    few = page_round_trips(np.arange(2)[:, None], connection_count=np.arange(1, 4))
    long = page_round_trips(np.arange(150)[:, None], connection_count=np.arange(1, 131))
    assert few.shape == (2, 1)
    assert long.shape == (150, 1)


def test_an_object_whose_size_is_a_method_becomes_an_array():
    class Tensor:
        ndim = 1

        def size(self):
            return 2

        def __array__(self, dtype=None, copy=None):
            return np.array([2.0, 4.0], dtype)

    assert quotient(Tensor(), rate=2.0).tolist() == [1.0, 2.0]
