"""Queues: M/M/1 to M/G/1, Erlang, finite queues, token buckets."""

from netcalc.models.chapters import chapter

__getattr__, __dir__ = chapter(__name__)
