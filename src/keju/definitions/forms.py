"""`QuestionForm`: a task, or one question form of it, named ``TASK/QUERY``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from keju.definitions.registry import task
from keju.errors import UsageError, unknown_name
from keju.items import Item


class QuestionForm(NamedTuple):
    """A task (`query` is None), or one question form of it."""

    task: str
    query: str | None = None

    @property
    def name(self) -> str:
        """The form as users write it, such as ``recognition/Where``."""
        return self.task if self.query is None else f"{self.task}/{self.query}"

    def takes(self, task_id: str, query: str) -> bool:
        """Whether this form includes the questions of that task and query."""
        return task_id == self.task and self.query in (None, query)


class QuestionForms:
    """The question forms that ``--task`` names. Without ``--task`` all forms are included."""

    def __init__(self, names: Iterable[str] | None) -> None:
        self.forms = None if names is None else tuple(map(question_form, names))

    def takes(self, item: Item) -> bool:
        """Whether an item's question has one of these forms."""
        return self.forms is None or any(form.takes(item.task, item.query) for form in self.forms)


def question_form(name: str) -> QuestionForm:
    """The question form of that name: ``TASK``, or ``TASK/QUERY``."""
    task_id, separator, query = name.partition("/")
    queries = [declared.name for declared in task(task_id).queries]
    if not separator:
        return QuestionForm(task_id)
    if not query or query not in queries:
        raise UsageError(unknown_name(name, name_forms(task_id, queries), "question form"))
    return QuestionForm(task_id, query)


def name_forms(task_id: str, queries: Iterable[str]) -> list[str]:
    """The names of the question forms of a task; one without a name is that of the task."""
    return [f"{task_id}/{query}" if query else task_id for query in queries]


def question_forms_of(items: Iterable[Item]) -> list[str]:
    """The names of the tasks of these items, and of their question forms if a task has several."""
    places = {(item.task, query) for item in items for query in ("", item.query)}
    return [f"{task_id}/{query}" if query else task_id for task_id, query in sorted(places)]
