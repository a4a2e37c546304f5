"""`McsBenchSettings`: the options of the format ``mcs-bench``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from keju.benchmarks.mcs_bench.reader.fields import FIELDS
from keju.settings import Settings

_FIELD_HELP = f"the field that has the NAME, which is one of: {', '.join(FIELDS)}"


class McsBenchSettings(Settings, frozen=True, kw_only=True):
    """The fields of a release of MCS-Bench, and what its files do not state."""

    field: Annotated[dict[str, str], Meta(description=_FIELD_HELP)] = msgspec.field(
        default_factory=dict
    )
    task: Annotated[
        str,
        Meta(
            description="the task of records that name none, neither in a field nor in a file's "
            "name, e.g. T7"
        ),
    ] = ""
    answers_from: Annotated[
        Literal["", "0", "1"],
        Meta(
            description="0 or 1: answers are numbers of options, counted from there (default: seen "
            "from the answers)"
        ),
    ] = ""
    images: Annotated[
        Path | None, Meta(description="the folder of the images, if it is not beside the file")
    ] = None
    skip_missing: Annotated[
        bool, Meta(description="yes: skip items whose image is missing (default no)")
    ] = False
