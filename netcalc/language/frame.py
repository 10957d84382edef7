"""The words around a lesson that Voila shows, in the reader's language."""

from __future__ import annotations

from netcalc import language
from netcalc.language import phrase


def words() -> dict[str, str]:
    """Return the words of the frame by their name, and the code of their language.

    ``{cell}`` and ``{cells}`` in ``part`` are for the page, which counts as cells run.
    """
    return {
        "lang": language.current().replace("_", "-"),
        "skip": phrase("Skip to the lesson"),
        "all": phrase("All lessons"),
        "lessons": phrase("Lessons"),
        "ways": phrase("Previous and next lesson"),
        "previous": phrase("Previous:"),
        "next": phrase("Next:"),
        "starts": phrase("The lesson is being made: its kernel starts."),
        "part": phrase("The lesson is being made: part {cell} of {cells}."),
        "progress": phrase("Cells that have run"),
        "late": phrase(
            "The kernel has not started for half a minute. Load the page again; if that does not "
            "help, stop netcalc lab and start it again."
        ),
        "again": phrase("This page had ended. It is being made again."),
        "title": phrase("netcalc lessons"),
        "above": phrase("The folder above"),
        "others": phrase("Other notebooks"),
        "folders": phrase("Folders"),
    }
