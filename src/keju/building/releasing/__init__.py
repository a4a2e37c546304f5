"""The end of a build: split, look for leaks, and release with metadata, hashes and a datasheet."""

RELEASE = "release"
"""The folder of a release beside its step's items, and what BUILD calls it."""
