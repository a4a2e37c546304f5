"""examples/leaderboard builds from bundles of the bundled set: baselines, and an OCR engine."""

from __future__ import annotations

import shutil
import tomllib

import pytest
from lxml import html

from keju.bundles import write_bundle
from keju.datasets import mini
from keju.running import Selection, run
from keju.runs import RunFolder
from keju.scoring import score_run
from keju.site import write_site
from tests.support import ROOT

EXAMPLE = ROOT / "examples" / "leaderboard"


def test_the_example_leaderboard_builds_from_baselines_and_an_engine(tmp_path):
    place = shutil.copytree(EXAMPLE, tmp_path / "leaderboard")
    models = {"baselines": ["baseline:majority", "baseline:chance"], "ppocr": ["ppocr"]}
    for name, asked in models.items():
        folder = tmp_path / name
        run(mini.path(), asked, folder, selection=Selection(limit=1))
        score_run(RunFolder.open(folder))
        write_bundle(folder, place / "bundles" / f"{name}.keju.zip", include_data=True)
    made = write_site([place / "bundles"], place / "site", title="My leaderboard")
    assert (made.bundles, made.boards) == (2, 3)
    (page,) = (place / "site" / "en" / "boards").glob("mcs-bench-*.html")
    tree = html.fromstring(page.read_bytes())
    names = set(tree.xpath("//tr[@data-entry]/th/a/text()"))
    assert names == {"ppocr", "baseline:majority", "baseline:chance"}
    assert not tree.xpath("//tbody[@class='printed']")
    stated = tomllib.loads((place / "bundles" / "models.toml").read_text("utf-8"))
    (model,) = (place / "site" / "en" / "models").glob("ppocr-*.html")
    assert stated["ppocr"]["url"] in model.read_text("utf-8")


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_the_guide_has_the_commands_of_the_workflow(name):
    guide = (EXAMPLE / name).read_text("utf-8")
    workflow = (EXAMPLE / ".github/workflows/site.yml").read_text("utf-8")
    for command in ("keju site bundles -o site", "keju verify"):
        assert command in guide
        assert command in workflow
