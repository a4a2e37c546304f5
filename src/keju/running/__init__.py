"""Run models on a dataset: plan requests, send them concurrently, store responses, resume."""

from keju.running.ask import Asker, Lane, Policy
from keju.running.budget import Budget
from keju.running.keys import request_key
from keju.running.lending import lend
from keju.running.merging import Merged, merge
from keju.running.model_summary import ModelSummary, summary_of
from keju.running.outcomes import Job
from keju.running.plan import Asked, estimate, plan_of
from keju.running.plan_records import Plan, PlanRow
from keju.running.presets import preset
from keju.running.requests import request_count, requests
from keju.running.run import ask_all, run, run_in_loop
from keju.running.run_summary import RunSummary
from keju.running.selecting import Selection
from keju.running.store import ResponseStore, Slot, Stored
from keju.running.throttle import Limits

__all__ = [
    "Asked",
    "Asker",
    "Budget",
    "Job",
    "Lane",
    "Limits",
    "Merged",
    "ModelSummary",
    "Plan",
    "PlanRow",
    "Policy",
    "ResponseStore",
    "RunSummary",
    "Selection",
    "Slot",
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
