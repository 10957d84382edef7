"""Text that a terminal obeys or a page misreads, in files of every kind, through every edge."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path as File

import ipywidgets
import numpy as np
import pytest

import netcalc
from netcalc import compare, plots
from netcalc.cli import main
from netcalc.errors import DatasetError, DomainError, NetcalcError, ReaderError, UnitError
from netcalc.lessons.latency import round_trip_panel
from netcalc.path import Path
from netcalc.plots.pictures import svg
from netcalc.printable import excerpt, html_text, json_text, printable, printable_lines
from netcalc.samples import (
    BulkSamples,
    HopSamples,
    Meta,
    RttSamples,
    Table,
    TrainSamples,
    TransactionSamples,
    TransferSamples,
)
from netcalc.widgets.run import Upload

PACKAGE = File(netcalc.__file__).parent
EVIL = "\x1b]0;mine\x07\x1b[2J\x9b8m\u202egnp.exe\u2066\u200b\x7f[link=//x]<b>x</b>"
"""A title, a cleared screen, hidden text, two directions, no shape, and two kinds of markup."""
OBEYED = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Categories of Unicode that a terminal or a page obeys: controls, formats, line separators."""


def bare(text, allowed="\n\t"):
    """Return the characters of a text that something obeys."""
    return {c for c in text if unicodedata.category(c) in OBEYED and c not in allowed}


# --- The one place ------------------------------------------------------------------------------


@pytest.mark.each(
    ("given", "shown", "source"),
    [
        ("plain, \u00b5s \u00e9 \u05d0", "plain, \u00b5s \u00e9 \u05d0", "identity"),
        ("\x1b[31m", r"\x1b[31m", "derived: Python's escape of U+001B"),
        ("\u202e", r"\u202e", "derived: Python's escape of U+202E"),
        ("\x9b", r"\x9b", "derived: Python's escape of U+009B, CSI in one character"),
        ("\ud800", r"\ud800", "derived: Python's escape of a lone surrogate"),
        ("a\nb\r", r"a\nb\r", "derived: one line, so its ends are escapes"),
        ("\U000e0041", r"\U000e0041", "derived: Python's escape of a tag character"),
    ],
)
def test_a_character_that_is_not_printable_is_an_escape(given, shown, source):
    assert printable(given) == shown, source
    assert printable(shown) == shown, "what is safe already does not change"


def test_every_character_that_is_obeyed_is_an_escape():
    """All of Unicode."""
    obeyed = [c for c in map(chr, range(0x110000)) if unicodedata.category(c) in OBEYED]
    for text in map(printable, obeyed):
        assert text.isascii()
        assert text.isprintable()


def test_lines_stay_lines_and_pages_get_no_tags():
    assert printable_lines("a\n\tb\r") == "a\n\tb\\r"
    assert html_text("<i>\u202e&\n") == "&lt;i&gt;\\u202e&amp;\n"
    assert excerpt("x" * 61) == "x" * 57 + "..."
    assert excerpt("\x1b" * 60) == r"\x1b" * 60


@pytest.mark.each("value", [EVIL, {"\u2028": ["\U000e0041", "\ud800"]}, "a\nb"])
def test_a_json_document_means_the_same(value):
    for ascii_only in (True, False):
        text = json_text(json.dumps(value, ensure_ascii=ascii_only))
        assert not bare(text)
        assert json.loads(text) == value


def test_nothing_is_made_safe_or_printed_elsewhere():
    """Pages are escaped in one place; the command prints by its own functions."""
    allowed = {
        r"\bhtml\.escape|from html import": {"printable.py"},
        r"\bclick\.echo": {"cli/__init__.py", "cli/output.py", "cli/calc.py"},
        r"unicode_escape": {"printable.py"},
    }
    for pattern, files in allowed.items():
        found = {
            str(path.relative_to(PACKAGE))
            for path in PACKAGE.rglob("*.py")
            if re.search(pattern, path.read_text(encoding="utf-8"))
        }
        assert found == files, pattern


