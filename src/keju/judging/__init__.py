"""Language models as judges and extractors: grades, agreement with people, unclear answers."""

from keju.judging.aligning import Alignment, Estimate, align
from keju.judging.answers import (
    AnswerId,
    AnswerSelection,
    GradableAnswer,
    answers_of,
    code_of,
)
from keju.judging.extracting import (
    EXTRACTION,
    ExtractionFolder,
    ExtractionResult,
    count_extractions,
    extraction_requests,
    gather_decisions,
    merge_extractions,
    stored_extractors,
)
from keju.judging.grading import (
    Agreement,
    GradingResult,
    Judgement,
    TaskGrade,
    graded_answers,
    grades_of,
    grading_requests,
    judgements_of,
    mean_grades,
)
from keju.judging.probes import (
    ProbeResult,
    ProbingResult,
    declared_probes,
    probe_results,
    probings,
)
from keju.judging.raters import draw_sample, read_ratings, sampled_codes, write_sample
from keju.judging.rubrics import Rubrics, check_rubrics, read_rubrics
from keju.judging.store import (
    JudgementFolder,
    ask_judges,
    open_judges,
    plan_judging,
    sent_data,
    stored_rubrics,
)

__all__ = [
    "EXTRACTION",
    "Agreement",
    "Alignment",
    "AnswerId",
    "AnswerSelection",
    "Estimate",
    "ExtractionFolder",
    "ExtractionResult",
    "GradableAnswer",
    "GradingResult",
    "Judgement",
    "JudgementFolder",
    "ProbeResult",
    "ProbingResult",
    "Rubrics",
    "TaskGrade",
    "align",
    "answers_of",
    "ask_judges",
    "check_rubrics",
    "code_of",
    "count_extractions",
    "declared_probes",
    "draw_sample",
    "extraction_requests",
    "gather_decisions",
    "graded_answers",
    "grades_of",
    "grading_requests",
    "judgements_of",
    "mean_grades",
    "merge_extractions",
    "open_judges",
    "plan_judging",
    "probe_results",
    "probings",
    "read_ratings",
    "read_rubrics",
    "sampled_codes",
    "sent_data",
    "stored_extractors",
    "stored_rubrics",
    "write_sample",
]
