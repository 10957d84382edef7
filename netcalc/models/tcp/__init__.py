"""TCP: windows, handshakes, slow start, timers, loss, congestion control, sharing."""

from netcalc.models.chapters import chapter

__getattr__, __dir__ = chapter(__name__)
