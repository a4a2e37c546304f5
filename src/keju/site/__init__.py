"""Leaderboard sites: static pages from bundles, with the evidence of every number."""

from keju.site.model_facts import ModelFacts, read_model_facts
from keju.site.writing import WrittenSite, find_bundles, write_site

__all__ = ["ModelFacts", "WrittenSite", "find_bundles", "read_model_facts", "write_site"]
