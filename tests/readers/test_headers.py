"""A first row that is data is no header: it is refused, and no row is lost in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from netcalc import readers
from netcalc.cli.mistakes import for_command_line
from netcalc.errors import ReaderError
from netcalc.readers import columns
from netcalc.readers.quantities import LONGEST_HEADING, read_heading
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
    "numbers with units of one kind": "800 us,a\n1.6 ms,b\n",
    "no number and an infinite one": "nan,inf\n1,2\n3,4\n",
    "infinite numbers": "inf,inf\n1,2\n3,4\n",
    "an infinite number beside a name": "size_bytes,inf\n100,2\n200,3\n",
    "no number beside a name": "size_bytes,nan\n100,2\n200,3\n",
    "a time beside a name": "size_bytes,1ms\n100,2\n200,3\n",
    "a part of a time beside a name": "size_bytes,½ s\n100,2\n200,3\n",
    "a rate beside a name": "t_s,10 Mbit/s\n1,2\n2,3\n",
    "thousands set off by a blank": "t,1 234\n1,1 235\n2,1 236\n",
    "thousands set off by a low line": "t,1_234\n1,1_235\n2,1236\n",
    "a fraction of one character": "x,¼\n1,2\n3,4\n",
    "a mixed fraction": "x,1½\n1,2\n3,4\n",
    "a fraction": "x,1/2\n1,2\n3,4\n",
    "a hexadecimal number": "x,0x10\n1,0x20\n3,0x30\n",
    "times without seconds": "12:30,1.2\n12:31,1.3\n",
    "dates with points": "22.11.2026,1.2\n23.11.2026,1.3\n",
    "dates with strokes": "2026/11/22,1.2\n2026/11/23,1.3\n",
}  # fmt: skip

# A header that looks odd, and is one.
HEADERS = {
    "percentiles": ("50%,95%,n\n1.5,1.7,9\n", 1),
    "a name of digits and letters": ("h264,n\n1,2\n", 1),
    "a number over words": ("2026,n\nup,1\ndown,2\n", 2),
    "an address over words": ("192.0.2.1,n\nup,1\ndown,2\n", 2),
    "a date over words": ("rtt_ms,2023-01-01\n1.2,x\n", 1),
    "steps of a sweep": ("t_s,64B,128B\n1,2,3\n2,3,4\n", 2),
    "times of a load": ("host,1m,5m,15m\na,0.1,0.2,0.3\n", 1),
    "a median": ("n,50%\n9,1.5\n", 1),
    "a percentile": ("n,p99\n9,1.5\n", 1),
    "an ordinal number": ("n,95th percentile,1st\n9,1.5,1\n", 1),
    "a generation": ("n,5G,802.11ac\n9,1.5,1\n", 1),
    "classes of a histogram": ("n,<1,1-5,>5\n9,1,2,3\n", 1),
    "a value that was lost": ("n,lost\n9,1\n", 1),
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


def test_a_heading_that_nobody_would_write_is_its_own_name():
    """identity: a run of 60,000 characters was searched for a unit for 26 s; now it has none."""
    heading = "x" * LONGEST_HEADING + " Mbit/s"
    assert read_heading(heading[-LONGEST_HEADING:]).written == "Mbit/s"
    assert (read_heading(heading).written, read_heading(heading).name) == ("", heading)


# Rows as a person or a tool writes them; none of them has a number alone below the first row, or
# the first row has a mark for a missing number. The value that is found is the reading's.
VALUES_FOR_HEADERS = {
    "a,-\nb,2\nc,3\n": "-",
    "x,*\ny,2\nz,3\n": "*",
    "x,?\ny,2\nz,3\n": "?",
    "x,—\ny,2\nz,3\n": "—",
    "x,N/A\ny,2\nz,3\n": "N/A",
    "x,null\ny,2\nz,3\n": "null",
    "x,timeout\ny,2\nz,timeout\n": "timeout",
    "a,5,x\nb,nan,1\nc,nan,2\n": "5",
    "host1,1.5ms\nhost2,2.5ms\n": "1.5ms",
    "host1;100Mbit/s\nhost2;10Mbit/s\n": "100Mbit/s",
    "10%,x\n20%,y\n30%,z\n": "10%",
    "0x10,a\n0x11,b\n": "0x10",
    "12:30:01,a\n12:30:02,b\n": "12:30:01",
    "fe80::1,a\nfe80::2,b\n": "fe80::1",
    "1_000,a\n2_000,b\n": "1_000",
}


@pytest.mark.each("text", VALUES_FOR_HEADERS)
def test_a_value_that_is_no_plain_number_is_no_name_either(text):
    with pytest.raises(ReaderError) as refused:
        readers.read(text)
    found = refused.value
    assert (found.code, found.line) == ("data-for-header", 1)
    assert found.values["value"] == VALUES_FOR_HEADERS[text]
    assert found.values["first"] == text.split("\n")[0]
    assert "header" in str(found)


def test_a_word_for_a_missing_number_may_be_a_name():
    found = readers.read("host,lost,timeout\na,2,0\nb,3,1\n")
    assert found["lost"].tolist() == [2, 3]
    assert found["timeout"].tolist() == [0, 1]


def test_quantities_below_a_header_or_named_columns_are_read():
    for found in (
        readers.read("host,rtt_ms\na,1.5ms\nb,2500us\n"),
        readers.read("a,1.5ms\nb,2500us\n", columns=["host", "rtt_ms"]),
    ):
        assert found["rtt_s"].tolist() == [0.0015, 0.0025]
        assert found["host"].tolist() == ["a", "b"]


def test_a_first_row_of_numbers_is_shown_as_it_stands():
    for text in ("64,0.31\n65,0.4\n", "# made by hand\n\n64;0.31\n65;0.4\n", "64  0.31\n65 0.4\n"):
        with pytest.raises(ReaderError) as refused:
            readers.read(text)
        assert refused.value.code == "no-header"
        assert refused.value.values["value"] in text


def test_a_named_column_without_unit_is_named_with_one():
    """There is no header to write a unit in: what was typed is given back with a unit."""
    for columns_, named in (
        (["size", "rtt"], "size_bytes,rtt"),
        (["size_bytes", "rtt"], "size_bytes,rtt_ms"),
    ):
        with pytest.raises(ReaderError) as refused:
            readers.read("64,0.31\n65,0.4\n", columns=columns_)
        assert refused.value.code == "named-column-without-unit"
        assert refused.value.values["names"] == named
        assert "header" not in str(for_command_line(refused.value))
        assert f"--columns {named}" in str(refused.value)
    assert readers.read("64,0.31\n65,0.4\n", columns=["size_bytes", "rtt_ms"]).rtt_s.tolist() == [
        0.00031, 0.0004,
    ]  # fmt: skip
