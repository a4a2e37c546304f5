"""Which models a server reported under one name, and where they changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from keju.items import Response
from keju.texts import Text, listed, n_

_MOST_NAMED = 5


class ServedModels(msgspec.Struct):
    """The models that a server reported under one name.

    `counts` has the number of responses of each, in the order of their first response; `changed` is
    the item of the first response that another model than before gave, and `before` and `after` are
    the two models there.
    """

    counts: dict[str, int] = msgspec.field(default_factory=dict)
    changed: str = ""
    before: str = ""
    after: str = ""
    last: str = ""

    @property
    def several(self) -> bool:
        """Whether the server reported more than one model."""
        return len(self.counts) > 1

    def add(self, response: Response) -> None:
        """Count a response; one for which the server reported no model does not count."""
        if not (name := served_name(response)):
            return
        self.counts[name] = self.counts.get(name, 0) + 1
        if self.last and name != self.last and not self.changed:
            self.changed, self.before, self.after = response.item, self.last, name
        self.last = name

    def line(self, model: str) -> Text:
        """A line with the number of responses of each reported model, and the first change."""
        ranked = sorted(self.counts.items(), key=lambda pair: -pair[1])
        shares = [
            n_("{n:,} response by {}", "{n:,} responses by {}", count, name)
            for name, count in ranked[:_MOST_NAMED]
        ]
        return n_(
            "{}: the server reported {n:,} model under this name ({}); from item {} on {} after "
            "{}. The scores mix them: use another --label and --out for each",
            "{}: the server reported {n:,} models under this name ({}); from item {} on {} after "
            "{}. The scores mix them: use another --label and --out for each",
            len(ranked),
            model,
            listed(shares),
            self.changed,
            self.after,
            self.before,
        )


def served_name(response: Response) -> str:
    """The model that the server reported, with its fingerprint; empty where it reported none."""
    if not response.fingerprint:
        return response.served_model
    return f"{response.served_model} ({response.fingerprint})".strip()


def changed_models(responses: Iterable[Response]) -> dict[str, ServedModels]:
    """The models of a run whose server reported several models, by name.

    Args:
        responses: in the order in which they are stored, task by task.
    """
    models: dict[str, ServedModels] = {}
    for response in responses:
        models.setdefault(response.model, ServedModels()).add(response)
    return {model: served for model, served in models.items() if served.several}


def served_lines(responses: Iterable[Response]) -> Iterator[Text]:
    """One line for each model whose server reported several models."""
    return (served.line(model) for model, served in changed_models(responses).items())
