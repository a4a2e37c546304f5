"""Scores of responses: of one, of a file, or of a run, one model at a time.

The models of a run are scored in this process, or shared out over several.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from itertools import groupby, product
from multiprocessing import get_context
from pathlib import Path

import polars as pl
from msgspec.structs import replace

from keju.definitions import has_task, query_of, registry, task
from keju.definitions.protocols import DECIDED_FORMS, PROTOCOL_ROWS, PROTOCOLS, STORED
from keju.definitions.shared_answers import SharedAnswers
from keju.encoders import Encoders
from keju.errors import DataError, PrerequisiteError, english_problem
from keju.files import write_json
from keju.items import Item, Protocol, Response, Score
from keju.metrics import UndefinedMetricError
from keju.metrics.base import TooLongError
from keju.runs import RunFolder, file_name
from keju.runs import read_responses as read_stored_responses
from keju.scoring.aggregate import Tally
from keju.scoring.decisions import (
    NO_DECISIONS,
    Decisions,
    answer_code,
)
from keju.scoring.lookup import metric_names, metric_of, unavailable_reason
from keju.scoring.metric import (
    Metric,
    MetricValue,
    mean,
    metric_signature,
    sample_part,
)
from keju.scoring.rankings import Gallery, add_to_gallery
from keju.scoring.response_files import read_responses
from keju.scoring.results import Summary
from keju.scoring.scoring_sample import LONGEST, Defect, ScoringSample, json_kind
from keju.scoring.semantic import WITHOUT_ANSWER, EncoderRequest, encode_scores, encoder_request
from keju.scoring.stored import (
    decisions_path,
    fingerprint_of,
    frames_of,
    iter_scores_of,
    scores_path,
    write_frames,
)
from keju.texts import _, in_english


def score_answer(
    item: Item, response: Response, protocols: Sequence[Protocol] = PROTOCOLS
) -> list[Score]:
    """Compute the scores of one response: one for each metric of the item's query.

    A metric that cannot be computed has a score without a value, with the reason. A response that
    failed or was filtered gets the worst value of each metric.

    Raises:
        DataError: the item's task or query is not in the catalogue.
    """
    return score_answers([(item, response)], protocols)


def score_answers(
    pairs: Iterable[tuple[Item, Response]], protocols: Sequence[Protocol] = PROTOCOLS
) -> list[Score]:
    """The same of several items with their responses.

    Raises:
        DataError: an item's task or query is not in the catalogue.
    """
    return score_samples((_sample(item, response) for item, response in pairs), protocols)


def score_samples(
    samples: Iterable[ScoringSample],
    protocols: Sequence[Protocol] = PROTOCOLS,
    encoders: Encoders | None = None,
) -> list[Score]:
    """The scores of `iter_scores`, all in memory."""
    return list(iter_scores(samples, protocols, encoders))


def iter_scores(
    samples: Iterable[ScoringSample],
    protocols: Sequence[Protocol] = PROTOCOLS,
    encoders: Encoders | None = None,
    items: Iterable[Item] = (),
) -> Iterator[Score]:
    """Compute the scores of many samples; metrics with encoders are computed for all in one batch.

    Scores of metrics with encoders follow all others, and then those of galleries: the samples of
    one gallery form one ranking. Only these scores and the answers of galleries are in memory.

    Args:
        samples: items with their responses.
        protocols: the protocols to score under.
        encoders: the available encoders. Default: only those that need no weights.
        items: further items, which are iterated several times. Their references also set the floors
            of metrics with encoders, so that the floors do not depend on which items have a
            response yet.
    """
    encoders = encoders or Encoders({})
    galleries: dict[tuple[object, ...], Gallery] = {}
    waiting: dict[tuple[Metric, str, str], list[EncoderRequest]] = {}
    metrics_of_query: _MetricsOfQuery = {}
    for sample in samples:
        if sample.response.candidate:
            add_to_gallery(galleries, sample)
            continue
        for protocol in protocols:
            view = sample.seen_by(PROTOCOL_ROWS[protocol])
            for name, metric in _find_metrics(sample, protocol, metrics_of_query):
                score = _score(view, protocol, name, metric, encoders)
                if isinstance(score, Score):
                    yield score
                elif metric is not None:
                    query = (metric, sample.item.task, sample.item.query)
                    waiting.setdefault(query, []).append(score)
    for (metric, _task, _query), requests in waiting.items():
        yield from encode_scores(encoders, metric, requests, items)
    of_galleries = [protocol for protocol in protocols if protocol in PROTOCOLS]
    for gallery, protocol in product(galleries.values(), of_galleries):
        for name, metric in _find_metrics(gallery, protocol, metrics_of_query):
            score = _score(gallery, protocol, name, metric, encoders)
            assert isinstance(score, Score)
            yield score


_MetricsOfQuery = dict[tuple[str, str, Protocol], list[tuple[str, Metric | None]]]


def _find_metrics(
    sample: ScoringSample, protocol: Protocol, metrics_of_query: _MetricsOfQuery
) -> list[tuple[str, Metric | None]]:
    """The metrics of a sample's query, looked up once for all samples of it."""
    benchmark, query = sample.item.benchmark, (sample.item.task, sample.item.query, protocol)
    if query not in metrics_of_query:
        names: tuple[str, ...] = ()
        row, definition = PROTOCOL_ROWS[protocol], registry.definition(benchmark)
        # Items need no definition of their benchmark's name; those without one have no views.
        if not row.view or (definition is not None and row.applies(definition)):
            of_pairs = isinstance(sample, Gallery)
            names = metric_names(sample.query, protocol, benchmark, of_pairs=of_pairs)
        metrics_of_query[query] = [
            (name, metric_of(protocol, benchmark, sample.form, name)) for name in names
        ]
    return metrics_of_query[query]


