"""Run models on a dataset: plan requests, send them concurrently, store responses, resume."""

from keju.running.contents import access_of
from keju.running.limits import Policy, RetryPolicy
from keju.running.merging import MergeResult, merge
from keju.running.plan import Plan, PlannedModel, PlanRow, plan_of
from keju.running.presets import preset
from keju.running.requests import request_count, request_key
from keju.running.run_summary import ModelSummary, RunSummary
from keju.running.selection import Selection
from keju.running.session import plan_run, run, run_in_loop
from keju.running.store import ResponseStore

__all__ = [
    "MergeResult",
    "ModelSummary",
    "Plan",
    "PlanRow",
    "PlannedModel",
    "Policy",
    "ResponseStore",
    "RetryPolicy",
    "RunSummary",
    "Selection",
    "access_of",
    "merge",
    "plan_of",
    "plan_run",
    "preset",
    "request_count",
    "request_key",
    "run",
    "run_in_loop",
]
