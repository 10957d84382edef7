"""Measuring: probing, delay variation, robust statistics, clocks."""

from netcalc.models.chapters import chapter

__getattr__, __dir__ = chapter(__name__)
