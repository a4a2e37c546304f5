"""`Plan` and its rows: the requests, tokens, money and hours that a run would take."""

from __future__ import annotations

from msgspec import field

from keju.items import Record
from keju.running.tokens import TEXT_RULE
from keju.texts import _

READING = "(reading)"
"""The task of the first of two phases: images are transcribed before models answer."""

OUTPUT_RULE = _("an answer as long as the true one; thinking is not counted")


class PlanRow(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The requests to one model of one task, or its transcriptions beforehand (task `READING`).

    `calls` are requests over all rounds that have no response yet, `stored` those that have.
    `image_bytes` are the bytes of the images as stored and `wire_bytes` those that are sent, images
    in base64; 0 where nothing leaves this machine, and then there are no tokens either.
    `input_tokens` are those of text and images; `image_tokens` of the images alone, and both None
    where the rule of the model's vendor is not known. `money` is None without prices, and where a
    price or a count is not known. `declined` maps reasons to counts of unsupported requests;
    `unknown` names what the estimate does not include.
    """

    model: str
    task: str
    calls: int = 0
    stored: int = 0
    images: int = 0
    image_bytes: int = 0
    wire_bytes: int = 0
    text_tokens: int = 0
    image_tokens: int | None = 0
    input_tokens: int | None = 0
    output_tokens: int = 0
    money: float | None = None
    declined: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)


class PlanTotal(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The sum for one model. `hours` is at the rate that was given, else None.

    `counted_by` is the source of the rule by which its images are counted, empty where none is
    known or nothing leaves this machine.
    """

    model: str
    calls: int
    stored: int
    wire_bytes: int
    image_tokens: int | None
    input_tokens: int | None
    output_tokens: int
    money: float | None
    hours: float | None
    counted_by: str


class PairPlan(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The sum for one model and all pair tasks in one form.

    `form` is the value of ``--pairs``, empty for the full protocol; `a_round` is the number of
    calls of one round. Tokens, money and hours are as in `PlanTotal`.
    """

    model: str
    form: str
    calls: int
    a_round: int
    input_tokens: int | None
    output_tokens: int
    money: float | None
    hours: float | None


class Plan(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The requests that a run would send: a row for each model and task, a sum for each model.

    `text_rule` and `output_rule` describe how tokens were estimated; `currency` and `prices_seen`
    are those of the price file. `forms` are the full protocol of pair tasks and its reduced forms,
    `identities` those of the models, as run.json would have them.
    """

    items: int
    rows: tuple[PlanRow, ...]
    totals: tuple[PlanTotal, ...] = ()
    text_rule: str = TEXT_RULE
    output_rule: str = OUTPUT_RULE
    currency: str = ""
    prices_seen: str = ""
    forms: tuple[PairPlan, ...] = ()
    identities: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def calls(self) -> int:
        """The number of requests over all models and tasks."""
        return sum(row.calls for row in self.rows)

    @property
    def wire_bytes(self) -> int:
        """The bytes that leave this machine."""
        return sum(row.wire_bytes for row in self.rows)
