"""Typesetting into the outlines of a real page: line boxes, typefaces, frames."""

from keju_synthetic.typesetting.line_boxes import LineBox, measure_box, separate_boxes
from keju_synthetic.typesetting.page_setting import (
    MARK,
    TypesetLayout,
    TypesetOptions,
    UnsetText,
    embolden_small_type,
    filter_settable,
    typeset_lines,
)
from keju_synthetic.typesetting.typefaces import Typeface, list_typefaces, load_typeface

__all__ = [
    "MARK",
    "LineBox",
    "Typeface",
    "TypesetLayout",
    "TypesetOptions",
    "UnsetText",
    "embolden_small_type",
    "filter_settable",
    "list_typefaces",
    "load_typeface",
    "measure_box",
    "separate_boxes",
    "typeset_lines",
]
