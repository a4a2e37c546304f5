"""Build benchmarks: from scans and texts to a released, reviewed dataset."""
