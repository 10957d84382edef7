"""Users: how many are active at once, what they need as they grow, and links that fail."""

from netcalc.models.chapters import chapter

__getattr__, __dir__ = chapter(__name__)
