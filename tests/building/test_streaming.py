"""Steps, validation and statistics never have all items of a dataset in memory."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from keju.building.dedup.texts import STEP as DEDUP_TEXTS
from keju.building.filtering.balancing import STEP as BALANCE
from keju.building.filtering.balancing import BalanceSettings
from keju.building.filtering.step import FILTER, MEASURE
from keju.building.releasing.release import STEP as RELEASE
from keju.building.releasing.splitting import STEP as SPLIT
from keju.building.standardising.texts import STEP as STANDARDISE_TEXTS
from keju.building.subset import STEP as SUBSET
from keju.datasets.stats import stats
from keju.datasets.store import Dataset, DatasetWriter
from keju.datasets.validate import validate
from keju.items import Item
from tests.support.builds import built

STEPS = {
    "subset": (SUBSET, None),
    "balance": (BALANCE, BalanceSettings(most=2, by=("group",))),
    "split": (SPLIT, None),
    "measure": (MEASURE, None),
    "filter": (FILTER, None),
    "standardise-texts": (STANDARDISE_TEXTS, None),
    "dedup-texts": (DEDUP_TEXTS, None),
    "release": (RELEASE, None),
}


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    about = {"name": "n", "version": "1", "licence": "CC0-1.0", "source": "s"}
    with DatasetWriter(tmp_path / "given", **about) as writer:
        for number in range(12):
            writer.add(
                Item(
                    id=f"i{number}", benchmark="MCS-Bench", task="T2", group=f"g{number // 3}",
                    answer=f"第{number}句的意思", transcription="學而時習之" * (number + 1),
                )
            )  # fmt: skip

    def refuse(*_: object) -> NoReturn:
        pytest.fail("all items were read into memory")

    monkeypatch.setattr("keju.datasets.store.Dataset.items", refuse)
    return tmp_path / "given"


@pytest.mark.parametrize("name", STEPS)
def test_a_step_reads_items_in_batches(given, tmp_path, name):
    step, settings = STEPS[name]
    made, _ = built(step, given, tmp_path / "out", settings)
    kept = [item.id for item in made]
    # filter drops transcriptions that repeat themselves.
    assert len(kept) == {"balance": 8, "filter": 2}.get(name, 12)
    assert kept == sorted(kept, key=lambda each: int(each[1:]))


def test_validation_and_statistics_read_items_in_batches(given):
    assert not [each for each in validate(given) if each.severity == "error"]
    assert stats(given).tasks["n_q"].to_list() == [12]
    assert len(list(Dataset.open(given))) == 12
