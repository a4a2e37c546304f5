"""`prompt_of` builds the prompt of an item; `options_in` finds options inside a question."""

from __future__ import annotations

import re
from bisect import bisect_right
from string import ascii_uppercase

from keju.definitions.registry import task
from keju.definitions.schema import BLANK, Query
from keju.definitions.wordings import RELEASED
from keju.definitions.wordings import wording as wording_of
from keju.errors import DataError, UsageError, error_text
from keju.files import shipped_toml
from keju.items import Item, PromptScript
from keju.metrics.boxes import box_convention
from keju.text import in_script
from keju.texts import _

MAX_OPTIONS = len(ascii_uppercase)

_FOLD = str.maketrans({chr(0xFF21 + i): letter for i, letter in enumerate(ascii_uppercase)})
_LABEL = re.compile(r"[(（\[【]?(?P<letter>[A-Z])\s{0,3}[、.．:：)）\]】]")
_BEFORE = re.compile(r"[\s。．；;，,、？?！!：:)）\]】]\Z")
_REQUIREMENT = re.compile(
    r"(?:(?<!^)要求[：:]|(?<=[\s。])请?(?:只|仅|直接)(?:输出|回答)).*\Z", re.DOTALL
)
_EDGE = " \t\r\n\u3000；;，,"

_BOX_FORMATS = shipped_toml("keju.definitions", "data/box_formats.toml", dict[str, dict[str, str]])
"""Box conventions as texts in a prompt, e.g. ``[xmin, ymin, xmax, ymax]``."""


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
    query = query_of(item)
    own = wording_of(wording).prompt(item.task, item.query)
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
    own = blank in {"question", "options"}
    hint = _("Give the item's {}", blank) if own else _("Give its fields: {}", blank)
    if blank != "question" and item.verbatim:
        hint = _("Use {prompt} in the wording")
    problem = _("the blank {{{}}} of task {!r} has no value", blank, item.task)
    raise DataError(problem, item=item.id, hint=hint)


def _letters(item: Item, options: tuple[str, ...]) -> str:
    if len(options) > MAX_OPTIONS:
        raise DataError("{} options, but letters end at Z", len(options), item=item.id)
    return ascii_uppercase[: len(options)]


def options_in(question: str) -> tuple[str, ...]:
    """The options that a question prints, in order of their letters; empty if it prints none.

    Labels count upwards from A, in the forms ``A、xx``, ``A. xx``, ``A．xx``, ``A：xx``, ``(A)
    xx``, separated by spaces, line breaks or stops. A mark 、 inside an option does not separate.
    The answer-format sentence after the last option and a full stop at the end of the whole list
    are removed. Our reading.
    """
    text = question.translate(_FOLD)
    labels = list(_LABEL.finditer(text))
    chain = _longest([label for label in labels if _stands_apart(label)]) or _longest(
        [label for label in labels if not text[label.start() - 1 : label.start()].isascii()]
    )
    if not chain:
        return ()
    ends = [label.start() for label in chain[1:]] + [len(question)]
    options = [
        question[label.end() : end].strip(_EDGE) for label, end in zip(chain, ends, strict=True)
    ]
    last = _REQUIREMENT.sub("", options[-1]).strip(_EDGE)
    if not any("\n" in option for option in options[:-1]):
        last = last.partition("\n")[0].strip(_EDGE)
    if not any(option.endswith("。") for option in options[:-1]):
        last = last.removesuffix("。")
    return (*options[:-1], last)


def _stands_apart(label: re.Match[str]) -> bool:
    before = label.string[: label.start()][-1:]
    has_bracket = label[0][0] != label["letter"]
    return has_bracket or not before or _BEFORE.search(before) is not None


def _longest(labels: list[re.Match[str]]) -> list[re.Match[str]]:
    """The longest run A, B, C, … of labels; of equal ones the last, since options come last."""
    places: dict[str, list[int]] = {}
    for place, label in enumerate(labels):
        places.setdefault(label["letter"], []).append(place)
    longest: list[int] = []
    for first in places.get("A", ()):
        run = [first]
        for letter in ascii_uppercase[1:]:
            of_letter = places.get(letter, [])
            after = bisect_right(of_letter, run[-1])
            if after == len(of_letter):
                break
            run.append(of_letter[after])
        if len(run) >= max(2, len(longest)):
            longest = run
    return [labels[place] for place in longest]
