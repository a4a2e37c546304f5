"""A blind sample of answers for people to rate, which does not name the models.

It has a number of answers per task, with items drawn evenly over groups and the models taking
turns, in random order. The code of an answer is computed from its run, so no key file is needed.
"""

from __future__ import annotations

import csv
import io
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from keju.definitions import prompt_of
from keju.errors import DataError, UsageError
from keju.files import cell_text, sha256_bytes, write_atomic
from keju.judging.answers import GradableAnswer, code_of
from keju.judging.tables import CODE, plain_code, rows_of, sheet_code
from keju.running import Selection
from keju.running.selection import select
from keju.runs import RunFolder

COLUMNS = (
    CODE, "task", "question", "source", "images", "reference", "answer", "rater", "score",
)  # fmt: skip


def draw_sample(
    judged: Sequence[GradableAnswer], run: RunFolder, *, per_task: int, seed: int = 0
) -> list[GradableAnswer]:
    """A number of answers of each task, in the shuffled order in which they are rated.

    Each item is drawn once while there are enough of them; then its other models' answers follow.

    Args:
        judged: the available answers; those without a text are not rated.
        run: their source, for errors.
        per_task: the number of answers of each task; all, where there are fewer.
        seed: the same seed draws the same sample.

    Raises:
        UsageError: a number is not valid, or there is nothing to rate.
    """
    if per_task < 1:
        raise UsageError("--per-task must be 1 or more, not {}", per_task)
    tasks: dict[str, list[GradableAnswer]] = defaultdict(list)
    for each in judged:
        if each.answered and each.text:
            tasks[each.item.task].append(each)
    if not tasks:
        raise UsageError("{}: no answers to rate", run.path)
    drawn: list[GradableAnswer] = []
    for task, there in tasks.items():
        drawn += _of_task(task, there, run, per_task, seed)
    return _generator(f"{seed}:order").sample(drawn, len(drawn))


def _of_task(
    task: str, there: Sequence[GradableAnswer], run: RunFolder, per_task: int, seed: int
) -> list[GradableAnswer]:
    by_item: dict[tuple[str, str], list[GradableAnswer]] = defaultdict(list)
    for each in there:
        by_item[each.item.query, each.item.id].append(each)
    items = [found[0].item for found in by_item.values()]
    order = select(items, Selection(sample=min(per_task, len(items)), seed=seed), run.path)
    order = _generator(f"{seed}:{task}").sample(order, len(order))
    models = sorted({each.id.model for each in there})
    _generator(f"{seed}:{task}:models").shuffle(models)
    waiting = [by_item[item.query, item.id] for item in order]
    found: list[GradableAnswer] = []
    while len(found) < per_task and any(waiting):
        for left in waiting[: per_task - len(found)]:
            # Each turn takes the next model, or the nearest after it that answered this item.
            place = min(
                range(len(left)),
                key=lambda each: (models.index(left[each].id.model) - len(found)) % len(models),
            )
            found.append(left.pop(place))
        waiting = [left for left in waiting if left]
    return found


def write_sample(path: Path, drawn: Sequence[GradableAnswer]) -> None:
    """Write a sheet for raters: one row per answer, with empty columns rater and score.

    `source` is the transcription where it is known, `images` are the paths inside the dataset. A
    text that a spreadsheet would read as a formula gets an apostrophe before it.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for each in drawn:
        item = each.item
        images = " ".join(ref.path for ref in item.images)
        texts = (prompt_of(item), item.transcription or "", images, item.answer, each.text)
        writer.writerow([sheet_code(code_of(each)), item.task, *map(cell_text, texts), "", ""])
    # Spreadsheets recognise UTF-8 by the byte order mark.
    write_atomic(path, "\ufeff" + stream.getvalue())


def sampled_codes(path: Path) -> frozenset[str]:
    """The codes of the answers in a sample, or in ratings of one.

    Raises:
        UsageError: there is no such file.
        DataError: it is not a table with such codes.
    """
    codes = frozenset(plain_code(row.get(CODE, "")) for _, row in rows_of(path)) - {""}
    if not codes:
        raise DataError(
            "no column {!r} that names answers", CODE, file=path, hint="See: judge sample"
        )
    return codes


def _generator(name: str) -> random.Random:
    return random.Random(sha256_bytes(name.encode()))  # noqa: S311
