"""Baselines: rules that answer without a model, and models that do not get an item's images.

They are the floor under every score; kinds.toml has their model strings.
"""
