"""Source ``iiif``: the pages of IIIF manifests, from disk or from a server that the user names."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

from msgspec import Meta

from keju.building.dropped import Dropped, write_dropped
from keju.building.sources.base import NameKey, Site, SourceForm, writing
from keju.building.sources.fetching import Fetcher, ServerUnavailableError, get_host
from keju.building.sources.manifests import Manifest, Page, list_manifests, read_manifest
from keju.building.standardising.step import PIXEL_BUDGET
from keju.building.step import Settings
from keju.datasets.readers.base import files_under, inside, join_names, source_bytes
from keju.datasets.store import DatasetWriter
from keju.definitions import OWN_PAGE, Task, task
from keju.errors import DataError, UsageError, english_problem
from keju.files import read_json, sha256_bytes
from keju.items import Item, Provenance
from keju.texts import _, n_

_PLAIN = re.compile(r"[^\w.-]+")


class IiifSettings(Settings, frozen=True, kw_only=True):
    """Manifests, and how their images are downloaded."""

    source: Annotated[
        str, Meta(min_length=1, description="Library or collection that publishes them.")
    ]
    path: Annotated[
        Path | None,
        Meta(description="A manifest or collection on disk, or a directory of them with images."),
    ] = None
    url: Annotated[str, Meta(description="A manifest or collection on a server.")] = ""
    hosts: Annotated[
        tuple[str, ...],
        Meta(description="Hosts that may be contacted, in addition to the host of url."),
    ] = ()
    licence: Annotated[
        str, Meta(description="Licence of the manifests that do not state their rights.")
    ] = ""
    accept: Annotated[
        tuple[str, ...],
        Meta(description="Use only manifests whose rights contain one of these words."),
    ] = ()
    pixels: Annotated[
        int, Meta(description="Maximum pixels of a requested image; 0: full size.", ge=0)
    ] = PIXEL_BUDGET
    limit: Annotated[int, Meta(description="Maximum pages per manifest; 0: all.", ge=0)] = 0
    pause: Annotated[float, Meta(description="Seconds between two requests.", ge=0, le=3600)] = 1.0
    most_bytes: Annotated[int, Meta(description="Maximum bytes of one response.", ge=1)] = (
        100_000_000
    )
    task: Annotated[str, Meta(description="Task of the items.")] = OWN_PAGE
    name: NameKey = ""


def read_iiif(settings: IiifSettings, site: Site) -> Iterable[str]:
    """Download the pages of manifests and make an item of each; drop those without a licence.

    Each image of a canvas is a page; of alternative images it is the first or the default one.

    Downloads are cached permanently. The items are drafts: they have no answer yet.

    Raises:
        UsageError: an address on a host that was not permitted.
        DataError: no page is available; or the server fails, and a later build resumes.
    """
    kind = task(settings.task)
    hosts = {host.casefold() for host in settings.hosts} | {get_host(settings.url)} - {""}
    fetcher = Fetcher(site.fetched, hosts, pause=settings.pause, most=settings.most_bytes)
    left: list[Dropped] = []
    several: list[str] = []
    offered: list[str] = []
    books = _mark_same_names(list(_iter_books(settings, fetcher, left)))
    if not books:
        why = left[0].reason if left else _("there are no manifests")
        raise DataError("no page: {}", why, file=settings.url or settings.path)
    licence = " AND ".join(dict.fromkeys(book.rights for book in books))
    with writing(site.out, "iiif", licence=licence, source=settings.source) as writer:
        shelf = _PageWriter(settings, kind, fetcher, writer)
        for book in books:
            why = DataError("the canvas shows no image").render("en")
            left += [
                Dropped(_name_page(page), why, details=book.place)
                for page in book.manifest.without_image
            ]
            for page in book.manifest.pages[: settings.limit or None]:
                try:
                    several += [f"{book.name}/{page.number:04}"] * (page.part == 2)
                    offered += [f"{book.name}/{page.number:04}"] * (page.alternatives > 1)
                    shelf.add(page, book)
                except ServerUnavailableError:
                    raise
                except DataError as error:
                    left.append(
                        Dropped(
                            _name_page(page),
                            error.render("en"),
                            details=book.place,
                        )
                    )
        write_dropped(site.out, left)
        if not shelf.count:
            raise DataError("no page: {}", left[0].reason if left else _("the manifests show none"))
    return list(_describe(left, several, offered))


def _describe(left: list[Dropped], several: list[str], offered: list[str]) -> Iterator[str]:
    if left:
        yield n_(
            "{n:,} manifest or page dropped: tables/dropped.csv",
            "{n:,} manifests or pages dropped: tables/dropped.csv",
            len(left),
        )
    if several:
        yield n_(
            "{n:,} canvas shows several images, and each image is an item: {}",
            "{n:,} canvases show several images, and each image is an item: {}",
            len(several),
            join_names(several),
        )
    if offered:
        yield n_(
            "{n:,} canvas offers alternative images, and the first or default one is used: {}",
            "{n:,} canvases offer alternative images, and the first or default one is used: {}",
            len(offered),
            join_names(offered),
        )


def _name_page(page: Page) -> str:
    return f"{page.number} {page.label}"


def _check(settings: IiifSettings) -> None:
    task(settings.task)
    if bool(settings.path) == bool(settings.url):
        raise UsageError("give either path (manifests on disk) or url (on a server)")


def _list_images(settings: IiifSettings) -> Iterator[Path]:
    """List the images beside a single manifest; a directory is a path of the settings itself."""
    if settings.path is not None and not settings.path.is_dir():
        for page in read_manifest(read_json(settings.path, object)).pages:
            if _is_beside(page):
                yield settings.path.parent / page.image


def _is_beside(page: Page) -> bool:
    """Whether its image is given by a path, not by an address."""
    return bool(page.image) and ":" not in page.image.partition("/")[0]


SOURCE = SourceForm(
    "iiif",
    "the pages of IIIF manifests",
    IiifSettings,
    read_iiif,
    version=3,
    check=_check,
    reads=_list_images,
)


class _Book(NamedTuple):
    """A manifest, its origin, and the rights of its pages.

    `address` is its public address, else its path in the source. `folder` is that of a manifest on
    disk, which may contain images; `mark` distinguishes it from another book of its name.
    """

    place: str
    manifest: Manifest
    rights: str
    address: str
    folder: Path | None = None
    mark: str = ""

    @property
    def name(self) -> str:
        """The prefix of its items' ids: the last meaningful part of its address."""
        parts = [part for part in self.manifest.id.split("/") if part and "manifest" not in part]
        last = parts[-1] if parts else Path(self.place).stem
        return (_PLAIN.sub("-", last).strip("-") or "book") + self.mark


