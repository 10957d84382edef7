"""Delays: latency, store-and-forward, exchanges, asymmetric paths."""

from netcalc.models import chapter

__getattr__, __dir__ = chapter(__name__)  # a subject is loaded when it is first used (PEP 562)
