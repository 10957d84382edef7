"""The parts shared by all live runs: limits, stopping, clocks, record, measurement error."""
