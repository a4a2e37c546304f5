"""Fixtures of plug-ins: distributions with entry points, written into a folder."""

from __future__ import annotations

from pathlib import Path


def distribution(
    folder: Path, name: str, version: str, points: dict[str, dict[str, str]], **modules: str
) -> Path:
    """Write an installed distribution: its metadata, its entry points by group, its modules."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(text, "utf-8")
    lines = []
    for group, entries in points.items():
        lines += [f"[{group}]", *(f"{point} = {target}" for point, target in entries.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", "utf-8")
    for module, code in modules.items():
        (folder / f"{module}.py").write_text(code, "utf-8")
    return folder
