"""Distribution of a file: the published table, and what the links carry in that time."""

from __future__ import annotations

import pytest

from netcalc.models.delays import distribution

# Published: Kurose and Ross, problem of section 2.5: 15 Gbit, server 30 Mbit/s, peers 2 Mbit/s
FILE = {"payload_bytes": 15e9 / 8, "server_bps": 30e6, "download_bps": 2e6}


@pytest.mark.each(("peers", "seconds"), [(10, 7500), (100, 50_000), (1000, 500_000)])
def test_published_table_of_the_server(peers, seconds):
    assert distribution.client_server_distribution_s(peers, **FILE) == pytest.approx(seconds)


@pytest.mark.each(
    ("upload", "peers", "seconds"),
    [
        (300e3, 10, 7500), (300e3, 100, 25_000), (300e3, 1000, 45_455),
        (700e3, 10, 7500), (700e3, 100, 15_000), (700e3, 1000, 20_548),
        (2e6, 10, 7500), (2e6, 100, 7500), (2e6, 1000, 7500),
    ],
)  # fmt: skip
def test_published_table_of_peers(upload, peers, seconds):
    found = distribution.peer_to_peer_distribution_s(peers, upload_bps=upload, **FILE)
    assert round(float(found)) == seconds


@pytest.mark.each("peers", [1, 7, 300])
def test_peers_that_send_nothing_are_clients(peers):
    """Identity in the limit."""
    alone = distribution.client_server_distribution_s(peers, **FILE)
    found = distribution.peer_to_peer_distribution_s(peers, upload_bps=0, **FILE)
    assert found == pytest.approx(float(alone), rel=1e-13)
