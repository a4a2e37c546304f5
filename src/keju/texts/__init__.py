"""Texts that people read: English in the code, Chinese beside it in ``keju.po``.

The English sentence is the key; a sentence without a translation is shown in English::

    _("no model {!r} in {}", name, path)
    n_("{n:,} item is missing", "{n:,} items are missing", count)
    p_("column", "items")
    raise DataError("the image {!r} is missing", name, file=path, hint="Import the dataset again")

Values are inserted once, by `str.format`, and never interpreted: they may be untrusted. A sentence
without values is shown as it is. ``{n}`` is the number that chooses between singular and plural.
The context of `p_` distinguishes equal English words that have different translations. A Chinese
sentence with another order numbers its fields: ``{1} 中没有模型 {0!r}``. A value may be a text
itself.

``make texts`` reads the sentences of the code, adds them to ``keju.po`` and compiles ``keju.mo``,
which is what this module reads. A benchmark and a plug-in have files of their own and add them
when they are imported: ``add_translations(Path(__file__).with_name("my-benchmark.mo"))``.
"""

from __future__ import annotations

import locale
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, reduce
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from gettext import NullTranslations

LANGUAGES = ("en", "zh")
_VARIABLES = ("KEJU_LANG", "LC_ALL", "LC_MESSAGES", "LANG")

# `Path` removes one slash of the address of an object store: s3:/BUCKET. A drive has one letter.
_ONE_SLASH = re.compile(r"^([a-z][a-z0-9]+):/(?=[^/])")

_chosen: ContextVar[str | None] = ContextVar("keju_language", default=None)
_files: list[Path] = [Path(__file__).with_name("keju.mo")]


@cache
def _of_environment() -> str:
    wanted = next(filter(None, map(os.environ.get, _VARIABLES)), "")
    if not wanted and sys.platform == "win32":
        wanted = locale.getlocale()[0] or ""
    return "zh" if wanted.casefold().startswith(("zh", "chinese")) else "en"


def language() -> str:
    """The language of the terminal: ``zh`` or ``en``.

    ``KEJU_LANG`` decides, or else the locale (``LC_ALL``, ``LC_MESSAGES``, ``LANG``): a value that
    starts with ``zh`` means Chinese, any other means English. On Windows, which does not set
    these, it is the language of the system. The environment is read once.
    """
    return _chosen.get() or _of_environment()


@contextmanager
def using(chosen: str) -> Iterator[None]:
    """Use a language inside a ``with`` block, whatever the environment says.

    Raises:
        ValueError: it is none of `LANGUAGES`.
    """
    if chosen not in LANGUAGES:
        raise ValueError(f"language {chosen!r} is not one of {', '.join(LANGUAGES)}")
    token = _chosen.set(chosen)
    try:
        yield
    finally:
        _chosen.reset(token)


def add_translations(file: Path) -> None:
    """Add the Chinese of a benchmark or a plug-in: a compiled file (``.mo``)."""
    if file not in _files:
        _files.append(file)
        _chinese.cache_clear()


@cache
def _chinese() -> NullTranslations:
    from gettext import GNUTranslations, NullTranslations  # noqa: PLC0415 - only for Chinese

    translations = NullTranslations()
    for file in reversed(_files):
        with file.open("rb") as content:
            catalogue = GNUTranslations(content)
        catalogue.add_fallback(translations)
        translations = catalogue
    return translations


class Translatable:
    """A value that has a text in each language."""

    __slots__ = ()

    def render(self, chosen: str) -> str:
        """The text in a language, ``en`` or ``zh``."""
        raise NotImplementedError


