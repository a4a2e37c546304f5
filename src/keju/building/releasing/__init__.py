"""The end of a build: split, check for leaks, and release with metadata, hashes and a datasheet."""

RELEASE = "release"
"""The directory of a release beside its step's items, and its name in BUILD."""
