"""Bundles of small scored runs, and sites of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from keju.bundles import write_bundle
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.scored_runs import make_scored_run

ANSWERS = {"page-0": "天地玄黄\n宇宙洪荒", "page-1": "日月盈昃\n辰宿列张", "question": "B"}


@pytest.fixture(scope="module")
def bundles(tmp_path_factory) -> Path:
    """Two bundles of the same three items: hostile and good answers, and a third model's."""
    folder = tmp_path_factory.mktemp("bundles")
    first = make_scored_run(folder / "work")
    write_bundle(first, folder / "all" / "first.keju.zip", include_data=True)
    lines = [msgspec.json.encode({"item": name, "text": text}) for name, text in ANSWERS.items()]
    (folder / "work" / "third.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    second = folder / "work" / "second"
    run(folder / "work" / "set", [f"replay:{folder / 'work' / 'third.jsonl'}"], second)
    score_run(RunFolder.open(second))
    write_bundle(second, folder / "all" / "second.keju.zip", include_data=True)
    # Where the dataset is gone, its licence is not known.
    shutil.move(folder / "work" / "set", folder / "elsewhere")
    write_bundle(first, folder / "closed" / "closed.keju.zip")
    return folder


@pytest.fixture(scope="module")
def site(bundles) -> Path:
    """The site of the two open bundles."""
    from keju.site import write_site

    write_site([bundles / "all"], bundles / "site", title="Small")
    return bundles / "site"
