"""`Run`: a run with its responses, scores and report; `open_run` opens one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

import polars as pl

from keju.analysis.engine_times import Costs
from keju.api.inputs import AnyPath, path_of
from keju.api.scores import ProtocolChoice, Results, score
from keju.datasets import Dataset
from keju.items import Item, Response
from keju.notebook import block, facts
from keju.reporting.page import write_report
from keju.running import RunSummary
from keju.running.prices import read_prices
from keju.runs import RunFolder, RunManifest

Language = Literal["en", "zh"]


class Run(os.PathLike[str]):
    """A run: the selected items, and the responses of the models.

    It can be used wherever a path is expected. `summary` has the counts of the call of `keju.run`
    that returned it: `items`, `models`, `failures`, `left`, `complete`, `advice`; it is None where
    the run was opened.
    """

    def __init__(self, folder: RunFolder, summary: RunSummary | None = None) -> None:
        self._folder = folder
        self.summary = summary

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r}, models: {', '.join(self.models) or 'none'})"

    def _repr_html_(self) -> str:
        manifest = self.manifest
        counts = {}
        if self.summary:
            names = ("items", "failures", "left")
            counts = {name: getattr(self.summary, name) for name in names}
        return block(
            "Run",
            facts({
                "path": self.path,
                "dataset": f"{manifest.dataset} {manifest.dataset_version}",
                "models": "\n".join(manifest.models),
                **counts,
                "next": self.summary.advice if self.summary else "",
            }),
        )  # fmt: skip

    @property
    def path(self) -> Path:
        """The directory of the run."""
        return self._folder.path

    @property
    def manifest(self) -> RunManifest:
        """The content of run.json: dataset, models with their identities, settings, versions."""
        return self._folder.manifest()

    @property
    def models(self) -> list[str]:
        """The names of the models of the run."""
        return list(self.manifest.models)

    def items(self) -> list[Item]:
        """The selected items, with their references."""
        return self._folder.items()

    def dataset(self) -> Dataset:
        """The dataset, which has the images.

        Raises:
            KejuError: it is not at the path recorded in the run.
        """
        return self._folder.dataset()

    def responses(self) -> pl.DataFrame:
        """A table with one row for each stored response.

        A failed request has an `error` (its kind) with a `message`, and no text.
        """
        return pl.DataFrame(map(_response_row, self._folder.responses()), schema=_RESPONSES)

    def score(
        self,
        *,
        protocol: ProtocolChoice = "both",
        adjudicated: AnyPath | None = None,
        extractor: str = "",
    ) -> Results:
        """Score the responses, as `keju.score` does."""
        return score(self, protocol=protocol, adjudicated=adjudicated, extractor=extractor)

    def report(
        self,
        path: AnyPath,
        *,
        others: Sequence[AnyPath] = (),
        published: bool = False,
        prices: AnyPath | None = None,
        language: Language = "en",
    ) -> Path:
        """Write the report of the scored run.

        Args:
            path: an HTML file, or a directory for thousands of items.
            others: other runs (or their paths) to show with this one.
            published: whether the papers' results are shown with the run's.
            prices: a price file, or ``example``, for the costs.
            language: of the words of the report: ``en`` or ``zh``.

        Returns:
            The HTML file that was written.

        Raises:
            TypeError: a value has another type.
            ValueError: there is no such language.
            KejuError: the run has not been scored, or `path` is not valid for a report.
        """
        if language not in get_args(Language):
            raise ValueError(f"language is {language!r}. Use en or zh")
        if isinstance(others, str | os.PathLike):
            raise TypeError(f"others is a {type(others).__name__}. Give a list of runs or paths")
        costs = Costs(None if prices is None else read_prices(path_of(prices)))
        made = write_report(
            [self.path, *map(path_of, others)],
            path_of(path),
            published=published,
            language=language,
            costs=costs,
        )
        return made.page


def open_run(path: AnyPath) -> Run:
    """Open a run that `keju.run` or ``keju run`` made.

    Raises:
        TypeError: `path` is not a path.
        KejuError: there is no run, or it is damaged.
    """
    folder = RunFolder.open(path_of(path))
    folder.manifest()
    return Run(folder)


_RESPONSES = pl.Schema(
    dict.fromkeys(
        ("item", "task", "query", "model", "setting", "script", "wording"), pl.String
    )
    | {"round": pl.Int64, "candidate": pl.Int64}
    | dict.fromkeys(("status", "text", "thinking", "finish_reason"), pl.String)
    | {"error": pl.String, "message": pl.String}
    | {"input_tokens": pl.Int64, "output_tokens": pl.Int64}
    | {"seconds": pl.Float64, "attempts": pl.Int64, "key": pl.String}
)  # fmt: skip


def _response_row(response: Response) -> dict[str, object]:
    failure, usage = response.error, response.usage
    other = {
        "error": failure.kind if failure else None,
        "message": failure.message if failure else None,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
    }
    return {name: other[name] if name in other else getattr(response, name) for name in _RESPONSES}
