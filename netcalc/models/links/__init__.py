"""Links and channels: retransmission, shared media, and what a channel can carry."""

from netcalc.models.chapters import chapter

__getattr__, __dir__ = chapter(__name__)
