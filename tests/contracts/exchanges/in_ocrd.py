"""Runs in OCR-D's environment: prints what OCR-D reads of PAGE files, and writes them again.

python in_ocrd.py FOLDER OUT
"""

import json
import sys
from pathlib import Path

from ocrd_models.ocrd_page import parse, to_xml
from ocrd_validators import PageValidator, XsdPageValidator


def outline(element) -> list[list[int]]:
    return [[int(n) for n in pair.split(",")] for pair in element.get_Coords().points.split(" ")]


def main(folder: Path, out: Path) -> None:
    pages = {}
    out.mkdir(parents=True)
    for file in sorted(folder.glob("*.xml")):
        schema = XsdPageValidator.validate(file)
        strict = PageValidator.validate(filename=str(file), page_textequiv_consistency="strict")
        document = parse(str(file), silence=True)
        page = document.get_Page()
        lines, texts = [], []
        for region in page.get_AllRegions(classes=["Text"], order="reading-order"):
            texts += [each.get_Unicode() for each in region.get_TextEquiv()]
            for line in region.get_TextLine():
                text = line.get_TextEquiv()[0].get_Unicode()
                lines.append({"text": text, "outline": outline(line)})
        pages[file.name] = {
            "problems": [*map(str, schema.errors), *map(str, strict.errors + strict.warnings)],
            "image": page.imageFilename,
            "size": [page.imageWidth, page.imageHeight],
            "lines": lines,
            "regions": texts,
        }
        (out / file.name).write_text(to_xml(document), "utf-8")
    print(json.dumps(pages, ensure_ascii=False))


main(Path(sys.argv[1]), Path(sys.argv[2]))
