"""People's decisions on unclear multiple-choice answers, as authors make them by hand.

If no rule extracts one letter from an answer, people decide which option it chose (``keju serve``).
Their decisions make a variant of accuracy with its own signature, which no mean of a protocol
includes.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from keju.errors import DataError, UsageError
from keju.files import sha256_bytes, sha256_file
from keju.items import Item, Response, Score
from keju.messages import message
from keju.runs import FORMAT_1, RunFolder, setting_in_format_1
from keju.scoring.extraction import body_of
from keju.scoring.metric_value import mean
from keju.scoring.scoring_sample import ScoringSample
from keju.scoring.signatures import signature

ACC = "Acc_adjudicated"
NONE = "none"
"""No one option was chosen: the answer is wrong."""

CODE, LETTER = "answer_key", "letter"
_WITHOUT = frozenset({"failed", "filtered", "empty"})


class Decisions(NamedTuple):
    """People's decisions: the letter, or `NONE`, by code of the answer; and the file's hash."""

    letters: Mapping[str, str]
    id: str


def is_unclear(item: Item, response: Response) -> bool:
    """Whether an answer to a question with options is there, and no rule takes one of them."""
    if response.status in _WITHOUT or not body_of(response.text).strip():
        return False
    sample = ScoringSample(item, response)
    return sample.form == "letter" and sample.extracted.answer is None


def answer_code(response: Response, *, of_0_1_0: bool = False) -> str:
    """A code that identifies an answer and its text, but not who gave it.

    An answer in a run of keju 0.1.0 keeps the code that it had, by the setting's old name.
    """
    spelled = msgspec.json.encode(
        (
            response.model,
            response.key,
            response.item,
            response.task,
            response.query,
            setting_in_format_1(response.setting) if of_0_1_0 else response.setting,
            response.round,
            response.text,
        )
    )
    return sha256_bytes(spelled)[:16]


def read_decisions(path: Path) -> Decisions:
    """Read the decisions that ``keju serve`` wrote. Of several people the majority counts.

    An answer on which they are divided evenly stays undecided.

    Raises:
        UsageError: the file does not exist.
        DataError: it is not a table of decisions.
    """
    if not path.is_file():
        raise UsageError(message("scoring.adjudication-missing", path=path))
    said: dict[str, Counter[str]] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            for line, row in enumerate(csv.DictReader(stream), start=2):
                code, letter = row.get(CODE), (row.get(LETTER) or "").strip()
                if not code or not (letter == NONE or (len(letter) == 1 and letter.isalpha())):
                    raise DataError(
                        message("scoring.adjudication-not-a-decision"),
                        file=path, item=f"row {line}"
                    )  # fmt: skip
                said.setdefault(code, Counter())[letter] += 1
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(message("scoring.adjudication-not-csv", error=error), file=path) from None
    letters = {code: most for code, votes in said.items() if (most := _most(votes))}
    return Decisions(letters, sha256_file(path)[:8])


def unused_decisions(decisions: Decisions, run: RunFolder) -> int:
    """How many decisions are of answers that the run does not have, or no longer has.

    Raises:
        DataError: a stored line is damaged.
    """
    old = run.manifest().format == FORMAT_1
    present = {answer_code(response, of_0_1_0=old) for response in run.responses()}
    return len(decisions.letters.keys() - present)


def _most(votes: Counter[str]) -> str:
    (letter, count), *others = votes.most_common()
    return "" if others and others[0][1] == count else letter


def collect_adjudicated_scores(
    samples: Iterable[ScoringSample], decisions: Decisions, scores: list[Score]
) -> Iterator[ScoringSample]:
    """Yield the samples unchanged; for those with options, add their score to the list.

    The score is 1 if the letter is right: people's where they decided, else the extracted one.
    """
    for sample in samples:
        if sample.form == "letter" and (sample.item.answer or sample.item.answer_simplified):
            scores.append(_score(sample, decisions))
        yield sample


def _score(sample: ScoringSample, decisions: Decisions) -> Score:
    response = sample.response
    letter = decisions.letters.get(
        answer_code(response, of_0_1_0=sample.defect.cut), sample.extracted.answer
    )
    value = float(letter == sample.reference.strip().upper())
    return Score(
        **sample.score_fields,
        protocol="official",
        metric=ACC,
        value=value,
        extracted=letter if letter and letter != NONE else "",
        stats=mean(value).stats,
        signature=signature("strict", ACC, "one letter", label=f"adjudicated:{decisions.id}"),
    )
