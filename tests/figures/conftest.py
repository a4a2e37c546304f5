"""Runs with made-up answers, and what figures are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from keju.analysis.leaderboard import leaderboards
from keju.analysis.run_set import load_runs
from keju.figures import OfRun
from keju.items import Item
from tests.support.answered import answered_run

SKILLS = {"openai:騰": 0.9, "openai:㖫𠀋": 0.6, "openai:c": 0.3, "baseline:majority": 0.2}
TEXTS = ("天地玄黃宇宙洪荒", "日月盈昃辰宿列張", "寒來暑往秋收冬藏", "閏餘成歲律呂調陽")


def questions(count: int = 12) -> list[Item]:
    """Questions with letters, of eight books, and a page of each book."""
    asked = [
        Item(
            id=f"q{n}", benchmark="MCS-Bench", task=("T7", "T16")[n % 2], group=f"book {n % 8}",
            options=("絹本", "紙本", "碑刻", "竹簡"), answer="AB"[n % 3 % 2],
            question="這是什麼？",
        )
        for n in range(count)
    ]  # fmt: skip
    pages = [
        Item(id=f"p{n}", benchmark="MCS-Bench", task="T1", group=f"book {n}", answer=text)
        for n, text in enumerate(TEXTS)
    ]
    return [*asked, *pages]


def of(path: Path, **options: bool) -> OfRun:
    """What figures of a run are made of."""
    run_set = load_runs([path])
    return OfRun(run_set, leaderboards(run_set, run_set.results), **options)


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """Three models and a baseline over sixteen items."""
    return answered_run(tmp_path_factory.mktemp("made") / "run", questions(), SKILLS)


@pytest.fixture(scope="module")
def source(run: Path) -> OfRun:
    return of(run)


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., OfRun]:
    """A run of other items and models."""

    def make(items: Sequence[Item], skills: Mapping[str, float], **options: object) -> OfRun:
        return of(answered_run(tmp_path / "run", items, skills, **options))

    return make
