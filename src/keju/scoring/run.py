"""Scoring a run, one model at a time: in this process, or the models shared out over several."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path

import polars as pl
from msgspec.structs import replace

from keju.definitions import has_task, query_of, task
from keju.definitions.shared_answers import SharedAnswers
from keju.encoders import Encoders
from keju.errors import DataError
from keju.files import read_jsonl
from keju.items import Item, Protocol, Record, Response, Score
from keju.runs import RunFolder, StoredItems, file_name
from keju.scoring.aggregate import Tally
from keju.scoring.decisions import NO_DECISIONS, Decisions, answer_code, write_decisions
from keju.scoring.fingerprints import fingerprint_of
from keju.scoring.lookup import metric_names, metric_of
from keju.scoring.response_files import read_responses
from keju.scoring.results import Summary
from keju.scoring.score import PROTOCOLS, STORED, iter_scores, score_samples
from keju.scoring.scores_parquet import frames_of, iter_scores_of, write_frames
from keju.scoring.scoring_sample import LONGEST, Defect, ScoringSample
from keju.scoring.stored import decisions_path, scores_path
from keju.texts import _

FEWEST = 4
"""Models from which on the start of the processes (about a second each) is worth its while."""

_BEGINNING = 10_000
"""Characters of a response that is too long, from which its verdict is taken."""


def score_run(
    run: RunFolder,
    protocols: Sequence[Protocol] = STORED,
    encoders: Encoders | None = None,
    *,
    decisions: Decisions = NO_DECISIONS,
    workers: int = 1,
) -> list[Score]:
    """Score every response of a run; the scores of `PROTOCOLS` in one list (see `score_models`)."""
    summaries = score_models(run, protocols, encoders, decisions=decisions, workers=workers)
    models = [summary.model for summary in summaries]
    return [score for model in models for score in iter_scores_of(scores_path(run, model))]


def score_models(
    run: RunFolder,
    protocols: Sequence[Protocol] = STORED,
    encoders: Encoders | None = None,
    *,
    decisions: Decisions = NO_DECISIONS,
    workers: int = 1,
) -> Iterator[Summary]:
    """Score a run model by model: write ``scores/<model>.parquet`` of each, and sum it up.

    The rows are in the order in which the scores are computed: sums of them are exact (`fsum`), so
    that no value depends on it.

    Args:
        run: the run.
        protocols: the protocols. Models without reasoning in a field of its own have no scores
            `with-reasoning`.
        encoders: those that are there; without, only what an installed package brings along.
        decisions: of people and extractor models on unclear answers; stored with the scores.
        workers: how many processes may share the models out. They are new Python processes, so a
            script that asks for more than one must keep its work under ``if __name__ ==
            "__main__"``. Fewer than four models are scored in this process, and so are runs that
            want an encoder that is here, since it encodes each text once for all models.

    Raises:
        DataError: a folder of responses does not have its model's name, or a file is damaged.
    """
    encoders = encoders or Encoders({})
    items, models = run.stored_items(), _models_in(run)
    write_decisions(decisions_path(run), decisions)
    workers = min(workers, len(models))
    if workers > 1 and len(models) >= FEWEST and not _wants_encoder(items, protocols, encoders):
        # A forked process may inherit a lock that a thread of polars holds, so none is forked.
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            about = run.path, tuple(protocols), encoders.paths, decisions
            yield from pool.map(partial(_score_in_process, *about), models)
    else:
        for model in models:
            yield _score_model(run, model, protocols, encoders, decisions)


def score_responses(
    path: Path, protocols: Sequence[Protocol] = PROTOCOLS, encoders: Encoders | None = None
) -> list[Score]:
    """Score a file in the authors' form, as of one model that is named after the file.

    Raises:
        TypeError: `path` is not a path: items and responses in memory are scored one by one, with
            `score_answer`.
        DataError: it is not in that form; the message names the item.
    """
    if not isinstance(path, Path):
        raise TypeError(
            f"score_responses takes the path of a response file, not a {type(path).__name__}. "
            "Score items and responses in memory with score_answer"
        )
    # Such a file has no field for reasoning.
    protocols = [each for each in protocols if each != "with-reasoning"]
    return score_samples(read_responses(path), protocols, encoders)


def score_answers(
    pairs: Iterable[tuple[Item, Response]], protocols: Sequence[Protocol] = PROTOCOLS
) -> list[Score]:
    """All metrics of items with their responses, in memory (see `score_samples`).

    Raises:
        DataError: an item's task or query is not in the catalogue.
    """
    return score_samples((_sample(item, response) for item, response in pairs), protocols)


def _score_in_process(
    path: Path,
    protocols: Sequence[Protocol],
    weights: Mapping[str, Path],
    decisions: Decisions,
    model: str,
) -> Summary:
    return _score_model(_run_here(path), model, protocols, Encoders(weights), decisions)


@lru_cache(maxsize=1)
def _run_here(path: Path) -> RunFolder:
    """The run with its items, read once by each of the processes, which live for one scoring."""
    return RunFolder(path)


def _score_model(
    run: RunFolder,
    model: str,
    protocols: Sequence[Protocol],
    encoders: Encoders,
    decisions: Decisions,
) -> Summary:
    """Write one model's scores to the run, and sum them up on the way."""
    items = run.stored_items()
    fingerprint = fingerprint_of(run, model)
    strays: dict[str, int] = {}
    protocols = [
        protocol
        for protocol in protocols
        if protocol != "with-reasoning" or _has_reasoning(run, model)
    ]
    samples = _samples_of(run, model, items, strays, decisions)
    tally = Tally()

    def counted() -> Iterator[pl.DataFrame]:
        for frame in frames_of(iter_scores(samples, protocols, encoders, items)):
            tally.add(frame)
            yield frame

    write_frames(scores_path(run, model), counted(), fingerprint)
    return tally.summary(model, strays)


