"""Rates of links, forwarding devices and voice trunks."""

from netcalc.models.chapters import chapter

__getattr__, __dir__ = chapter(__name__)