def _mark_same_names(books: list[_Book]) -> list[_Book]:
    """Return the books; a name shared by several addresses gets a hash of the whole address."""
    addresses: defaultdict[str, set[str]] = defaultdict(set)
    for book in books:
        addresses[book.name].add(book.address)
    return [
        book._replace(mark=f"-{sha256_bytes(book.address.encode())[:8]}")
        if len(addresses[book.name]) > 1
        else book
        for book in books
    ]


class _PageWriter:
    """Downloads the images of pages and writes their items."""

    def __init__(
        self, settings: IiifSettings, kind: Task, fetcher: Fetcher, writer: DatasetWriter
    ) -> None:
        self._settings = settings
        self._task = kind
        self._fetcher = fetcher
        self._writer = writer
        self.count = 0

    def add(self, page: Page, book: _Book) -> None:
        """Download a page's image and add its item.

        Raises:
            UsageError: it is on a host that was not permitted.
            DataError: it is not available, or not a valid image.
        """
        url = page.get_image_address(self._settings.pixels)
        if book.folder is not None and _is_beside(page):
            # A manifest on disk may refer to images beside it; a server's may not.
            url = page.image
            data = source_bytes(inside(book.folder, url, file=Path(book.place), item=page.label))
        else:
            data = self._fetcher.get(url).read_bytes()
        ref = self._writer.add_image(data, url)
        manifest = book.manifest
        metadata = {
            "title": manifest.label,
            "page": page.label,
            "address": url,
            "attribution": manifest.attribution,
        }
        whence = Provenance(
            step="iiif", source=manifest.id or self._settings.source, licence=book.rights
        )
        self._writer.add(
            Item(
                id=f"{book.name}/{page.number:04}" + (f"-{page.part}" if page.part > 1 else ""),
                benchmark=self._task.benchmark,
                task=self._task.id,
                query=self._task.queries[0].name,
                images=(ref,),
                group=manifest.label or manifest.id,
                metadata={key: value for key, value in metadata.items() if value},
                provenance=(whence,),
                draft=True,
            )
        )
        self.count += 1


