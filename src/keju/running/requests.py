"""From an item to the requests it makes: what a model is shown, and never an answer."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from keju.benchmarks import Query, choices_of, prompt_of, query_of, task
from keju.datasets.store import Dataset
from keju.items import ImageRef, Item, Request
from keju.running.selecting import Selection, Way, refusal, select
from keju.text import in_script

PLAINLY = Way()
"""The image, in the words of the benchmark."""

_NOTHING: dict[str, str] = {}
"""One for all items, since they are never changed."""

SOURCE_PROMPT = "以下是圖中的文字：\n{source}\n\n{prompt}"
"""How a transcription is shown in place of the image: the true one (``gold-ocr``), the model's own
(``own-ocr``) or an engine's (``ocr+llm``). MCS-Bench 4.4 gives no wording; this is ours."""


def to_ask(item: Item, *, transcription: bool) -> Item:
    """What asking needs of an item; a run of many items holds no more of each.

    Neither the answer nor what describes it, and the transcription only where it is shown. Items of
    the reference split stay whole: they are lent to baselines.
    """
    if item.split == "reference":
        return item
    return Item(
        id=item.id,
        benchmark=item.benchmark,
        task=item.task,
        query=item.query,
        images=item.images,
        question=item.question,
        verbatim=item.verbatim,
        fields=item.fields or _NOTHING,
        options=item.options,
        transcription=item.transcription if transcription else None,
        group=item.group,
        metadata=_NOTHING,
    )


def request_count(item: Item) -> int:
    """How many requests an item makes each time it is asked."""
    return max(1, len(item.images) - 1) if task(item.task).of_pairs else 1


def requests_for(item: Item, way: Way = PLAINLY, reading: str | None = None) -> Iterator[Request]:
    """The requests that an item makes, one after the other: one, or one for each candidate.

    Raises:
        DataError: the prompt cannot be made of the item.
    """
    first = request_for(item, way, reading)
    if not first.candidate:
        yield first
        return
    for candidate in range(1, len(item.images)):
        yield replace(first, candidate=candidate, images=_pair(item, candidate))


def request_for(item: Item, way: Way = PLAINLY, reading: str | None = None) -> Request:
    """The first request that an item makes; it holds no answer.

    Args:
        item: what is asked.
        way: what is shown, and in which words.
        reading: what was read of the images, which is then shown in their place; ``gold-ocr``
            shows the item's transcription.

    Raises:
        DataError: the prompt cannot be made of the item.
    """
    query = query_of(item)
    prompt, source, images, candidate = _prompt(item, way), "", item.images, 0
    shown = item.transcription if way.setting == "gold-ocr" else reading
    if task(item.task).of_pairs:
        candidate, images = 1, _pair(item, 1)
    elif shown is not None:
        source, images = shown, ()
        # The text is put in last, so that nothing in it is taken for a blank.
        prompt = SOURCE_PROMPT.replace("{prompt}", prompt).replace("{source}", source, 1)
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
        setting=way.setting,
        round=way.round,
        box_convention=_convention(item, query, way),
        candidate=candidate,
    )


def _pair(item: Item, candidate: int) -> tuple[ImageRef, ...]:
    return (item.images[0], *item.images[candidate : candidate + 1])


def requests(
    dataset: Dataset, selection: Selection | None = None
) -> Iterator[tuple[Item, Request]]:
    """Stream the items that are asked, each with its requests, way by way within an item.

    Raises:
        UsageError: see `select`.
        DataError: see `select` and `request_for`.
    """
    selection = selection or Selection()
    for item in select(dataset.items(), selection, dataset.path):
        for way in selection.ways:
            if not refusal(item, way.setting):
                for request in requests_for(item, way):
                    yield item, request


def _convention(item: Item, query: Query, way: Way) -> str:
    """A question that is asked as released says itself how it wants its boxes."""
    turned = query.box_convention and way.boxes and not item.verbatim
    return way.boxes if turned else query.box_convention


def _prompt(item: Item, way: Way) -> str:
    prompt = prompt_of(item, way.boxes)
    return prompt if way.wording == "released" else in_script(prompt, way.wording)
