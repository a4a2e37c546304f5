"""Question forms by name, and prompt wordings of them beside the published ones.

A wording is declared by keju, or is a user's own: a prompt file (``keju run --prompts FILE``,
`read_prompts`), named ``NAME@HASH`` after file and content, so that no name has two texts. Reading
a prompt file or a run registers its wordings (`register_wordings`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from keju.definitions.registry import task
from keju.definitions.schema import BLANK, Query, take_rows
from keju.errors import DataError, UsageError, unknown_name
from keju.files import read_toml, sha256_bytes, shipped_toml
from keju.items import AnswerForm, Item
from keju.metrics.boxes import box_convention
from keju.registry import list_shipped_folders
from keju.settings import convert_settings
from keju.texts import _

RELEASED = "released"
"""The name of the benchmark's own wording."""

_FILE = "wordings.toml"
_NAME = re.compile(r"\w[\w.-]{0,39}")
_HINT = "See docs/prompts.md"


def check_question_form(name: str) -> None:
    """Check that there is a question form: a task, or one of its queries as ``TASK/QUERY``.

    Raises:
        UsageError: there is none.
    """
    task_id, separator, query = name.partition("/")
    queries = [declared.name for declared in task(task_id).queries]
    if separator and (not query or query not in queries):
        raise UsageError(unknown_name(name, name_forms(task_id, queries), "question form"))


def takes_question(forms: Collection[str] | None, task_id: str, query: str) -> bool:
    """Whether question forms such as ``recognition/Where`` include a query; None are all forms."""
    return forms is None or not {task_id, f"{task_id}/{query}"}.isdisjoint(forms)


def name_forms(task_id: str, queries: Iterable[str]) -> list[str]:
    """The names of the question forms of a task; one without a name is that of the task."""
    return [f"{task_id}/{query}" if query else task_id for query in queries]


def question_forms_of(items: Iterable[Item]) -> list[str]:
    """The names of the tasks of these items, and of their question forms if a task has several."""
    places = {(item.task, query) for item in items for query in ("", item.query)}
    return [name for task_id, query in sorted(places) for name in name_forms(task_id, [query])]


class WordedPrompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One prompt of a wording: a template, its box convention, and other forms that it includes.

    `also` are the other question forms of the task in the same prompt: their items are not sent
    separately, and the one answer is scored for each. An empty `ask` is the published template.
    `system` is a system prompt.
    """

    ask: str = ""
    box_convention: str = ""
    also: tuple[str, ...] = ()
    system: str = ""


class Wording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A wording: its description, its source, and its prompts by question form.

    `system` is a system prompt for every question form without one of its own; with it, a question
    form without a prompt here has the published one. `forms` are templates for all questions with
    that form of the answer, by language (``zh`` or ``en``); only keju's own wordings have some.
    """

    what: str = ""
    source: str = ""
    prompts: dict[str, WordedPrompt] = {}
    system: str = ""
    forms: dict[AnswerForm, dict[str, str]] = {}

    def prompt(self, task_id: str, query: str) -> WordedPrompt | None:
        """The prompt of a question form, or None where this wording has none of its own."""
        own_prompt = self.prompts.get(f"{task_id}/{query}" if query else task_id)
        if own_prompt or self.system:
            return own_prompt or WordedPrompt(system=self.system)
        for declared in task(task_id).queries if self.forms else ():
            if declared.name == query and declared.form in self.forms:
                language = "en" if declared.answer_language == "en" else "zh"
                return WordedPrompt(ask=self.forms[declared.form][language])
        return None

    @property
    def content_hash(self) -> str:
        """The hash of the texts that a model is sent, as 8 hexadecimal digits."""
        content = msgspec.json.encode([self.prompts, self.system], order="sorted")
        return sha256_bytes(content)[:8]


_OWN_MARK = "@"
"""The mark in the names of users' own wordings, before their hash."""


def _read_declared() -> dict[str, Wording]:
    declared: dict[str, Wording] = {}
    for file in (folder.joinpath(_FILE) for folder in list_shipped_folders()):
        if file.is_file():
            declared |= msgspec.toml.decode(file.read_bytes(), type=dict[str, Wording])
    return declared | shipped_toml("keju.definitions", f"data/{_FILE}", dict[str, Wording])


DECLARED: Mapping[str, Wording] = _read_declared()
"""Every wording that keju or a benchmark's folder declares, by name."""

_KNOWN = {RELEASED: Wording(what="as the benchmark released its prompts"), **DECLARED}
"""Every wording that this process knows: also those of users, by their name with the hash."""


def register_wordings(found: Mapping[str, Wording]) -> None:
    """Register users' own wordings by their names.

    Raises:
        DataError: a name does not end in the hash of the content.
    """
    for name, own in found.items():
        if name.rpartition(_OWN_MARK)[2] != own.content_hash:
            raise DataError("the wording's text does not match the hash in its name", item=name)
        _KNOWN[name] = own


