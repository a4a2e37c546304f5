"""What the wheel carries, and what it leaves out."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def names(tmp_path_factory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run(
        [*command, "--directory", str(folder)], cwd=ROOT, check=True, capture_output=True
    )
    (wheel,) = folder.glob("*.whl")
    return zipfile.ZipFile(wheel).namelist()


def test_the_wheel_carries_data_beside_the_code(names):
    for part in (
        "keju/py.typed",
        "keju/benchmarks/mcs_bench/benchmark.toml",
        "keju/text/data/variants.txt",
        "keju/datasets/mini/data/items.parquet",
        "keju/reporting/assets/report.html.j2",
        "keju/judging/rubrics.toml",
        "keju/judging/probes.toml",
        "keju/assets/tokens.css",
        "keju/annotation/assets/exam.html.j2",
        "keju/annotation/assets/viewer.js",
        "keju/messages/zh/annotation.toml",
        "keju/cli/assets/zh_help.toml",
    ):
        assert part in names
    assert sum(name.startswith("keju/datasets/mini/data/images/") for name in names) >= 12
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_carries_no_tests_and_no_font(names):
    assert not [name for name in names if name.startswith("tests/")]
    assert not [name for name in names if name.endswith((".ttf", ".otf", ".ttc"))]


def test_the_wheel_carries_data_of_the_drawing_package_only_as_the_bundled_set(names):
    assert not [name for name in names if "synth" in name and not name.startswith("keju/building")]
