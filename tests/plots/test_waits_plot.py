"""The figure of causes: what each moment was waited for, beneath the sequence numbers."""

from __future__ import annotations

import re
from pathlib import Path

import looking
import numpy as np
import pytest

from netcalc import datasets, explain, plots
from netcalc.errors import DomainError
from netcalc.explain import Intervals, flow_causes
from netcalc.plots.pictures import charts
from netcalc.readers import read

PUZZLES = Path(__file__).parents[2] / "data" / "puzzles"
OF_TCP = ("window", "slow_start", "stall", "acknowledgements")


def flow_of(name):
    return flow_causes(datasets.puzzle(name).load())[0]


@pytest.mark.each("name", OF_TCP)
def test_the_band_is_that_of_the_engine(name):
    """identity: of each cause the bars are as long as its share of the time, in its intervals."""
    flow = flow_of(name)
    bars = plots.waits(flow).sources["causes"].data
    zero = flow.dialogue.begin_s
    total_s = flow.cause.duration_s
    for code, share in flow.cause.shares.items():
        own = np.asarray(bars["cause"]) == explain.cause_name(code)
        if share < 0.005:
            assert not own.any()
            continue
        left, right = bars["left"][own], bars["right"][own]
        assert (right - left).sum() == pytest.approx(share * total_s, abs=0.002 * total_s)
        spans = flow.waits.of(code)
        assert left.min() == pytest.approx(spans.begin_s.min() - zero, abs=1e-2)
    assert bars["left"].min() >= flow.waits.begin_s.min() - zero - 1e-9
    assert bars["right"].max() <= flow.waits.end_s.max() - zero + 1e-9


def test_each_delayed_acknowledgement_is_a_bar():
    """published with the recording: twelve questions, delayed by 40 to 44 ms over 2 ms of path.

    Linux acknowledges the first segments of a connection at once, so that one is not delayed.
    """
    bars = plots.waits(datasets.puzzle("stall").load()).sources["causes"].data
    lengths_s = (bars["right"] - bars["left"])[np.asarray(bars["cause"]) == "delayed ACKs"]
    long_s = lengths_s[lengths_s > 0.03]
    assert long_s.size == 11
    assert ((long_s > 0.04) & (long_s < 0.048)).all()


def test_everything_is_drawn_and_named():
    plot = plots.waits(datasets.puzzle("window").load())
    sequence, band, trips = charts(plot.figure)
    assert set(looking.legend_of(sequence)) == {
        "segments", "sent again", "acknowledged", "arrived behind a hole (SACK)",
        "edge of the window",
    }  # fmt: skip
    assert set(looking.legend_of(trips)) == {"round trips", "without a queue"}
    ((names, rows),) = looking.hovers_of(band)
    assert names == ["waited for"]
    assert [what for what, *_ in rows] == [
        "cause", "evidence", "numbers", "from", "to", "share of the time",
    ]  # fmt: skip
    assert band.x_range is sequence.x_range is trips.x_range
    assert len({chart.min_border_left for chart in (sequence, band, trips)}) == 1
    for source in plot.sources.values():
        for column in source.data.values():
            if not isinstance(column, list):
                assert np.isfinite(column).all()
    data = plot.sources["causes"].data
    first = data["cause"].index("the receiver's window")
    assert data["evidence"][first] == "the window had no room for another full segment"
    # published with the recording: 39.55 kB in each 40 ms
    assert "39.55 kB" in data["numbers"][first]
    assert plot.figure.children[0].title.text.text == flow_of("window").cause.sentence


def test_the_window_edge_is_above_what_was_acknowledged_by_what_was_offered():
    """published with the recording: never more than 39,552 bytes."""
    sources = plots.waits(datasets.puzzle("window").load()).sources
    room = sources["window edge"].data["y"] - sources["acknowledged"].data["y"]
    assert room.max() == 39552


def test_sack_is_drawn_as_the_ranges_that_arrived_behind_a_hole():
    """recorded: losses at random. A range lies above what is acknowledged, of whole segments."""
    recorded = Path(__file__).parents[1] / "explain" / "causes" / "captures" / "loss3-A.pcap.gz"
    sources = plots.waits(read(recorded)).sources
    ranges, acked = sources["with SACK"].data, sources["acknowledged"].data
    assert ranges["x"].size > 20
    held = acked["y"][np.searchsorted(acked["x"], ranges["x"], side="right") - 1]
    assert (ranges["y"] > held).all()
    assert set((ranges["top"] - ranges["y"]) % 1448) == {0}


def test_each_segment_with_data_is_drawn():
    """derived: twelve questions of twelve bytes, each written in two parts."""
    plot = plots.waits(datasets.puzzle("stall").load())
    assert plot.sources["segments"].data["y"].size == 24
    assert plot.sources["segments"].data["y"].max() == 144
    assert "24 segments with data up to byte 144, 0 of them sent again." in plot.description


def test_the_band_can_be_left_out_and_parts_be_marked():
    part = plots.Mark("A", 0.5, 1.0)
    plot = plots.waits(datasets.puzzle("window").load(), shows_causes=False, marks=[part])
    assert "causes" not in plot.sources
    assert len(list(charts(plot.figure))) == 2
    assert "window limited" not in plot.description
    shown = plot.sources["marks"].data
    assert (shown["left"][0], shown["right"][0], shown["text"]) == (0.5, 1.0, ["A"])


def test_many_intervals_are_the_times_of_parts():
    """by hand: 4,000 times 1 ms of a window, each followed by 3 ms of something else."""
    begin_s = np.arange(4000) * 0.004
    own = Intervals(begin_s, begin_s + 0.001, np.zeros(4000, np.int64))
    assert own.spent_s(np.array([0.0, 8.0, 16.0])) == pytest.approx([2.0, 2.0])
    assert own.joined(apart_s=0.005).end_s.tolist() == pytest.approx([15.997])
    assert own.longest("handshake-loss", apart_s=0.005) == pytest.approx((0.0, 15.997))


@pytest.mark.each("theme", ["light", "dark"])
def test_a_capture_is_explained_above_its_limits(theme, tmp_path):
    trace = datasets.puzzle("acknowledgements").load()
    findings = explain.measurement(trace)
    plot = plots.explained(trace, findings, theme=theme)
    assert any(name.startswith("limits, ") for name in plot.sources)
    assert "causes" in plot.sources
    assert plot.description.count(findings[0].sentence) == 1
    assert next(charts(plot.figure)).title.text.text == findings[0].sentence
    assert plots.save_html(plot, tmp_path / "x.html").stat().st_size < 2_000_000
    picture = plots.svg(plot)
    assert "95% the reverse direction" in picture
    bold = re.findall(r'font-weight="bold">([^<]*)', picture)
    assert " ".join(bold).startswith(findings[0].sentence)
    assert max(map(len, bold)) < 90, "a long title is several lines"


def test_other_files_have_their_limits():
    samples = read(PUZZLES / "line.json")
    findings = explain.measurement(samples, explain.Known(line_bps=2e7))
    assert set(plots.explained(samples, findings).sources) == set(plots.limits(findings).sources)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(DomainError) as refused:
        plots.waits(read(PUZZLES / "fragments.pcap.gz").rows(slice(0, 1)))
    assert refused.value.code == "no-flow-to-draw"
    trace = datasets.puzzle("window").load()
    port = flow_of("window").ports[0]
    with pytest.raises(DomainError) as refused:
        plots.waits(trace.rows(trace.ints("source_port") == port))
    assert refused.value.code == "one-direction-to-draw"
