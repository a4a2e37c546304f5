"""keju's benchmarks as tasks of Inspect: ``inspect eval keju/mcs_bench -T task=T10 --model …``.

Found by the entry point group ``inspect_ai``. Inspect loads this module whenever it looks a name
up, so that nothing of keju is imported before a task is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspect_ai import Task, task

if TYPE_CHECKING:
    from keju.interop.inspect_asking import Names


@task  # type: ignore[untyped-decorator]
def mcs_bench(
    dataset: str = "mini",
    task: Names = "",
    setting: str = "image",
    script: str = "released",
) -> Task:
    """MCS-Bench: 45 tasks of classical Chinese texts, calligraphy, painting, bones, seals, relics.

    Args:
        dataset: a keju dataset's folder, or mini: the bundled synthetic set.
        task: only these tasks, such as T10 or T10,T11.
        setting: image; gold-ocr: the image and its true transcription; gold-text: that text alone.
        script: Chinese prompts as released, simplified or traditional.
    """
    return _asked("MCS-Bench", dataset, task, setting, script)


@task  # type: ignore[untyped-decorator]
def ancientdoc(
    dataset: str = "mini",
    task: Names = "",
    setting: str = "image",
    script: str = "released",
) -> Task:
    """AncientDoc: reading, translating and questioning pages of old books; as `mcs_bench`."""
    return _asked("AncientDoc", dataset, task, setting, script)


@task  # type: ignore[untyped-decorator]
def pages(
    dataset: str,
    task: Names = "",
    setting: str = "image",
    script: str = "released",
) -> Task:
    """Own pages: transcribing the pages of a dataset, under strict alone; as `mcs_bench`."""
    return _asked("pages", dataset, task, setting, script)


@task  # type: ignore[untyped-decorator]
def obi_bench(
    dataset: str = "mini",
    task: Names = "",
    setting: str = "image",
    script: str = "released",
) -> Task:
    """OBI-Bench without its tasks of pairs: recognition and deciphering; as `mcs_bench`."""
    return _asked("OBI-Bench", dataset, task, setting, script)


@task  # type: ignore[untyped-decorator]
def own(
    dataset: str,
    benchmark: str,
    task: Names = "",
    setting: str = "image",
    script: str = "released",
) -> Task:
    """A benchmark of your own, which the dataset contains; as `mcs_bench`.

    Args:
        dataset: a keju dataset's folder.
        benchmark: the name in its definition.
        task: only these tasks.
        setting: image; gold-ocr: the image and its true transcription; gold-text: that text alone.
        script: Chinese prompts as released, simplified or traditional.
    """
    return _asked(benchmark, dataset, task, setting, script)


def _asked(benchmark: str, dataset: str, names: Names, setting: str, script: str) -> Task:
    from inspect_ai._util.error import PrerequisiteError  # noqa: PLC0415

    from keju.errors import KejuError  # noqa: PLC0415
    from keju.interop.inspect_asking import task_of  # noqa: PLC0415

    try:
        return task_of(benchmark, dataset, names, setting, script)
    except KejuError as error:
        # Inspect prints the words of this one alone, and a traceback of any other.
        raise PrerequisiteError(f"keju: {error}") from None
