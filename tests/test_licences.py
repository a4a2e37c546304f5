"""Licences of everything that is installed: the page is true, and none is of an unknown kind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution

import pytest

from tools import make_licences_page

PERMITTED = {
    "0bsd", "2-clause bsd license", "3-clause bsd license", "apache 2.0", "apache 2.0 license",
    "apache license 2.0", "apache license", "version 2.0", "apache software license", "apache-2.0",
    "bsd", "bsd 2-clause license", "bsd license", "bsd-2-clause", "bsd-3-clause", "bsl-1.0",
    "cc0-1.0", "cnri-python", "isc", "isc license", "isc license (iscl)", "llvm-exception",
    "mit", "mit license", "mit-0",
    "mit-cmu", "psf-2.0", "public domain", "python software foundation license", "zlib",
    "mpl-2.0", "mozilla public license 2.0 (mpl 2.0)",  # copyleft of single files
}  # fmt: skip
EXCEPTIONS = {
    "zhconv": "GPL-2.0-or-later: an extra that only official MCS-Bench scores need",
    "pypdfium2": "BSD-3-Clause, Apache-2.0, and those of PDFium's parts, all permissive",
}


@pytest.fixture(scope="module")
def tool():
    """The maker of the page, where everything of the lock files is installed."""
    for name in make_licences_page.locked():
        try:
            distribution(name)
        except PackageNotFoundError:
            reason = f"{name} is not installed: make install-semantic docs"
            if os.environ.get("CI") == "true":
                pytest.fail(reason)
            pytest.skip(reason)
    return make_licences_page


def test_every_licence_is_a_permitted_one_or_a_named_exception(tool):
    found = {
        each.name
        for each in tool.packages()
        if set(re.split(r" and | or | with |, ", each.licence.lower())) - PERMITTED
    }
    assert found == set(EXCEPTIONS)


def test_only_the_official_extra_needs_a_package_under_the_gpl(tool):
    copyleft = [each for each in tool.packages() if "GPL" in each.licence.upper()]
    assert [(each.name, each.needed_by) for each in copyleft] == [("zhconv", ("official",))]


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the page is of Python 3.11")
def test_the_page_lists_what_is_installed(tool):
    assert tool.PAGE.read_text("utf-8") == tool.page()


def test_packages_that_only_pip_adds_are_named():
    needs = make_licences_page.needs()
    wanted = set().union(*(needs[extra] for extra in needs.keys() - {"dev", "docs"}))
    added = wanted - set(make_licences_page.locked()) - {"keju"}
    of_torch = {name for name in added if name.startswith(("nvidia", "cuda", "triton"))}
    head, _, _ = make_licences_page.PAGE.read_text("utf-8").partition("## Packages")
    assert [name for name in sorted(added - of_torch) if name not in head] == []


IMPORT_ALL = """
import importlib, pkgutil, sys
sys.modules["zhconv"] = None  # as if it were not installed
import keju
for module in pkgutil.walk_packages(keju.__path__, "keju."):
    if module.name == "keju.__main__":
        continue
    importlib.import_module(module.name)
"""


def test_every_module_is_imported_without_zhconv():
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
