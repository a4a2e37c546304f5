"""The files of one bundle in a site: its summary, its scores and its answers.

``data/bundles/<id>/`` depends on the bundle alone, so a later build uses it again::

    summary.json                      `BundleSummary`, written last
    scores.parquet                    every score, for download and for intervals
    answers/<board>/<task>-<n>.js     the answers to `ITEMS_PER_SHARD` items, for the item pages
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from keju.bundles import Bundle
from keju.definitions import task
from keju.files import encode_stored, read_json, sha256_bytes, write_json
from keju.items import PromptVariant, Protocol, variant_of
from keju.scoring import PROTOCOLS, Result, aggregate
from keju.site.addresses import stable_id
from keju.site.bundle_items import BundleItems, bundle_items
from keju.site.bundle_reading import EntryFacts, ItemAnswer, item_answers, model_scores
from keju.site.entry_numbers import Mains, rounded, strata, task_bounds, task_values
from keju.site.records import (
    FORMAT,
    ITEMS_PER_SHARD,
    BoardOfBundle,
    BoardTask,
    BundleSummary,
    Entry,
    Source,
)
from keju.site.score_table import ScoreTable
from keju.site.script_data import script, write_changed
from keju.text import answer_part

BUNDLES = Path("data", "bundles")
_SUMMARY, _SCORES, _ANSWERS = "summary.json", "scores.parquet", "answers"

LONGEST = 2_000
"""Maximum characters of an answer on a page; the bundle has all of them."""

_MOST_SUMMARY = 256 << 20


def stored_summary(out: Path, source: Source) -> BundleSummary | None:
    """The summary of a bundle that an earlier build of the site read; None without one."""
    path = out / BUNDLES / source.id / _SUMMARY
    if not path.is_file():
        return None
    if msgspec.json.decode(path.read_bytes(), type=_Format).format != FORMAT:
        return None
    found = read_json(path, BundleSummary, _MOST_SUMMARY)
    return found if found.source == source else None


class _Format(msgspec.Struct):
    format: str = ""


def scores_file(source: Source) -> Path:
    """The file of a bundle's scores, relative to the site."""
    return BUNDLES / source.id / _SCORES


def answers_key(bundle: str, board: str, known: BoardTask, shard: int) -> str:
    """The key of a file of answers, which is also its path without the ending."""
    return f"{BUNDLES.as_posix()}/{bundle}/{_ANSWERS}/{board}/{known.address}-{shard}"


def write_bundle_files(bundle: Bundle, source: Source, out: Path) -> BundleSummary:
    """Read a bundle whose benchmarks are registered, and write its files.

    Args:
        bundle: the open bundle.
        source: its description.
        out: the directory of the site.

    Raises:
        DataError: the bundle is damaged.
    """
    folder = out / BUNDLES / source.id
    shutil.rmtree(folder, ignore_errors=True)
    writer = _BundleWriter(bundle, source)
    for model in bundle.models:
        writer.add_model(model)
    for key, data in writer.answer_files():
        write_changed(out / f"{key}.js", data)
    write_changed(folder / _SCORES, writer.table.encoded())
    summary = BundleSummary(
        source=source, boards=writer.placed.boards, entries=tuple(writer.entries())
    )
    write_json(folder / _SUMMARY, summary)
    return summary


