"""A lookahead for first characters changes no match of an expression."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from keju.scoring import wordings
from keju.scoring.first_characters import lookahead_of
from keju.scoring.wordings import expression, fold
from tests.support.answer_bank import bank

PATTERNS = Path(wordings.__file__).with_name("patterns")
FILES = sorted(path.stem for path in PATTERNS.glob("*.toml"))
TEXTS = [fold(row["response"])[:400] for row in bank("development.jsonl")[:224:4]]


@pytest.mark.parametrize(
    ("text", "ahead"),
    [("cat|dog", "(?=[cd])"), ("[ab]x", "(?=[ab])"), (r"\bso\b", "(?=[s])"), ("a?b", "(?=[ab])"),
     ("^x|y", "(?:^|(?=[y]))"), (".x", ""), ("a*", ""), ("[^a]b", ""), ("a|.b", "")],
)  # fmt: skip
def test_the_first_characters_of_a_match_are_found(text: str, ahead: str) -> None:
    assert lookahead_of(text) == ahead


@pytest.mark.parametrize("file", FILES)
def test_the_matches_of_every_wording_stay_the_same(file: str) -> None:
    entries = tomllib.loads((PATTERNS / f"{file}.toml").read_text("utf-8"))
    assert entries
    for name in entries:
        text = expression(file, name)
        plain, quick = re.compile(text), re.compile(lookahead_of(text) + text)
        for each in TEXTS:
            found = [match.span() for match in plain.finditer(each)]
            assert [match.span() for match in quick.finditer(each)] == found, name
