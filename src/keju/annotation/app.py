"""`AnnotationApp`: the state of the annotation app, with the queues of a run or a dataset.

::

    RUN/         decisions.csv
    RUN/people/  acts.sqlite · ratings.csv · verdicts.jsonl

`acts.sqlite` contains all events. The other files are exported from it and can be exported again.
The answers of the exam are written to the run itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
from msgspec.structs import astuple

from keju.annotation.adjudication import Adjudication
from keju.annotation.events import EventLog
from keju.annotation.exam import Exam, list_responses, replace_answers
from keju.annotation.queue import Queue
from keju.annotation.rating import Rating
from keju.annotation.review import Review
from keju.annotation.signing import PageBinding, Signer
from keju.building.review_form import read_review_form
from keju.building.reviewing import write_verdicts
from keju.datasets.store import Dataset
from keju.errors import UsageError
from keju.files import sha256_bytes, write_atomic
from keju.items import Item
from keju.judging.answers import answers_of
from keju.judging.prompting import read_rubrics
from keju.judging.raters import draw_sample
from keju.running import Selection
from keju.running.contents import RunContents
from keju.running.recording import record_run
from keju.running.selection import RequestVariant, in_shard, select
from keju.running.store import ResponseStore
from keju.runs import RunFolder
from keju.texts import Text, _, n_

_T = TypeVar("_T")

QUEUES = ("exam", "rating", "review", "adjudication")


class AppOptions(NamedTuple):
    """Options of the annotation app.

    `selection` is the selection of items of a new run. `per_task`, `seed` and `rubrics` apply to
    rating. With `every`, all items are reviewed, otherwise only the drafts if there are any.
    `scales` is the file of the review form.
    """

    selection: Selection | None = None
    per_task: int = 50
    seed: int = 0
    rubrics: Path | None = None
    every: bool = False
    scales: Path | None = None


class AnnotationApp:
    """A run and its dataset, with a queue for each kind of work.

    `closed` contains the reason for each queue that is not available.

    `out` is the run directory for people's answers, if `path` is a dataset.

    Raises:
        UsageError: the run or dataset does not exist, or `out` is missing or used otherwise.
        DataError: one of their files is damaged.
    """

    def __init__(
        self, path: Path, out: Path | None = None, options: AppOptions | None = None
    ) -> None:
        self.options = options or AppOptions()
        self._rubrics = read_rubrics(self.options.rubrics)
        self._form = read_review_form(self.options.scales)
        self.run, self.dataset = _open_run(path, out)
        self.events = EventLog(self.people / "acts.sqlite")
        self.signer = Signer(self.events.get_key())
        if self.events.bind_dataset(self.dataset.manifest.hash) != self.dataset.manifest.hash:
            self.events.close()
            raise UsageError(
                "{} contains answers about another dataset. Choose another --out", self.run.path
            )
        self._everything = self.dataset.items()
        self.images = {ref.sha256: ref for item in self._everything for ref in item.images}
        self.closed: dict[str, str] = {}
        self._entered: dict[str, int] = {}
        self._answers: dict[str, int] = {}
        makers: Mapping[str, Callable[[], Queue]] = {
            "exam": self._make_exam,
            "rating": self._make_rating,
            "review": self._make_review,
            "adjudication": self._make_adjudication,
        }
        self.queues: dict[str, Queue] = {}
        for name in QUEUES:
            queue = self._try_queue(name, makers[name])
            if queue is not None:
                self.queues[name] = queue

    @property
    def people(self) -> Path:
        """The directory of people's answers."""
        return self.run.path / "people"

    def make_draft_key(self, binding: PageBinding) -> str:
        """The key under which a browser stores unsent input; it depends on run and content."""
        parts = (str(self.run.path.resolve()), *astuple(binding))
        return sha256_bytes("\0".join(parts).encode())[:24]

    def close(self) -> None:
        """Close the event log."""
        self.events.close()

    def collect(self) -> list[Text]:
        """Export everything; return a line for each file with content.

        Raises:
            UsageError: another process is writing to the run.
            DataError: a file cannot be written to disk.
        """
        return [line for line in (
            self._collect_exam(), self._collect_ratings(), self._collect_verdicts(),
            self._collect_adjudicated(),
        ) if line]  # fmt: skip

    def _collect_exam(self) -> Text | None:
        exam = self.queues.get("exam")
        if not isinstance(exam, Exam):
            return None
        events = self.events.count_by_person(exam.name)
        new = [person for person, count in events.items() if self._entered.get(person) != count]
        answers = {person: list_responses(self.events, exam, person) for person in new}
        if any(answers.values()) and not self.run.exists():
            contents = RunContents(self.dataset, [], self._select_items(), self._selection)
            with ResponseStore(self.run):
                record_run(contents, self.run)
        if new and self.run.exists():
            replace_answers(self.run, answers)
            self._entered |= {person: events[person] for person in new}
            self._answers |= {person: len(given) for person, given in answers.items()}
        people = sum(map(bool, self._answers.values()))
        if not people:
            return None
        total = sum(self._answers.values())
        return n_(
            "{n:,} answer of {}: {}",
            "{n:,} answers of {}: {}",
            total,
            n_("{n:,} person", "{n:,} people", people),
            self.run.path,
        )

    def _collect_ratings(self) -> Text | None:
        queue, path = self.queues.get("rating"), self.people / "ratings.csv"
        if isinstance(queue, Rating) and _write_table(path, queue.export(self.events)):
            return _("ratings: {}", path)
        return None

    def _collect_verdicts(self) -> Text | None:
        queue = self.queues.get("review")
        if not isinstance(queue, Review):
            return None
        verdicts = list(queue.list_verdicts(self.events))
        path = self.people / "verdicts.jsonl"
        if not verdicts and not path.exists():
            return None
        write_verdicts(path, verdicts)
        return n_("{n:,} verdict: {}", "{n:,} verdicts: {}", len(verdicts), path)

    def _collect_adjudicated(self) -> Text | None:
        queue, path = self.queues.get("adjudication"), self.run.path / "decisions.csv"
        if isinstance(queue, Adjudication) and _write_table(path, queue.export(self.events)):
            return _("decisions on unclear answers: {}", path)
        return None

    def _try_queue(self, name: str, make: Callable[[], _T]) -> _T | None:
        try:
            return make()
        except UsageError as error:
            if name == "exam" and self.options.selection is not None:
                raise  # The user selected the items explicitly.
            self.closed[name] = error.problem
            return None

    @property
    def _selection(self) -> Selection:
        return self.options.selection or Selection()

    def _select_items(self) -> Sequence[Item]:
        return select(self._everything, self._selection, self.dataset.path)

    def _make_exam(self) -> Exam:
        if not self.run.exists():
            items = in_shard(self._select_items(), self._selection.shard)
            variant = self._selection.variants[0]
        else:
            manifest = self.run.manifest()
            selection = self.options.selection
            if selection is not None and selection.manifest_settings != manifest.settings:
                raise UsageError(
                    "{} was started with other items or another prompt variant. Use the same "
                    "options or none, or choose another --out",
                    self.run.path,
                )
            if "image" not in manifest.input_settings:
                raise UsageError(
                    "The run does not have the input setting `image`, which the exam needs."
                )
            items = in_shard(self.run.items(), manifest.settings.get("shard"))
            variant = _read_variant(manifest.settings)
        references = [item for item in self._everything if item.split == "reference"]
        return Exam(items, references, variant)

    def _make_rating(self) -> Rating:
        run = self._require_run()
        judged = answers_of(run, self._rubrics)
        sample = draw_sample(judged, run, per_task=self.options.per_task, seed=self.options.seed)
        return Rating(sample, self._rubrics, self.options.seed, known=judged)

    def _make_review(self) -> Review:
        drafts = [item for item in self._everything if item.draft]
        items = self._everything if self.options.every or not drafts else drafts
        return Review(items, self._form)

    def _make_adjudication(self) -> Adjudication:
        queue = Adjudication(self._require_run())
        if not queue.list_subjects(""):
            raise UsageError("No answer is unclear: the rules read a value from each.")
        return queue

    def _require_run(self) -> RunFolder:
        if not self.run.exists():
            raise UsageError("The run has no responses of models yet.")
        return self.run


