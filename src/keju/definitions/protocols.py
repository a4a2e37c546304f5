"""The protocols under which responses are scored: a row each.

A protocol differs from the others in the metrics that a query names for it and in its view of a
response, and in nothing that its row does not say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from keju.items import AnswerForm, Protocol, Response
from keju.text import add_reasoning
from keju.texts import Text, _

if TYPE_CHECKING:
    from keju.definitions.schema import Definition

DECIDED_FORMS: frozenset[AnswerForm] = frozenset(
    {"letter", "short", "number", "yes-no", "probability", "entities", "boxes"}
)
"""The forms of which an answer can be unclear. Of a passage the whole text is scored."""


def _with_reasoning(response: Response) -> Response:
    """The response as a server without a parser for reasoning would return it (our reading)."""
    if not response.thinking or response.not_text or response.status in {"failed", "filtered"}:
        return response
    return replace(response, text=add_reasoning(response.text, response.thinking), thinking="")


@dataclass(frozen=True, kw_only=True)
class ProtocolRow:
    """A protocol and everything that depends on it.

    Attributes:
        name: the protocol.
        metrics: the key of a query that names its metrics.
        beside: the protocols that ``--protocol NAME`` scores as well.
        main: whether it is one of those that every table shows side by side.
        by_default: whether a run is scored under it without being asked for; main ones are.
        means: whether its metrics have a main one, so that there are means of tasks.
        view: the response as the protocol sees it, for one that computes the metrics of another.
            A model without a response that it changes has no scores under the protocol.
        about: what a view does, for readers.
        form: how it puts the text together.
        applies: whether the responses to a benchmark's items are scored under it.
        signature: its name in signatures, where that is another.
        view_signature: the part of signatures for the view.
        json_key: its key in the JSON of ``keju score``.
    """

    name: Protocol
    metrics: Literal["official", "strict", "printed"]
    beside: tuple[Protocol, ...] = ()
    main: bool = False
    by_default: bool = False
    means: bool = True
    view: Callable[[Response], Response] | None = None
    about: Text | str = ""
    form: str = ""
    applies: Callable[[Definition], bool] = lambda _definition: True
    signature: str = ""
    view_signature: str = ""
    json_key: str = ""

    @property
    def line(self) -> Text:
        """Its name and what its view does."""
        return _("{}: {}", self.name, self.about)

    @property
    def reads_all(self) -> bool:
        """Whether all responses are read, so that an unclear answer makes a range.

        The others have no range, since the papers print single numbers. They also compare items
        without a reference and responses that are not text, as the authors' scripts do.
        """
        return self.metrics == "strict"

    def reads(self, form: AnswerForm) -> bool:
        """Whether the rules of `keju.extraction` read answers of a form (part of signatures)."""
        return self.reads_all or (self.metrics == "printed" and form in DECIDED_FORMS)


_FORM = "<think>REASONING</think>CONTENT"

_ROWS = (
    ProtocolRow(name="official", metrics="official", main=True),
    ProtocolRow(name="strict", metrics="strict", main=True),
    ProtocolRow(
        name="with-reasoning",
        metrics="official",
        beside=("official",),
        by_default=True,
        view=_with_reasoning,
        about=_("official with the reasoning field before the content, as {}", _FORM),
        form=_FORM,
        applies=lambda definition: definition.official_with_reasoning,
        view_signature="|reasoning:<think>+content",
        json_key="with_reasoning",
    ),
    ProtocolRow(
        name="printed",
        metrics="printed",
        beside=("official", "strict", "with-reasoning"),
        means=False,
        signature="as-printed",
        json_key="variants",
    ),
)
PROTOCOL_ROWS: dict[Protocol, ProtocolRow] = {row.name: row for row in _ROWS}
"""Every protocol, by name."""

PROTOCOLS: tuple[Protocol, ...] = tuple(row.name for row in _ROWS if row.main)
"""The protocols that every table shows side by side."""

STORED: tuple[Protocol, ...] = tuple(row.name for row in _ROWS if row.main or row.by_default)
"""The protocols under which a run is scored by default."""


def asked_protocols(name: Protocol | Literal["both"]) -> tuple[Protocol, ...]:
    """The protocols that a value of ``--protocol`` means."""
    return STORED if name == "both" else (*PROTOCOL_ROWS[name].beside, name)
