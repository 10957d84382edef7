"""Traceroutes of several sizes are one path: rates of its links, what is sure, what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from netcalc import explain, readers
from netcalc.cli import commands
from netcalc.samples import HopSamples

INPUTS = Path(__file__).parent.parent / "readers" / "inputs" / "paths"
RATES = (10e6, 1.544e6, 44.736e6)
LATENCIES_S = (1e-3, 5e-3, 2e-3)


def run_of(size, *, rates=RATES, extra_s=0.0, target="203.0.113.9", silent=(), nodes=None, q=3):
    """Write a traceroute whose probes take 2 latencies and size/rate of each link."""
    lines = [f"traceroute to {target} ({target}), 30 hops max, {size} byte packets"]
    for hop in range(1, len(rates) + 1):
        node = (nodes or {}).get(hop, target if hop == len(rates) else f"192.0.2.{hop}")
        time_s = 2 * sum(LATENCIES_S[:hop]) + 8 * size * sum(1 / rate for rate in rates[:hop])
        times = [
            f"{1e3 * (time_s + np.random.default_rng(hop).exponential(extra_s)):.4f} ms"
            if extra_s
            else f"{1e3 * time_s:.4f} ms"
        ] * q
        lines.append(
            f"{hop:2d}  * * *" if hop in silent else f"{hop:2d}  {node}  {'  '.join(times)}"
        )
    return "\n".join(lines) + "\n"


def files_of(tmp_path, texts):
    paths = []
    for number, text in enumerate(texts):
        path = tmp_path / f"t{number}.txt"
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def joined(tmp_path, texts, **options):
    read = {path.name: readers.read(path) for path in files_of(tmp_path, texts)}
    return explain.sweep(read, **options)


def found(sweep):
    (finding,) = explain.measurement(sweep.samples)
    return finding


def rates_of(finding):
    return {limit.values["link"]: limit.value for limit in finding.limits}


def codes(finding):
    return [notice.code for notice in finding.notices]


def test_rates_of_exact_times(tmp_path):
    """The sums of 8/R are those that the times were made of; to 0.1 us of 800 B, 44.7 Mbit/s."""
    sweep = joined(tmp_path, [run_of(size) for size in (600, 1000, 1400)])
    assert isinstance(sweep.samples, HopSamples)
    assert (sweep.by, sweep.said.code) == ("size", "sweep-of-path")
    finding = found(sweep)
    assert finding.cause.code == "line"
    assert finding.cause.sign("last_hop") == 2
    rates = rates_of(finding)
    for number, rate in enumerate(RATES, 1):
        assert rates[f"link {number}"] == pytest.approx(rate, rel=1e-2)
    assert [limit.values["link"] for limit in finding.limits] == ["link 2", "link 1", "link 3"]


def test_real_traceroutes_of_an_emulated_path():
    """Traceroute of Linux over links of 10, 1.544 and 44.736 Mbit/s."""
    read = {f"{size}": readers.read(INPUTS / f"traceroute_size_{size}.txt")
            for size in (600, 1000, 1400)}  # fmt: skip
    assert [samples.facts()[0]["packet_bytes"] for samples in read.values()] == [600, 1000, 1400]
    finding = found(explain.sweep(read))
    rates = rates_of(finding)
    assert {"link 1", "link 2"} <= rates.keys()
    for name, rate in rates.items():  # and 40 ns a byte in hosts
        assert rate == pytest.approx(RATES[int(name[-1]) - 1], rel=0.1)


def test_one_file_with_several_runs_is_a_path_too(tmp_path):
    text = "".join(run_of(size) for size in (600, 1000, 1400))
    sweep = joined(tmp_path, [text])
    assert len(found(sweep).limits) == 3
    assert joined(tmp_path, [run_of(600) + run_of(600)]) is None


def test_the_same_size_twice_is_more_probes(tmp_path):
    texts = [run_of(size) for size in (600, 1000, 1000, 1400)]
    sweep = joined(tmp_path, texts)
    assert len(sweep.samples) == 4 * 9
    assert np.unique(sweep.samples.packet_bytes).tolist() == [600, 1000, 1400]


def test_a_silent_hop_joins_two_links(tmp_path):
    """1/R of links 2 and 3 together: 1/1.544 + 1/44.736 = 1/1.4925 Mbit/s."""
    sweep = joined(tmp_path, [run_of(size, silent=(2,)) for size in (600, 1000, 1400)])
    finding = found(sweep)
    assert rates_of(finding)["links 2 to 3"] == pytest.approx(1.4925e6, rel=1e-3)
    assert "links 2 to 3 together" in finding.sentence.lower()
    assert finding.confidence == "low"


def test_paths_that_part_end_where_they_part(tmp_path):
    others = {2: "198.51.100.2"}
    texts = [run_of(600), run_of(1000), run_of(1400, nodes=others)]
    finding = found(joined(tmp_path, texts))
    assert list(rates_of(finding)) == ["link 1"]
    (said,) = [notice for notice in finding.notices if notice.code == "paths-part"]
    assert (said.values["hop"], said.values["other"]) == (2, "198.51.100.2")


def test_paths_part_where_no_node_is_in_all_runs(tmp_path):
    """Each two runs have a node of hop 2 in common, all three have none."""
    texts = []
    for size, first, second in ((600, "a", "b"), (1000, "b", "c"), (1400, "a", "c")):
        text = run_of(size, nodes={2: f"{first}.example"}, q=2)
        (line,) = re.findall(r" 2  .*", text)
        texts.append(text.replace(line, line.replace(" ms  ", f" ms  {second}.example  ")))
    finding = found(joined(tmp_path, texts))
    assert list(rates_of(finding)) == ["link 1"]
    (said,) = [notice for notice in finding.notices if notice.code == "paths-part"]
    assert said.values == {"hop": 2, "node": "a.example", "other": "b.example"}


def test_a_hop_that_answered_few_large_probes_joins_two_links(tmp_path):
    """Hop 2 is silent from 1,000 B on: of its large sizes only 600 B are left."""
    sizes = (200, 400, 600, 1000, 1400)
    texts = [run_of(size, silent=(2,) if size >= 1000 else ()) for size in sizes]
    finding = found(joined(tmp_path, texts))
    assert finding.cause.sign("link_count") == 2
    assert rates_of(finding)["links 2 to 3"] == pytest.approx(1.4925e6, rel=1e-3)


def test_a_slope_that_falls_has_no_rate(tmp_path):
    """Hop 2 answers its large probes 1 ms a 400 B earlier than hop 1 does: no link is so."""
    texts = []
    for size in (600, 800, 1000, 1200, 1400):
        text = run_of(size, rates=RATES[:2])
        text = text.replace(
            re.search(r" 2  .*", text)[0],
            f" 2  203.0.113.9  {20 - size / 400:.4f} ms  {20 - size / 400:.4f} ms",
        )
        texts.append(text)  # fmt: skip
    finding = found(joined(tmp_path, texts))
    assert list(rates_of(finding)) == ["link 1"]
    (said,) = [notice for notice in finding.notices if notice.code == "links-negative"]
    assert said.values["listed"] == "link 2"


@pytest.mark.each(
    "sizes, targets, code",
    [
        ((600, 1000), ("203.0.113.9",) * 2, "path-of-few-sizes"),
        ((60, 60), ("203.0.113.9",) * 2, "path-of-few-sizes"),
        ((600, 1000, 1400), ("203.0.113.9",) * 2 + ("203.0.113.8",), "paths-to-targets"),
    ],
)
def test_what_is_no_path_is_said(tmp_path, sizes, targets, code):
    texts = [run_of(size, target=target) for size, target in zip(sizes, targets, strict=True)]
    sweep = joined(tmp_path, texts)
    assert sweep.samples is None
    assert sweep.said.code == code


def test_two_targets_of_one_size_are_compared_as_before(tmp_path):
    assert joined(tmp_path, [run_of(60), run_of(60, target="203.0.113.8")]) is None


def test_probes_at_once_have_no_rates(tmp_path):
    """Each probe of a hop comes one serialization on T1 later than the one before."""
    texts = []
    for size in (600, 1000, 1400):
        step_ms = 8 * size / 1.544e3
        rows = [f"traceroute to 203.0.113.9 (203.0.113.9), 30 hops max, {size} byte packets"]
        rows += [
            f" {hop}  192.0.2.{hop}  "
            + "  ".join(f"{10 * hop + (3 * hop + k) * step_ms:.3f} ms" for k in range(3))
            for hop in (1, 2, 3)
        ]
        texts.append("\n".join(rows) + "\n")
    sweep = joined(tmp_path, texts)
    assert sweep.samples is None
    assert sweep.said.code == "path-probes-at-once"
    assert sweep.said.values["step_s"] == pytest.approx(8 * 1400 / 1.544e6, rel=1e-3)


def test_small_probes_are_left_out_or_said(tmp_path):
    """Linux returns up to 548 bytes of a probe: three sizes above that are enough without them."""
    finding = found(joined(tmp_path, [run_of(size) for size in (60, 600, 1000, 1400)]))
    assert "small-probes-left-out" in codes(finding)
    assert finding.cause.sign("size_count") == 3
    finding = found(joined(tmp_path, [run_of(size) for size in (60, 500, 1400)]))
    assert "answers-may-grow" in codes(finding)


def mtr_of(size, *, target="203.0.113.9"):
    hubs = [
        {"count": hop, "host": target if hop == 3 else f"192.0.2.{hop}", "Loss%": 0.0, "Snt": 9,
         "Last": 50.0, "Avg": 50.0, "Wrst": 60.0, "StDev": 1.0,
         "Best": 1e3 * (2 * sum(LATENCIES_S[:hop])
                        + 8 * size * (1 + (hop == 3)) * sum(1 / rate for rate in RATES[:hop]))}
        for hop in (1, 2, 3)
    ]  # fmt: skip
    about = {"src": "pc", "dst": target, "tos": 0, "tests": 9, "psize": f"{size}"}
    return json.dumps({"report": {"mtr": about, "hubs": hubs}})


def test_mtr_says_its_size_and_its_target_answers_with_all_of_it(tmp_path):
    sweep = joined(tmp_path, [mtr_of(size) for size in (600, 1000, 1400)])
    finding = found(sweep)
    rates = rates_of(finding)
    assert list(rates) == ["link 2", "link 1"]
    assert rates["link 2"] == pytest.approx(1.544e6, rel=1e-3)
    assert "echo-of-target" in codes(finding)


def test_sizes_may_be_in_names_or_stated(tmp_path):
    """Windows says no size: the names do, or --by. By hand: 7, 10 and 13 ms, 800 B in 6 ms."""
    texts = {}
    for size in (600, 1000, 1400):
        times = [f"{1e3 * (0.002 + 8 * size / 1e6):.0f} ms"] * 3
        texts[f"size{size}"] = (
            "\r\nTracing route to 203.0.113.9 over a maximum of 30 hops\r\n\r\n"
            f"  1    {'    '.join(times)}  192.0.2.1\r\n  2    {'    '.join(times)}  192.0.2.2\r\n"
            f"  3    {'    '.join(times)}  203.0.113.9\r\n\r\nTrace complete.\r\n"
        )
    read = {f"{name}.txt": readers.read(text.encode()) for name, text in texts.items()}
    sweep = explain.sweep(read)
    assert sweep.said.values["origin"] == "from their names"
    unnamed = dict(zip("abc", read.values(), strict=True))
    assert explain.sweep(unnamed) is None
    stated = explain.sweep(unnamed, by="size=600B,1000B,1400B")
    assert np.unique(stated.samples.packet_bytes).tolist() == [600, 1000, 1400]
    assert rates_of(found(stated))["link 1"] == pytest.approx(8 * 800 / 6e-3)


def test_intervals_cover_the_rates():
    """200 paths with exponential waits: each link is missed in 10 of 100 at most, 5 are meant."""
    rng = np.random.default_rng(7)
    missed = np.zeros(3)
    for _ in range(200):
        sizes = np.repeat([600.0, 1000.0, 1400.0], 9)
        hop = np.tile(np.repeat([1, 2, 3], 3), 3)
        slopes = np.cumsum(8 / np.array(RATES))[hop - 1]
        rtt_s = 0.01 * hop + sizes * slopes + rng.exponential(100e-6, sizes.size)
        samples = HopSamples(hop=hop, packet_bytes=sizes, rtt_s=rtt_s, node=["192.0.2.1"] * 27)
        (finding,) = explain.measurement(samples)
        for limit in finding.limits:
            number = int(limit.values["link"][-1])
            is_in = limit.values["low_bps"] <= RATES[number - 1] <= limit.values["high_bps"]
            missed[number - 1] += not is_in
    assert (missed <= 20).all()


def test_a_live_run_that_was_saved_is_explained_too():
    sizes = np.tile([600.0, 1000.0, 1400.0], 2)
    hop = np.repeat([1, 2], 3)
    rtt_s = 0.01 * hop + 8 * sizes / 1e6 * hop + 1e-6 * np.array([0, 1, 0, 1, 0, 0])
    samples = HopSamples(hop=hop, packet_bytes=sizes, rtt_s=rtt_s, answer_bytes=[576.0] * 6,
                         node=["192.0.2.1"] * 3 + ["192.0.2.2"] * 3)  # fmt: skip
    (finding,) = explain.measurement(samples)
    assert rates_of(finding) == pytest.approx({"link 1": 1e6, "link 2": 1e6}, rel=1e-2)
    assert codes(finding) == []


def test_command_and_figure(tmp_path):
    paths = files_of(tmp_path, [run_of(size) for size in (600, 1000, 1400)])
    figure = tmp_path / "f.html"
    done = CliRunner().invoke(commands, ["explain", *map(str, paths), "--plot", str(figure)])
    assert done.exit_code == 0, done.output
    assert "Link 2 is the slowest of the path: 1.544 Mbit/s (line)" in done.output
    assert "link 3: 44.7" in done.output
    assert figure.stat().st_size > 10_000
    done = CliRunner().invoke(commands, ["explain", *map(str, paths), "--json"])
    first = json.loads(done.output.splitlines()[0])
    assert first["sweep"] == "size"
    assert first["findings"][0]["cause"] == "line"
