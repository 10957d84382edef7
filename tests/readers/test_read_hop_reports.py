"""Reports of WinMTR, trippy and MikroTik, XML of mtr, and results of scamper: each by eye."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff
from netcalc.readers.paths.traces import hop_rows

INPUTS = Path(__file__).parent / "inputs"
NAN = float("nan")

FOUR = {"hop_count": 4, "responding_hop_count": 3, "partial": False}
THREE = {"hop_count": 3, "responding_hop_count": 2, "partial": False}
CASES = {
    "winmtr.txt": (
        "WinMTR", [FOUR],
        {"node": ["192.0.2.1", "", "198.51.100.1", "203.0.113.9"],
         "node_name": ["", "", "gw.example", ""], "loss_ratio": [0, 1, 0.01, 0.03],
         "probe_count": [100, 20, 100, 100], "reply_count": [100, 0, 99, 97],
         "rtt_min_s": [0.5e-3, NAN, 8e-3, 20e-3], "rtt_mean_s": [1e-3, NAN, 11e-3, 24e-3],
         "rtt_max_s": [12e-3, NAN, 45e-3, 88e-3], "rtt_last_s": [1e-3, NAN, 9e-3, 22e-3]},
    ),
    "winmtr.html": (
        "WinMTR", [THREE],
        {"node": ["192.0.2.1", "", "203.0.113.9"], "loss_ratio": [0, 1, 0.03],
         "rtt_max_s": [12e-3, NAN, 88e-3]},
    ),
    "trippy.csv": (
        "trippy", [{"target": "host.example", **FOUR}],
        {"node": ["192.0.2.1", "", "198.51.100.1", "203.0.113.9"],
         "node_name": ["gw.example", "", "", "host.example"],
         "further_nodes": ["", "", "198.51.100.2", ""], "reply_count": [10, 0, 9, 10],
         "rtt_min_s": [0.4e-3, NAN, 10.4e-3, 20.4e-3], "rtt_std_s": [0.2e-3, NAN, 0.2e-3, 0.2e-3]},
    ),
    "trippy.json": (
        "trippy JSON", [{"target": "host.example", **THREE}],
        {"node": ["192.0.2.1", "", "203.0.113.9"], "loss_ratio": [0, 1, 0.1],
         "probe_count": [10, 10, 10], "rtt_mean_s": [0.61e-3, NAN, 20.61e-3]},
    ),
    "mikrotik_traceroute.txt": (
        "MikroTik traceroute", [{"target": "203.0.113.9", **THREE, "partial": True}],
        {"node": ["192.0.2.1", "", "198.51.100.7"], "probe_count": [3, 3, 3],
         "loss_ratio": [0, 1, 0.33], "rtt_last_s": [0.6e-3, NAN, 15e-3],
         "rtt_mean_s": [0.7e-3, NAN, 15.2e-3], "rtt_min_s": [0.6e-3, NAN, 15e-3],
         "rtt_max_s": [0.8e-3, NAN, 15.5e-3], "rtt_std_s": [0.1e-3, NAN, 0.2e-3]},
    ),
    "mtr.xml": (
        "mtr XML",
        [{"target": "host.example", "hop_count": 2, "responding_hop_count": 1, "packet_bytes": 64,
          "partial": False}],
        {"node": ["192.0.2.1", ""], "node_name": ["gw.example", ""], "loss_ratio": [0, 1],
         "rtt_min_s": [0.7e-3, NAN]},
    ),
}  # fmt: skip


def notices(samples):
    return {notice.code: notice.values for notice in samples.meta.warnings}


@pytest.mark.each("file", CASES)
def test_files(file):
    name, facts, columns = CASES[file]
    assert sniff(INPUTS / "paths" / file) == name
    samples = read(INPUTS / "paths" / file)
    assert samples.facts() == facts
    for column, values in columns.items():
        shown = samples[column].tolist()
        is_text = isinstance(values[0], str)
        assert shown == (values if is_text else pytest.approx(values, rel=1e-9, nan_ok=True)), (
            column
        )
    assert "path-lines-unread" not in notices(samples)


def test_who_reports_the_target_of_mikrotik():
    samples = read(INPUTS / "paths" / "mikrotik_traceroute.txt")
    values = {"target": "203.0.113.9", "hop": "3", "node": "198.51.100.7", "mark": "!H"}
    assert notices(samples)["target-unreachable"] == values


SCREEN = """\
                             My traceroute  [v0.95]
