"""Three lines of the output of each tool that pings: read as what they are, or refused by name."""

from pathlib import Path

import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read

INPUTS = Path(__file__).parent / "inputs" / "pings"
FILES = sorted(path.name for path in INPUTS.glob("*.txt"))
ALIKE = {"oping": "ping", "ping (router)": "ping"}
"""Tools with lines that are those of ping in all that is read of them."""
NAMED = ("part-of-output", "no-probe", "sockperf-part", "no-ping")
"""Refusals that say the tool, and what is missing."""
ANYBODYS = {"arping_lost.txt": "Timeout\n"}
"""Lines that say nothing of their tool."""


def parts(file):
    lines = (INPUTS / file).read_text("utf-8").splitlines(keepends=True)
    every = ("".join(lines[first : first + 3]) for first in range(len(lines) - 2))
    return [part for part in every if part.strip()]


@pytest.mark.each("file", FILES)
def test_three_lines_are_read_as_their_tool_or_refused_by_its_name(file):
    whole = read(INPUTS / file)
    tool = whole.meta.tool
    most = max((row.get("sent_count", 0) for row in whole.facts()), default=0)
    for part in parts(file):
        samples, code = read_or_refused(part)
        if samples is None:
            assert code in NAMED or part.startswith(ANYBODYS.get(file, "?")), (part, code)
            continue
        assert samples.meta.tool in (tool, ALIKE.get(tool)), part
        for row in samples.facts():
            received = row.get("received_count", 0)
            assert received <= row.get("sent_count", received), part  # sockperf's part says no sent
            # A mark of a rapid ping may be that of a duplicate, which its summary alone says.
            assert row.get("sent_count", 0) <= most or file == "nokia_rapid_duplicates.txt", part


def read_or_refused(text):
    try:
        return read(text), ""
    except ReaderError as error:
        return None, error.code


@pytest.mark.each(
    ("file", "after"),
    {
        "arping.txt": "42 bytes", "arping_lost.txt": "Timeout", "hrping.txt": "From 192",
        "httping_gone.txt": "could not", "huawei.txt": "Reply", "nokia_bounced.txt": "PING 198",
        "nping_icmp.txt": "RCVD", "nping_lost.txt": "SENT", "paping.txt": "Connected to",
        "psping_icmp.txt": "Reply", "sockperf_full.txt": "[Total Run]", "tcping.txt": "Probing",
        "tcping_go.txt": "Reply", "twping.txt": "--- twping",
    }.items(),
)  # fmt: skip
def test_the_end_of_a_run_alone_has_its_counts_and_is_no_whole_run(file, after):
    """What the summary says: no probe of it is made up, and the target is unknown."""
    lines = (INPUTS / file).read_text("utf-8").splitlines(keepends=True)
    last = max(number for number, line in enumerate(lines) if after in line)
    samples = read("".join(lines[last + 1 :]))
    row, whole = samples.facts()[0], read(INPUTS / file).facts()[0]
    for name in ("sent_count", "received_count"):
        assert row[name] == whole[name]
    assert row["partial"] is True
    assert not row.get("target")


@pytest.mark.each(
    "text",
    [
        "Ping statistics for 192.0.2.9:\n"
        "    Packets: Sent = 10, Received = 9, Lost = 1 (10% loss),\n"
        "Approximate round trip times in milli-seconds:\n"
        "    Minimum = 56ms, Maximum = 194ms, Average = 107ms\n",
        "    Pakete: Gesendet = 10, Empfangen = 9, Verloren = 1\n    (10% Verlust),\n"
        "Ca. Zeitangaben in Millisek.:\n    Minimum = 56ms, Maximum = 194ms, Mittelwert = 107ms\n",
        "10 packets transmitted, 9 received, 10% packet loss, time 9012ms\n"
        "rtt min/avg/max/mdev = 56.0/107.0/194.0/3.0 ms\n",
    ],
)
def test_the_end_of_a_ping_alone_has_its_counts_and_is_no_whole_run(text):
    samples = read(text)
    assert (samples.sent, samples.received, len(samples), samples.meta.partial) == (10, 9, 0, True)
    row = samples.facts()[0]
    assert (row["rtt_min_s"], row["rtt_max_s"]) == pytest.approx((0.056, 0.194))
