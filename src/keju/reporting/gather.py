"""What a report is made of: one or several runs, their items, responses and scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from keju.benchmarks import query_of
from keju.errors import UsageError
from keju.items import Item, Response, Score
from keju.reporting.pictures import Pictures, pictures_of
from keju.runs import RunFolder, RunManifest
from keju.scoring import read_scores

ItemKey = tuple[str, str, str, str]
"""Dataset hash, task, query and id: what makes an item the same one in two runs."""


class Run(NamedTuple):
    """One run of the report, and the pictures of its dataset."""

    name: str
    manifest: RunManifest
    pictures: Pictures


class Asked(NamedTuple):
    """An item, the run whose dataset has its pictures, and every model's answer to it."""

    item: Item
    run: Run
    answers: list[Answer]


class Answer(NamedTuple):
    """A model's response to an item, with its scores; `model` is its name in this report.

    Of a task of pairs there is one for each item: the ranking, which bears the scores.
    """

    model: str
    response: Response
    scores: list[Score]


class Gathered(NamedTuple):
    """Everything that a report shows. `not_asked` counts, by model, requests that it declined."""

    runs: list[Run]
    models: list[str]
    asked: dict[ItemKey, Asked]
    not_asked: dict[str, dict[str, int]]

    @property
    def scores(self) -> list[Score]:
        """Every score, with the model's name in this report."""
        return [
            score
            for asked in self.asked.values()
            for answer in asked.answers
            for score in answer.scores
        ]


def gather(paths: Sequence[Path], *, picture_bytes: int) -> Gathered:
    """Read the runs of a report.

    A model that answered in several runs or settings gets a name for each. `picture_bytes` is the
    most that the pictures may weigh, all runs together.

    Raises:
        UsageError: a path is not a run, or the run has no scores yet.
        DataError: a file of a run is damaged.
    """
    folders = [RunFolder.open(path) for path in paths]
    manifests = [folder.manifest() for folder in folders]
    gathered = Gathered([], [], {}, {})
    spoken = Counter(name for manifest in manifests for name in manifest.models)
    for folder, manifest in zip(folders, manifests, strict=True):
        budget = picture_bytes // len(folders)
        pictures = pictures_of(_dataset_of(folder, manifest), budget=budget)
        run = Run(folder.path.resolve().name, manifest, pictures)
        gathered.runs.append(run)
        _add_run(gathered, run, folder, spoken)
    return gathered


def _dataset_of(folder: RunFolder, manifest: RunManifest) -> Path | None:
    return folder.path / manifest.dataset_path if manifest.dataset_path else None


def _add_run(gathered: Gathered, run: Run, folder: RunFolder, spoken: Counter[str]) -> None:
    scores = _scores_by_response(folder)
    ranked = {(model, item) for model, item, _ in scores}
    for item in folder.items():
        key = (run.manifest.dataset_hash, item.task, item.query, item.id)
        gathered.asked.setdefault(key, Asked(item, run, []))
    settings = {response.setting for response in folder.responses()}
    for model, reasons in run.manifest.not_asked.items():
        gathered.not_asked[_label(model, run, spoken)] = reasons
    for model in run.manifest.models:
        if len(settings) < 2:
            _name(gathered, _label(model, run, spoken))
    answered = (each for model in run.manifest.models for each in folder.responses(model))
    for response in answered:
        key = (run.manifest.dataset_hash, response.task, response.query, response.item)
        if key not in gathered.asked:
            continue
        label = _label(response.model, run, spoken)
        if len(settings) > 1:
            label = f"{label} · {response.setting}"
        _name(gathered, label)
        found = scores.get((response.model, response.item, response.key), [])
        if response.candidate and not found and (response.model, response.item) in ranked:
            continue
        if not found and _has_metrics(gathered.asked[key].item):
            raise UsageError(
                f"{folder.path}: responses have come since it was scored (such as that of "
                f"{response.model} to {response.item}). Score it again: keju score {folder.path}"
            )
        renamed = [replace(score, model=label) for score in found]
        shown = _ranking(response, found) if response.candidate else response
        gathered.asked[key].answers.append(Answer(label, shown, renamed))


def _has_metrics(item: Item) -> bool:
    """Whether the query is scored at all: OBI-Bench's How of deciphering is read by people only."""
    query = query_of(item)
    return bool(query.official or query.strict)


def _ranking(first: Response, scores: Sequence[Score]) -> Response:
    """What stands for the responses to all pairs of an item: the best of the ranking they make."""
    best = next((score.extracted for score in scores if score.extracted), "")
    return replace(first, text=best, thinking="", error=None, status=scores[0].status)


def _scores_by_response(folder: RunFolder) -> dict[tuple[str, str, str], list[Score]]:
    files = sorted(folder.scores_dir.glob("*.parquet"))
    if not files:
        raise UsageError(f"{folder.path}: no scores yet. Make them with: keju score {folder.path}")
    found: dict[tuple[str, str, str], list[Score]] = {}
    for file in files:
        for score in read_scores(file):
            found.setdefault((score.model, score.item, score.key), []).append(score)
    return found


def _label(model: str, run: Run, spoken: Counter[str]) -> str:
    return model if spoken[model] < 2 else f"{model} · {run.name}"


def _name(gathered: Gathered, label: str) -> None:
    if label not in gathered.models:
        gathered.models.append(label)
