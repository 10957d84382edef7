"""Delays: latency, store-and-forward, exchanges, asymmetric paths."""

from netcalc.models.chapters import chapter

__getattr__, __dir__ = chapter(__name__)
