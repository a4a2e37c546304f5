"""Standardisation: images as JPEG within a pixel budget, texts with uniform marks and script."""
