"""A first row that is data is no header: it is refused, and no row is lost in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from netcalc.errors import ReaderError
from netcalc.readers import columns
from netcalc.readers.source import decode, open_source

INPUTS = Path(__file__).parent / "inputs"

# Output without a header, as the manuals of the tools show its form. What is refused is the first
# row, which has the measurement of the first interval.
HEADLESS = {
    "iperf 2 -y C": (
        "20261122121001,192.0.2.1,41234,192.0.2.2,5001,3,0.0-1.0,117440512,939524096\n"
        "20261122121002,192.0.2.1,41234,192.0.2.2,5001,3,1.0-2.0,117571584,940572672\n"
        "20261122121002,192.0.2.1,41234,192.0.2.2,5001,3,0.0-2.0,235012096,940048384\n"
    ),
    "iperf 2 -y C, one row": (
        "20261122121002,192.0.2.1,41234,192.0.2.2,5001,3,0.0-2.0,235012096,940048384\n"
    ),
    "iperf 2, the lines of intervals": (
        "[  3]  0.0- 1.0 sec   112 MBytes   941 Mbits/sec\n"
        "[  3]  1.0- 2.0 sec   113 MBytes   942 Mbits/sec\n"
    ),
    "nuttcp -i1": (
        "  112.2500 MB /   1.00 sec =  941.5312 Mbps     0 retrans\n"
        "  112.1875 MB /   1.00 sec =  941.0991 Mbps     2 retrans\n"
    ),
    "sadf -d": (
        "# hostname;interval;timestamp;IFACE;rxpck/s;txpck/s\n"
        "far;1;2026-11-22 12:10:01 UTC;eth0;81274.00;40637.00\n"
        "far;1;2026-11-22 12:10:02 UTC;eth0;81301.00;40650.00\n"
    ),
    "sadf -p": (
        "far\t1\t1795349401\teth0\trxpck/s\t81274.00\nfar\t1\t1795349401\teth0\ttxpck/s\t40637.00\n"
    ),
    "mtr --raw": (INPUTS / "mtr_raw.out").read_text(),
    "nstat": (INPUTS / "nstat.out").read_text(),
    "addresses": "192.0.2.1 up\n192.0.2.2 down\n",
    "IPv6 addresses": "host,address,n\na,2001:db8::1,x\nb,2001:db8::2,y\n".partition("\n")[2],
    "times of day": "12:00:01,a\n12:00:02,b\n",
    "numbers with units": "1.5 ms,a\n1.6 ms,b\n",
}  # fmt: skip

# A header that looks odd, and is one.
HEADERS = {
    "percentiles": ("50%,95%,n\n1.5,1.7,9\n", 1),
    "a name of digits and letters": ("h264,n\n1,2\n", 1),
    "a number over words": ("2026,n\nup,1\ndown,2\n", 2),
    "an address over words": ("192.0.2.1,n\nup,1\ndown,2\n", 2),
}


def read(text, **how):
    source = open_source(text.encode())
    return columns.to_samples(source, decode(source), **how)


@pytest.mark.each("tool", HEADLESS)
def test_data_is_no_header(tool):
    with pytest.raises(ReaderError) as refused:
        read(HEADLESS[tool])
    assert refused.value.code in ("data-for-header", "no-header")
    assert refused.value.line == (2 if "#" in HEADLESS[tool] else 1)
    assert "columns=" in (refused.value.python_hint or "")


@pytest.mark.each("what", HEADERS)
def test_a_header_stays_one(what):
    text, rows = HEADERS[what]
    assert len(read(text)) == rows


def test_no_row_is_lost_when_the_columns_are_named():
    """Derived: the rows of the text, counted by eye, and the rates of iperf as written."""
    names = ("when", "a", "a_port", "b", "b_port", "id", "interval", "sent [B]", "rate [bit/s]")
    table = read(HEADLESS["iperf 2 -y C"], columns=names)
    assert table["rate_bps"].tolist() == [939524096, 940572672, 940048384]
