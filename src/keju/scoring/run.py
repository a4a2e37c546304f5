"""Scoring a run: all models together, or each in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path

import msgspec

from keju.benchmarks import query_of
from keju.encoders import Encoders
from keju.errors import DataError
from keju.files import read_jsonl
from keju.items import Item, Protocol, Response, Score
from keju.runs import RunFolder, file_name
from keju.scoring.case import Case
from keju.scoring.score import PROTOCOLS, score_cases
from keju.scoring.semantic import semantic_binding
from keju.scoring.table import write_scores

FEWEST = 4
"""Models from which on the start of the processes (about a second each) is worth its while."""


def score_run(
    run: RunFolder,
    protocols: Sequence[Protocol] = PROTOCOLS,
    encoders: Encoders | None = None,
    *,
    workers: int = 1,
) -> list[Score]:
    """Score every response of a run, and write ``scores/<model>.parquet`` for each model.

    Args:
        run: the run.
        protocols: which of the two.
        encoders: those that are there; without, only what an installed package brings along.
        workers: how many processes may share the models out. They are new Python processes, so a
            script that asks for more than one must keep its work under ``if __name__ ==
            "__main__"``. Fewer than four models are scored in this process, and so are runs that
            want an encoder that is here, since it encodes each text once for all models.

    Raises:
        DataError: a response answers an item that the run does not have.
    """
    encoders = encoders or Encoders({})
    items = run.items()
    models = _models_in(run) if workers > 1 else []
    if len(models) >= FEWEST and not _wants_encoder(items, protocols, encoders):
        return _share_out(run, models, protocols, encoders, workers)
    scores = score_cases(_cases_of(run, items), protocols, encoders)
    by_model: dict[str, list[Score]] = {}
    for score in scores:
        by_model.setdefault(score.model, []).append(score)
    for model, of_model in by_model.items():
        write_scores(run.scores_dir / f"{file_name(model)}.parquet", of_model)
    return scores


def _cases_of(run: RunFolder, items: Sequence[Item], model: str | None = None) -> Iterator[Case]:
    by_name = {(item.task, item.query, item.id): item for item in items}
    for response in run.responses(model):
        item = by_name.get((response.task, response.query, response.item))
        if item is None:
            raise DataError(
                f"answers item {response.item!r} of task {response.task!r}, "
                "which is not among the run's items",
                file=run.responses_path(response.model, response.task),
                mend="Delete the lines of that item there; every other answer stays",
            )
        yield Case(item, response)


def _share_out(
    run: RunFolder,
    models: Sequence[str],
    protocols: Sequence[Protocol],
    encoders: Encoders,
    workers: int,
) -> list[Score]:
    # A forked process may inherit a lock that a thread of polars holds, so none is forked.
    with ProcessPoolExecutor(
        max_workers=min(workers, len(models)), mp_context=get_context("spawn")
    ) as pool:
        parts = [
            pool.submit(_score_model, run.path, model, tuple(protocols), encoders.paths)
            for model in models
        ]
        return [
            score
            for part in parts
            for score in msgspec.msgpack.decode(part.result(), type=list[Score])
        ]


def _score_model(
    path: Path, model: str, protocols: tuple[Protocol, ...], weights: dict[str, Path]
) -> bytes:
    """One model's scores, written to the run and packed: twice as fast to send as objects."""
    run = RunFolder(path)
    scores = score_cases(_cases_of(run, _items(path), model), protocols, Encoders(weights))
    write_scores(run.scores_dir / f"{file_name(model)}.parquet", scores)
    return msgspec.msgpack.encode(scores)


@lru_cache(maxsize=1)
def _items(path: Path) -> list[Item]:
    return RunFolder(path).items()


def _models_in(run: RunFolder) -> list[str]:
    """The models that have responses, in the order of their folders."""
    models = []
    for _, files in groupby(run.response_files(), key=lambda path: path.parent):
        responses = (each for file in files for each in read_jsonl(file, Response, appended=True))
        models += [each.model for each in [next(responses, None)] if each is not None]
    return models


def _wants_encoder(
    items: Sequence[Item], protocols: Sequence[Protocol], encoders: Encoders
) -> bool:
    asked = {(item.benchmark, item.task, item.query): item for item in items}
    for item in asked.values():
        query = query_of(item)
        for protocol in protocols:
            for metric in getattr(query, protocol):
                binding = semantic_binding(protocol, item.benchmark, query.form, metric)
                if binding is not None and not encoders.missing(binding.encoder):
                    return True
    return False
