"""`prompt_of`: build the prompt of an item."""

from __future__ import annotations

import re
from string import ascii_uppercase

from keju.definitions.options import MAX_OPTIONS, options_in
from keju.definitions.registry import task
from keju.definitions.schema import BLANK, Query
from keju.definitions.wordings import RELEASED, prompt_in_wording
from keju.errors import DataError, UsageError, error_text
from keju.files import shipped_toml
from keju.items import Item, PromptScript
from keju.metrics.boxes import box_convention
from keju.text import in_script
from keju.texts import _


def query_of(item: Item) -> Query:
    """The query of an item; `DataError` if its task or query is not in the catalogue."""
    try:
        queries = task(item.task).queries
    except UsageError as error:
        raise DataError(error_text(error), item=item.id) from None
    for query in queries:
        if query.name == item.query:
            return query
    names = ", ".join(query.name for query in queries if query.name) or _("none, leave it empty")
    raise DataError(
        "task {!r} has no query {!r}",
        item.task,
        item.query,
        item=item.id,
        hint=_("Queries: {}", names),
    )


def prompt_of(
    item: Item, boxes: str = "", script: PromptScript = "released", wording: str = RELEASED
) -> str:
    """The whole prompt of an item, in a script.

    A verbatim question is the prompt. Else the task's template is filled: ``{question}`` from the
    item's question, ``{options}`` as ``A、… B、… C、…``, ``{box_format}`` from the convention
    `boxes` (by default the query's), ``{prompt}`` from the whole published prompt, any other
    placeholder from its fields. Nothing inside a value counts as a placeholder.

    In a script, the question is the item's wording that was released in it (`Item.question_in`);
    where there is none, and for the rest of the prompt, OpenCC converts. In a `wording` that has a
    prompt of its own for the item's question form, that is the template, of a verbatim question
    too.

    Raises:
        UsageError: the convention does not exist.
        DataError: a placeholder has no value, or there are more options than letters.
    """
    query, own = query_of(item), prompt_in_wording(item, wording)
    convention = (own.box_convention if own else "") or boxes or query.box_convention
    released = "" if script == "released" else item.question_in.get(script, "")
    template = "{question}" if item.verbatim else query.template
    if own and own.ask:
        template = own.ask
    elif item.verbatim and released:
        return released

    if script == "released" or not released:
        prompt = BLANK.sub(lambda blank: _value(item, blank[1], convention, script), template)
        return prompt if script == "released" else in_script(prompt, script)

    def value_in_script(blank: re.Match[str]) -> str:
        # OpenCC would convert a question that was released in the script once more.
        if blank[1] == "question":
            return released
        return in_script(_value(item, blank[1], convention, script), script)

    return BLANK.sub(value_in_script, in_script(template, script))


def options_of(item: Item) -> tuple[str, ...]:
    """The texts of the options: the item's own, else those in its verbatim question.

    Empty where the query does not ask for a letter.
    """
    if query_of(item).form != "letter":
        return ()
    return item.options or (options_in(item.question) if item.verbatim else ())


def choices_of(item: Item) -> tuple[str, ...]:
    """The letters of the options from ``A``; empty where the query does not ask for a letter."""
    options = options_of(item)
    return tuple(_letters(item, options)) if options else ()


def _value(item: Item, blank: str, convention: str, script: PromptScript) -> str:
    if blank == "prompt":
        return prompt_of(item, convention, script)
    if blank == "box_format":
        axes, scale = box_convention(convention)
        return _BOX_FORMATS["axes"][axes] + _BOX_FORMATS["scale"][scale]
    value = item.question if blank == "question" else item.fields.get(blank, "")
    if blank == "options" and (options := item.options or options_of(item)):
        letters = _letters(item, options)
        value = " ".join(f"{letter}、{text}" for letter, text in zip(letters, options, strict=True))
    if value:
        return value
    if blank != "question" and item.verbatim:
        raise DataError(
            "the blank {{{}}} has no value, because the prompt is stored as a whole, as it was "
            "released",
            blank,
            item=item.id,
            hint="Use {prompt} in the wording",
        )
    own = blank in {"question", "options"}
    raise DataError(
        "the blank {{{}}} of task {!r} has no value",
        blank,
        item.task,
        item=item.id,
        hint=_("Give the item's {}", blank) if own else _("Give its fields: {}", blank),
    )


_BOX_FORMATS = shipped_toml("keju.definitions", "data/box_formats.toml", dict[str, dict[str, str]])
"""Box conventions as texts in a prompt, e.g. ``[xmin, ymin, xmax, ymax]``."""


def _letters(item: Item, options: tuple[str, ...]) -> str:
    if len(options) > MAX_OPTIONS:
        raise DataError("{} options, but letters end at Z", len(options), item=item.id)
    return ascii_uppercase[: len(options)]
