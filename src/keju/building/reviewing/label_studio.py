"""Review in Label Studio: export drafts as predictions, and read annotations as verdicts.

The coordinates of boxes are in percent of the image. Images have the addresses of Label Studio's
local storage. The labelling interface, with the marks of the form, is stored beside the tasks.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

import msgspec
from msgspec import Struct, field
from PIL import Image

from keju.building.review_form import MARK, ReviewForm, Scale
from keju.building.reviewing.exported_images import IMAGES, export_images, find_box_changes
from keju.building.reviewing.verdicts import (
    CORRECTIONS,
    Corrections,
    Decision,
    Verdict,
    compute_seal,
)
from keju.datasets.store import Dataset
from keju.errors import DataError
from keju.files import read_json, write_atomic, write_json
from keju.items import Box, Item
from keju.texts import _

TASKS, INTERFACE = "tasks.json", "interface.xml"

NO_IMAGE = "no-image.png"
"""The blank image of items without an image."""

SERVING = "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED"
DOCUMENT_ROOT = "LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT"
"""The environment settings by which Label Studio serves images of a directory."""

_TEXTS = ("question", "answer", "transcription")
_WITHIN = 0.5
_MOST_RESULTS = 10_000
_ADDRESS = re.compile(r"[^\s,<>]+@[^\s,<>]+")
_OTHER_SHAPES = frozenset(
    {"rectangle"}
    | {f"{shape}{of}" for shape in ("polygon", "brush", "ellipse", "keypoint")
       for of in ("", "labels")}
)  # fmt: skip

_XML = """\
<View>
  <Image name="image" value="$image" zoom="true"/>
  <RectangleLabels name="boxes" toName="image"><Label value="character"/></RectangleLabels>
  <Header value="$task"/>
  <Text name="shown" value="$shown"/>
  <TextArea name="question" toName="shown" placeholder="question" rows="3" editable="true"/>
  <TextArea name="answer" toName="shown" placeholder="answer" rows="6" editable="true"/>
  <TextArea name="transcription" toName="shown" placeholder="transcription" rows="6" \
editable="true"/>
  <Choices name="decision" toName="shown" choice="single-radio" required="true">
    <Choice value="accept"/><Choice value="correct"/><Choice value="reject"/>
  </Choices>
{marks}\
  <TextArea name="reason" toName="shown" placeholder="reason" rows="2"/>
</View>
"""
_XML_MARK = """\
  <Header value={asks} size="5"/>
  <Choices name={key} toName="shown" choice="single-radio" showInline="true">
    {choices}
  </Choices>