class _Reasoning(Record, frozen=True, kw_only=True):
    """The reasoning of a response that came in a field of its own."""

    thinking: str = ""


def _has_reasoning(run: RunFolder, model: str) -> bool:
    """Whether any response of a model has reasoning in a field of its own."""
    return any(
        each.thinking
        for path in run.response_files(model)
        for each in read_jsonl(path, _Reasoning, appended=True)
    )


def unclear_samples(run: RunFolder, items: StoredItems | None = None) -> Iterator[ScoringSample]:
    """The unclear answers of a run to items with a reference.

    Raises:
        DataError: a stored response is damaged.
    """
    items = items or run.stored_items()
    for model in _models_in(run):
        for sample in _samples_of(run, model, items, {}):
            # A response that is too long is not read at all.
            if sample.is_unclear and not (sample.missing_reference or sample.defect.too_long):
                yield sample


def unused_decisions(decisions: Decisions, run: RunFolder) -> int:
    """How many decisions are about answers that the run does not have, or no longer has.

    Raises:
        DataError: a stored response is damaged.
    """
    items = run.stored_items()
    samples = (sample for model in _models_in(run) for sample in _samples_of(run, model, items, {}))
    present = {answer_code(sample.response) for sample in samples}
    return len(decisions.by_code.keys() - present)


def _samples_of(
    run: RunFolder,
    model: str,
    items: StoredItems,
    strays: dict[str, int],
    decisions: Decisions = NO_DECISIONS,
) -> Iterator[ScoringSample]:
    shared, manifest = SharedAnswers(items), run.manifest()
    parts = {"pictures": manifest.limits(model), "system": manifest.system_hash(model)}
    signature_part = "".join(f"|{name}:{value}" for name, value in parts.items() if value)
    for response in run.responses(model):
        item = items.item_of(response)
        check_response(response, run)
        if item is None:
            file = str(run.responses_path(model, response.task))
            strays[file] = strays.get(file, 0) + 1
            continue
        yield _sample(item, response, decisions, signature_part)
        for copy in shared.copies(response):
            other = items.item_of(copy)
            assert other is not None
            yield _sample(other, copy, decisions, signature_part)


def check_response(response: Response, run: RunFolder) -> None:
    """Check what only a file that was edited can have wrong.

    Raises:
        DataError: `not_text` is not JSON, or a task without pairs has a candidate.
    """
    problem = ""
    if response.not_text:
        try:
            json.loads(response.not_text)
        except (ValueError, RecursionError) as error:
            problem = _(
                "not_text of the response is not JSON: {}",
                error,
                hint="The file was edited: correct the line, or remove it and resume the run",
            )
    if response.candidate and not (has_task(response.task) and task(response.task).of_pairs):
        problem = _(
            "the response names a candidate, but its task has no pairs",
            hint="The file was edited: correct the line, or remove it and resume the run",
        )
    if problem:
        file = run.responses_path(response.model, response.task)
        raise DataError(problem, file=file, item=response.item)


def _sample(
    item: Item,
    response: Response,
    decisions: Decisions = NO_DECISIONS,
    signature_part: str = "",
) -> ScoringSample:
    """An item and its response; of one that is too long to be scored, only the beginning."""
    size, defect = len(response.text), Defect()
    if size > LONGEST:
        response = replace(response, text=response.text[:_BEGINNING])
        defect = Defect(too_long=f"{size:,} characters, more than {LONGEST:,}: not read")
    if len(response.thinking) > LONGEST:
        response = replace(response, thinking=response.thinking[:LONGEST])
    return ScoringSample(item, response, defect, decisions, signature_part=signature_part)


def _models_in(run: RunFolder) -> list[str]:
    """The models that have responses, in the order of the run's manifest."""
    models = []
    for folder, files in groupby(run.response_files(), key=lambda path: path.parent):
        responses = (each for file in files for each in read_jsonl(file, Response, appended=True))
        first = next(responses, None)
        if first is None:
            continue
        if folder.name != file_name(first.model):
            raise DataError(
                "the folder contains responses of {}",
                first.model,
                file=folder,
                hint=_("Name the folder {}", file_name(first.model)),
            )
        models.append(first.model)
    order = {name: place for place, name in enumerate(run.manifest().models)}
    return sorted(models, key=lambda name: order.get(name, len(order)))


def _wants_encoder(
    items: Iterable[Item], protocols: Sequence[Protocol], encoders: Encoders
) -> bool:
    asked = {(item.task, item.query): item for item in items}
    for item in asked.values():
        query = query_of(item)
        for protocol in protocols:
            for metric in metric_names(query, protocol, item.benchmark):
                found = metric_of(protocol, item.benchmark, query.form, metric)
                if found and found.encoder and not encoders.unavailable_reason(found.encoder):
                    return True
    return False
