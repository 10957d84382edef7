"""The field for a second machine: what it takes, what it never shows, and runs of the panels."""

from __future__ import annotations

import base64
import gzip
import io
import json
import platform
import re
import socket
import zipfile

import ipywidgets.widgets.widget as widget_module
import numpy as np
import pytest
from panels_seen import button_of, column, played, said

from netcalc.experiments.peers.remote import PORT, FarPeer
from netcalc.lessons import (
    latency,
    line_rate,
    mbufs,
    probing,
    protocol_stack,
    small_writes,
    transfers,
)
from netcalc.lessons.site.cells import notes
from netcalc.plots.pictures import charts
from netcalc.widgets import run_button
from netcalc.widgets.controls import Quantity, choice
from netcalc.widgets.peer import PeerField
from tests.experiments.conftest import serving

TOKEN = "abcd-efgh-ijkm-npqr"


@pytest.fixture(autouse=True)
def no_tokens(monkeypatch):
    """Each test begins as a new kernel, which knows no token."""
    monkeypatch.setattr(PeerField, "_tokens", {})


def type_into(field, address, token=""):
    """Type as the page does: the address is a trait, the token a message."""
    field.inputs.address = address
    if token:
        field.inputs._handle_custom_msg({"token": token}, [])


def everything_saved(panel=None):
    """What a notebook, or its page, may keep: the state of all widgets, and a panel's outputs."""
    states = [widget.get_state() for widget in widget_module._instances.values()]
    outputs = panel.figure.saved.outputs() if panel is not None else {}
    return json.dumps([states, outputs], default=repr)


def saved_samples(button):
    """The text of the samples behind the link, of all runs."""
    data = base64.b64decode(re.search(r"base64,([^\"]+)", button.keep.link.value)[1])
    if button.keep.field.field.accept != ".zip":
        return gzip.decompress(data).decode()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return "".join(archive.read(name).decode() for name in archive.namelist())


def title(panel):
    return next(charts(panel.figure.plot.figure)).title.text.text


def test_without_an_address_a_run_is_of_this_machine():
    field, got = PeerField(directions=["forward", "back"]), []
    button = run_button("Ping", lambda **options: got.append(options), lambda _: None, peer=field)
    field.inputs.direction = "back"
    button.start()
    button._thread.join(10)
    assert [set(options) for options in got] == [{"progress", "stop"}]
    assert field.saved_text() == ""


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [
        ("192.0.2.7", "192.0.2.7", PORT),
        (" 192.0.2.7:4000 ", "192.0.2.7", 4000),
        ("2001:db8::7", "2001:db8::7", PORT),
        ("[2001:db8::7]", "2001:db8::7", PORT),
        ("[fe80::1%eth0]:4000", "fe80::1%eth0", 4000),
    ],
)
def test_an_address_with_or_without_a_port(address, host, port):
    field = PeerField(directions=["forward", "back"])
    type_into(field, address, TOKEN)
    field.inputs.direction = "back"
    assert field.message.value == ""
    assert field.options() == {
        "peer": FarPeer(host, token=TOKEN, port=port), "direction": "back"
    }  # fmt: skip
    assert field.peer().token == TOKEN


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("example.com", "target-not-an-address"),
        ("192.0.2.7:99999", "whole-out-of-range"),
        ("0.0.0.0", "target-is-broadcast"),
        ("<b>x</b>", "target-not-an-address"),
    ],
)
def test_another_address_is_refused_below_the_field_and_by_the_run(address, code):
    field = PeerField()
    button = run_button("Ping", lambda **_: pytest.fail("it ran"), lambda _: None, peer=field)
    type_into(field, address)
    assert field.message.is_alert
    assert "<b>" not in field.message.value
    button.start()
    button._thread.join(10)
    assert button.message.is_alert
    assert button.progress.bar_style == "danger"
    with pytest.raises(Exception, match=r".") as caught:
        field.peer()
    assert caught.value.code == code


