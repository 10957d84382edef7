"""Media: Wi-Fi, cable and fibre with requests and grants, serial lines."""

from netcalc.models.chapters import chapter

__getattr__, __dir__ = chapter(__name__)
