"""Run models on a dataset: plan requests, send them concurrently, store responses, resume."""

from keju.running.budget import Budget
from keju.running.cache_key import request_key
from keju.running.dataset_access import attach_dataset
from keju.running.merging import MergeResult, merge
from keju.running.model_summary import ModelSummary
from keju.running.plan import EstimatedRequest, plan_of
from keju.running.plan_records import Plan, PlanRow
from keju.running.policy import Policy, RetryPolicy
from keju.running.presets import preset
from keju.running.requests import request_count
from keju.running.run import run, run_in_loop
from keju.running.run_summary import RunSummary
from keju.running.selecting import Selection
from keju.running.store import ResponseStore
from keju.running.throttle import RateLimits

__all__ = [
    "Budget",
    "EstimatedRequest",
    "MergeResult",
    "ModelSummary",
    "Plan",
    "PlanRow",
    "Policy",
    "RateLimits",
    "ResponseStore",
    "RetryPolicy",
    "RunSummary",
    "Selection",
    "attach_dataset",
    "merge",
    "plan_of",
    "preset",
    "request_count",
    "request_key",
    "run",
    "run_in_loop",
]
