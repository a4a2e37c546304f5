"""The answers of a run that a judge can grade, and their ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from keju.definitions import QuestionForms, has_reference
from keju.errors import UsageError
from keju.extraction import body_of
from keju.files import sha256_bytes
from keju.items import Item, PromptScript, Record, Response, Setting, get_group
from keju.judging.rubrics import Rubrics
from keju.runs import RunFolder
from keju.texts import _

_ALWAYS = 6
"""Parts of an answer's id that are always written: all but script and wording."""

NO_ANSWER = "the model gave no answer"
EMPTY = "the answer is empty"


class AnswerId(NamedTuple):
    """Id of an answer: its model, item and prompt variant."""

    model: str
    item: str
    task: str
    query: str = ""
    setting: Setting = "image"
    round: int = 1
    script: PromptScript = "released"
    wording: str = "released"

    @property
    def spelled(self) -> str:
        """The id as a JSON list, which can be parsed whatever the names contain.

        Script and wording come last, and only where one was chosen.
        """
        parts = list(self)
        while parts[-1] == "released" and len(parts) > _ALWAYS:
            parts.pop()
        return msgspec.json.encode(parts).decode()

    @classmethod
    def of(cls, response: Response) -> AnswerId:
        """The id of a response."""
        return cls(
            response.model, response.item, response.task,
            response.query, response.setting, response.round, response.script,
            response.wording,
        )  # fmt: skip


class GradableAnswer(NamedTuple):
    """An answer that can be graded, with its item.

    `text` is the answer without the model's reasoning; it may be empty. `answered` is false where
    the call failed or was refused, so that there is nothing to grade.
    """

    id: AnswerId
    item: Item
    text: str
    answered: bool = True

    @property
    def group(self) -> str:
        """The unit of independence: the item's group, else its image, else itself."""
        return get_group(self.item)


class AnswerSelection(Record, frozen=True, kw_only=True):
    """Which answers are graded.

    `tasks` are ids, None for those whose rubrics are open; `limit` is the number of items of each
    task, from the first; `models` are those that answered, None for all; `only` are the codes of
    answers (`code_of`), None for all.
    """

    tasks: tuple[str, ...] | None = None
    limit: int | None = None
    models: tuple[str, ...] | None = None
    only: frozenset[str] | None = None


class Answers(NamedTuple):
    """Answers in the order of the run's items, and the number of skipped ones, by reason."""

    judged: list[GradableAnswer]
    left_out: dict[str, int]


def answers_of(run: RunFolder, rubrics: Rubrics, chosen: AnswerSelection | None = None) -> Answers:
    """The answers of a run that a judge may grade.

    Raises:
        UsageError: a task has no rubric, a number is not valid, or nothing is left.
    """
    chosen = chosen or AnswerSelection()
    if chosen.limit is not None and chosen.limit < 1:
        raise UsageError("--limit must be 1 or more, not {}", chosen.limit)
    models = list(run.manifest().models)
    if absent := [name for name in chosen.models or () if name not in models]:
        raise UsageError(
            "{}: no model {!r}. Choose from: {}", run.path, absent[0], ", ".join(models)
        )
    tasks = _wanted(run, rubrics, chosen)
    items, left_out = _items(run, rubrics, tasks, chosen.limit)
    answers: list[GradableAnswer] = []
    for name in chosen.models or models:
        for response in run.responses(name, {each.partition("/")[0] for each in tasks}):
            item = items.get((response.task, response.query, response.item))
            if item is None:
                continue
            text = body_of(response.text).strip()
            answered = response.status not in {"failed", "filtered"}
            answer = GradableAnswer(AnswerId.of(response), item, text, answered)
            if chosen.only is None or code_of(answer) in chosen.only:
                answers.append(answer)
    if not answers:
        raise UsageError(
            _(
                "{}: no answers to grade in the tasks {}{}",
                run.path,
                ", ".join(tasks),
                "".join(f"; {count:,} {what}" for what, count in left_out.items()),
            )
            if items or left_out or chosen.tasks
            else _nothing_open(run, rubrics)
        )
    if chosen.only is not None and len(answers) < len(chosen.only):
        left_out["answers of the sample are not among those"] = len(chosen.only) - len(answers)
    order = {key: place for place, key in enumerate(items)}
    answers.sort(key=lambda each: order[each.item.task, each.item.query, each.item.id])
    return Answers(answers, dict(left_out))


def _nothing_open(run: RunFolder, rubrics: Rubrics) -> str:
    """An error that names the run's tasks which can be graded, where none is by default."""
    tasks = {item.task for item in run.items()}
    if graded := sorted(rubrics.tasks & tasks):
        return _(
            "{}: none of its tasks is graded by default. These have a rubric: {}. Choose them "
            "with --task",
            run.path,
            ", ".join(graded),
        )
    return _(
        "{}: none of its tasks ({}) has a rubric. Give your own with --rubrics",
        run.path,
        ", ".join(sorted(tasks)),
    )


def _wanted(run: RunFolder, rubrics: Rubrics, chosen: AnswerSelection) -> tuple[str, ...]:
    """The given tasks; else those of a sample, which may be any, or the open ones."""
    if chosen.tasks is not None:
        return rubrics.checked(chosen.tasks)
    if chosen.only is None:
        return rubrics.open_tasks()
    return tuple(sorted(rubrics.tasks & {item.task for item in run.items()}))


def _items(
    run: RunFolder, rubrics: Rubrics, wanted: Iterable[str], limit: int | None
) -> tuple[dict[tuple[str, str, str], Item], Counter[str]]:
    items: dict[tuple[str, str, str], Item] = {}
    left_out: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    forms = QuestionForms(wanted)
    for each in run.items():
        item = replace(each, answer=each.answer_simplified) if not each.answer.strip() else each
        if not forms.takes(item) or rubrics.rubric(item.task, item.query) is None:
            continue
        if not has_reference(item):
            left_out["items without a reference answer"] += 1
            continue
        seen[item.task] += 1
        if limit is None or seen[item.task] <= limit:
            items[item.task, item.query, item.id] = item
    return items, left_out


def code_of(judged: GradableAnswer) -> str:
    """A short code that identifies an answer without naming its model: 16 hexadecimal digits.

    It also covers the text: an answer that was requested again since is another one.
    """
    return sha256_bytes(f"{judged.id.spelled}\0{judged.text}".encode("utf-8", "replace"))[:16]
