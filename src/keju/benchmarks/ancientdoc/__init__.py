"""AncientDoc (page OCR, translation, three kinds of questions)."""

PROVIDES: dict[str, dict[str, str]] = {}
"""What is declared here, by entry-point group and name, as ``module:ATTRIBUTE``."""
