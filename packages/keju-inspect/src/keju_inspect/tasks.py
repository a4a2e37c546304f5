"""keju's benchmarks as tasks of Inspect: ``inspect eval keju_inspect/FOLDER -T task=ID --model …``.

Each benchmark that keju ships is a task under the name of its folder in `keju.benchmarks`.
Registered by the entry point group ``inspect_ai``. Inspect loads this module whenever it looks a
name up, so other modules of keju are imported only when a task is used.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_ai import Task, task

from keju.registry import list_shipped_folders

if TYPE_CHECKING:
    from keju_inspect.asking import Names


def _task_of(folder: Traversable) -> Callable[..., Task]:
    """The task of a bundled benchmark."""

    def bundled(
        dataset: str = "mini",
        task: Names = "",
        setting: str = "image",
        script: str = "released",
    ) -> Task:
        """A bundled benchmark.

        Args:
            dataset: a keju dataset's folder, or mini: the bundled synthetic set.
            task: only these tasks: an id, or several with commas between them.
            setting: image; gold-ocr: the image and its true transcription; gold-text: that text.
            script: Chinese prompts as released, simplified or traditional.
        """
        from keju.definitions import definitions, folder_of  # noqa: PLC0415

        here = Path(str(folder))
        name = next(each.name for each in definitions() if folder_of(each.name) == here)
        return _open_task(name, dataset, task, setting, script)

    bundled.__name__ = bundled.__qualname__ = folder.name
    made: Callable[..., Task] = task(bundled)
    return made


globals().update({folder.name: _task_of(folder) for folder in list_shipped_folders()})


@task  # type: ignore[untyped-decorator]
def pages(
    dataset: str,
    task: Names = "",
    setting: str = "image",
    script: str = "released",
) -> Task:
    """Own pages: transcribing the pages of a dataset, under strict alone."""
    return _open_task("pages", dataset, task, setting, script)


@task  # type: ignore[untyped-decorator]
def own(
    dataset: str,
    benchmark: str,
    task: Names = "",
    setting: str = "image",
    script: str = "released",
) -> Task:
    """A benchmark of your own, which the dataset contains.

    Args:
        dataset: a keju dataset's folder.
        benchmark: the name in its definition.
        task: only these tasks.
        setting: image; gold-ocr: the image and its true transcription; gold-text: that text alone.
        script: Chinese prompts as released, simplified or traditional.
    """
    return _open_task(benchmark, dataset, task, setting, script)


def _open_task(benchmark: str, dataset: str, names: Names, setting: str, script: str) -> Task:
    from inspect_ai._util.error import PrerequisiteError  # noqa: PLC0415

    from keju.errors import KejuError  # noqa: PLC0415
    from keju_inspect.asking import task_of  # noqa: PLC0415

    try:
        return task_of(benchmark, dataset, names, setting, script)
    except KejuError as error:
        # For this exception Inspect prints only the message, for others a traceback.
        raise PrerequisiteError(f"keju: {error}") from None