class Text(str, Translatable):
    """A sentence in English.

    It is a text like any other, and keeps its template and values, so that it can be shown in
    another language with `render`, and asserted by tests without its wording. Files, logs and the
    Python API have English; the terminal and the pages show a text in their language.

    Attributes:
        template: the English sentence, with its fields in braces; the singular one.
        values: the values of the fields.
        plural: the English sentence for numbers other than 1, or "".
        number: what chooses between the two.
        context: what distinguishes it from equal English sentences, or "".
        hint: what the user can do about it, or "".
    """

    __slots__ = ("context", "hint", "number", "plural", "template", "values")

    template: str
    values: tuple[object, ...]
    plural: str
    number: int
    context: str
    hint: str

    def __new__(
        cls,
        template: str,
        values: Iterable[object] = (),
        *,
        plural: str = "",
        number: int = 0,
        context: str = "",
        hint: str = "",
    ) -> Self:
        """The sentence with its values."""
        values = tuple(values)
        count = number if plural else None
        sentence = plural if plural and number != 1 else template
        text = super().__new__(cls, _fill(sentence, values, count, "en"))
        text.template, text.values, text.context = template, values, context
        text.hint = hint if isinstance(hint, Translatable) or not hint else Text(hint)
        text.plural, text.number = plural, number
        return text

    def render(self, chosen: str) -> str:
        """The sentence in a language, ``en`` or ``zh``."""
        return self.fill(self.template_in(chosen), self.values, chosen)

    def template_in(self, chosen: str) -> str:
        """The sentence in a language before its fields are filled."""
        return _sentence(self.template, self.plural, self.number, self.context, chosen)

    def fill(self, template: str, values: Sequence[object], chosen: str) -> str:
        """A sentence with values in the fields; in English if it does not fit them."""
        number = self.number if self.plural else None
        return _fill_or_english(self.template_in("en"), template, values, number, chosen)

    def render_hint(self, chosen: str) -> str:
        """The hint in a language, or ""."""
        return translator(chosen)(self.hint)

    def __reduce__(self) -> tuple[Callable[..., Text], tuple[object, ...]]:
        values = tuple(map(_portable, self.values))
        return _unpickle, (
            self.template, values, self.plural, self.number, self.context, self.hint,
        )  # fmt: skip


def _(template: str, /, *values: object, hint: str = "") -> Text:
    """A sentence; each ``{}`` in it is a value.

    Args:
        template: the English sentence.
        values: the values of its fields, in the order of the sentence.
        hint: what the user can do about it, a sentence without a full stop.
    """
    return Text(template, values, hint=hint)


def n_(singular: str, plural: str, count: int, /, *values: object, hint: str = "") -> Text:
    """A sentence with a number, ``{n}`` or ``{n:,}`` in it.

    Args:
        singular: the English sentence for 1.
        plural: the English sentence for other numbers.
        count: the number.
        values: the values of the other fields.
        hint: as for `_`.
    """
    return Text(singular, values, plural=plural, number=count, hint=hint)


def p_(context: str, template: str, /, *values: object) -> Text:
    """A sentence whose translation depends on a context, e.g. ``column`` for a heading."""
    return Text(template, values, context=context)


def translator(chosen: str) -> Callable[[str], str]:
    """A function that shows a text in a language; plain texts are found by their English."""

    def translate(text: str) -> str:
        if isinstance(text, Translatable):
            return text.render(chosen)
        return _sentence(text, "", 0, "", chosen)

    return translate


def in_language(chosen: str, text: str, /, *values: object) -> str:
    """A text, or a sentence with values, in a language: `_` of the templates of pages."""
    if isinstance(text, Translatable):
        return text.render(chosen)
    return Text(text, values).render(chosen)


def in_terminal(text: str) -> str:
    """A text in the language of the terminal; a plain text as it is."""
    return text.render(language()) if isinstance(text, Translatable) else text


def in_english(text: str) -> str:
    """A text in English, for files that have one language."""
    return text.render("en") if isinstance(text, Translatable) else text


def path_text(path: PurePath) -> str:
    """A path, or the address that it was made of, as text."""
    return _ONE_SLASH.sub(r"\1://", str(path))


def _sentence(template: str, plural: str, count: int, context: str, chosen: str) -> str:
    if chosen == "en" or not template:
        return plural if plural and count != 1 else template
    catalogue = _chinese()
    if plural and context:
        return catalogue.npgettext(context, template, plural, count)
    if plural:
        return catalogue.ngettext(template, plural, count)
    if context:
        return catalogue.pgettext(context, template)
    return catalogue.gettext(template)


