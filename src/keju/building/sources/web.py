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

from msgspec import Meta
from msgspec.structs import replace

from keju.building.drafting.templates import NOTES
from keju.building.dropped import Dropped, write_dropped
from keju.building.sources.base import NameKey, Site, SourceForm, writing
from keju.building.step import Settings
from keju.datasets.readers.base import files_under, source_bytes
from keju.datasets.readers.saved_pages import SavedPage, find_image, get_sidecar_path, read_saved
from keju.definitions import task
from keju.errors import DataError, KejuError, UsageError, english_problem
from keju.images import probe_image
from keju.items import Item, Provenance
from keju.texts import _, n_


class WebSettings(Settings, frozen=True, kw_only=True):
    """A directory of saved pages: NAME.html beside NAME.html.toml (address, licence, title)."""

    path: Annotated[Path, Meta(description="Directory of the pages, or one page.")]
    source: Annotated[
        str, Meta(min_length=1, description="Website or institution that publishes them.")
    ]
    task: Annotated[
        str,
        Meta(description="Task of the items, which drafts from these texts will have, e.g. T2."),
    ]
    licence: Annotated[
        str, Meta(description="Licence of pages whose sidecar does not name one.")
    ] = ""
    address: Annotated[
        str, Meta(description="Start of the address of pages whose sidecar does not name one.")
    ] = ""
    own_image: Annotated[
        bool,
        Meta(
            description="Use the image of each page: the one that its sidecar names, else the "
            "largest that is saved with it."
        ),
    ] = False
    shortest: Annotated[int, Meta(description="Minimum length of a text in characters.", ge=1)] = 50
    name: NameKey = ""


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
    dropped: list[Dropped] = []
    for file, name, called in zip(files, names, _choose_ids(names), strict=True):
        try:
            address = settings.address and settings.address + name
            page = read_saved(
                file, licence=settings.licence, address=address, shortest=settings.shortest
            )
            image = find_image(page, folder, own=settings.own_image)
            if image is not None:
                probe_image(source_bytes(image), name=str(image))
            items.append((_make_item(page, called, settings, shown=image is not None), image))
        except (DataError, UsageError) as error:
            dropped.append(Dropped(name, english_problem(error)))
    if not items:
        why = dropped[0].reason if dropped else _("there are no .html files")
        raise DataError("no page can be used: {}", why, file=settings.path)
    licences = dict.fromkeys(
        step.licence for item, _ in items for step in item.provenance if step.licence
    )
    licence = " AND ".join(licences)
    with writing(site.out, "web", licence=licence, source=settings.source) as writer:
        for item, image in items:
            refs = (writer.add_image(source_bytes(image), str(image)),) if image else ()
            writer.add(replace(item, images=refs))
        write_dropped(site.out, dropped)
    return list(_describe_dropped(dropped))


def _choose_ids(names: list[str]) -> list[str]:
    """Choose the ids of items: the names of their files, without the suffix where it is unique."""
    stems = [name.rpartition(".")[0] for name in names]
    taken = Counter([*names, *stems])
    return [stem if taken[stem] == 1 else name for name, stem in zip(names, stems, strict=True)]


def _list_files(settings: WebSettings) -> list[Path]:
    """List the files beside a single page; a directory is a path of the settings itself."""
    if settings.path.is_dir():
        return []
    found = [get_sidecar_path(settings.path)]
    with suppress(KejuError):
        page = read_saved(settings.path, licence="-", address="-", shortest=0)
        image = find_image(page, settings.path.parent, own=settings.own_image)
        found += [image] if image else []
    return found


SOURCE = SourceForm(
    "web",
    "saved web pages with address and licence",
    WebSettings,
    read_web,
    version=4,
    check=lambda settings: task(settings.task),
    reads=_list_files,
)


def _make_item(page: SavedPage, called: str, settings: WebSettings, *, shown: bool) -> Item:
    known = page.sidecar
    kind = task(known.task or settings.task)
    metadata = {"title": page.title, "address": page.address, "saved": known.saved}
    provenance = [page.provenance]
    if known.image_licence or known.image_source:
        licence, source = known.image_licence or page.licence, known.image_source or page.address
        provenance.append(Provenance(step="web", source=source, licence=licence, note="the image"))
    if shown:
        metadata[NOTES] = page.text
    return Item(
        id=called,
        benchmark=kind.benchmark,
        task=kind.id,
        query=kind.queries[0].name,
        draft=True,
        fields=known.fields,
        transcription=None if shown else page.text,
        group=page.address,
        metadata={key: value for key, value in metadata.items() if value},
        provenance=tuple(provenance),
    )


def _describe_dropped(dropped: list[Dropped]) -> Iterator[str]:
    if dropped:
        yield n_(
            "{n:,} page dropped; for the reasons see tables/dropped.csv",
            "{n:,} pages dropped; for the reasons see tables/dropped.csv",
            len(dropped),
        )