pc.example (192.0.2.2) -> host.example (203.0.113.9)         2026-11-29T15:50:00+0000
Keys:  Help   Display mode   Restart statistics   Order of fields   quit
                                       Packets               Pings
 Host                                Loss%   Snt   Last   Avg  Best  Wrst StDev
 1. AS???    gw.example               0.0%    10    0.5   0.6   0.4   1.2   0.2
 2. (waiting for reply)
 3. AS64500  198.51.100.7            40.0%    10   12.5  12.1  11.0  13.9   0.9
    198.51.100.8
 4. host.example                     10.0%    10   21.5  21.1  20.0  23.9   1.1
"""


@pytest.mark.each("indent", ["", "    "])
def test_the_screen_of_mtr(indent):
    """What people copy from a terminal: a hop without an answer has no figures there."""
    text = "".join(indent + line + "\n" for line in SCREEN.splitlines())
    samples = read(text)
    assert samples.facts() == [{"target": "host.example", **FOUR}]
    assert samples["node"].tolist() == ["gw.example", "", "198.51.100.7", "host.example"]
    assert samples["rtt_mean_s"].tolist() == pytest.approx(
        [0.6e-3, NAN, 12.1e-3, 21.1e-3], nan_ok=True
    )
    assert samples.meta.host == "pc.example"
    assert list(notices(samples)) == ["mtr-other-nodes"]
    old = text.replace(" -> host.example (203.0.113.9)", "").replace("(waiting for reply)", "???")
    assert read(old).facts() == [FOUR]


TABLE = """\
| Hop | IPs          | Addrs        | Loss%  | Snt | Recv | Last | Avg  | Best | Wrst | StdDev |
|-----|--------------|--------------|--------|-----|------|------|------|------|------|--------|
| 1   | 192.0.2.1    | gw.example   | 0.0    | 10  | 10   | 0.5  | 0.6  | 0.4  | 1.2  | 0.2    |
|     | 192.0.2.5    | gx.example   |        |     |      |      |      |      |      |        |
| 2   | ???          | ???          | 100.0  | 10  | 0    | ???  | 0.0  | ???  | ???  | 0.0    |
| 3   | 203.0.113.9  | host.example | 10.0   | 10  | 9    | 20.5 | 20.6 | 20.4 | 21.2 | 0.2    |
"""


@pytest.mark.each("bars", ["|||", "││┆"])
def test_a_table_of_trippy(bars):
    """Markdown, or the table with borders: bars outside, and others inside."""
    lines = [
        bars[0] + line[1:-1].replace("|", bars[2]) + bars[1] if "--" not in line else "├──┼──┤"
        for line in TABLE.splitlines()
    ]
    samples = read("\n".join(lines) + "\n")
    assert samples.facts() == [THREE]
    assert samples["further_nodes"].tolist() == ["192.0.2.5", "", ""]
    assert samples["rtt_mean_s"].tolist() == pytest.approx([0.6e-3, NAN, 20.6e-3], nan_ok=True)
    assert samples["loss_ratio"].tolist() == pytest.approx([0, 1, 0.1])


@pytest.mark.each(("end", "rows", "partial"), [(".20", 4, False), (".2", 3, True), ("", 3, True)])
def test_a_last_row_of_trippy_without_its_end(end, rows, partial):
    text = (INPUTS / "paths" / "trippy.csv").read_text().removesuffix(".20\n") + end
    samples = read(text)
    assert (len(samples), samples.meta.partial) == (rows, partial)


def test_mikrotik_without_numbers_and_prompt():
    """The second form of its table: hops are counted, and the first did not answer."""
    head = "ADDRESS                 LOSS SENT    LAST     AVG    BEST   WORST STD-DEV STA..\n"
    rows = (
        "                        100%    4 timeout\n"
        "2001:db8::1               0%    3   1.3ms     1.3     1.2     1.4     0.1\n"
    )
    samples = read(head + rows)
    assert samples["hop"].tolist() == [1, 2]
    assert samples["node"].tolist() == ["", "2001:db8::1"]
    assert samples["rtt_max_s"][1] == pytest.approx(1.4e-3)
    cut = read(head + rows.rstrip("1\n"))
    assert (len(cut), cut.meta.partial) == (1, True)
    with pytest.raises(ReaderError) as refused:
        read(head)
    assert refused.value.code == "mikrotik-no-hop"


@pytest.mark.each("file", ["winmtr.txt", "mtr.xml"])
def test_a_silent_last_hop_is_not_the_target(file):
    """mtr and WinMTR stop at the node that answers as the target: the last one did not."""
    text = (INPUTS / "paths" / file).read_text()
    is_silent = file == "mtr.xml"
    assert ("target-not-reached" in notices(read(text))) is is_silent
    if not is_silent:
        silent = "\n".join(line for line in text.split("\n") if "203.0.113.9" not in line)
        silent = "\n".join(line for line in silent.split("\n") if "198.51" not in line)
        assert notices(read(silent))["target-not-reached"]["hop"] == "2"


def test_a_part_of_winmtr():
    """Without the heading nobody knows which hops these are."""
    rows = (INPUTS / "paths" / "winmtr.txt").read_text().splitlines(keepends=True)[4:7]
    samples = read("".join(rows))
    assert samples["loss_ratio"].tolist() == pytest.approx([0, 1, 0.01])
    assert all(row.hop is None for row in hop_rows(samples))
    assert "hop_count" not in samples.facts()[0]
    assert samples.meta.partial
    assert "hops-not-numbered" in notices(samples)
    head = (INPUTS / "paths" / "winmtr.txt").read_text().splitlines(keepends=True)[:4]
    with pytest.raises(ReaderError) as refused:
        read("".join(head))
    assert refused.value.code == "winmtr-no-hop"


def test_parts_of_the_html_of_winmtr_and_of_mikrotik():
    """By hand: rows of the HTML, and of MikroTik, whose columns are always the same."""
    rows = (INPUTS / "paths" / "winmtr.html").read_text().splitlines(keepends=True)
    part = read("".join(rows[4:7]))
    assert part["rtt_max_s"].tolist() == pytest.approx([0.012, NAN, 0.088], nan_ok=True)
    assert "hops-not-numbered" in notices(part)
    rows = (INPUTS / "paths" / "mikrotik_traceroute.txt").read_text().splitlines(keepends=True)
    part = read("".join(rows[4:]))
    assert part["rtt_mean_s"].tolist() == pytest.approx([0.7e-3, NAN, 15.2e-3], nan_ok=True)
    assert notices(part)["target-unreachable"]["hop"] == "?"
    assert part.meta.partial
    assert "hop_count" not in part.facts()[0]
    painted = read("".join(rows[:4]))  # the second table has no row yet
    assert painted["probe_count"].tolist() == [1]


def test_a_cut_row_of_winmtr_is_not_read():
    text = (INPUTS / "paths" / "winmtr.txt").read_text()
    text = text[: text.index("22 |") + 1]  # 2 of 22
    samples = read(text)
    assert len(samples) == 3
    assert samples.meta.partial


def test_parts_of_mtr():
    """Without the header, -o may have put other columns there: what holds in any case is read."""
    text = (
        "  3.|-- 198.51.100.7     0.0%    10   12.5  12.1  11.0  13.9   0.9\n"
        "  4.|-- 203.0.113.2     10.0%    10   21.5  21.1  20.0  23.9   1.1\n"
    )
    samples = read(text)
    assert samples["hop"].tolist() == [3, 4]
    assert samples["loss_ratio"].tolist() == pytest.approx([0, 0.1])
    assert samples["rtt_min_s"].tolist() == pytest.approx([0.011, 0.02])
    assert samples["rtt_max_s"].tolist() == pytest.approx([0.0139, 0.0239])
    assert not {"rtt_mean_s", "rtt_last_s", "rtt_std_s"} & set(samples.columns())
    assert samples.meta.partial
    with pytest.raises(ReaderError) as refused:
        read(text.replace("11.0  13.9", "13.9  11.0"))  # an order of its user
    assert refused.value.code == "mtr-no-header"


@pytest.mark.each("indent", ["        ", "", "\n"])
def test_mtr_that_was_stopped(indent):
    """What mtr writes before a hop answered: its list is open, and nothing follows it."""
    text = (
        '{\n  "report": {\n    "mtr": {"src": "pc", "dst": "h"},\n    "hubs": [' + indent + "}\n}\n"
    )
    with pytest.raises(ReaderError) as refused:
        read(text)
    assert refused.value.code == "mtr-stopped"
    assert "before a hop answered" in str(refused.value)


def test_cut_json_of_mtr_keeps_its_whole_hops():
    whole = (INPUTS / "paths" / "mtr.json").read_text()
    for end in range(whole.index('"hubs"') + 10, len(whole) - 2, 7):
        try:
            samples = read(whole[:end] + "\n")
        except ReaderError:
            continue
        assert samples.meta.partial
        assert samples["hop"].tolist() == [1, 2, 3][: len(samples)]
        assert samples["rtt_last_s"].tolist() == pytest.approx(
            [73e-6, 76e-6, 81e-6][: len(samples)]
        )


@pytest.mark.each("file", ["mtr.json", "jc_traceroute.json", "scamper.json", "trippy.json"])
def test_a_file_that_grew_says_so(file, tmp_path, monkeypatch):
    """It has its size when it is opened for its head and for the whole, and more at the end."""
    path = tmp_path / file
    path.write_text((INPUTS / "paths" / file).read_text())
    size, real = path.stat().st_size, os.fstat
    sizes = itertools.chain([size, size], itertools.repeat(2 * size))

    def growing(handle):
        status = list(real(handle))
        status[6] = next(sizes)
        return os.stat_result(status)

    monkeypatch.setattr("netcalc.readers.source.os.fstat", growing)
    samples = read(path)
    assert "file-grew" in notices(samples)
    assert samples.meta.partial


def test_a_trace_of_scamper():
    """By eye: hop 3 has no answer in the file; how many probes were lost is not in it."""
    samples = read(INPUTS / "paths" / "scamper.json")
    assert sniff(INPUTS / "paths" / "scamper.json") == "scamper trace"
    assert samples.facts() == [
        {"target": "203.0.113.9", "protocol": "icmp", "hop_count": 4, "responding_hop_count": 3,
         "reply_count": 3, "last_hop_rtt_median_s": pytest.approx(0.02025), "packet_bytes": 44,
         "partial": False}
    ]  # fmt: skip
    assert samples.hop.tolist() == [1, 2, 3, 4]
    assert samples.lost.tolist() == [False, False, True, False]
    assert list(notices(samples)) == ["lost-probes-left-out"]


@pytest.mark.each(
    ("reason", "partial", "code"),
    [("COMPLETED", False, None), ("GAPLIMIT", True, "target-not-reached"), ("NONE", True, None)],
)
def test_how_a_trace_of_scamper_ended(reason, partial, code):
    text = (INPUTS / "paths" / "scamper.json").read_text().replace("COMPLETED", reason)
    if code:
        text = text.replace('"addr":"203.0.113.9"', '"addr":"203.0.113.8"')
    samples = read(text)
    assert samples.meta.partial is partial
    assert code is None or code in notices(samples)


def test_icmp_of_scamper_is_that_of_its_version():
    """3 is an exceeded hop limit in IPv6, and 1 with code 3 an unreachable address."""
    samples = read(INPUTS / "paths" / "scamper_unreachable.json")
    assert samples.mark.tolist() == ["", "!H"]
    assert notices(samples)["target-unreachable"]["node"] == "2001:db8::1"
    assert samples.measured.tolist() == [True, False]  # 3050 ms
    old = json.loads((INPUTS / "paths" / "scamper_unreachable.json").read_text())
    for hop in old["hops"]:
        hop["addr"], hop["icmp_type"] = "192.0.2.1", 3
    old["hops"][0]["icmp_type"] = 11
    old["hops"][1]["icmp_code"] = 13
    assert read(json.dumps(old) + "\n").mark.tolist() == ["", "!X"]


def test_text_of_scamper_and_of_paris_traceroute():
    scamper = read(INPUTS / "paths" / "traceroute_scamper.txt")
    assert (scamper.meta.tool, scamper.meta.target) == ("scamper", "203.0.113.9")
    assert scamper.rtt_s[[0, 2, 3]].tolist() == pytest.approx([0.501e-3, 9.501e-3, 20.1e-3])
    paris = read(INPUTS / "paths" / "traceroute_paris.txt")
    assert (paris.meta.target, paris.meta.partial, notices(paris)) == ("203.0.113.9", False, {})
    assert paris.facts()[0]["last_hop_rtt_median_s"] == pytest.approx(0.0955)


@pytest.mark.each(
    "header",
    [
        "trace to 203.0.113.9, 8 hops max (ICMP), press Ctrl+C to stop",
        "Tracing the path to 203.0.113.9 on TCP port 80 (http), 30 hops max",
    ],
)
def test_headers_of_other_traceroutes(header):
    samples = read(
        header + "\n 1   192.0.2.1   1.8 ms  1.4 ms *\n 2   203.0.113.9   2.9 ms 2 ms 3 ms\n"
    )
    assert (samples.meta.target, samples.meta.partial) == ("203.0.113.9", False)


def test_text_of_dublin_traceroute():
    """By eye: the first flow came to a closed port of the target, the second to a router's wait."""
    samples = read(INPUTS / "paths" / "dublin_traceroute.txt")
    first, second = samples.facts()
    assert (first["group"], first["partial"], first["hop_count"]) == ("port 33434", False, 3)
    assert first["last_hop_rtt_median_s"] == pytest.approx(9.236e-3)
    assert (second["partial"], "last_hop_rtt_median_s" in second) == (True, False)
    assert samples.lost.tolist() == [False, True, False, False, False]
    assert samples.mark.tolist() == ["", "", "", "", "!H"]
    assert notices(samples)["target-unreachable"]["node"] == "198.51.100.7"
    lines = (INPUTS / "paths" / "dublin_traceroute.txt").read_text().splitlines(keepends=True)
    part = read("".join(lines[3:6]))
    assert (len(part), part.meta.partial) == (3, True)


