"""`RunManifest`, the content of run.json, and the check of a run's label."""

from __future__ import annotations

import re

from msgspec import field

from keju.definitions.wordings import Wording
from keju.errors import UsageError, printable, shortened
from keju.files import sha256_bytes
from keju.items import Record
from keju.registry import Plugin

FORMAT = "keju-run-2"

HUMAN = "human:"
"""The prefix of the names of people among the models of a run."""

_LIMIT = re.compile(r"(?:[a-z]+\.)?(?:max_pixels|max_bytes|resize)")


class RunManifest(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The content of run.json: the dataset, models, settings and versions.

    `dataset_path` is relative to the run directory; only reports use it, to find the images.
    `items_sha256` is the SHA-256 of the file items.parquet; empty while that file is replaced.
    `models` maps each model's name to its identity, with the requested decoding parameters (each
    `Response` has those sent), `settings` each option of the run to its value, `not_asked` each
    model's name to the reasons and counts of unsupported requests. `benchmarks` has the texts of
    the definitions of benchmarks that are not bundled, and `prompts` the users' own wordings of the
    run, complete, by name. `plugins` are those that the run used, `unit` is what the dataset calls
    its groups, and
    `roles` the role of each model, and of each reader before a model, whose kind a plug-in
    declares, so that reports do not need it.
    """

    format: str = FORMAT
    keju: str
    dataset: str
    dataset_version: str
    dataset_hash: str
    dataset_path: str = ""
    items_sha256: str = ""
    synthetic: bool = False
    unit: str = ""
    created: str = ""
    models: dict[str, dict[str, str]] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    not_asked: dict[str, dict[str, int]] = field(default_factory=dict)
    benchmarks: dict[str, str] = field(default_factory=dict)
    prompts: dict[str, Wording] = field(default_factory=dict)
    plugins: tuple[Plugin, ...] = ()
    roles: dict[str, str] = field(default_factory=dict)

    @property
    def input_settings(self) -> list[str]:
        """The settings of the run; the image where the manifest names none."""
        return self.settings.get("settings", "image").split(",")

    @property
    def scripts(self) -> list[str]:
        """The scripts of the run; as released where the manifest names none."""
        return self.settings.get("scripts", "released").split(",")

    @property
    def wordings(self) -> list[str]:
        """The prompt wordings of the run; the released one where none is named."""
        return self.settings.get("wordings", "released").split(",")

    def limits(self, model: str) -> str:
        """The limits to which a model's images were scaled down, for the signatures."""
        identity = self.models.get(model, {}).items()
        return ",".join(sorted(f"{key}={text}" for key, text in identity if _LIMIT.fullmatch(key)))

    def system_hash(self, model: str) -> str:
        """The hash of the system prompt of all requests to a model, 8 hexadecimal digits.

        Empty where the run has no ``--system-prompt``, or the model does not use it.
        """
        text = self.models.get(model, {}).get("system_prompt", "")
        return sha256_bytes(text.encode())[:8] if text else ""

    @property
    def label(self) -> str:
        """The label of the run, such as a checkpoint or a date; empty where it has none."""
        return self.settings.get("label", "")

    @property
    def pairs(self) -> str:
        """The reduced form of pair tasks; empty for the paper's."""
        return self.settings.get("pairs", "")

    @property
    def items_key(self) -> str:
        """The key that distinguishes items of the same id: the dataset's hash and its pair form."""
        return f"{self.dataset_hash}|{self.pairs}" if self.pairs else self.dataset_hash

    @property
    def rounds(self) -> int:
        """The number of rounds of each item; 1 where the settings name no number."""
        number = self.settings.get("rounds", "")
        return int(number) if re.fullmatch("[0-9]{1,9}", number) else 1


LONGEST_LABEL = 60
"""The maximum number of characters of a label."""


def checked_label(text: str) -> str:
    """A label as it is stored, without white space at both ends; it is never a path.

    Raises:
        UsageError: it is empty or too long, or contains a control character, a slash or a
            backslash, or is ``.`` or ``..``.
    """
    label = text.strip()
    is_name = printable(label) == label and not {"/", "\\"} & {*label} and label not in (".", "..")
    if not 1 <= len(label) <= LONGEST_LABEL or not is_name:
        raise UsageError(
            "the label {!r} is not usable. Use 1 to {} letters, digits, points, hyphens and "
            "spaces, e.g. --label step-2000",
            shortened(printable(label)),
            LONGEST_LABEL,
        )
    return label
