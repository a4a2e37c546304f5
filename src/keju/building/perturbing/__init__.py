"""Controls against memorization: pages altered so that they differ from their published text."""
