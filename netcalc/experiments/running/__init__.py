"""What every live run shares: limits, stopping, clocks, its record and its own error."""