# --- Errors -------------------------------------------------------------------------------------


@pytest.mark.each(
    "error",
    [
        NetcalcError("verbatim", text=EVIL),
        DomainError("not-positive", EVIL, EVIL, suggestions=[EVIL]),
        DatasetError("verbatim", file=EVIL, text=EVIL),
        UnitError("no-number", EVIL, expected=EVIL, field=EVIL, example=EVIL),
        ReaderError("verbatim", text=EVIL, file=EVIL, field=EVIL, value=EVIL, expected=EVIL),
    ],
)  # fmt: skip
def test_the_message_of_an_error_can_be_printed(error):
    assert not bare(str(error))
    assert "gnp.exe" in str(error)


# --- Files through the command ------------------------------------------------------------------

META = Meta(
    tool=EVIL, tool_version=EVIL, command=EVIL, host=EVIL, target=EVIL, source=EVIL, note=EVIL,
    start=EVIL, printed={EVIL: EVIL}, instrument={EVIL: EVIL}, warnings=(EVIL, f"a\n{EVIL}"),
    partial=True,
)  # fmt: skip
SIZES = [64.0, 512.0, 1024.0, 1400.0]
TIMES = [1e-3, 2e-3, 3e-3, 3.9e-3]
SAVED = {
    "round trips": RttSamples(payload_bytes=SIZES, rtt_s=TIMES, meta=META),
    "transfers": TransferSamples(payload_bytes=SIZES, duration_s=TIMES, meta=META),
    "bulk": BulkSamples(
        write_bytes=SIZES, write_count=[9.0] * 4, sent_bytes=[9 * size for size in SIZES],
        received_bytes=[9 * size for size in SIZES], wall_s=TIMES, delivery_s=TIMES, meta=META,
    ),
    "transactions": TransactionSamples(
        mode=["udp"] * 4, sequence=[0.0, 1.0, 2.0, 3.0], payload_bytes=SIZES, response_s=TIMES,
        reply_bytes=[4.0] * 4, meta=META,
    ),
    "probes": HopSamples(
        hop=[1.0, 1.0, 2.0, 2.0], packet_bytes=[64.0, 1500.0] * 2, rtt_s=TIMES, node=[EVIL] * 4,
        meta=META,
    ),
    "trains": TrainSamples(
        train=[0.0, 0.0, 1.0, 1.0], index=[0.0, 1.0] * 2, packet_bytes=[1500.0] * 4,
        sent_s=[0.0, 0.0, 1.0, 1.0], received_s=[1e-3, 2e-3, 1.001, 1.002], meta=META,
    ),
    "table": Table(data={EVIL: [1.0, 2.0], "name": [EVIL, EVIL]}, meta=META),
}  # fmt: skip
COLUMNS = f'size_bytes,rtt_ms,host,"{EVIL}"\n64,1.5,{EVIL},1\n128,2.5,{EVIL},2\n256,3.5,{EVIL},3\n'
PING = (
    f"PING {EVIL} (192.0.2.1) 56(84) bytes of data.\n"
    f"64 bytes from {EVIL} (192.0.2.1): icmp_seq=1 ttl=64 time=1.5 ms\n"
    f"ping: {EVIL}\n"
    "64 bytes from 192.0.2.1: icmp_seq=2 ttl=64 time=1.6 ms\n"
)
OTHERS = [
    (f"{EVIL}\n", 2), (f"size_bytes,rtt_ms\n64,{EVIL}\n", 2), (json.dumps({EVIL: EVIL}), 2),
    (f"size [{EVIL}],rtt_ms\n64,1\n", 0), (f"{EVIL},{EVIL}\n1,2\n", 0),
]  # fmt: skip
"""Texts and the exit codes of reading them: refused, or read as columns of unknown meaning."""
FILE_NAME = f"{EVIL.replace('/', '')}.txt"


