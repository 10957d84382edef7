"""Paths that end before their target: who said so, and what its time is not."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from netcalc.cli import commands
from netcalc.explain import Known, measurement
from netcalc.plots.measured import measured
from netcalc.readers import read
from netcalc.readers.paths.traces import hop_rows

INPUTS = Path(__file__).parent / "inputs" / "paths"
LINUX = (
    "traceroute to 203.0.113.9 (203.0.113.9), 30 hops max, 60 byte packets\n"
    " 1  192.0.2.1 (192.0.2.1)  0.5 ms  0.4 ms  0.4 ms\n"
)
WAIT = " 2  198.51.100.1 (198.51.100.1)  3009.2 ms !H  3008.1 ms !H  3007.9 ms !H\n"
CISCO = (
    "Type escape sequence to abort.\nTracing the route to 203.0.113.9\n"
    "VRF info: (vrf in name/id, vrf out name/id)\n"
    "  1 192.0.2.129 1 msec 1 msec 2 msec\n"
)
JUNOS = (
    "traceroute to 203.0.113.9 (203.0.113.9), 30 hops max, 52 byte packets\n"
    " 1  gw.example (192.0.2.1)  1.021 ms  0.821 ms  0.812 ms\n"
    " 2  192.0.2.5 (192.0.2.5)  2.021 ms !N  1.821 ms !N  1.812 ms !N\n"
)
BUSYBOX = (
    "traceroute to 203.0.113.9 (203.0.113.9), 30 hops max, 46 byte packets\n"
    " 1  192.0.2.1 (192.0.2.1)  0.394 ms  0.326 ms  0.252 ms\n"
    " 2  192.0.2.1 (192.0.2.1)  3062.914 ms !H  3063.914 ms !H  3064.914 ms !H\n"
)
MACOS_IPV6 = (
    "traceroute6 to host.example (2001:db8::9) from 2001:db8:1::2, 64 hops max, 12 byte packets\n"
    " 1  2001:db8:1::1  1.1 ms  1.0 ms  1.2 ms\n"
    " 2  2001:db8:2::1  3001.1 ms !A  3000.9 ms !A  3001.2 ms !A\n"
)
HUAWEI = (
    "traceroute to  203.0.113.9(203.0.113.9), max hops: 30 ,packet length: 40,press CTRL_C to "
    "break\n"
    " 1 192.0.2.1 10 ms  8 ms  9 ms\n 2 192.0.2.5 !H  *  !H\n"
)
WINDOWS = (
    "\nTracing route to host.example [203.0.113.9]\nover a maximum of 30 hops:\n\n"
    "  1    <1 ms    <1 ms    <1 ms  192.0.2.1\n"
    "  2     *     192.0.2.1  reports: Destination host unreachable.\n\nTrace complete.\n"
)
WINDOWS_FIRST = (
    "\nTracing route to host.example [203.0.113.9]\nover a maximum of 30 hops:\n\n"
    "  1  PC-1.example [192.0.2.2]  reports: Destination host unreachable.\n\nTrace complete.\n"
)
GERMAN_FIRST = (
    "\nRoutenverfolgung zu 203.0.113.9 über maximal 30 Hops\n\n"
    "  1  PC-1.example [192.0.2.2]  meldet: Zielhost nicht erreichbar.\n\n"
    "Ablaufverfolgung beendet.\n"
)
TRACEPATH = (
    " 1?: [LOCALHOST]                      pmtu 1500\n"
    " 1:  192.0.2.1                                             0.5ms \n"
    " 2:  192.0.2.1                                          3075.2ms !H\n"
    "     Resume: pmtu 1500 \n"
)
SCAMPER = (
    "traceroute from 192.0.2.2 to 203.0.113.9\n 1  192.0.2.1  0.501 ms\n 2  192.0.2.5  2.1 ms !X\n"
)

# text -> who reports the target, with which mark; and probes and answers of the last hop, by eye
DIALECTS = {
    "Linux": (LINUX + WAIT, "198.51.100.1", "!H", (3, 3)),
    "Linux, a star": (LINUX + WAIT.replace("3007.9 ms !H", "*"), "198.51.100.1", "!H", (3, 2)),
    "Cisco": (CISCO + "  2 198.51.100.226 !H  *  !H\n", "198.51.100.226", "!H", (3, 2)),
    "Cisco, named": (CISCO + "  2 r.example (192.0.2.7) !A  *  !A\n", "192.0.2.7", "!A", (3, 2)),
    "Juniper": (JUNOS, "192.0.2.5", "!N", (3, 3)),
    "busybox": (BUSYBOX, "192.0.2.1", "!H", (3, 3)),
    "macOS": (MACOS_IPV6, "2001:db8:2::1", "!A", (3, 3)),
    "Huawei": (HUAWEI, "192.0.2.5", "!H", (3, 2)),
    "Windows": (WINDOWS, "192.0.2.1", "!H", (2, 1)),
    "Windows, itself": (WINDOWS_FIRST, "192.0.2.2", "!H", (1, 1)),
    "Windows, German": (GERMAN_FIRST, "192.0.2.2", "!?", (1, 1)),
    "tracepath": (TRACEPATH, "192.0.2.1", "!H", (1, 1)),
    "scamper": (SCAMPER, "192.0.2.5", "!X", (1, 1)),
}  # fmt: skip


def notices(samples):
    return {notice.code: notice.values for notice in samples.meta.warnings}


@pytest.mark.each("dialect", DIALECTS)
def test_who_reports_the_target(dialect, tmp_path):
    text, node, mark, counts = DIALECTS[dialect]
    samples = read(text)
    said = notices(samples)["target-unreachable"]
    assert (said["node"], said["mark"]) == (node, mark)
    (row,) = samples.facts()
    assert row["partial"] is True
    assert "last_hop_rtt_median_s" not in row
    last = np.asarray(samples.hop) == row["hop_count"]
    assert (last.sum(), (~samples.lost[last]).sum()) == counts
    assert set(samples.node[last & ~samples.lost].tolist()) == {node}
    path = tmp_path / "trace.txt"
    path.write_text(text)
    assert "target not reached" in CliRunner().invoke(commands, ["read", str(path)]).output


REPORTS = {
    "French": "rapports : Impossible de joindre l'hôte de destination.",
    "Spanish": "informes: Host de destino inaccesible.",
    "Polish": "raportuje: Host docelowy jest nieosiągalny.",
    "Russian": "сообщает: Заданный узел недоступен.",
    "Chinese": "报告: 无法访问目标主机。",
}
"""What tracert says in other languages of a node that reports the target."""


@pytest.mark.each("words", REPORTS.values())
def test_a_report_in_another_language(words):
    """The head is of a language whose words are not known: an address and a limit are in it."""
    for line, answered in (
        (f"  1  PC-1 [192.0.2.2]  {words}\n", [True]),
        (f"  1     *     192.0.2.2  {words}\n", [False, True]),
        (f"  1    <1 ms     *     192.0.2.2  {words}\n", [True, False, True]),
    ):
        samples = read(f"\nizleme yolu: host.example [203.0.113.9]\n30\n\n{line}\nx\n")
        assert (~samples.lost).tolist() == answered
        said = notices(samples)["target-unreachable"]
        assert said == {"target": "host.example", "hop": "1", "node": "192.0.2.2", "mark": "!?"}


@pytest.mark.each("dialect", ["Linux", "Linux, a star", "busybox", "macOS", "tracepath"])
def test_seconds_before_an_answer_are_no_delay_of_the_path(dialect):
    """By the router: it asks three times for the address of a host that is not there."""
    samples = read(DIALECTS[dialect][0])
    assert np.nanmax(samples.rtt_s) > 3.0  # kept, as the tool printed it
    assert samples.rtt_s[samples.measured].max() < 0.002
    *_, last = hop_rows(samples)
    assert math.isnan(last.rtt_min_s)
    assert math.isnan(last.increase_s)
    times = samples.rtt_s[np.isfinite(samples.rtt_s)]
    assert notices(samples)["waits-for-address"] == {"count": (times > 3).sum()}
    (finding,) = measurement(samples, Known())
    assert finding.measured < 0.002
    assert "3.0" not in measured(samples, Known()).description


def test_a_node_that_answers_at_once_did_not_wait():
    """By hand: 4.1 ms is a round trip to it, though not that of the target."""
    samples = read(LINUX + " 2  198.51.100.1 (198.51.100.1)  4.2 ms !H  4.1 ms !H  4.3 ms !H\n")
    assert hop_rows(samples)[1].rtt_min_s == pytest.approx(4.1e-3)
    assert list(notices(samples)) == ["target-unreachable"]
    assert "last_hop_rtt_median_s" not in samples.facts()[0]


def test_the_target_itself_may_prohibit():
    """A firewall of the target answers with its address: that is an arrival."""
    samples = read(LINUX + " 2  203.0.113.9 (203.0.113.9)  5.0 ms !X  5.2 ms !X  5.4 ms !X\n")
    assert notices(samples) == {}
    assert samples.facts()[0]["last_hop_rtt_median_s"] == pytest.approx(5.2e-3)
    assert samples.meta.partial is False


@pytest.mark.each(("mark", "is_said"), {"!X": False, "!H": True, "!N": True}.items())
def test_without_a_header_only_others_are_told_apart(mark, is_said):
    """A target may print !X of itself; no host says of itself that it cannot be reached."""
    text = (
        " 1  192.0.2.1  0.5 ms  0.4 ms  0.4 ms\n 2  192.0.2.5  1.5 ms {0}  1.4 ms {0}  1.6 ms {0}\n"
    )
    assert ("target-unreachable" in notices(read(text.format(mark)))) is is_said


def test_a_run_to_its_last_hop():
    lines = "".join(f" {hop}  * * *\n" for hop in (2, 3))
    samples = read(LINUX.replace("30 hops", "3 hops") + lines)
    assert notices(samples)["target-not-reached"] == {"target": "203.0.113.9", "hop": 3}
    many = read((LINUX.replace("30 hops", "3 hops") + lines) * 4)
    assert notices(many)["targets-not-reached"]["count"] == 4


def test_a_refusal_before_stars():
    """BSD goes on where only one of three probes is refused."""
    text = LINUX + " 2  192.0.2.5 (192.0.2.5)  4.0 ms !X * *\n 3  * * *\n"
    assert notices(read(text))["target-unreachable"]["hop"] == "2"


def atlas(*hops):
    about = {"msm_id": 1, "prb_id": 7, "type": "traceroute", "fw": 5080, "proto": "UDP"}
    ends = {"dst_name": "203.0.113.9", "dst_addr": "203.0.113.9", "timestamp": 1, "endtime": 2}
    return read(json.dumps([{**about, **ends, "result": list(hops)}]) + "\n")


def hop(number, node, *times, **more):
    answers = [{"from": node, "rtt": time, "size": 28, "ttl": 60, **more} for time in times]
    return {"hop": number, "result": answers or [{"x": "*"}] * 3}


FIRST = hop(1, "192.0.2.1", 2.0, 2.1, 2.2)


def test_the_last_try_of_ripe_atlas():
    """By hand: 41.2 ms is the median of three; how many hops it passed is not in the file."""
    samples = atlas(FIRST, hop(2, ""), hop(3, ""), hop(255, "203.0.113.9", 41.2, 41.0, 41.9))
    (row,) = samples.facts()
    assert row["last_hop_rtt_median_s"] == pytest.approx(0.0412)
    assert "hop_count" not in row
    assert (row["responding_hop_count"], row["probe_count"], row["reply_count"]) == (1, 12, 6)
    assert row["partial"] is False
    assert notices(samples)["last-try-answered"] == {"count": 3}
    *_, last = hop_rows(samples)
    assert (last.hop, last.as_dict()["hop"], last.node) == (None, None, "203.0.113.9")
    assert last.increase_s == pytest.approx(0.039)
    (finding,) = measurement(samples, Known())
    assert finding.measured == pytest.approx(0.041)
    assert "2 ms at the last hop" in measured(samples, Known()).description


def test_a_last_try_that_a_node_refuses():
    samples = atlas(FIRST, hop(2, ""), hop(255, "198.51.100.9", 41.0, err="A"))
    assert notices(samples)["target-unreachable"]["hop"] == "?"
    assert "last_hop_rtt_median_s" not in samples.facts()[0]


@pytest.mark.each(("error", "mark"), {"p": "", "H": "!H", "N": "!N", "A": "!A", 9: "!9"}.items())
def test_errors_of_ripe_atlas(error, mark):
    """By its documentation: p is port unreachable, which is the end that is looked for."""
    samples = atlas(FIRST, hop(2, "203.0.113.8", 5.0, err=error))
    assert samples.mark.tolist()[-1] == mark
    assert ("target-unreachable" in notices(samples)) is bool(mark)


def test_a_refusal_in_dublin_traceroute():
    """By its documentation: type and code are those of ICMP; 3 and 1 are host unreachable."""
    document = json.loads((INPUTS / "dublin_traceroute.json").read_text())
    for flow in document["flows"].values():
        last = [each for each in flow if each["received"]][-1]
        last["received"]["icmp"] = {"type": 3, "code": 1, "description": "Host unreachable"}
        last["received"]["ip"]["src"] = last["name"] = "198.51.100.77"
    samples = read(json.dumps(document) + "\n")
    assert "!H" in samples.mark.tolist()
    assert notices(samples)["target-unreachable"]["node"] == "198.51.100.77"


@pytest.mark.each(
    ("line", "node", "name"),
    [
        ("a (b) (c) (192.0.2.1)", "192.0.2.1", "a (b) (c)"),
        ("a (b) (c) (d) (192.0.2.1)", "192.0.2.1", "a (b) (c) (d)"),
        ("a (b) (2001:db8::1)", "2001:db8::1", "a (b)"),
    ],
)
def test_a_name_with_brackets(line, node, name):
    samples = read(LINUX + f" 2  {line}  1.5 ms\n")
    assert (samples.node[-1], samples.node_name[-1]) == (node, name)


@pytest.mark.each(
    ("line", "marks"),
    {
        " 2  192.0.2.5  1.5 ms !F-13": [""],  # of !F-1300, or of !F-139
        " 2  192.0.2.5  1.5 ms !H": ["!H"],
        " 2  192.0.2.5  1.5 ms  2.5 ms  3": ["", ""],
    }.items(),
)
def test_a_last_line_without_its_end(line, marks):
    assert read(LINUX + line).mark.tolist()[3:] == marks


TIMES = WINDOWS.partition("  2 ")[0] + "  2    21 ms    20 ms    22 ms  "


@pytest.mark.each(
    ("text", "partial"),
    {
        TIMES + "host.example [203.0.113.9]": False,
        TIMES + "203.0.113.9": False,
        TIMES + "203.0.113.8": True,
        TRACEPATH.replace("!H\n", "reached\n").rstrip("\n"): False,
        TRACEPATH.replace("!H\n", "reached\n").rstrip(" \n"): True,
    }.items(),
)  # fmt: skip
def test_a_whole_last_line_is_read(text, partial):
    """The last address, and the last path MTU, may have lost digits where nothing follows them."""
    samples = read(text)
    assert samples.meta.partial is partial
    assert samples.facts()[0].get("path_mtu_bytes", 1500) == 1500
