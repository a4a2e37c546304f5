"""`read_responses`: a file of responses in the form of a benchmark's authors, ready for scoring."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct

from keju.errors import DataError
from keju.items import Item
from keju.registry import PluginError, Registry, list_provided
from keju.scoring.scoring_sample import Defect, ScoringSample, text_response
from keju.texts import Text, _, join_clauses

GROUP = "responses"

ReadResponses = Callable[[Path], Iterable[ScoringSample | tuple[Item, str | None]]]
"""Reads a file, or raises `DataError` with the reason where it is not in the form."""


def _read_samples(form: str, read: ReadResponses, path: Path) -> list[ScoringSample]:
    returned: object = read(path)
    if isinstance(returned, str) or not isinstance(returned, Iterable):
        raise _not_pairs(form, type(returned).__name__)
    return [_make_sample(form, pair, path) for pair in returned]


def _not_pairs(form: str, returned: str) -> PluginError:
    return PluginError(
        "the form of response files {!r} returned {}, not pairs of an Item and a str (None without "
        "a response)",
        form,
        returned,
    )


def _make_sample(form: str, pair: object, path: Path) -> ScoringSample:
    match pair:
        case ScoringSample():
            return pair
        case Struct():
            raise DataError(
                "it has answers without their items",
                file=path,
                hint="Add it to a run: keju run DATASET --model replay:FILE",
            )
        case (Item() as item, (str() | None) as text):
            response = text_response(item, text, path.stem, f"{item.task}/{item.id}")
            return ScoringSample(item, response, Defect(in_file=True))
        case (first, second):
            raise _not_pairs(form, f"a pair of {type(first).__name__} and {type(second).__name__}")
    raise _not_pairs(form, type(pair).__name__)


FORMS: Registry[ReadResponses] = Registry("form of response files", GROUP, list_provided(GROUP))


def read_responses(path: Path) -> list[ScoringSample]:
    """Read a file of responses in the first of the forms that fits.

    Raises:
        DataError: none does; the error has the reason of each form, keju's own first.
        PluginError: a plug-in fails.
    """
    failed: list[DataError] = []
    others: list[Text | str] = []
    for entry in FORMS.iter_entries():
        if entry.thing is None:
            others.append(entry.problem)
            continue
        try:
            return _read_samples(entry.name, entry.thing, path)
        except DataError as error:
            if not path.exists():
                raise
            # A file of which keju read the items is hardly in a form that does not know it at all.
            if failed and (error.item or not failed[0].item):
                reason = _("{}: {}", error.item, error.problem) if error.item else error.problem
                others.append(_("not in the form {!r}: {}", entry.name, reason))
            failed.append(error)
    first = failed[0]
    problem = join_clauses([first.problem, *others])
    raise DataError(problem, file=first.file, item=first.item, hint=first.hint)
