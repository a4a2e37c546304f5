"""Plug-in files of definitions that the user has named on this machine, for later commands.

A definition names its plug-in files by name alone (``plugins = ["metric.py"]``), and datasets, runs
and bundles contain the definition without them. A file is code, so it is loaded only if the user
has named it: with ``--plugin`` or KEJU_PLUGINS, or by naming the definition beside it with
``--benchmark``. ``keju/plugins.json`` in the user's configuration (`XDG_CONFIG_HOME`, or
``~/.config``) then records its path and hash for the text of this definition. Nothing that a
dataset, run or bundle contains adds to it, and a file with another content is not loaded.
"""

from __future__ import annotations

import os
from pathlib import Path

from keju.errors import DataError
from keju.files import read_json, sha256_bytes, sha256_file, write_json
from keju.items import Record
from keju.registry import add_plugin_files, has_plugin, list_plugin_sources


class RememberedFile(Record, frozen=True, kw_only=True):
    """A plug-in file that the user named, and the SHA-256 of its content then."""

    path: str
    sha256: str


def record_path() -> Path:
    """The file of this user with the plug-in files that were named."""
    home = os.environ.get("XDG_CONFIG_HOME", "")
    base = Path(home) if Path(home).is_absolute() else Path.home() / ".config"
    return base / "keju" / "plugins.json"


def load_plugin_of(text: str, name: str, folder: Path | None) -> Path | None:
    """Load a plug-in file that a definition names, if the user has named it or its definition.

    Args:
        text: the text of the definition.
        name: the name of the file, without a folder.
        folder: the folder of the definition, if the user named that file in this process.

    Returns:
        The path of a file that was named, but has changed since and is not loaded, else None.

    Raises:
        PluginError: the file cannot be imported.
    """
    if has_plugin(name) or Path(name).name != name:
        return None
    neighbour = folder / name if folder else None
    if neighbour and neighbour.is_file():
        add_plugin_files([neighbour])
        return None
    remembered = _read_record().get(_key(text, name))
    if remembered is None or not Path(remembered.path).is_file():
        return None
    if sha256_file(Path(remembered.path)) != remembered.sha256:
        return Path(remembered.path)
    add_plugin_files([Path(remembered.path)])
    return None


def remember_plugin(text: str, name: str) -> None:
    """Record the loaded plug-in file of a definition; not possible in a read-only home."""
    sources = [source for source in list_plugin_sources() if source.plugin.name == name]
    if not sources:
        return
    source = sources[-1]
    file = RememberedFile(path=source.path, sha256=sha256_bytes(source.code))
    record = _read_record()
    if record.get(_key(text, name)) == file:
        return
    kept = {key: each for key, each in record.items() if Path(each.path).is_file()}
    try:
        record_path().parent.mkdir(parents=True, exist_ok=True)
        write_json(record_path(), kept | {_key(text, name): file})
    except OSError:
        return  # Then later commands need --plugin, as their error says.


def _key(text: str, name: str) -> str:
    return f"{sha256_bytes(text.encode())} {name}"


def _read_record() -> dict[str, RememberedFile]:
    """The record; empty if there is none, or it is damaged."""
    try:
        return read_json(record_path(), dict[str, RememberedFile])
    except (OSError, DataError):
        return {}
