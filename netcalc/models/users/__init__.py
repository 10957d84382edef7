"""Users: how many are active at once, what they need as they grow, and links that fail."""

from netcalc.models import chapter

__getattr__, __dir__ = chapter(__name__)  # a subject is loaded when it is first used (PEP 562)
