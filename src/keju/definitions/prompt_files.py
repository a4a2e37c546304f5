"""Prompt files: a user's own wordings of tasks, in TOML (``keju run --prompts FILE``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

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


class _Wording(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    what: str = ""
    system: str = ""
    tasks: dict[str, _Task] = {}
    benchmarks: dict[str, _Benchmark] = {}


class _File(_Wording, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str = ""
    wordings: dict[str, _Wording] = {}


class _Source(NamedTuple):
    """A prompt file, and its text, in which the line of an error is located."""

    path: Path
    text: str

    def error(self, problem: str, *needles: str) -> DataError:
        """An error at the first line that contains all of the needles."""
        lines = enumerate(self.text.splitlines(), start=1)
        found = (number for number, line in lines if needles and all(n in line for n in needles))
        number = next(found, None)
        return DataError(problem, file=self.path, item=f"line {number}" if number else None)


def read_prompts(path: Path) -> dict[str, Wording]:
    """The wordings of a prompt file by name, such as ``terse@1f0c77ab``; they are declared.

    Raises:
        DataError: the file cannot be read, has a field, task, question form or placeholder that
            does not exist, lacks a placeholder of the published prompt, or changes nothing.
        UsageError: the path is an address.
    """
    raw = read_toml(path, dict[str, object], what="a prompt file", hint=_FORM)
    source = _Source(path, path.read_text("utf-8-sig"))
    try:
        file = msgspec.convert(raw, _File)
    except msgspec.ValidationError as error:
        raise _invalid(source, error_text(error)) from None
    if file.wordings and (file.tasks or file.benchmarks or file.system or file.name):
        raise source.error(
            _(
                "the file has [wordings.NAME], so tasks, system prompt and names belong into "
                "these tables: [wordings.NAME.tasks.TASK]"
            ),
            "[wordings",
        )
    found: dict[str, Wording] = {}
    for name, each in (file.wordings or {file.name or path.stem: file}).items():
        if not _NAME.fullmatch(name):
            raise source.error(
                _(
                    "{!r} cannot be the name of a wording. Use letters, digits, dots, "
                    'underscores and hyphens: name = "short"',
                    name,
                ),
                name,
            )
        made = _made(source, name, each)
        found[f"{name}@{made.content_hash}"] = made
    register_wordings(found)
    return found


def _invalid(source: _Source, said: str) -> DataError:
    """Error of a table that does not have the format, with the field that was probably meant."""
    field = re.search("unknown field `(.+?)`", said)
    if field is None:
        return DataError(
            "not a prompt file: {}", said, file=source.path, hint="See docs/prompts.md"
        )
    known = _Task.__struct_fields__ if "tasks[" in said else _File.__struct_fields__
    return source.error(_("{}. {}", unknown_name(field[1], known, "field"), _FORM), field[1])


def _made(source: _Source, name: str, given: _Wording) -> Wording:
    prompts: dict[str, WordedPrompt] = {}
    for benchmark, task_id, asked in _tasks(given):
        known = _task(source, task_id, benchmark)
        for query, prompt in _prompts(source, known, asked):
            form = f"{known.id}/{query.name}" if query.name else known.id
            if form in prompts:
                raise source.error(_("{} has two prompts in wording {!r}", form, name), task_id)
            prompts[form] = _prompt(source, form, query, prompt)
    changes = [each for each in prompts.values() if each.ask or each.system or each.box_convention]
    if not changes and not given.system:
        what = (
            _("names no task and has no system prompt")
            if not prompts
            else (_("has the published prompt of {}", ", ".join(prompts)))
        )
        raise source.error(_("wording {!r} changes nothing: it {}", name, what), "")
    return Wording(
        what=given.what or _("the user's own"),
        source=source.path.name,
        prompts={
            form: replace(each, system=each.system or given.system)
            for form, each in prompts.items()
        },
        system=given.system,
    )


def _tasks(given: _Wording) -> Iterator[tuple[str, str, _Task]]:
    """Every task, with the benchmark that the file names for it."""
    for task_id, asked in given.tasks.items():
        yield "", task_id, asked
    for benchmark, of_benchmark in given.benchmarks.items():
        for task_id, asked in of_benchmark.tasks.items():
            yield benchmark, task_id, asked


def _task(source: _Source, task_id: str, benchmark: str) -> Task:
    try:
        known = task(task_id)
    except UsageError as error:
        raise source.error(error_text(error), "[", task_id) from None
    if benchmark and known.benchmark != benchmark:
        raise source.error(
            _("task {} is of {}, not of {}", task_id, known.benchmark, benchmark),
            "[",
            benchmark,
        )
    return known


def _prompts(source: _Source, known: Task, asked: _Task) -> Iterator[tuple[Query, _Prompt]]:
    """Question forms that a table words; a table of a task with several forms must name them."""
    queries: Mapping[str, Query] = {each.name: each for each in known.queries}
    of_task = asked.ask, asked.requirement, asked.box_convention, asked.system
    if any(each not in (None, "") for each in of_task) or not asked.queries:
        if "" not in queries:
            raise source.error(
                _(
                    "task {0} has several question forms. Name one: [tasks.{0}.queries.{1}]",
                    known.id,
                    next(iter(queries)),
                ),
                "[",
                known.id,
            )
        yield queries[""], asked
    for name, prompt in asked.queries.items():
        if name not in queries or not name:
            raise source.error(
                _(
                    "task {} has no question form {!r}.{} Question forms: {}",
                    known.id,
                    name,
                    did_you_mean(nearest_names(name, queries)),
                    ", ".join(filter(None, queries))
                    or _("none. Write the prompt for the task itself"),
                ),
                "[",
                name,
            )
        yield queries[name], prompt


def _prompt(source: _Source, form: str, query: Query, given: _Prompt) -> WordedPrompt:
    """The whole template of a question form; empty where it is the published one."""
    published = query.template.removesuffix(query.requirement).rstrip("\n")
    ask = published if given.ask is None else given.ask
    whole = "{prompt}" in ask
    kept = "" if whole else query.requirement
    requirement = kept if given.requirement is None else given.requirement
    template = "\n".join(part for part in (ask, requirement) if part)
    if not ask.strip():
        raise source.error(_("{}: the prompt is empty", form), "ask ")
    _check_blanks(source, form, query, template, stated=bool(given.box_convention))
    if given.box_convention:
        try:
            box_convention(given.box_convention)
        except UsageError as error:
            raise source.error(_("{}: {}", form, error_text(error)), given.box_convention) from None
    return WordedPrompt(
        ask="" if template in (query.template, "{prompt}") else template,
        box_convention=given.box_convention,
        system=given.system,
    )


def _check_blanks(source: _Source, form: str, query: Query, template: str, *, stated: bool) -> None:
    """Check that every placeholder has a value, and that those of the published template exist."""
    published = list(dict.fromkeys(BLANK.findall(query.template)))
    there = BLANK.findall(template)
    for blank in there:
        if blank not in published and blank not in _ALWAYS:
            known = [*published, *sorted(_ALWAYS.difference(published))]
            raise source.error(
                _(
                    "{} has no blank {{{}}}.{} Blanks: {}",
                    form,
                    blank,
                    did_you_mean(nearest_names(blank, known)),
                    ", ".join(f"{{{each}}}" for each in known),
                ),
                f"{{{blank}}}",
            )
    if "prompt" in there:
        return
    needed = [each for each in published if not (stated and each == "box_format")]
    if missing := [each for each in needed if each not in there]:
        raise source.error(
            _(
                "{} lacks the blank {{{}}}, without which a model does not see the {}. Add it, "
                "or {{prompt}} for the whole published prompt",
                form,
                missing[0],
                missing[0].replace("_", " "),
            ),
            "[",
            form.partition("/")[2] or form,
        )
