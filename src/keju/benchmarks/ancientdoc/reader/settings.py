"""`AncientDocSettings`: the options of the format ``ancientdoc``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from keju.benchmarks.ancientdoc.reader.columns import QA_TASKS, TEXT_TASKS, WIDE_FIELDS
from keju.benchmarks.ancientdoc.reader.long import FIELDS
from keju.datasets.newlines import NewlineChoice
from keju.settings import Settings

_FIELD_HELP = (
    f"the field that has the NAME, which is one of: {', '.join(FIELDS)}; of a wide table: "
    f"{', '.join(WIDE_FIELDS)}, {', '.join(TEXT_TASKS)}, or of {', '.join(QA_TASKS)} "
    "TASK_question_1, TASK_answer_1 …"
)


class AncientDocSettings(Settings, frozen=True, kw_only=True):
    """The columns and files of a release of AncientDoc, and what is imported of it."""

    field: Annotated[dict[str, str], Meta(description=_FIELD_HELP)] = msgspec.field(
        default_factory=dict
    )
    images: Annotated[
        Path | None,
        Meta(
            description="the folder that the image paths start from, if it is not beside the table"
        ),
    ] = None
    books: Annotated[
        Path | None,
        Meta(description="a table of books: book, dynasty, script, and other columns for metadata"),
    ] = None
    newlines: Annotated[
        NewlineChoice,
        Meta(
            description=r"auto, literal or keep: whether \n in a text is a line break "
            "(default auto)"
        ),
    ] = "auto"
    skip_missing: Annotated[
        bool, Meta(description="yes: skip questions whose image is missing (default no)")
    ] = False
    without_answers: Annotated[
        bool,
        Meta(description="yes: import a tree of images that has no label.csv (default no)"),
    ] = False
