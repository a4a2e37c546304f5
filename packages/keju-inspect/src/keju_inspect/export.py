"""Export of a run as Inspect logs, which its viewer opens and `replay:` reads.

::

    DIR/<model>/  one .eval for each task, query and variant · readings.eval (own-ocr, own-text)

Samples are responses, rounds are epochs, failures are the samples' errors. Values without a field
in Inspect are in each sample's metadata under ``keju``, so that a round trip loses nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from inspect_ai import __version__ as inspect_version
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalSample,
    EvalSpec,
    EvalStats,
    write_eval_log,
)
from inspect_ai.model import GenerateConfig

from keju import __version__
from keju.definitions import task
from keju.errors import UsageError
from keju.files import sha256_bytes
from keju.items import Item, PromptVariant, Response, Score, variant_of
from keju.local_paths import check_local
from keju.models.decoding import not_sent
from keju.plugins import ResponseFile
from keju.running.request_rebuilding import RequestRebuilder
from keju.runs import RunFolder, RunManifest, file_name
from keju.scoring import check_scores, stored_scores
from keju_inspect.samples import reading_of, sample_of
from keju_inspect.scores import results_of

_UNKNOWN_TIME = "1970-01-01T00:00:00+00:00"

_USUAL = PromptVariant()
_DECODING = ("temperature", "top_p", "top_k", "max_tokens", "seed", "reasoning_effort")


class _Part(NamedTuple):
    """The content of one log."""

    task: str
    query: str
    variant: PromptVariant


class _Place(NamedTuple):
    """The response of a score; of a ranking, the first one."""

    key: str
    item: str
    variant: PromptVariant
    round: int


def export_logs(run: Path, out: Path, *, images: bool = False) -> Iterator[ResponseFile]:
    """Write a run's responses as logs, one for each model, task, query and prompt variant.

    If the run is scored, the scores of both protocols are included; the images only with `images`,
    else their names.

    Raises:
        UsageError: there is no run, the directory is not empty, the dataset with the images is not
            where the run was made, or the run has changed since it was scored.
        DataError: the run is damaged.
    """
    folder = RunFolder.open(run)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError("{} exists and is not empty. Choose another -o", out)
    manifest = folder.manifest()
    rebuilder = RequestRebuilder(folder, folder.dataset() if images else None)
    items = {item.id: item for item in folder.items()}
    scored = any(folder.scores_dir.glob("*.parquet"))
    if scored:
        # Before anything is written: a partial export would block the next one.
        check_scores(folder)
    for model in manifest.models:
        place = out / file_name(model)
        scores = _Scores(folder, model, scored=scored)
        for path in folder.response_files(model):
            yield from _task_logs(folder, path, model, items, scores, rebuilder, place)
        if readings := list(folder.readings(model)):
            samples = [reading_of(each) for each in readings]
            spec = _spec(manifest, model, "keju/reading", "what was read of the images first")
            yield _write(place / "readings.eval", spec, samples, [])


def _task_logs(
    folder: RunFolder,
    path: Path,
    model: str,
    items: Mapping[str, Item],
    scores: _Scores,
    rebuilder: RequestRebuilder,
    place: Path,
) -> Iterator[ResponseFile]:
    """The logs of one response file, of one task, by query and setting."""

    def part_of(response: Response) -> _Part:
        return _Part(response.task, response.query, variant_of(response))

    name = {file_name(each.task): each.task for each in items.values()}.get(path.stem, path.stem)
    found = [each for each in folder.responses(model, [name]) if each.item in items]
    for part, responses in groupby(sorted(found, key=part_of), key=part_of):
        samples = [
            sample_of(each, items[each.item], rebuilder, scores.of(each)) for each in responses
        ]
        asked = task(part.task)
        about = f"{asked.benchmark}: {asked.name_en} {asked.name_zh}, sent: {part.variant.setting}"
        title = "/".join(filter(None, ("keju", part.task, part.query)))
        identity = rebuilder.manifest.models.get(model, {})
        dropped = {name for each in found for name in not_sent(identity, each.decoding)}
        spec = _spec(rebuilder.manifest, model, title, about, part.variant, dropped)
        variant = part.variant.label().replace(" · ", "-")
        stem = "-".join(filter(None, (part.task, part.query, variant)))
        yield _write(place / f"{file_name(stem)}.eval", spec, samples, scores.parts.get(part, []))


class _Scores:
    """A model's scores, by log and response."""

    def __init__(self, folder: RunFolder, model: str, *, scored: bool) -> None:
        self.parts: dict[_Part, list[Score]] = {}
        self._own: dict[_Place, list[Score]] = {}
        for score in stored_scores(folder, [model]) if scored else ():
            part = _Part(score.task, score.query, variant_of(score))
            self.parts.setdefault(part, []).append(score)
            place = _Place(score.key, score.item, variant_of(score), score.round)
            self._own.setdefault(place, []).append(score)

    def of(self, response: Response) -> list[Score]:
        """The scores of one response."""
        place = _Place(response.key, response.item, variant_of(response), response.round)
        return self._own.get(place, [])


def _spec(
    manifest: RunManifest,
    model: str,
    title: str,
    about: str,
    variant: PromptVariant = _USUAL,
    dropped: Collection[str] = (),
) -> EvalSpec:
    """The description in a log; of decoding, the parameters requested and always sent."""
    name = sha256_bytes(
        f"{manifest.dataset_hash} {model} {title} {variant.label() or variant.setting}".encode()
    )[:22]
    identity = manifest.models.get(model, {})
    decoding = {
        name: identity[name] for name in _DECODING if name in identity and name not in dropped
    }
    return EvalSpec(
        eval_id=name,
        run_id=sha256_bytes(f"{manifest.dataset_hash} {manifest.created}".encode())[:22],
        task_id=name,
        created=manifest.created or _UNKNOWN_TIME,
        task=title,
        task_description=about,
        task_args=variant._asdict(),
        dataset=EvalDataset(name=manifest.dataset, location=manifest.dataset_path or None),
        model=model,
        model_base_url=identity.get("endpoint"),
        model_generate_config=GenerateConfig(**decoding),
        config=EvalConfig(epochs=manifest.rounds, log_images=True),
        packages={"keju": __version__, "inspect_ai": inspect_version},
        metadata={
            "dataset_hash": manifest.dataset_hash,
            "dataset_version": manifest.dataset_version,
            "identity": identity,
            "settings": manifest.settings,
        },
    )


def _write(
    path: Path, spec: EvalSpec, samples: Sequence[EvalSample], scores: Sequence[Score]
) -> ResponseFile:
    failures = sum(sample.error is not None for sample in samples)
    results = results_of(scores, len(samples), failures)
    used = [usage for sample in samples for usage in sample.model_usage.values()]
    spec.dataset.samples = len({sample.id for sample in samples})
    spec.dataset.sample_ids = list(dict.fromkeys(str(sample.id) for sample in samples))
    check_local(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    log = EvalLog(
        status="success",
        eval=spec,
        results=results,
        stats=EvalStats(
            started_at=spec.created,
            completed_at=spec.created,
            model_usage={spec.model: sum(used[1:], used[0])} if used else {},
        ),
        samples=list(samples),
    )
    write_eval_log(log, str(path), format="eval")
    return ResponseFile(path, len(samples), failures)
