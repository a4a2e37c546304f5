"""Read the sentences of the code, add them to the Chinese catalogues and compile these.

    python -m tools.texts             read, add and compile; list what has no Chinese
    python -m tools.texts --check     only compare: status 1 if a catalogue is not up to date

``keju/texts/keju.po`` is the catalogue of the core. Another one (``NAME.po``) belongs to the folder
it is in. Sentences that the code no longer contains are removed.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import io
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, get_args

import typer
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from jinja2 import Environment
from jinja2.ext import extract_from_ast
from msgspec.structs import fields
from rich.console import Console

from keju.building.choices.leaks import CHECKS, LeakVerdict
from keju.building.sources import SOURCES, get_source_form
from keju.building.steps import STEPS
from keju.cli.app import app
from keju.cli.benchmark_files import add_benchmark_option
from keju.cli.help_texts import join_lines, parameter_name
from keju.datasets.readers import FORMATS
from keju.datasets.stats import MEASURES
from keju.datasets.writers import FORMATS as WRITTEN
from keju.exports import EXPORTS
from keju.files import shipped_toml
from keju.items import Status
from keju.judging.probes import Verdict as ProbeVerdict
from keju.judging.probes import declared_probes
from keju.layout import ReadingPattern
from keju.scoring import VERDICTS, metrics
from keju.settings import get_description
from keju.words import OWN_PAGES, SENTENCE_OF_SCRIPT

ROOT = Path(__file__).parents[1]
FOLDERS = (
    "src/keju",
    "packages/keju-inspect/src/keju_inspect",
    "packages/keju-synthetic/src/keju_synthetic",
)
CORE = ROOT / "src/keju/texts/keju.po"
_OTHERS = {"AskError", "PrerequisiteError"}
"""Error classes of keju whose first argument is not a sentence."""

_DATE = datetime(2026, 1, 1, tzinfo=UTC)
"""In all headers, so that the same sentences give the same bytes on any day."""

HEADER = r"""# The Chinese of the sentences in the code. `make texts` adds new ones.
msgid ""
msgstr ""
"Language: zh\n"
"Content-Type: text/plain; charset=utf-8\n"
"Plural-Forms: nplurals=1; plural=0;\n"

"""


class Sentence(NamedTuple):
    """A sentence of the code: where it is, and what `keju.texts` finds its Chinese by."""

    file: str
    template: str
    plural: str = ""
    context: str = ""

    @property
    def key(self) -> str | tuple[str, str]:
        """The sentence, with its plural if it has one."""
        return (self.template, self.plural) if self.plural else self.template


def main() -> None:
    """Update all catalogues, or compare them with the code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="change nothing")
    check = parser.parse_args().check
    console = Console(highlight=False)
    outdated = []
    for file in catalogues():
        catalogue = updated(file)
        missing = [each for each in catalogue if each.id and not is_translated(each)]
        console.print(
            f"{file.relative_to(ROOT)}: {len(catalogue)} sentences, {len(missing)} without Chinese"
        )
        for each in missing:
            console.print(f"  {each.id}", markup=False)
        written = {file: text_of(catalogue), file.with_suffix(".mo"): compiled(catalogue)}
        for path, content in written.items():
            if path.is_file() and path.read_bytes() == content:
                continue
            outdated.append(path)
            if not check:
                path.write_bytes(content)
    for path in outdated:
        console.print(f"{'not up to date' if check else 'written'}: {path.relative_to(ROOT)}")
    raise SystemExit(1 if check and outdated else 0)


