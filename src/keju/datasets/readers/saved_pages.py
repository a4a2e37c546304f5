"""Saved web pages: ``NAME.html`` with ``NAME.html.toml``, read as text, address and licence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from posixpath import normpath
from typing import Annotated, NamedTuple
from urllib.parse import unquote

from msgspec import Meta, Struct, field

from keju.datasets.readers.base import inside, source_bytes
from keju.datasets.readers.main_text import extract_page_text
from keju.errors import DataError
from keju.files import read_toml
from keju.images import probe_image
from keju.items import Provenance
from keju.settings import convert_settings
from keju.texts import n_

_SIDECAR = ".toml"


class Sidecar(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The metadata of a saved page; `saved` is the day, in any notation."""

    address: Annotated[str, Meta(description="Address of the page.")] = ""
    licence: Annotated[str, Meta(description="Licence of the page.")] = ""
    title: Annotated[str, Meta(description="Title, if not the page's own.")] = ""
    saved: Annotated[str, Meta(description="Day on which the page was saved.")] = ""
    image: Annotated[str, Meta(description="Image that the page is about: a file beside it.")] = ""
    image_licence: Annotated[str, Meta(description="Licence of the image, if not the page's.")] = ""
    image_source: Annotated[str, Meta(description="Source of the image, if not the page.")] = ""
    task: Annotated[str, Meta(description="Task of the page's item, if not the source's.")] = ""
    fields: Annotated[
        dict[str, str],
        Meta(description="Values of the placeholders in the task's prompt, e.g. book of T44."),
    ] = field(default_factory=dict)


class SavedPage(NamedTuple):
    """A page's main text, its address and licence, and the rest of its sidecar.

    `images` are the addresses of the images outside its menus, as the page writes them.
    """

    file: Path
    title: str
    text: str
    address: str
    licence: str
    images: tuple[str, ...]
    sidecar: Sidecar

    @property
    def provenance(self) -> Provenance:
        """The provenance of material from the page."""
        return Provenance(step="web", source=self.address, licence=self.licence)


def get_sidecar_path(file: Path) -> Path:
    """Return the path of a page's sidecar."""
    return file.with_name(file.name + _SIDECAR)


def read_saved(file: Path, *, licence: str, address: str, shortest: int) -> SavedPage:
    """Read a saved page and its sidecar.

    `licence` and `address` are used if its sidecar has none; `shortest` is the minimum length of
    the text in characters.

    Raises:
        DataError: no licence, address or text, or the page cannot be read.
        UsageError: the sidecar cannot be read.
    """
    beside = get_sidecar_path(file)
    known = Sidecar()
    if beside.is_file():
        known = convert_settings(read_toml(beside, dict[str, object]), Sidecar, place=str(beside))
    if not (known.licence or licence):
        raise DataError("no licence is given. Add it to {} or to the recipe", beside.name)
    if not (known.address or address):
        raise DataError("no address is given. Add it to {} or to the recipe", beside.name)
    page = extract_page_text(source_bytes(file), name=str(file))
    if len(page.text) < shortest:
        raise DataError(
            n_("only {n:,} character of text", "only {n:,} characters of text", len(page.text))
        )
    return SavedPage(
        file,
        known.title or page.title,
        page.text,
        known.address or address,
        known.licence or licence,
        page.images,
        known,
    )


def find_image(page: SavedPage, folder: Path, *, own: bool) -> Path | None:
    """Find the image that a page is about: the one that its sidecar names, else its own largest.

    No image is taken from outside `folder`. `own`: the images that the page itself shows count too.

    Raises:
        DataError: the sidecar's image is missing or leads out of the folder, or `own` is set and
            the page shows no image that is saved in the folder.
    """
    if name := page.sidecar.image:
        path = _find_beside(page.file, name, folder)
        if path is None:
            raise DataError("no image {!r} beside {}", name, page.file.name, file=page.file)
        return path
    if not own:
        return None
    sizes = {path: pixels for path, pixels in _iter_saved_images(page, folder) if pixels}
    if not sizes:
        raise DataError(
            "no image is saved with the page. Save the page with its images, or name one in {}",
            get_sidecar_path(page.file).name,
        )
    return max(sizes, key=lambda path: sizes[path])


def _iter_saved_images(page: SavedPage, folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield the readable images of a page that are saved in the folder, each with its pixels."""
    for name in dict.fromkeys(page.images):
        try:
            path = _find_beside(page.file, unquote(name.partition("?")[0]), folder)
            if path is not None:
                facts = probe_image(source_bytes(path), name=str(path))
                yield path, facts.width * facts.height
        except DataError:
            continue


def _find_beside(file: Path, name: str, folder: Path) -> Path | None:
    """Return a file by its path relative to the page, or None if it does not exist."""
    within = normpath((file.parent.relative_to(folder) / name).as_posix())
    path = inside(folder, within, file=file, item=name)
    return path if path.is_file() else None
