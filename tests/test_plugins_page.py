"""docs/plugins.md: its files and commands work as they are printed."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import get_type_hints

from PIL import Image

import keju as package
from keju import plugins, registry
from tests.support.commanding import keju
from tests.support.plugged import forget_plugins

PAGE = (Path(__file__).parents[1] / "docs" / "plugins.md").read_text("utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_every_file_and_command_of_the_page_works(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text in (*blocks("python"), *blocks("toml")):
        if name := re.match(r"# (\w+\.\w+)\n", text):
            Path(name[1]).write_text(text, "utf-8")
    Path("scans").mkdir()
    for shade, name in enumerate(("a.png", "b.png")):
        Image.new("L", (100, 200), shade).save(Path("scans", name))
    Path("scans", "captions.tsv").write_text("a.png\t學而時習之\nb.png\t有朋友\n", "utf-8")
    Path("verses.txt").write_text("床前明月光\n疑是地上霜\n", "utf-8")
    Path("engine.csv").write_text("page,text,response\n1,天地,天地\n2,玄黃,\n", "utf-8")
    lines = [line for block in blocks("console") for line in block.splitlines()]
    assert len(lines) == 13
    for line in lines:
        done = keju(*shlex.split(line)[1:])
        assert done.returncode == 0, (line, done.stderr)
    assert [item.answer for item in package.load("short-data").items()] == ["有朋友"]
    assert len(list(Path("titled").iterdir())) == 2
    assert len(package.load("verses-build/dataset").items()) == 2


def test_the_first_example_has_every_kind_with_its_signature(tmp_path, monkeypatch):
    forget_plugins(monkeypatch)
    file = tmp_path / "hooks.py"
    file.write_text(blocks("python")[0], "utf-8")
    registry.add_plugin_files([file])
    kinds = {kind for kind, _name in registry._CLAIMS}
    assert kinds == {
        "models", "readers", "steps", "sources", "metrics", "writers", "exports", "responses",
    }  # fmt: skip
    (module,) = [module for name, module in sys.modules.items() if "_hooks_" in name]
    for name in ("read", "keep_first", "make", "is_as_long", "write", "export", "read_responses"):
        assert "return" in get_type_hints(getattr(module, name))


def test_the_page_names_every_decorator_and_only_names_that_exist():
    decorators = set(re.findall(r"`@keju\.(\w+)\(…\)`", PAGE))
    assert decorators == {
        "model", "reader", "writer", "export", "responses", "step", "source", "metric",
    }  # fmt: skip
    for line in re.findall(r"^from keju\.plugins import (.*)$", PAGE, re.MULTILINE):
        assert {name.strip() for name in line.split(",")} <= set(plugins.__all__)