def test_what_is_no_token_is_refused_without_showing_it():
    field = PeerField()
    button = run_button("Ping", lambda **_: pytest.fail("it ran"), lambda _: None, peer=field)
    type_into(field, "192.0.2.7")
    assert field.message.value == "", "the token is typed next"
    type_into(field, "192.0.2.7", "secret-of-mine")
    assert field.message.is_alert
    button.start()
    button._thread.join(10)
    assert button.message.is_alert
    assert "secret-of-mine" not in everything_saved()
    with pytest.raises(Exception, match=r".") as caught:
        field.peer()
    assert "secret-of-mine" not in repr(caught.value.as_dict())


def test_a_token_is_typed_once_for_an_address_and_is_in_nothing_that_is_saved():
    first, second = PeerField(), PeerField()
    type_into(first, "192.0.2.7", TOKEN)
    assert first.inputs.has_token
    type_into(second, "192.0.2.8")
    assert not second.inputs.has_token
    type_into(second, "192.0.2.7")
    assert second.inputs.has_token
    assert second.peer().token == TOKEN
    assert TOKEN not in everything_saved()
    assert TOKEN not in repr(vars(second.inputs)) + repr(second.peer())
    assert second.saved_text() == "second machine: 192.0.2.7"


def test_a_token_may_be_typed_before_its_address():
    field = PeerField()
    type_into(field, "", TOKEN)
    type_into(field, "192.0.2.7")
    assert field.peer().token == TOKEN
    type_into(field, "192.0.2.8")
    assert not field.inputs.has_token, "it is that of the first machine"


def test_controls_that_do_not_go_with_a_peer_are_off_as_long_as_there_is_one():
    wait = Quantity("one-way latency", "1 ms", "0 s", "50 ms", unit="s", scale="linear")
    family = choice("family", ["IPv4", "IPv6"], "IPv4")
    field = PeerField(without=[wait, family])
    inputs = [wait.slider, wait.box, family]
    assert [one.disabled for one in inputs] == [False] * 3
    type_into(field, "192.0.2.7", TOKEN)
    assert [one.disabled for one in inputs] == [True] * 3
    assert "Not with a second machine: one-way latency, family." in field.message.value
    type_into(field, "")
    assert [one.disabled for one in inputs] == [False] * 3
    assert field.message.value == ""


def test_the_button_says_where_the_run_goes():
    field = PeerField()
    button = run_button("Ping this machine", lambda **_: None, lambda _: None, peer=field)
    type_into(field, "192.0.2.7")
    assert button.start_button.description == "Run with 192.0.2.7"
    type_into(field, "")
    assert button.start_button.description == "Ping this machine"


def test_a_static_page_has_a_command_and_no_field():
    panel = latency.echo_panel()
    assert notes(panel) == [
        {"kind": "run", "label": "Run an echo over this path", "command": "netcalc run echo"}
    ]


WRITES = (64, 1440)
PANELS = {
    "echo": (latency.echo_panel, "points", 15),  # the sizes of the book
    "own file": (lambda: latency.round_trip_panel(sizes=[100, 1000]), "points", 2),
    "one message": (latency.one_message_panel, latency.MESSAGE, len(latency.SIZES)),
    "transactions": (protocol_stack.live_panel, "TCP", len(protocol_stack.SHORT_SIZES)),
    "small writes": (small_writes.live_panel, "yours: one write", 10),
    "requests": (small_writes.http_panel, small_writes.LONG, small_writes.REQUESTS.size),
    "source and sink": (transfers.source_sink_panel, "TCP, received", len(WRITES)),
    "processor": (transfers.processor_panel, "yours, TCP", len(WRITES)),
    "three ways": (line_rate.three_ways_panel, line_rate.WAYS["peer"], 7),  # of RFC 2544
    "lockstep": (line_rate.lockstep_panel, "peer, measured", len(line_rate.PAIRS)),
    "trains": (probing.trains_panel, "no cross traffic between", 40),
    "thresholds": (
        mbufs.thresholds_panel,
        "here, smallest of each size",
        mbufs.THRESHOLD_SIZES.size,
    ),
    "your router": (line_rate.your_router_panel, "forward of both, points", 6),
}
"""Panels, and how many points of which name a whole run with a peer has."""


