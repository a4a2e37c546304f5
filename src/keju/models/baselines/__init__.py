"""The floor under every score: models that look at nothing, or at little, and say how.

One module a baseline. Their spellings are in kinds.toml; what they share is in `base` (answering
at once) and `pairs` (two pictures compared).
"""
