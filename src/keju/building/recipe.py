"""Recipes: the sources and steps of a build in one TOML file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from msgspec import Meta, Struct

from keju.building.running import RECORD, DatasetInfo, StepRecord
from keju.building.settings import check_paths
from keju.building.sources import SourceForm, get_source_form, list_source_names
from keju.building.step import Step
from keju.building.steps import STEPS
from keju.errors import DataError, ProblemsError, UsageError
from keju.files import read_json, read_toml
from keju.settings import collect_errors, convert_settings


class _RecipeFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A recipe as it is written in TOML."""

    name: Annotated[str, Meta(min_length=1)]
    version: str = "1"
    licence: str = ""
    origin: str = ""
    seed: int = 0
    language: str = ""
    script: str = ""
    source: list[dict[str, Any]] = []
    step: list[dict[str, Any]] = []


class PlannedSource(NamedTuple):
    """A source: its position in the recipe from 1, its form, and its settings."""

    number: int
    form: SourceForm[Any]
    settings: Struct

    @property
    def folder(self) -> str:
        """Its directory in the build."""
        return f"{self.number:02}-{self.form.name}"


class PlannedStep(NamedTuple):
    """A step: its position in the recipe from 1, its kind, and its settings."""

    number: int
    step: Step[Any]
    settings: Struct

    @property
    def folder(self) -> str:
        """Its directory in the build."""
        return f"{self.number:02}-{self.step.name}"


class Recipe(NamedTuple):
    """A recipe, read and checked; `head` has the names of its datasets."""

    file: Path
    head: DatasetInfo
    seed: int
    sources: tuple[PlannedSource, ...]
    steps: tuple[PlannedStep, ...]


def read_recipe(file: Path, out: Path | None = None) -> Recipe:
    """Read a recipe and check all of it before anything is done.

    Relative paths in it start from the recipe's directory.

    Args:
        file: the recipe.
        out: the build directory, whose records name the plug-ins of steps and sources that do not
            exist here; by default a directory with the recipe's name.

    Raises:
        DataError: there is no such file, or it is not TOML.
        ProblemsError: unknown forms, steps or keys, values of the wrong type, missing paths: all of
            them.
    """
    raw = read_toml(file, dict[str, Any])
    faults: list[str] = []
    for name in ("source", "step"):
        if isinstance(raw.get(name), dict):
            faults.append(f"{file}: [{name}]: write [[{name}]], because a recipe can have several")
            raw[name] = [raw[name]]
    page = _RecipeFile(name="?")
    with collect_errors(faults):
        page = convert_settings(raw, _RecipeFile, place=str(file))
    if not raw.get("source"):
        faults.append(f"{file}: no [[source]]. Add the material of the dataset as [[source]]")
    base, made = file.parent, out or Path(page.name)
    sources: list[PlannedSource] = []
    steps: list[PlannedStep] = []
    for number, table in enumerate(_list_tables(raw, "source"), 1):
        with collect_errors(faults), _add_plugin_hint(made, table.get("form")):
            sources.append(_read_source(file, base, number, table))
    for number, table in enumerate(_list_tables(raw, "step"), 1):
        with collect_errors(faults), _add_plugin_hint(made, table.get("do")):
            steps.append(_read_step(file, base, number, table))
    if faults:
        raise ProblemsError(faults)
    head = DatasetInfo(
        name=page.name,
        version=page.version,
        licence=page.licence,
        source=page.origin,
        language=page.language,
        script=page.script,
    )
    return Recipe(file, head, page.seed, tuple(sources), tuple(steps))


@contextmanager
def _add_plugin_hint(made: Path, name: object) -> Iterator[None]:
    """Add to an error about an unknown name the plug-in that provided it in an earlier build."""
    try:
        yield
    except UsageError as error:
        known = name in STEPS or name in list_source_names()
        missing = isinstance(name, str) and not known
        hint = _describe_recorded_plugin(made, str(name)) if missing else ""
        if not hint:
            raise
        raise UsageError(f"{str(error).partition('. There are:')[0]}. {hint}") from None


def _list_tables(raw: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    found = raw.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _read_source(file: Path, base: Path, number: int, table: Mapping[str, Any]) -> PlannedSource:
    place = f"{file}: source {number}"
    form = get_source_form(_get_name(table, "form", list_source_names(), place), place=place)
    place = f"{place} ({form.name})"
    rest = {key: value for key, value in table.items() if key != "form"}
    settings = convert_settings(rest, form.settings, place=place, base=base)
    check_paths(settings, place)
    faults: list[str] = []
    with collect_errors(faults, place):
        form.check(settings)
    if faults:
        raise ProblemsError(faults)
    return PlannedSource(number, form, settings)


def _read_step(file: Path, base: Path, number: int, table: Mapping[str, Any]) -> PlannedStep:
    place = f"{file}: step {number}"
    step = STEPS.find(_get_name(table, "do", STEPS, place), place=place)
    place = f"{place} ({step.name})"
    rest = {key: value for key, value in table.items() if key != "do"}
    settings = convert_settings(rest, step.settings, place=place, base=base)
    check_paths(settings, place)
    return PlannedStep(number, step, settings)


def _get_name(table: Mapping[str, Any], key: str, known: Iterable[str], place: str) -> str:
    name = table.get(key)
    if not isinstance(name, str):
        raise UsageError("{}: it needs {} = …, one of: {}", place, key, ", ".join(sorted(known)))
    return name


def _describe_recorded_plugin(out: Path, name: str) -> str:
    """Describe the plug-ins that provided a step or a source in an earlier build, if any."""
    for file in sorted(out.glob(f"*/*/{RECORD}")):
        try:
            record = read_json(file, StepRecord)
        except DataError:
            continue  # A damaged record is reported when its step runs.
        if record.step == name and record.plugins:
            plugins = " and ".join(map(str, record.plugins))
            how = "Load it with --plugin FILE.py" if record.plugins[0].sha256 else "Install it"
            return f"An earlier build in {out} used the plug-in {plugins}. {how}"
    return ""
