"""From boxes to columns to reading order; pure functions on geometry."""
