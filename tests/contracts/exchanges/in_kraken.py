"""Runs in Kraken's environment: prints what Kraken reads of page files, and writes them again.

python in_kraken.py FOLDER OUT page-xml|alto
"""

import json
import sys
from pathlib import Path

from kraken.containers import Segmentation
from kraken.lib.xml import XMLPage
from kraken.serialization import serialize

TEMPLATES = {"page-xml": "pagexml", "alto": "alto"}


def recognised(page: XMLPage) -> Segmentation:
    """The page with its texts as predictions: Kraken writes no other text of a line."""
    found = page.to_container()
    for line in found.lines:
        line.prediction = line.text
    return found


def main(folder: Path, out: Path, form: str) -> None:
    pages = {}
    out.mkdir(parents=True)
    for file in sorted(folder.glob("*.xml")):
        page = XMLPage(file)
        stated = "reading-order" if "reading-order" in page.reading_orders else "line_implicit"
        pages[file.name] = {
            "image": page.imagename.name,
            "size": page.image_size,
            "lines": [
                {
                    "text": line.text,
                    "outline": line.boundary,
                    "baseline": line.baseline,
                    "kind": (line.tags or {}).get("type", [{"type": ""}])[0]["type"],
                }
                for line in page.get_sorted_lines(stated)
            ],
        }
        written = serialize(
            recognised(page),
            image_size=page.image_size,
            template=TEMPLATES[form],
            sub_line_segmentation=False,
        )
        (out / file.name).write_text(written, "utf-8")
    print(json.dumps(pages, ensure_ascii=False))


main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
