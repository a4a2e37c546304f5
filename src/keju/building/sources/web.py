"""Source ``web``: saved web pages, each with its address and licence, for what they tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from keju.benchmarks import task
from keju.building.bench import TABLES
from keju.building.settings import settings_from
from keju.building.sources.base import Site, SourceForm, writing
from keju.building.sources.main_text import page_text
from keju.building.step import Settings
from keju.building.tables import write_table
from keju.datasets.readers.base import files_under, source_bytes
from keju.errors import DataError, UsageError
from keju.items import Item, Provenance
from keju.synthesis.recipe import read_toml

_SIDECAR = ".toml"


class WebSettings(Settings, frozen=True, kw_only=True):
    """A folder of saved pages: NAME.html beside NAME.html.toml (address, licence, title)."""

    path: Annotated[Path, Meta(description="The folder, or one page.")]
    source: Annotated[str, Meta(min_length=1, description="Whose pages they are.")]
    task: Annotated[
        str,
        Meta(description="The task of its items: what drafts from these texts will ask, e.g. T2."),
    ]
    licence: Annotated[str, Meta(description="Of pages whose sidecar names none.")] = ""
    address: Annotated[str, Meta(description="Of a page without sidecar: so it begins.")] = ""
    shortest: Annotated[int, Meta(description="Characters of the shortest text.", ge=1)] = 50
    name: Annotated[str, Meta(description="Tells its ids from an earlier source's.")] = ""


class Sidecar(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known about a saved page; `saved` is the day, as you write it."""

    address: Annotated[str, Meta(description="Where the page is from.")] = ""
    licence: Annotated[str, Meta(description="Under which it may be used.")] = ""
    title: Annotated[str, Meta(description="Its title, where the page's own will not do.")] = ""
    saved: Annotated[str, Meta(description="The day on which it was saved.")] = ""


class Refused(Struct, frozen=True):
    """A page that became no item, and why."""

    page: str
    why: str


def read_web(settings: WebSettings, site: Site) -> Iterable[str]:
    """Take the main text of every page as an item's transcription; refuse what has no licence.

    The items are drafts, notes for what is drafted from them: they have no question or answer yet.

    Raises:
        DataError: no page can be used.
    """
    kind = task(settings.task)
    folder = settings.path if settings.path.is_dir() else settings.path.parent
    files = [settings.path]
    if settings.path.is_dir():
        files = list(files_under(folder, {"html", "htm", "xhtml"}))
    names = [file.relative_to(folder).as_posix() for file in files]
    items: list[Item] = []
    refused: list[Refused] = []
    for file, name, called in zip(files, names, _called(names), strict=True):
        pattern = Item(
            id=called,
            benchmark=kind.benchmark,
            task=kind.id,
            query=kind.queries[0].name,
            draft=True,
        )
        try:
            items.append(_item(file, name, pattern, settings))
        except (DataError, UsageError) as error:
            refused.append(Refused(name, getattr(error, "problem", str(error))))
    if not items:
        why = refused[0].why if refused else "there are no .html files"
        raise DataError(f"no page can be used: {why}", file=settings.path)
    licences = dict.fromkeys(item.provenance[0].licence for item in items)
    licence = " AND ".join(licences)
    with writing(site.out, "web", licence=licence, source=settings.source) as writer:
        for item in items:
            writer.add(item)
        write_table(site.out / TABLES, "refused", refused, Refused)
    return list(_notes(refused))


def _called(names: list[str]) -> list[str]:
    """What the items of files are called: their names without endings, where these are unlike."""
    stems = [name.rpartition(".")[0] for name in names]
    taken = Counter([*names, *stems])
    return [stem if taken[stem] == 1 else name for name, stem in zip(names, stems, strict=True)]


def _reads(settings: WebSettings) -> list[Path]:
    return [] if settings.path.is_dir() else [_sidecar(settings.path)]


def _sidecar(file: Path) -> Path:
    return file.with_name(file.name + _SIDECAR)


def _check(settings: WebSettings) -> None:
    task(settings.task)


SOURCE = SourceForm(
    "web",
    "saved web pages with address and licence",
    WebSettings,
    read_web,
    version=3,
    check=_check,
    reads=_reads,
)


def _item(file: Path, name: str, pattern: Item, settings: WebSettings) -> Item:
    beside = _sidecar(file)
    known = Sidecar()
    if beside.is_file():
        known = settings_from(read_toml(beside, dict[str, object]), Sidecar, place=str(beside))
    licence = known.licence or settings.licence
    address = known.address or (settings.address and settings.address + name)
    if not licence:
        raise DataError(f"no licence: write it into {beside.name} or into the recipe")
    if not address:
        raise DataError(f"no address: write it into {beside.name} or into the recipe")
    page = page_text(source_bytes(file), name=str(file))
    if len(page.text) < settings.shortest:
        raise DataError(f"only {len(page.text)} characters of text")
    said = {"title": known.title or page.title, "address": address, "saved": known.saved}
    return replace(
        pattern,
        transcription=page.text,
        group=address,
        metadata={key: value for key, value in said.items() if value},
        provenance=(Provenance(step="web", source=address, licence=licence),),
    )


def _notes(refused: list[Refused]) -> Iterator[str]:
    if refused:
        yield f"{len(refused)} pages refused: tables/refused.csv says why"
