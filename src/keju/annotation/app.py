"""`AnnotationApp`: the state of the annotation app, with the queues of a run or a dataset.

::

    RUN/people/  acts.sqlite · ratings.csv · verdicts.jsonl · adjudicated.csv · authored/

`events.sqlite` contains everything; the other files are exported from it, any number of times. The
exam's answers are written to the run itself.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
from msgspec.structs import astuple

from keju.annotation.adjudication import Adjudication
from keju.annotation.authoring import Authoring
from keju.annotation.events import EventLog
from keju.annotation.exam import Exam
from keju.annotation.export import enter, responses_of
from keju.annotation.queue import Queue
from keju.annotation.rating import Rating
from keju.annotation.review import Review
from keju.annotation.signed_forms import Shown
from keju.annotation.signing import Signer
from keju.building.review_form import review_form
from keju.building.reviewing import write_verdicts
from keju.datasets.store import Dataset
from keju.errors import UsageError, number_of
from keju.files import sha256_bytes, write_atomic
from keju.items import Item
from keju.judging import answers_of, draw_sample, read_rubrics
from keju.messages import message
from keju.running import Selection
from keju.running.run_contents import RunContents
from keju.running.run_start import start_run
from keju.running.selecting import RequestVariant, in_shard, select
from keju.running.store import ResponseStore
from keju.runs import RunFolder

_T = TypeVar("_T")

DESKS = ("exam", "rating", "review", "adjudication")


class Choice(NamedTuple):
    """Options of the annotation app.

    `selection` is that of a new run; `per_task`, `seed` and `rubrics` are of rating; with `every`
    all items are reviewed, otherwise only drafts if there are any; `scales` is the review form.
    """

    selection: Selection | None = None
    per_task: int = 50
    seed: int = 0
    rubrics: Path | None = None
    every: bool = False
    scales: Path | None = None


class AnnotationApp:
    """A run and its dataset, with a queue for each kind of work.

    `closed` contains for each queue that is not available the reason.

    Raises:
        UsageError: there is no such run or dataset, or no place to store events.
        DataError: one of their files is damaged.
    """

    def __init__(self, what: Path, out: Path | None = None, choice: Choice | None = None) -> None:
        self.choice = choice or Choice()
        self._rubrics = read_rubrics(self.choice.rubrics)
        self._form = review_form(self.choice.scales)
        self.run, self.dataset = _opened(what, out)
        self.events = EventLog(self.people / "acts.sqlite")
        self.signer = Signer(self.events.key())
        if self.events.dataset(self.dataset.manifest.hash) != self.dataset.manifest.hash:
            self.events.close()
            raise UsageError(message("annotation.other-dataset", run=self.run.path))
        self._everything = self.dataset.items()
        self.images = {ref.sha256: ref for item in self._everything for ref in item.images}
        self.closed: dict[str, str] = {}
        self._entered: dict[str, int] = {}
        self._answers: dict[str, int] = {}
        built: Mapping[str, Callable[[], Queue]] = {
            "exam": self._exam,
            "rating": self._rating,
            "review": self._review,
            "adjudication": self._adjudication,
        }
        self.queues: dict[str, Queue] = {}
        for name in DESKS:
            queue = self._tried(name, built[name])
            if queue is not None:
                self.queues[name] = queue
        self.authoring = Authoring(self.dataset, self._everything)
        if not self.images:
            self.closed["authoring"] = message("annotation.dataset-no-images")

    @property
    def people(self) -> Path:
        """The directory of people's work."""
        return self.run.path / "people"

    def unsent(self, shown: Shown) -> str:
        """The key under which a browser stores unsent input of a page.

        It depends on the run and on the content that was shown.
        """
        place = (str(self.run.path.resolve()), *astuple(shown))
        return sha256_bytes("\0".join(place).encode())[:24]

    def close(self) -> None:
        """Close the event log."""
        self.events.close()

    def collect(self) -> list[str]:
        """Export everything; return a line for each file with content.

        Raises:
            UsageError: another process is writing to the run.
            DataError: it cannot be written to disk.
        """
        return [line for line in (
            self._collect_exam(), self._collect_ratings(), self._collect_verdicts(),
            self._collect_adjudicated(), self._collect_authored(),
        ) if line]  # fmt: skip

    def _collect_exam(self) -> str:
        exam = self.queues.get("exam")
        if not isinstance(exam, Exam):
            return ""
        events = self.events.people(exam.name)
        new = [person for person, count in events.items() if self._entered.get(person) != count]
        answers = {person: responses_of(self.events, exam, person) for person in new}
        if any(answers.values()) and not self.run.exists():
            with ResponseStore(self.run) as store:
                contents = RunContents(self.dataset, [], self._chosen(), self._selection)
                start_run(contents, store)
        if new and self.run.exists():
            enter(self.run, answers)
            self._entered |= {person: events[person] for person in new}
            self._answers |= {person: len(given) for person, given in answers.items()}
        people = sum(map(bool, self._answers.values()))
        total = sum(self._answers.values())
        return f"{number_of(total, 'answer')} of {people} people: {self.run.path}" if people else ""

    def _collect_ratings(self) -> str:
        queue = self.queues.get("rating")
        if not isinstance(queue, Rating):
            return ""
        return _written(self.people / "ratings.csv", queue.export(self.events), "ratings")

    def _collect_verdicts(self) -> str:
        queue = self.queues.get("review")
        verdicts = list(queue.verdicts(self.events)) if isinstance(queue, Review) else []
        path = self.people / "verdicts.jsonl"
        if not verdicts and not path.exists():
            return ""
        write_verdicts(path, verdicts)
        return f"{len(verdicts)} verdicts: {path}"

    def _collect_adjudicated(self) -> str:
        queue = self.queues.get("adjudication")
        if not isinstance(queue, Adjudication):
            return ""
        text = queue.export(self.events)
        return _written(self.people / "adjudicated.csv", text, "decisions on unclear answers")

    def _collect_authored(self) -> str:
        path = self.people / "authored"
        partial = self.people / ".authored"
        shutil.rmtree(partial, ignore_errors=True)
        count = self.authoring.export(self.events, partial)
        shutil.rmtree(path, ignore_errors=True)
        if not count:
            return ""
        partial.rename(path)
        return f"{number_of(count, 'new item')}: {path}"

    def _tried(self, name: str, make: Callable[[], _T]) -> _T | None:
        try:
            return make()
        except UsageError as error:
            if name == "exam" and self.choice.selection is not None:
                raise  # the user selected it explicitly
            self.closed[name] = error.message
            return None

    @property
    def _selection(self) -> Selection:
        return self.choice.selection or Selection()

    def _chosen(self) -> list[Item]:
        return select(self._everything, self._selection, self.dataset.path)

    def _exam(self) -> Exam:
        if not self.run.exists():
            items = in_shard(self._chosen(), self._selection.shard)
            way = self._selection.variants[0]
        else:
            self.run.check_writable()
            manifest = self.run.manifest()
            chosen = self.choice.selection
            if chosen is not None and chosen.manifest_settings != manifest.settings:
                raise UsageError(message("annotation.other-selection", run=self.run.path))
            if "image" not in manifest.input_settings:
                raise UsageError(message("annotation.run-does-not-ask"))
            items = in_shard(self.run.items(), manifest.settings.get("shard"))
            way = _way(manifest.settings)
        references = [item for item in self._everything if item.split == "reference"]
        return Exam(items, references, way)

    def _rating(self) -> Rating:
        run = self._begun()
        judged = answers_of(run, self._rubrics).judged
        sample = draw_sample(judged, run, per_task=self.choice.per_task, seed=self.choice.seed)
        return Rating(sample, self._rubrics, self.choice.seed)

    def _review(self) -> Review:
        drafts = [item for item in self._everything if item.draft]
        items = self._everything if self.choice.every or not drafts else drafts
        return Review(items, self._form)

    def _adjudication(self) -> Adjudication:
        queue = Adjudication(self._begun())
        if not queue.subjects(""):
            raise UsageError(message("annotation.no-answer-unclear-rule"))
        return queue

    def _begun(self) -> RunFolder:
        if not self.run.exists():
            raise UsageError(message("annotation.run-no-answers-models"))
        return self.run


