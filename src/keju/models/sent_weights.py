"""`send_weights`: a folder of weights on the nodes of a Ray cluster, sent once to each node."""

from __future__ import annotations

import hashlib
import shutil
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from keju.clusters import Node, result_of, start_actor
from keju.encoders.folder import weight_files
from keju.errors import DataError, UsageError
from keju.files import sha256_file
from keju.object_stores import cache_folder

_PART = 16 << 20
"""Bytes that are sent at a time, so that memory does not depend on the size of the weights."""

_ABANDONED = 24 * 3600
"""Seconds after which incomplete files are those of a command that was killed."""

_SUFFIXES = {".jinja", ".json", ".txt"}
"""Files beside the weights that their loaders read; other formats of the weights stay here."""


def send_weights(folder: Path, nodes: Sequence[Node]) -> dict[Node, Path]:
    """Provide a folder of weights on nodes, and return its path on each.

    A node uses its own folder at the same path if its files have the same SHA-256. Otherwise the
    files are sent into ``weights/<hash>`` of the node's cache (``KEJU_CACHE``), where later
    commands find them; files there are compared by hash as well.

    Args:
        folder: the weights in safetensors, with configuration and tokenizer.
        nodes: the nodes; one that is lost meanwhile is not in the result.

    Raises:
        DataError: the folder has no weights.
        UsageError: a node cannot store the files.
    """
    hashes = _hashes(folder)
    stores = {node: start_actor(WeightStore, node, hashes, cores=0) for node in nodes}
    calls = {node: store.find.remote(str(folder)) for node, store in stores.items()}
    paths = _results(calls, folder)
    lacking = {node: stores[node] for node, path in paths.items() if not path}
    if lacking:
        _send(folder, hashes, lacking)
        calls = {node: store.finish.remote() for node, store in lacking.items()}
        paths |= _results(calls, folder)
    return {node: Path(path) for node, path in paths.items() if path}


def _send(folder: Path, names: Iterable[str], stores: Mapping[Node, Any]) -> None:
    """Send all files to stores, part by part: one part is sent while another one is stored.

    Raises:
        UsageError: a node cannot store them.
    """
    import ray  # noqa: PLC0415 - heavy, optional

    last: dict[Node, Any] = {}
    for name in names:
        with (folder / name).open("rb") as file:
            while part := file.read(_PART):
                sent = ray.put(part)
                calls = {node: store.write.remote(name, sent) for node, store in stores.items()}
                _results(last, folder)
                last = calls
    _results(last, folder)


def _results(calls: Mapping[Node, Any], folder: Path) -> dict[Node, str]:
    """The results by node, without those of lost nodes.

    Raises:
        UsageError: a call failed.
    """
    results = {}
    for node, call in calls.items():
        try:
            result = result_of(call)
        except OSError as error:
            raise UsageError(
                "the weights in {} cannot be stored on the node {} of the Ray cluster: {}",
                folder,
                node,
                error,
                hint=(
                    "Free disk space in the cache (KEJU_CACHE) of the node, or copy the folder "
                    "to the same path there"
                ),
            ) from None
        if result is not None:
            results[node] = str(result)
    return results


def _hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of the files that a loader reads, by name.

    Raises:
        DataError: the folder has no weights.
    """
    others = [path for path in folder.iterdir() if path.suffix in _SUFFIXES and path.is_file()]
    return {path.name: sha256_file(path) for path in sorted({*weight_files(folder), *others})}


class WeightStore:
    """The actor: the weights of one node.

    Each store writes into a folder of its own, since nodes may share a cache.

    Args:
        hashes: the SHA-256 of each file, by name.
    """

    def __init__(self, hashes: dict[str, str]) -> None:
        lines = "".join(f"{name} {digest}\n" for name, digest in sorted(hashes.items()))
        self._hashes = hashes
        self._place = cache_folder() / "weights" / hashlib.sha256(lines.encode()).hexdigest()
        self._partial = self._place.with_suffix(f".{uuid.uuid4().hex}.part")

    def find(self, folder: str) -> str:
        """The path of the same files on this node, or an empty string.

        Without them, the store is ready for `write`.
        """
        for path in (Path(folder), self._place):
            if self._has(path):
                return str(path)
        self._partial.mkdir(parents=True)
        for path in self._place.parent.glob("*.part"):
            if path.stat().st_mtime < time.time() - _ABANDONED:
                shutil.rmtree(path, ignore_errors=True)
        return ""

    def write(self, name: str, part: bytes) -> None:
        """Append a part to a file."""
        if name not in self._hashes or Path(name).name != name:
            raise ValueError(name)
        with (self._partial / name).open("ab") as file:
            file.write(part)

    def finish(self) -> str:
        """The path of the files, once all are complete.

        Raises:
            OSError: they are not those that were sent.
        """
        for name in self._hashes:
            (self._partial / name).touch()
        if not self._has(self._partial):
            raise OSError(str(self._partial))
        if self._has(self._place):  # Another store of this cache was faster.
            shutil.rmtree(self._partial)
        else:
            shutil.rmtree(self._place, ignore_errors=True)
            self._partial.replace(self._place)
        return str(self._place)

    def _has(self, folder: Path) -> bool:
        try:
            return _hashes(folder) == self._hashes
        except (DataError, OSError):
            return False
