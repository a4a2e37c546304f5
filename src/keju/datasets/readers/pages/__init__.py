"""Readers of page images: with texts beside them, with PAGE-XML, ALTO or hOCR."""
