"""Print docs/deduplication.md: what becomes of planted duplicates, and how they are found.

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
# Duplicates: what is one, and what is found

Made by `tools/make_deduplication_page.py`; the test suite plants the same kinds in small.

`keju build dedup-images` says which pictures are one, `keju build dedup-texts` then keeps one of
the items that ask and answer the same. Neither drops silently: `tables/image-groups`, `duplicates`
and `conflicts` (the same question about the same picture, with another answer) lie beside the
items.

## Planted duplicates

{originals} items a kind, each with one copy, on drawn pages that all have the same frame and
columns; both steps at their defaults. *Found* and *missed* count copies that are duplicates,
*falsely dropped* copies that are none. Of every pair at least one was kept.

| planted | a duplicate | planted | found | missed | falsely dropped |
|---|---|---|---|---|---|
{rows}

One character of {short} is no near duplicate by the threshold: it changes three shingles of 38, so
that Jaccard falls to .85. From about 120 characters on, one slip leaves .95.

## Texts

1. **Canonical form.** The task's template is taken off, a letter becomes the text of its option,
   options are sorted; NFC, full-width forms narrowed, white space and punctuation left out (where
   punctuation is the answer it stays). `--simplify` also folds variants and traditional characters.
2. **Candidates.** Shingles of three characters, MinHash of 128 permutations in 16 bands of 8, by
   numpy: a pair of Jaccard .95 shares a band but for 3 in 10^8. In a bucket 64 members are compared
   with all later ones, so that a first member which is no duplicate loses no pair.
3. **Finds.** Exact Jaccard of at least .95, and one answer: equal, or from 30 characters on .95
   alike by edits. A question answered otherwise is another item, however alike the whole text.
4. **The picture.** A question with fewer than 30 characters of its own, or one asked of three
   pictures or more in its task, is a duplicate only where its picture is the same.
5. **Groups** are connected components. Reviewed goes before draft, then whose own picture stands
   for its copies, then the longest answer, then the first; the table says through whom a member is
   in its group.

Measured by `benchmarks/deduplication.py` (137 characters on average, 5 % planted with 0 to 8
edits): {texts}.

## Pictures

1. **Candidates** within a task: pHash of 64 bits up to 16, of 256 bits up to 80, or dHash of 64
   bits up to 12. No single hash holds a crop by 3 % and tells pages of one layout apart; CLIP's
   cosine from .95 adds candidates where `--clip` names weights.
2. **Finds.** Both are laid upon each other by an affine map (first by their columns and rows of
   ink, then by the enhanced correlation coefficient) and strokes are compared tile by tile:
   nineteen of twenty tiles must agree by .9. Different pages of one layout reach .6 at most.
3. Items keep their pictures; `metadata.image_cluster` names the picture that stands for them, and
   `dedup-texts` reads it.
4. **The picture that stands** is, of those with at least .8 of the largest one's pixels, a lossless
   one (PNG, TIFF, BMP) before a lossy one, then that of most bytes, then the first. What can't be
   told: a copy enlarged by more than that passes for the larger scan, and a PNG made of a JPEG for
   an original.
5. **What goes.** `--drop copies`: an item of the same task about a copy (not about the very same
   file), if both are transcriptions or ask and answer the same; different questions about one
   picture stay. `--drop items`: all but one item of a task about one picture, whatever they ask.
   The one that stays is chosen as under *Texts*.

Not found: pictures turned by more than a few degrees, mirrored, or cropped by more than a tenth;
copies of pictures below 150 pixels at half their size; blank pages, which have nothing to compare.
All pairs of hashes within a task are looked at, so time grows with the square of its pictures. A
page with a character or two altered is still the same picture; its item differs by its answer.
"""

_MEASURED = """\
10^5 texts in 1.4 CPU s with 21 MB beyond the texts, 10^6 in 16 to 19
CPU s with 135 MB; recall 1, precision 1, and the groups are exactly those planted"""


def main() -> None:
    """Plant, run, print."""
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
