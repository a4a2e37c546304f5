"""Readers of pages: images with text files, PAGE-XML, ALTO or hOCR."""
