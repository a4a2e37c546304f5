"""`check_weights`: which published model a folder of weights is, and where it differs.

What is known of each model is in weights.toml. Files are read, never loaded: a pickle is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from keju.encoders.folder import bundled_minilm, model_config, weight_files
from keju.errors import DataError
from keju.files import sha256_file, shipped_toml
from keju.items import Record
from keju.models.safetensors_header import read_header
from keju.texts import Text, _

Outcome = Literal["matches", "differs", "cannot be verified"]

_KINDS = ("bert", "roberta", "got_ocr2")
_EMBEDDINGS = ("word_embeddings.weight", "embed_tokens.weight")
_LAYER = re.compile(r"\.layers?\.(\d+)\.")
_ONNX = ".onnx"


class KnownWeights(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Published weights, as weights.toml describes them; an empty text or 0 means: not known."""

    name: str
    hub: str
    source: str
    revision: str = ""
    megabytes: int = 0
    model_type: str = ""
    hidden_size: int = 0
    layers: int = 0
    vocabulary: int = 0
    files: dict[str, str] = {}

    @property
    def weights_sha256(self) -> str:
        """The SHA-256 of model.safetensors; empty if it is not known."""
        return self.files.get("model.safetensors", "")


class Difference(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A field in which a folder differs from a model: a key of config.json, or a file."""

    field: str
    expected: str
    found: str


class WeightsCheck(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The comparison of a folder with one model.

    `outcome` is ``matches`` if the hash of the weights is the known one and no field differs,
    ``differs`` if a field does, and ``cannot be verified`` if no field differs but the hash of the
    weights is not known.
    """

    model: str
    outcome: Outcome
    differences: tuple[Difference, ...] = ()

    @property
    def reason(self) -> Text | str:
        """The first difference, or why the folder cannot be verified; empty if it matches."""
        if self.differences:
            first = self.differences[0]
            return _("{} is {!r}, expected {!r}", first.field, first.found, first.expected)
        if self.outcome == "matches":
            return ""
        return _("no hash of its weights is known; architecture and vocabulary are the same")


class FolderFacts(NamedTuple):
    """The facts about a folder that are compared with models.

    `config` has model_type, hidden_size, num_hidden_layers and vocab_size, as texts; `files` the
    SHA-256 of the weights and vocab.txt.
    """

    config: dict[str, str]
    files: dict[str, str]


@cache
def known_weights() -> tuple[KnownWeights, ...]:
    """Every model of weights.toml: the encoders of metrics, then the engines."""
    return shipped_toml("keju.models", "weights.toml", dict[str, tuple[KnownWeights, ...]])[
        "weights"
    ]


def installed_folders() -> list[Path]:
    """The folders of the weights that come with installed packages: MiniLM, and ppocr's models."""
    engine = find_spec("rapidocr")
    places = [bundled_minilm()]
    if engine and engine.origin:
        places.append(Path(engine.origin).parent / "models")
    return [each for each in places if each and each.is_dir()]


def check_weights(folder: Path) -> list[WeightsCheck]:
    """Compare a folder with every model that keju uses: the best result first.

    Raises:
        DataError: the folder has no config.json, no safetensors or ONNX weights, or they are
            incomplete or damaged, or do not fit its config.json.
    """
    if any(folder.glob(f"*{_ONNX}")):
        found = [_compare_onnx(each, folder) for each in known_weights() if not each.model_type]
    elif not (folder / "config.json").is_file():
        raise DataError(
            "the folder has neither config.json nor ONNX models. Give the folder that has "
            "config.json and model.safetensors (download all files of the repository that keju "
            "weights names)",
            file=folder,
        )
    else:
        facts = read_facts(folder)
        found = [_compare(each, facts) for each in known_weights() if each.model_type]
    order: list[Outcome] = ["matches", "cannot be verified", "differs"]
    return sorted(found, key=lambda each: order.index(each.outcome))


def read_facts(folder: Path) -> FolderFacts:
    """Read what a folder of safetensors weights is.

    Raises:
        DataError: as `check_weights`.
    """
    config = model_config(folder, _KINDS)
    text: Any = config.get("text_config") if isinstance(config.get("text_config"), dict) else config
    names = ("hidden_size", "num_hidden_layers", "vocab_size")
    stated = {"model_type": config.get("model_type"), **{each: text.get(each) for each in names}}
    parts = weight_files(folder)
    shapes: dict[str, tuple[int, ...]] = {}
    for path in parts:
        header = read_header(path)
        if header.size != header.complete_size:
            raise DataError(
                "the file has {:,} bytes, but its header states {:,}",
                header.size,
                header.complete_size,
                file=path,
                hint="Download it again, or copy it again",
            )
        shapes |= header.shapes
    _check_tensors(shapes, stated, parts[0])
    files = {path.name: sha256_file(path) for path in (*parts, folder / "vocab.txt")
             if path.is_file()}  # fmt: skip
    return FolderFacts(
        {name: "" if value is None else str(value) for name, value in stated.items()},
        files,
    )


def _check_tensors(shapes: dict[str, tuple[int, ...]], stated: dict[str, Any], path: Path) -> None:
    """Check that embeddings and layers are those that config.json states.

    Raises:
        DataError: the embeddings of words are missing or have another shape, or the number of
            layers is another one.
    """
    expected = (stated["vocab_size"], stated["hidden_size"])
    embeddings = {name: shape for name, shape in shapes.items() if name.endswith(_EMBEDDINGS)}
    for name, shape in (embeddings or {_EMBEDDINGS[0]: ()}).items():
        if shape != expected:
            raise DataError(
                "{} has the shape {}, but config.json states {}", name, shape, expected, file=path
            )
    layers = {
        found[1] for name in shapes if "vision" not in name and (found := _LAYER.search(name))
    }
    if len(layers) != stated["num_hidden_layers"]:
        raise DataError(
            "the weights have {} layers, but config.json states {}",
            len(layers),
            stated["num_hidden_layers"],
            file=path,
        )


def _compare(known: KnownWeights, facts: FolderFacts) -> WeightsCheck:
    differences = tuple(_differences(known, facts))
    outcome: Outcome = "differs" if differences else "matches"
    if not differences and not known.weights_sha256:
        outcome = "cannot be verified"
    return WeightsCheck(model=known.name, outcome=outcome, differences=differences)


def _differences(known: KnownWeights, facts: FolderFacts) -> Iterator[Difference]:
    """The architecture first, because a folder of another architecture has other hashes too."""
    wanted = {
        "model_type": known.model_type,
        "hidden_size": str(known.hidden_size),
        "num_hidden_layers": str(known.layers),
        "vocab_size": str(known.vocabulary),
    }
    for name, expected in wanted.items():
        if facts.config[name] != expected:
            yield Difference(field=name, expected=expected, found=facts.config[name])
    for name, expected in known.files.items():
        found = facts.files.get(name, "")
        if found != expected and (found or name != "vocab.txt"):
            yield Difference(field=name, expected=expected, found=found)
    own = facts.files.get("model.safetensors", "")
    for other in known_weights():
        if own and other.weights_sha256 == own and other.name != known.name:
            yield Difference(field="model.safetensors", expected=known.name, found=other.name)


def _compare_onnx(known: KnownWeights, folder: Path) -> WeightsCheck:
    differences = []
    for name, expected in known.files.items():
        path = folder / name
        found = sha256_file(path) if path.is_file() else ""
        if found != expected:
            differences.append(Difference(field=name, expected=expected, found=found))
    outcome: Outcome = "differs" if differences else "matches"
    return WeightsCheck(model=known.name, outcome=outcome, differences=tuple(differences))