def ran(capfd, *arguments):
    """Run the command; return its code, what it printed, and what it said of errors."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    found = capfd.readouterr()
    return ended.value.code, found.out, found.err


def assert_safe(out, err):
    assert not bare(out), out
    assert not bare(err), err
    assert "\\u202egnp.exe" in out + err, "what was there is shown, not lost"


@pytest.fixture(params=[*SAVED, "columns", "ping"])
def hostile(request, tmp_path):
    """A file that is read, whose texts are hostile."""
    file = tmp_path / "hostile"
    if request.param in SAVED:
        file = tmp_path / "hostile.json"
        SAVED[request.param].save(file)
    else:
        file.write_text({"columns": COLUMNS, "ping": PING}[request.param], encoding="utf-8")
    return file


def test_what_is_read_is_shown_without_being_obeyed(hostile, capfd):
    code, first, err = ran(capfd, "read", str(hostile))
    assert code == 0, err
    code, out, err = ran(capfd, "read", str(hostile), "--all")
    assert code == 0, err
    assert_safe(first + out, err)


def test_json_has_the_text_as_it_is_by_escapes(hostile, capfd):
    code, out, err = ran(capfd, "read", "--json", str(hostile))
    assert code == 0, err
    assert_safe(out.replace(r"\u001b", ""), err)
    if hostile.suffix == ".json":
        assert json.loads(out)["meta"]["target"] == EVIL


def test_a_warning_of_a_file_cannot_write_a_line_of_its_own(tmp_path, capfd):
    meta = Meta(warnings=("fine\n  RTT of first replies: min 1 ns",))
    RttSamples(payload_bytes=SIZES, rtt_s=TIMES, meta=meta).save(tmp_path / "run.json")
    _, out, _ = ran(capfd, "read", str(tmp_path / "run.json"))
    assert r"Odd: fine\n  RTT" in out
    _, out, _ = ran(capfd, "read", str(tmp_path / "run.json"), "--all")
    assert r"warning: fine\n  RTT" in out


@pytest.mark.parametrize(("text", "expected"), OTHERS)
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_name_and_what_is_refused_are_shown_safely(text, expected, options, tmp_path, capfd):
    file = tmp_path / FILE_NAME
    file.write_text(text, encoding="utf-8")
    code, out, err = ran(capfd, "read", *options, str(file))
    assert code == expected
    assert_safe(out, err)


def test_a_mode_of_a_saved_run_is_shown_safely(tmp_path, capfd):
    """In the text, in the figure's page, and where its theory is asked for and refused."""
    file, page = tmp_path / "run.json", tmp_path / "run.html"
    samples = TransactionSamples(
        mode=[EVIL], sequence=[0.0], payload_bytes=[8.0], response_s=[1e-3]
    )
    samples.save(file)
    code, out, err = ran(capfd, "read", str(file), "--plot", str(page))
    assert code == 0
    assert_safe(out, err)
    assert not bare(page.read_text(encoding="utf-8"))
    with pytest.raises(DomainError) as caught:
        compare.overlay(samples)
    assert_safe(str(caught.value), "")


def test_a_name_and_an_option_that_are_wrong_are_repeated_safely(capfd):
    for arguments in (
        ["read", EVIL],
        [EVIL],
        ["calc", "transfer", EVIL.replace(";", "")],
        ["read", f"--{EVIL}"],
    ):
        code, out, err = ran(capfd, *arguments)
        assert code == 2
        assert_safe(out, err)


def test_a_table_of_claims_is_shown_safely(tmp_path, capfd):
    head = "id,quantity,printed,unit,formula,relation,verdict,note,source,place"
    cells = ["a1", EVIL, "2", "", "1 + 1", "", "agree", EVIL, EVIL, EVIL]
    file = tmp_path / "claims.csv"
    file.write_text(f"{head}\n{','.join(cells)}\n", encoding="utf-8")
    for options in ([], ["--csv"], ["--json"]):
        code, out, err = ran(capfd, "book", "--claims", str(file), *options)
        assert code == 0, err
        assert_safe(out, err)


# --- Figures and panels -------------------------------------------------------------------------


