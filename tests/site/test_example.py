"""examples/leaderboard builds from bundles of the bundled set: baselines, and an OCR engine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from lxml import html

from keju.bundles import Verification, write_bundle
from keju.datasets import mini
from keju.files import read_json
from keju.running import Selection, run
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.bundles.bundling import altered, members_of
from tests.support import ROOT

EXAMPLE = ROOT / "examples" / "leaderboard"
WORKFLOW = ".github/workflows/site.yml"


@pytest.fixture(scope="module")
def bundled(tmp_path_factory) -> Path:
    """Bundles with data of two baselines and of an OCR engine, on one item of each task."""
    folder = tmp_path_factory.mktemp("bundled")
    models = {"baselines": ["baseline:majority", "baseline:chance"], "ppocr": ["ppocr"]}
    for name, asked in models.items():
        run(mini.path(), asked, folder / name, selection=Selection(limit=1))
        score_run(RunFolder.open(folder / name))
        write_bundle(folder / name, folder / f"{name}.keju.zip", include_data=True)
    return folder


def copied(bundled: Path, folder: Path) -> Path:
    """A copy of the example with the bundles in it."""
    place = shutil.copytree(EXAMPLE, folder / "leaderboard")
    for path in bundled.glob("*.keju.zip"):
        shutil.copy(path, place / "bundles" / path.name)
    return place


def work(place: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run the step of the workflow that has this command, as the workflow's machine does."""
    steps = yaml.safe_load((place / WORKFLOW).read_text("utf-8"))["jobs"]["build"]["steps"]
    (script,) = (each["run"] for each in steps if command in each.get("run", ""))
    program = place / "bin" / "keju"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m keju "$@"\n', "utf-8")
    program.chmod(0o755)
    (place / "step.sh").write_text(script, "utf-8")
    path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
    return subprocess.run(
        ["bash", "-e", "step.sh"], cwd=place, env={**os.environ, "PATH": path},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


def test_the_example_leaderboard_is_verified_and_built_as_by_its_workflow(bundled, tmp_path):
    place = copied(bundled, tmp_path)
    forged = place / "bundles" / "from-somebody.json"
    forged.write_text('{"format": "keju-verification-1", "result": "verified"}', "utf-8")
    done = work(place, "keju verify")
    assert done.returncode == 0, done.stderr
    statements = {path.name: read_json(path, Verification) for path in place.glob("bundles/*.json")}
    assert set(statements) == {"baselines.json", "ppocr.json"}
    for each in statements.values():
        assert (each.result, each.differences) == ("verified", ())
        assert {check.id: check.compared for check in each.checks}["scores"] > 80
    built = work(place, "keju site")
    assert built.returncode == 0, built.stderr
    (page,) = (place / "site" / "en" / "boards").glob("mcs-bench-*.html")
    tree = html.fromstring(page.read_bytes())
    names = set(tree.xpath("//tr[@data-entry]/th/a/text()"))
    assert names == {"ppocr", "baseline:majority", "baseline:chance"}
    assert not tree.xpath("//tbody[@class='printed']")
    about = html.fromstring((place / "site" / "en" / "about.html").read_bytes())
    states = [row.xpath("string(td[4])") for row in about.xpath("//tr[@id]")]
    when = statements["ppocr.json"].verified[:10]
    assert len(states) == 2
    assert all(state.startswith(f"verified on {when} with keju") for state in states)
    stated = tomllib.loads((place / "bundles" / "models.toml").read_text("utf-8"))
    (model,) = (place / "site" / "en" / "models").glob("ppocr-*.html")
    assert stated["ppocr"]["url"] in model.read_text("utf-8")


def test_the_workflow_stops_at_a_bundle_that_differs(bundled, tmp_path):
    place = copied(bundled, tmp_path)
    path = place / "bundles" / "baselines.keju.zip"
    (member, *_) = (name for name in members_of(path) if name.startswith("run/responses/"))

    def one_byte(content: bytes) -> bytes:
        return content.replace(b'"answered"', b'"answereD"', 1)

    altered(path, path, member, one_byte, rehash=False)
    done = work(place, "keju verify")
    assert done.returncode != 0
    found = read_json(place / "bundles" / "baselines.json", Verification)
    assert (found.result, found.differences[0].member) == ("differs", member)
    assert not (place / "bundles" / "ppocr.json").exists()


def test_the_workflow_stops_at_a_bundle_that_it_would_not_verify(bundled, tmp_path):
    place = copied(bundled, tmp_path)
    (place / "bundles" / "more").mkdir()
    shutil.copy(place / "bundles" / "ppocr.keju.zip", place / "bundles" / "more")
    assert work(place, "keju verify").returncode != 0


def test_the_workflow_publishes_no_file_of_the_site_that_somebody_sent():
    text = (EXAMPLE / WORKFLOW).read_text("utf-8")
    assert text.index("rm -rf site") < text.index("actions/cache") < text.index("keju site")


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_the_guide_has_the_commands_of_the_workflow(name):
    guide = (EXAMPLE / name).read_text("utf-8")
    workflow = (EXAMPLE / WORKFLOW).read_text("utf-8")
    for command in ("keju site bundles -o site", "keju verify"):
        assert command in guide
        assert command in workflow
