"""The figures of data sets that were read off the figures of a book."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from netcalc import datasets, plots
from netcalc.cli import commands, main
from netcalc.errors import DomainError
from netcalc.scenario import preset


@pytest.mark.each("name", plots.drawn_sets())
def test_a_set_is_drawn_with_its_readings_and_theory(name):
    plot = plots.readings(name)
    columns = datasets.load(name).columns()
    [height] = [n for n in ("goodput_bps", "window_packets", "p99_s") if n in columns]
    drawn = np.concatenate([
        source.data["y"] for key, source in plot.sources.items() if key in _groups(columns)
    ])  # fmt: skip
    if name == "two_flow_goodput":  # the times of Fig. 17 were not read
        columns = {key: values[columns["figure"] == "Fig. 15"] for key, values in columns.items()}
    known = columns[height][np.isfinite(columns[height])]
    assert sorted(drawn) == sorted(known)
    assert len(plot.sources) > len(_groups(columns) & set(plot.sources))  # and lines
    assert "within" in plot.description
    assert plot.figure is not None


@pytest.mark.each("name", ("large_request_goodput", "small_request_goodput"))
def test_goodputs_of_requests_are_within_whole_decades(name):
    plot = plots.readings(name)
    decades = np.log10([plot.figure.y_range.start, plot.figure.y_range.end])
    np.testing.assert_allclose(decades, np.round(decades))
    assert decades[1] - decades[0] >= 2, "identity: a log axis of two decades has ticks at each"
    heights = np.concatenate([source.data["y"] for source in plot.sources.values()])
    assert plot.figure.y_range.start < 0.9 * np.nanmin(heights), "a mark on the edge is cut"
    assert plot.figure.y_range.end > 1.1 * np.nanmax(heights)


def _groups(columns):
    return set(columns["algorithm" if "algorithm" in columns else "flow"].tolist())


def test_theory_of_the_percentiles():
    line = plots.readings("request_latency").sources["round trip and a full buffer"].data
    # derived: 40 ms and 1.2 ms for each packet of 1500 B at 10 Mbit/s
    np.testing.assert_allclose(line["y"], 0.040 + 0.0012 * np.asarray(line["x"]))


def test_windows_that_fill_the_path():
    sources = plots.readings("two_flow_windows").sources
    # derived: 10 Gbit/s times 10 ms are 12.5 MB
    for size, text in ((1500, "1500 B"), (9000, "9000 B")):
        fills = sources[f"fills 10 ms, packets of {text}"].data["y"]
        np.testing.assert_allclose(fills, 12.5e6 / size)


def test_the_plateau_is_shared_while_both_run():
    line = plots.readings("two_flow_goodput").sources["flow 1, ideal share"].data
    # derived: from 23.5 s for 20 s, half of 9.64 Gbit/s; each mean is that of the last half second
    x, both_run = line["x"], (line["x"] > 23.6) & (line["x"] < 43.6)
    np.testing.assert_allclose(line["y"], np.where(both_run, 4.82e9, 9.64e9))
    assert (both_run.sum(), x[0], x[-1]) == (40, 0.5, 60.0)


def test_the_errors_of_the_readings_are_drawn():
    # published in the sheet: 0.5 s and 50 Mbit/s in Fig. 15; 4400 at 43 s is the second of flow 1
    bar = plots.readings("two_flow_goodput").sources["flow 1, error"].data
    np.testing.assert_allclose(bar["x"][6:12], [43, 43, np.nan, 42.5, 43.5, np.nan])
    np.testing.assert_allclose(bar["y"][6:12] / 1e6, [4350, 4450, np.nan, 4400, 4400, np.nan])
    # 10 ms in Fig. 20: 150 ms at 16 packets is the first of blue
    bar = plots.readings("request_latency").sources["blue, error"].data
    np.testing.assert_allclose(bar["y"][:2], [0.14, 0.16])


def test_unlike_flows_of_figure_17_are_drawn_with_their_times_inferred():
    plot = plots.readings("two_flow_goodput", figure="Fig. 17")
    # published: B has 300 to 500 Mbit/s for ten seconds, then 8000, and A 1000
    assert sorted(plot.sources["B"].data["y"] / 1e6) == [300, 500, 8000]
    assert (plot.sources["A"].data["y"] / 1e6).tolist() == [1000]
    assert "two stages of 10 s each" in plot.description
    # identity: two flows of one algorithm, both with the goodput of Fig. 15's theory
    alike = plots.readings("two_flow_goodput", figure="Fig. 17", scenario=preset("two-flows-10g"))
    first = plots.readings("two_flow_goodput").sources["flow 2, theory (cubic)"].data["y"]
    np.testing.assert_array_equal(alike.sources["B, theory (cubic)"].data["y"], first)
    with pytest.raises(DomainError, match=r"Fig\. 15"):
        plots.readings("two_flow_goodput", figure="Fig. 18")
    with pytest.raises(DomainError):
        plots.readings("request_latency", scenario=preset("two-flows-10g"))


def test_data_plot_writes_a_page(tmp_path):
    out = tmp_path / "out.html"
    done = CliRunner().invoke(commands, ["data", "request_latency", "--plot", str(out)])
    assert done.exit_code == 0
    assert "read off the figure 20" in out.read_text(encoding="utf-8")
    assert "p99" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["mbufs", "--plot", "out.html"],
            "the data set mbufs has no figure; these have one: two_flow_goodput",
        ),
        (["--plot", "out.html"], "--plot requires the NAME of a data set"),
        (["request_latency", "--plot", "out.pdf"], "figures are written only as HTML, SVG or PNG"),
        (["request_latenc", "--plot", "out.html"], "no data set 'request_latenc'"),
    ],
)
def test_what_is_not_drawn_is_one_sentence(arguments, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["data", *arguments])
    assert ended.value.code == 2
    message = capsys.readouterr().err
    assert said in message
    assert message.count("\n") == 1
    assert not list(tmp_path.iterdir())
