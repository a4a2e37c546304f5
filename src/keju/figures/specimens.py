"""Examples: an item's image and question with the answer of each model, right or wrong."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from statistics import pvariance

import altair as alt
from PIL import Image

from keju.analysis.asked_items import AskedItem
from keju.analysis.labels import task_name
from keju.analysis.run_set import main_values
from keju.definitions import options_of, prompt_of, task
from keju.figures.breaking import wrapped
from keju.figures.figure import Drawn, Figure, Row, Undrawn
from keju.figures.parts import OfRun, data
from keju.figures.theme import INK, OWN, RULE, SOFT
from keju.files import slug
from keju.formatting import percent
from keju.images import thumbnail
from keju.text import answer_part
from keju.texts import _
from keju.words import Words

_ITEMS = 8
_MODELS = 10
_PICTURE = (250, 330)
"""Maximum size of an image in points, width and height."""
_SHOWN = 500
"""Maximum pixels of its longer side in the file."""
_COLUMNS = 84
_LINES, _QUESTION_LINES = 3, 6
_LEADING = 14
_WHOLE = 0.995


def specimens(source: OfRun) -> Iterator[Drawn]:
    """The items with the most different answers, at most one per domain and eight in all."""
    chosen = _choose_items(source)
    if not chosen:
        yield Undrawn("specimens", "", _("no item has answers of two models with different scores"))
    for asked in chosen:
        rows = specimen_rows(source, asked)
        known = task(asked.item.task)
        yield Figure(
            kind="specimens",
            of=slug(f"{task_name(asked.item.task, asked.item.query)} {asked.item.id}"),
            title=f"{known.name_zh} {known.name_en}: {asked.item.id}",
            caption=_(
                "● correct, ◐ partly correct, ○ wrong, by the strict main metric (in percent). "
                "Long answers are cut."
            ),
            rows=rows,
            draw=_specimen_chart,
        )


def _choose_items(source: OfRun) -> list[AskedItem]:
    """For each domain the item on which models differ most; the first of equal ones."""
    best: dict[str, tuple[float, AskedItem]] = {}
    for asked in source.run_set.asked:
        values = list(_values(source, asked).values())
        spread = pvariance(values) if len(values) > 1 else 0.0
        domain = task(asked.item.task).domain
        if spread > best.get(domain, (0.0, asked))[0]:
            best[domain] = spread, asked
    return [asked for _, asked in best.values()][:_ITEMS]


def _values(source: OfRun, asked: AskedItem) -> dict[str, float]:
    """Each model's value of an item, over its rounds; without baselines."""
    return {
        model: value
        for model, (value, _) in main_values(asked).items()
        if source.run_set.by_model[model].role != "baseline"
    }


def specimen_rows(source: OfRun, asked: AskedItem) -> list[Row]:
    """The rows of one item: a ``picture``, the ``question``, the ``truth``, ``answer`` lines.

    `x` and `y` are points from the left and the top; `text` is one displayed line.
    """
    picture = _picture(source, asked)
    rows: list[Row] = [] if picture is None else [picture]
    left = _PICTURE[0] + 26 if picture else 0
    page = _Page(rows, left)
    question = asked.item.question or prompt_of(asked.item)
    choices = " ".join(
        f"{letter}. {text}"
        for letter, text in zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", options_of(asked.item), strict=False)
    )
    page.write("question", "", f"{question} {choices}", _QUESTION_LINES)
    page.write("truth", "", f"✓ {asked.item.answer}", _LINES)
    values = _values(source, asked)
    order = sorted(values, key=lambda model: -values[model])
    responses = {answer.model: answer.response for answer in reversed(asked.answers)}
    for model in order[:_MODELS]:
        value = values[model]
        sign = "●" if value >= _WHOLE else "◐" if value > 0 else "○"
        response = responses[model]
        text = (
            _without_reasoning(response.text)
            if response.status == "answered"
            else f"({response.status})"
        )
        page.write("answer", f"{sign} {model} · {percent(value)}", text, _LINES)
    if (more := len(order) - _MODELS) > 0:
        page.write("more", f"{more} more models", "", 1)
    return rows


def _without_reasoning(content: str) -> str:
    """The answer part; reasoning before or after it is replaced by the number of its characters."""
    answer = answer_part(content)
    if answer == content:
        return content
    return f"<think>… {len(content) - len(answer):,} characters …</think>{answer}"


class _Page:
    """A sequence of lines, top to bottom."""

    def __init__(self, rows: list[Row], left: float) -> None:
        self._rows, self._left, self._y = rows, left, 0.0

    def write(self, part: str, head: str, text: str, most: int) -> None:
        """Write a heading and at most `most` lines of text, truncated with an ellipsis."""
        lines = list(wrapped(" ".join(text[:2000].split()), _COLUMNS))
        if len(lines) > most:
            lines = [*lines[: most - 1], f"{lines[most - 1]}…"]
        for kind, line in [("head", head)] * bool(head) + [("text", line) for line in lines]:
            self._rows.append(
                {"part": part, "kind": kind, "text": line, "x": self._left, "y": self._y}
            )
            self._y += _LEADING
        self._y += 9


def _picture(source: OfRun, asked: AskedItem) -> Row | None:
    images = source.images.get(asked.run.path)
    if images is None or not asked.item.images:
        return None
    copy = images.index(asked.item.images[0])
    if copy is None:
        return None
    small = thumbnail(images.copies[copy], name=asked.item.id, max_side=_SHOWN)
    with Image.open(io.BytesIO(small)) as image:
        width, height = image.size
    scale = min(_PICTURE[0] / width, _PICTURE[1] / height)
    return {
        "part": "picture", "kind": "picture", "text": asked.item.images[0].path, "x": 0.0, "y": 0.0,
        "width": round(width * scale, 2), "height": round(height * scale, 2),
        "url": f"data:image/jpeg;base64,{base64.b64encode(small).decode()}",
    }  # fmt: skip


def _specimen_chart(rows: Sequence[Row], _words: Words) -> alt.LayerChart:
    bottom = max(float(row["y"] or 0) + float(row.get("height") or _LEADING) for row in rows)
    right = max(float(row["x"] or 0) for row in rows) + 6.4 * _COLUMNS
    place = {
        "x": alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, right], nice=False)),
        "y": alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[bottom, 0], nice=False)),
    }
    base = alt.Chart(data(rows)).encode(**place)
    layers: list[alt.Chart] = []
    for row in rows:
        if row["part"] == "picture":
            sides = {"width": row["width"], "height": row["height"], "align": "left"}
            of_picture = alt.Chart(data([row])).encode(**place, url="url:N")
            layers.append(of_picture.mark_image(**sides, baseline="top"))
    text = {"align": "left", "baseline": "top", "limit": 6.4 * _COLUMNS}
    for kind, part, colour, size in (
        ("text", "question", INK, 11), ("text", "truth", OWN, 11), ("head", "answer", INK, 10),
        ("text", "answer", SOFT, 10), ("head", "more", SOFT, 10),
    ):  # fmt: skip
        wanted = f"datum.kind == '{kind}' && datum.part == '{part}'"
        lines = base.transform_filter(wanted).mark_text(**text, color=colour, fontSize=size)
        layers.append(lines.encode(text="text:N"))
    edge = alt.Chart(data([{"x": 0, "y": bottom}])).mark_rule(color=RULE).encode(y=place["y"])
    return alt.layer(*layers, edge).properties(width=right, height=bottom)
