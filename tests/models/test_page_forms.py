"""One perfect engine's page has the same score, whatever form its file has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from keju.datasets.readers import import_dataset
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import stored_scores
from keju.scoring.run import score_run
from tests.support.making import picture
from tests.support.page_forms import TEXT, forms

ABOUT = {"name": "n", "version": "1", "licence": "CC0", "source": "s"}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Path:
    """A dataset of the page."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "scans" / "lunyu").mkdir(parents=True)
    (folder / "scans" / "lunyu" / "p.png").write_bytes(picture(1))
    (folder / "scans" / "lunyu" / "p.txt").write_text(TEXT, "utf-8")
    import_dataset("pages", folder / "scans", folder / "dataset", **ABOUT)
    return folder / "dataset"


def scored(dataset: Path, folder: Path, files: Mapping[str, tuple[str, bytes]]) -> dict[str, float]:
    """The character accuracy of each form in one run."""
    specs = []
    for name, (suffix, content) in files.items():
        path = folder / name / f"p{suffix}"
        path.parent.mkdir()
        path.write_bytes(content)
        specs.append(f"replay:{name}={path.parent}")
    run(dataset, specs, folder / "run")
    score_run(RunFolder(folder / "run"))
    return {
        score.model: score.value
        for _, scores in stored_scores(RunFolder(folder / "run"))
        for score in scores
        if (score.metric, score.protocol) == ("CharAcc", "strict")
    }


def test_a_perfect_page_is_perfect_in_every_form_of_every_level(dataset, tmp_path):
    found = scored(dataset, tmp_path, forms())
    assert len(found) > 70
    assert {name: value for name, value in found.items() if value != 1.0} == {}
