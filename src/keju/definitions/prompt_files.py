"""Prompt files: a user's own wordings of tasks, in TOML (``keju run --prompts FILE``)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec.structs import replace

from keju.definitions.prompts import BLANK
from keju.definitions.registry import task
from keju.definitions.schema import Query, Task
from keju.definitions.wordings import WordedPrompt, Wording, register_wordings
from keju.errors import DataError, UsageError, did_you_mean, error_text, nearest_names, unknown_name
from keju.files import read_toml
from keju.metrics.boxes import box_convention
from keju.texts import _

_NAME = re.compile(r"\w[\w.-]{0,39}")
_FORM = "See docs/prompts.md"
_ALWAYS = frozenset({"question", "prompt"})
"""Placeholders that every template may have."""


class _Prompt(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    ask: str | None = None
    requirement: str | None = None
    system: str = ""
    box_convention: str = ""


class _Task(_Prompt, frozen=True, kw_only=True, forbid_unknown_fields=True):
    queries: dict[str, _Prompt] = {}


class _Benchmark(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    tasks: dict[str, _Task] = {}


class _Wording(_Benchmark, frozen=True, kw_only=True, forbid_unknown_fields=True):
    what: str = ""
    system: str = ""
    benchmarks: dict[str, _Benchmark] = {}


class _File(_Wording, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str = ""
    wordings: dict[str, _Wording] = {}


def read_prompts(path: Path) -> dict[str, Wording]:
    """The wordings of a prompt file by name, such as ``terse@1f0c77ab``; they are declared.

    Raises:
        DataError: the file cannot be read, has a field, task, question form or placeholder that
            does not exist, lacks a placeholder of the published prompt, or changes nothing.
        UsageError: the path is an address.
    """
    raw = read_toml(path, dict[str, object], what="a prompt file", hint=_FORM)
    try:
        file = msgspec.convert(raw, _File)
    except msgspec.ValidationError as error:
        raise DataError(_describe_error(str(error)), file=path, hint=_FORM) from None
    if file.wordings and (file.tasks or file.benchmarks or file.system or file.name):
        raise DataError(
            "the file has [wordings.NAME], so tasks, system prompt and names belong into these "
            "tables: [wordings.NAME.tasks.TASK]",
            file=path,
        )
    wordings: dict[str, Wording] = {}
    for name, table in (file.wordings or {file.name or path.stem: file}).items():
        if not _NAME.fullmatch(name):
            raise DataError(
                "{!r} cannot be the name of a wording. Use letters, digits, dots, underscores and "
                'hyphens: name = "short"',
                name,
                file=path,
            )
        wording = _make_wording(path, name, table)
        wordings[f"{name}@{wording.content_hash}"] = wording
    register_wordings(wordings)
    return wordings


def _describe_error(text: str) -> str:
    """The error of a table that does not have the format, with the field that was meant."""
    if unknown := re.search("unknown field `(.+?)`", text):
        known = _Task.__struct_fields__ if "tasks[" in text else _File.__struct_fields__
        return unknown_name(unknown[1], known, "field")
    return _("not a prompt file: {}", text)


@contextmanager
def _naming_table(path: Path, item: str) -> Iterator[None]:
    """Name the file and its table in an error about what a prompt asks."""
    try:
        yield
    except UsageError as error:
        raise DataError(error_text(error), file=path, item=item) from None


def _make_wording(path: Path, name: str, table: _Wording) -> Wording:
    prompts: dict[str, WordedPrompt] = {}
    for benchmark, tasks in {"": table, **table.benchmarks}.items():
        for task_id, row in tasks.tasks.items():
            with _naming_table(path, f"tasks.{task_id}"):
                known = task(task_id)
                if benchmark not in {"", known.benchmark}:
                    raise UsageError(
                        "task {} is of {}, not of {}", task_id, known.benchmark, benchmark
                    )
                for query, prompt in _list_prompts(known, row):
                    form = f"{known.id}/{query.name}" if query.name else known.id
                    if form in prompts:
                        raise UsageError("{} has two prompts in wording {!r}", form, name)
                    prompts[form] = _make_prompt(form, query, prompt)
    if not table.system and not any(
        prompt.ask or prompt.system or prompt.box_convention for prompt in prompts.values()
    ):
        what = (
            _("has the published prompt of {}", ", ".join(prompts))
            if prompts
            else _("names no task and has no system prompt")
        )
        raise DataError("wording {!r} changes nothing: it {}", name, what, file=path)
    return Wording(
        what=table.what or _("the user's own"),
        source=path.name,
        prompts={
            form: replace(prompt, system=prompt.system or table.system)
            for form, prompt in prompts.items()
        },
        system=table.system,
    )


def _list_prompts(known: Task, row: _Task) -> Iterator[tuple[Query, _Prompt]]:
    """Question forms that a table words; a table of a task with several forms must name them."""
    queries = {query.name: query for query in known.queries}
    of_task = row.ask, row.requirement, row.box_convention, row.system
    if any(text not in (None, "") for text in of_task) or not row.queries:
        if "" not in queries:
            raise UsageError(
                "task {0} has several question forms. Name one: [tasks.{0}.queries.{1}]",
                known.id,
                next(iter(queries)),
            )
        yield queries[""], row
    for name, prompt in row.queries.items():
        if name not in queries or not name:
            raise UsageError(
                "task {} has no question form {!r}.{} Question forms: {}",
                known.id,
                name,
                did_you_mean(nearest_names(name, queries)),
                ", ".join(filter(None, queries)) or _("none. Write the prompt for the task itself"),
            )
        yield queries[name], prompt


def _make_prompt(form: str, query: Query, prompt: _Prompt) -> WordedPrompt:
    """The whole template of a question form; empty where it is the published one."""
    ask = query.ask if prompt.ask is None else prompt.ask
    requirement = "" if "{prompt}" in ask else query.requirement
    if prompt.requirement is not None:
        requirement = prompt.requirement
    template = "\n".join(filter(None, (ask, requirement)))
    if not ask.strip():
        raise UsageError("{}: the prompt is empty", form)
    _check_blanks(form, query, template, has_convention=bool(prompt.box_convention))
    if prompt.box_convention:
        box_convention(prompt.box_convention)
    return WordedPrompt(
        ask="" if template in (query.template, "{prompt}") else template,
        box_convention=prompt.box_convention,
        system=prompt.system,
    )


def _check_blanks(form: str, query: Query, template: str, *, has_convention: bool) -> None:
    """Check that every placeholder has a value, and that those of the published template exist."""
    published, blanks = dict.fromkeys(BLANK.findall(query.template)), BLANK.findall(template)
    known = [*published, *sorted(_ALWAYS.difference(published))]
    for blank in blanks:
        if blank not in known:
            raise UsageError(
                "{} has no blank {{{}}}.{} Blanks: {}",
                form,
                blank,
                did_you_mean(nearest_names(blank, known)),
                ", ".join(f"{{{name}}}" for name in known),
            )
    if "prompt" in blanks:
        return
    for blank in published:
        if blank not in blanks and not (has_convention and blank == "box_format"):
            raise UsageError(
                "{} lacks the blank {{{}}}, without which a model does not see the {}. Add it, or "
                "{{prompt}} for the whole published prompt",
                form,
                blank,
                blank.replace("_", " "),
            )
