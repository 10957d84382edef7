"""Hosts: protocol stacks, mbufs, small writes and delayed acknowledgements."""

from netcalc.models.chapters import chapter

__getattr__, __dir__ = chapter(__name__)
