"""Deduplication: find duplicate texts and images in a dataset."""