def catalogues() -> list[Path]:
    """The catalogues of keju and of the packages beside it."""
    return [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.po"))]


def updated(file: Path) -> Catalog:
    """A catalogue with the sentences that its code contains now, and their Chinese."""
    with file.open("rb") as content:
        stored = read_po(content, locale="zh")
    catalogue = Catalog(locale="zh", fuzzy=False)
    for sentence in sentences(file):
        context = sentence.context or None
        entry = stored.get(sentence.template, context)
        chinese = entry.string if entry else ""
        if sentence.plural:
            chinese = chinese if isinstance(chinese, tuple) else (chinese,)
        message = catalogue.add(sentence.key, chinese, [(sentence.file, 0)], context=context)
        message.flags.clear()  # "python-brace-format" on most of them
    for other in stored:
        # Chinese for pages of one's own, which is written beside the sentence by hand.
        if other.context == OWN_PAGES and (sentence := catalogue.get(other.id)) is not None:
            catalogue.add(other.id, other.string, sentence.locations, context=OWN_PAGES)
            catalogue.get(other.id, OWN_PAGES).flags.clear()
    return catalogue


def sentences(catalogue: Path) -> Iterator[Sentence]:
    """The sentences of the code that a catalogue belongs to."""
    yield from _declared(catalogue)
    root = ROOT / FOLDERS[0] if catalogue == CORE else catalogue.parent
    others = (
        [file.parent for file in catalogues() if file != catalogue] if catalogue == CORE else []
    )
    for file in sorted(root.rglob("*.py")):
        if not any(file.is_relative_to(folder) for folder in others):
            name = file.relative_to(ROOT).as_posix()
            own = sentences_of(file.read_text("utf-8"))
            yield from (sentence._replace(file=name) for sentence in own)
    for file in sorted((*root.rglob("assets/*.j2"), *root.rglob("assets/*.js"))):
        if not any(file.is_relative_to(folder) for folder in others):
            name = file.relative_to(ROOT).as_posix()
            own = texts_of_asset(file)
            yield from (sentence._replace(file=name) for sentence in own)


def _declared(catalogue: Path) -> Iterator[Sentence]:
    """The texts of declarations: of commands, build steps, sources and formats of files."""
    owner = "keju" if catalogue == CORE else catalogue.parent.name
    yield from (Sentence(place, text) for place, name, text in declarations() if name == owner)
    files = ("benchmark.toml", "published/paper.toml", "../definitions/data/pages.toml")
    for file in ((catalogue.parent / name).resolve() for name in files):
        if file.is_file():
            place = file.relative_to(ROOT).as_posix()
            for text in _texts_of(tomllib.loads(file.read_text("utf-8"))):
                yield Sentence(place, text)


def _texts_of(table: Mapping[str, Any], within: str = "") -> Iterator[str]:
    """The texts of a benchmark's definition, and of its paper's groups, figures and notes."""
    for key, value in table.items():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, dict):
                yield from _texts_of(each, key)
            elif within == "notes" or (key in _TEXTS_OF_BENCHMARK and within not in {"", "paper"}):
                yield each


_TEXTS_OF_BENCHMARK = {"caption", "direction", "domain", "lacking", "official_note", "title"}


def declarations() -> Iterator[tuple[str, str, str]]:
    """Where each text is shown, the package or benchmark that declares it, and the text."""
    yield from ((place, owner, text) for place, owner, text in _all_declarations() if text)


def _all_declarations() -> Iterator[tuple[str, str, str]]:
    root: Any = typer.main.get_command(app)
    add_benchmark_option(root)
    join_lines(root)
    context = typer.Context(root, info_name="keju")
    yield from _help_of(root)
    yield from _help_of(root.get_help_option(context))
    for name in EXPORTS:
        form, plugin = EXPORTS[name], EXPORTS.plugin_of(name)
        if plugin is None:
            yield from _help_of(root.commands["export"].get_command(context, name))
        else:
            texts = (form.what, form.run, form.out, form.images)
            yield from ((f"keju export {name}", plugin.name.replace("-", "_"), t) for t in texts)
    for name in STEPS:
        step = STEPS[name]
        yield from _of_settings(f"keju build {name}", step)
        own = {f"--{each.name.replace('_', '-')}" for each in fields(step.settings)}
        command = root.commands["build"].get_command(context, name)
        command.params = [each for each in command.params if parameter_name(each) not in own]
        command.help = ""
        yield from _help_of(command)
    for name in SOURCES:
        if name not in FORMATS:
            yield from _of_settings(f"keju build sources {name}", SOURCES[name])
    shape = get_source_form("pages", place="").settings
    yield from (
        ("keju build sources", "keju", get_description(each.type)) for each in fields(shape)
    )
    for form in (*FORMATS.list_usable(), *(WRITTEN[name] for name in WRITTEN)):
        owner = _owner(form)
        yield from (
            (f"keju data formats {form.name}", owner, text)
            for text in (
                form.what,
                form.layout.strip(),
                *getattr(form, "every_option", {}).values(),
            )
        )

    yield from (("reading patterns", "keju", name) for name in get_args(ReadingPattern))
    yield from (("verdicts", "keju", name) for name in (*VERDICTS, *get_args(Status)))
    leak_names = (*CHECKS, *get_args(LeakVerdict))
    yield from (("keju build check-choices", "keju", name) for name in leak_names)
    yield from (("keju data stats", "keju", name) for name in MEASURES)
    kinds = shipped_toml("keju.models", "kinds.toml", dict[str, list[dict[str, Any]]])["kinds"]
    yield from (("keju models", "keju", kind["what"]) for kind in kinds)
    for metric in metrics():
        owner = metric.benchmark.lower().replace("-", "_") or "keju"
        rules = (metric.over.rule,) if metric.rule_zh else (metric.rule, metric.over.rule)
        yield from (("keju metrics", owner, text) for text in rules)
    yield from (("keju judge probe", "keju", text) for text in _texts_of_probes())


