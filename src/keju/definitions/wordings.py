"""Prompt wordings in addition to the published ones: declared by keju, or a user's own.

A user's own wording is named ``NAME@HASH`` after its content, so that no name has two
texts. Reading a prompt file or a run declares its wordings (`register_wordings`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

import msgspec

from keju.definitions.forms import question_form
from keju.definitions.registry import task
from keju.errors import DataError, UsageError
from keju.files import sha256_bytes, shipped_toml
from keju.items import AnswerForm, Item
from keju.metrics.boxes import box_convention
from keju.registry import list_shipped_folders
from keju.texts import _

RELEASED = "released"
"""The name of the benchmark's own wording."""

_FILE = "wordings.toml"
_SHIPPED = "data/wordings.toml"
_SHOTS = re.compile(r"(.+)\+([1-9][0-9]?)-shot(?:\.([1-9][0-9]{0,8}))?")


class WordedPrompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One prompt of a wording: a template, its box convention, and other forms that it includes.

    `also` are the other question forms of the task in the same prompt: their items are not sent
    separately, and the one answer is scored for each. An empty `ask` is the published template.
    `system` is a system prompt.
    """

    ask: str
    box_convention: str = ""
    also: tuple[str, ...] = ()
    system: str = ""


class Wording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A wording: its description, its source, and its prompts by question form.

    `system` is a system prompt for every question form without one of its own; with it, a question
    form without a prompt here has the published one. `forms` are templates for all questions with
    that form of the answer, by language (``zh`` or ``en``); only keju's own wordings have some.
    """

    what: str
    source: str
    prompts: dict[str, WordedPrompt] = {}
    system: str = ""
    forms: dict[AnswerForm, dict[str, str]] = {}

    def prompt(self, task_id: str, query: str) -> WordedPrompt | None:
        """The prompt of a question form, or None where this wording has none of its own."""
        found = self.prompts.get(f"{task_id}/{query}" if query else task_id)
        if found or self.system:
            return found or WordedPrompt(ask="", system=self.system)
        for declared in task(task_id).queries if self.forms else ():
            if declared.name == query and declared.form in self.forms:
                language = "en" if declared.answer_language == "en" else "zh"
                return WordedPrompt(ask=self.forms[declared.form][language])
        return None

    @property
    def content_hash(self) -> str:
        """The hash of the texts that a model is sent, as 8 hexadecimal digits."""
        sent = msgspec.json.encode([self.prompts, self.system], order="sorted")
        return sha256_bytes(sent)[:8]

    def included_in(self, task_id: str, query: str) -> str:
        """The question form whose prompt includes this one; empty where there is none."""
        return next(
            (
                name
                for name, prompt in self.prompts.items()
                if name.partition("/")[0] == task_id and query in prompt.also
            ),
            "",
        )


class FewShotWording(NamedTuple):
    """A wording with few-shot examples: their number, and the seed with which they are drawn.

    Its name is that of the wording, followed by ``+4-shot`` or, with a seed, ``+4-shot.7``.
    """

    base: str
    examples: int = 0
    seed: int = 0

    @property
    def name(self) -> str:
        """The name of the wording with these examples."""
        seed = f".{self.seed}" if self.seed else ""
        return f"{self.base}+{self.examples}-shot{seed}" if self.examples else self.base


def parse_few_shot(name: str) -> FewShotWording:
    """The wording of a name and its examples."""
    found = _SHOTS.fullmatch(name)
    return (
        FewShotWording(found[1], int(found[2]), int(found[3] or 0))
        if found
        else FewShotWording(name)
    )


_OWN: dict[str, Wording] = {}
"""The wordings of users that this process has read, by their name with the hash."""


def is_own_wording(name: str) -> bool:
    """Whether a name is that of a user's own wording."""
    return "@" in name


def register_wordings(found: Mapping[str, Wording]) -> None:
    """Register users' own wordings by their names.

    Raises:
        DataError: a name does not end in the hash of the content.
    """
    for name, each in found.items():
        if name.rpartition("@")[2] != each.content_hash:
            raise DataError("the wording's text does not match the hash in its name", item=name)
        _OWN[name] = each


def own_wordings(names: Iterable[str]) -> dict[str, Wording]:
    """Those of some wordings that are users' own, by name, without the number of examples."""
    return {parse_few_shot(name).base: wording(name) for name in names if is_own_wording(name)}


def wording(name: str) -> Wording:
    """The wording of that name; the released one has no prompts, as the catalogues have them.

    Raises:
        UsageError: there is none; the message lists those that there are.
    """
    name = parse_few_shot(name).base
    if name == RELEASED:
        return Wording(what="as the benchmark released its prompts", source="", prompts={})
    found = _OWN.get(name) or wordings().get(name)
    if found is None:
        known = "; ".join(f"{each} ({about.what})" for each, about in wordings().items())
        raise UsageError(
            "no wording {!r}. Wordings: {}; {}; or your own with --prompts FILE",
            name,
            RELEASED,
            known,
        )
    return found


def prompt_in_wording(item: Item, name: str) -> WordedPrompt | None:
    """The prompt of an item in a wording; None for the released one."""
    return None if name == RELEASED else wording(name).prompt(item.task, item.query)


def wording_skip_reason(item: Item, name: str) -> str:
    """Return the skip reason of an item in a wording, or an empty string."""
    if parse_few_shot(name).base == RELEASED:
        return ""
    chosen = wording(name)
    if within := chosen.included_in(item.task, item.query):
        return _(
            "the wording {} asks it in the prompt of {}; the response counts for both", name, within
        )
    prompt = chosen.prompt(item.task, item.query)
    if prompt is None:
        return _("the wording {} has no prompt for it", name)
    if item.verbatim and not is_own_wording(name) and "{prompt}" not in prompt.ask:
        return _("its prompt is asked as released, not in the wording {}", name)
    return ""


@cache
def wordings() -> Mapping[str, Wording]:
    """Every wording that keju or a benchmark's folder declares, by name.

    Raises:
        DataError: a file is not valid.
    """
    files = (folder.joinpath(_FILE) for folder in list_shipped_folders())
    texts = (file.read_bytes() for file in files if file.is_file())
    declared = [
        *(msgspec.toml.decode(text, type=dict[str, Wording]) for text in texts),
        shipped_toml("keju.definitions", _SHIPPED, dict[str, Wording]),
    ]
    found = {name: each for names in declared for name, each in names.items()}
    try:
        for each in found.values():
            for name, prompt in each.prompts.items():
                _check(name, prompt)
    except UsageError as error:
        raise DataError("not a file of wordings: {}", error, file=_FILE) from None
    return found


def _check(name: str, prompt: WordedPrompt) -> None:
    form = question_form(name)
    if prompt.box_convention:
        box_convention(prompt.box_convention)
    known = {query.name for query in task(form.task).queries}
    if strange := set(prompt.also) - known:
        raise UsageError("{}: no question form {!r} in task {}", name, min(strange), form.task)
