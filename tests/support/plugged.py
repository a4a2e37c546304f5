"""Fixtures of plug-ins: distributions with entry points, and commands that load plug-in files."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from keju import registry
from keju.cli.app import main


def distribution(
    folder: Path, name: str, version: str, points: dict[str, str], **modules: str
) -> Path:
    """Write an installed distribution: its metadata, its plug-in modules by name, its modules."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(text, "utf-8")
    lines = ["[keju]", *(f"{point} = {module}" for point, module in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", "utf-8")
    for module, code in modules.items():
        (folder / f"{module}.py").write_text(code, "utf-8")
    return folder


def install_example(package: Path, folder: Path) -> Path:
    """A folder with a package of examples/, installed from its wheel without the network."""
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "-d", folder]
    subprocess.run(build, cwd=package, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
               "--disable-pip-version-check", "--target", folder / "site", wheel]  # fmt: skip
    subprocess.run(install, check=True, capture_output=True)
    return folder / "site"


def run_with_site(site: Path, cwd: Path) -> Callable[..., str]:
    """A function that runs a command with the packages of a folder, and returns what it printed."""

    def run(*arguments: object, language: str = "en") -> str:
        paths = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            [sys.executable, "-m", "keju", *map(str, arguments)],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": paths, "COLUMNS": "200", "KEJU_LANG": language},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def forget_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start without plug-in files, as a new process does, until the test ends.

    Installed plug-ins stay: their modules are imported once in a process.
    """
    monkeypatch.setenv(registry.PLUGIN_FILES, "")
    registry.load_installed()
    claims = {key: claim for key, claim in registry._CLAIMS.items() if claim.plugin.version}
    monkeypatch.setattr(registry, "_CLAIMS", claims)
    monkeypatch.setattr(registry, "_IMPORTED", dict(registry._IMPORTED))
    monkeypatch.setattr(registry, "_SOURCES", {})
    monkeypatch.setattr(
        registry, "_read_entry_points", cache(registry._read_entry_points.__wrapped__)
    )
    for name in [name for name in sys.modules if name.startswith("keju_plugin_")]:
        monkeypatch.delitem(sys.modules, name)


def run_here(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object
) -> subprocess.CompletedProcess[str]:
    """The finished command, as `commanding.keju`, in this process, whose plug-ins are kept."""
    capsys.readouterr()
    with monkeypatch.context() as patched:
        forget_plugins(patched)
        patched.setattr(sys, "argv", ["keju", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
    printed = capsys.readouterr()
    status = int(stopped.value.code or 0)
    return subprocess.CompletedProcess(sys.argv, status, printed.out, printed.err)