def _iter_books(settings: IiifSettings, fetcher: Fetcher, left: list[Dropped]) -> Iterator[_Book]:
    """Yield the manifests whose rights are known and accepted; append the others to `left`."""
    for place, content in _iter_manifests(settings, fetcher, left):
        try:
            manifest = read_manifest(content)
        except DataError as error:
            left.append(Dropped(place, english_problem(error)))
            continue
        rights = manifest.rights or settings.licence
        if not rights:
            why = "the manifest states no rights. If you know them, set licence in the recipe"
            left.append(Dropped(place, why))
        elif settings.accept and not any(word in rights for word in settings.accept):
            left.append(Dropped(place, f"rights not accepted: {rights}"))
        else:
            file = Path(place) if settings.path is not None and not get_host(place) else None
            within = file.relative_to(settings.path or "").as_posix() if file else place
            folder = file.parent if file else None
            yield _Book(place, manifest, rights, manifest.id or within, folder)


_DEEPEST = 10
"""The maximum depth of nested collections. A server can nest them without end."""

_MOST_COLLECTIONS = 10_000


class _QueuedManifest(NamedTuple):
    """A manifest or collection that is still to be read, and its depth."""

    place: str
    file: Path | None
    depth: int


def _iter_manifests(
    settings: IiifSettings, fetcher: Fetcher, left: list[Dropped]
) -> Iterator[tuple[str, object]]:
    """Yield every manifest's JSON with its place; append unavailable members to `left`.

    Raises:
        UsageError: a member is on a host that was not permitted.
        DataError: the address of the recipe is not available, a file is damaged, or the server
            fails.
    """
    if settings.path is not None:
        files = [settings.path]
        if settings.path.is_dir():
            files = list(files_under(settings.path, {"json"}))
        waiting = deque(_QueuedManifest(str(file), file, 0) for file in files)
    else:
        waiting = deque([_QueuedManifest(settings.url, None, 0)])
    seen = {each.place for each in waiting}
    collections = 0
    while waiting:
        each = waiting.popleft()
        try:
            content = read_json(each.file or fetcher.get(each.place), object)
        except ServerUnavailableError:
            raise
        except DataError as error:
            if not each.depth:
                raise
            left.append(Dropped(each.place, english_problem(error)))
            continue
        listed = list_manifests(content)
        if not listed:
            yield each.place, content
            continue
        collections += 1
        if each.depth >= _DEEPEST or collections > _MOST_COLLECTIONS:
            why = f"more than {_DEEPEST} nested collections, or {_MOST_COLLECTIONS:,} in all"
            left.append(Dropped(each.place, why))
            continue
        new = [url for url in dict.fromkeys(listed) if url not in seen]
        seen.update(new)
        waiting += (_QueuedManifest(url, None, each.depth + 1) for url in new)
