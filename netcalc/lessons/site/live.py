"""What a page says where a lesson measures: a page cannot, and the command that can."""

from __future__ import annotations

from threading import Event

from netcalc.widgets.panel import Panel
from netcalc.widgets.run import RunButton
from netcalc.widgets.upload import Upload


def notes(panel: Panel) -> list[dict[str, str]]:
    """Return what stands below a panel's figure instead of its run buttons and file fields."""
    found = []
    for part in panel.below:
        if isinstance(part, RunButton):
            found.append({"kind": "run", "label": part.label, "command": command(part.tool)})
        elif isinstance(part, Upload):
            found.append(
                {"kind": "file", "label": part.field.label, "command": "netcalc read FILE"}
            )
    return found


def command(tool: str) -> str:
    """Return the command for an experiment whose samples name a tool.

    Examples
    --------
    >>> command("netcalc echo")
    'netcalc run echo'
    """
    if tool == "netcalc congestion":
        return "netcalc congestion two-flows --live"
    name = tool.removeprefix("netcalc ")
    return f"netcalc run {name}" if name else "netcalc lab"


def run_now(panel: Panel) -> None:
    """Run the experiments of a panel, and show their results in its figure."""
    for part in panel.below:
        if isinstance(part, RunButton):
            part.run_here(Event())
