"""Conversion of the records of keju 0.1.0, which are only read."""

from __future__ import annotations

from msgspec import convert
from msgspec.structs import replace

from keju.items import PromptScript, Response, Setting
from keju.runs.manifest import RunManifest

_SETTINGS_OF_FORMAT_1: dict[str, Setting] = {"own-ocr": "own-text", "gold-ocr": "gold-text"}
"""In format 1 these two sent the text without the image."""


def setting_of_format_1(setting: str) -> Setting:
    """The setting of format 2 that corresponds to a setting of keju 0.1.0."""
    now: Setting = convert(_SETTINGS_OF_FORMAT_1.get(setting, setting), Setting)
    return now


def setting_in_format_1(setting: Setting) -> Setting:
    """The name of a setting in a run of keju 0.1.0 and in codes of its answers."""
    old: dict[Setting, Setting] = {"own-text": "own-ocr", "gold-text": "gold-ocr"}
    return old.get(setting, setting)


def manifest_of_format_1(manifest: RunManifest) -> RunManifest:
    """A manifest of keju 0.1.0 with the settings of format 2, and its `format` as stored."""
    settings = dict(manifest.settings)
    if "settings" in settings:
        shown = settings["settings"].split(",")
        settings["settings"] = ",".join(map(setting_of_format_1, shown))
    if "wording" in settings:
        settings["scripts"] = settings.pop("wording")
    return replace(manifest, settings=settings)


def response_of_format_1(response: Response, manifest: RunManifest) -> Response:
    """A response or transcription of keju 0.1.0 as one of format 2.

    Its setting gets the present name, and its script is the run's.
    """
    return replace(
        response,
        setting=setting_of_format_1(response.setting),
        script=convert(manifest.scripts[0], PromptScript),
    )