def test_a_star_of_nexttrace_is_an_unknown_network_and_no_probe():
    """By eye: the first hop answered twice, the second never; another tool's first line stays."""
    rows = "1   192.0.2.1   *   LAN\n     0.42 ms / 0.5 ms\n2   *\n"
    samples = read("traceroute to 192.0.2.9, 30 hops max\n" + rows)
    assert samples.meta.partial
    assert samples.rtt_s[~samples.lost].tolist() == pytest.approx([0.42e-3, 0.5e-3])
    assert samples.hop[samples.lost].tolist() == [2]


def test_a_ping_of_scamper():
    """By eye: 0 and 2 were answered, 1 was not, 3 by an error; 84 B are 56 B of user data."""
    samples = read(INPUTS / "pings" / "scamper_ping.json")
    (row,) = samples.facts()
    assert (row["sent_count"], row["received_count"], row["loss_ratio"]) == (4, 2, 0.5)
    assert samples.rtt_s[[0, 2]].tolist() == pytest.approx([8.989e-3, 9.5e-3])
    assert samples.error_reply.tolist() == [False, False, False, True]
    assert set(samples.payload_bytes.tolist()) == {56}


def test_mixed_results_of_scamper():
    text = (INPUTS / "paths" / "scamper.json").read_text()
    text += (INPUTS / "pings" / "scamper_ping.json").read_text()
    with pytest.raises(ReaderError) as refused:
        read(text)
    assert refused.value.values["kinds"] == ["ping", "trace"]


