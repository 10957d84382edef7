"""Packet lists that Wireshark wrote as plain text: read as its CSV, or refused; never a ping."""

from __future__ import annotations

from pathlib import Path

import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff

INPUTS = Path(__file__).parents[1] / "inputs" / "captures"
HEAD = "No.     Time           Source                Destination           Protocol Length Info\n"
ECHO = "Echo (ping) request  id=0x0001, seq=1/256, ttl=64"


def row(number, time, source, destination, protocol, length, info):
    """Return a row in the widths of the header: by hand, 7, 14, 21, 21, 8 and 6 characters."""
    return (
        f"{number:>7} {time:<14} {source:<21} {destination:<21} {protocol:<8} {length:<6} {info}\n"
    )


TWO = row(1, "0.000000", "10.0.0.1", "10.0.0.2", "ICMP", 98, ECHO) + row(
    2, "0.010000", "10.0.0.2", "10.0.0.1", "TCP", 1514, "443 → 5000 [ACK] Seq=1 Len=1448"
)


def test_the_text_is_read_as_the_csv_of_the_same_packets():
    """Identity: the file has the cells of the CSV."""
    text = read(INPUTS / "wireshark_text.txt")
    listed = read(INPUTS / "wireshark_since_start.csv")
    assert text.facts() == listed.facts()
    for name, column in listed.columns().items():
        assert text[name].tolist() == [
            one.strip() if isinstance(one, str) else one for one in column.tolist()
        ], name


@pytest.mark.each(
    "text",
    [
        HEAD + TWO,
        TWO,
        TWO.lstrip(),
        "\n".join(" ".join(line.split()) for line in TWO.splitlines()) + "\n",
        "\n".join("\t".join(line.split(None, 6)) for line in TWO.splitlines()) + "\n",
        HEAD.replace("Time", "Zeit").replace("Source     ", "Quelle     ") + TWO,
        HEAD.join(["", *TWO.splitlines(keepends=True)]),
    ],
    ids=["header", "no header", "cut blank", "one blank", "tabs", "German", "header each"],
)
def test_rows_of_any_padding(text):
    assert sniff(text) == "Wireshark text"
    table = read(text)
    assert table["source"].tolist() == ["10.0.0.1", "10.0.0.2"]
    assert table["destination"].tolist() == ["10.0.0.2", "10.0.0.1"]
    assert table["protocol"].tolist() == ["ICMP", "TCP"]
    assert table["original_bytes"].tolist() == [98, 1514]
    assert table["number"].tolist() == [1, 2]
    assert table.facts()[0]["packet_count"] == 2


def test_a_missing_source_a_long_name_and_blanks_in_a_cell():
    """By hand: a cell longer than its column moves the rest of its row only."""
    long = "2001:db8:1111:2222:3333:4444:5555:6666"
    text = HEAD + row(1, "0.5", "", "aa:bb:cc:dd:ee:ff (RA)", "802.11", 39, "Acknowledgement")
    table = read(text + row(2, "0.6", "srv a", long, "MPEG TS", 1362, ""))
    assert table["source"].tolist() == ["", "srv a"]
    assert table["destination"].tolist() == ["aa:bb:cc:dd:ee:ff (RA)", long]
    assert table["protocol"].tolist() == ["802.11", "MPEG TS"]
    assert table["original_bytes"].tolist() == [39, 1362]


def test_a_blank_where_a_column_ends_is_refused():
    """By hand: 21 characters, a blank and four more look like two cells."""
    text = HEAD + TWO + row(3, "0.5", "", "aa:bb:cc:dd:ee:ff-abc (RA)", "802.11", 39, "Ack")
    with pytest.raises(ReaderError) as refused:
        read(text)
    assert (refused.value.code, refused.value.line) == ("packet-text-row", 4)


def test_details_of_packets_are_left_out_by_line():
    details = "Frame 1: 98 bytes on wire\n    Type: IPv4 (0x0800)\n0000  02 00 00 00 45 00\n\n"
    table = read(HEAD + TWO.splitlines(keepends=True)[0] + "\n" + details)
    assert table.facts()[0]["packet_count"] == 1
    [skipped] = [one for one in table.meta.warnings if one.code == "packet-lines-skipped"]
    assert skipped.values == {"count": 3, "numbers": [4, 5, 6]}


@pytest.mark.each(
    ("text", "code", "line"),
    [
        (HEAD, "packet-list-empty", None),
        (HEAD.replace("Protocol", "Destination Port Protocol") + TWO, "packet-text-columns", 1),
        (HEAD.replace("Length ", "") + TWO, "packet-text-columns", 1),
        (HEAD + TWO.replace(" 98 ", " x8 "), "packet-text-row", 2),
        (TWO.replace("10.0.0.2 ", "a-server "), "packet-text-row", 1),
        (f'"1","0.0","10.0.0.1","10.0.0.2","ICMP","98","{ECHO}"\n', "part-of-output", None),
        (f"{ECHO}\n{ECHO.replace('request', 'reply')}\n", "packet-text-row", 1),
    ],
)
def test_what_is_not_certain_is_refused_and_never_a_ping(text, code, line):
    with pytest.raises(ReaderError) as refused:
        read(text, name="list.txt")
    assert (refused.value.code, refused.value.line) == (code, line)
    if line:
        assert "As CSV" in str(refused.value)


def test_columns_of_a_user_stay_columns():
    """A table with a header of its own, and rows whose columns the user names."""
    rows = "1 0.5 10.0.0.1 10.0.0.2 UDP 60 x\n2 0.6 10.0.0.1 10.0.0.2 UDP 60 x\n"
    names = ["n", "start_s", "from", "to", "kind", "size_bytes", "what"]
    assert read(rows, columns=names).meta.tool == "columns"
    assert sniff(" ".join(names) + "\n" + rows) == "columns"