def _open_run(path: Path, out: Path | None) -> tuple[RunFolder, Dataset]:
    if (path / "run.json").is_file():
        run = RunFolder.open(path)
        manifest = run.manifest()
        place = run.path / manifest.dataset_path
        if not manifest.dataset_path or not (place / "dataset.json").is_file():
            raise UsageError(
                "the dataset of {0} is not at {1}. Give its path: keju serve DATASET --out {0}",
                path,
                place,
            )
        dataset = Dataset.open(place)
        if dataset.manifest.hash != manifest.dataset_hash:
            raise UsageError(
                "{0} is not the dataset of {1}. Give the path of that dataset: keju serve "
                "DATASET --out {1}",
                place,
                path,
            )
        return run, dataset
    dataset = Dataset.open(path)
    if out is None:
        raise UsageError(
            "{} is a dataset. Use --out RUN to name the directory for people's answers", path
        )
    run = RunFolder(out)
    if run.exists():
        if run.manifest().dataset_hash != dataset.manifest.hash:
            raise UsageError("{} is a run of another dataset. Choose another --out", out)
    elif out.exists() and not _is_usable(out):
        raise UsageError("{} contains other files and is not a run. Choose another --out", out)
    return run, dataset


def _is_usable(out: Path) -> bool:
    """Whether a directory is empty, or contains only people's answers, even if a write failed."""
    if not out.is_dir():
        return False
    return (out / "people" / "acts.sqlite").is_file() or all(
        path.name == "people" for path in out.iterdir()
    )


def _read_variant(settings: Mapping[str, str]) -> RequestVariant:
    """The prompt variant of a run: the image, with the wording that was chosen."""
    fields = {"script": settings.get("scripts", "released"), "boxes": settings.get("boxes", "")}
    fields["label"] = settings.get("label", "")
    return msgspec.convert(fields, RequestVariant)


def _write_table(path: Path, text: str) -> bool:
    """Write a CSV file, unless it has no rows and does not exist; return whether it was written."""
    __, rows = text.split("\n", 1)
    if not rows and not path.exists():
        return False
    write_atomic(path, text)
    return True
