"""Language models as judges and extractors: grades, agreement with people, unclear answers."""

from keju.judging.aligning import Alignment, align
from keju.judging.answers import (
    AnswerId,
    GradableAnswer,
    answers_of,
    code_of,
    graded_answers,
    grading_requests,
)
from keju.judging.extracting import gather_decisions, merge_extractions
from keju.judging.grading import Judgement, TaskGrade, grades_of, judgements_of, mean_grades
from keju.judging.prompting import Rubrics, check_rubrics, read_rubrics
from keju.judging.raters import draw_sample, read_ratings
from keju.judging.store import (
    ExtractionFolder,
    JudgementFolder,
    ask_judges,
    open_judges,
    stored_rubrics,
)

__all__ = [
    "Alignment",
    "AnswerId",
    "ExtractionFolder",
    "GradableAnswer",
    "Judgement",
    "JudgementFolder",
    "Rubrics",
    "TaskGrade",
    "align",
    "answers_of",
    "ask_judges",
    "check_rubrics",
    "code_of",
    "draw_sample",
    "gather_decisions",
    "graded_answers",
    "grades_of",
    "grading_requests",
    "judgements_of",
    "mean_grades",
    "merge_extractions",
    "open_judges",
    "read_ratings",
    "read_rubrics",
    "stored_rubrics",
]  # fmt: skip
