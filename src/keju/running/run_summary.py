"""`RunSummary`: the outcome of a run, and what to do next."""

from __future__ import annotations

from keju.items import Record
from keju.models import MISSING
from keju.running.failures import Hint, may_change
from keju.running.model_summary import ModelSummary
from keju.texts import _, hint_of, join_sentences


class RunSummary(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The outcome of a run.

    `interrupted`: it was stopped by the user or the system. `used_up` names the part of its budget
    that was used up, if any. `waiting` is the number of requests that servers are processing in
    batches. `cost` is the cost of all the answers in the run by the price file, in `currency`; None
    without one.
    """

    out: str
    items: int
    models: tuple[ModelSummary, ...]
    interrupted: bool = False
    used_up: str = ""
    waiting: int = 0
    cost: float | None = None
    currency: str = ""

    @property
    def failures(self) -> int:
        """The number of requests whose response is a failure."""
        return sum(model.statuses.get("failed", 0) for model in self.models)

    @property
    def left(self) -> int:
        """The number of requests that have no response yet."""
        return sum(model.left for model in self.models)

    @property
    def complete(self) -> bool:
        """Whether every request has a response that is not a failure."""
        return not self.failures and not self.left

    @property
    def advice(self) -> str:
        """The next step for failures and missing responses, one line; empty if none is needed.

        Results that files lack are hinted at where they are named, so they have no advice here.
        """
        hints: list[str] = [
            _("{}: {}", model.model, Hint(model.hint, model.then).whole)
            for model in self.models
            if model.hint
        ]
        halted = sum(model.left for model in self.models if model.hint)
        if self.left > halted:
            more = (
                [_("Add --retry-failed to send the failed requests again too")]
                if self._may_change
                else []
            )
            return join_sentences([*hints, self._how_to_continue, *more])
        if hints:
            return join_sentences(hints)
        if self._may_change:
            return _(
                "Run the same command again with --retry-failed to send only the failed requests "
                "again"
            )
        if any(kind != MISSING for model in self.models for kind in model.failures):
            return _(
                "The same requests would fail again. Correct the causes that are shown above first"
            )
        return ""

    @property
    def _how_to_continue(self) -> str:
        if hint := hint_of(self.used_up):
            return hint
        if self.waiting:
            return _("Run the same command again later to collect the finished responses")
        return _("Run the same command again to continue")

    @property
    def _may_change(self) -> bool:
        """Whether some failure may become an answer when it is sent again."""
        return any(may_change(kind) for model in self.models for kind in model.failures)
