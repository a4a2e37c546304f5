"""`cer`: the error rate of texts; `extract`: the answer in a response."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, overload

from keju.api.inputs import item_of, text_of, texts_of
from keju.errors import number_of
from keju.items import Item
from keju.metrics import UndefinedMetricError, distance
from keju.text import LAYERS, Layer, counted_pair
from keju.texts import _

if TYPE_CHECKING:
    from keju.extraction import Reading


@overload
def cer(reference: str, hypothesis: str, *, normalize: Layer | None = "script") -> float: ...
@overload
def cer(
    reference: Iterable[str], hypothesis: Iterable[str], *, normalize: Layer | None = "script"
) -> float: ...
def cer(
    reference: str | Iterable[str],
    hypothesis: str | Iterable[str],
    *,
    normalize: Layer | None = "script",
) -> float:
    """The character error rate of one text, or of two lists of texts.

    The rate is the edit distance divided by the length of the reference, as a fraction, not bounded
    by 1. For lists, distances and lengths are summed before the division, as `strict` does for a
    task. Only the preparation of texts is that of `strict`: the whole hypothesis is compared. To
    first take the transcription from a model's response, use `extract`.

    Args:
        reference: the true text, or a list of them.
        hypothesis: the text to evaluate, or a list of equal length.
        normalize: the layer of normalisation on both sides: ``exact``, ``nfc``, ``compatibility``,
            ``variants`` or ``script``, each including those before it (see `keju.text`). White
            space, punctuation and symbols are ignored at every layer. None compares the texts as
            they are, with white space and punctuation.

    Raises:
        TypeError: a value is not a text, or one side is a text and the other a list.
        ValueError: `normalize` is not a layer, the lists are empty or of unequal length, or a
            reference has no character that counts.
    """
    if normalize is not None and normalize not in LAYERS:
        raise ValueError(f"normalize is {normalize!r}. Use {', '.join(LAYERS)}, or None")
    if isinstance(reference, str) and isinstance(hypothesis, str):
        edits, length = _edits(reference, hypothesis, normalize, "")
        return edits / length
    if isinstance(reference, str) or isinstance(hypothesis, str):
        kinds = type(reference).__name__, type(hypothesis).__name__
        raise TypeError(
            f"reference is a {kinds[0]} and hypothesis a {kinds[1]}. Give two texts or two lists "
            "of texts"
        )
    references, hypotheses = texts_of("reference", reference), texts_of("hypothesis", hypothesis)
    if len(references) != len(hypotheses):
        raise ValueError(
            f"reference has {number_of(len(references), 'text')}, but hypothesis has "
            f"{len(hypotheses):,}. Give one hypothesis for each reference"
        )
    if not references:
        raise ValueError("the lists are empty, so there is no error rate")
    pairs = enumerate(zip(references, hypotheses, strict=True))
    counts = [_edits(*pair, normalize, f" {place}") for place, pair in pairs]
    return sum(edits for edits, _ in counts) / sum(length for _, length in counts)


def _edits(reference: str, hypothesis: str, layer: Layer | None, place: str) -> tuple[int, int]:
    """Edit distance and length of the reference."""
    if layer is not None:
        reference, hypothesis = counted_pair(reference, hypothesis, layer)
    if not reference:
        raise UndefinedMetricError(
            _(
                "reference{} has no character that counts, so it has no error rate. Drop it and "
                "its hypothesis",
                place,
            )
        )
    return distance(reference, hypothesis), len(reference)


def extract(
    task: str,
    text: str,
    *,
    item: Item | None = None,
    query: str = "",
    question: str = "",
    options: Iterable[str] = (),
) -> Reading:
    """The answer in a model's response, as `strict` reads it for a task.

    Args:
        task: the id of a task, such as ``T7`` (``keju tasks`` lists them).
        text: the response.
        item: the item. It replaces `query`, `question` and `options`.
        query: the query of the item, for a task that has several.
        question: the question, which some rules need (a question for the wrong option).
        options: the texts of the options, in the order of their letters.

    Returns:
        The state (``read``, ``none`` or ``unclear``), the value, the rule that read it, and the
        quoted passage.

    Raises:
        TypeError: `text` or an option is not a text, or `item` is not an item.
        ValueError: `item` is of another task, or is given together with what it replaces.
        KejuError: no task has that id, or the task no such query.
    """
    # Imported here, so that `cer` does not wait for benchmarks and their metrics.
    from keju.definitions import task as task_named  # noqa: PLC0415
    from keju.scoring.scoring_sample import ScoringSample, text_response  # noqa: PLC0415

    text_of("task", task)
    text_of("text", text)
    given = tuple(texts_of("options", options))
    if item is None:
        benchmark = task_named(task).benchmark
        item = Item(id="", benchmark=benchmark, task=task, query=query, question=question,
                    options=given)  # fmt: skip
    else:
        item_of("item", item)
        if query or question or given:
            raise ValueError("item has its own query, question and options. Give either")
        if item.task != task:
            raise ValueError(f"item {item.id} is of task {item.task}, not of {task}")
    return ScoringSample(item, text_response(item, text)).reading
