"""`check_weights`: which published weights a folder contains, by the SHA-256 in weights.toml."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import msgspec

from keju.encoders.folder import bundled_minilm, weights_file
from keju.files import sha256_file, shipped_toml
from keju.items import Record

_VOCABULARY = "vocab.txt"


class KnownWeights(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Published weights, as weights.toml describes them; an empty text or 0 means: not known."""

    name: str
    hub: str
    source: str
    revision: str = ""
    megabytes: int = 0
    files: dict[str, str] = {}


class WeightsCheck(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The result for a folder.

    Attributes:
        model: the model whose weights the folder contains; empty if their hash is not known.
        files: the SHA-256 of the weights and of vocab.txt, by name.
        vocabulary_differs: whether vocab.txt is not the one of the model.
    """

    model: str
    files: dict[str, str]
    vocabulary_differs: bool = False


@cache
def known_weights() -> tuple[KnownWeights, ...]:
    """Every model of weights.toml: the encoders of metrics, then the engines."""
    return shipped_toml("keju.encoders", "weights.toml", dict[str, tuple[KnownWeights, ...]])[
        "weights"
    ]


def installed_folders() -> list[Path]:
    """The folders of the weights that come with installed packages: MiniLM, and ppocr's models."""
    engine = find_spec("rapidocr")
    places = [bundled_minilm()]
    if engine and engine.origin:
        places.append(Path(engine.origin).parent / "models")
    return [path for path in places if path and path.is_dir()]


def check_weights(folder: Path) -> WeightsCheck:
    """Compare the files of a folder with the known ones. They are hashed and never loaded.

    Raises:
        DataError: the folder has no safetensors or ONNX weights, or they are incomplete.
    """
    paths = sorted(folder.glob("*.onnx")) or [weights_file(folder)]
    vocabulary = folder / _VOCABULARY
    if vocabulary.is_file():
        paths = [*paths, vocabulary]
    hashes = {path.name: sha256_file(path) for path in paths}
    for model in known_weights():
        weights = model.files.keys() - {_VOCABULARY}
        if weights and all(hashes.get(name) == model.files[name] for name in weights):
            differs = hashes.get(_VOCABULARY) not in {None, model.files.get(_VOCABULARY)}
            return WeightsCheck(model=model.name, files=hashes, vocabulary_differs=differs)
    return WeightsCheck(model="", files=hashes)