class _BundleWriter:
    """Collects the numbers and answers of a bundle; the scores of one model are in memory."""

    def __init__(self, bundle: Bundle, source: Source) -> None:
        self._bundle = bundle
        self._source = source
        self.placed: BundleItems = bundle_items(bundle.items(), source)
        self.table = ScoreTable()
        self._facts: list[EntryFacts] = []
        self._mains: Mains = {"official": {}, "strict": {}}
        self._results: dict[tuple[str, Protocol], Result] = {}
        self._statuses: dict[tuple[str, str], dict[str, int]] = {}
        self._items: dict[tuple[str, str], int] = {}
        self._answers: dict[tuple[str, str, int], dict[int, list[bytes]]] = {}

    def add_model(self, model: str) -> None:
        """Read the scores and responses of a model."""
        scores, entries = model_scores(self._bundle, model)
        self._facts += entries.values()
        for result in aggregate(scores):
            self._results[entries[result.variant].name, result.protocol] = result
        self._add_answers(model, scores, entries)
        for score in scores:
            name = entries[variant_of(score)].name
            key = score.task, score.query, score.item
            place = self.placed.places.get(key)
            if place is None:
                continue
            of_board = replace(score, group=self.placed.items[key].group)
            main = next((m for p, m in place.task.metrics if p == score.protocol), "")
            is_main = score.metric == main
            shown = of_board if self._source.shows_texts else replace(of_board, reason="")
            self.table.add(shown, self._id(name, place.board), place.board, main=is_main)
            if is_main:
                named = replace(of_board, model=name, key="", extracted="")
                self._mains[score.protocol].setdefault((score.task, score.query), []).append(named)

    def _add_answers(
        self, model: str, scores: Sequence[Any], entries: dict[PromptVariant, EntryFacts]
    ) -> None:
        asked: dict[tuple[str, str], set[tuple[str, int]]] = {}
        for answer in item_answers(self._bundle, model, list(scores)):
            place = self.placed.places.get(answer.key)
            facts = entries.get(variant_of(answer.response))
            if place is None or facts is None:
                continue
            key = facts.name, place.board
            if place.task.metrics:  # Answers to other queries are only read by people.
                asked.setdefault(key, set()).add((place.task.name, place.position))
            counts = self._statuses.setdefault(key, {})
            counts[answer.response.status] = counts.get(answer.response.status, 0) + 1
            row = [self._id(*key), *_answer(answer, place.task, self._source)]
            encoded = msgspec.json.encode(row, enc_hook=encode_stored)
            shard = self._answers.setdefault((place.board, place.task.name, place.shard), {})
            shard.setdefault(place.position, []).append(encoded)
        self._items |= {key: len(each) for key, each in asked.items()}

    def _id(self, name: str, board: str) -> str:
        return stable_id(self._source.sha256, name, board)

    def answer_files(self) -> list[tuple[str, bytes]]:
        """The key and the content of each file of answers."""
        found = []
        for board in self.placed.boards:
            for known in board.tasks:
                for start in range(0, len(known.ids), ITEMS_PER_SHARD):
                    shard = start // ITEMS_PER_SHARD
                    its = self._answers.pop((board.id, known.name, shard), {})
                    positions = range(start, len(known.ids))[:ITEMS_PER_SHARD]
                    rows = b",".join(b"[" + b",".join(its.get(n, ())) + b"]" for n in positions)
                    key = answers_key(self._source.id, board.id, known, shard)
                    found.append((key, script(key, b"[" + rows + b"]")))
        return found

    def entries(self) -> Iterator[Entry]:
        """The entries of every board."""
        bounds = task_bounds(self._mains)
        for board in self.placed.boards:
            of_strata = strata(self._mains, self.placed.items, board.benchmark)
            for facts in self._facts:
                results = self._results_of(facts.name, board)
                if results:
                    yield Entry(
                        id=self._id(facts.name, board.id),
                        board=board.id,
                        model=facts.model,
                        name=facts.name,
                        role=facts.role,
                        variant=facts.variant.label(),
                        items=self._items.get((facts.name, board.id), 0),
                        statuses=dict(
                            sorted(self._statuses.get((facts.name, board.id), {}).items())
                        ),
                        results=tuple(results.values()),
                        values=tuple(task_values(results, bounds.get(facts.name, {}))),
                        strata=tuple(of_strata.get(facts.name, ())),
                    )

    def _results_of(self, name: str, board: BoardOfBundle) -> dict[Protocol, Result]:
        """The results of an entry that are about one benchmark."""
        found = {
            protocol: _only(self._results[name, protocol], board.benchmark)
            for protocol in PROTOCOLS
            if (name, protocol) in self._results
        }
        return {protocol: each for protocol, each in found.items() if each.tasks}


def _only(result: Result, benchmark: str) -> Result:
    return replace(
        result,
        tasks=tuple(each for each in result.tasks if task(each.task).benchmark == benchmark),
        benchmarks=tuple(each for each in result.benchmarks if each.benchmark == benchmark),
    )


def _answer(answer: ItemAnswer, known: BoardTask, source: Source) -> list[Any]:
    """An answer: round, status, values, verdict, reason, text, length, extracted.

    Where the data may not be published, the text is its SHA-256 and nothing is extracted.
    """
    response = answer.response
    found = {(score.protocol, score.metric): score for score in answer.scores}
    values = [rounded(found[key].value) if key in found else None for key in known.metrics]
    verdict = next((score.verdict for score in answer.scores), "ok")
    reason = next((score.reason for score in answer.scores if score.reason), "")
    text, length, extracted = sha256_bytes(answer.text.encode()), len(answer.text), ""
    if not source.shows_texts:
        # A plug-in's reason can quote the answer.
        reason = ""
    else:
        said = answer_part(answer.text)
        text, length = said[:LONGEST], len(said)
        strict = (s for s in answer.scores if s.protocol == "strict" and s.extracted)
        extracted = next((s.extracted[:LONGEST] for s in strict), "")
        extracted = "" if extracted == text else extracted
    return [response.round, response.status, values, verdict, reason, text, length, extracted]
