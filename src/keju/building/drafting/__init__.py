"""Drafts: transcriptions by engines and proposals by models, for review by a person."""