"""


def write_tasks(dataset: Dataset, items: Sequence[Item], out: Path, form: ReviewForm) -> None:
    """Write ``tasks.json``, ``interface.xml`` and the images into a directory."""
    refs = (item.images[0] for item in items if item.images)
    names = export_images(dataset, refs, out)
    if any(not item.images for item in items):
        blank = io.BytesIO()
        Image.new("L", (64, 64), 255).save(blank, "PNG")
        write_atomic(out / IMAGES / NO_IMAGE, blank.getvalue())
    write_json(out / TASKS, [_build_task(item, names, out.resolve().name) for item in items])
    marks = "".join(map(_build_control, form.scale))
    write_atomic(out / INTERFACE, _XML.format(marks=marks))


def _build_control(scale: Scale) -> str:
    marks = map(scale.format_mark, range(1, len(scale.marks) + 1))
    return _XML_MARK.format(
        asks=quoteattr(f"{scale.name} {scale.zh}: {scale.asks} {scale.asks_zh}"),
        key=quoteattr(scale.key),
        choices="".join(f"<Choice value={quoteattr(each)}/>" for each in marks),
    )


def _build_task(item: Item, names: Mapping[str, str], folder: str) -> dict[str, Any]:
    data = {
        "item": item.id,
        "seal": compute_seal(item),
        "task": f"{item.task} {item.query}".strip(),
        "shown": "\n".join([item.question, *item.options]).strip() or item.task,
    }
    # One interface shows all tasks, and Label Studio rejects a task without an image. The path
    # begins with the export directory, so that one server can show several.
    name = names[item.images[0].sha256] if item.images else NO_IMAGE
    data["image"] = f"/data/local-files/?d={quote(folder)}/{IMAGES}/{name}"
    tool = item.provenance[-1].tool if item.provenance else ""
    results = [*_list_text_results(item), *_list_box_results(item)]
    return {"data": data, "predictions": [{"model_version": tool or "keju", "result": results}]}


def _list_text_results(item: Item) -> Iterator[dict[str, Any]]:
    for name in _TEXTS:
        if text := getattr(item, name):
            yield {"id": name, "from_name": name, "to_name": "shown", "type": "textarea",
                   "value": {"text": [text]}}  # fmt: skip


def _list_box_results(item: Item) -> Iterator[dict[str, Any]]:
    for number, box in enumerate(item.boxes, start=1):
        wide, high = item.images[0].width, item.images[0].height
        yield {
            "id": f"box-{number}", "from_name": "boxes", "to_name": "image",
            "type": "rectanglelabels", "original_width": wide, "original_height": high,
            "image_rotation": 0,
            "value": {
                "x": 100 * box.x0 / wide, "y": 100 * box.y0 / high,
                "width": 100 * (box.x1 - box.x0) / wide, "height": 100 * (box.y1 - box.y0) / high,
                "rotation": 0, "rectanglelabels": ["character"],
            },
        }  # fmt: skip


class _Value(Struct, frozen=True):
    text: str | list[str] = ""
    choices: list[str] = []
    rating: int | None = None
    x: float = 0
    y: float = 0
    width: float = 0
    height: float = 0
    rotation: float = 0


class _Result(Struct, frozen=True):
    from_name: str = ""
    type: str = ""
    value: _Value = _Value()
    original_width: int = 0
    original_height: int = 0
    image_rotation: float = 0


class _Person(Struct, frozen=True):
    id: int = 0
    email: str = ""
    first_name: str = ""
    last_name: str = ""
    username: str = ""


class _Annotation(Struct, frozen=True):
    result: list[_Result] = []
    completed_by: _Person | int | str | None = None
    created_username: str = ""
    was_cancelled: bool = False


class _Task(Struct, frozen=True):
    data: dict[str, Any] = field(default_factory=dict)
    annotations: list[_Annotation] = []


def read_tasks(
    file: Path, items: Mapping[str, Item], person: str, form: ReviewForm
) -> list[Verdict]:
    """Read the verdicts in a JSON export of Label Studio; cancelled annotations are skipped.

    A text or box that differs from the item's is a correction, unless the decision is ``reject``.
    An unchanged item without a decision is accepted. A text that is not in the export counts as
    unchanged: the export does not distinguish an emptied text from one that was never copied.

    `person` is the reviewer if the export does not name one. Marks are ``Choices`` or ``Rating``.

    Raises:
        DataError: the file is not such an export, or a value is not valid.
    """
    verdicts = []
    for number, task in enumerate(read_json(file, list[_Task]), start=1):
        if not task.data:
            raise DataError(
                "the task contains no data",
                file=file,
                item=f"task {number}",
                hint="Export as JSON from Label Studio, not as JSON-MIN",
            )
        name = task.data.get("item")
        item = items.get(name) if isinstance(name, str) else None
        if item is None:
            raise DataError(
                "the dataset does not contain an item {!r}",
                str(name)[:80],
                file=file,
                item=f"task {number}",
                hint="Use the dataset from which the review was exported",
            )
        seal = task.data.get("seal")
        given: dict[str, Verdict] = {}
        for annotation in task.annotations:
            if annotation.was_cancelled:
                continue
            try:
                verdict = _read_verdict(item, annotation, str(seal or ""), person, form)
                _check_repeated(given.setdefault(verdict.person, verdict), verdict)
                verdicts.append(verdict)
            except DataError as error:
                place = f"task {number}, {item.id}"
                raise DataError(error.problem, file=file, item=place) from None
    return verdicts


def _check_repeated(first: Verdict, verdict: Verdict) -> None:
    if first != verdict:
        raise DataError(
            "the task has two different annotations of {}",
            verdict.person,
            hint="Delete one of them in Label Studio and export again",
        )


def _read_verdict(
    item: Item, annotation: _Annotation, seal: str, person: str, form: ReviewForm
) -> Verdict:
    results = annotation.result
    if len(results) > _MOST_RESULTS:
        raise DataError(
            "the annotation has more than {:,} texts and boxes",
            _MOST_RESULTS,
            hint="Delete those that are not needed",
        )
    if other := next((result.type for result in results if result.type in _OTHER_SHAPES), ""):
        # If such shapes were ignored, their boxes would count as removed.
        raise DataError(
            "the annotation has a shape of the type {!r}, but keju reads only boxes",
            other,
            hint="Draw a box",
        )
    corrected: dict[str, Any] = {}
    for name in _TEXTS:
        text = _read_text(results, name)
        if text is not None and text != (getattr(item, name) or ""):
            corrected[name] = text
    boxes = [_read_box(item, result) for result in results if result.type == "rectanglelabels"]
    if boxes or item.boxes:
        changed = find_box_changes(item, boxes, within=_WITHIN)
        if changed is not None:
            corrected["boxes"] = changed
    decision = _read_decision(results, corrected)
    if decision == Decision.REJECT:
        corrected = {}
    if decision == Decision.CORRECT and not corrected:
        raise DataError(
            "the decision is `correct`, but there is no correction",
            hint="Write the correction, or decide `accept`",
        )
    fields = {
        "item": item.id,
        "person": _name_person(annotation, person),
        "decision": decision,
        CORRECTIONS: Corrections(**corrected),
        "reason": _read_text(results, "reason") or "",
        "marks": _read_marks(results, form),
        "seal": seal,
    }
    try:
        verdict = msgspec.convert(fields, Verdict)
    except msgspec.ValidationError as error:
        raise DataError(
            "the annotation is not a valid verdict: {}", error, hint="Review the item again"
        ) from None
    if not seal:
        raise DataError(
            "the task has no seal, so the version of the item that was reviewed is unknown",
            hint="Import the tasks.json that keju exported into Label Studio",
        )
    return verdict


def _read_decision(results: list[_Result], corrected: Mapping[str, Any]) -> Decision:
    ticked = [choice for result in results if result.from_name == "decision"
              for choice in result.value.choices]  # fmt: skip
    if not ticked:
        return Decision.CORRECT if corrected else Decision.ACCEPT
    try:
        (choice,) = ticked
        decision = Decision(choice)
    except ValueError:
        unclear = _(
            "the decision is {!r}",
            ", ".join(ticked)[:60],
            hint="Choose one of `accept`, `correct` and `reject` in Label Studio",
        )
        raise DataError(unclear) from None
    return Decision.CORRECT if corrected and decision == Decision.ACCEPT else decision


def _read_marks(results: list[_Result], form: ReviewForm) -> dict[str, int]:
    scales = {scale.key: scale for scale in form.scale}
    given: dict[str, int] = {}
    for result in results:
        if not result.from_name.startswith(MARK):
            continue
        if result.from_name not in scales:
            raise DataError(
                "{!r} is not a scale of the review form",
                result.from_name[:60],
                hint="Use the form that was exported: --scales FILE.toml",
            )
        scale, value = scales[result.from_name], result.value
        texts = value.choices if value.rating is None else [*value.choices, str(value.rating)]
        mark = scale.parse_mark(texts[0]) if len(texts) == 1 else None
        if mark is None:
            raise DataError(
                "{!r} is not a mark of the scale {}",
                ", ".join(texts)[:60],
                scale.name,
                hint=_("Choose one of its {} marks, or none", len(scale.marks)),
            )
        given[scale.name] = mark
    return {scale.name: given[scale.name] for scale in form.scale if scale.name in given}


def _read_text(results: list[_Result], name: str) -> str | None:
    found = [result.value.text for result in results if result.from_name == name]
    if not found:
        return None
    last = found[-1]
    return last if isinstance(last, str) else "\n".join(last)


def _read_box(item: Item, result: _Result) -> Box:
    if not item.images:
        raise DataError(
            "the annotation has a box, but the item has no image", hint="Delete the box"
        )
    wide, high = item.images[0].width, item.images[0].height
    size = (result.original_width, result.original_height)
    if size != (wide, high):
        raise DataError(
            "a box was drawn on an image of {}x{} pixels, but the image of the item has {}x{}",
            size[0],
            size[1],
            wide,
            high,
            hint="Use the exported image in the tool",
        )
    value = result.value
    if value.rotation or result.image_rotation:
        raise DataError(
            "a box is rotated, but keju reads only upright boxes", hint="Draw an upright box"
        )
    x0, y0 = value.x * wide / 100, value.y * high / 100
    return Box(x0=x0, y0=y0, x1=x0 + value.width * wide / 100, y1=y0 + value.height * high / 100)


def _name_person(annotation: _Annotation, person: str) -> str:
    """The person's e-mail address or name if the export contains it, otherwise ``user NUMBER``."""
    by = annotation.completed_by
    if isinstance(by, _Person):
        name = " ".join(filter(None, (by.first_name.strip(), by.last_name.strip())))
        return by.email or name or by.username or f"user {by.id}"
    # "Li Hua li@example.org, 3" in exports of some versions.
    created, __, __ = annotation.created_username.rpartition(",")
    if address := _ADDRESS.search(created):
        return address[0]
    if created.strip():
        return created.strip()
    return f"user {by}" if isinstance(by, int) else by or person
