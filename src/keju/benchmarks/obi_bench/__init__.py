"""OBI-Bench (oracle-bone recognition, rejoining, classification, retrieval, deciphering)."""

PROVIDES: dict[str, dict[str, str]] = {}
"""What is declared here, by entry-point group and name, as ``module:ATTRIBUTE``."""
