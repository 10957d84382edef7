"""The chain of buffers of a write: as many as the models count, and all of its bytes in them."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc import plots
from netcalc.lessons import mbufs as panels
from netcalc.models.hosts import mbufs
from netcalc.plots import Buffer

TCP, UDP, FREEBSD = "TCP, 4.4BSD", "UDP, 4.4BSD", "TCP, FreeBSD"
SIZES = sorted({*range(0, 420, 3), *range(420, 6001, 97), 1024, 1025, 2048, 2049, 4096, 4097})


def drawn(panel, chain):
    """Kind, size and used bytes of each box of a chain, from the left."""
    boxes = panel.figure.plot.sources["boxes"].data
    rows = zip(
        *(boxes[name] for name in ("chain", "kind", "size_bytes", "used_bytes")), strict=True
    )
    return [(kind, size, used) for name, kind, size, used in rows if name == chain]


def test_a_write_of_200_bytes_as_the_book_describes_it():
    panel = panels.chain_panel()
    # published: Stevens, vol. 3, A.2: two mbufs of 100 bytes, so two calls and two segments
    assert drawn(panel, TCP) == [("mbuf", 100, 100), ("mbuf", 100, 100)]
    assert "2 calls of TCP's output" in panel.figure.description
    # published: vol. 2, 16.7: 100 in the first mbuf and 108 in the next; headers in one more
    assert [used for _, _, used in drawn(panel, UDP)] == [28, 100, 100]
    panel.controls["payload_bytes"].value = 300
    assert drawn(panel, TCP) == [("cluster", 2048, 300)]
    panel.controls["payload_bytes"].value = 50
    # derived: 28 bytes of headers fit in front of 50 in an mbuf of 100
    assert drawn(panel, UDP) == [("mbuf with the headers", 100, 78)]
    panel.controls["payload_bytes"].value = 0
    assert drawn(panel, TCP) == drawn(panel, FREEBSD) == []


@pytest.mark.slow
@pytest.mark.parametrize("mcl_bytes", [1024, 2048, 4096])
@pytest.mark.parametrize("minclsize_bytes", [64, 208, 264])
def test_every_byte_is_in_a_buffer_and_the_models_count_them(minclsize_bytes, mcl_bytes):
    limits = {"minclsize_bytes": minclsize_bytes, "mcl_bytes": mcl_bytes}
    for size in SIZES:
        counts = {
            TCP: mbufs.stream_mbufs(size, **limits),
            UDP: mbufs.datagram_mbufs(size, **limits),
            FREEBSD: mbufs.freebsd_mbufs(size, mcl_bytes=mcl_bytes),
        }
        plot = panels._chains(size, minclsize_bytes, mcl_bytes)
        boxes = plot.sources["boxes"].data
        names = np.array(boxes["chain"])
        for chain, count in counts.items():
            mine = names == chain
            used = np.array(boxes["used_bytes"])[mine]
            # identity: nothing is lost; UDP has its and IP's headers, 28 bytes, with the data
            assert used.sum() == size + 28 * (chain == UDP), (chain, size)
            assert (used <= np.array(boxes["size_bytes"])[mine]).all()
            if size:
                assert mine.sum() == int(count.mbufs), (chain, size)


def test_a_long_chain_is_cut_and_says_so():
    chain = [Buffer("mbuf", 100.0, 50.0)] * 20
    plot = plots.buffers({"one": chain}, ["mbuf"], title="Many")
    assert len(plot.sources["boxes"].data["left"]) == 9
    assert "The first 9 of each chain are drawn." in plot.description
    data = plot.sources["mbuf"].data
    widths = np.array(data["right"]) - np.array(data["left"])
    outline = plot.sources["boxes"].data
    # derived: half of each box is filled
    assert widths == pytest.approx((np.array(outline["right"]) - np.array(outline["left"])) / 2)
    assert ">50<" in plots.svg(plot)
    assert ">of 100<" in plots.svg(plot)
    assert plots.buffers({"none": []}, ["mbuf"]).description == "none: no buffer."
