"""What will be asked: which items, as which requests, and what that costs. Asks nobody."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import field
from msgspec.structs import replace

from keju.benchmarks import choices_of, prompt_of, query_of, task
from keju.datasets.store import Dataset
from keju.errors import DataError, UsageError
from keju.files import sha256_bytes
from keju.items import ImageRef, Item, Record, Request, Setting
from keju.models import Model

GOLD_PROMPT = "以下是圖中的文字：\n{transcription}\n\n{prompt}"
"""How the setting ``gold-ocr`` shows the transcription in place of the image (MCS-Bench 4.4 gives
no wording; this one is our reading)."""

MOST_ROUNDS = 1000
"""More is a slip of the hand: the papers ask 5 times."""

_FRAMING = len('{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,"}},')


class Selection(Record, frozen=True, kw_only=True):
    """Which items of a dataset are asked, and how.

    Only the test split is ever asked. `tasks` are the ids of the tasks, None for all. `limit` is
    the number of items of each task, from its first on. `sample` is the number of items in all:
    tasks take turns, within a task its groups take turns, in an order drawn with `seed`. A smaller
    sample with the same seed is a part of a larger one. `limit` goes before `sample`.
    """

    tasks: tuple[str, ...] | None = None
    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    setting: Setting = "image"
    rounds: int = 1


class PlanRow(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What one model will be asked of one task.

    `calls` are requests over all rounds, `image_bytes` the bytes of the images as stored and
    `wire_bytes` what is sent, images in base64; 0 where nothing leaves this machine. `declined`
    maps reasons to counts.
    """

    model: str
    task: str
    calls: int = 0
    images: int = 0
    image_bytes: int = 0
    wire_bytes: int = 0
    declined: dict[str, int] = field(default_factory=dict)


