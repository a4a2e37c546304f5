"""`RunSet`: the data of a report: one or several runs, their items, responses and scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from statistics import fmean

import msgspec
from msgspec.structs import force_setattr, replace

from keju.analysis.asked_items import Answer, AskedItem, AskedItems, ItemsByName, Run, item_name
from keju.analysis.packed_scores import ResponseScores, ScoreList, ScorePacker
from keju.analysis.page_texts import PageTexts
from keju.analysis.roles import model_role
from keju.definitions import counted_status, query_of
from keju.definitions.shared_answers import SharedAnswers
from keju.definitions.wordings import RELEASED
from keju.errors import UsageError
from keju.items import (
    OWN_READING,
    TEXT_ONLY,
    Item,
    PromptVariant,
    Protocol,
    Response,
    Score,
    Setting,
    variant_of,
)
from keju.models import REPLAYED
from keju.running.contents import name_of_images
from keju.runs import HUMAN, RunFolder, RunManifest
from keju.runs.served_models import served_name
from keju.scoring import ItemName, Result, aggregate, check_scores
from keju.scoring.stored import iter_scores_of, scores_path

Mains = Mapping[tuple[str, str], Sequence[Score]]
"""The scores of main metrics under one protocol, by task and query."""

PEOPLE = "human"
"""The role of people."""


class ModelResponses(msgspec.Struct):
    """A name of the report: a model of a run in one prompt variant, with its times and tokens.

    `role` is `keju.models.Role`, ``human`` for people, ``model`` where the kind is not known.
    `kind` is that in the model's identity. `instructed` is whether it has a system prompt from
    ``--system-prompt``. Seconds and tokens are sums over all responses (in a pair task over each
    pair's) and over the transcriptions made before; tokens are None where none were reported.
    `items` counts the items of all rounds, and `rounds` is the number of rounds. `parts` is the
    same by benchmark; `times` are the seconds of each answer, for people only.
    `served` has the responses by the model that the server reported.
    """

    model: str
    run: str
    variant: PromptVariant
    role: str
    kind: str = ""
    instructed: bool = False
    rounds: int = 1
    items: int = 0
    responses: int = 0
    seconds: float = 0.0
    input_tokens: int | None = None
    output_tokens: int | None = None
    times: list[float] = msgspec.field(default_factory=list)
    statuses: Counter[str] = msgspec.field(default_factory=Counter)
    parts: dict[str, ModelResponses] = msgspec.field(default_factory=dict)
    served: Counter[str] = msgspec.field(default_factory=Counter)

    @property
    def setting(self) -> Setting:
        """The input setting of the model."""
        return self.variant.setting

    @property
    def text_only(self) -> bool:
        """Whether the model got a text and no image."""
        return self.setting in TEXT_ONLY or self.model.startswith("ocr+llm:")

    @property
    def own_prompt(self) -> bool:
        """Whether its prompt differs from the paper's: a wording, examples, a system prompt."""
        return self.instructed or self.variant.wording != RELEASED

    @property
    def seconds_an_item(self) -> float | None:
        """Seconds per item; None where nothing was sent, or only files were read."""
        if not self.items or self.kind in REPLAYED:
            return None
        return self.seconds / self.items

    def of(self, benchmark: str) -> ModelResponses:
        """The same for one benchmark."""
        alone = ModelResponses(self.model, self.run, self.variant, self.role, kind=self.kind)
        return self.parts.setdefault(benchmark, alone)

    def add_response(self, response: Response, benchmark: str = "") -> None:
        """Count one response, in total and for its benchmark."""
        if benchmark:
            self.of(benchmark).add_response(response)
        if self.role == PEOPLE and response.seconds > 0:
            self.times.append(response.seconds)
        self.rounds = max(self.rounds, response.round)
        self.responses += 1
        if name := served_name(response):
            self.served[name] += 1
        self.seconds += response.seconds
        usage = response.usage
        if usage.input_tokens is not None:
            self.input_tokens = (self.input_tokens or 0) + usage.input_tokens
        if usage.output_tokens is not None:
            self.output_tokens = (self.output_tokens or 0) + usage.output_tokens

    def add_item(self, status: str, benchmark: str) -> None:
        """Count one item, with its status."""
        for each in (self, self.of(benchmark)):
            each.items += 1
            each.statuses[status] += 1


class RunSet(msgspec.Struct, dict=True):
    """The data of a report. `not_asked` counts, by model, unsupported requests."""

    runs: list[Run]
    by_model: dict[str, ModelResponses]
    asked: AskedItems | list[AskedItem]
    not_asked: dict[str, dict[str, int]]

    @property
    def models(self) -> list[str]:
        """The names of the report, in the runs' order."""
        return list(self.by_model)

    @property
    def datasets(self) -> dict[Path, Path | None]:
        """The dataset of each run, by the run's directory."""
        return {run.path: run.dataset_path for run in self.runs}

    @cached_property
    def items(self) -> Mapping[ItemName, Item]:
        """Every item by task, query and its id in this report, as its scores name it."""
        if isinstance(self.asked, AskedItems):
            return ItemsByName(self.asked)
        return {item_name(asked.item): asked.item for asked in self.asked}

    def iter_items(self) -> Iterator[Item]:
        """The items in their order, with their ids in this report."""
        if isinstance(self.asked, AskedItems):
            return self.asked.iter_items()
        return (asked.item for asked in self.asked)

    @cached_property
    def page_texts(self) -> PageTexts:
        """The references and transcriptions, by the items' order."""
        return PageTexts(self.asked)

    @cached_property
    def mains(self) -> dict[Protocol, Mains]:
        """The scores of main metrics, by protocol, then task and query in the items' order."""
        packer = ScorePacker()
        found: dict[Protocol, dict[tuple[str, str], ScoreList]] = {"official": {}, "strict": {}}
        for asked in self.asked:
            item = asked.item
            mains = {protocol: main_metric(item, protocol) for protocol in found}
            for by_query in found.values():
                by_query.setdefault((item.task, item.query), ScoreList(packer))
            for answer in asked.answers:
                for score in answer.scores:
                    if score.metric == mains[score.protocol]:
                        found[score.protocol][item.task, item.query].append(score)
        return dict(found)

    @cached_property
    def results(self) -> dict[tuple[str, Protocol], Result]:
        """All results computed from the scores, by name and protocol."""
        return {(each.model, each.protocol): each for each in aggregate(self.scores)}

    @property
    def scores(self) -> Iterator[Score]:
        """Every score, with the model's name in this report."""
        return (
            score for asked in self.asked for answer in asked.answers for score in answer.scores
        )


def load_runs(paths: Sequence[Path], *, scores: Iterable[Score] | None = None) -> RunSet:
    """Read the runs of a report.

    A model that answered in several runs or prompt variants gets a name for each. `scores` are
    those of a single run; by default the stored scores of each are read.

    Raises:
        UsageError: a path is not a run, or the run has no scores or has changed since.
        DataError: a file of a run is damaged.
    """
    folders = [RunFolder.open(path) for path in paths]
    manifests = [folder.manifest() for folder in folders]
    names = _names_of_datasets(manifests)
    shared = _shared_ids(
        [
            (manifest, folder.iter_items())
            for manifest, folder in zip(manifests, folders, strict=True)
        ]
    )
    asked = AskedItems()
    run_set = RunSet([], {}, asked, {})
    spoken = Counter((name, each.label) for each in manifests for name in each.models)
    for folder, manifest in zip(folders, manifests, strict=True):
        run = Run(_run_name(folder.path, [run.name for run in run_set.runs]), folder.path, manifest)
        run_set.runs.append(run)
        for item in folder.iter_items():
            unique = f"{item.id} · {names[manifest.items_key]}"
            is_shared = (item.task, item.query, item.id) in shared
            asked.add_item(run, item, unique if is_shared else item.id)
        scores_by_model = _scores_by_model(folder, scores)
        _add_run(run_set, asked, folder, spoken, scores_by_model)
    asked.sort(run_set.by_model)
    return run_set


def _add_run(
    run_set: RunSet,
    asked: AskedItems,
    folder: RunFolder,
    spoken: Counter[tuple[str, str]],
    scores: Callable[[str], ResponseScores],
) -> None:
    run = run_set.runs[-1]
    shared = SharedAnswers(folder.iter_items())
    variants = list(dict.fromkeys(variant_of(response) for response in folder.responses()))
    for model, reasons in run.manifest.not_asked.items():
        run_set.not_asked[_label(model, run, spoken)] = reasons
    for model in run.manifest.models:
        if len(variants) < 2:
            variant = next(iter(variants), PromptVariant())
            _build_model_responses(
                run_set, _format_name(_label(model, run, spoken), variant), model, run, variant
            )
    model, of_model = "", ResponseScores()
    for response, copied in _iterate_with_copies(run, folder, shared):
        if response.model != model:
            model, of_model = response.model, scores(response.model)
        key = (run.manifest.items_key, response.task, response.query, response.item)
        place = asked.place_of(key)
        if place is None:
            continue
        variant = variant_of(response)
        label = _format_name(_label(response.model, run, spoken), variant, variants)
        model_responses = _build_model_responses(run_set, label, response.model, run, variant)
        if not copied:
            model_responses.add_response(response, response.benchmark)
        found = of_model.of(response.item, response.key)
        if response.candidate and not found and response.item in of_model.items:
            continue
        item = asked.item(place)
        if not found and _has_metrics(item):
            raise UsageError(
                "{0}: the response of {1} to {2} has no scores. Score it again: keju score {0}",
                folder.path,
                response.model,
                response.item,
            )
        renamed = [_renamed_score(score, label, item.id) for score in found]
        shown = _ranking(response, found) if response.candidate else response
        model_responses.add_item(counted_status(item, shown.status), response.benchmark)
        asked.add_answer(place, Answer(label, _share_texts(shown, item.id, renamed), renamed))
    _add_readings(run_set, asked, run, folder)


def _iterate_with_copies(
    run: Run, folder: RunFolder, shared: SharedAnswers
) -> Iterator[tuple[Response, bool]]:
    """Every response, with a copy for each other item that it belongs to."""
    for model in run.manifest.models:
        for response in folder.responses(model):
            yield response, False
            for copy in shared.copies(response):
                yield copy, True


def _add_readings(run_set: RunSet, asked: AskedItems, run: Run, folder: RunFolder) -> None:
    """Count the transcriptions, each for the benchmark that first shows its images."""
    shown: dict[str, str] = {}
    read = [
        (model_responses, reader)
        for model_responses in run_set.by_model.values()
        if model_responses.run == run.name and (reader := reader_of_responses(model_responses))
    ]
    for item in asked.iter_items() if read else ():
        shown.setdefault(name_of_images(item.images), item.benchmark)
    for model_responses, reader in read:
        for reading in folder.readings(reader):
            if reading.script in ("released", model_responses.variant.script):
                model_responses.add_response(reading, shown.get(reading.item, ""))


def reader_of_responses(model_responses: ModelResponses) -> str:
    """The reader that transcribes the images for a voice; empty where there is none."""
    if model_responses.setting in OWN_READING:
        return model_responses.model
    kind, _, rest = model_responses.model.partition(":")
    return rest.partition("+")[0] if kind == "ocr+llm" else ""


def sees_image(model_responses: ModelResponses) -> bool:
    """Whether a voice is a model that answered from the image only, without any text."""
    return (
        model_responses.setting == "image"
        and model_responses.role != "baseline"
        and not model_responses.text_only
    )


def main_metric(item: Item, protocol: Protocol) -> str:
    """The main metric of an item's task under a protocol; empty where there is none."""
    return next(iter(getattr(query_of(item), protocol)), "")


def main_values(asked: AskedItem) -> dict[str, tuple[float, float]]:
    """Each model's `strict` main value of an item as the mean over its rounds, where it has one.

    The two ends of a value have unclear answers as wrong, and as right.
    """
    main = ("strict", main_metric(asked.item, "strict"))
    found: dict[str, list[tuple[float, float]]] = {}
    for answer in asked.answers:
        for score in answer.scores:
            if (score.protocol, score.metric) == main and score.value is not None:
                ends = score.value, score.value_if_right or 0.0
                found.setdefault(answer.model, []).append(ends)
    return {
        model: (fmean(low for low, _ in ends), fmean(high for _, high in ends))
        for model, ends in found.items()
    }


def _has_metrics(item: Item) -> bool:
    """Whether the query is scored at all: some answers are only read by people."""
    query = query_of(item)
    return bool(query.official or query.strict)


def _ranking(first: Response, scores: Sequence[Score]) -> Response:
    """A response in place of the responses to all pairs of an item: the top of the ranking."""
    best = next((score.extracted for score in scores if score.extracted), "")
    return replace(first, text=best, thinking="", error=None, status=scores[0].status)


def _label(model: str, run: Run, spoken: Counter[tuple[str, str]]) -> str:
    """The name of a model with the label of its run, and the run's name where it is needed."""
    label = "" if model.startswith(HUMAN) else run.manifest.label
    several = spoken[model, run.manifest.label] > 1
    return " · ".join(filter(None, (model, label, run.name if several else "")))


def _format_name(label: str, variant: PromptVariant, among: Sequence[PromptVariant] = ()) -> str:
    """A name with its prompt variant, unless that is the default and the only one."""
    return " · ".join(filter(None, (label, variant.label(among))))


def _build_model_responses(
    run_set: RunSet, label: str, model: str, run: Run, variant: PromptVariant
) -> ModelResponses:
    kind = run.manifest.models.get(model, {}).get("kind", "")
    role = PEOPLE if model.startswith(HUMAN) else model_role(run.manifest, model)
    instructed = bool(run.manifest.system_hash(model))
    model_responses = ModelResponses(
        model, run.name, variant, role, kind=kind, instructed=instructed
    )
    return run_set.by_model.setdefault(label, model_responses)


def _names_of_datasets(manifests: Sequence[RunManifest]) -> dict[str, str]:
    """A unique name for each dataset hash: the dataset's, with its version or hash where needed."""
    about = {each.items_key: each for each in manifests}
    tries = [
        {key: each.dataset for key, each in about.items()},
        {key: f"{each.dataset} {each.dataset_version}" for key, each in about.items()},
        {key: _add_pairs(each.dataset, each) for key, each in about.items()},
        {
            key: _add_pairs(f"{each.dataset} {each.dataset_version}", each)
            for key, each in about.items()
        },
    ]
    unique = (names for names in tries if len(set(names.values())) == len(about))
    hashes = {key: f"{each.dataset} {key[:8]}" for key, each in about.items()}
    return next(unique, {key: _add_pairs(hashes[key], each) for key, each in about.items()})


def _add_pairs(name: str, manifest: RunManifest) -> str:
    """A dataset's name with the reduced form of its pairs."""
    return f"{name} ({manifest.pairs})" if manifest.pairs else name


def _shared_ids(runs: Sequence[tuple[RunManifest, Iterable[Item]]]) -> set[tuple[str, str, str]]:
    """The tasks, queries and ids that items of at least two datasets share."""
    if len({manifest.items_key for manifest, _ in runs}) < 2:
        return set()
    datasets: dict[tuple[str, str, str], set[str]] = {}
    for manifest, items in runs:
        for item in items:
            place = (item.task, item.query, item.id)
            datasets.setdefault(place, set()).add(manifest.items_key)
    return {place for place, hashes in datasets.items() if len(hashes) > 1}


def _run_name(path: Path, taken: Collection[str]) -> str:
    """The directory's name, with as many parents as are needed to distinguish it."""
    parts = path.resolve().parts
    names = ("/".join(parts[-count:]) for count in range(1, len(parts) + 1))
    return next((name for name in names if name not in taken), f"run {len(taken) + 1}")


def _scores_by_model(
    folder: RunFolder, scores: Iterable[Score] | None
) -> Callable[[str], ResponseScores]:
    """A function that gives the scores of one model, by item and key of the response.

    Args:
        folder: the run.
        scores: the scores to use; by default the stored ones are read, one model's at a time.

    Raises:
        UsageError: the run has no scores or has changed since.
        DataError: a file of the run is damaged.
    """
    if scores is not None:
        given: dict[str, list[Score]] = {}
        for score in scores:
            given.setdefault(score.model, []).append(score)
        return lambda model: ResponseScores(given.get(model, ()))
    check_scores(folder)

    def read(model: str) -> ResponseScores:
        path = scores_path(folder, model)
        return ResponseScores(iter_scores_of(path) if path.is_file() else ())

    return read


def _renamed_score(score: Score, model: str, item: str) -> Score:
    """The score with other names of its model and item."""
    if (score.model, score.item) == (model, item):
        return score
    return replace(score, model=model, item=item)


def _share_texts(response: Response, item: str, scores: Sequence[Score]) -> Response:
    """A response whose item and key are the same texts in memory as those of its scores."""
    if response.item == item:
        force_setattr(response, "item", item)
    if scores and response.key == scores[0].key:
        force_setattr(response, "key", scores[0].key)
    return response
