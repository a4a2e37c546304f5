"""Readers of page images: with texts beside them, with PAGE XML, with ALTO."""
