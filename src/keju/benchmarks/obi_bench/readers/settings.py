"""The options of OBI-Bench's formats, one class for each format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from keju.benchmarks.obi_bench.readers.copies import Rule
from keju.benchmarks.obi_bench.readers.sources import sweep
from keju.datasets.readers.boxes import BoxSettings
from keju.settings import Settings

SourceName = Annotated[
    str,
    Meta(
        description="the source, where its folder is not called so; any other folder is one of its "
        "own"
    ),
]
Seed = Annotated[str, Meta(description="decides what is drawn (default 0)")]
NamesTable = Annotated[
    Path | None,
    Meta(
        description="a table of the classes' characters: JSON such as ID_to_chinese.json, or CSV "
        "with the columns class and character (default: the one in the source)"
    ),
]
Duplicates = Annotated[
    Rule,
    Meta(
        description="what becomes of an image that exists byte by byte in several classes: drop "
        "(default; used nowhere), keep-first (used in the class whose file sorts first), error"
    ),
]
ListWithRoles = Annotated[
    Path | None,
    Meta(
        description="a list of images to import instead of a draw: one path a line, or CSV or JSON "
        "with a column image (and role, where there is one)"
    ),
]
_CLASSES_HELP = (
    f"this many classes (the paper's sweep: {', '.join(map(str, sweep()))}; by default as many as "
    "the paper has, of a source of your own all)"
)


class RecognitionSettings(BoxSettings, frozen=True, kw_only=True):
    """The options of ``obi-recognition``."""

    source: SourceName = ""
    description: Annotated[
        str,
        Meta(description="the answer to What for every image that descriptions.csv does not name"),
    ] = ""
    descriptions: Annotated[
        Path | None,
        Meta(
            description="the table of descriptions, where it is not SRC/descriptions.csv; images "
            "are named from SRC on"
        ),
    ] = None
    items: Annotated[
        Path | None,
        Meta(
            description="a list of the images to import, instead of a draw: one name a line, a "
            "JSON list of names, or a table with the column image"
        ),
    ] = None
    sample: Annotated[
        int | None,
        Meta(description="this many images of each source, drawn (default all)", ge=1),
    ] = None
    seed: Seed = "0"
    without_boxes: Annotated[
        Literal["error", "negative"],
        Meta(
            description="negative: images without boxes are negatives, as in folders of YOLO "
            "(default error)"
        ),
    ] = "error"


class RejoiningSettings(Settings, frozen=True, kw_only=True):
    """The options of ``obi-rejoining``."""

    source: SourceName = ""
    adjacency: Annotated[
        Literal["table", "all"],
        Meta(
            description="table: as the tables say; all: the fragments of a bone adjoin one another "
            "(default table)"
        ),
    ] = "table"
    bones: Annotated[
        Literal["", "folder", "name"],
        Meta(
            description="folder: a folder for each bone; name: fragments are named after their "
            "bone, as bone001_1.png (default name where all are in one folder, else folder)"
        ),
    ] = ""
    field: Annotated[
        dict[str, str],
        Meta(description="the column of the table that has the NAME: fragment, adjoins, label"),
    ] = msgspec.field(default_factory=dict)
    items: Annotated[
        Path | None,
        Meta(
            description="a list of the fragments to import, one name a line: no others are queries "
            "or candidates; or of the pairs to ask, two names a line: query and candidate; also as "
            "JSON, or as a table with the columns query and candidate"
        ),
    ] = None


class ClassSettings(Settings, frozen=True, kw_only=True):
    """The options that ``obi-classification`` and ``obi-retrieval`` share."""

    source: SourceName = ""
    classes: Annotated[int | None, Meta(description=_CLASSES_HELP, ge=1)] = None
    similar: Annotated[
        Path | None,
        Meta(
            description="a UTF-8 file of classes that look alike, one a line: no others are drawn"
        ),
    ] = None
    seed: Seed = "0"
    items: ListWithRoles = None
    duplicates: Duplicates = "drop"
    names: NamesTable = None


class ClassificationSettings(ClassSettings, frozen=True, kw_only=True):
    """The options of ``obi-classification``."""

    mixed: Annotated[
        bool,
        Meta(
            description="yes: the classes of all sources make one gallery, as in the paper's sweep "
            "(default no: a gallery each)"
        ),
    ] = False


class RetrievalSettings(ClassSettings, frozen=True, kw_only=True):
    """The options of ``obi-retrieval``."""

    distractors: Annotated[
        int | None,
        Meta(
            description="this many images of other classes (default the paper's, of a source of "
            "your own as many as there are queries and relevant images)",
            ge=1,
        ),
    ] = None


class DecipheringSettings(Settings, frozen=True, kw_only=True):
    """The options of ``obi-deciphering``."""

    source: SourceName = ""
    descriptions: Annotated[
        Path | None,
        Meta(
            description="the table, where it is not SRC/descriptions.csv; images are named from "
            "SRC on"
        ),
    ] = None
    field: Annotated[
        dict[str, str],
        Meta(
            description="the column that has the NAME: image, description, character, subset, "
            "frequency"
        ),
    ] = msgspec.field(default_factory=dict)
    as_paper: Annotated[
        bool,
        Meta(
            description="yes: draw as many of each subset as the paper has (default no: take all)"
        ),
    ] = False
    seed: Seed = "0"
    classes: Annotated[
        int | None,
        Meta(description="without a table: this many characters are drawn (default all)", ge=1),
    ] = None
    images: Annotated[
        int | None,
        Meta(
            description="without a table: this many images of each character are drawn (default 1; "
            "of OBI Component 20 five)",
            ge=1,
        ),
    ] = None
    undeciphered: Annotated[
        Literal["no", "yes", "only"],
        Meta(
            description="without a table: whether HUST-OBC's undeciphered characters are asked: no "
            "(default), yes, only"
        ),
    ] = "no"
    era: Annotated[
        str,
        Meta(description="without a table: the era of EVOBC's images (default OBC), or all"),
    ] = ""
    annotated: Annotated[
        bool,
        Meta(
            description="without a table: of OBI Component 20 the images that mark the component "
            "(default yes), or the others (no)"
        ),
    ] = True
    items: ListWithRoles = None
    duplicates: Duplicates = "drop"
    names: NamesTable = None
