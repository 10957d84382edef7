"""The log of a class's server, in the teacher's terminal: what students send cannot flood it.

A record is one line, without the steps of a traceback. Of records from one place a minute has a
few, then the number of the others.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from typing import Any

from netcalc.printable import printable

MOST, WINDOW_S = 5, 60.0
"""Lines from one place in the program in this time. [1], [s]"""
_LETTERS = 400


class ShortLog(logging.StreamHandler[Any]):
    """Writes records to stderr, few and short.

    Attributes
    ----------
    later : callable or None
        Calls a function after a time [s], in the thread of the server; until it is there, all
        records are written.
    """

    later: Callable[[float, Callable[[], object]], object] | None = None

    def __init__(self) -> None:
        super().__init__()
        self._counts: dict[tuple[str, int], int] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, if its place has lines left."""
        place = (record.pathname, record.lineno)
        if self.later is not None:
            if place not in self._counts:
                self.later(WINDOW_S, lambda: self._end(place))
            self._counts[place] = self._counts.get(place, 0) + 1
        if self._counts.get(place, 0) <= MOST:
            super().emit(record)

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record: level, message, and what went wrong where."""
        text = record.getMessage().strip().partition("\n")[0]
        if record.exc_info and (error := record.exc_info[1]) is not None:
            last = traceback.extract_tb(error.__traceback__)[-1:]
            where = "".join(f" at {step.filename}:{step.lineno}" for step in last)
            text = f"{text}: {error!r}{where}"
        return f"{record.levelname}: {printable(text)[:_LETTERS]}"

    def _end(self, place: tuple[str, int]) -> None:
        more = self._counts.pop(place) - MOST
        if more > 0:
            self.stream.write(f"and {more} more of the last kind\n")
            self.flush()


def install(logger: logging.Logger) -> ShortLog:
    """Let the short log write errors of this logger and warnings of all others, and nothing else.

    Parameters
    ----------
    logger : logging.Logger
        Of the server, which says more than a teacher needs.
    """
    log = ShortLog()
    # Jupyter gives Tornado milliseconds for seconds, and sends its own pings.
    log.addFilter(lambda record: "websocket_ping_timeout" not in record.getMessage())
    logging.getLogger().handlers = [log]
    logger.handlers, logger.propagate = [], True
    logger.setLevel(logging.ERROR)
    return log
