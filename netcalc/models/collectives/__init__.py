"""Collectives: all-reduce, all-gather, reduce-scatter and broadcast among ranks, and LogGP."""

from netcalc.models.chapters import chapter

__getattr__, __dir__ = chapter(__name__)
