"""`Cleaner`: removes secrets and local paths from the texts of a run."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any

from msgspec.structs import replace

from keju.items import Response
from keju.models.endpoints import Secrets, find_keys
from keju.runs import RunManifest

_ENDPOINT = re.compile(
    r"(?P<scheme>\b[A-Za-z][A-Za-z0-9+.-]*://)(?:[^\s/@]*@)?(?P<place>[^\s?#\"'<>]*)(?:[?#][^\s\"'<>]*)?"
)
_FILE_ADDRESS = re.compile(r"file://(?=/)")
_PART = r"[^\s\\/:\"'<>|]+"
_PARTS = rf"(?:[\\/]{_PART}(?:(?: {_PART}){{1,3}}(?=[\\/]))?)"
"""A slash and a name; a name before another slash may contain spaces."""

_PATH = re.compile(
    rf"(?:(?<![\w/.~-])(?:~|[A-Za-z]:)?|(?<=[^\x00-\x7f])(?=/[A-Za-z0-9._-]+/)){_PARTS}{{2,}}[\\/]?"
)
"""An absolute path of two or more parts. `/no_think` in a prompt is not one, nor is a slash between
two Chinese words."""

_HOME = re.compile(r"(?:[A-Za-z]:)?[\\/](?:home|Users)[\\/][^\\/]+[\\/]?")
"""The home directory of somebody, whose last part is a name."""

_FILE_MODEL = re.compile(r"(?P<kind>replay:(?:[^\s\\/=+]+=)?|got:)(?P<path>[^\s+]*[\\/][^+]*)")
_NO_NAME = "path"
_SYSTEM_PROMPT = "system_prompt"
_MIN_FOLDER_LENGTH = 5
"""The minimum length of a folder name that the members are searched for."""


class Cleaner:
    """Removes the values of secrets in the environment, credentials of addresses, and local paths.

    Args:
        run: the run directory; its path is removed too.
        environment: the environment variables; keys are recognised by their names.
    """

    def __init__(self, run: Path, environment: Mapping[str, str] | None = None) -> None:
        values = find_keys(os.environ if environment is None else environment)
        self._secrets = Secrets(values)
        folders = {str(run.absolute().parent), str(Path.home()), str(Path.cwd()),
                   str(run.resolve().parent), tempfile.gettempdir()}  # fmt: skip
        places = sorted((each for each in folders if len(each) >= _MIN_FOLDER_LENGTH), key=len)
        joined = "|".join(re.escape(each) for each in reversed(places))
        self._folders = re.compile(rf"(?:{joined})(?![\w-])" if joined else r"(?!)")
        self._below = re.compile(rf"(?:{joined})(?![\w-]){_PARTS}*[\\/]?" if joined else r"(?!)")
        self._places = frozenset(places)

    def hide(self, text: str) -> str:
        """A text without secrets, credentials of addresses, and absolute paths.

        The last part of a path is kept.
        """
        text = self._secrets.hide(text)
        text = _FILE_ADDRESS.sub("", text)
        text = _ENDPOINT.sub(lambda found: f"{found['scheme']}{found['place']}", text)
        # First, because the names of these folders may contain spaces.
        text = self._below.sub(self._without_place, text)
        return _PATH.sub(lambda found: _last_part(found[0]), text)

    def _without_place(self, found: re.Match[str]) -> str:
        whole = found[0].rstrip("\\/")
        return _NO_NAME if whole in self._places else _last_part(whole)

    def hide_in(self, value: object) -> Any:  # noqa: ANN401 - of any JSON value
        """A JSON value with `hide` applied to every text, keys included."""
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, dict):
            return {self.hide_in(name): self.hide_in(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.hide_in(each) for each in value]
        return value

    def find(self, data: bytes) -> str:
        """The kind of unsafe text in the data: ``secret``, ``path``, or empty if there is none."""
        if self._secrets.hide_bytes(data) != data:
            return "secret"
        text = data.decode("utf-8", "replace")
        # JSON doubles the slashes of Windows.
        found = self._folders.search(text) or self._folders.search(text.replace("\\\\", "\\"))
        return "path" if found else ""

    def names_of(self, models: Iterable[str]) -> dict[str, str]:
        """The name of each model in the bundle; names of files have no folders."""
        found: dict[str, str] = {}
        for model in models:
            name = self.hide(_FILE_MODEL.sub(_without_folder, model))
            same = sum(each == name or each.startswith(f"{name}#") for each in found.values())
            found[model] = f"{name}#{same + 1}" if same else name
        return found

    def clean_manifest(self, manifest: RunManifest, names: Mapping[str, str]) -> RunManifest:
        """The manifest for the bundle: without the path of the dataset, with new names of models.

        Definitions of benchmarks and prompts, the system prompt among them, are unchanged, because
        scores or their signatures depend on them.
        """

        def renamed(values: Mapping[str, Any]) -> dict[str, Any]:
            return {names.get(name, name): self._clean_identity(each) for name, each in
                    values.items()}  # fmt: skip

        return replace(
            manifest,
            dataset_path="",
            models=renamed(manifest.models),
            roles={self.hide(names.get(name, name)): role for name, role in manifest.roles.items()},
            not_asked=renamed(manifest.not_asked),
            settings=self.hide_in(manifest.settings),
        )

    def _clean_identity(self, identity: Mapping[str, Any]) -> dict[str, Any]:
        cleaned: dict[str, Any] = self.hide_in(identity)
        if _SYSTEM_PROMPT in identity:
            cleaned[_SYSTEM_PROMPT] = identity[_SYSTEM_PROMPT]
        return cleaned

    def clean_response(self, response: Response, names: Mapping[str, str]) -> Response:
        """A response under the model's new name.

        Messages of failures, parameters of requests and the name of the served model, which can be
        the path of its weights, are cleaned. The answer itself is unchanged, because the scores are
        computed from it.
        """
        error = response.error
        if error is not None:
            error = replace(error, message=self.hide(error.message))
        cleaned = replace(
            response,
            model=names.get(response.model, response.model),
            error=error,
            decoding=self.hide_in(response.decoding),
            refused=tuple(map(self.hide, response.refused)),
            served_model=self.hide(response.served_model),
        )
        return response if cleaned == response else cleaned


def _without_folder(found: re.Match[str]) -> str:
    return found["kind"] + _last_part(found["path"])


def _last_part(path: str) -> str:
    if _HOME.fullmatch(path):
        return _NO_NAME
    return PurePath(path.replace("\\", "/")).name or _NO_NAME
