"""Groups of options of `keju serve`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keju.cli.options import BoxConvention, Limit, Sample, ScriptName, Seed, TaskIds

if TYPE_CHECKING:
    from keju.running import Selection

_people_option = partial(typer.Option, rich_help_panel="Rating and review")
_server_option = partial(typer.Option, rich_help_panel="Server")


@dataclass(frozen=True)
class ExamOptions:
    """Which items are shown, and with which prompts."""

    task: TaskIds = None
    limit: Limit = None
    sample: Sample = None
    seed: Seed = 0
    script: ScriptName = "released"
    boxes: BoxConvention = ""

    def selection(self) -> Selection | None:
        """The items and prompts that are chosen; None where none of the options is given."""
        from keju.running import Selection

        chosen = Selection(
            tasks=tuple(self.task) if self.task else None, limit=self.limit, sample=self.sample,
            seed=self.seed if self.sample else 0, scripts=(self.script,), boxes=self.boxes,
        )  # fmt: skip
        return None if chosen == Selection() else chosen


@dataclass(frozen=True)
class PeopleOptions:
    """The items and forms that people rate and review."""

    per_task: Annotated[
        int,
        _people_option(metavar="N", min=1, help="Number of answers per task to rate."),
    ] = 50
    rubrics: Annotated[
        Path | None,
        _people_option(metavar="FILE.toml", help="File of your own rubrics, for rating."),
    ] = None
    every: Annotated[
        bool,
        _people_option("--every", help="Review every item, not only drafts."),
    ] = False
    scales: Annotated[
        Path | None,
        _people_option(metavar="FILE.toml", help="File of your own review form."),
    ] = None


@dataclass(frozen=True)
class AddressOptions:
    """Where the pages are served."""

    host: Annotated[
        str,
        _server_option(
            metavar="ADDRESS",
            help="Address to listen on. Another than the default opens the pages to other "
            "machines.",
        ),
    ] = "127.0.0.1"
    port: Annotated[
        int,
        _server_option(
            metavar="N", min=0, max=65535, help="Port to listen on; 0 chooses a free one."
        ),
    ] = 8470
    new_token: Annotated[
        bool,
        _server_option("--new-token", help="Make new access addresses; earlier ones stop working."),
    ] = False
