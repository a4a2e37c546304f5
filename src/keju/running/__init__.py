"""Asking: plan, ask concurrently, store, resume."""

from keju.running.ask import Policy
from keju.running.keys import request_key
from keju.running.lending import lend
from keju.running.plan import Plan, PlanRow, estimate
from keju.running.presets import preset
from keju.running.requests import request_count, requests
from keju.running.run import RunSummary, run
from keju.running.selecting import Selection
from keju.running.session import ModelSummary
from keju.running.store import ResponseStore

__all__ = [
    "ModelSummary",
    "Plan",
    "PlanRow",
    "Policy",
    "ResponseStore",
    "RunSummary",
    "Selection",
    "estimate",
    "lend",
    "preset",
    "request_count",
    "request_key",
    "requests",
    "run",
]
