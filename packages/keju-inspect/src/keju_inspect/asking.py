"""Inspect tasks made from keju's items: keju's prompts, the stored images, keju's scores.

A failure is an error of its sample and has no score; the task then ends with the status `error`,
and ``inspect eval-retry`` sends the failed requests again.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from logging import getLogger
from pathlib import Path

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, Content, ContentImage, ContentText
from inspect_ai.scorer import Metric, Score, Scorer, Target, grouped, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

import keju.definitions
from keju.datasets import mini
from keju.datasets.store import Dataset
from keju.definitions import query_of
from keju.errors import UsageError, english_problem
from keju.items import OWN_READING, Failure, ImageRef, Item, Response, get_group
from keju.models import AskError
from keju.models.images import mime_of
from keju.running.requests import request_for
from keju.running.selection import RequestVariant, Selection, select, skip_reason
from keju.scoring import PROTOCOLS, score_answer
from keju.text import answer_part
from keju.texts import _
from keju_inspect.replies import answer_of
from keju_inspect.scores import score_of

Names = str | list[str]
"""Ids of tasks: several with commas between them, or as a list."""

logger = getLogger(__name__)


def task_of(benchmark: str, dataset: str, names: Names, setting: str, script: str) -> Task:
    """The items of a benchmark, or of some of its tasks, as an Inspect task.

    Raises:
        UsageError: there are no such items, or a task compares pairs.
        DataError: the dataset is damaged, or an item lacks what the setting sends.
    """
    if setting in OWN_READING:
        raise UsageError(
            "{} sends two requests for each item, which a task of Inspect cannot do. Use keju run",
            setting,
        )
    opened = Dataset.open(mini.dataset_path(Path(dataset)))
    chosen = _tasks(benchmark, opened, names)
    selection = Selection(tasks=chosen, settings=(setting,), scripts=(script,))
    (way,) = selection.variants
    items = [
        item
        for item in select(opened.items(), selection, opened.path)
        if not skip_reason(item, way)
    ]
    if not items:
        raise UsageError("{}: no item of {} is sent with {}", dataset, ", ".join(chosen), setting)
    several = len(set(map(_task_and_query, items))) > 1
    return Task(
        dataset=MemoryDataset(
            [_sample(item, way, opened) for item in items], name=opened.manifest.name
        ),
        solver=generate(),
        scorer=_scorer({item.id: item for item in items}, way, several=several),
        # Continue after a failure, and do not report a task with failures as a success.
        continue_on_fail=True,
        version=opened.manifest.version,
        metadata={"dataset_hash": opened.manifest.hash, "setting": setting, "script": script},
    )


def _tasks(benchmark: str, opened: Dataset, names: Names) -> tuple[str, ...]:
    wanted = names.split(",") if isinstance(names, str) else names
    given = [name.strip() for name in wanted if name.strip()]
    known = [keju.definitions.task(name) for name in given or opened.manifest.tasks]
    if strangers := [each.id for each in known if each.benchmark != benchmark and given]:
        raise UsageError("{}: no task of {}", ", ".join(strangers), benchmark)
    own = [each for each in known if each.benchmark == benchmark]
    pairs = [each.id for each in own if each.of_pairs]
    if pairs:
        said = _(
            "{}: ranks pairs of images, for which Inspect has no scores. Use keju run, keju "
            "score and keju export inspect",
            ", ".join(pairs),
        )
        if given:
            raise UsageError(said)
        logger.warning(said)
    if not (chosen := tuple(each.id for each in own if not each.of_pairs)):
        raise UsageError("{}: no items of {}", opened.path, benchmark)
    return chosen


def _sample(item: Item, way: RequestVariant, opened: Dataset) -> Sample:
    request = request_for(item, way)
    pictures: list[Content] = [ContentImage(image=_picture(ref, opened)) for ref in request.images]
    asked = ChatMessageUser(content=[*pictures, ContentText(text=request.prompt)])
    return Sample(
        id=item.id,
        input=[asked],
        target=item.answer,
        metadata={"task": _task_and_query(item), "group": get_group(item)},
    )


def _task_and_query(item: Item) -> str:
    """The task, with its query if it has several."""
    return "/".join(filter(None, (item.task, item.query)))


def _picture(ref: ImageRef, opened: Dataset) -> str:
    """The path of an image, which Inspect reads; a data URL where it is in a table."""
    if ref.path not in opened.packed:
        return str(opened.image_path(ref).resolve())
    data = base64.b64encode(opened.image_bytes(ref)).decode()
    return f"data:{mime_of(ref)};base64,{data}"


def _scorer(items: Mapping[str, Item], way: RequestVariant, *, several: bool) -> Scorer:
    """Scorer with the main metrics of both protocols, and errors of the mean by group."""
    summed: list[Metric] = [mean(), stderr(cluster="group")]
    if several:
        summed.append(grouped(mean(), "task", all=False))

    queries = [query_of(item) for item in items.values()]
    used = [each for each in PROTOCOLS if any(getattr(query, each) for query in queries)]

    @scorer(metrics=dict.fromkeys(used, summed))  # type: ignore[untyped-decorator]
    def both_protocols() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            del target
            item = items[str(state.sample_id)]
            return _both(item, _response(item, way, state))

        return score

    return both_protocols()


def _both(item: Item, response: Response) -> Score:
    scores = score_answer(item, response)
    values: dict[str, float] = {}
    words, about = [], {}
    for protocol in PROTOCOLS:
        own = [each for each in scores if each.protocol == protocol]
        if not own:
            continue
        main = own[0].value
        values[protocol] = math.nan if main is None else main
        score = score_of(own, item, response.text)
        words.append(f"{protocol}\n\n{score.explanation}")
        about[protocol] = {"values": score.value, **(score.metadata or {})}
    strict = [each for each in scores if each.protocol == "strict"]
    answer = next((each.extracted for each in strict if each.extracted), answer_part(response.text))
    return Score(value=values, answer=answer, explanation="\n\n".join(words), metadata=about)


def _response(item: Item, way: RequestVariant, state: TaskState) -> Response:
    def made(**fields: object) -> Response:
        return Response(
            key="",
            item=item.id,
            model=str(state.model),
            benchmark=item.benchmark,
            task=item.task,
            query=item.query,
            setting=way.setting,
            script=way.script,
            box_convention=query_of(item).box_convention,
            **fields,  # type: ignore[arg-type]
        )

    try:
        answer = answer_of(state.output)
    except AskError as error:
        failure = Failure(kind=error.kind, message=english_problem(error))
        return made(status="filtered" if error.kind == "refused" else "failed", error=failure)
    return made(
        text=answer.text,
        not_text=answer.not_text,
        thinking=answer.thinking,
        status=answer.status,
    )