def _opened(what: Path, out: Path | None) -> tuple[RunFolder, Dataset]:
    if (what / "run.json").is_file():
        run = RunFolder.open(what)
        manifest = run.manifest()
        place = run.path / manifest.dataset_path
        if not manifest.dataset_path or not (place / "dataset.json").is_file():
            raise UsageError(message("annotation.dataset-moved", run=what, place=place))
        dataset = Dataset.open(place)
        if dataset.manifest.hash != manifest.dataset_hash:
            raise UsageError(message("annotation.not-the-dataset", dataset=place, run=what))
        return run, dataset
    dataset = Dataset.open(what)
    if out is None:
        raise UsageError(message("annotation.out-missing", dataset=what))
    run = RunFolder(out)
    if run.exists():
        if run.manifest().dataset_hash != dataset.manifest.hash:
            raise UsageError(message("annotation.run-of-other-dataset", run=out))
    elif out.exists() and not _takes_people(out):
        raise UsageError(message("annotation.not-a-run", out=out))
    return run, dataset


def _takes_people(out: Path) -> bool:
    """Whether a directory is empty, or one where people began, even if a full disk ended it."""
    if not out.is_dir():
        return False
    return (out / "people" / "acts.sqlite").is_file() or all(
        path.name == "people" for path in out.iterdir()
    )


def _way(settings: Mapping[str, str]) -> RequestVariant:
    """The prompt variant of a run: the image, with the wording that was chosen."""
    way = {"script": settings.get("scripts", "released"), "boxes": settings.get("boxes", "")}
    return msgspec.convert(way, RequestVariant)


def _written(path: Path, text: str, what: str) -> str:
    rows: Sequence[str] = text.split("\n", 1)
    if not rows[1] and not path.exists():
        return ""
    write_atomic(path, text)
    return f"{what}: {path}"
