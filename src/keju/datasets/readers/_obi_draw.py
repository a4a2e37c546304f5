"""Drawing classes of crops, their references and queries, and distractors, by hash and seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from keju.datasets.readers._obi import Found, drawn, pictures_in
from keju.datasets.readers.base import Options, listed, source_bytes, source_text
from keju.datasets.store import DatasetWriter
from keju.errors import DataError, shortened
from keju.items import ImageRef

_NEEDS = "A class needs its references and queries, each an image of its own"


class Crop(NamedTuple):
    """A crop of a character: where it lies, and its image in the dataset."""

    found: Found
    path: Path
    ref: ImageRef


class Drawn(NamedTuple):
    """A class that was drawn, with its references and its queries."""

    found: Found
    label: str
    references: tuple[Crop, ...]
    queries: tuple[Crop, ...]

    @property
    def name(self) -> str:
        """The class, after its source."""
        return f"{self.found.source.name}/{self.label}"


class Pool(NamedTuple):
    """The classes of a source, each with its crops by name, and those that may be drawn."""

    found: Found
    classes: Mapping[str, Mapping[str, Path]]
    eligible: frozenset[str]

    @property
    def needed(self) -> int:
        """The images that a class must have."""
        return self.found.source.references + self.found.source.queries


class Draw:
    """One drawing: the same sources, options and seed give the same classes and images.

    Classes are drawn in an order of which a smaller number is always the beginning, so a sweep
    goes on with what it has. `notes` tell what was passed over.

    Raises:
        DataError: the file of similar classes is not readable, or names less than two.
    """

    def __init__(self, writer: DatasetWriter, options: Options) -> None:
        self._writer = writer
        self._seed = options.get("seed", "0")
        self._owners: dict[str, tuple[str, Path]] = {}
        self._list = Path(options["similar"]) if "similar" in options else None
        self.similar = _classes_in(self._list) if self._list else None
        self.notes: list[str] = []

    def facts(self, by_source: Iterable[list[Drawn]]) -> dict[str, object]:
        """What dataset.json says of the draw."""
        taken = [classes for classes in by_source if classes]
        counts = ", ".join(f"{each[0].found.source.name} {len(each)}" for each in taken)
        return {"seed": self._seed, "classes": counts, "similar": "yes" if self.similar else "no"}

    def pool(self, found: Found) -> Pool:
        """The classes of a source; eligible are those of enough images, and similar if asked for.

        Raises:
            DataError: no pictures, one that lies in no class's folder, no class of enough images,
                none of those that look alike.
        """
        classes: dict[str, dict[str, Path]] = {}
        for path in pictures_in(found):
            if path.parent == found.folder:
                raise DataError(
                    "it lies in no class's folder", file=path, mend="Put it into its class's folder"
                )
            name = path.relative_to(found.folder).as_posix()
            classes.setdefault(path.parent.name, {})[name] = path
        wanted = set(classes if self.similar is None else classes.keys() & set(self.similar))
        if not wanted:
            expected, lines = sorted(classes), [shortened(one) for one in self.similar or ()]
            raise DataError(
                f"none of its lines is a class of {found.source.name}: expected names as "
                f"{listed(map(repr, expected), 3)}; found {listed(map(repr, lines), 3)}",
                file=self._list,
                mend="Write one class a line, as its folder is called",
            )
        unknown = [one for one in self.similar or () if one not in classes]
        if unknown:
            self.notes.append(f"{found.source.name} has no class {listed(unknown)}")
        needed = found.source.references + found.source.queries
        small = sorted(label for label in wanted if len(classes[label]) < needed)
        if len(small) == len(wanted):
            raise DataError(
                f"none of its {len(small)} classes has {needed} images",
                file=found.folder,
                mend=_NEEDS,
            )
        if small:
            self.notes.append(
                f"{found.source.name}: passed over {len(small)} classes of less than {needed} "
                f"images: {listed(small)}"
            )
        return Pool(found, classes, frozenset(wanted.difference(small)))

    def classes(self, pool: Pool, count: int) -> list[Drawn]:
        """So many classes (0 for all), in the order of their names.

        Raises:
            DataError: there are not so many with enough different images.
        """
        source = pool.found.source
        taken: dict[str, Drawn] = {}
        for label in drawn(pool.eligible, self._seed, source.name, "classes"):
            if count and len(taken) == count:
                break
            crops = self._crops(pool, label)
            if len(crops) == pool.needed:
                references, queries = crops[: source.references], crops[source.references :]
                taken[label] = Drawn(pool.found, label, tuple(references), tuple(queries))
            else:
                self.notes.append(f"{source.name}: passed over {label}, which repeats its images")
        if not taken:
            raise DataError(
                f"none of its {len(pool.eligible)} classes has {pool.needed} different images",
                file=pool.found.folder,
                mend=_NEEDS,
            )
        if len(taken) < count:
            raise DataError(
                f"{len(taken)} classes have {pool.needed} different images; wanted are {count}",
                file=pool.found.folder,
                mend=f"Ask for at most {len(taken)} of this source with --option classes=N; "
                "with mixed=yes, N is divided among all sources",
            )
        return [taken[label] for label in sorted(taken)]

    def distractors(self, pool: Pool, taken: list[Drawn], count: int) -> list[ImageRef]:
        """Images of classes that were not taken, one of each before a second of any.

        Args:
            pool: the source.
            taken: the classes that were drawn of it.
            count: how many; 0 for as many as the classes taken have images, if there are.

        Raises:
            DataError: there are not enough.
        """
        name = pool.found.source.name
        others = pool.classes.keys() - {one.label for one in taken}
        turns = sorted(
            (turn, rank, label, crop)
            for rank, label in enumerate(drawn(others, self._seed, name, "distractors"))
            for turn, crop in enumerate(drawn(pool.classes[label], self._seed, name, label))
        )
        most = count or len(taken) * pool.needed
        chosen: list[ImageRef] = []
        for _, _, label, crop in turns:
            if len(chosen) == most:
                break
            if new := self._new(pool, label, pool.classes[label][crop]):
                chosen.append(new.ref)
        if len(chosen) < count:
            raise DataError(
                f"{len(chosen)} images of other classes; wanted are {count} distractors",
                file=pool.found.folder,
                mend=f"Ask for less: --option distractors={len(chosen)}, or less classes"
                if chosen
                else "Leave classes over for them: --option classes=N",
            )
        return chosen

    def _crops(self, pool: Pool, label: str) -> list[Crop]:
        crops: list[Crop] = []
        named = pool.classes[label]
        for name in drawn(named, self._seed, pool.found.source.name, label):
            if len(crops) == pool.needed:
                break
            if new := self._new(pool, label, named[name]):
                crops.append(new)
        return crops

    def _new(self, pool: Pool, label: str, path: Path) -> Crop | None:
        """A crop as the dataset holds it, or None where its class has it already.

        Raises:
            DataError: another class has the same image.
        """
        ref = self._writer.add_image(source_bytes(path), str(path))
        owner = f"{pool.found.source.name}/{label}"
        other, first = self._owners.setdefault(ref.sha256, (owner, path))
        if other != owner:
            raise DataError(
                f"the same image as {first}, which is of another class",
                file=path,
                mend="Take it out of one of the two",
            )
        return Crop(pool.found, path, ref) if first == path else None


def _classes_in(file: Path) -> tuple[str, ...]:
    lines = (line.strip() for line in source_text(file).split("\n"))
    classes = tuple(dict.fromkeys(line for line in lines if line))
    if len(classes) < 2:
        raise DataError(
            f"expected classes that look alike, two or more, one a line; found {len(classes)}",
            file=file,
            mend="Write each as its folder is called",
        )
    return classes