class Plan(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What a run would ask, one row for each model and task."""

    items: int
    rows: tuple[PlanRow, ...]

    @property
    def calls(self) -> int:
        """Requests over all models and tasks."""
        return sum(row.calls for row in self.rows)

    @property
    def wire_bytes(self) -> int:
        """Bytes that leave this machine."""
        return sum(row.wire_bytes for row in self.rows)


def select(items: Sequence[Item], selection: Selection, dataset: Path) -> list[Item]:
    """Those items of a dataset that are asked, in their order.

    Raises:
        UsageError: a number makes no sense, a task is unknown or has no items here, the setting is
            not to be had.
        DataError: the setting needs transcriptions that items do not have.
    """
    _check(selection)
    chosen = [item for item in items if item.split == "test"]
    if selection.tasks is not None:
        chosen = _of_tasks(chosen, selection.tasks, dataset)
    if selection.limit is not None:
        chosen = _limited(chosen, selection.limit)
    if selection.sample is not None:
        chosen = _sampled(chosen, selection.sample, selection.seed)
    if not chosen:
        raise UsageError(f"{dataset}: no items to ask (the test split is empty)")
    if selection.setting == "gold-ocr":
        _check_transcriptions(chosen, dataset)
    return chosen


def requests_for(item: Item, setting: Setting = "image", round_: int = 1) -> Iterator[Request]:
    """The requests that an item makes, one after the other: one, or one for each candidate.

    Raises:
        DataError: the prompt cannot be made of the item.
    """
    first = request_for(item, setting, round_)
    if not first.candidate:
        yield first
        return
    for candidate in range(1, len(item.images)):
        yield replace(first, candidate=candidate, images=_pair(item, candidate))


def request_for(item: Item, setting: Setting = "image", round_: int = 1) -> Request:
    """The first request that an item makes; it holds no answer.

    Raises:
        DataError: the prompt cannot be made of the item.
    """
    query = query_of(item)
    prompt, source, images, candidate = prompt_of(item), "", item.images, 0
    if task(item.task).of_pairs:
        candidate, images = 1, _pair(item, 1)
    elif setting == "gold-ocr" and item.transcription is not None:
        source, images = item.transcription, ()
        prompt = GOLD_PROMPT.replace("{prompt}", prompt).replace("{transcription}", source)
    return Request(
        item=item.id,
        benchmark=item.benchmark,
        task=item.task,
        form=query.form,
        prompt=prompt,
        query=item.query,
        images=images,
        choices=choices_of(item),
        source=source,
        setting=setting,
        round=round_,
        box_convention=query.box_convention,
        candidate=candidate,
    )


def _pair(item: Item, candidate: int) -> tuple[ImageRef, ...]:
    return (item.images[0], *item.images[candidate : candidate + 1])


def refusal(item: Item, setting: Setting) -> str:
    """Why an item is not asked of any model in this setting, or an empty string."""
    if setting == "gold-ocr" and query_of(item).form == "transcription":
        return "with gold-ocr the prompt would hold the answer"
    if setting == "gold-ocr" and task(item.task).of_pairs:
        return "two pictures are compared, which no transcription can stand for"
    return ""


def requests(
    dataset: Dataset,
    *,
    tasks: Sequence[str] | None = None,
    limit: int | None = None,
    sample: int | None = None,
    seed: int = 0,
    setting: Setting = "image",
    rounds: int = 1,
) -> Iterator[tuple[Item, Request]]:
    """Stream the items that are asked, each with its request, round by round within an item.

    See `Selection` for what the arguments mean.

    Raises:
        UsageError: see `select`.
        DataError: see `select` and `request_for`.
    """
    chosen = Selection(
        tasks=None if tasks is None else tuple(tasks),
        limit=limit,
        sample=sample,
        seed=seed,
        setting=setting,
        rounds=rounds,
    )
    for item in select(dataset.items(), chosen, dataset.path):
        if not refusal(item, setting):
            for round_ in range(1, rounds + 1):
                for request in requests_for(item, setting, round_):
                    yield item, request


def estimate(dataset: Dataset, models: Sequence[Model], selection: Selection) -> Plan:
    """Count what a run would ask of each model.

    Raises:
        UsageError: see `select`.
        DataError: see `select` and `request_for`.
    """
    items = select(dataset.items(), selection, dataset.path)
    counts: dict[tuple[str, str], _Count] = {}
    for item in items:
        why = refusal(item, selection.setting)
        for request in requests_for(item, selection.setting):
            for model in models:
                count = counts.setdefault((model.name, item.task), _Count())
                count.add(request, why or model.declines(request), selection.rounds, model)
    order = {model.name: place for place, model in enumerate(models)}
    places = sorted(counts, key=lambda place: order[place[0]])
    return Plan(items=len(items), rows=tuple(counts[place].row(*place) for place in places))


class _Count:
    def __init__(self) -> None:
        self.calls = self.images = self.image_bytes = self.wire_bytes = 0
        self.declined: dict[str, int] = {}

    def add(self, request: Request, declined: str, rounds: int, model: Model) -> None:
        if declined:
            self.declined[declined] = self.declined.get(declined, 0) + rounds
            return
        self.calls += rounds
        self.images += rounds * len(request.images)
        self.image_bytes += rounds * sum(ref.size for ref in request.images)
        if "endpoint" in model.identity:
            self.wire_bytes += rounds * wire_size(request)

    def row(self, model: str, task_id: str) -> PlanRow:
        return PlanRow(
            model=model,
            task=task_id,
            calls=self.calls,
            images=self.images,
            image_bytes=self.image_bytes,
            wire_bytes=self.wire_bytes,
            declined=self.declined,
        )


def wire_size(request: Request) -> int:
    """Bytes that a request takes on the wire, near enough: base64 is 4 bytes for each 3."""
    images = sum((ref.size + 2) // 3 * 4 + _FRAMING for ref in request.images)
    return images + len(request.prompt.encode())


def _check(selection: Selection) -> None:
    for name in ("limit", "sample", "rounds"):
        number = getattr(selection, name)
        if number is not None and number < 1:
            raise UsageError(f"--{name} must be 1 or more, not {number}")
    if selection.rounds > MOST_ROUNDS:
        raise UsageError(f"--rounds must be {MOST_ROUNDS:,} at most, not {selection.rounds}")
    if selection.setting == "own-ocr":
        raise UsageError("--setting own-ocr is not there yet. Use image or gold-ocr")
    for each in selection.tasks or ():
        task(each)


def _of_tasks(items: list[Item], tasks: tuple[str, ...], dataset: Path) -> list[Item]:
    there = {item.task for item in items}
    if absent := [each for each in tasks if each not in there]:
        raise UsageError(
            f"{dataset}: no items of task {', '.join(absent)}. "
            f"Tasks here: {', '.join(sorted(there))}"
        )
    return [item for item in items if item.task in tasks]


def _limited(items: list[Item], limit: int) -> list[Item]:
    seen: dict[str, int] = {}
    kept = []
    for item in items:
        seen[item.task] = seen.get(item.task, 0) + 1
        if seen[item.task] <= limit:
            kept.append(item)
    return kept


def _sampled(items: list[Item], size: int, seed: int) -> list[Item]:
    tasks: dict[str, dict[str, list[int]]] = {}
    for place, item in enumerate(items):
        group = item.group or (item.images[0].sha256 if item.images else item.id)
        tasks.setdefault(item.task, {}).setdefault(group, []).append(place)
    turns = [
        _in_turn(_shuffled(list(groups.values()), f"{seed}:{name}"), f"{seed}:{name}")
        for name, groups in tasks.items()
    ]
    drawn = _in_turn(_shuffled(turns, str(seed)), None)[:size]
    return [items[place] for place in sorted(drawn)]


def _shuffled(things: list[list[int]], seed: str) -> list[list[int]]:
    draw = random.Random(sha256_bytes(seed.encode()))  # noqa: S311
    return draw.sample(things, len(things))


def _in_turn(groups: list[list[int]], seed: str | None) -> list[int]:
    """One of each group, then the next of each, and so on."""
    if seed is not None:
        draw = random.Random(sha256_bytes(seed.encode()))  # noqa: S311
        groups = [draw.sample(group, len(group)) for group in groups]
    longest = max(map(len, groups), default=0)
    return [group[turn] for turn in range(longest) for group in groups if turn < len(group)]


def _check_transcriptions(items: list[Item], dataset: Path) -> None:
    without = [
        item.id for item in items if item.transcription is None and not refusal(item, "gold-ocr")
    ]
    if without:
        names = ", ".join(without[:3]) + (", …" if len(without) > 3 else "")
        raise DataError(
            f"{len(without)} items have no transcription, which the setting gold-ocr shows",
            file=dataset,
            item=names,
            mend="Choose tasks that have one with --task, or use --setting image",
        )
