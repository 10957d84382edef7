"""Sizes: headers, framing, fragmentation, encapsulation, cells and serial lines."""

from netcalc.models.chapters import chapter

__getattr__, __dir__ = chapter(__name__)
