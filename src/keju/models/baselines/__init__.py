"""Baselines: simple rules that answer without a model, as the floor under every score.

One module per baseline. Their model strings are in kinds.toml; common code is in `base` (immediate
answers) and `pairs` (comparison of two images).
"""
