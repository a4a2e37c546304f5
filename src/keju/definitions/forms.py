"""`QuestionForm`: a task, or one question form of it, named ``TASK/QUERY``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from keju.definitions.registry import task
from keju.errors import UsageError, unknown_name
from keju.items import Item


class QuestionForm(NamedTuple):
    """A task, or one question form of it, by its name such as ``recognition/Where``."""

    name: str

    def takes(self, task_id: str, query: str) -> bool:
        """Whether this form includes the questions of that task and query."""
        return self.name in {task_id, f"{task_id}/{query}"}


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
    if separator and (not query or query not in queries):
        raise UsageError(unknown_name(name, name_forms(task_id, queries), "question form"))
    return QuestionForm(name)


def name_forms(task_id: str, queries: Iterable[str]) -> list[str]:
    """The names of the question forms of a task; one without a name is that of the task."""
    return [f"{task_id}/{query}" if query else task_id for query in queries]


def question_forms_of(items: Iterable[Item]) -> list[str]:
    """The names of the tasks of these items, and of their question forms if a task has several."""
    places = {(item.task, query) for item in items for query in ("", item.query)}
    return [name for task_id, query in sorted(places) for name in name_forms(task_id, [query])]
