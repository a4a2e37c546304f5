"""docs/installing.md and the check of the wheels name every extra and every package of the base."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

from tools.check_packages import BESIDE

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "installing.md").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"].keys() - {"dev", "docs", "s3"}


def first_cells(heading: str) -> set[str]:
    """The words in the first cells of the first table after a heading or line."""
    _, _, rest = PAGE.partition(heading)
    table = rest[rest.index("\n| ") :].partition("\n\n")[0]
    cells = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)[1:]
    return {word for cell in cells for word in re.split(r", ", cell.replace("`", ""))}


def test_the_page_names_every_extra() -> None:
    assert first_cells("## With pip") == {"none", *EXTRAS}


def test_the_earlier_name_of_an_extra_installs_the_same() -> None:
    extras = PROJECT["optional-dependencies"]
    assert extras["s3"] == extras["object-stores"]


def test_every_extra_is_checked() -> None:
    text = (ROOT / "tools" / "package_checks.toml").read_text("utf-8")
    checks = tomllib.loads(text)["check"]
    assert [each["extra"] for each in checks if not each["commands"]] == []
    assert {each["extra"] for each in checks} == {"", *BESIDE, *EXTRAS}


def test_the_page_says_what_needs_each_package_of_the_base() -> None:
    wanted = {Requirement(each).name for each in PROJECT["dependencies"]}
    assert first_cells("## What the base needs") == wanted


def test_printed_installations_need_no_make_and_suit_every_shell() -> None:
    source = ROOT / "src" / "keju"
    texts = {
        str(path.relative_to(source)): path.read_text("utf-8")
        for pattern in ("*.py", "*.toml")
        for path in source.rglob(pattern)
    }
    assert [name for name, text in texts.items() if "pip install '" in text] == []
    assert [name for name, text in texts.items() if "make install" in text] == []
