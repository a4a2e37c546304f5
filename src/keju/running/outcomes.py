"""`Job`, a request to be sent, and `response_of`, the stored form of its outcome."""

from __future__ import annotations

from typing import NamedTuple

from keju.errors import english_problem
from keju.items import Failure, Request, Response, Status, Usage
from keju.models import Answer, AskError, Model, source_of
from keju.running.cache_key import request_key

_NONE = Usage()


class Job(NamedTuple):
    """A request and its cache key; with a failure, it is not sent and is stored as failed.

    `source_sha256` is the hash of the file that has the answer, where answers are files.
    """

    request: Request
    key: str
    failure: Failure | None = None
    source_sha256: str = ""


def job_of(model: Model, request: Request, failure: Failure | None = None) -> Job:
    """The job of sending a request to a model."""
    source = source_of(model, request)
    return Job(request, request_key(request, model.identity, source), failure, source)


def response_of(
    model: Model,
    job: Job,
    outcome: Answer | AskError,
    seconds: float,
    attempts: int,
    uncounted: Usage = _NONE,
) -> Response:
    """The response to store for a job: its answer, or why there is none."""
    request, error = job.request, None
    if isinstance(outcome, AskError):
        error = Failure(kind=outcome.kind, message=english_problem(outcome))
        status: Status = "filtered" if outcome.kind == "refused" else "failed"
        outcome = Answer(text="", status=status, decoding=None)
    return Response(
        key=job.key,
        item=request.item,
        model=model.name,
        benchmark=request.benchmark,
        task=request.task,
        status=outcome.status,
        query=request.query,
        setting=request.setting,
        script=request.script,
        wording=request.wording,
        round=request.round,
        candidate=request.candidate,
        box_convention=request.box_convention,
        examples=tuple(each.item for each in request.examples),
        text=outcome.text,
        not_text=outcome.not_text,
        thinking=outcome.thinking,
        finish_reason=outcome.finish_reason,
        usage=outcome.usage,
        uncounted=uncounted,
        seconds=round(seconds, 3),
        attempts=attempts,
        error=error,
        lines=outcome.lines,
        source_sha256=job.source_sha256,
        decoding=outcome.decoding,
        refused=outcome.refused,
        served_model=outcome.served_model,
        fingerprint=outcome.fingerprint,
    )
