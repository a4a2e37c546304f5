"""Definitions of benchmarks and their tasks, as data."""

from keju.definitions.blank import counted_status, is_blank, mark_blank, says_blank
from keju.definitions.catalogue import (
    OWN_BENCHMARK,
    OWN_PAGE,
    TaskRow,
    benchmark_title,
    is_task_word,
    means_of,
    name_in_chinese,
    official_number,
    paper_tasks,
    printed_metrics,
    reading_task,
    task_row,
    tasks_named,
)
from keju.definitions.definition import Definition, Mean, parse_definition
from keju.definitions.forms import (
    QuestionForm,
    QuestionForms,
    question_form,
    question_forms_of,
)
from keju.definitions.official import without_official
from keju.definitions.options import options_in
from keju.definitions.prompt_files import read_prompts
from keju.definitions.prompts import choices_of, options_of, prompt_of, query_of
from keju.definitions.references import NO_REFERENCE, has_reference, missing_reference
from keju.definitions.registry import (
    benchmark,
    definition_texts,
    definitions,
    file_of,
    folder_of,
    has_task,
    is_shipped,
    load_benchmark,
    official_source,
    register_all_installed,
    register_definition,
    task,
    tasks,
)
from keju.definitions.tasks import Candidates, CountKind, Query, Task
from keju.definitions.undeciphered import is_undeciphered

__all__ = [
    "NO_REFERENCE",
    "OWN_BENCHMARK",
    "OWN_PAGE",
    "Candidates",
    "CountKind",
    "Definition",
    "Mean",
    "Query",
    "QuestionForm",
    "QuestionForms",
    "Task",
    "TaskRow",
    "benchmark",
    "benchmark_title",
    "choices_of",
    "counted_status",
    "definition_texts",
    "definitions",
    "file_of",
    "folder_of",
    "has_reference",
    "has_task",
    "is_blank",
    "is_shipped",
    "is_task_word",
    "is_undeciphered",
    "load_benchmark",
    "mark_blank",
    "means_of",
    "missing_reference",
    "name_in_chinese",
    "official_number",
    "official_source",
    "options_in",
    "options_of",
    "paper_tasks",
    "parse_definition",
    "printed_metrics",
    "prompt_of",
    "query_of",
    "question_form",
    "question_forms_of",
    "read_prompts",
    "reading_task",
    "register_all_installed",
    "register_definition",
    "says_blank",
    "task",
    "task_row",
    "tasks",
    "tasks_named",
    "without_official",
]