@pytest.mark.each(
    ("text", "code"),
    {
        "\nTracing route to h [192.0.2.9]\nover a maximum of 30 hops:\n\n": "no-path",
        "\nTracing route to 192.0.2.9 over a maximum of 30 hops\n\n": "no-path",
        "  0  PC-1.example [192.0.2.2]\n  1  192.0.2.1\n": "pathping-no-statistics",
        "h,192.0.2.9,1,192.0.2.1,a,0.00,9,9,1.5,1.5,1.5,1.5,0.00\n" * 2: "part-of-output",
        "Hop  RTT    Lost/Sent = Pct  Lost/Sent = Pct  Address\n": "part-of-output",
        "    a.example (192.0.2.7)  24.5 ms\n    b (192.0.2.8)  24.3 ms\n": "part-of-output",
    }.items(),
)
def test_parts_without_a_measurement_name_their_tool(text, code):
    with pytest.raises(ReaderError) as refused:
        read(text)
    assert refused.value.code == code
    assert any(tool in str(refused.value) for tool in ("trac", "pathping", "trippy"))


@pytest.mark.each(
    ("text", "lost"),
    {
        "27:  no reply\n28:  no reply\n29:  no reply\n": [True] * 3,
        "  4  198.51.100.9  meldet: Zielhost nicht erreichbar.\n\nAblaufverfolgung beendet.\n": [
            False
        ],
    }.items(),
)
def test_parts_of_tracepath_and_tracert(text, lost):
    samples = read(text)
    assert samples.lost.tolist() == lost
    assert samples.meta.partial
