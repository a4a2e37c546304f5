"""From responses to scores: answers taken by rule, two protocols, verdicts, aggregates.

`score_answer`, `score_responses` and `score_run` make one `Score` for each metric that the
catalogue names; `aggregate` sums them to tasks, domains and benchmarks; `to_json` writes both down.
"""

from keju.scoring.aggregate import Tally, aggregate
from keju.scoring.decisions import NO_DECISIONS, Decision, Decisions, answer_code, read_decisions
from keju.scoring.export import encode_json, join_json, to_json
from keju.scoring.floors import WrongPage
from keju.scoring.lookup import (
    check_metrics,
    metric_names,
    metric_of,
    metric_row,
    metrics,
)
from keju.scoring.means import NO_RESPONSES
from keju.scoring.metric import Metric
from keju.scoring.model_comparison import (
    Difference,
    ItemName,
    OverallComparison,
    SideScores,
    TaskComparison,
    adjust_comparisons,
    compare_errors,
    compare_sides,
    compare_tasks,
    mark_equal,
)
from keju.scoring.own_metrics import metric
from keju.scoring.protocol_differences import (
    TaskDifference,
    list_task_differences,
)
from keju.scoring.results import (
    BenchmarkResult,
    MeanResult,
    MetricResult,
    Result,
    Summary,
    TaskResult,
    merge_unscored,
)
from keju.scoring.run import (
    score_answers,
    score_models,
    score_responses,
    score_run,
    unclear_samples,
    unused_decisions,
)
from keju.scoring.score import PROTOCOLS, STORED, score_answer
from keju.scoring.scores_parquet import read_fingerprint, read_scores, scores_frame, write_scores
from keju.scoring.signatures import metric_signature
from keju.scoring.stored import (
    check_scores,
    iter_stored_scores,
    stored_frames,
)
from keju.scoring.verdicts import VERDICTS

__all__ = [
    "NO_DECISIONS",
    "NO_RESPONSES",
    "PROTOCOLS",
    "STORED",
    "VERDICTS",
    "BenchmarkResult",
    "Decision",
    "Decisions",
    "Difference",
    "ItemName",
    "MeanResult",
    "Metric",
    "MetricResult",
    "OverallComparison",
    "Result",
    "SideScores",
    "Summary",
    "Tally",
    "TaskComparison",
    "TaskDifference",
    "TaskResult",
    "WrongPage",
    "adjust_comparisons",
    "aggregate",
    "answer_code",
    "check_metrics",
    "check_scores",
    "compare_errors",
    "compare_sides",
    "compare_tasks",
    "encode_json",
    "iter_stored_scores",
    "join_json",
    "list_task_differences",
    "mark_equal",
    "merge_unscored",
    "metric",
    "metric_names",
    "metric_of",
    "metric_row",
    "metric_signature",
    "metrics",
    "read_decisions",
    "read_fingerprint",
    "read_scores",
    "score_answer",
    "score_answers",
    "score_models",
    "score_responses",
    "score_run",
    "scores_frame",
    "stored_frames",
    "to_json",
    "unclear_samples",
    "unused_decisions",
    "write_scores",
]