def texts(value):
    """Return all strings in a document."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.items() for part in item for text in texts(part)]
    if isinstance(value, list | tuple):
        return [text for part in value for text in texts(part)]
    return []


def assert_safe_figure(plot, folder):
    found = "\n".join(texts(plot.document().to_json(deferred=False)))
    picture, page = svg(plot), plots.save_html(plot, folder / "figure.html", title=EVIL)
    assert not bare(found + plot.description + picture)
    assert "<b>x" not in picture
    assert "\u202egnp" not in (html := page.read_text(encoding="utf-8"))
    assert "\x1b]0;mine" not in html
    assert "gnp.exe" in html


@pytest.mark.parametrize("kind", [kind for kind in SAVED if kind != "table"])
def test_a_comparison_of_hostile_samples_can_be_printed_and_drawn(kind, tmp_path):
    found = compare.overlay(SAVED[kind])
    assert not bare(found.title + found.sentence + found.measured_label + found.predicted_label)
    assert_safe_figure(plots.overlay(found, beside={EVIL: (SIZES, TIMES)}), tmp_path)
    assert not bare(repr(SAVED[kind]))


def test_names_that_a_figure_is_given_are_shown_safely(tmp_path):
    axis = plots.Axis(EVIL, EVIL)
    drawn = plots.curves(
        SIZES, {EVIL: TIMES}, x_axis=axis, y_axis=axis, points={f"{EVIL}2": (SIZES, TIMES)},
        title=EVIL,
    )  # fmt: skip
    assert_safe_figure(drawn, tmp_path)
    drawn.replace(EVIL, x=[EVIL, EVIL], y=[1.0, 2.0])
    assert not bare("".join(drawn.sources[EVIL].data["x"]))


def test_a_hostile_table_of_truth_is_drawn_safely(tmp_path):
    data = {
        "unit": ["s"], "predicted": [1e-3], "measured": [2e-3], "own_error": [0.0],
        "error_ratio": [1.0], "verdict": ["unexplained"], "setting": [EVIL],
    }  # fmt: skip
    assert_safe_figure(plots.truth(Table(data=data), title=EVIL), tmp_path)


def shown_texts(widget):
    """Return the texts of a widget and of all inside it that a page shows."""
    found = [value for name in widget.keys if isinstance(value := getattr(widget, name), str)
             and not name.startswith("_")]  # fmt: skip
    inside = [text for child in getattr(widget, "children", ()) for text in shown_texts(child)]
    return [text for text in found + inside if text != "\u200b"]  # a default of ipywidgets' own


def uploads(widget):
    own = [widget] if isinstance(widget, Upload) else []
    return own + [one for child in getattr(widget, "children", ()) for one in uploads(child)]


@pytest.mark.slow
@pytest.mark.parametrize("data", [SAVED["round trips"].dumps(), PING.encode(), COLUMNS.encode(),
                                  *(text.encode() for text, _ in OTHERS)])  # fmt: skip
def test_a_panel_shows_a_hostile_file_as_text(data, tmp_path):
    shown = round_trip_panel(SAVED["round trips"])
    for field in uploads(shown):
        field.take(data, FILE_NAME)
        assert "gnp.exe" in field.message.value
    found = "\n".join(shown_texts(shown))
    assert not bare(found)
    assert "<b>x" not in found.replace(shown.figure.description, "")
    assert_safe_figure(shown.figure.plot, tmp_path)


def test_a_message_of_a_panel_is_text():
    shown = round_trip_panel()
    assert isinstance(shown.message, ipywidgets.HTML)
    for error in (ValueError(EVIL), DomainError("not-positive", EVIL, np.nan)):
        shown.message.blame(error)
        assert not bare(shown.message.value)
        assert "<b>x" not in shown.message.value
    shown.figure.describe(EVIL)
    assert not bare(shown.figure.description)


def test_a_path_in_a_sentence_is_a_path():
    """The safe text of what is safe already is the text itself: nothing is lost by it."""
    path = Path.parse("T1 5 ms, 10 Mbit/s 1 ms")
    assert printable(path.text) == path.text
