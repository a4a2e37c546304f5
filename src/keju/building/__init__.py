"""Making the next benchmark: from scans and texts to a released, reviewed dataset."""