def _texts_of_probes() -> Iterator[str]:
    yield from (probe.about for probe in declared_probes().probes.values())
    yield from get_args(ProbeVerdict)


def _help_of(command: Any) -> Iterator[tuple[str, str, str]]:  # noqa: ANN401 - Typer's own class
    place = f"keju {command.name}"
    yield place, "keju", command.help
    for parameter in getattr(command, "params", ()):
        yield place, "keju", parameter.help
        yield place, "keju", parameter.rich_help_panel
    for subcommand in getattr(command, "commands", {}).values():
        yield from _help_of(subcommand)


def _of_settings(place: str, declared: Any) -> Iterator[tuple[str, str, str]]:  # noqa: ANN401
    owner = _owner(declared)
    yield place, owner, declared.summary
    yield from ((place, owner, get_description(each.type)) for each in fields(declared.settings))


def _owner(declared: Any) -> str:  # noqa: ANN401 - a step, a source or a format
    """The package or the benchmark with the code of a declaration."""
    code = getattr(declared, "settings", None) or declared.write
    parts: list[str] = code.__module__.split(".")
    return parts[2] if parts[1:2] == ["benchmarks"] else parts[0]


def sentences_of(code: str) -> Iterator[Sentence]:
    """The sentences of a module, in their order."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "KINDS":
            words = ast.literal_eval(node.value)
            yield from (Sentence("", word, context="kind") for word in words)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        words = list(_literals(call.args))
        match name, words:
            case "_" | "n_" | "p_", _:
                yield from _sentence_of(name, words)
            case "noun", [str(word), *_]:
                yield Sentence("", word, context="kind")
            case "name_columns", _:
                yield from (Sentence("", head, context="column") for head in words if head)
            case "unknown_name", [_, _, str(word)]:
                yield Sentence("", word, context="kind")
            case _, [str(template), *_] if is_error(name):
                yield Sentence("", template)
        yield from (
            Sentence("", each.value.value)
            for each in call.keywords
            if each.arg == "hint" and isinstance(each.value, ast.Constant) and each.value.value
        )


def texts_of_asset(file: Path) -> Iterator[Sentence]:
    """The sentences of a template, ``_("…")``, or of a script, ``say("…")``."""
    content = file.read_text("utf-8")
    if file.suffix == ".js":
        yield from (Sentence("", text) for text in SENTENCE_OF_SCRIPT.findall(content))
    else:
        tree = Environment(autoescape=True).parse(content)
        for __, function, words in extract_from_ast(tree, ("_", "n_", "p_")):
            yield from _sentence_of(function, words if isinstance(words, tuple) else (words,))


def _sentence_of(function: str, words: Sequence[str | None]) -> Iterator[Sentence]:
    """The sentence of a call of ``_``, ``n_`` or ``p_``, if it is written out."""
    match function, words:
        case "_", [str(template), *_] if template:
            yield Sentence("", template)
        case "n_", [str(template), str(plural), *_]:
            yield Sentence("", template, plural)
        case "p_", [str(context), str(template), *_]:
            yield Sentence("", template, context=context)


def is_error(name: str) -> bool:
    """Whether the first argument of a call is a sentence: the error classes of keju."""
    return name.endswith("Error") and not hasattr(builtins, name) and name not in _OTHERS


def _literals(arguments: Iterable[ast.expr]) -> Iterator[str | None]:
    for each in arguments:
        yield each.value if isinstance(each, ast.Constant) and isinstance(each.value, str) else None


def text_of(catalogue: Catalog) -> bytes:
    """The content of the ``.po`` file: files without line numbers, so that few lines change."""
    content = io.BytesIO()
    write_po(content, catalogue, width=100, include_lineno=False, omit_header=True)
    return HEADER.encode() + content.getvalue()


def compiled(catalogue: Catalog) -> bytes:
    """The content of the ``.mo`` file."""
    catalogue.creation_date = catalogue.revision_date = _DATE
    content = io.BytesIO()
    write_mo(content, catalogue)
    return content.getvalue()


def is_translated(message: Message) -> bool:
    """Whether a sentence of a catalogue has Chinese."""
    string = message.string
    return all(string) if isinstance(string, tuple) else bool(string)


if __name__ == "__main__":
    main()
