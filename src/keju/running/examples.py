"""Few-shot examples: solved items of the reference split that precede each question.

All items of a question form have the same examples, in an order drawn with a seed, except that an
item never gets one of its own group (book, plate, bone), with one of its images, or with its
question and options. The draw is therefore the same from any part of the reference split that
contains the chosen examples.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from msgspec.structs import replace

from keju.definitions import NO_REFERENCE, has_reference, is_blank, question_forms_of, task
from keju.definitions.wordings import parse_few_shot
from keju.errors import DataError, UsageError
from keju.files import sha256_bytes
from keju.items import OWN_READING, Example, Item, Request
from keju.metrics.boxes import box_convention, from_pixels
from keju.running.requests import request_for
from keju.running.selection import RequestVariant, Selection, skip_reason
from keju.text import in_script

MOST = 50
"""The maximum number of examples; a larger number is probably a typing mistake."""


class Examples:
    """The examples of a dataset.

    Args:
        items: items of the dataset; those of the test split are ignored.
    """

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._forms: dict[tuple[str, str], list[Item]] = {}
        for item in items:
            if item.split == "reference" and _is_usable(item):
                self._forms.setdefault((item.task, item.query), []).append(item)
        self._orders: dict[tuple[str, str, int], list[Item]] = {}
        self._examples: dict[tuple[str, str, str, RequestVariant], Example] = {}

    def items_of(self, item: Item, variant: RequestVariant) -> list[Item]:
        """The examples of an item; fewer than requested if the split has no more."""
        shots = parse_few_shot(variant.wording)
        if not shots.examples or skip_reason(item, variant):
            return []
        form = (item.task, item.query, shots.seed)
        if form not in self._orders:
            self._orders[form] = sorted(
                self._forms.get(form[:2], ()),
                key=lambda example: sha256_bytes(f"{shots.seed}:{example.id}".encode()),
            )
        usable = (
            example
            for example in self._orders[form]
            if not _leaks(example, item) and not skip_reason(example, variant)
        )
        return list(islice(usable, shots.examples))

    def of(self, item: Item, variant: RequestVariant) -> tuple[Example, ...]:
        """The examples of an item in a prompt variant."""
        shots = parse_few_shot(variant.wording)
        base = replace(variant, wording=shots.base, round=1) if shots.examples else variant
        return tuple(self._example(example, base) for example in self.items_of(item, variant))

    def check(self, items: Sequence[Item], variants: Sequence[RequestVariant]) -> None:
        """Check that every item has as many examples as requested.

        Raises:
            UsageError: there are not enough; the message names the task and the item.
        """
        for variant in variants:
            count = parse_few_shot(variant.wording).examples
            if count and variant.setting in OWN_READING:
                raise UsageError(
                    "--examples cannot be used with --setting {}, in which the images of the "
                    "examples would have to be transcribed first",
                    variant.setting,
                )
            for item in items if count else ():
                usable = len(self.items_of(item, variant))
                if usable < count and not skip_reason(item, variant):
                    raise UsageError(
                        "--examples {0}: item {1} of {2} can have {3}. The reference split has "
                        "{4} of {2} with answers; those of the item's own group, image or question "
                        "are not shown. Use fewer examples, exclude the task with --task, or label "
                        "more items as the reference split (keju build, step split)",
                        count,
                        item.id,
                        question_forms_of([item])[-1],
                        usable,
                        len(self._forms.get((item.task, item.query), ())),
                    )

    def used(self, items: Sequence[Item], variants: Sequence[RequestVariant]) -> list[Item]:
        """The reference items that are examples in these prompt variants, each once."""
        examples = {
            (example.task, example.query, example.id): example
            for variant in {replace(variant, round=1) for variant in variants}
            if parse_few_shot(variant.wording).examples
            for item in items
            for example in self.items_of(item, variant)
        }
        return [examples[name] for name in sorted(examples)]

    def _example(self, item: Item, base: RequestVariant) -> Example:
        """An item as an example in the wording that the examples precede."""
        name = item.task, item.query, item.id, base
        if name not in self._examples:
            request = request_for(item, base)
            self._examples[name] = Example(
                item=item.id,
                prompt=request.prompt,
                answer=_answer(item, request),
                images=request.images,
            )
        return self._examples[name]


def with_examples(selection: Selection, counts: Sequence[int], seed: int) -> Selection:
    """Return the selection with the given number of examples in each wording.

    Raises:
        UsageError: a number is not valid.
    """
    for count in counts:
        if not 0 <= count <= MOST:
            raise UsageError("--examples must be 0 to {}, not {}", MOST, count)
    if seed < 0:
        raise UsageError("--examples-seed must be 0 or more, not {}", seed)
    names = [
        parse_few_shot(wording)._replace(examples=count, seed=seed if count else 0).name
        for wording in selection.wordings
        for count in counts
    ]
    return replace(selection, wordings=tuple(names)) if counts else selection


def _is_usable(item: Item) -> bool:
    if item.draft or task(item.task).of_pairs or is_blank(item):
        return False
    return has_reference(item) and item.answer.strip() != NO_REFERENCE


def _leaks(example: Item, item: Item) -> bool:
    """Whether an example may reveal the item's answer."""
    images = {ref.sha256 for ref in example.images} & {ref.sha256 for ref in item.images}
    # Questions of one wording differ in their options.
    same_text = (example.question, example.options) == (item.question, item.options)
    same_group = bool(item.group) and item.group == example.group
    return bool(images) or same_group or (not item.images and same_text)


def _answer(item: Item, request: Request) -> str:
    """The reference in the form in which a model is to write it.

    Raises:
        DataError: the item has boxes on several images.
    """
    if request.form != "boxes":
        answer = item.answer or item.answer_simplified
        if not answer and request.form == "number":
            return str(len(item.boxes))
        return answer if request.script == "released" else in_script(answer, request.script)
    convention = box_convention(request.box_convention)
    if len(item.images) > 1:
        raise DataError(
            "an item with boxes on several images cannot be used as an example", item=item.id
        )
    rows = [(box.x0, box.y0, box.x1, box.y1) for box in item.boxes]
    if not rows:
        return "[]"
    digits = 4 if convention.scale == "unit" else 0
    image = item.images[0]
    boxes = from_pixels(rows, convention, width=image.width, height=image.height)
    return "\n".join("[" + ", ".join(f"{value:.{digits}f}" for value in box) + "]" for box in boxes)
