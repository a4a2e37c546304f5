"""From responses to scores: answers taken by rule, two protocols, verdicts, aggregates.

`score_answer`, `score_responses` and `score_run` make one `Score` for each metric that the
catalogue names; `aggregate` sums them to tasks, domains and benchmarks, and `encode_json` writes
both down.
"""

from keju.definitions.protocols import PROTOCOLS as PROTOCOLS
from keju.definitions.protocols import STORED as STORED
from keju.scoring.aggregate import NO_RESPONSES as NO_RESPONSES
from keju.scoring.aggregate import Tally as Tally
from keju.scoring.aggregate import aggregate as aggregate
from keju.scoring.decisions import NO_DECISIONS as NO_DECISIONS
from keju.scoring.decisions import Decision as Decision
from keju.scoring.decisions import Decisions as Decisions
from keju.scoring.decisions import answer_code as answer_code
from keju.scoring.decisions import read_decisions as read_decisions
from keju.scoring.export import encode_json as encode_json
from keju.scoring.export import join_json as join_json
from keju.scoring.lookup import check_metrics as check_metrics
from keju.scoring.lookup import metric_names as metric_names
from keju.scoring.lookup import metric_of as metric_of
from keju.scoring.lookup import metric_row as metric_row
from keju.scoring.lookup import metrics as metrics
from keju.scoring.metric import Metric as Metric
from keju.scoring.metric import metric_signature as metric_signature
from keju.scoring.model_comparison import Difference as Difference
from keju.scoring.model_comparison import ItemName as ItemName
from keju.scoring.model_comparison import OverallComparison as OverallComparison
from keju.scoring.model_comparison import SideScores as SideScores
from keju.scoring.model_comparison import TaskComparison as TaskComparison
from keju.scoring.model_comparison import adjust_comparisons as adjust_comparisons
from keju.scoring.model_comparison import compare_errors as compare_errors
from keju.scoring.model_comparison import compare_sides as compare_sides
from keju.scoring.model_comparison import compare_tasks as compare_tasks
from keju.scoring.model_comparison import mark_equal as mark_equal
from keju.scoring.own_metrics import metric as metric
from keju.scoring.pages import WrongPage as WrongPage
from keju.scoring.protocol_differences import TaskDifference as TaskDifference
from keju.scoring.protocol_differences import list_task_differences as list_task_differences
from keju.scoring.results import BenchmarkResult as BenchmarkResult
from keju.scoring.results import MeanResult as MeanResult
from keju.scoring.results import MetricResult as MetricResult
from keju.scoring.results import Result as Result
from keju.scoring.results import Summary as Summary
from keju.scoring.results import TaskResult as TaskResult
from keju.scoring.results import merge_unscored as merge_unscored
from keju.scoring.score import score_answer as score_answer
from keju.scoring.score import score_answers as score_answers
from keju.scoring.score import score_models as score_models
from keju.scoring.score import score_responses as score_responses
from keju.scoring.score import score_run as score_run
from keju.scoring.score import unclear_samples as unclear_samples
from keju.scoring.score import unused_decisions as unused_decisions
from keju.scoring.stored import check_scores as check_scores
from keju.scoring.stored import read_fingerprint as read_fingerprint
from keju.scoring.stored import scores_frame as scores_frame
from keju.scoring.stored import stored_frames as stored_frames
from keju.scoring.stored import stored_scores as stored_scores
from keju.scoring.verdicts import VERDICTS as VERDICTS