def _score(
    sample: ScoringSample,
    protocol: Protocol,
    name: str,
    metric: Metric | None,
    encoders: Encoders,
) -> Score | EncoderRequest:
    """The score of one metric, or a request for its value if an encoder computes it."""
    reason = _unscored_reason(sample, protocol, name, metric)
    if metric is None or reason:
        return _record(sample, protocol, name, reason=reason)
    if metric.encoder and (missing := encoders.unavailable_reason(metric.encoder)):
        return _record(sample, protocol, name, reason=missing)
    signature = metric_signature(metric)
    is_decided = PROTOCOL_ROWS[protocol].reads_all and sample.form in DECIDED_FORMS
    unclear = is_decided and sample.read_by == "unclear"
    if_right: Mapping[str, float] = {}
    try:
        if sample.defect.too_long:
            metric_value, reason = _value_of_empty(sample, metric), sample.defect.too_long
        elif metric.encoder:
            score = _record(sample, protocol, name, signature)
            return encoder_request(sample, metric, score, unclear=unclear)
        else:
            metric_value = metric.measure(sample)
            if_right = metric.measure_if_right(sample).stats if unclear else {}
    except TooLongError as error:
        # Without a value the response would not count in the mean: a model must not gain by length.
        metric_value, reason = _value_of_empty(sample, metric), english_problem(error)
    except (UndefinedMetricError, PrerequisiteError) as error:
        return _record(sample, protocol, name, reason=english_problem(error))
    if sample.response.status in WITHOUT_ANSWER:
        metric_value = _as_failed(metric_value, metric)
    if metric.encoder:
        signature = metric_signature(metric, encoders.signature(metric.encoder))
    return _record(sample, protocol, name, signature, metric_value, if_right, reason=reason)


def _unscored_reason(
    sample: ScoringSample, protocol: Protocol, name: str, metric: Metric | None
) -> str:
    """Why a sample has no value of a metric, whatever the response is; empty where it has one."""
    defect = sample.defect
    # The authors' script compares responses with an empty ``Answer_Simplified`` too. Scores of a
    # file in the authors' form do the same, but for `strict`.
    reads_all = PROTOCOL_ROWS[protocol].reads_all
    needs_reference = reads_all or not defect.in_file
    reason = defect.answer or (sample.missing_reference if needs_reference else "")
    if reason or metric is None:
        return reason or unavailable_reason(name)
    if not reads_all or not sample.response.not_text or sample.response.text:
        return ""
    # A list is scored by the texts in it, and a response with both (of a server) by its text.
    value = json.loads(sample.response.not_text)
    return "" if isinstance(value, list) else f"Response is {json_kind(value)}"


def _value_of_empty(sample: ScoringSample, metric: Metric) -> MetricValue:
    """The value of an empty response, which one that is too long gets (our reading)."""
    if metric.encoder:
        return mean(metric.worst)
    empty = replace(sample.response, text="", not_text="")
    return _as_failed(metric.measure(ScoringSample(sample.item, empty, sample.defect)), metric)


def _as_failed(metric_value: MetricValue, metric: Metric) -> MetricValue:
    """The worst value of a metric. The authors' scripts can give an empty answer another value."""
    if metric_value.value == metric.worst:
        return metric_value
    denominator = metric_value.stats["denominator"]
    stats = metric_value.stats | {"numerator": metric.worst * denominator}
    return MetricValue(metric.worst, stats)


