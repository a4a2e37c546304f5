"""Which models a server reported under one name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from keju.items import Response
from keju.texts import Text, _, listed

_MOST_NAMED = 5


def served_name(response: Response) -> str:
    """The model that the server reported, with its fingerprint; empty where it reported none."""
    if not response.fingerprint:
        return response.served_model
    return f"{response.served_model} ({response.fingerprint})".strip()


def count_served(responses: Iterable[Response]) -> dict[str, Counter[str]]:
    """The numbers of responses by model and by the model that its server reported."""
    models: dict[str, Counter[str]] = {}
    for response in responses:
        if name := served_name(response):
            models.setdefault(response.model, Counter())[name] += 1
    return models


def served_line(model: str, counts: Counter[str]) -> Text:
    """A line for a model whose server reported several models, with their responses."""
    shares = [_("{:,} by {}", count, name) for name, count in counts.most_common(_MOST_NAMED)]
    return _(
        "{}: the server reported {:,} models under this name ({}). The scores mix them: use "
        "another --label and --out for each",
        model,
        len(counts),
        listed(shares),
    )


def served_lines(responses: Iterable[Response]) -> Iterator[Text]:
    """One line for each model whose server reported several models."""
    for model, counts in count_served(responses).items():
        if len(counts) > 1:
            yield served_line(model, counts)
