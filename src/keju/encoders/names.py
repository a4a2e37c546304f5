"""The encoders that metrics use, and the directory of each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from keju.errors import UsageError, unknown_name
from keju.local_paths import check_local
from keju.metrics.base import PRF


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


def parse_semantic(options: Sequence[str]) -> dict[str, Path]:
    """Parse `--semantic` options, ``NAME=DIR`` or a bare ``DIR`` for every name.

    A named directory has priority over a bare one, in any order.

    Raises:
        UsageError: an unknown name, a name or a bare directory given twice, or not a directory.
    """
    named: dict[str, Path] = {}
    bare: Path | None = None
    for option in options:
        name, equals, folder = option.partition("=")
        if equals and name in ENCODERS:
            if name in named:
                raise UsageError("--semantic names {} twice. Give it one folder", name)
            named[name] = _folder(folder, option)
        elif equals and not Path(option).expanduser().is_dir():
            raise UsageError("--semantic {}: {}", option, unknown_name(name, NAMES, "encoder"))
        elif bare is not None:
            raise UsageError("--semantic gives two folders without a name. Write NAME=DIR")
        else:
            bare = _folder(option, option)
    return ({} if bare is None else dict.fromkeys(NAMES, bare)) | named


def _folder(text: str, option: str) -> Path:
    check_local(text, "--semantic")
    path = Path(text).expanduser()
    if not text:
        raise UsageError(
            "--semantic {} names no folder. If you wrote $NAME, the variable is not set in this "
            "shell: export NAME=FOLDER",
            option,
        )
    if not path.is_dir():
        raise UsageError(
            "--semantic {}: no such folder '{}'. Give the folder that contains config.json and "
            "model.safetensors",
            option,
            text,
        )
    return path
