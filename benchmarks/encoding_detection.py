"""How often the encoding of a short classical text is detected: pieces read, refused and misread.

The texts are those of the shared test data (PAGE-XML of chi-know-po, sentences of ud-kyoto). Of
each text three pieces of each length are drawn and written in each encoding that has their
characters.
charset-normalizer is measured on the same pieces where it is installed.

    python -m benchmarks.encoding_detection [--shared ../shared]
"""

from __future__ import annotations

import argparse
import importlib.util
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from lxml import etree
from rich.console import Console
from rich.table import Table

from keju.datasets.readers.encodings import decode
from keju.errors import DataError

LENGTHS = (10, 30, 100, 1000)
ENCODINGS = ("utf-8", "utf-16", "gb18030", "big5")
DRAWS = 3


def texts(shared: Path) -> Iterator[str]:
    for path in sorted((shared / "data" / "chi-know-po").rglob("*.xml")):
        found = etree.parse(str(path)).iter("{*}Unicode")
        yield "\n".join(each.text for each in found if each.text).strip()
    for path in sorted((shared / "data" / "ud-kyoto").glob("*.conllu")):
        lines = path.read_text("utf-8").splitlines()
        yield "\n".join(line[9:] for line in lines if line.startswith("# text = "))


def pieces(shared: Path) -> Iterator[tuple[int, str, str, bytes]]:
    """Length, encoding, text and bytes of each piece; the seed is fixed."""
    random = Random(0)
    for text in texts(shared):
        for length in LENGTHS:
            for _ in range(DRAWS if len(text) >= length else 0):
                start = random.randrange(len(text) - length + 1)
                piece = text[start : start + length].strip()
                for encoding in ENCODINGS:
                    try:
                        yield length, encoding, piece, piece.encode(encoding)
                    except UnicodeEncodeError:
                        continue


def by_keju(data: bytes) -> str | None:
    try:
        return decode(data, Path("piece"))[0]
    except DataError:
        return None


def by_charset_normalizer(data: bytes) -> str | None:
    from charset_normalizer import from_bytes

    best = from_bytes(data).best()
    return None if best is None else str(best)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--shared", type=Path, default=Path(os.environ.get("KEJU_SHARED", "../shared"))
    )
    shared = parser.parse_args().shared
    ways: dict[str, Callable[[bytes], str | None]] = {"keju": by_keju}
    if importlib.util.find_spec("charset_normalizer"):
        ways["charset-normalizer"] = by_charset_normalizer
    drawn = list(pieces(shared))
    if not drawn:
        parser.error(f"no texts in {shared / 'data'}")
    table = Table("detector", "encoding", *(f"{length} characters" for length in LENGTHS))
    for way, detect in ways.items():
        counts: Counter[tuple[str, int, str]] = Counter()
        for length, encoding, piece, data in drawn:
            found = detect(data)
            result = "refused" if found is None else "right" if found == piece else "wrong"
            counts[encoding, length, result] += 1
        for encoding in ENCODINGS:
            cells = (
                " / ".join(
                    str(counts[encoding, length, each]) for each in ("right", "refused", "wrong")
                )
                for length in LENGTHS
            )
            table.add_row(way, encoding, *cells)
    console = Console()
    console.print(table)
    console.print(f"{len(drawn):,} pieces; cells: right / refused / wrong")


if __name__ == "__main__":
    main()
