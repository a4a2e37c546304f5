"""The end of a build: split, look for leaks, and release with metadata, hashes and a datasheet."""