def _fill(template: str, values: Sequence[object], count: int | None, chosen: str) -> str:
    if not values and count is None:
        return template
    return template.format(*(_display(value, chosen) for value in values), n=count)


def _fill_or_english(
    english: str, template: str, values: Sequence[object], count: int | None, chosen: str
) -> str:
    """A translated sentence with its values, or the English one if they do not fit it."""
    if template != english:
        with suppress(IndexError, KeyError, ValueError):
            return _fill(template, values, count, chosen)
    return _fill(english, values, count, chosen)


def _display(value: object, chosen: str) -> object:
    if isinstance(value, Translatable):
        return value.render(chosen)
    return path_text(value) if isinstance(value, PurePath) else value


def _portable(value: object) -> object:
    """A value that another process can read: a text, a number, or what it is shown as."""
    if isinstance(value, PurePath):
        return path_text(value)
    return value if isinstance(value, str | int | float | None) else str(value)


def _unpickle(
    template: str, values: tuple[object, ...], plural: str, count: int, context: str, hint: str
) -> Text:
    return Text(template, values, plural=plural, number=count, context=context, hint=hint)


class JoinedText(str, Translatable):
    """Texts joined by a separator that depends on the language.

    Attributes:
        separator: the separator.
        parts: the texts.
    """

    __slots__ = ("parts", "separator")

    separator: Text
    parts: tuple[str, ...]

    def __new__(cls, separator: Text, parts: Iterable[str]) -> Self:
        """The texts with the English separator."""
        parts = tuple(parts)
        text = super().__new__(cls, separator.join(parts))
        text.separator = separator
        text.parts = parts
        return text

    def render(self, chosen: str) -> str:
        """The joined texts in a language, ``en`` or ``zh``."""
        return self.separator.render(chosen).join(
            part.render(chosen) if isinstance(part, Translatable) else part for part in self.parts
        )

    def __reduce__(self) -> tuple[type[JoinedText], tuple[Text, tuple[str, ...]]]:
        return type(self), (self.separator, self.parts)


def recognised(text: str) -> str:
    """An English text of a file or another package, which may be a sentence of a catalogue."""
    return text if isinstance(text, Translatable) else Text(text)


def hint_of(text: str) -> str:
    """The hint of a text, or "" of one without a hint and of a plain text."""
    return getattr(text, "hint", "")


def listed(names: Iterable[str]) -> JoinedText:
    """Names as a list: ``a, b, c``."""
    return JoinedText(p_("list", ", "), names)


def join_parts(parts: Iterable[str]) -> JoinedText:
    """Parts of one sentence: ``a, b, c``."""
    return JoinedText(p_("sentence", ", "), parts)


def join_clauses(clauses: Iterable[str]) -> JoinedText:
    """Clauses of one sentence: ``a; b; c``."""
    return JoinedText(_("; "), clauses)


def join_sentences(sentences: Iterable[str]) -> JoinedText:
    """Sentences without their full stops; the last one does not get one."""
    return JoinedText(_(". "), sentences)


def join_lines(lines: Iterable[str]) -> JoinedText:
    """Lines of one text."""
    return JoinedText(_("\n"), lines)


def either(names: Iterable[str]) -> str:
    """Names as alternatives: ``a or b or c``."""
    return reduce(lambda first, last: _("{} or {}", first, last), [*names] or [""])


def both(names: Iterable[str]) -> str:
    """Names together: ``a and b and c``."""
    return reduce(lambda first, last: _("{} and {}", first, last), [*names] or [""])


KINDS = (
    "benchmark", "column", "domain", "encoder", "family", "field", "format", "item",
    "key", "kind", "metric", "model", "models", "reader", "scripts", "source", "step", "task",
    "task of the form transcription", "value",
)  # fmt: skip
"""Words that `noun` receives in variables; ``make texts`` adds them to the catalogue."""


def noun(word: str) -> str:
    """The word for a kind of thing, such as ``task``; a word without an entry stays as it is."""
    return p_("kind", word)
