"""Layouts of forms that belong to no benchmark: pages, PAGE-XML, ALTO, VLMEvalKit, keju."""

from __future__ import annotations

from pathlib import Path

from tests.support import released
from tests.support.layouts import Layout
from tests.support.released import picture, put


def _into(build):
    def write(src: Path) -> Path:
        build(src)
        return src

    return write


def pages_beside(src: Path) -> Path:
    """One folder without books, README and licence beside the pages."""
    released.pages(src / "all")
    put(src / "README.md", "# Pages\n")
    put(src / "LICENSE", "CC0")
    return src


def page_xml_export(src: Path) -> Path:
    """The files in a folder page, the images above it."""
    put(src / "book/page/p1.xml", released.PAGE_XML)
    put(src / "book/p1.png", picture(1))
    put(src / "book/mets.xml", '<mets xmlns="http://www.loc.gov/METS/"/>')
    return src


def page_xml_alone(src: Path) -> Path:
    """The files without their images, a folder for each edition."""
    put(src / "page/book/p1.xml", released.PAGE_XML)
    put(src / "LICENSE", "Apache-2.0")
    put(src / "SOURCE.txt", "somewhere")
    return src


def vlmevalkit_task_unknown(src: Path) -> Path:
    """A table that is not named after a task."""
    released.vlmevalkit(src)
    (src / "T7.tsv").rename(src / "MyBench.tsv")
    return src


_CHI_KNOW_PO = "https://github.com/calfa-co/chi-know-po"
_VLMEVALKIT = "https://github.com/open-compass/VLMEvalKit"

LAYOUTS = [
    Layout("pages: images with .txt", "Own pages", "<book>/<page>.png; <book>/<page>.txt",
           "assumed", "", "pages", _into(released.pages)),
    Layout("pages: with README beside", "Own pages",
           "all/<book>/<page>.png; all/<book>/<page>.txt; README.md; LICENSE",
           "assumed", "", "pages", pages_beside, canonical="pages: images with .txt",
           ignoring=("group", "metadata")),
    Layout("page-xml: beside the images", "PAGE-XML", "<book>/<page>.xml; <book>/<page>.png",
           "assumed", "", "page-xml", _into(released.page_xml)),
    Layout("page-xml: in a folder page", "PAGE-XML",
           "<book>/page/<page>.xml; <book>/<page>.png; <book>/mets.xml",
           "assumed", "", "page-xml", page_xml_export, canonical="page-xml: beside the images"),
    Layout("page-xml: without images", "PAGE-XML", "page/<edition>/<page>.xml",
           "seen in a release", _CHI_KNOW_PO, "page-xml", page_xml_alone,
           canonical="page-xml: beside the images", ignoring=("images", "metadata", "group")),
    Layout("alto: beside the images", "ALTO", "<book>/<page>.xml; <book>/<page>.png",
           "assumed", "", "alto", _into(released.alto)),
    Layout("hocr: beside the images", "hOCR", "<book>/<page>.hocr; <book>/<page>.png",
           "assumed", "", "hocr", _into(released.hocr)),
    Layout("vlmevalkit-tsv: named after the task", "VLMEvalKit", "T7.tsv",
           "seen in code that reads the release", _VLMEVALKIT, "vlmevalkit-tsv",
           _into(released.vlmevalkit)),
    Layout("vlmevalkit-tsv: of an unknown task", "VLMEvalKit", "MyBench.tsv",
           "seen in code that reads the release", _VLMEVALKIT, "vlmevalkit-tsv",
           vlmevalkit_task_unknown, options={"constants.task": "T7"},
           canonical="vlmevalkit-tsv: named after the task", detected=False),
    Layout("parquet: exported by keju", "keju", "items.parquet; images-*.parquet; dataset.json",
           "assumed", "", "parquet",
           _into(released.own_parquet)),
]  # fmt: skip
