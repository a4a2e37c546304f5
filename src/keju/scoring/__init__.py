"""From responses to scores: answers taken by rule, two protocols, verdicts, aggregates.

`score_answer`, `score_responses` and `score_run` make one `Score` for each metric that the
catalogue names; `aggregate` sums them to tasks, domains and benchmarks; `to_json` writes both down.
"""

from keju.scoring.aggregate import (
    BenchmarkResult,
    MeanResult,
    MetricResult,
    Result,
    TaskResult,
    aggregate,
    is_ratio_of_sums,
)
from keju.scoring.answers import Extracted, body_of, transcription_of
from keju.scoring.box_lists import BoxList, extract_boxes
from keju.scoring.export import to_json
from keju.scoring.letters import extract_letter
from keju.scoring.protocols import Binding, binding_of, signature
from keju.scoring.run import score_run
from keju.scoring.score import PROTOCOLS, models_of, score_answer, score_responses
from keju.scoring.short import extract_entities, extract_short
from keju.scoring.stated import extract_count, extract_probability
from keju.scoring.table import read_scores, write_scores
from keju.scoring.verdicts import VERDICTS, Verdict, verdict_of
from keju.scoring.yes_no import extract_yes_no, first_yes_no

__all__ = [
    "PROTOCOLS",
    "VERDICTS",
    "BenchmarkResult",
    "Binding",
    "BoxList",
    "Extracted",
    "MeanResult",
    "MetricResult",
    "Result",
    "TaskResult",
    "Verdict",
    "aggregate",
    "binding_of",
    "body_of",
    "extract_boxes",
    "extract_count",
    "extract_entities",
    "extract_letter",
    "extract_probability",
    "extract_short",
    "extract_yes_no",
    "first_yes_no",
    "is_ratio_of_sums",
    "models_of",
    "read_scores",
    "score_answer",
    "score_responses",
    "score_run",
    "signature",
    "to_json",
    "transcription_of",
    "verdict_of",
    "write_scores",
]