def own_wordings(names: Iterable[str]) -> dict[str, Wording]:
    """Those of some wordings that are users' own, by name."""
    return {name: wording(name) for name in names if _OWN_MARK in name}


def wording(name: str) -> Wording:
    """The wording of that name; the released one has no prompts, as the catalogues have them.

    Raises:
        UsageError: there is none; the message lists those that there are.
    """
    if name in _KNOWN:
        return _KNOWN[name]
    names = "; ".join(f"{key} ({about.what})" for key, about in DECLARED.items())
    raise UsageError(
        "no wording {!r}. Wordings: {}; {}; or your own with --prompts FILE", name, RELEASED, names
    )


def wording_skip_reason(item: Item, name: str) -> str:
    """Return the skip reason of an item in a wording, or an empty string."""
    if name == RELEASED:
        return ""
    wording_chosen = wording(name)
    for form, joint in wording_chosen.prompts.items():
        if form.partition("/")[0] == item.task and item.query in joint.also:
            return _(
                "the wording {} asks it in the prompt of {}; the response counts for both",
                name,
                form,
            )
    prompt = wording_chosen.prompt(item.task, item.query)
    if prompt is None:
        return _("the wording {} has no prompt for it", name)
    if item.verbatim and _OWN_MARK not in name and "{prompt}" not in prompt.ask:
        return _("its prompt is asked as released, not in the wording {}", name)
    return ""


def known_wordings() -> Iterable[Wording]:
    """Every wording of keju and of the user that this process knows."""
    return _KNOWN.values()


def read_prompts(path: Path) -> str:
    """The name of the wording in a prompt file, such as ``terse@1f0c77ab``; it is registered.

    Raises:
        DataError: the file cannot be read, has a field, task, question form or placeholder that
            does not exist, lacks a placeholder of the published prompt, or changes nothing.
        UsageError: the path is an address.
    """
    table = read_toml(path, dict[str, Any], what="a prompt file", hint=_HINT)
    if not _NAME.fullmatch(path.stem):
        raise DataError(
            "{!r} cannot be the name of a wording. Rename the file: letters, digits, dots, "
            "underscores and hyphens",
            path.stem,
            file=path,
        )
    prompts: dict[str, WordedPrompt] = {}
    item = None
    try:
        rows = take_rows("", table, "prompts")
        derived = {key: dict[str, object]() for key in ("prompts", "forms")}
        own = convert_settings(table, Wording, place="", derived=derived, more_keys=["prompts"])
        for form, row in rows.items():
            item = f"prompts.{form}"
            prompt = convert_settings(row, WordedPrompt, place="")
            prompts[form] = _checked_prompt(form, prompt, own.system)
    except (DataError, UsageError) as error:
        raise DataError(error.problem, file=path, item=item, hint=_HINT) from None
    if not own.system and all(prompt == WordedPrompt() for prompt in prompts.values()):
        reason = _("names no task and has no system prompt")
        if prompts:
            reason = _("has the published prompt of {}", ", ".join(prompts))
        raise DataError("wording {!r} changes nothing: it {}", path.stem, reason, file=path)
    what, source = own.what or _("the user's own"), own.source or path.name
    own = replace(own, what=what, source=source, prompts=prompts)
    name = f"{path.stem}{_OWN_MARK}{own.content_hash}"
    register_wordings({name: own})
    return name


def _checked_prompt(form: str, prompt: WordedPrompt, system: str) -> WordedPrompt:
    """The prompt of a question form, without a template where that is the published one."""
    task_id, __, name = form.partition("/")
    queries = {query.name: query for query in task(task_id).queries}
    for query_name in (name, *prompt.also):
        if query_name not in queries:
            form_name = f"{task_id}/{query_name}"
            raise UsageError(unknown_name(form_name, name_forms(task_id, queries), "question form"))
    query = queries[name]
    template = prompt.ask or query.template
    if not template.strip():
        raise UsageError("{}: the prompt is empty", form)
    _check_blanks(form, query, template, has_convention=bool(prompt.box_convention))
    if prompt.box_convention:
        box_convention(prompt.box_convention)
    published = template in (query.template, "{prompt}")
    return replace(prompt, ask="" if published else template, system=prompt.system or system)


def _check_blanks(form: str, query: Query, template: str, *, has_convention: bool) -> None:
    """Check that every placeholder has a value, and that those of the published template exist."""
    published, blanks = dict.fromkeys(BLANK.findall(query.template)), BLANK.findall(template)
    blank_names = [*published, *sorted({"question", "prompt"}.difference(published))]
    for blank in blanks:
        if blank not in blank_names:
            raise UsageError(unknown_name(blank, blank_names, "blank"))
    for blank in published if "prompt" not in blanks else ():
        if blank not in blanks and not (has_convention and blank == "box_format"):
            raise UsageError(
                "{} lacks the blank {{{}}}, without which a model does not see the {}. Add it, or "
                "{{prompt}} for the whole published prompt",
                form,
                blank,
                blank.replace("_", " "),
            )
