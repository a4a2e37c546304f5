"""Reading a bundle for a site: its description, and the scores of one model at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from keju.analysis.roles import model_role
from keju.analysis.run_set import PEOPLE
from keju.bundles import Bundle
from keju.definitions import register_definition
from keju.items import PromptVariant, Response, Score, variant_of
from keju.runs import HUMAN
from keju.site.bundle_items import ItemKey
from keju.site.records import Source


class EntryFacts(NamedTuple):
    """The name and role of a model in one prompt variant; `name` is unique in the bundle."""

    name: str
    model: str
    variant: PromptVariant
    role: str


class ModelScores(NamedTuple):
    """The scores of one model, and its entries by prompt variant."""

    scores: list[Score]
    entries: dict[PromptVariant, EntryFacts]


class ItemAnswer(NamedTuple):
    """A response to an item and its scores; of a pair task the ranking of all candidates."""

    key: ItemKey
    response: Response
    text: str
    scores: list[Score]


def source_of(bundle: Bundle, path: Path, *, shows_texts: bool) -> Source:
    """The description of a bundle, as it states it."""
    about = bundle.manifest
    pairs = bundle.run_manifest.pairs
    return Source(
        sha256=bundle.sha256,
        file=path.name,
        dataset=about.dataset.name,
        dataset_version=about.dataset.version,
        items_key=f"{about.dataset.hash}|{pairs}",
        licence=about.dataset.licence,
        synthetic=about.dataset.synthetic,
        created=about.created,
        keju=about.keju,
        label=about.label,
        shows_texts=shows_texts,
        has_items=about.dataset.included and shows_texts,
        benchmarks=bundle.run_manifest.benchmarks,
    )


def register_definitions(source: Source) -> None:
    """Register the benchmarks that a bundle defines; those that keju ships are as in this version.

    Raises:
        UsageError: another definition of one of them is registered.
        DataError: a definition is not valid.
    """
    for name, text in source.benchmarks.items():
        register_definition(text, f"{source.file}: {name}")


def model_scores(bundle: Bundle, model: str) -> ModelScores:
    """Read the scores of a model; its name is the model's, with the variant if it has several.

    Raises:
        DataError: the bundle is damaged.
    """
    scores = list(bundle.scores(model))
    variants = sorted({variant_of(score) for score in scores}, key=lambda each: each.rank)
    role = PEOPLE if model.startswith(HUMAN) else model_role(bundle.run_manifest, model)
    entries = {
        variant: EntryFacts(
            " · ".join(filter(None, (model, variant.label(variants)))), model, variant, role
        )
        for variant in variants
    }
    return ModelScores(scores, entries)


def item_answers(bundle: Bundle, model: str, scores: list[Score]) -> Iterator[ItemAnswer]:
    """Every response of a model with its scores, also for items that share a response.

    Raises:
        DataError: the bundle is damaged.
    """
    by_response: dict[str, dict[ItemKey, list[Score]]] = {}
    for score in scores:
        by_item = by_response.setdefault(score.key, {})
        by_item.setdefault((score.task, score.query, score.item), []).append(score)
    ranked = {(score.task, score.query, score.item) for score in scores}
    for response in bundle.responses(model):
        own = (response.task, response.query, response.item)
        found = by_response.pop(response.key, {})
        if response.candidate and own not in found:
            continue
        if own not in found and own not in ranked:
            yield ItemAnswer(own, response, response.text, [])
        for key, its in found.items():
            best = next((each.extracted for each in its if each.extracted), "")
            yield ItemAnswer(key, response, best if response.candidate else response.text, its)
