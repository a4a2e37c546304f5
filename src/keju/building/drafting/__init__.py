"""Drafts: what engines read and models propose, to be accepted, mended or refused by a person."""
