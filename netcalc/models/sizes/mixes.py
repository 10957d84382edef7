"""Mixes of packet sizes that tests and plans assume for the traffic of many users."""

from __future__ import annotations

SIMPLE_IMIX_BYTES = (40.0, 576.0, 1500.0)
"""Sizes of the simple IMIX: IP packets, on Ethernet frames of 64, 594 and 1518 bytes. [byte]

A bare acknowledgement, the datagram that every host takes (RFC 791) and a full Ethernet frame; of
the "IMIX" of test equipment and of ``imix_weights`` of pktgen in Linux. FD.io CSIT has frames of
570 bytes in place of 594.
"""

SIMPLE_IMIX_WEIGHTS = (7.0, 4.0, 1.0)
"""Packets of each of these sizes. [1]"""