@pytest.fixture
def brief(monkeypatch):
    """Runs with fewer writes and shorter blasts than those of the lessons."""
    monkeypatch.setattr(transfers, "FAR_WRITES", 20)
    monkeypatch.setattr(transfers, "LIVE_SIZES", WRITES)
    monkeypatch.setattr(line_rate, "BLAST_S", 0.01)
    monkeypatch.setattr(line_rate, "BLAST_RUNS", 1)
    monkeypatch.setattr(line_rate, "ROUTER_S", 0.1)


def drawn(panel, series, name="x"):
    """Return a column of a series, and of the points that are not in its fit."""
    columns = [column(panel, series, name)]
    if series.endswith("points"):
        columns.append(column(panel, series.removesuffix("points") + "outliers", name))
    return np.concatenate(columns)


@pytest.mark.live
@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("name", PANELS)
def test_a_panel_runs_with_a_peer(name):
    make, series, count = PANELS[name]
    panel = make()
    button = button_of(panel)
    with serving(carried_bytes=10**11) as served:
        address = f"127.0.0.1:{served.peer.port}"
        type_into(button.peer, address, served.service.token)
        played(panel)
    assert "done" in button.message.value
    assert f"With a second machine: Linux {platform.release()}" in button.about.value
    assert drawn(panel, series).size == count
    assert np.isfinite(drawn(panel, series, "measured" if series.endswith("points") else "y")).all()
    assert said(panel)
    token = served.service.token
    assert token not in everything_saved(panel)
    assert token not in saved_samples(button)
    assert f"second machine: {address}" in everything_saved(panel)


@pytest.mark.live
@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize(
    ("name", "direction", "count"),
    [
        ("small writes", "back", 10),
        ("source and sink", "back", len(WRITES)),
        ("source and sink", "both", 2 * len(WRITES)),
        ("three ways", "back", 7),
        ("lockstep", "back", len(line_rate.PAIRS)),
        ("trains", "back", 40),
    ],
)
def test_a_panel_runs_from_a_peer(name, direction, count):
    make, series, _ = PANELS[name]
    panel = make()
    button = button_of(panel)
    with serving() as served:
        type_into(button.peer, f"127.0.0.1:{served.peer.port}", served.service.token)
        button.peer.inputs.direction = direction
        played(panel)
    assert "done" in button.message.value
    assert drawn(panel, series).size == count
    assert direction in saved_samples(button)


@pytest.mark.live
def test_nobody_there_is_said_by_the_button_and_the_next_run_is_of_this_machine():
    panel = latency.round_trip_panel(sizes=[100])
    button = button_of(panel)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    type_into(button.peer, f"127.0.0.1:{port}", TOKEN)
    played(panel)
    assert button.message.is_alert
    assert TOKEN not in everything_saved(panel)
    type_into(button.peer, "")
    played(panel)
    assert "done" in button.message.value
    assert "second machine" not in button.about.value


@pytest.mark.live
def test_an_echo_with_a_peer_is_shown_as_long_as_its_address_is_there():
    panel = latency.echo_panel(latency.LOOPBACK)
    button = button_of(panel)
    with serving() as served:
        type_into(button.peer, f"127.0.0.1:{served.peer.port}", served.service.token)
        assert column(panel, "points", "x").size == 0
        played(panel)
    assert "to a second machine" in title(panel)
    assert drawn(panel, "points").size == 15
    panel.controls["protocol"].value = "tcp"
    assert column(panel, "points", "x").size == 0
    panel.controls["protocol"].value = "udp"
    assert drawn(panel, "points").size == 15
    type_into(button.peer, "")
    assert column(panel, "points", "x").size == 0
    assert "loopback of this machine" in title(panel)
