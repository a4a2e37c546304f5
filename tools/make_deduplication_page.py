"""Print docs/deduplication.md: how duplicates are found, and a test with planted duplicates.

    python -m tools.make_deduplication_page > docs/deduplication.md

The copies are those of tests/support/planted.py and planting.py; the test suite plants the same
kinds in small.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.support.planting import Outcome, kinds, outcome

ORIGINALS = 10

_TEXT = """\
# Duplicates: definition and detection

Made by `tools/make_deduplication_page.py`; the test suite plants smaller sets of the same kinds.

`keju build dedup-images` finds images that show the same page. `keju build dedup-texts` then keeps
one of the items that ask and answer the same. Nothing is dropped silently: the tables
`image-groups`, `duplicates` and `conflicts` (the same question about the same image, with another
answer) in `tables/` list what was found.

## Planted duplicates

{originals} items of each kind, each with one copy, on drawn pages that all have the same frame and
columns; both steps with their defaults. *Found* and *missed* count copies that are duplicates,
*falsely dropped* counts copies that are not. At least one item of every pair was kept.

| planted | a duplicate | planted | found | missed | falsely dropped |
|---|---|---|---|---|---|
{rows}

A change of one character in {short} does not make a near duplicate: it changes three shingles of
38, so that the Jaccard similarity falls to .85. From about 120 characters on, one changed character
leaves .95.

## Texts

1. **Canonical form.** The task's template is removed, a letter becomes the text of its option, and
   options are sorted. Texts are normalised (NFC), full-width forms become half-width, and white
   space and punctuation are removed (punctuation is kept if it is the answer). `--simplify` also
   folds variants and traditional characters.
2. **Candidates.** Shingles of three characters, MinHash of 128 permutations in 16 bands of 8, with
   numpy: all but 3 in 10^8 pairs with a Jaccard similarity of .95 share a band. In a bucket, 64
   members are compared with all later ones, so that no pair is lost if the first member is not a
   duplicate.
3. **Matches.** Two items match if their exact Jaccard similarity is at least .95 and they have one
   answer: equal, or, from 30 characters on, .95 alike by edit distance. A question with another
   answer is another item, however similar the texts are.
4. **The image.** A question with fewer than 30 characters of its own, or one that is asked about
   three images or more in its task, is a duplicate only if its image is the same.
5. **The paper's rule.** `--jaccard-alone` is the rule of MCS-Bench (B.4.2): the Jaccard similarity
   of question and answer decides alone, whatever the answer and the image. Items whose answer is a
   letter, a number or boxes still need the same answer and image: by the bare rule, T13, which has
   one question and one list of options, would have at most one item an answer, and the paper prints
   125 (our reading).
6. **Groups** are connected components. One item is kept: a reviewed one rather than a draft, then
   one whose own image represents the copies, then the one with the longest answer, then the first.
   The table names the item that connects each member with its group.

Measured by `benchmarks/deduplication.py` (137 characters on average, 5 % planted with 0 to 8
edits): {texts}.

## Images

1. **Candidates** within a task: pHash of 64 bits up to 16, of 256 bits up to 80, or dHash of 64
   bits up to 12. No single hash both matches a crop of 3 % and distinguishes pages of one layout.
   If `--clip` names weights, CLIP's cosine from .95 adds candidates.
2. **Matches.** The two images are aligned by an affine map (first by their columns and rows of
   ink, then by the enhanced correlation coefficient), and the strokes are compared tile by tile:
   nineteen of twenty tiles must agree by .9. Different pages of one layout reach at most .6.
3. Items keep their images; `metadata.image_cluster` names the image that represents them, and
   `dedup-texts` reads it.
4. **The representing image** is chosen from those with at least .8 of the largest one's pixels: a
   lossless one (PNG, TIFF, BMP) before a lossy one, then the one with most bytes, then the first.
   keju cannot detect a copy that was enlarged by more than that, or a PNG that was made from a
   JPEG: it treats them as the larger scan and as an original.
5. **Dropped items.** `--drop copies` drops an item of the same task about a copy (not about the
   very same file) if both are transcriptions or ask and answer the same; different questions about
   one image are kept. `--drop items` drops all but one item of a task about one image, whatever
   they ask. The item that is kept is chosen as under *Texts*.

Not found: images turned by more than a few degrees, mirrored, or cropped by more than a tenth;
copies of images below 150 pixels at half their size; blank pages, which have nothing to compare.
All pairs of hashes within a task are compared, so the time grows with the square of the number of
images. A page with one or two altered characters still counts as the same image; its item differs
by its answer.
"""

_MEASURED = """\
10^5 texts in 1.4 CPU s with 21 MB beyond the texts, 10^6 in 16 to 19
CPU s with 135 MB; recall 1, precision 1, and the groups are exactly those planted"""


def main() -> None:
    """Plant duplicates, run the steps and print the page."""
    rows = []
    for kind in kinds():
        with tempfile.TemporaryDirectory() as folder:
            rows.append(_row(outcome(kind, ORIGINALS, Path(folder))))
    page = _TEXT.format(originals=ORIGINALS, rows="\n".join(rows), short=40, texts=_MEASURED)
    sys.stdout.write(page)


def _row(found: Outcome) -> str:
    if found.lost:
        raise SystemExit(f"{found.kind.name}: of {found.lost} pairs nothing was left")
    cells = [found.kind.name, "yes" if found.kind.drop else "no", str(found.planted)]
    if found.kind.drop:
        cells += [str(found.single), str(found.planted - found.single), ""]
    else:
        cells += ["", "", str(found.single)]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
