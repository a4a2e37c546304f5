"""Run models on a dataset: plan requests, send them concurrently, store responses, resume."""

from keju.running.budget import Budget
from keju.running.cache_key import request_key
from keju.running.dataset_lending import lend
from keju.running.merging import Merged, merge
from keju.running.model_summary import ModelSummary, summary_of
from keju.running.outcomes import Job
from keju.running.plan import Asked, estimate, plan_of
from keju.running.plan_records import Plan, PlanRow
from keju.running.policy import Policy
from keju.running.presets import preset
from keju.running.request_runner import ModelQueue, RequestRunner
from keju.running.requests import request_count, requests
from keju.running.run import ask_all, run, run_in_loop
from keju.running.run_summary import RunSummary
from keju.running.selecting import Selection
from keju.running.store import RequestId, ResponseStore, Stored
from keju.running.throttle import Limits

__all__ = [
    "Asked",
    "Budget",
    "Job",
    "Limits",
    "Merged",
    "ModelQueue",
    "ModelSummary",
    "Plan",
    "PlanRow",
    "Policy",
    "RequestId",
    "RequestRunner",
    "ResponseStore",
    "RunSummary",
    "Selection",
    "Stored",
    "ask_all",
    "estimate",
    "lend",
    "merge",
    "plan_of",
    "preset",
    "request_count",
    "request_key",
    "requests",
    "run",
    "run_in_loop",
    "summary_of",
]
