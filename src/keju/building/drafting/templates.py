"""Draft templates: the kinds of draft, their stages, and how a response becomes an item."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct, field

from keju.definitions import Definition, definitions, task
from keju.errors import UsageError, unknown_name
from keju.files import read_toml, sha256_bytes, shipped_toml
from keju.items import Item

Show = Literal["text", "image", "image-and-text"]
"""The material from which a kind is drafted: that of its stages, the page's image, or both."""

NOTES, DESCRIPTION, KEYWORDS = "notes", "description", "keywords"
KNOWN = (NOTES, DESCRIPTION, KEYWORDS)
"""Facts about an image in the metadata of its items: collected notes, a person's description, and
the keywords of that description."""

EVIDENCE = "evidence"
"""The key in a draft's metadata of the passage on which its answer is based."""

_NEEDS = frozenset({"image", "text", *KNOWN})
_QUESTION = "{question}"
_SAME = "same-characters"


class Example(Struct, frozen=True, forbid_unknown_fields=True):
    """A few-shot example: material, and the right response."""

    given: str
    reply: str


class Stage(Struct, frozen=True, forbid_unknown_fields=True):
    """One request: its instruction, the material that it shows, and the fields of its response."""

    name: str
    instruction: str
    reply: dict[str, str]
    shows: tuple[str, ...] = ("text",)
    example: tuple[Example, ...] = ()

    @property
    def asks_question(self) -> bool:
        """Whether its instruction contains the item's published prompt."""
        return _QUESTION in self.instruction


class Kind(Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of draft; templates.toml explains each part."""

    name: str
    needs: tuple[str, ...]
    fill: dict[str, str]
    stage: tuple[Stage, ...]
    tasks: dict[str, str] = field(default_factory=dict)
    other_tasks: tuple[str, ...] = ()
    many: bool = False
    exact: bool = False
    completes: bool = False
    checks: tuple[str, ...] = ()
    shown: dict[str, Show] = field(default_factory=dict)

    @property
    def makes(self) -> tuple[str, ...]:
        """Every task that its drafts can have."""
        return (*self.tasks.values(), *self.other_tasks)


class Templates(Struct, frozen=True, forbid_unknown_fields=True):
    """Every kind, and the frame of all their prompts."""

    version: str
    prompt: str
    count_one: str
    count_many: str
    shown_text: str
    shown_image: str
    example: str
    kinds: tuple[Kind, ...] = field(name="kind")
    count_exact: str = "items 中恰好 {most} 項。"
    labels: dict[str, str] = field(default_factory=dict)

    def get_kind(self, name: str) -> Kind | None:
        """Return the kind of that name, or None."""
        return next((each for each in self.kinds if each.name == name), None)

    def format_count(self, kind: Kind) -> str:
        """Format the sentence that states how many items are requested."""
        if not kind.many:
            return self.count_one
        return self.count_exact if kind.exact else self.count_many

    def make_signature(self, kind: Kind) -> str:
        """Make the mark of a kind in provenance: name, version, and hash of all its prompts."""
        frame = msgspec.structs.replace(self, kinds=())
        asked = msgspec.json.encode([frame, kind], order="sorted")
        return f"{kind.name} {self.version} {sha256_bytes(asked)[:12]}"


def read_templates(path: Path | None = None, benchmark: str = "") -> Templates:
    """Read the user's templates, or keju's own with the tasks that definitions give to its kinds.

    `benchmark` is one whose definition keju does not ship.

    Raises:
        DataError: the file cannot be read as templates.
        UsageError: a kind is not consistent, or a definition names a kind that does not exist.
    """
    if path is None:
        used = [each for each in definitions() if each.shipped or each.name == benchmark]
        return _add_tasks(_load_own(), used)
    found = read_toml(path, Templates, what="a file of templates")
    for kind in found.kinds:
        if fault := find_template_fault(kind):
            raise UsageError("{}: kind {}: {}", path, kind.name, fault)
    return found


def _add_tasks(templates: Templates, used: Sequence[Definition]) -> Templates:
    """Add the tasks and materials that definitions declare to the kinds of templates."""
    kinds = {kind.name: kind for kind in templates.kinds}
    for definition in used:
        for name, drafts in definition.drafts.items():
            if name not in kinds:
                raise UsageError(
                    "{}: drafts: {}", definition.name, unknown_name(name, kinds, "kind")
                )
            kind, (first, *others) = kinds[name], drafts.tasks
            shown = {definition.name: drafts.show} if drafts.show else {}
            kinds[name] = msgspec.structs.replace(
                kind,
                tasks=kind.tasks | {definition.name: first},
                other_tasks=(*kind.other_tasks, *others),
                shown=kind.shown | shown,
            )
    return msgspec.structs.replace(templates, kinds=tuple(kinds.values()))


def change_material(kind: Kind, show: Show) -> Kind:
    """Change the material of a kind to an image, or both: its requirements and stages.

    Raises:
        UsageError: the kind declares its material, or depends on notes that no image replaces.
    """
    if show == "text" and not any("image" in stage.shows for stage in kind.stage):
        return kind
    if any("image" in stage.shows for stage in kind.stage):
        raise UsageError(
            "show = {!r}: the stages of {} already define which of them shows the image. Remove "
            "show",
            show,
            kind.name,
        )
    if show == "image" and set(kind.needs) - {"text", "image"}:
        raise UsageError(
            "show = 'image': {} is drafted from known facts about the image. Use text or "
            "image-and-text",
            kind.name,
        )
    kept = {"text"} if show == "image" else set[str]()
    stages = [
        msgspec.structs.replace(
            stage, shows=("image", *(name for name in stage.shows if name not in kept))
        )
        for stage in kind.stage
    ]
    if any(check.startswith(_SAME) for check in kind.checks):
        kept = set()  # A text is checked against the transcription, so a transcription must exist.
    needs = dict.fromkeys(("image", *(need for need in kind.needs if need not in kept)))
    return msgspec.structs.replace(kind, needs=tuple(needs), stage=tuple(stages))


def collect_known_facts(item: Item) -> dict[str, str]:
    """Collect the facts on which a draft is based, besides its text, for the reviewer."""
    names = (*KNOWN, EVIDENCE)
    return {name: text for name in names if (text := item.metadata.get(name, "").strip())}


def find_template_fault(kind: Kind) -> str:
    """Find an inconsistency of a kind; empty if there is none."""
    known = {f"{stage.name}.{name}" for stage in kind.stage for name in stage.reply}
    last = {*known, *(kind.stage[-1].reply if kind.stage else ())}
    used = {name.strip() for fields in kind.fill.values() for name in fields.split(",")}
    used |= {name for check in kind.checks for name in check.partition(":")[2].split(",")}
    if gone := sorted(used - last):
        return f"no stage replies with {gone[0]!r}"
    shown = {name for stage in kind.stage for name in stage.shows}
    if gone := sorted(shown - _NEEDS - known):
        return f"there is no material {gone[0]!r} to show"
    if gone := sorted((shown & _NEEDS) - set(kind.needs)):
        return f"{gone[0]!r} is shown, but needs does not list it"
    if kind.many and len(kind.stage) > 1:
        return "many = true requires a single stage"
    try:
        for name in kind.makes:
            task(name)
    except UsageError as error:
        return str(error)
    return ""


@cache
def _load_own() -> Templates:
    return shipped_toml("keju.building.drafting", "templates.toml", Templates)
