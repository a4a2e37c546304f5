"""Source ``images``: directories of images without text, each an item without an answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from keju.building.dropped import Dropped, write_dropped
from keju.building.image_files import ImageFiles
from keju.building.sources.base import Site, SourceForm, SourceSettings, writing
from keju.building.standardising.pictures import ImageJob, StandardImage, probe_file
from keju.datasets.readers.base import image_files
from keju.definitions import OWN_PAGE, task
from keju.errors import DataError
from keju.items import ImageRef, Item
from keju.texts import n_


class ImagesSettings(SourceSettings, frozen=True, kw_only=True):
    """A directory of images, with subdirectories of any depth; each directory is a group."""

    path: Annotated[Path, Meta(description="Image directory.")]
    task: Annotated[str, Meta(description="Task of the items.")] = OWN_PAGE


def read_images(settings: ImagesSettings, site: Site) -> Iterable[str]:
    """Make an item of every valid image of a directory; list the other files.

    The items are drafts: they have no answer yet.

    Raises:
        DataError: there are no images, or none is valid.
    """
    kind = task(settings.task)
    files = list(image_files(settings.path)) if settings.path.is_dir() else []
    if not files:
        raise DataError("expected a folder of images", file=settings.path)
    rows = [ImageJob(str(file.absolute()), str(file)) for file in files]
    probe = partial(probe_file, images=ImageFiles(driver=site.engine.driver_files()))
    facts = site.engine.map("probe", rows, probe, StandardImage)
    if all(each.error for each in facts):
        raise DataError("no file is a valid image. The first error: {}", facts[0].error)
    seen: set[str] = set()

    with writing(site.out, "images", licence=settings.licence, source=settings.source) as writer:
        for file, found in zip(files, facts, strict=True):
            if found.error:
                continue
            ref = ImageRef(
                path=f"images/{found.sha256}.{found.form}",
                sha256=found.sha256,
                width=found.width,
                height=found.height,
                size=found.size,
            )
            if not writer.has_image(ref):
                writer.link_image(file, ref, copy=True)
            page = file.relative_to(settings.path)
            name = page.with_suffix("").as_posix()
            name = page.as_posix() if name in seen else name
            seen.add(name)
            writer.add(
                Item(
                    id=name,
                    benchmark=kind.benchmark,
                    task=kind.id,
                    query=kind.queries[0].name,
                    images=(ref,),
                    group=page.parent.as_posix() if page.parent.parts else settings.path.name,
                    metadata={"file": page.as_posix()},
                    draft=True,
                )
            )
        dropped = [
            Dropped(file.relative_to(settings.path).as_posix(), found.error)
            for file, found in zip(files, facts, strict=True)
            if found.error
        ]
        write_dropped(site.out, dropped)
    return list(_describe_dropped(len(dropped), facts))


SOURCE = SourceForm(
    "images",
    "directories of images without text",
    ImagesSettings,
    read_images,
    check=lambda settings: task(settings.task),
)


def _describe_dropped(dropped: int, facts: list[StandardImage]) -> Iterator[str]:
    if dropped:
        yield n_(
            "{n:,} file is not a valid image; for the reasons see tables/dropped.csv",
            "{n:,} files are not valid images; for the reasons see tables/dropped.csv",
            dropped,
        )
    if pages := sum(each.frames > 1 for each in facts):
        yield n_(
            "{n:,} file has several pages or frames; only the first is used",
            "{n:,} files have several pages or frames; only the first is used",
            pages,
        )
