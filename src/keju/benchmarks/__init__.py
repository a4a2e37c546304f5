"""What is asked: the catalogues of tasks, as data."""

from keju.benchmarks.blank import as_blank, is_blank, status_for
from keju.benchmarks.catalogue import (
    OWN_BENCHMARK,
    OWN_PAGE,
    TaskRow,
    benchmark_title,
    is_task_word,
    official_number,
    printed_metrics,
    published_tasks,
    task,
    task_of_number,
    task_row,
    tasks,
    tasks_named,
)
from keju.benchmarks.forms import (
    QuestionForm,
    QuestionForms,
    question_form,
    question_forms_of,
)
from keju.benchmarks.options import options_in
from keju.benchmarks.prompts import choices_of, options_of, prompt_of, query_of
from keju.benchmarks.references import NO_REFERENCE, has_reference, missing_reference
from keju.benchmarks.tasks import CountKind, Query, Task
from keju.benchmarks.undeciphered import is_undeciphered

__all__ = [
    "NO_REFERENCE",
    "OWN_BENCHMARK",
    "OWN_PAGE",
    "CountKind",
    "Query",
    "QuestionForm",
    "QuestionForms",
    "Task",
    "TaskRow",
    "as_blank",
    "benchmark_title",
    "choices_of",
    "has_reference",
    "is_blank",
    "is_task_word",
    "is_undeciphered",
    "missing_reference",
    "official_number",
    "options_in",
    "options_of",
    "printed_metrics",
    "prompt_of",
    "published_tasks",
    "query_of",
    "question_form",
    "question_forms_of",
    "status_for",
    "task",
    "task_of_number",
    "task_row",
    "tasks",
    "tasks_named",
]
