"""How drafts are asked for, as data: kinds, their stages, and what becomes of a reply."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec import Struct, field

from keju.benchmarks import task
from keju.errors import UsageError
from keju.files import sha256_bytes

_NEEDS = frozenset({"image", "text", "notes"})


class Example(Struct, frozen=True, forbid_unknown_fields=True):
    """One shot: material, and the reply that would be right."""

    given: str
    reply: str


class Stage(Struct, frozen=True, forbid_unknown_fields=True):
    """One request: its sentence of instruction, what it shows, and the fields of its reply."""

    name: str
    instruction: str
    reply: dict[str, str]
    shows: tuple[str, ...] = ("text",)
    example: tuple[Example, ...] = ()


class Kind(Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of draft; templates.toml says what each part means."""

    name: str
    needs: tuple[str, ...]
    tasks: dict[str, str]
    fill: dict[str, str]
    stage: tuple[Stage, ...]
    other_tasks: tuple[str, ...] = ()
    many: bool = False
    checks: tuple[str, ...] = ()


class Templates(Struct, frozen=True, forbid_unknown_fields=True):
    """Every kind, and the frame in which all of them are asked."""

    version: str
    prompt: str
    count_one: str
    count_many: str
    shown_text: str
    shown_image: str
    example: str
    kinds: tuple[Kind, ...] = field(name="kind")

    def kind(self, name: str) -> Kind | None:
        """The kind of that name."""
        return next((each for each in self.kinds if each.name == name), None)

    def signature(self, kind: Kind) -> str:
        """What provenance says of a kind: its name, the version, the hash of all that is asked."""
        frame = msgspec.structs.replace(self, kinds=())
        asked = msgspec.json.encode([frame, kind], order="sorted")
        return f"{kind.name} {self.version} {sha256_bytes(asked)[:12]}"


def read_templates(path: Path | None = None) -> Templates:
    """The user's templates, or keju's own.

    Raises:
        UsageError: the file cannot be read as templates, or a kind does not hold together.
    """
    if path is None:
        return _own()
    try:
        found = _templates(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{path}: no templates: {error}") from None
    for kind in found.kinds:
        if fault := fault_of(kind):
            raise UsageError(f"{path}: kind {kind.name}: {fault}")
    return found


def fault_of(kind: Kind) -> str:
    """What does not hold together in a kind, or an empty string."""
    known = {f"{stage.name}.{name}" for stage in kind.stage for name in stage.reply}
    last = {*known, *(kind.stage[-1].reply if kind.stage else ())}
    used = {name.strip() for fields in kind.fill.values() for name in fields.split(",")}
    used |= {name for check in kind.checks for name in check.partition(":")[2].split(",")}
    if gone := sorted(used - last):
        return f"no stage replies with {gone[0]!r}"
    shown = {name for stage in kind.stage for name in stage.shows}
    if gone := sorted(shown - _NEEDS - known):
        return f"nothing to show is called {gone[0]!r}"
    if gone := sorted((shown & _NEEDS) - set(kind.needs)):
        return f"{gone[0]!r} is shown but not among its needs"
    if kind.many and len(kind.stage) > 1:
        return "several stages make one item, not many"
    try:
        for name in (*kind.tasks.values(), *kind.other_tasks):
            task(name)
    except UsageError as error:
        return str(error)
    return ""


@cache
def _own() -> Templates:
    return _templates(files(__package__).joinpath("templates.toml").read_text("utf-8"))


def _templates(text: str) -> Templates:
    return msgspec.convert(tomllib.loads(text), Templates)
