"""Reading order of Chinese woodblock and manuscript pages, from the outlines of their lines.

The model of a page. Everything here is geometry; no text is read and no image is seen.

1. A page leans by a few degrees at most. The lean is estimated and taken out (`estimate_skew`).
2. Text stands in columns one *pitch* apart, from right to left; a column is read from top to
   bottom. All thresholds are shares of the pitch or of a line's own size, none is in pixels.
3. A column holds lines one below the other: whole columns, pieces of broken ones, titles, authors.
   Lines side by side in a column are rows of a double-row note (雙行夾注), read right row first;
   then the column goes on below. Half-width lines make notes if a line of full width stands
   centred above or below two of them, or if widths fall into two classes.
4. Columns are found for the whole page at once: the cheapest upright cuts that cross little
   writing and stand a pitch apart. So a box that is drawn too wide, or has slipped, finds its
   column by the others', and the gutter of a spread needs no rule: right leaf before left.
5. Columns may be divided across into registers, read one after the other. A gap at one height is
   no sign of that (verse and tables of contents have it, and are read column by column); columns
   that don't stand below each other are.
6. Beside the text stand asides: what the source names as head or foot margin, centre column (版心),
   page number, margin or seal; and where it names none, small writing above or below the columns,
   and a column at an edge (or in the middle of a spread) that is small, broken and off the grid.
   A seal is an aside only if its source says so: boxes don't tell a legend from text.
7. Kinds that a source gives are used for asides, and in doubt; where a line stands outranks what
   it is called. A line without an outline follows its predecessor in the source. No line is lost.
"""

from keju.layout.asides import ASIDE_KINDS
from keju.layout.misplaced import Placed, bounds_of, misplaced, order_read, order_said
from keju.layout.order import PageOrder, group_columns, order_lines, page_text
from keju.layout.patterns import ReadingPattern, reading_pattern
from keju.layout.skew import estimate_skew

__all__ = [
    "ASIDE_KINDS",
    "PageOrder",
    "Placed",
    "ReadingPattern",
    "bounds_of",
    "estimate_skew",
    "group_columns",
    "misplaced",
    "order_lines",
    "order_read",
    "order_said",
    "page_text",
    "reading_pattern",
]
