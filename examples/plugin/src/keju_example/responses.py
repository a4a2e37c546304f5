"""Form ``pages-tsv`` of response files: transcriptions that ``keju score FILE.tsv`` scores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import keju
from keju.plugins import DataError, Item, source_text


@keju.responses("pages-tsv")
def read_responses(path: Path) -> Iterator[tuple[Item, str | None]]:
    """Read a table of page, transcription and response; without a response the page failed.

    Raises:
        DataError: the file is of another kind, or a line has fewer than two columns.
    """
    if path.suffix != ".tsv":
        raise DataError("not a TSV file", file=path)
    for number, line in enumerate(source_text(path).splitlines(), 1):
        page, *texts = line.split("\t")
        if not texts:
            raise DataError("expected page and transcription", file=path, item=f"line {number}")
        item = Item(id=page, benchmark="pages", task="page_ocr", answer=texts[0])
        yield item, texts[1] if len(texts) > 1 else None
