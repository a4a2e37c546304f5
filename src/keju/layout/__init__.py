"""Reading order of Chinese woodblock and manuscript pages, from the outlines of their lines.

The model of a page uses only geometry, neither text nor image.

1. A page is skewed by a few degrees at most. The skew is estimated and removed (`estimate_skew`).
2. Text is in columns from right to left; a column is read from top to bottom. The *column width* is
   the distance from one column to the next. All thresholds are shares of it or of a line's own
   size; none is in pixels.
3. A column contains lines one below the other: whole columns, pieces of broken ones, titles,
   authors. Lines side by side in a column are rows of a double-row note (雙行夾注), read right row
   first; then the column continues below. Half-width lines are notes if a line of full width is
   centred above or below two of them, or if widths fall into two classes.
4. Columns are found for the whole page at once: the cheapest vertical cuts that cross little
   writing and are one column width apart. A box that is drawn too wide, or is shifted, therefore
   gets its column from the others, and the gutter of a spread needs no rule: right leaf first.
5. A gap at one height does not divide a page: verse, tables of contents and two registers are read
   column by column.
6. Marginalia are outside the running text: what the source labels as head or foot margin, centre
   column (版心), page number, margin or seal; and where it has no labels, small writing above or
   below the columns, and a column at an edge (or in the middle of a spread) that is small, broken
   and off the grid. A seal is marginal only if its source labels it: boxes do not distinguish a
   legend from text.
7. Kinds that a source gives are used for marginalia, and where geometry is ambiguous; otherwise the
   position of a line has priority over its label. A line without an outline follows its predecessor
   in the source. No line is lost.
"""

from keju.layout.marginalia import MARGINAL_KINDS
from keju.layout.misplaced import Placed, bounds_of, find_misplaced, order_of_lines, order_of_text
from keju.layout.order import PageOrder, group_columns, order_lines, page_text
from keju.layout.patterns import ReadingPattern, find_reading_pattern
from keju.layout.skew import estimate_skew

__all__ = [
    "MARGINAL_KINDS",
    "PageOrder",
    "Placed",
    "ReadingPattern",
    "bounds_of",
    "estimate_skew",
    "find_misplaced",
    "find_reading_pattern",
    "group_columns",
    "order_lines",
    "order_of_lines",
    "order_of_text",
    "page_text",
]