def _record(
    sample: ScoringSample,
    protocol: Protocol,
    metric: str,
    signature: str = "",
    metric_value: MetricValue | None = None,
    if_right: Mapping[str, float] = {},
    *,
    reason: str = "",
) -> Score:
    wording = sample.response.wording
    parts = sample.pairs_part + sample_part(protocol, sample.form, sample.decisions, wording)
    parts += sample.signature_part
    reads_all = PROTOCOL_ROWS[protocol].reads_all
    with_answer = reads_all and sample.form in DECIDED_FORMS and not reason
    return Score(
        **sample.score_fields,
        protocol=protocol,
        metric=metric,
        value=None if metric_value is None else metric_value.value,
        reason=in_english(reason),
        extracted=(sample.answer or "") if with_answer else "",
        extracted_from=sample.reading.origin if reads_all else "",
        stats={} if metric_value is None else metric_value.stats,
        read_by=sample.read_by if with_answer else "",
        if_right=dict(if_right),
        signature=signature + parts if signature else "",
    )


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
    summaries = list(score_models(run, protocols, encoders, decisions=decisions, workers=workers))
    paths = [scores_path(run, summary.model) for summary in summaries]
    return [score for path in paths for score in iter_scores_of(path)]


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
        protocols: the protocols. A model has no scores under one that only changes the view of a
            response where that changes none of its responses.
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
    if decisions.sources:
        write_json(decisions_path(run), decisions)
    else:
        decisions_path(run).unlink(missing_ok=True)
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
    samples = read_responses(path)
    protocols = _changing(protocols, (sample.response for sample in samples))
    return score_samples(samples, protocols, encoders)


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
    protocols = _changing(protocols, run.responses(model))
    strays: Counter[str] = Counter()
    samples = _samples_of(run, model, strays, decisions)
    tally = Tally()

    def counted() -> Iterator[pl.DataFrame]:
        for frame in frames_of(iter_scores(samples, protocols, encoders, items)):
            tally.add(frame)
            yield frame

    write_frames(scores_path(run, model), counted(), fingerprint)
    return tally.summary(model, strays)


def _changing(protocols: Iterable[Protocol], responses: Iterable[Response]) -> list[Protocol]:
    """The protocols without the views that change no response."""
    rows = [PROTOCOL_ROWS[protocol] for protocol in protocols]
    idle = [row for row in rows if row.view]
    for response in responses if idle else ():
        idle = [row for row in idle if row.view and row.view(response) is response]
        if not idle:
            break
    return [row.name for row in rows if row not in idle]


def unclear_samples(run: RunFolder) -> Iterator[ScoringSample]:
    """The unclear answers of a run to items with a reference.

    Raises:
        DataError: a stored response is damaged.
    """
    for model in _models_in(run):
        for sample in _samples_of(run, model):
            # A response that is too long is not read at all.
            if sample.is_unclear and not (sample.missing_reference or sample.defect.too_long):
                yield sample


def unused_decisions(decisions: Decisions, run: RunFolder) -> int:
    """How many decisions are about answers that the run does not have, or no longer has.

    Raises:
        DataError: a stored response is damaged.
    """
    samples = (sample for model in _models_in(run) for sample in _samples_of(run, model))
    return len(decisions.by_code.keys() - {answer_code(sample.response) for sample in samples})


def _samples_of(
    run: RunFolder,
    model: str,
    strays: Counter[str] | None = None,
    decisions: Decisions = NO_DECISIONS,
) -> Iterator[ScoringSample]:
    """The items with a model's responses; `strays` counts, by file, responses without an item."""
    items, manifest = run.stored_items(), run.manifest()
    shared = SharedAnswers(items)
    parts = {"pictures": manifest.limits(model), "system": manifest.system_hash(model)}
    signature_part = "".join(f"|{name}:{value}" for name, value in parts.items() if value)
    for response in run.responses(model):
        check_response(response, run)
        if items.item_of(response) is None:
            if strays is not None:
                strays[str(run.responses_path(model, response.task))] += 1
            continue
        for answer in (response, *shared.copies(response)):
            item = items.item_of(answer)
            assert item is not None
            yield _sample(item, answer, decisions, signature_part)


def check_response(response: Response, run: RunFolder) -> None:
    """Check what only a file that was edited can have wrong.

    Raises:
        DataError: `not_text` is not JSON, or a task without pairs has a candidate.
    """
    problem = ""
    try:
        json.loads(response.not_text or "null")
    except (ValueError, RecursionError) as error:
        problem = _("not_text of the response is not JSON: {}", error)
    if response.candidate and not (has_task(response.task) and task(response.task).of_pairs):
        problem = _("the response names a candidate, but its task has no pairs")
    if problem:
        raise DataError(
            problem,
            file=run.responses_path(response.model, response.task),
            item=response.item,
            hint=_("The file was edited: correct the line, or remove it and resume the run"),
        )


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
        first = next((response for file in files for response in read_stored_responses(file)), None)
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
    """Whether a metric of the items needs an encoder that is here."""
    queries = {(item.task, item.query): item for item in items}
    for item, protocol in product(queries.values(), protocols):
        query = query_of(item)
        for name in metric_names(query, protocol, item.benchmark):
            metric = metric_of(protocol, item.benchmark, query.form, name)
            if metric and metric.encoder and not encoders.unavailable_reason(metric.encoder):
                return True
    return False
