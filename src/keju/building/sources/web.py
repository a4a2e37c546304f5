"""Source ``web``: saved web pages as texts or notes, each with its address and licence.

A page with an image becomes an item about the image, with the text as its notes; a page without one
becomes a text to draft from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from keju.building.drafting.templates import NOTES
from keju.building.sources.base import Site, SourceForm, writing
from keju.building.sources.saved_pages import SavedPage, image_of, read_saved, sidecar_of
from keju.building.step import Settings
from keju.building.step_context import TABLES
from keju.building.tables import write_table
from keju.datasets.readers.base import files_under, source_bytes
from keju.definitions import task
from keju.errors import DataError, KejuError, UsageError, english_problem, number_of
from keju.images import probe_image
from keju.items import Item, Provenance
from keju.messages import message


class WebSettings(Settings, frozen=True, kw_only=True):
    """A directory of saved pages: NAME.html beside NAME.html.toml (address, licence, title)."""

    path: Annotated[Path, Meta(description="The folder, or one page.")]
    source: Annotated[str, Meta(min_length=1, description="Whose pages they are.")]
    task: Annotated[
        str,
        Meta(description="The task of its items: what drafts from these texts will ask, e.g. T2."),
    ]
    licence: Annotated[str, Meta(description="Of pages whose sidecar names none.")] = ""
    address: Annotated[str, Meta(description="Of a page without sidecar: so it begins.")] = ""
    own_image: Annotated[
        bool,
        Meta(
            description="Show each page's own image: that of its sidecar, else the largest that is "
            "saved with it."
        ),
    ] = False
    shortest: Annotated[int, Meta(description="Characters of the shortest text.", ge=1)] = 50
    name: Annotated[str, Meta(description="Tells its ids from an earlier source's.")] = ""


class Refused(Struct, frozen=True):
    """A page that was dropped, and why."""

    page: str
    why: str


def read_web(settings: WebSettings, site: Site) -> Iterable[str]:
    """Make an item from the main text of every page; drop pages without a licence.

    For an item with an image the text becomes the notes in its metadata, else its transcription.
    The items are drafts from which others are drafted: they have no answer yet.

    Raises:
        DataError: no page can be used.
    """
    folder = settings.path if settings.path.is_dir() else settings.path.parent
    files = [settings.path]
    if settings.path.is_dir():
        files = list(files_under(folder, {"html", "htm", "xhtml"}))
    names = [file.relative_to(folder).as_posix() for file in files]
    items: list[tuple[Item, Path | None]] = []
    refused: list[Refused] = []
    for file, name, called in zip(files, names, _called(names), strict=True):
        try:
            address = settings.address and settings.address + name
            page = read_saved(
                file, licence=settings.licence, address=address, shortest=settings.shortest
            )
            image = image_of(page, folder, own=settings.own_image)
            if image is not None:
                probe_image(source_bytes(image), name=str(image))
            items.append((_item(page, called, settings, shown=image is not None), image))
        except (DataError, UsageError) as error:
            refused.append(Refused(name, english_problem(error)))
    if not items:
        why = refused[0].why if refused else message("building.no-html-files")
        raise DataError(message("building.no-usable-page", why=why), file=settings.path)
    licences = dict.fromkeys(
        step.licence for item, _ in items for step in item.provenance if step.licence
    )
    licence = " AND ".join(licences)
    with writing(site.out, "web", licence=licence, source=settings.source) as writer:
        for item, image in items:
            refs = (writer.add_image(source_bytes(image), str(image)),) if image else ()
            writer.add(replace(item, images=refs))
        write_table(site.out / TABLES, "refused", refused, Refused)
    return list(_notes(refused))


def _called(names: list[str]) -> list[str]:
    """The names of items: those of their files without suffixes, where these are unique."""
    stems = [name.rpartition(".")[0] for name in names]
    taken = Counter([*names, *stems])
    return [stem if taken[stem] == 1 else name for name, stem in zip(names, stems, strict=True)]


def _reads(settings: WebSettings) -> list[Path]:
    """The files beside a single page; for a directory, all files."""
    if settings.path.is_dir():
        return []
    found = [sidecar_of(settings.path)]
    with suppress(KejuError):
        page = read_saved(settings.path, licence="-", address="-", shortest=0)
        image = image_of(page, settings.path.parent, own=settings.own_image)
        found += [image] if image else []
    return found


def _check(settings: WebSettings) -> None:
    task(settings.task)


SOURCE = SourceForm(
    "web",
    "saved web pages with address and licence",
    WebSettings,
    read_web,
    version=4,
    check=_check,
    reads=_reads,
)


def _item(page: SavedPage, called: str, settings: WebSettings, *, shown: bool) -> Item:
    known = page.sidecar
    kind = task(known.task or settings.task)
    said = {"title": page.title, "address": page.address, "saved": known.saved}
    provenance = [page.provenance]
    if known.image_licence or known.image_source:
        licence, source = known.image_licence or page.licence, known.image_source or page.address
        provenance.append(Provenance(step="web", source=source, licence=licence, note="the image"))
    if shown:
        said[NOTES] = page.text
    return Item(
        id=called,
        benchmark=kind.benchmark,
        task=kind.id,
        query=kind.queries[0].name,
        draft=True,
        fields=known.fields,
        transcription=None if shown else page.text,
        group=page.address,
        metadata={key: value for key, value in said.items() if value},
        provenance=tuple(provenance),
    )


def _notes(refused: list[Refused]) -> Iterator[str]:
    if refused:
        yield f"{number_of(len(refused), 'page')} refused: tables/refused.csv says why"
