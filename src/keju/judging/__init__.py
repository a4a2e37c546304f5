"""Language models as graders, probes of them, and how far they agree with people."""

from keju.judging.answers import AnswerId, Answers, Chosen, Judged, answers_of
from keju.judging.asking import ask_judges, open_judges, plan_judging
from keju.judging.folder import JudgementFolder
from keju.judging.grades import Grade, grade_of
from keju.judging.grading import (
    Agreement,
    Graded,
    Judgement,
    TaskGrade,
    grades_of,
    grading_requests,
    judgements_of,
)
from keju.judging.probes import Probing, declared_probes, probings
from keju.judging.probing import Probed, ProbeResult, probe_results
from keju.judging.rubrics import Rubric, Rubrics, read_rubrics
from keju.judging.sampling import draw_sample, sampled_codes, write_sample

__all__ = [
    "Agreement",
    "AnswerId",
    "Answers",
    "Chosen",
    "Grade",
    "Graded",
    "Judged",
    "Judgement",
    "JudgementFolder",
    "ProbeResult",
    "Probed",
    "Probing",
    "Rubric",
    "Rubrics",
    "TaskGrade",
    "answers_of",
    "ask_judges",
    "declared_probes",
    "draw_sample",
    "grade_of",
    "grades_of",
    "grading_requests",
    "judgements_of",
    "open_judges",
    "plan_judging",
    "probe_results",
    "probings",
    "read_rubrics",
    "sampled_codes",
    "write_sample",
]
