"""Queues: M/M/1 to M/G/1, Erlang, finite queues, token buckets."""

from netcalc.models import chapter

__getattr__, __dir__ = chapter(__name__)  # a subject is loaded when it is first used (PEP 562)
