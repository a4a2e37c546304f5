"""The answers of a run that a judge can grade, their ids, and the requests about them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from operator import itemgetter
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from keju.definitions import has_reference
from keju.errors import UsageError
from keju.extraction import body_of
from keju.items import Item, Request, Response, get_group
from keju.judging.prompting import Rubrics, question_of, sealed_prompt
from keju.runs import RunFolder
from keju.scoring import answer_code
from keju.texts import _

ID_FIELDS = ("model", "item", "task", "query", "setting", "round", "script", "wording")


def answer_id(response: Response) -> str:
    """The id of an answer in the requests about it: the `ID_FIELDS` of the response, in JSON."""
    return msgspec.json.encode([getattr(response, name) for name in ID_FIELDS]).decode()


class GradableAnswer(NamedTuple):
    """An answer that can be graded, with its item.

    `text` is the answer without the model's reasoning; it may be empty. `author` is a name that a
    probe writes under the answer.
    """

    item: Item
    response: Response
    text: str
    author: str = ""

    @property
    def id(self) -> str:
        """The id of the answer (`answer_id`)."""
        return answer_id(self.response)

    @property
    def code(self) -> str:
        """The code of the answer and its text (`answer_code`), which does not show the model."""
        return answer_code(self.response)

    @property
    def group(self) -> str:
        """The unit of independence: the item's group, else its image, else itself."""
        return get_group(self.item)

    @property
    def answered(self) -> bool:
        """Whether the call was answered: a failed or refused one has nothing to grade."""
        return self.response.status not in {"failed", "filtered"}

    @property
    def is_sent(self) -> bool:
        """Whether a judge is asked about the answer: it has a text."""
        return self.answered and bool(self.text)


def answers_of(
    run: RunFolder,
    rubrics: Rubrics,
    *,
    tasks: Collection[str] | None = None,
    only: frozenset[str] | None = None,
) -> list[GradableAnswer]:
    """The answers of a run that a judge may grade, in the order of the items and of the models.

    Answers to items without a reference are not among them. `tasks` are ids, also of question forms
    such as ``deciphering/What``; by default those with open rubrics, or all that have a rubric
    where `only` has the codes of the answers.

    Raises:
        UsageError: a task has no rubric, or nothing is left.
    """
    names = {*_tasks_to_grade(run, rubrics, tasks, is_sample=only is not None)}
    items: dict[tuple[str, str, str], tuple[int, Item]] = {}
    bare = 0
    for item in run.iter_items():
        is_named = not names.isdisjoint((item.task, f"{item.task}/{item.query}"))
        if is_named and rubrics.rubric(item.task, item.query):
            reference = item.answer if item.answer.strip() else item.answer_simplified
            if has_reference(item := replace(item, answer=reference)):
                items[item.task, item.query, item.id] = len(items), item
            else:
                bare += 1
    models = {model: place for place, model in enumerate(run.manifest().models)}
    answers = []
    for response in run.responses(tasks={task for task, _query, _item in items}):
        place, graded = items.get((response.task, response.query, response.item), (0, None))
        if graded is not None:
            answer = GradableAnswer(graded, response, body_of(response.text).strip())
            if only is None or answer.code in only:
                answers.append(((place, models.get(response.model, 0)), answer))
    if not answers:
        skipped = _("; {:,} items without a reference answer", bare) if bare else ""
        raise UsageError("{}: no answers to grade{}", run.path, skipped)
    return [answer for _place, answer in sorted(answers, key=itemgetter(0))]


def graded_answers(run: RunFolder, rubrics: Rubrics) -> list[GradableAnswer]:
    """Every answer of a run to a query that has a rubric, open or not."""
    return answers_of(run, rubrics, tasks=rubrics.tasks())


def _tasks_to_grade(
    run: RunFolder, rubrics: Rubrics, tasks: Collection[str] | None, *, is_sample: bool
) -> Collection[str]:
    with_rubric = rubrics.tasks()
    if tasks is not None:
        if without := [name for name in tasks if name not in with_rubric | rubrics.queries.keys()]:
            raise UsageError(
                "the rubrics {} have none for {}. They have some for {}; give your own with "
                "--rubrics",
                rubrics.id,
                ", ".join(without),
                ", ".join(sorted(with_rubric)),
            )
        return tasks
    if not with_rubric:
        raise UsageError(
            'the rubrics {} are for no query: give each its tasks, such as tasks = ["T2"]',
            rubrics.id,
        )
    graded = {item.task for item in run.iter_items()} & with_rubric
    names = graded if is_sample else graded & rubrics.tasks(only_open=True)
    if not names:
        raise UsageError(
            "{}: none of its tasks is graded by default. These have a rubric: {}. Choose them "
            "with --task, or give your own with --rubrics",
            run.path,
            ", ".join(sorted(graded)) or _("none"),
        )
    return names


def grading_requests(
    answers: Iterable[GradableAnswer], rubrics: Rubrics, repeats: int = 1
) -> Iterator[Request]:
    """The requests to a judge about answers: each one with a text, `repeats` times.

    A request does not name the model of the answer. Its item is the id of the answer, and its
    round the number of the repeat.

    Raises:
        DataError: an item's prompt cannot be made.
    """
    for answer in filter(lambda answer: answer.is_sent, answers):
        item, rubric = answer.item, rubrics.rubric(answer.item.task, answer.item.query)
        question, reference = question_of(item), "\n或：".join((item.answer, *item.also_accepted))
        source = item.transcription if rubrics.page_text else None
        blanks = {
            "rubric": rubric.says.strip() if rubric else "",
            "question": question,
            "source": rubrics.source.replace("{text}", source)
            if source and source != item.answer
            else "",
            "reference": reference,
            "author": rubrics.author.replace("{name}", answer.author) if answer.author else "",
        }
        request = Request(
            item=answer.id,
            benchmark=item.benchmark,
            task=item.task,
            form="number",
            prompt=sealed_prompt(rubrics, blanks, answer.text, question, reference),
        )
        yield from (replace(request, round=repeat) for repeat in range(1, repeats + 1))
